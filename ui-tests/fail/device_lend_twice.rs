//! Error: a call borrows the same variable mutably twice.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn swap(a: &mut V<f32>, b: &mut V<f32>) {
        let old = *a;
        *a = *b;
        *b = old;
    }

    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let mut v = x[0];
        swap(&mut v, &mut v);
        x[0] = v;
    }
}

fn main() {}
