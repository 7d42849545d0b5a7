//! llama.cpp: `im2col_kernel`, to f16.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats};

gcn_kernel! {
    #[workgroup(256)]
    fn im2col<T: Float>(
        x: &[f32], dst: &mut [T], ow: u32, kw: u32, kh: u32, pelements: u32, chw: u32, iw: i32, ih: i32,
        s0: i32, s1: i32, p0: i32, p1: i32, d0: i32, d1: i32,
    ) {
        let i = global_id().x;
        if i >= pelements {
            return;
        }
        let ksize = ow * kh;
        let kx = i / ksize;
        let kd = kx * ksize;
        let ky = (i - kd) / ow;
        let ix = i % ow;
        let oh = workgroup_id().y;
        let ic = workgroup_id().z;
        let iiw = ix as i32 * s0 + kx as i32 * d0 - p0;
        let iih = oh as i32 * s1 + ky as i32 * d1 - p1;
        let offset_dst = (oh * ow + ix) * chw + (ic * (kw * kh) + ky * kw + kx);
        if iih < 0 || iih >= ih || iiw < 0 || iiw >= iw {
            dst[offset_dst] = 0.0;
        } else {
            dst[offset_dst] = x[ic * (iw * ih) as u32 + (iih * iw + iiw) as u32] as T;
        }
    }
}

#[test]
fn columns() {
    let (c, h, w, kh, kw, stride, pad, dil) = (3i32, 7i32, 6i32, 3i32, 2i32, 2i32, 1i32, 2i32);
    let oh = (h + 2 * pad - dil * (kh - 1) - 1) / stride + 1;
    let ow = (w + 2 * pad - dil * (kw - 1) - 1) / stride + 1;
    let x = floats((c * h * w) as usize);
    let mut want = Vec::new();
    for y in 0..oh {
        for z in 0..ow {
            for k in 0..c * kh * kw {
                let (ic, ky, kx) = (k / (kh * kw), k / kw % kh, k % kw);
                let (iy, ix) = (y * stride + ky * dil - pad, z * stride + kx * dil - pad);
                let inside = (0..h).contains(&iy) && (0..w).contains(&ix);
                want.push(f16::from_f32(if inside { x[(ic * h * w + iy * w + ix) as usize] } else { 0.0 }));
            }
        }
    }
    everywhere(|device| {
        let mut dst = vec![f16::ZERO; want.len()];
        let p = (ow * kh * kw) as u32;
        im2col::<f16>
            .launch(
                device,
                Grid::xyz(p.div_ceil(256), oh as u32, c as u32),
                (
                    &x,
                    &mut dst,
                    ow as u32,
                    kw as u32,
                    kh as u32,
                    p,
                    (c * kh * kw) as u32,
                    w,
                    h,
                    stride,
                    stride,
                    pad,
                    pad,
                    dil,
                    dil,
                ),
            )
            .unwrap();
        assert_eq!(dst, want);
    });
}
