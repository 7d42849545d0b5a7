//! Pooling over windows; the kind of pooling is a constant of the host.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PoolOp {
    Max,
    Avg,
}

gcn_kernel! {
    #[workgroup(256)]
    fn pool2d(#[host] op: PoolOp, ih: i32, iw: i32, oh: i32, ow: i32, kh: i32, kw: i32, sh: i32, sw: i32, ph: i32, pw: i32, src: &[f32], dst: &mut [f32]) {
        let idx = global_id().x as i32;
        let o_hw = oh * ow;
        let nc = idx / o_hw;
        let cur_oh = idx % o_hw / ow;
        let cur_ow = idx % o_hw % ow;
        if idx >= dst.len() as i32 {
            return;
        }
        let start_h = cur_oh * sh - ph;
        let bh = start_h.max(0);
        let eh = (start_h + kh).min(ih);
        let start_w = cur_ow * sw - pw;
        let bw = start_w.max(0);
        let ew = (start_w + kw).min(iw);
        let scale = 1.0 / (kh * kw) as f32;
        let mut res = match op {
            PoolOp::Avg => 0.0,
            PoolOp::Max => f32::MIN,
        };
        for i in bh..eh {
            for j in bw..ew {
                let cur = src[(nc * ih * iw + i * iw + j) as u32];
                comptime match op {
                    PoolOp::Avg => res += cur * scale,
                    PoolOp::Max => res = res.max(cur),
                }
            }
        }
        dst[idx as u32] = res;
    }
}

#[test]
fn pools() {
    let (c, ih, iw) = (2, 9, 11);
    let (oh, ow) = (5, 6);
    let x = floats(c * ih * iw);
    everywhere(|device| {
        for op in [PoolOp::Max, PoolOp::Avg] {
            let mut y = vec![0.0; c * oh * ow];
            pool2d { op }.launch(device, Grid::x(1), (9, 11, 5, 6, 3, 3, 2, 2, 1, 1, &x, &mut y)).unwrap();
            let mut want = Vec::new();
            for ch in 0..c {
                for o in 0..oh * ow {
                    let mut all = Vec::new();
                    for k in 0..9 {
                        let (i, j) = (o / ow * 2 + k / 3, o % ow * 2 + k % 3);
                        if (1..=ih).contains(&i) && (1..=iw).contains(&j) {
                            all.push(x[ch * ih * iw + (i - 1) * iw + j - 1]);
                        }
                    }
                    want.push(match op {
                        PoolOp::Avg => all.iter().sum::<f32>() / 9.0,
                        PoolOp::Max => all.into_iter().fold(f32::MIN, f32::max),
                    });
                }
            }
            assert_near(&y, &want, 1e-5);
        }
    });
}
