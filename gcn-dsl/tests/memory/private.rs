//! Private arrays: in registers, in scratch, and the set-up of scratch.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

gcn_kernel! {
    /// Permutes each lane's elements by data, and pairs of f64 in a second array.
    #[workgroup(16, 2, 2)]
    fn permute(x: &[u32], turns: u32, y: &mut [u32], z: &mut [f64]) {
        let t = local_id().x + local_id().y * 16 + local_id().z * 32;
        let g = (workgroup_id().x + workgroup_id().y * 2) * 64 + t;
        let a = Private::<u32, 8>::new();
        let b = Private::<f64, 5>::filled(0.5);
        #[unroll] for i in 0..8 {
            a[i] = x[g * 8 + i];
        }
        for turn in 0..turns {
            let from = a[turn & 7] & 7;
            let to = (from + turn) & 7;
            if (t & 1) == 0 {
                let old = a[to];
                a[to] = a[from] + 1;
                a[from] = old;
            }
            b[from % 5] += a[to] as f64;
        }
        #[unroll] for i in 0..8 {
            y[g * 8 + i] = a[i];
        }
        for i in 0..5u32 {
            z[g * 5 + i] = b[i];
        }
    }
}

fn permuted(x: &[u32], turns: u32) -> (Vec<u32>, Vec<f64>) {
    let (mut y, mut z) = (Vec::new(), Vec::new());
    for (lane, x) in x.chunks_exact(8).enumerate() {
        let mut a = x.to_vec();
        let mut b = [0.5; 5];
        for turn in 0..turns {
            let from = (a[turn as usize & 7] & 7) as usize;
            let to = (from + turn as usize) & 7;
            if lane & 1 == 0 {
                let old = a[to];
                a[to] = a[from].wrapping_add(1);
                a[from] = old;
            }
            b[from % 5] += f64::from(a[to]);
        }
        y.extend(a);
        z.extend(b);
    }
    (y, z)
}

#[test]
fn arrays_with_varying_indices_are_in_scratch() {
    let lanes = 4 * 64;
    let x: Vec<u32> = (0..lanes * 8).map(|i: u32| i.wrapping_mul(2_654_435_761) >> 20).collect();
    let expected = permuted(&x, 19);
    let rdna = [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201];
    for target in TARGETS.into_iter().chain(rdna) {
        let kernel = permute.build(target).unwrap();
        assert_eq!(kernel.spec().scratch_bytes, 32 + 40, "8 u32, then 5 f64");
        let text = kernel.assembly(Comments::None);
        let set_up = text.contains("flat_scratch_lo") || text.contains("HW_REG_FLAT_SCR_LO");
        assert_eq!(set_up, !target.has_architected_flat_scratch(), "{text}");
        let (mut y, mut z) = (vec![0; x.len()], vec![0.0; x.len() / 8 * 5]);
        permute.launch(&Device::simulator(target), Grid::xy(2, 2), (&x, 19, &mut y, &mut z)).unwrap();
        assert_eq!((&y, &z), (&expected.0, &expected.1), "{target}");
    }
}

