//! Lines that are valid Rust and also compile in a kernel. The programs in `fail` contain some that do not.
use gcn_dsl::prelude::*;

const WEIGHTS: [f32; 4] = [0.25, 0.5, 0.75, 1.0];

trait Area {
    fn area(self) -> V<f32>;
}

mod random {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        pub struct Rng {
            state: V<u32>,
        }

        #[device]
        impl Rng {
            pub fn new(seed: V<u32>) -> Rng {
                Rng { state: seed }
            }

            pub fn next(&mut self) -> V<u32> {
                self.state = self.state * 747796405 + 1;
                self.state
            }
        }
    }
}

gcn_kernel! {
    #[device]
    struct Square {
        side: V<f32>,
    }

    #[device]
    impl Area for Square {
        fn area(self) -> V<f32> {
            self.side * self.side
        }
    }

    #[device]
    #[repr(C)]
    pub struct Particle {
        x: [f32; 2],
        id: u32,
    }

    #[device]
    fn twice<T: Float>(x: V<T>) -> V<T> {
        let half: V<T> = 0.5;
        if x > 1.0 { 2.0 * x } else { x / half }
    }

    #[workgroup(64)]
    pub fn literals(x: &[f32], h: &[f16], y: &mut [f32], g: &mut [f16], m: &mut [u32]) {
        let i = global_id().x;
        let two: V<f16> = 2.0;
        g[i] = h[i] * 1.5 + two.max(0.0);
        m[i] = match m[i] { 3 => 1u32, 2 => 7, _ => 0 };
        let mut sum = 0.0;
        for k in 0..4 {
            sum += x[k] * WEIGHTS[k];
        }
        y[i] = if x[i] > 0.0 { sum } else { 0.0 };
        let pair = f16x2::from([1.0, 2.0]);
        g[i + 1] = pair.get(1);
        m[i + 1] = 1 << (m[i] & 31);
    }

    #[workgroup(64)]
    pub fn rest<T: Float>(a: T, x: &[T], p: &mut [Particle], y: &mut [T], size: [u32; 2]) {
        let i = global_id().x;
        let mut rng = random::Rng::new(i);
        let v;
        comptime match T::default_is_zero() {
            true => { v = a.max(x[i]); }
            false => { v = x[i]; }
        }
        y[i] = twice(v) + 1.0;
        p[i].id += (&mut rng).next() + std::cmp::max(size[0], size[1]);
        p[i].x[1] = 2.0;
        let row = &x[workgroup_id().x * 4..];
        y[i + 1] = row[lane_id()];
        assert!(64 > 3);
    }
}

trait Zero {
    fn default_is_zero() -> bool;
}
impl<T> Zero for T {
    fn default_is_zero() -> bool {
        true
    }
}

pub fn main() {
    let _ = (literals, rest::<f32>, rest::<bf16>);
}
