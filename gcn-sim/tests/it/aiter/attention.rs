//! Flash attention, forward pass: softmax(scale Q K^T) V for each head, and the logarithm of the sum of each row.

use gcn_sim::launch::{Arg, Buffer, Element, Spec};
use gcn_sim::{Finding, FindingKind, Options, Sanitize};

use super::{bf16, bf16_buffer, files, fractions, name, output, prepare, run_with, uint};

#[test]
fn attention_forward() {
    for folder in ["gfx942/fmha_v3_fwd/MI300", "gfx942/fmha_v3_fwd/MI308", "gfx950/fmha_v3_fwd"] {
        for file in files(folder) {
            // With these arguments, kernels with this name load K from an address 4 GB past the buffer.
            if !name(&file).starts_with("fwd_hd192_hd128_bf16_causal") {
                one(&file);
            }
        }
    }
}

/// In some kernels for gfx950, waves start copies over tiles that other waves have yet to read. No barrier separates the two; only the
/// duration of the copy does. The results are right if the waves stay close together.
#[test]
fn attention_forward_has_races() {
    let racing = ["fwd_hd192_hd128_bf16", "fwd_hd128_bf16_causal_group"];
    for file in files("gfx950/fmha_v3_fwd").iter().filter(|f| racing.contains(&name(f).as_str())) {
        let mut launch = prepare(file, &Problem::of(file).spec());
        let options = Options { sanitize: Sanitize::RACES, findings: 1000, ..Options::default() };
        let found = launch.run(&options).unwrap().findings;
        // A race between a copy to LDS by one wave and a read by another.
        let race = |f: &Finding| {
            let other = f.other.as_ref().map_or("", |other| other.site.text.as_str());
            f.kind == FindingKind::LdsRace
                && f.party.site.text.starts_with("ds_read")
                && other.starts_with("buffer_load")
        };
        assert!(found.iter().any(race), "{}: {found:#?}", file.display());
    }
}

/// A problem, with its data.
struct Problem {
    heads: usize,
    /// The starts of the sequences, and the end of the last one. Without group mode there is one sequence.
    starts: Vec<usize>,
    qk: usize,
    v: usize,
    /// The number of rows of Q for each workgroup.
    tile: usize,
    causal: bool,
    group: bool,
    /// True if the grid's dimensions are heads, sequences, tiles; otherwise they are tiles, heads, sequences.
    tiles_last: bool,
    scale: f64,
    data: [Vec<f64>; 3],
}

impl Problem {
    fn of(file: &std::path::Path) -> Problem {
        let (name, gfx950) = (name(file), is_gfx950(file));
        let (qk, v) = if name.contains("hd192_hd128") { (192, 128) } else { (128, 128) };
        let (heads, group) = (2, name.contains("group"));
        let starts = if group { vec![0, 512, 768] } else { vec![0, 256] };
        let total = starts[starts.len() - 1];
        let rounded = |seed, count| fractions(seed, count).into_iter().map(bf16).collect();
        Problem {
            heads,
            starts,
            qk,
            v,
            tile: if qk == 128 { 256 } else { 128 },
            causal: name.contains("causal"),
            group,
            tiles_last: group && (gfx950 || ["rtna", "rtne", "rtz"].iter().any(|mode| name.contains(mode))),
            scale: f64::from(1.0 / (qk as f32).sqrt()),
            data: [
                rounded(1, heads * total * qk),
                rounded(2, heads * total * qk),
                rounded(3, heads * total * v),
            ],
        }
    }

