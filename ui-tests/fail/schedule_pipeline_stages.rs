use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn counts(n: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = 0)]
        for k in 0..n {
            sum += x[k * 64 + lane_id()];
        }
        #[pipeline(stages = 1)]
        for k in 0..n {
            sum += x[k * 64 + lane_id()];
        }
        #[pipeline(stages = 9)]
        for k in 0..n {
            sum += x[k * 64 + lane_id()];
        }
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn forms(n: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(buffers = 3)]
        for k in 0..n {
            sum += x[k * 64 + lane_id()];
        }
        #[pipeline(2)]
        for k in 0..n {
            sum += x[k * 64 + lane_id()];
        }
        #[pipeline(depth = 2)]
        for k in 0..n {
            sum += x[k * 64 + lane_id()];
        }
        #[pipeline(stages = 2, unroll)]
        for k in 0..n {
            sum += x[k * 64 + lane_id()];
        }
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn of_the_device(n: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = n)]
        for k in 0..n {
            sum += x[k * 64 + lane_id()];
        }
        y[lane_id()] = sum;
    }
}

fn main() {}
