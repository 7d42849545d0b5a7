use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn lengths(x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = 2)]
        for k in 0..lane_id() {
            sum += x[k * 64 + lane_id()];
        }
        y[lane_id()] = sum;
    }
}

fn main() {}
