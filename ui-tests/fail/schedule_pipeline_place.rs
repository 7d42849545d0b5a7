use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn other_loops(n: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        let mut k = 0u32;
        #[pipeline(stages = 2)]
        while k < n {
            sum += x[k * 64 + lane_id()];
            k += 1;
        }
        #[pipeline(stages = 2)]
        loop {
            if k == 0 {
                break;
            }
            k -= 1;
        }
        #[unroll]
        #[pipeline(stages = 2)]
        for j in 0..4u32 {
            sum += x[j * 64 + lane_id()];
        }
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn no_loops(n: u32, x: &[u32], y: &mut [u32]) {
        #[pipeline(stages = 2)]
        let mut sum: V<u32> = x[lane_id()];
        #[pipeline(stages = 2)]
        if n == 0 {
            sum = 1;
        }
        #[pipeline(stages = 2)]
        {
            sum += x[n];
        }
        #[pipeline(stages = 2)]
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn written_order(n: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[schedule(manual)]
        {
            #[pipeline(stages = 2)]
            for k in 0..n {
                sum += x[k * 64 + lane_id()];
            }
        }
        y[lane_id()] = sum;
    }
}

fn main() {}
