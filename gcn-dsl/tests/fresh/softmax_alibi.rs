//! Softmax of attention scores with a mask of halves and ALiBi's slopes, a block for each row, values kept in dynamic LDS.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[device]
    fn get_alibi_slope(max_bias: f32, h: u32, n_head_log2: u32, m0: f32, m1: f32) -> f32 {
        if max_bias <= 0.0 {
            return 1.0;
        }
        let base = if h < n_head_log2 { m0 } else { m1 };
        let exph = if h < n_head_log2 { h + 1 } else { 2 * (h - n_head_log2) + 1 };
        base.powf(exph as f32)
    }

    #[workgroup(128)]
    #[wave(64)]
    fn soft_max(x: &[f32], mask: &[f16], dst: &mut [f32], ncols: u32, nrows_y: u32, scale: f32, max_bias: f32, m0: f32, m1: f32, n_head_log2: u32) {
        let tid = local_id().x;
        let rowx = workgroup_id().x;
        let rowy = rowx % nrows_y;
        let vals = LdsSlice::<f32>::dynamic(ncols);
        let buf_iw = Lds::<f32, 64>::new();
        let warp_id = tid / 64;
        let slope = get_alibi_slope(max_bias, rowx / nrows_y, n_head_log2, m0, m1);
        let mut max_val = f32::NEG_INFINITY;
        for col in (tid..ncols).step_by(128) {
            let ix = rowx * ncols + col;
            let iy = rowy * ncols + col;
            let val = x[ix] * scale + slope * mask[iy] as f32;
            vals[col] = val;
            max_val = max_val.max(val);
        }
        let mut max_val = wave_max(max_val);
        if lane_id() == 0 {
            buf_iw[warp_id] = max_val;
        }
        barrier();
        max_val = wave_max(if lane_id() < 2 { buf_iw[lane_id()] } else { f32::NEG_INFINITY });
        barrier();
        let mut tmp = 0.0;
        for col in (tid..ncols).step_by(128) {
            let val = (vals[col] - max_val).exp();
            tmp += val;
            vals[col] = val;
        }
        let inv_sum = 1.0 / workgroup_sum(tmp);
        for col in (tid..ncols).step_by(128) {
            dst[rowx * ncols + col] = vals[col] * inv_sum;
        }
    }
}

#[test]
fn softmax() {
    let (heads, rows, cols) = (6, 2, 200);
    let x = floats(heads * rows * cols);
    let mask: Vec<f16> = floats(rows * cols).into_iter().map(f16::from_f32).collect();
    everywhere(|device| {
        let mut y = vec![0.0; x.len()];
        let grid = Grid::x((heads * rows) as u32).with_dynamic_lds(cols as u32 * 4);
        let args = (&x[..], &mask[..], &mut y[..], cols as u32, rows as u32, 0.3, 8.0, 0.25, 0.5, 4);
        soft_max.launch(device, grid, args).unwrap();
        for r in 0..heads * rows {
            let h = r / rows;
            let slope = if h < 4 { 0.25f32.powi(h as i32 + 1) } else { 0.5f32.powi(2 * (h as i32 - 4) + 1) };
            let e: Vec<f32> = (0..cols)
                .map(|c| (x[r * cols + c] * 0.3 + slope * mask[r % rows * cols + c].to_f32()).exp())
                .collect();
            let sum: f32 = e.iter().sum();
            let want: Vec<f32> = e.iter().map(|e| e / sum).collect();
            assert_near(&y[r * cols..][..cols], &want, 1e-5);
        }
    });
}
