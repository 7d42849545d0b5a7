//! Error: an `Option` of a uniform value. Whether it is `Some` varies, so the contents would too.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn same(n: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let found: Option<V<u32>> = if x[i] > 3 { Some(x[i]) } else { None };
        y[i] = found.map(|_| n).unwrap_or(0);
    }
}

fn main() {}
