//! Instruction selection and value numbering: which values are computed once, and which operations are combined into
//! one instruction.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;

fn text(kernel: &BuiltKernel) -> String {
    kernel.assembly(Comments::None)
}

gcn_kernel! {
    /// Pairs of operations, one for each row of the output.
    #[workgroup(64)]
    fn pairs_of_operations(a: &[u32], b: &[u32], c: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        let (a, b, c) = (a[i], b[i], c[i]);
        let signed = |x: V<u32>| x.to_bits_as::<i32>();
        let results = comptime { [
            (a << 3) + b,
            (a + b) << 5,
            (a & b) | c,
            (a << 7) | b,
            (a | b) | c,
            (a >> 9) & 0x7f,
            (a ^ b) + c,
            a.min(b).min(c),
            a.max(b).max(c),
            (signed(a).min(signed(b)).min(signed(c))).to_bits_as::<u32>(),
            (a & 0xffff) * (b & 0xff) + c,
        ] };
        #[unroll] for k in 0..results.len() { y[i + 64 * k as u32] = results[k]; }
    }
}

#[test]
fn two_operations_become_one_instruction() {
    let values =
        |k: u32| (0..64u32).map(|i| (i + k).wrapping_mul(0x9e37_79b9).rotate_left(k)).collect::<Vec<_>>();
    let (a, b, c) = (values(1), values(2), values(3));
    for target in Target::REPRESENTATIVES {
        let kernel = pairs_of_operations.build(target).unwrap();
        let text = text(&kernel);
        let names = [
            "lshl_add_u32",
            "add_lshl_u32",
            "and_or_b32",
            "lshl_or_b32",
            "or3_b32",
            "bfe_u32",
            "xad_u32",
            "min3_u32",
            "max3_u32",
            "min3_i32",
            "mad_u32_u24",
        ];
        for name in names {
            assert!(text.contains(&format!("v_{name} ")), "{target} {name}: {text}");
        }
        let mut y = vec![0; names.len() * 64];
        let device = Device::simulator(target);
        device.launch(&pairs_of_operations, &kernel, Grid::x(1), (&a, &b, &c, &mut y)).unwrap();
        for i in 0..64 {
            let (a, b, c) = (a[i], b[i], c[i]);
            let signed = |x: u32| x.cast_signed();
            let expected = [
                (a << 3).wrapping_add(b),
                a.wrapping_add(b) << 5,
                (a & b) | c,
                (a << 7) | b,
                a | b | c,
                (a >> 9) & 0x7f,
                (a ^ b).wrapping_add(c),
                a.min(b).min(c),
                a.max(b).max(c),
                signed(a).min(signed(b)).min(signed(c)).cast_unsigned(),
                (a & 0xffff).wrapping_mul(b & 0xff).wrapping_add(c),
            ];
            for (k, expected) in expected.into_iter().enumerate() {
                assert_eq!(y[k * 64 + i], expected, "{target} {} {i}", names[k]);
            }
        }
    }
}

gcn_kernel! {
    /// The same product in sibling branches, a commuted sum, and two loads from the same LDS address.
    #[workgroup(64)]
    fn repeated(n: u32, x: &[f32], y: &mut [f32]) {
        let tile = Lds::<f32, 128>::new();
        let (i, k) = (local_id().x, x.len() + n);
        tile[i] = x[i];
        tile[i + 64] = x[i + 64];
        barrier();
        if i < n {
            y[i * k] = tile[i] + tile[i + 64];
        }
        if i > n {
            y[i * (n + x.len())] = tile[i] * tile[i];
        }
    }
}

#[test]
fn equal_values_are_computed_once() {
    let x: Vec<f32> = (0..128).map(|i| i as f32 * 0.5 - 9.0).collect();
    for target in Target::REPRESENTATIVES {
        let kernel = repeated.build(target).unwrap();
        let text = text(&kernel);
        assert_eq!(text.matches("v_mul_lo_u32").count(), 1, "{target}: {text}");
        // One instruction stores both copies of the sum; the square's are stored one by one.
        assert_eq!(text.matches("ds_read").count(), 2, "{target}: {text}");
        assert_eq!(text.matches("ds_write").count(), 1, "{target}: {text}");
        let (n, mut y) = (20, vec![0.0; 64 * 148]);
        let device = Device::simulator(target);
        device.launch(&repeated, &kernel, Grid::x(1), (n as u32, &x, &mut y)).unwrap();
        for i in 0..64 {
            let expected = match i.cmp(&n) {
                std::cmp::Ordering::Less => x[i] + x[i + 64],
                std::cmp::Ordering::Equal => 0.0,
                std::cmp::Ordering::Greater => x[i] * x[i],
            };
            assert_eq!(y[i * 148], expected, "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// A uniform float that each trip changes.
    #[workgroup(64)]
    fn decay(n: u32, factor: f32, y: &mut [f32]) {
        let mut weight: S<f32> = 1.0;
        let mut sum: V<f32> = 0.0;
        for k in 0..n {
            sum += y[k * 64 + local_id().x] * weight;
            weight = weight * factor + 0.25;
        }
        y[local_id().x] = sum;
    }
}

#[test]
fn uniform_floats_stay_in_vector_registers() {
    for target in Target::REPRESENTATIVES {
        let kernel = decay.build(target).unwrap();
        let text = text(&kernel);
        assert!(!text.contains("v_readfirstlane"), "{target}: {text}");
        let mut y: Vec<f32> = (0..256).map(|i| (i % 37) as f32).collect();
        let given = y.clone();
        Device::simulator(target).launch(&decay, &kernel, Grid::x(1), (4, 0.5, &mut y)).unwrap();
        for i in 0..64 {
            let (mut weight, mut sum) = (1.0f32, 0.0f32);
            for k in 0..4 {
                sum += given[k * 64 + i] * weight;
                weight = weight * 0.5 + 0.25;
            }
            assert_eq!(y[i], sum, "{target} {i}");
        }
    }
}
