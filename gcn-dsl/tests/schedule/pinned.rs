//! `#[register("…")] let`: the value is in the register that the user chose, and the kernel computes the same.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuiltKernel};
use gcn_isa::{Operand, Reg};

const TARGETS: [Target; 3] = [Target::GFX90A, Target::GFX942, Target::GFX950];

gcn_kernel! {
    /// A scalar, a varying value, a vector, a condition, and variables in a loop and under a condition.
    #[workgroup(64)]
    fn places(n: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        #[register("s40")]
        let factor = n * 3;
        #[register("v21")]
        let start = x[i] + 7;
        #[register("v[30:33]")]
        let four = x.load_vector::<4>(i * 4);
        #[register("s[60:61]")]
        let odd = (start & 1) == 1;
        #[register("v22")]
        let mut sum = start;
        for k in 0..n {
            sum = sum * factor + k;
            if odd {
                sum = sum ^ four.get(1);
            }
        }
        y[i] = sum + start + four.get(3);
    }

    #[workgroup(64)]
    fn product(x: &[f16], y: &mut [f32]) {
        let lane = lane_id();
        let a = FragA::<f16, 32, 8>::load(&x, lane * 4);
        #[register("v[40:41]")]
        let b = FragB::<f16, 8, 32>::load(&x, lane * 4 + 256);
        #[register("a[16:31]")]
        let mut acc = Acc::<f32, 32, 32>::zero();
        acc = mfma(a, b, acc);
        acc = mfma(a, b, acc);
        #[unroll]
        for r in 0..16usize {
            y[acc.row(r) * 32 + acc.col()] = acc.get(r);
        }
    }

    /// The store needs both values.
    #[workgroup(64)]
    fn both(x: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        #[register("v[10:11]")]
        let pair = x.load_vector::<2>(i * 2);
        #[register("v11")]
        let other = x[i + 128];
        y[i] = pair.get(0) + pair.get(1) * other;
    }

    /// The two values are used one after the other.
    #[workgroup(64)]
    fn in_turn(x: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        #[register("v10")]
        let first = x[i] * 5;
        y[i] = first;
        barrier();
        #[register("v10")]
        let second = y[i] * 7;
        y[i + 64] = second;
    }

    #[workgroup(64)]
    #[max_registers(16)]
    fn beyond(x: &mut [u32]) {
        let i = local_id().x;
        #[register("v16")]
        let value = x[i] + 1;
        x[i] = value;
    }

    #[workgroup(64)]
    fn too_few(x: &mut [f64]) {
        let i = local_id().x;
        #[register("v10")]
        let value = x[i];
        x[i] = value * value;
    }

    #[workgroup(64)]
    fn elsewhere(x: &[f16], y: &mut [f32]) {
        let a = FragA::<f16, 32, 8>::load(&x, lane_id() * 4);
        let b = FragB::<f16, 8, 32>::load(&x, lane_id() * 4);
        #[register("v[16:31]")]
        let acc = mfma(a, b, Acc::<f32, 32, 32>::zero());
        y[lane_id()] = acc.get(0);
    }
}

/// True if an instruction of this name has the register as an operand.
fn names(kernel: &BuiltKernel, mnemonic: &str, reg: Reg) -> bool {
    let lines = kernel.program().lines.iter().filter(|l| l.inst.desc.mnemonic.starts_with(mnemonic));
    lines.into_iter().any(|l| l.inst.operands.contains(&Operand::Reg(reg)))
}