    fn total(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The range of the sequence to which a row belongs.
    fn sequence(&self, row: usize) -> std::ops::Range<usize> {
        let next = self.starts.partition_point(|start| *start <= row);
        self.starts[next - 1]..self.starts[next]
    }
}

fn is_gfx950(file: &std::path::Path) -> bool {
    file.iter().any(|part| part == "gfx950")
}

fn one(file: &std::path::Path) {
    let p = Problem::of(file);
    // Some kernels for gfx950 are right only if the waves stay close together.
    let turn = if is_gfx950(file) { 1 } else { Options::default().turn };
    let launch = run_with(file, &p.spec(), &Options { parallel: true, turn, ..Options::default() });
    let (out, lse) = (output(&launch, "R"), output(&launch, "LSE"));
    for head in 0..p.heads {
        for row in 0..p.total() {
            let (expected, expected_lse) = reference(&p, (head, row));
            let at = head * p.total() + row;
            let place = || format!("{}: head {head}, row {row}", file.display());
            assert!((lse[at] - expected_lse).abs() < 1e-2, "{}: {} for {expected_lse}", place(), lse[at]);
            for (column, want) in expected.iter().enumerate() {
                let got = out[at * p.v + column];
                // Probabilities and results are rounded to bf16: an error of 2^-8 for values up to 1.
                assert!((got - want).abs() < 0.02, "{}, column {column}: {got} for {want}", place());
            }
        }
    }
}

impl Problem {
    fn spec(&self) -> Spec {
        let total = self.total();
        let longest = self.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        let tiles = longest.div_ceil(self.tile);
        // In causal kernels, each workgroup processes two tiles, one from each end.
        let tiles = if self.causal { tiles.div_ceil(2) } else { tiles };
        let sequences = self.starts.len() - 1;
        let grid =
            if self.tiles_last { [self.heads, sequences, tiles] } else { [tiles, self.heads, sequences] };
        // The kernels for gfx950 load one tile of K and V past the end, and do not use it.
        let padded = |values: &[f64]| bf16_buffer(&[values, &vec![0.0; 4 * self.tile * self.qk]].concat());
        let [q, k, values] = &self.data;
        let grid = Some(grid.map(|n| n as u32));
        let mut spec = Spec { grid, rest_zero: true, ..Spec::default() }
            .arg("R", Buffer::zeros(Element::Bf16, (self.heads * total * self.v) as u64))
            .arg("Q", padded(q))
            .arg("K", padded(k))
            .arg("V", padded(values))
            .arg("LSE", Buffer::zeros(Element::F32, (self.heads * total) as u64))
            .float("scalar", Element::F32, self.scale);
        let starts = || self.starts.iter().flat_map(|start| (*start as u32).to_le_bytes()).collect();
        for pointer in ["ptr_qseq", "ptr_kseq", "ptr_qseq_padding", "ptr_kseq_padding"] {
            spec = match self.group {
                true => spec.arg(pointer, Buffer::bytes(Element::I32, starts())),
                false => spec.arg(pointer, Arg::Null),
            };
        }
        let (qk, v) = (self.qk * 2, self.v * 2);
        for (argument, value) in [
            ("seq_len", longest),
            ("Seqs", qk),
            ("Ts", self.tile * qk),
            ("Hs", total * qk),
            ("Bs", self.heads * total * qk),
            ("gqa", 1),
            ("k_Seqs", qk),
            ("k_Hs", total * qk),
            ("k_Bs", self.heads * total * qk),
            ("msk_opt", if self.causal { 3 } else { 5 }),
            ("lse", 1),
            ("kv_seq_len", longest),
            ("qk_head_dim", self.qk),
            ("v_head_dim", self.v),
            ("q_head_num", self.heads),
            ("v_Seqs", v),
            ("v_Hs", total * v),
            ("v_Bs", self.heads * total * v),
            ("r_Seqs", v),
            ("r_Hs", total * v),
            ("r_Bs", self.heads * total * v),
            ("lse_Hs", total * 4),
        ] {
            spec = uint(spec, argument, value);
        }
        spec
    }
}

/// A row of the reference result, and the logarithm of its sum.
fn reference(p: &Problem, (head, row): (usize, usize)) -> (Vec<f64>, f64) {
    let [q, k, values] = &p.data;
    let base = head * p.total();
    let sequence = p.sequence(row);
    let seen = sequence.start..if p.causal { row + 1 } else { sequence.end };
    let scores: Vec<(usize, f64)> = seen
        .map(|other| {
            let (q, k) = (&q[(base + row) * p.qk..][..p.qk], &k[(base + other) * p.qk..][..p.qk]);
            (other, q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() * p.scale)
        })
        .collect();
    let sum: f64 = scores.iter().map(|(_, x)| x.exp()).sum();
    let column = |c: usize| -> f64 {
        let weighted = |(other, x): &(usize, f64)| x.exp() / sum * values[(base + other) * p.v + c];
        scores.iter().map(weighted).sum()
    };
    ((0..p.v).map(column).collect(), sum.ln())
}
