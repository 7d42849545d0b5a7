//! An `Option` or a `Result` where a value is needed.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn divided(a: V<u32>, b: V<u32>) -> Result<V<u32>, V<u32>> {
        if b == 0 { Err(1) } else { Ok(a / b) }
    }

    #[device]
    fn first(a: V<u32>) -> Option<V<u32>> {
        Some(divided(a, 3)?)
    }

    #[workgroup(64)]
    fn assigned(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = x[i].checked_add(1);
    }

    #[workgroup(64)]
    fn declared(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let sum: V<u32> = x[i].checked_add(1);
        y[i] = sum;
    }

    #[workgroup(64)]
    fn failed(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = divided(x[i], 3);
    }

    #[workgroup(64)]
    fn computed_with(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = x[i].checked_add(1) * 2;
    }
}

fn main() {}
