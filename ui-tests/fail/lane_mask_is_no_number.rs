//! Error: a lane mask is used as a number. `mask.bits()` and `LaneMask::from(n)` convert between them.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn stored(x: &[f32], out: &mut [u64]) {
        let i = global_id().x;
        out[i] = ballot(x[i] > 0.0);
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn added(x: &[f32], out: &mut [u64]) {
        let i = global_id().x;
        let next = ballot(x[i] > 0.0) + 1;
        out[i] = next.bits();
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn compared(x: &[f32], n: u64, out: &mut [u32]) {
        let i = global_id().x;
        if ballot(x[i] > 0.0) == n {
            out[i] = 1;
        }
    }
}

gcn_kernel! {
    #[device]
    fn lanes_of(mask: LaneMask) -> u32 {
        mask.count_ones()
    }

    #[workgroup(64)]
    fn passed(n: u64, out: &mut [u32]) {
        out[global_id().x] = lanes_of(n);
    }
}

fn main() {}
