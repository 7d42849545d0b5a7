//! Arrays in LDS and private memory are places, and are not assigned as a whole.
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
