//! Non-maximum suppression: for each box a mask of 64 bits of the later boxes that overlap it.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats};

gcn_kernel! {
    #[device]
    struct Rect {
        x1: V<f32>,
        y1: V<f32>,
        x2: V<f32>,
        y2: V<f32>,
    }

    #[device]
    fn iou(a: Rect, b: Rect) -> V<f32> {
        let left = a.x1.max(b.x1);
        let right = a.x2.min(b.x2);
        let top = a.y1.max(b.y1);
        let bottom = a.y2.min(b.y2);
        let width = (right - left).max(0.0);
        let height = (bottom - top).max(0.0);
        let inter = width * height;
        let sa = (a.x2 - a.x1) * (a.y2 - a.y1);
        let sb = (b.x2 - b.x1) * (b.y2 - b.y1);
        inter / (sa + sb - inter)
    }

    #[workgroup(64)]
    fn nms(n_boxes: u32, threshold: f32, dev_boxes: &[f32], dev_mask: &mut [u64]) {
        let row_start = workgroup_id().y;
        let col_start = workgroup_id().x;
        if row_start > col_start {
            return;
        }
        let row_size = (n_boxes - row_start * 64).min(64);
        let col_size = (n_boxes - col_start * 64).min(64);
        let block_boxes = Lds::<f32, 256>::new();
        let tid = local_id().x;
        if tid < col_size {
            for k in 0..4 {
                block_boxes[tid * 4 + k] = dev_boxes[(64 * col_start + tid) * 4 + k];
            }
        }
        barrier();
        if tid < row_size {
            let cur = 64 * row_start + tid;
            let load = |i: V<u32>| Rect {
                x1: dev_boxes[i * 4],
                y1: dev_boxes[i * 4 + 1],
                x2: dev_boxes[i * 4 + 2],
                y2: dev_boxes[i * 4 + 3],
            };
            let cur_box = load(cur);
            let mut t: V<u64> = 0;
            let mut start = 0;
            if row_start == col_start {
                start = tid + 1;
            }
            for i in start..col_size {
                let other = Rect {
                    x1: block_boxes[i * 4],
                    y1: block_boxes[i * 4 + 1],
                    x2: block_boxes[i * 4 + 2],
                    y2: block_boxes[i * 4 + 3],
                };
                if iou(cur_box, other) > threshold {
                    t |= 1 << i;
                }
            }
            let col_blocks = n_boxes.div_ceil(64);
            dev_mask[cur * col_blocks + col_start] = t;
        }
    }
}

#[test]
fn suppresses() {
    let n = 100;
    let boxes: Vec<f32> = floats(n * 4)
        .chunks(4)
        .flat_map(|b| [b[0], b[1], b[0] + 0.5 + b[2].abs(), b[1] + 0.5 + b[3].abs()])
        .collect();
    everywhere(|device| {
        let mut mask = vec![0u64; n * 2];
        nms.launch(device, Grid::xy(2, 2), (n as u32, 0.4, &boxes, &mut mask)).unwrap();
        for i in 0..n {
            for j in 0..n {
                let (a, b) = (&boxes[i * 4..], &boxes[j * 4..]);
                let w = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0);
                let h = (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
                let areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]);
                let overlap = w * h / (areas - w * h) > 0.4;
                let bit = mask[i * 2 + j / 64] >> (j % 64) & 1 == 1;
                assert_eq!(bit, overlap && j > i, "{i} {j}");
            }
        }
    });
}
