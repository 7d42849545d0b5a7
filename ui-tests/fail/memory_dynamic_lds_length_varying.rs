//! Error: the length of an LDS slice is varying.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let n: V<u32> = x[lane_id()];
        let block = LdsSlice::<u32>::dynamic(n);
        x[lane_id()] = block[0];
    }
}

fn main() {}