/// LLVM's set-up of `FLAT_SCRATCH`: user SGPRs after the kernarg pointer, and the wave's offset after the workgroup
/// ids.
#[test]
fn registers_of_the_set_up() {
    let kernel = permute.build(Target::GFX90A).unwrap();
    let text = kernel.assembly(Comments::None);
    for directive in [
        ".amdhsa_user_sgpr_kernarg_segment_ptr 1",
        ".amdhsa_user_sgpr_flat_scratch_init 1",
        ".amdhsa_system_sgpr_private_segment_wavefront_offset 1",
        ".amdhsa_private_segment_fixed_size 72",
        ".private_segment_fixed_size: 72",
    ] {
        assert!(text.contains(directive), "{directive} is missing in\n{text}");
    }
    // s[0:1] kernarg, s[2:3] FLAT_SCRATCH_INIT, s4 and s5 workgroup ids, s6 the wave's offset.
    assert!(text.contains("s_add_u32 flat_scratch_lo, s2, s6"), "{text}");
    assert!(text.contains("s_addc_u32 flat_scratch_hi, s3, 0"), "{text}");
    // RDNA 1 and 2: as clang 22 does with `-Xclang -target-feature -Xclang +enable-flat-scratch`.
    let text = permute.build(Target::GFX1030).unwrap().assembly(Comments::None);
    let set_up: Vec<&str> = text.lines().map(str::trim).filter(|l| l.starts_with("s_setreg_b32")).collect();
    let [low, high] = set_up[..] else { panic!("{text}") };
    let register = |line: &str, half: &str| {
        let to = format!("s_setreg_b32 hwreg(HW_REG_FLAT_SCR_{half}), ");
        line.strip_prefix(&to).unwrap_or_else(|| panic!("{line}")).to_owned()
    };
    let sums = [
        format!("s_add_u32 {}, s2, s6", register(low, "LO")),
        format!("s_addc_u32 {}, s3, 0", register(high, "HI")),
    ];
    assert!(sums.iter().all(|sum| text.contains(sum)), "{sums:?} in {text}");
}

gcn_kernel! {
    /// Every index is known, so the array is in registers, even where only some lanes write.
    #[workgroup(64)]
    fn known(x: &[i32], n: u32, y: &mut [i32]) {
        let i = global_id().x;
        let a = Private::<i32, 4>::filled(7);
        let never_read = Private::<i32, 4>::new();
        for k in 0..n {
            if x[i] > 3 {
                a[1] = a[1] + x[i];
                never_read[2] = 1;
                if (i & 1) == 0 {
                    a[2] += k as i32;
                }
            }
            a[0] += a[1];
        }
        #[unroll] for k in 0..4 {
            y[i * 4 + k] = a[k];
        }
    }
}

#[test]
fn arrays_with_known_indices_are_in_registers() {
    let x: Vec<i32> = (0..64).map(|i| i % 9).collect();
    let mut expected = Vec::new();
    for (i, &x) in x.iter().enumerate() {
        let mut a = [7; 4];
        for k in 0..5 {
            if x > 3 {
                a[1] += x;
                a[2] += if i & 1 == 0 { k } else { 0 };
            }
            a[0] += a[1];
        }
        expected.extend(a);
    }
    for target in TARGETS {
        let kernel = known.build(target).unwrap();
        assert_eq!(kernel.spec().scratch_bytes, 0);
        assert!(!kernel.assembly(Comments::None).contains("scratch_"));
        let mut y = vec![0; 256];
        known.launch(&Device::simulator(target), Grid::x(1), (&x, 5, &mut y)).unwrap();
        assert_eq!(y, expected, "{target}");
    }
}

gcn_kernel! {
    /// An array of bytes that is beyond the reach of an instruction's offset.
    #[workgroup(64)]
    fn far(x: &[u8], y: &mut [u8]) {
        let i = global_id().x;
        let big = Private::<u32, 1100>::new();
        let small = Private::<u8, 16>::filled(3);
        big[x[i] as u32] = 5;
        small[(x[i] & 15) as u32] = x[i];
        small[15] = 9;
        y[i] = small[i & 15] + big[x[i] as u32] as u8;
    }
}

#[test]
fn offsets_beyond_the_instruction() {
    let x: Vec<u8> = (0..64).map(|i| (i * 37) as u8).collect();
    let expected: Vec<u8> = (0..64)
        .map(|i| {
            let at = match i & 15 {
                15 => 9,
                k if k as u8 == x[i] & 15 => x[i],
                _ => 3,
            };
            at.wrapping_add(5)
        })
        .collect();
    for target in TARGETS {
        let mut y = vec![0; 64];
        far.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!(y, expected, "{target}");
    }
}
