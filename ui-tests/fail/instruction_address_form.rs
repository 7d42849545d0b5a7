//! Error: a buffer instruction with a plain number as its address, instead of `Offen(i)`, `Idxen(i)` or the like.
use gcn_dsl::{isa, prelude::*};

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(a: &[u32], x: &mut [u32]) {
        let i = global_id().x;
        x[i] = isa::buffer_load_dword(i * 4, a, 0, 0);
    }
}

fn main() {}
