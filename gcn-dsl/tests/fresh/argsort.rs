//! Bitonic sort of indices by keys, rows padded to a power of two, in both orders.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats};

gcn_kernel! {
    #[workgroup(256)]
    fn argsort<const ASCENDING: bool>(x: &[f32], dst: &mut [u32], ncols: u32, ncols_pad: u32) {
        let dst_row = LdsSlice::<u32>::new(256);
        let col = local_id().x;
        let row = workgroup_id().x;
        let x_row = &x[row * ncols..(row + 1) * ncols];
        if col < ncols_pad {
            dst_row[col] = col;
        }
        barrier();
        let mut k = 2;
        while k <= ncols_pad {
            let mut j = k / 2;
            while j > 0 {
                let ixj = col ^ j;
                if ixj > col && ixj < ncols_pad {
                    let a = dst_row[col];
                    let b = dst_row[ixj];
                    let swap = if col & k == 0 {
                        a >= ncols || (b < ncols && if ASCENDING { x_row[a] > x_row[b] } else { x_row[a] < x_row[b] })
                    } else {
                        b >= ncols || (a < ncols && if ASCENDING { x_row[a] < x_row[b] } else { x_row[a] > x_row[b] })
                    };
                    if swap {
                        dst_row[col] = b;
                        dst_row[ixj] = a;
                    }
                }
                barrier();
                j /= 2;
            }
            k *= 2;
        }
        if col < ncols {
            dst[row * ncols + col] = dst_row[col];
        }
    }
}

#[test]
fn sorts() {
    let (rows, cols) = (3, 100);
    let x: Vec<f32> = floats(rows * cols).iter().enumerate().map(|(i, x)| x + i as f32 * 1e-4).collect();
    everywhere(|device| {
        let (mut up, mut down) = (vec![0; rows * cols], vec![0; rows * cols]);
        argsort::<true>.launch(device, Grid::x(3), (&x, &mut up, 100, 128)).unwrap();
        argsort::<false>.launch(device, Grid::x(3), (&x, &mut down, 100, 128)).unwrap();
        for r in 0..rows {
            let row = &x[r * cols..][..cols];
            let mut want: Vec<u32> = (0..cols as u32).collect();
            want.sort_by(|a, b| row[*a as usize].total_cmp(&row[*b as usize]));
            assert_eq!(up[r * cols..][..cols], want);
            want.reverse();
            assert_eq!(down[r * cols..][..cols], want);
        }
    });
}
