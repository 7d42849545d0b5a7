//! Correct forms of the programs `fail/control_*`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32]) {
        let i = global_id().x;
        // After a uniform exit, all lanes are still active and uniform variables can be assigned.
        let mut trips = 0u32;
        let last = loop {
            barrier();
            if trips == n {
                break trips;
            }
            trips += 1;
            if trips & 1 == 0 {
                continue;
            }
            barrier();
        };
        let last: S<u32> = last;
        // Before a varying `continue`, all lanes are active.
        for k in 0..n {
            barrier();
            if x[i] == k {
                continue;
            }
            x[i] = k;
        }
        // After the inner loop, the lanes that left it by a varying `break` are active again.
        for k in 0..n {
            while x[i] > k {
                if x[i] == 7 {
                    break;
                }
                x[i] = x[i] - 1;
            }
            barrier();
        }
        // After a varying `return`, uniform variables can be assigned: the lanes that returned do not read them.
        if x[i] == 3 {
            return;
        }
        trips += last;
        x[i] = match trips {
            0 => x[i],
            n => n,
        };
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn all_leave(x: &mut [u32]) {
        let i = global_id().x;
        if x[i] > 3 {
            x[i] = 1;
            return;
        } else {
            x[i] = 2;
            return;
        }
    }
}

pub fn main() {
    for target in [Target::GFX90A, Target::GFX942] {
        kernel.build(target).unwrap();
        all_leave.build(target).unwrap();
    }
}
