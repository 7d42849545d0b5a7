//! Matrix products: bf16 inputs with f32 results, and int8 inputs with scales for each row and column and bf16 results.

use gcn_sim::launch::{Buffer, Element, Spec};

use super::{bf16, bf16_buffer, files, fractions, integers, name, output, run, uint};

/// D = A B^T, where A is M x K and B is N x K. The file name contains the tile size.
#[test]
fn bf16gemm() {
    for target in ["gfx942", "gfx950"] {
        for file in files(&format!("{target}/bf16gemm")) {
            let name = name(&file);
            let tile = name.split('_').find(|part| part.contains('x')).unwrap();
            let (tile_m, tile_n) = tile.split_once('x').unwrap();
            let (tile_m, tile_n): (usize, usize) = (tile_m.parse().unwrap(), tile_n.parse().unwrap());
            // Sizes with whole tiles only, and sizes whose last tile is partial.
            for (m, splits) in [(tile_m, 1), (tile_m + 5, 1), (tile_m, 2)] {
                one_bf16(&file, (m, 2 * tile_n, 256), (tile_m, tile_n), splits);
            }
        }
    }
}

fn one_bf16(
    file: &std::path::Path,
    (m, n, k): (usize, usize, usize),
    (tile_m, tile_n): (usize, usize),
    splits: usize,
) {
    let (a, b) = (integers(1, m * k, 8), integers(2, n * k, 8));
    let grid = [n.div_ceil(tile_n) as u32, m.div_ceil(tile_m) as u32, splits as u32];
    let mut spec = Spec { grid: Some(grid), rest_zero: true, ..Spec::default() }
        .arg("D", Buffer::zeros(Element::F32, (m * n) as u64))
        .arg("A", bf16_buffer(&a))
        .arg("B", bf16_buffer(&b))
        .float("alpha", Element::F32, 1.0)
        .float("beta", Element::F32, 0.0);
    for (argument, value) in [
        ("strideC0", n * 4),
        ("strideD0", n * 4),
        ("strideA0", k * 2),
        ("strideB0", k * 2),
        ("Mdim", m),
        ("Ndim", n),
        ("Kdim", k),
        ("splitk", splits),
    ] {
        spec = uint(spec, argument, value);
    }
    let launch = run(file, &spec);
    let d = output(&launch, "D");
    for row in 0..m {
        for column in 0..n {
            let expected: f64 = (0..k).map(|i| a[row * k + i] * b[column * k + i]).sum();
            let got = d[row * n + column];
            assert_eq!(got, expected, "{}: {m}x{n}x{k}, row {row}, column {column}", file.display());
        }
    }
}

/// The position of element (row, column) of B: B is stored in blocks of 32 rows by 32 columns, and each block as two halves of 16 columns.
fn shuffled(row: usize, column: usize, k: usize) -> usize {
    let block = row / 32 * (k / 32) + column / 32;
    ((block * 2 + column % 32 / 16) * 32 + row % 32) * 16 + column % 16
}

/// C = A B^T, scaled by row and by column, plus a bias for each column.
#[test]
fn i8gemm() {
    for file in files("gfx942/i8gemm") {
        let name = name(&file);
        let (tile_m, tile_n) = name.rsplit_once('_').unwrap().1.split_once('x').unwrap();
        let (tile_m, tile_n): (usize, usize) = (tile_m.parse().unwrap(), tile_n.parse().unwrap());
        for m in [tile_m, tile_m + 3] {
            one_i8(&file, (m, 2 * tile_n, 512), (tile_m, tile_n));
        }
    }
}

fn one_i8(file: &std::path::Path, (m, n, k): (usize, usize, usize), (tile_m, tile_n): (usize, usize)) {
    let (a, b) = (integers(3, m * k, 127), integers(4, n * k, 127));
    let scale = |seed, count| -> Vec<f64> {
        fractions(seed, count).iter().map(|x| f64::from((x.abs() / 64.0 + 0.001) as f32)).collect()
    };
    let (row_scale, column_scale) = (scale(5, m), scale(6, n));
    let bias: Vec<f64> = fractions(7, n).iter().map(|x| f64::from((x * 4.0) as f32)).collect();
    let mut placed = vec![0.0; n * k];
    for row in 0..n {
        for column in 0..k {
            placed[shuffled(row, column, k)] = b[row * k + column];
        }
    }
    let floats = |values: &[f64]| Buffer::floats(Element::F32, values.iter().copied());
    let grid = [(n / tile_n) as u32, m.div_ceil(tile_m) as u32, 1];
    let mut spec = Spec { grid: Some(grid), rest_zero: true, ..Spec::default() }
        .arg("C", Buffer::zeros(Element::Bf16, (m * n) as u64))
        .arg("A", Buffer::floats(Element::I8, a.iter().copied()))
        .arg("B", Buffer::floats(Element::I8, placed))
        .arg("SA", floats(&row_scale))
        .arg("SB", floats(&column_scale))
        .arg("BIAS", floats(&bias));
    for (argument, value) in [("M", m), ("N", n), ("K", k), ("PA", k), ("PB", k), ("PC", n * 2), ("KS", 1)] {
        spec = uint(spec, argument, value);
    }
    let launch = run(file, &spec);
    let c = output(&launch, "C");
    for row in 0..m {
        for column in 0..n {
            let sum: f64 = (0..k).map(|i| a[row * k + i] * b[column * k + i]).sum();
            let expected = sum * row_scale[row] * column_scale[column] + bias[column];
            let got = c[row * n + column];
            // A bf16 result has an error of at most one unit in the last place, 2^-8.
            let close = (got - expected).abs() <= expected.abs() / 128.0 + 1e-3;
            assert!(
                close,
                "{}: row {row}, column {column}: {got} for {} = {expected}",
                file.display(),
                bf16(expected)
            );
        }
    }
}
