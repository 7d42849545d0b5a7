//! Kernels of Triton, assembled and linked here from Triton's assembly, run with dynamic LDS and hidden arguments.

use std::io::Read;

use gcn_emit::asm::{Options as Assemble, assemble};
use gcn_sim::Options;
use gcn_sim::launch::{Arg, Buffer, Element, Init, Number, Prepared, Program, Spec};

/// Runs the kernel in the file with this name for each target, with workgroups of four waves.
fn on_each(name: &str, spec: &Spec, test: impl Fn(&Prepared)) {
    let mut all = Vec::new();
    let packed = &include_bytes!("../../data/triton.s.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_end(&mut all).unwrap();
    let (mut rest, mut runs) = (all.as_slice(), 0);
    while let Some(end) = rest.iter().position(|b| *b == b'\n') {
        let (file, size) = std::str::from_utf8(&rest[..end]).unwrap().split_once('\t').unwrap();
        let (text, after) = rest[end + 1..].split_at(size.parse().unwrap());
        rest = after;
        if file.split_once('-').unwrap().1 != name {
            continue;
        }
        let assembly = assemble(file, std::str::from_utf8(text).unwrap(), &Assemble::default()).unwrap();
        let program = Program::load(&assembly.code_object().unwrap(), None).unwrap();
        let spec = Spec { workgroup: Some([256, 1, 1]), rest_zero: true, ..spec.clone() };
        let mut launch = program.prepare(&spec, ".".as_ref()).unwrap_or_else(|e| panic!("{file}: {e}"));
        launch.run(&Options::default()).unwrap_or_else(|e| panic!("{file}: {e}"));
        test(&launch);
        runs += 1;
    }
    assert_eq!(runs, 3, "{name}");
}

fn values(launch: &Prepared, position: usize) -> Vec<f64> {
    launch.buffer_at(position).unwrap().numbers().map(|n| n.to_string().parse().unwrap()).collect()
}

fn random(element: Element, count: u64, seed: u64) -> Buffer {
    let init = Init::Random { seed, min: Number::Int(-2), max: Number::Int(2) };
    Buffer { init, ..Buffer::zeros(element, count) }
}

fn int(value: i128) -> Arg {
    Arg::Scalar(Element::I32, Number::Int(value))
}

#[test]
fn vector_add() {
    let spec = Spec { grid: Some([2, 1, 1]), ..Spec::default() }
        .next(Buffer::iota(Element::F32, 2048))
        .next(random(Element::F32, 2048, 1))
        .next(Buffer::zeros(Element::F32, 2048))
        .next(int(2000));
    on_each("vector_add_f32_w4", &spec, |launch| {
        let [x, y, o] = [0, 1, 2].map(|at| values(launch, at));
        for i in 0..2048 {
            let sum = if i < 2000 { x[i] as f32 + y[i] as f32 } else { 0.0 };
            assert_eq!(o[i] as f32, sum, "{i}");
        }
    });
}

#[test]
fn softmax() {
    let (rows, stride, n) = (3, 1024, 1000);
    let spec = Spec { grid: Some([rows as u32, 1, 1]), dynamic_lds: 4096, ..Spec::default() }
        .next(random(Element::F32, (rows * stride) as u64, 2))
        .next(Buffer::zeros(Element::F32, (rows * stride) as u64))
        .next(int(stride as i128))
        .next(int(n as i128));
    on_each("softmax_fp32_1024_w4", &spec, |launch| {
        let (x, o) = (values(launch, 0), values(launch, 1));
        for row in 0..rows {
            let (x, o) = (&x[row * stride..][..n], &o[row * stride..][..stride]);
            let sum: f64 = x.iter().map(|x| x.exp()).sum();
            for (i, x) in x.iter().enumerate() {
                let expected = x.exp() / sum;
                assert!((o[i] - expected).abs() < 1e-5 * expected, "{row}, {i}: {} for {expected}", o[i]);
            }
            assert!(o[n..].iter().all(|o| *o == 0.0));
        }
    });
}

#[test]
fn matmul() {
    let (m, n, k) = (128usize, 128usize, 64usize);
    let mut spec = Spec { grid: Some([4, 1, 1]), dynamic_lds: 65536, ..Spec::default() }
        .next(random(Element::F16, (m * k) as u64, 3))
        .next(random(Element::F16, (k * n) as u64, 4))
        .next(Buffer::zeros(Element::F16, (m * n) as u64));
    for size in [m, n, k, k, n, n] {
        spec = spec.next(int(size as i128));
    }
    on_each("matmul_fp16_64x64x32_w4_s2", &spec, |launch| {
        let [a, b, c] = [0, 1, 2].map(|at| values(launch, at));
        for row in 0..m {
            for column in 0..n {
                let expected: f64 = (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum();
                let got = c[row * n + column];
                // The result is rounded to f16: an error of 2^-11 for values up to 256.
                assert!(
                    (got - expected).abs() <= expected.abs() / 2048.0 + 1e-4,
                    "{row}, {column}: {got} for {expected}"
                );
            }
        }
    });
}
