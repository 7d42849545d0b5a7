//! Error: a device value is passed to a host parameter, whose value must be known when the kernel is built.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn bump(s: &mut [V<u32>; 4], k: usize, #[host] by: u32) {
        s[k] += by;
    }

    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32]) {
        let i = global_id().x;
        let mut s = [x[i]; 4];
        for k in 0..4 {
            bump(&mut s, k, 1);
        }
        bump(&mut s, 2, n);
        x[i] = s[0];
    }
}

fn main() {}
