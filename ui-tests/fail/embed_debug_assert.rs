//! Errors: assertions of something other than a condition, and `dbg!` of something other than a device value.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        debug_assert!(x[i], "not a condition");
        debug_assert_eq!(x[i], i);
        let v = dbg!("text");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn empty(x: &mut [f32]) {
        debug_assert!();
        debug_assert_eq!(x[0]);
        dbg!();
    }
}

fn main() {}
