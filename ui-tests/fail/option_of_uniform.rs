//! Whether there is a value varies, so what is made of it cannot be uniform.

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
