//! Methods of `#[device] #[repr(C)] struct`s. The reference is the host's methods, which have the same source text.

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
            // The lanes of a wave are in lockstep: all read `own[0]` before lane 0 writes it.
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

gcn_kernel! {
    #[device]
    trait Transform {
        fn apply_to(self, x: V<f32>) -> V<f32>;
    }

    #[device]
    #[repr(C)]
    struct Scale { by: f32 }
    #[device]
    impl Transform for Scale {
        fn apply_to(self, x: V<f32>) -> V<f32> { x * self.by }
    }

    #[device]
    #[repr(C)]
    struct Shift { by: f32, n: u32 }
    #[device]
    impl Transform for Shift {
        fn apply_to(self, x: V<f32>) -> V<f32> { x + self.by * self.n as f32 }
    }
    #[device]
    impl Shift {
        fn bin(&self, x: V<f32>, bin: &mut V<u32>) {
            if x >= self.by { *bin = x as u32 % self.n; }
        }
    }
    #[device]
    impl std::ops::Mul<V<f32>> for Shift {
        type Output = V<f32>;
        fn mul(self, x: V<f32>) -> V<f32> { x * self.by }
    }

    #[device]
    fn both<T: Transform, U: Transform>(t: T, u: U, x: V<f32>) -> V<f32> { u.apply_to(t.apply_to(x)) }

    #[workgroup(64)]
    fn traits(s: Scale, h: Shift, all: &[Shift], x: &mut [f32]) {
        let i = global_id().x;
        x[i] = both(s, h, x[i]) + all[i % 2].apply_to(x[i]) + all[1].apply_to(x[i]) + h * x[i];
    }

    /// An array of structs as an argument, indexed by a loop counter and by varying values.
    #[workgroup(64)]
    fn channels<const N: usize>(shifts: [Shift; N], x: &[f32], y: &mut [u32], z: &mut [f32]) {
        let i = global_id().x;
        for c in 0..N {
            let mut bin = 1000;
            shifts[c].bin(x[i], &mut bin);
            y[i * N as u32 + c as u32] = bin;
        }
        z[i] = shifts[i % N as u32].by;
    }
}

#[test]
fn traits_of_structs_in_memory() {
    let all = [Shift { by: 1.0, n: 1 }, Shift { by: 2.0, n: 3 }];
    let host = |s: &Shift, x: f32| x + s.by * s.n as f32;
    let h = Shift { by: 0.5, n: 4 };
    let mut x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let expected: Vec<f32> = x
        .iter()
        .enumerate()
        .map(|(i, x)| host(&h, x * 2.0) + host(&all[i % 2], *x) + host(&all[1], *x) + x * h.by)
        .collect();
    traits
        .launch(&Device::simulator(Target::GFX90A), Grid::x(1), (Scale { by: 2.0 }, h, &all, &mut x))
        .unwrap();
    assert_eq!(x, expected);
}

#[test]
fn arrays_of_structs_as_arguments() {
    let shifts = [Shift { by: 5.0, n: 7 }, Shift { by: 20.0, n: 3 }, Shift { by: 0.0, n: 10 }];
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let (mut y, mut z) = (vec![0; 192], vec![0.0; 64]);
    let device = Device::simulator(Target::GFX942);
    channels::<3>.launch(&device, Grid::x(1), (shifts, &x, &mut y, &mut z)).unwrap();
    for (i, x) in x.iter().enumerate() {
        for (c, s) in shifts.iter().enumerate() {
            assert_eq!(y[i * 3 + c], if *x >= s.by { *x as u32 % s.n } else { 1000 }, "{i} {c}");
        }
        assert_eq!(z[i], shifts[i % 3].by);
    }
}
