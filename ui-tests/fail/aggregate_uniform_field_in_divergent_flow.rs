//! Error: a uniform field is assigned where only some of its lanes may be active. A varying field may be assigned.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    struct Count {
        each: V<u32>,
        all: u32,
    }

    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let i = global_id().x;
        let mut count = Count { each: 0, all: 0 };
        if i < 3 {
            count.each += 1;
            count.all += 1;
            count = Count { each: 1, all: 1 };
        }
        x[i] = count.each + count.all;
    }
}

fn main() {}
