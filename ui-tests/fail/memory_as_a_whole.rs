//! Error: an array in LDS or private memory is assigned as a whole. Only its elements can be assigned.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = local_id().x;
        let mut from = Lds::<f32, 64>::new();
        let mut to = Lds::<f32, 64>::new();
        from[i] = x[i];
        (from, to) = (to, from);
        x[i] = to[i];
    }
}

fn main() {}
