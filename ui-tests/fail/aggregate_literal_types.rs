//! Error: a literal in a tuple or an array does not fit the type that its position requires.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    struct Parts {
        pair: (V<f32>, u32),
        row: [V<f32>; 2],
    }

    #[device]
    fn results(x: V<f32>) -> (V<f32>, [V<u32>; 2]) {
        if x > 0.0 {
            return (x, [1, 2.5]);
        }
        (1, [1, 2])
    }

    #[workgroup(64)]
    fn parts(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let p = Parts { pair: (x[i], 1.5), row: [x[i], 2] };
        let (a, b): (V<f32>, [V<u32>; 2]) = (x[i], [i, 0.5]);
        let mixed = [x[i], 1];
        let small: V<u8> = if i > 3 { 7 } else { 1.5 };
    }
}

fn main() {}
