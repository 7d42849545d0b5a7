//! Statements that kernels do not have yet, all reported at once.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [f32]) {
        let i = global_id().x;
        if i >= x.len() {
            return;
        }
        loop {
            x[i] = 0.0;
        }
        match n {
            _ => {}
        }
    }
}

fn main() {}
