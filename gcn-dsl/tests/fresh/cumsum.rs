//! Prefix sums along a row of any length: tiles of 256, a scan in each, and the total carried from tile to tile.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[workgroup(256)]
    fn cumsum(x: &[f32], y: &mut [f32], n: u32) {
        let shared = Lds::<f32, 256>::new();
        let tid = local_id().x;
        let row = workgroup_id().x;
        let mut carry = 0.0;
        let mut base = 0;
        while base < n {
            let i = base + tid;
            shared[tid] = if i < n { x[row * n + i] } else { 0.0 };
            barrier();
            let mut offset = 1;
            while offset < 256 {
                let temp = if tid >= offset { shared[tid - offset] } else { 0.0 };
                barrier();
                shared[tid] += temp;
                barrier();
                offset <<= 1;
            }
            if i < n {
                y[row * n + i] = shared[tid] + carry;
            }
            carry += shared[255];
            barrier();
            base += 256;
        }
    }
}

#[test]
fn sums() {
    let (rows, n) = (2, 700);
    let x = floats(rows * n);
    everywhere(|device| {
        let mut y = vec![0.0; rows * n];
        cumsum.launch(device, Grid::x(2), (&x, &mut y, n as u32)).unwrap();
        let mut want = Vec::new();
        for row in x.chunks(n) {
            want.extend(row.iter().scan(0.0, |sum, x| {
                *sum += x;
                Some(*sum)
            }));
        }
        assert_near(&y, &want, 1e-4);
    });
}
