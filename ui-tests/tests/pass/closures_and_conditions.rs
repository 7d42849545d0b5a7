//! Closures, conditions and annotations that compile.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, m: i32, x: &mut [f32]) {
        let i = global_id().x;
        let square = |v| v * v;
        let largest = |a: V<f32>, b| select(a > b, a, b);
        let value: V<f32> = x[i];
        let first: f32 = read_first_lane(x[i]);
        let both = largest(square(value), splat(first)) * n as f32 * 2.0;
        if n != 0 && i as i32 >= m {
            x[i] = both;
        }
        barrier();
        let mut k: V<u32> = 0;
        while k < 100 && x[k] != first {
            k += 1;
        }
        _ = k;
    }
}

pub fn main() {
    kernel.build(Target::GFX90A).unwrap();
}
