//! Error: the result of an LDS load is used after a wait on `vmcnt`, which does not count LDS loads.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(manual)]
    fn kernel(y: &mut [f32]) {
        let tile = Lds::<f32, 64>::new();
        let i = global_id().x;
        let element = tile.load_async(i);
        let done = wait_all::<Loads>();
        y[i] = element.after(&done);
    }
}

fn main() {}
