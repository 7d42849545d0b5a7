//! Reductions, scans and divergent control flow.

use super::{close, floats, on_each, words};

#[test]
fn reductions_and_scans() {
    on_each("reduce_sum", |k| {
        // Small integers, whose sum does not depend on the order of additions.
        let a: Vec<f32> = words(9, 3000).iter().map(|&w| (w % 100) as f32).collect();
        k.buffer(&a);
        let o = k.buffer(&[0f32; 3]);
        k.arg(1000i32);
        k.go([3, 1, 1], 256);
        let expected: Vec<f32> = a.chunks(1000).map(|c| c.iter().sum()).collect();
        assert_eq!(k.read::<f32>(o, 3), expected);
    });
    on_each("scan_inclusive_i32", |k| {
        let a: Vec<i32> = words(10, 128).iter().map(|&w| w as i32 % 1000).collect();
        k.buffer(&a);
        let o = k.buffer(&vec![0i32; 4096 + 128]);
        k.go([2, 1, 1], 64);
        let out: Vec<i32> = k.read(o, 4096 + 128);
        for block in 0..2 {
            let row = &a[64 * block..64 * block + 64];
            let scan: Vec<i32> = (1..=64).map(|n| row[..n].iter().sum()).collect();
            assert_eq!(out[64 * block..64 * block + 64], scan);
            // A lane for which wave_shr has no source keeps the old value; wave_ror wraps around.
            for lane in 0..64 {
                let shifted = if lane == 0 { scan[0] } else { scan[lane - 1] };
                assert_eq!(out[4096 + 64 * block + lane], shifted + scan[(lane + 63) % 64]);
            }
        }
    });
    on_each("imax", |k| {
        let x: Vec<i32> = words(11, 700).iter().map(|&w| w as i32).collect();
        k.buffer(&x);
        let y = k.buffer(&[0i32; 1]);
        k.arg(700i32);
        k.go([1, 1, 1], 256);
        assert_eq!(k.read::<i32>(y, 1)[0], *x.iter().max().unwrap());
    });
    on_each("l2norm", |k| {
        let x = floats(12, 600);
        k.buffer(&x);
        let y = k.buffer(&[0f32; 600]);
        k.arg(300i32);
        k.go([2, 1, 1], 256);
        for (row, got) in x.chunks(300).zip(k.read::<f32>(y, 600).chunks(300)) {
            let norm = row.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
            assert!(row.iter().zip(got).all(|(x, y)| close(*y, (f64::from(*x) / norm) as f32, 1e-5)));
        }
    });
}

#[test]
fn divergent_control_flow() {
    on_each("mandelbrot", |k| {
        let o = k.buffer(&[1u32; 64 * 16]);
        [64i32, 16].into_iter().for_each(|x| k.arg(x));
        [-2.0f32, -1.0, 0.0625].into_iter().for_each(|x| k.arg(x));
        k.arg(60i32);
        k.go([4, 1, 1], 256);
        for (i, got) in k.read::<u32>(o, 1024).into_iter().enumerate() {
            let (cx, cy) = (((i % 64) as f32).mul_add(0.0625, -2.0), ((i / 64) as f32).mul_add(0.0625, -1.0));
            let (mut x, mut y, mut it) = (0f32, 0f32, 0u32);
            // clang contracts y * y + x * x and 2 * x * y + cy.
            while it < 60 && y.mul_add(y, x * x) <= 4.0 {
                let x2 = x * x;
                (y, x) = ((2.0 * x).mul_add(y, cy), x2 - y * y + cx);
                it += 1;
            }
            let expected = if it == 60 { 0 } else { it * 0x0102_0304 };
            // For points on the boundary, the number of steps may differ by one, depending on which products are fused.
            assert!(got.abs_diff(expected) <= 0x0102_0304 || it > 30, "point {i}: {got:#x} {expected:#x}");
        }
    });
    on_each("binsearch", |k| {
        let mut table = floats(13, 500);
        table.sort_by(f32::total_cmp);
        let keys = floats(14, 128);
        k.buffer(&keys);
        k.buffer(&table);
        let o = k.buffer(&[0i32; 128]);
        k.arg(500i32);
        k.go([2, 1, 1], 64);
        let expected: Vec<i32> = keys.iter().map(|key| table.partition_point(|t| t < key) as i32).collect();
        assert_eq!(k.read::<i32>(o, 128), expected);
    });
    on_each("collatz", |k| {
        let a: Vec<u64> = (1..=128).map(|i| i * 0x1234_5677).collect();
        k.buffer(&a);
        let o = k.buffer(&[0u32; 128]);
        k.go([2, 1, 1], 64);
        let steps = |mut n: u64| {
            let mut count = 0u32;
            while n != 1 {
                n = if n % 2 == 1 { n.wrapping_mul(3).wrapping_add(1) } else { n / 2 };
                count += 1;
            }
            count
        };
        assert_eq!(k.read::<u32>(o, 128), a.iter().map(|&n| steps(n)).collect::<Vec<_>>());
    });
    on_each("warp_compact", |k| {
        let a: Vec<i32> = words(15, 256).iter().map(|&w| w as i32 % 100).collect();
        k.buffer(&a);
        let o = k.buffer(&[0i32; 256]);
        let count = k.buffer(&[0i32; 1]);
        k.arg(10i32);
        k.go([4, 1, 1], 64);
        let expected: Vec<i32> = a.into_iter().filter(|&v| v > 10).collect();
        assert_eq!(k.read::<i32>(count, 1)[0] as usize, expected.len());
        assert_eq!(k.read::<i32>(o, expected.len()), expected);
    });
}
