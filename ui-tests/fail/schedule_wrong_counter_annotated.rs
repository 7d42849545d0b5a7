//! Error: the annotated type of a pending buffer load names another counter than `vmcnt`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(manual)]
    fn kernel(x: &[f32], y: &mut [f32]) {
        let element: Pending<V<f32>, LdsAccesses> = x.load_async(0);
        y[0] = wait(element);
    }
}

fn main() {}
