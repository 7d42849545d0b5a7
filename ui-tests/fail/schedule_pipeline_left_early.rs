use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn leaves(n: u32, stop: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        'rows: for r in 0..n {
            #[pipeline(stages = 2)]
            for k in 0..n {
                if k == stop {
                    break;
                }
                if k == r {
                    continue;
                }
                if k + r == stop {
                    break 'rows;
                }
                if sum == 7 {
                    return;
                }
                sum += x[k * 64 + lane_id()];
            }
        }
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn from_an_inner_loop(n: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = 2)]
        'outer: for k in 0..n {
            sum += x[k * 64 + lane_id()];
            for j in 0..k {
                if j == 3 {
                    continue 'outer;
                }
            }
        }
        y[lane_id()] = sum;
    }
}

fn main() {}
