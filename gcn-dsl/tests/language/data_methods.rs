//! Methods of `#[device] #[repr(C)] struct`s. The host's own methods, of the same text, are the witness.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[derive(Clone, Copy, Debug, PartialEq, Default)]
    #[repr(C)]
    pub struct Params { a: f32, b: f32, c: [f32; 3], n: u32 }
    #[device]
    impl Params {
        fn apply(&self, x: V<f32>) -> V<f32> { self.a * x + self.b + self.c[1] }
        fn twice(self, x: V<f32>) -> V<f32> { self.apply(self.apply(x)) }
        fn total(&self) -> f32 {
            let mut s = 0.0;
            for k in 0..3 { s += self.c[k]; }
            let scaled: f32 = s * self.a;
            if self.n > 2 { scaled } else { s }
        }
        fn scaled(&self, by: V<f32>) -> Params { Params { a: self.a * by, b: self.b, c: [1.0, 2.0, self.c[0]], n: self.n } }
        fn new(a: V<f32>) -> Params { Params { a, b: 1.0, c: [a; 3], n: 1 } }
        fn step(&mut self, dt: f32) { self.a += self.b * dt; self.c[2] = self.a; }
    }
    #[workgroup(64)]
    fn methods(x: &[f32], y: &mut [f32], z: &mut [f32], p: Params, all: &[Params], own: &mut [Params], u: u32) {
        let i = global_id().x;
        y[i] = p.apply(x[i]) + p.twice(x[i]) + all[i % 2].apply(1.0) + Params::new(x[i]).apply(2.0);
        let mut sum = 0.0;
        for _ in 0..p.n { sum += p.total(); }
        z[i] = sum + all[i % 2].total() + all[u].total() + own[i].total() + own[0].scaled(x[i]).total();
        let mut mine = all[i % 2];
        mine.step(0.5);
        own[i] = mine;
    }
}
impl Params {
    fn host_apply(&self, x: f32) -> f32 {
        self.a * x + self.b + self.c[1]
    }
    fn host_total(&self) -> f32 {
        let mut s = 0.0;
        for k in 0..3 {
            s += self.c[k];
        }
        let scaled: f32 = s * self.a;
        if self.n > 2 { scaled } else { s }
    }
    fn host_scaled(&self, by: f32) -> Params {
        Params { a: self.a * by, b: self.b, c: [1.0, 2.0, self.c[0]], n: self.n }
    }
    fn host_step(&mut self, dt: f32) {
        self.a += self.b * dt;
        self.c[2] = self.a;
    }
}

#[test]
fn methods_are_of_arguments_and_of_elements() {
    let p = Params { a: 2.0, b: 1.5, c: [1.0, 2.0, 4.0], n: 3 };
    let all = [p, Params { a: -3.0, b: 0.5, c: [0.25, 8.0, 16.0], n: 1 }];
    let x: Vec<f32> = (0..64).map(|i| i as f32 * 0.5).collect();
    let before: Vec<Params> =
        (0..64).map(|i| Params { a: i as f32, b: 1.0, c: [2.0, 1.0, i as f32], n: i as u32 % 5 }).collect();
    for target in [Target::GFX906, Target::GFX942] {
        let (mut y, mut z, mut own) = (vec![0.0; 64], vec![0.0; 64], before.clone());
        methods
            .launch(&Device::simulator(target), Grid::x(1), (&x, &mut y, &mut z, p, &all, &mut own, 1))
            .unwrap();
        for i in 0..64usize {
            let q = all[i % 2];
            let new = Params { a: x[i], b: 1.0, c: [x[i]; 3], n: 1 };
            assert_eq!(
                y[i],
                p.host_apply(x[i])
                    + p.host_apply(p.host_apply(x[i]))
                    + q.host_apply(1.0)
                    + new.host_apply(2.0)
            );
            let sum = p.host_total() + p.host_total() + p.host_total();
            // Lanes of a wave run in lockstep: `own[0]` is read before lane 0 writes it.
            assert_eq!(
                z[i],
                sum + q.host_total()
                    + all[1].host_total()
                    + before[i].host_total()
                    + before[0].host_scaled(x[i]).host_total()
            );
            let mut mine = q;
            mine.host_step(0.5);
            assert_eq!(own[i], mine);
        }
    }
}
