//! Error: rows of structs in LDS.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[repr(C)]
    struct Item {
        a: f32,
        b: u32,
    }

    #[workgroup(64)]
    fn rows(y: &mut [u32]) {
        let rows = Lds::<[Item; 13], 5>::new();
        y[0] = 1;
    }
}

fn main() {}
