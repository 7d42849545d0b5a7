//! In host code next to kernels, `Option` and `Result` are Rust's own.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn half(x: V<u32>) -> Result<V<u32>, V<u32>> {
        if x % 2 == 0 { Ok(x / 2) } else { Err(x) }
    }

    #[device]
    fn above(x: V<u32>, limit: u32) -> Option<V<u32>> {
        if x > limit { half(x).ok() } else { None }
    }

    #[workgroup(64)]
    fn k(x: &mut [u32]) {
        let i = global_id().x;
        x[i] = above(x[i], 3).unwrap_or(7);
    }
}

fn host(x: Option<u32>) -> Result<u32, String> {
    let x = x.ok_or_else(|| "none".to_owned())?;
    Ok(x + 1)
}

pub fn main() {
    let same: std::result::Result<u32, String> = host(std::option::Option::Some(1));
    assert_eq!(same, Ok(2));
    assert_eq!(host(None), Err("none".to_owned()));
}
