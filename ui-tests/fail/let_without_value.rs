//! Errors: a variable declared by `let x;` is read where it may not have been assigned, or assigned twice.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn one_branch(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let v;
        if x[i] > 3 {
            v = 1;
        }
        y[i] = v;
    }

    #[workgroup(64)]
    fn maybe_no_trip(n: u32, y: &mut [u32]) {
        let v;
        for k in 0..n {
            v = k;
        }
        y[global_id().x] = v;
    }

    #[workgroup(64)]
    fn pattern(y: &mut [u32]) {
        let (a, b);
        y[global_id().x] = 1;
    }
}

fn main() {}
