//! Errors: lines from ported kernels that must be written differently.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn first(p: *const f32) -> V<f32> {
        p[0]
    }

    #[workgroup(64)]
    fn pointer_of_each_lane(x: *const f32, y: &mut [f32]) {
        let i = global_id().x;
        y[i] = first(x.add(i));
    }

    #[workgroup(64)]
    fn slice_taken_apart(x: &[f32], y: &mut [f32]) {
        let [a, b] = x;
        y[0] = a + b;
    }

    #[workgroup(64)]
    fn literal_of_any_number<T: Number>(x: &[T], y: &mut [T]) {
        let i = global_id().x;
        y[i] = if i < 9 { x[i] } else { 0 };
    }
}

fn main() {}
