//! Matrix products and transposes.

use half::f16;

use super::{floats, halves, on_each, words};

/// C = A * B^T of row-major matrices.
fn product(a: &[f32], b: &[f32], n: usize, k: usize) -> Vec<f32> {
    a.chunks(k)
        .flat_map(|row| {
            b.chunks(k).take(n).map(|col| row.iter().zip(col).map(|(x, y)| x * y).sum()).collect::<Vec<f32>>()
        })
        .collect()
}

fn widened(h: &[f16]) -> Vec<f32> {
    h.iter().map(|x| x.to_f32()).collect()
}

#[test]
fn matrix_products() {
    on_each("hgemm_32x32x8", |k| {
        let (m, n, depth) = (128, 256, 96);
        let (a, b) = (halves(16, m * depth), halves(17, n * depth));
        k.buffer(&a);
        k.buffer(&b);
        let c = k.buffer(&vec![0f32; m * n]);
        [m, n, depth].into_iter().for_each(|x| k.arg(x as i32));
        k.go([2, 1, 1], 256);
        assert_eq!(k.read::<f32>(c, m * n), product(&widened(&a), &widened(&b), n, depth));
    });
    for kernel in ["hgemm_reg_2x2", "hgemm_reg_4x4"] {
        on_each(kernel, |k| {
            let (m, n, depth) = (128, 128, 64);
            let (a, b) = (halves(18, m * depth), halves(19, n * depth));
            let columns = if kernel == "hgemm_reg_2x2" { 64 } else { 128 };
            k.buffer(&a);
            k.buffer(&b);
            let c = k.buffer(&vec![0f32; m * n]);
            [depth, columns].into_iter().for_each(|x| k.arg(x as i32));
            k.go([if columns == 64 { 2 } else { 1 }, 1, 1], 64);
            assert_eq!(
                k.read::<f32>(c, m * columns),
                product(&widened(&a), &widened(&b), columns, depth),
                "{kernel}"
            );
        });
    }
    on_each("sgemm_128x128", |k| {
        let (m, n, depth) = (128, 128, 24);
        let a: Vec<f32> = widened(&halves(20, m * depth));
        let b: Vec<f32> = widened(&halves(21, n * depth));
        let transposed: Vec<f32> = (0..n * depth).map(|i| b[i % depth * n + i / depth]).collect();
        k.buffer(&a);
        k.buffer(&b);
        let c = k.buffer(&vec![1f32; m * n]);
        [m, n, depth].into_iter().for_each(|x| k.arg(x as i32));
        [2f32, 0.5].into_iter().for_each(|x| k.arg(x));
        k.go([1, 1, 1], 256);
        let expected: Vec<f32> =
            product(&a, &transposed, n, depth).into_iter().map(|x| 2.0 * x + 0.5).collect();
        assert_eq!(k.read::<f32>(c, m * n), expected);
    });
    on_each("igemm", |k| {
        let depth = 64;
        let bytes = |seed| words(seed, 64 * depth).iter().map(|&w| w as u8).collect::<Vec<u8>>();
        let (a, b) = (bytes(22), bytes(23));
        k.buffer(&a);
        k.buffer(&b);
        let c = k.buffer(&[0i32; 64 * 64]);
        [64i32, depth as i32].into_iter().for_each(|x| k.arg(x));
        k.go([1, 1, 1], 256);
        let at = |x: &[u8], row: usize, k: usize| i32::from(x[row * depth + k] as i8);
        let dot = |i: usize, j: usize| (0..depth).map(|k| at(&a, i, k) * at(&b, j, k)).sum::<i32>();
        let out = k.read::<i32>(c, 64 * 64);
        for (lane, wave) in (0..64).flat_map(|l| (0..4).map(move |w| (l, w))) {
            for (j, e) in (0..4).flat_map(|j| (0..4).map(move |e| (j, e))) {
                let (row, column) = (wave * 16 + lane / 16 * 4 + e, j * 16 + lane % 16);
                // The kernel adds a 32x32x16 product of the same registers, which represent other rows and k in that shape.
                let (r, c2) = (8 * j + 4 * (lane / 32) + e, lane % 32);
                let mut big = 0;
                for step in (0..depth).step_by(32) {
                    for k in 0..16 {
                        let source = r + 32 * (k / 8);
                        let x = at(&a, wave * 16 + source % 16, step + source / 16 * 8 + k % 8);
                        big += x * at(&b, c2, step + (k / 8) * 8 + k % 8);
                    }
                }
                assert_eq!(out[row * 64 + column], dot(row, column) + big);
            }
        }
    });
    on_each("fp8_gemm", |k| {
        // Powers of two and small sums: the encodings of 0, 1, 2 and -1 in e4m3fnuz, or on gfx950 in the OCP format e4m3.
        let ocp = k.program.target_id().target == gcn_isa::Target::GFX950;
        let codes = if ocp { [0u8, 0x38, 0x40, 0xb8] } else { [0u8, 0x40, 0x48, 0xc0] };
        let values = [0f32, 1.0, 2.0, -1.0];
        let depth = 128;
        let pick = |seed| words(seed, 128 * depth).iter().map(|&w| (w >> 7) as usize % 4).collect::<Vec<_>>();
        let (a, b) = (pick(24), pick(25));
        k.buffer(&a.iter().map(|&i| codes[i]).collect::<Vec<u8>>());
        k.buffer(&b.iter().map(|&i| codes[i]).collect::<Vec<u8>>());
        let c = k.buffer(&vec![f16::ZERO; 128 * 128]);
        [128i32, depth as i32 / 8].into_iter().for_each(|x| k.arg(x));
        [0.5f32, 2.0].into_iter().for_each(|x| k.arg(x));
        k.go([1, 1, 1], 256);
        let value = |x: &[usize]| x.iter().map(|&i| values[i]).collect::<Vec<f32>>();
        let expected = product(&value(&a), &value(&b), 128, depth);
        assert!(k.read::<f16>(c, 128 * 128).iter().zip(expected).all(|(x, y)| x.to_f32() == y));
    });
}

#[test]
fn transposes() {
    on_each("transpose32", |k| {
        let (w, h) = (70, 45);
        let a = floats(26, w * h);
        k.buffer(&a);
        let b = k.buffer(&vec![0f32; w * h]);
        [w, h].into_iter().for_each(|x| k.arg(x as i32));
        k.go([3, 2, 1], 256);
        let out: Vec<f32> = k.read(b, w * h);
        assert!((0..w * h).all(|i| out[i] == a[i % h * w + i / h]));
    });
    on_each("transpose_f16", |k| {
        let (w, h) = (128, 64);
        let a = halves(27, w * h);
        k.buffer(&a);
        let b = k.buffer(&vec![f16::ZERO; w * h]);
        [w / 8, h / 8].into_iter().for_each(|x| k.arg(x as i32));
        k.go([2, 1, 1], 256);
        let out: Vec<f16> = k.read(b, w * h);
        assert!((0..w * h).all(|i| out[i] == a[i % h * w + i / h]));
    });
}
