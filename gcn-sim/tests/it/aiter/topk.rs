//! `topksoftmax_RxExK`: the K greatest values of each row's softmax over E experts, with their indices.

use gcn_sim::launch::{Buffer, Element, Spec};

use super::{files, fractions, name, output, run, uint};

#[test]
fn topksoftmax() {
    for file in files("gfx942/topksoftmax") {
        let name = name(&file);
        let sizes: Vec<usize> =
            name.trim_start_matches("topksoftmax_").split('x').map(|n| n.parse().unwrap()).collect();
        let [rows, experts, k] = sizes[..] else { panic!("{name}") };
        for renormalize in [false, true] {
            one(&file, (rows, experts, k), renormalize);
        }
    }
}

fn one(file: &std::path::Path, (rows, experts, k): (usize, usize, usize), renormalize: bool) {
    // Three full workgroups and a partial one.
    let tokens = 3 * rows + rows / 2;
    let logits: Vec<f64> =
        fractions(7, tokens * experts).iter().map(|x| f64::from(*x as f32 * 4.0)).collect();
    let spec = Spec { grid: Some([tokens.div_ceil(rows) as u32, 1, 1]), rest_zero: true, ..Spec::default() };
    let spec = spec
        .arg("T", Buffer::zeros(Element::U32, (tokens * k) as u64))
        .arg("W", Buffer::zeros(Element::F32, (tokens * k) as u64))
        .arg("A", Buffer::floats(Element::F32, logits.iter().copied()));
    let spec = uint(uint(uint(spec, "batch", tokens), "expert", experts), "topk", k);
    let launch = run(file, &uint(uint(spec, "renormalize", renormalize.into()), "out_stride", k * 4));
    let (indices, weights) = (output(&launch, "T"), output(&launch, "W"));
    for token in 0..tokens {
        let row = &logits[token * experts..][..experts];
        let sum: f64 = row.iter().map(|x| x.exp()).sum();
        let mut order: Vec<usize> = (0..experts).collect();
        order.sort_by(|a, b| row[*b].total_cmp(&row[*a]));
        let chosen: f64 = order[..k].iter().map(|i| row[*i].exp() / sum).sum();
        let scale = if renormalize { chosen } else { 1.0 };
        for (rank, expert) in order[..k].iter().enumerate() {
            let at = token * k + rank;
            let expected = row[*expert].exp() / sum / scale;
            assert_eq!(indices[at], *expert as f64, "{}: token {token}, rank {rank}", file.display());
            let error = (weights[at] - expected).abs() / expected;
            assert!(
                error < 1e-5,
                "{}: token {token}, rank {rank}: {} for {expected}",
                file.display(),
                weights[at]
            );
        }
    }
}
