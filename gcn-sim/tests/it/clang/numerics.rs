//! Softmax, attention, activations, sparse and quantized products, double precision.

use gcn_test_support::Random;

use super::{close, floats, halves, on_each, words};

#[test]
fn softmax_attention_and_activations() {
    on_each("softmax_row", |k| {
        let input = floats(28, 400);
        k.buffer(&input);
        let o = k.buffer(&[0f32; 400]);
        k.arg(200i32);
        k.go([2, 1, 1], 64);
        for (row, got) in input.chunks(200).zip(k.read::<f32>(o, 400).chunks(200)) {
            let sum: f64 = row.iter().map(|&x| f64::from(x).exp()).sum();
            assert!(row.iter().zip(got).all(|(x, y)| close(*y, (f64::from(*x).exp() / sum) as f32, 1e-5)));
        }
    });
    on_each("gelu_silu", |k| {
        let a = floats(29, 1024);
        k.buffer(&a);
        let o = k.buffer(&[0f32; 1024]);
        k.arg(256i32);
        k.go([1, 1, 1], 256);
        for (x, got) in a.iter().zip(k.read::<f32>(o, 1024)) {
            let x = f64::from(*x);
            let t = 0.797_884_560_8 * (x + 0.044_715 * x * x * x);
            let expected = 0.5 * x * (2.0 - 2.0 / ((2.0 * t).exp() + 1.0)) + x / (1.0 + (-x).exp());
            assert!(close(got, expected as f32, 1e-5), "{x}: {got} {expected}");
        }
    });
    on_each("flash_fwd_d64", |k| {
        let seq = 64;
        let [q, key, v] = [30, 31, 32].map(|seed| halves(seed, seq * 64));
        k.buffer(&q);
        k.buffer(&key);
        k.buffer(&v);
        let o = k.buffer(&vec![0f32; seq * 64]);
        k.arg(seq as i32);
        k.arg(0.125f32);
        k.go([4, 1, 1], 64);
        let out: Vec<f32> = k.read(o, seq * 64);
        for row in 0..seq {
            let score = |j: usize| {
                (0..64).map(|d| q[row * 64 + d].to_f64() * key[j * 64 + d].to_f64()).sum::<f64>() * 0.125
            };
            let weights: Vec<f64> = (0..seq).map(|j| score(j).exp2()).collect();
            let total: f64 = weights.iter().sum();
            for d in 0..64 {
                let expected: f64 =
                    (0..seq).map(|j| weights[j] * v[j * 64 + d].to_f64()).sum::<f64>() / total;
                assert!(
                    close(out[row * 64 + d], expected as f32, 2e-3),
                    "{row},{d}: {} {expected}",
                    out[row * 64 + d]
                );
            }
        }
    });
}

#[test]
fn sparse_and_quantized_products() {
    on_each("spmv_csr_wave", |k| {
        let rows = 10;
        let mut random = Random::new(37);
        let mut starts = vec![0i32];
        (0..rows).for_each(|_| starts.push(starts.last().unwrap() + (random.next_u64() % 150) as i32));
        let count = *starts.last().unwrap() as usize;
        let columns: Vec<i32> = (0..count).map(|_| (random.next_u64() % 100) as i32).collect();
        let values: Vec<f32> = (0..count).map(|_| (random.next_u64() % 8) as f32).collect();
        let x: Vec<f32> = (0..100).map(|i| (i % 13) as f32).collect();
        k.buffer(&starts);
        k.buffer(&columns);
        k.buffer(&values);
        k.buffer(&x);
        let y = k.buffer(&[0f32; 12]);
        k.arg(rows);
        k.go([3, 1, 1], 256);
        let out: Vec<f32> = k.read(y, 12);
        for row in 0..rows as usize {
            let range = starts[row] as usize..starts[row + 1] as usize;
            assert_eq!(out[row], range.map(|i| values[i] * x[columns[i] as usize]).sum::<f32>());
        }
    });
    on_each("dequant_gemv_i4", |k| {
        let (rows, groups) = (8usize, 100usize);
        let w = words(38, rows * groups);
        let scales = halves(39, rows * groups / 4);
        let x: Vec<f32> = (0..groups * 8).map(|i| (i % 5) as f32 - 2.0).collect();
        k.buffer(&w);
        k.buffer(&scales);
        k.buffer(&x);
        let y = k.buffer(&[0f32; 8]);
        k.arg(groups as i32);
        k.go([2, 1, 1], 256);
        for (row, got) in k.read::<f32>(y, rows).into_iter().enumerate() {
            let expected: f32 = (0..groups)
                .map(|g| {
                    let q = w[row * groups + g];
                    let t: f32 = (0..8).map(|j| ((q >> (4 * j) & 15) as f32 - 8.0) * x[8 * g + j]).sum();
                    scales[row * (groups / 4) + g / 4].to_f32() * t
                })
                .sum();
            assert_eq!(got, expected);
        }
    });
}

#[test]
fn double_precision_functions() {
    on_each("math_f64", |k| {
        let a: Vec<f64> = floats(40, 257).iter().map(|&x| f64::from(x).abs() + 0.37).collect();
        k.buffer(&a);
        let o = k.buffer(&[0f64; 256]);
        k.go([1, 1, 1], 256);
        for (i, got) in k.read::<f64>(o, 256).into_iter().enumerate() {
            let (x, y) = (a[i], a[i + 1]);
            let mut r = x / y + x.sqrt() + 1.0 / y + x.mul_add(y, 2.0);
            r += x.floor() + y.trunc() + x.round_ties_even() + y.ceil();
            let (mut m, _) = (y, 0);
            while m >= 1.0 {
                m /= 2.0;
            }
            while m < 0.5 {
                m *= 2.0;
            }
            r += 1.0 / x.sqrt() + x * 8.0 + m + x.fract();
            r += x.trunc() + f64::from(y as u32) + f64::from(x as f32) + x.min(y) + x.max(3.0);
            let expected = if x < y { r } else { -r };
            assert!((got - expected).abs() <= 1e-12 * expected.abs(), "{i}: {got} {expected}");
        }
    });
}
