//! Error: read-only memory is passed to a parameter for writable memory. The reverse is accepted.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn store(y: &mut [f32], i: V<u32>) {
        y[i] = 1.0;
    }

    #[device]
    fn read(x: &[f32], i: V<u32>) -> V<f32> {
        x[i]
    }

    #[workgroup(64)]
    fn kernel(x: &[f32], n: &mut [u32]) {
        let i = global_id().x;
        store(x, i);
        n[i] = read(n, i) as u32;
    }
}

fn main() {}
