//! Error: an iterator over numbers that the device counts, where no loop can replace the iterator: syntax does not show
//! where the limit exists, or the method has no loop. Iterators run when the kernel is built.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn rows() -> u32 {
        num_workgroups().x
    }

    #[workgroup(64)]
    fn sums(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = (0..rows()).map(|k| x[i + k]).sum::<u32>();
        y[i] += (1..x[i] + 1).map(|k| k % 3).max().unwrap_or(0);
    }
}

fn main() {}
