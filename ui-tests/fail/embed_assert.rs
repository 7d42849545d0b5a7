//! What `assert!` and `assert_eq!` check is known when the kernel is built.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32]) {
        let i = global_id().x;
        assert!(n < 1000);
        assert_eq!(n, 3);
        assert_ne!(x[i], n);
        x[i] = 1;
    }
}

fn main() {}