#[test]
fn values_are_where_they_were_asked_for() {
    let (n, x): (u32, Vec<u32>) = (5, (0..256).map(|i| i * i + 3).collect());
    for target in TARGETS {
        let kernel = places.build(target).unwrap();
        let text = kernel.assembly(Comments::None);
        assert!(names(&kernel, "s_mul_i32", Reg::s(40, 1)), "{target}: the factor\n{text}");
        assert!(names(&kernel, "v_add_u32", Reg::v(21, 1)), "{target}: the start\n{text}");
        assert!(names(&kernel, "buffer_load_dwordx4", Reg::v(30, 4)), "{target}: the vector\n{text}");
        assert!(names(&kernel, "v_xor_b32", Reg::v(22, 1)), "{target}: the sum\n{text}");
        assert!(
            names(&kernel, "v_cmp", Reg::s(60, 2)) || names(&kernel, "s_and_saveexec", Reg::s(60, 2)),
            "{target}: the condition\n{text}"
        );
        let mut y = vec![0u32; 64];
        let device = Device::simulator(target);
        device.launch(&places, &kernel, Grid::x(1), (n, &x, &mut y)).unwrap();
        for i in 0..64usize {
            let (start, factor) = (x[i] + 7, n * 3);
            let mut sum = start;
            for k in 0..n {
                sum = sum.wrapping_mul(factor).wrapping_add(k);
                if start & 1 == 1 {
                    sum ^= x[4 * i + 1];
                }
            }
            assert_eq!(y[i], sum.wrapping_add(start).wrapping_add(x[4 * i + 3]), "{target} {i}");
        }
    }
}

#[test]
fn accumulators_and_fragments_are_where_they_were_asked_for() {
    let x: Vec<f16> = (0..512).map(|i| f16::from_f32((i % 5) as f32 - 2.0)).collect();
    for target in TARGETS {
        let kernel = product.build(target).unwrap();
        let matrix = |reg| names(&kernel, "v_mfma", reg);
        assert!(
            matrix(Reg::a(16, 16)) && matrix(Reg::v(40, 2)),
            "{target}\n{}",
            kernel.assembly(Comments::None)
        );
        // The result is written to the accumulator's registers without a copy.
        let others = kernel.program().lines.iter().filter(|l| l.inst.desc.is_matrix());
        assert!(others.into_iter().all(|l| l.inst.operands[0] == Operand::Reg(Reg::a(16, 16))), "{target}");
        let mut y = vec![0f32; 1024];
        Device::simulator(target).launch(&product, &kernel, Grid::x(1), (&x, &mut y)).unwrap();
        let element = |lane: usize, k: usize| x[lane * 4 + k].to_f32();
        for row in 0..32 {
            for col in 0..32 {
                // Lane 32 h + r has the elements k = 4 h .. 4 h + 4 of row r.
                let of = |base: usize, line: usize, k: usize| element(base + 32 * (k / 4) + line, k % 4);
                let want: f32 = (0..8).map(|k| of(0, row, k) * of(64, col, k)).sum();
                assert_eq!(y[row * 32 + col], 2.0 * want, "{target} {row} {col}");
            }
        }
    }
}

#[test]
fn the_ir_says_where_variables_are() {
    let kernel = places.build(Target::GFX942).unwrap();
    for place in ["in s40", "in v21", "in v[30:33]", "in s[60:61]", "in v22"] {
        assert!(kernel.ir().contains(place), "{place}\n{}", kernel.ir());
    }
}

fn line_of(what: &str) -> usize {
    include_str!("pinned.rs").lines().position(|l| l.contains(what)).map(|n| n + 1).unwrap()
}

#[test]
fn two_values_in_one_register_are_refused_at_both_places() {
    for target in TARGETS {
        let error = both.build(target).unwrap_err();
        assert!(matches!(error.cause, BuildCause::Registers(_)), "{error}");
        let error = error.to_string();
        for line in [line_of("#[register(\"v[10:11]\")]"), line_of("#[register(\"v11\")]")] {
            assert!(error.contains(&format!("pinned.rs:{line}:")), "line {line}: {error}");
        }
    }
}

#[test]
fn a_register_may_be_used_again() {
    for target in TARGETS {
        let kernel = in_turn.build(target).unwrap();
        let mut y = vec![0u32; 128];
        let x: Vec<u32> = (0..64).collect();
        Device::simulator(target).launch(&in_turn, &kernel, Grid::x(1), (&x, &mut y)).unwrap();
        assert!((0..64).all(|i| y[i] == 5 * i as u32 && y[i + 64] == 35 * i as u32), "{target}: {y:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let error = beyond.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("`v16`") && error.contains("16 registers of this file"), "{error}");
    let error = too_few.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("`v10` has 1 register, and the value takes 2"), "{error}");
    let error = elsewhere.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("in_vgprs()") && error.contains("v[16:31]"), "{error}");
}
