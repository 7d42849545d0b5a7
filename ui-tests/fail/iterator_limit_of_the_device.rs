//! Error: an iterator over numbers that the device counts. Iterators run when the kernel is built.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn sums(n: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = (0..n).map(|k| x[i + k]).sum::<u32>();
        y[i] += (1..x[i] + 1).fold(0u32, |a, k| a + k);
    }
}

fn main() {}
