//! Errors: an `Option` or a `Result` where a value is needed.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn half(x: V<u32>) -> Result<V<u32>, V<u32>> {
        if x % 2 == 0 { Ok(x / 2) } else { Err(x) }
    }

    #[device]
    fn next(x: V<u32>) -> V<u32> {
        x.checked_add(1)
    }

    #[workgroup(64)]
    fn element(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = x[i].checked_add(1);
        y[i] = half(x[i]);
        y[i] = next(half(x[i]));
        y[i] = x[i].checked_add(1) + 1;
    }
}

/// In host code, these names are Rust's own types.
fn host(x: Option<u32>) -> Result<u32, String> {
    let y: u32 = x;
    Ok(y)
}

fn main() {}
