//! Errors: a variable or a part of it is borrowed twice in one call, is not mutable, or is assigned without `*`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn count(n: &mut V<u32>) {
        n = 1;
    }

    #[device]
    fn both(a: &mut V<u32>, b: &mut V<u32>) {
        (*a, *b) = (*b, *a);
    }

    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let mut pair = ((x[0], x[1]), x[2]);
        let fixed = (x[1], x[2]);
        both(&mut pair.0.0, &mut pair.0.1);
        both(&mut pair.0.0, &mut pair.0.0);
        count(&mut fixed.0);
        count(&mut x[3]);
        let mut n = x[2];
        let r = &mut n;
    }
}

fn main() {}
