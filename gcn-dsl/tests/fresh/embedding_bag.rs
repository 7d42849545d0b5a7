//! PyTorch: `EmbeddingBag_updateOutputKernel_sum_mean` and `_max`.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats, numbers};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Sum,
    Mean,
    Max,
}

gcn_kernel! {
    #[workgroup(64, 4)]
    fn embedding_bag(
        #[host] mode: Mode,
        input: &[u32], offsets: &[u32], weight: &[f32], output: &mut [f32], feature_size: u32, num_bags: u32, padding_idx: i32,
    ) {
        let bag = workgroup_id().x * 4 + local_id().y;
        let feature = workgroup_id().y * 64 + local_id().x;
        if bag < num_bags && feature < feature_size {
            let begin = offsets[bag];
            let end = if bag < num_bags - 1 { offsets[bag + 1] } else { input.len() };
            let mut weight_feat_sum = 0.0;
            let mut weight_feat_max = f32::NEG_INFINITY;
            let mut bag_size = 0;
            for emb in begin..end {
                let pad = input[emb] as i32 == padding_idx;
                if pad {
                    continue;
                }
                let w = weight[input[emb] * feature_size + feature];
                match mode {
                    Mode::Max => weight_feat_max = weight_feat_max.max(w),
                    _ => weight_feat_sum += w,
                }
                bag_size += 1;
            }
            let result = match mode {
                Mode::Sum => weight_feat_sum,
                Mode::Mean => if bag_size != 0 { weight_feat_sum / bag_size as f32 } else { 0.0 },
                Mode::Max => if bag_size == 0 { 0.0 } else { weight_feat_max },
            };
            output[bag * feature_size + feature] = result;
        }
    }
}

#[test]
fn bags() {
    let (features, bags) = (70usize, 6usize);
    let input = numbers(25, 12);
    let offsets = [0, 4, 4, 11, 12, 20];
    let weight = floats(12 * features);
    for mode in [Mode::Sum, Mode::Mean, Mode::Max] {
        let mut want = Vec::new();
        for b in 0..bags {
            let end = if b + 1 < bags { offsets[b + 1] as usize } else { input.len() };
            let rows: Vec<u32> =
                input[offsets[b] as usize..end].iter().copied().filter(|r| *r != 3).collect();
            for f in 0..features {
                let values: Vec<f32> = rows.iter().map(|r| weight[*r as usize * features + f]).collect();
                let sum: f32 = values.iter().sum();
                want.push(match mode {
                    _ if rows.is_empty() => 0.0,
                    Mode::Sum => sum,
                    Mode::Mean => sum / rows.len() as f32,
                    Mode::Max => values.iter().copied().fold(f32::MIN, f32::max),
                });
            }
        }
        everywhere(|device| {
            let mut y = vec![7.0; bags * features];
            let args = (&input[..], &offsets[..], &weight[..], &mut y[..], features as u32, bags as u32, 3);
            embedding_bag { mode }.launch(device, Grid::xy(2, 2), args).unwrap();
            assert_near(&y, &want, 1e-5);
        });
    }
}
