//! Error: an `if` with a varying condition yields a struct with a uniform field, which has one value per wave.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    struct Count {
        each: V<u32>,
        all: u32,
    }

    #[device]
    struct Other {
        each: V<u32>,
    }

    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let i = global_id().x;
        let a = if i < 3 { Count { each: i, all: 0 } } else { Count { each: 1, all: 1 } };
        let b = if i < 3 { Count { each: i, all: 0 } } else { Other { each: 1 } };
        let c = if i < 3 { (i, 1) } else { (i, 1, 2) };
    }
}

fn main() {}
