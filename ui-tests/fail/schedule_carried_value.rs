//! Error: a pending result in a `#[carried]` variable. It cannot be passed to the next trip.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[schedule(manual)]
    fn kernel(n: u32, x: &[f32], y: &mut [f32]) {
        #[carried]
        let mut next = x.load_async(0);
        for i in 0..n {
            y[i] = wait(next);
            next = x.load_async(i + 1);
        }
    }
}

fn main() {}
