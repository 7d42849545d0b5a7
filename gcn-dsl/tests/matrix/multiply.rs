//! Every matrix instruction, called from the DSL: kernels load A and B as fragments, multiply and store, on every
//! target that has the instruction and that kernels can be built for. The results are compared with the plain matrix
//! product on the host. The numbers are small integers, which are exact in every format, so the order of additions does
//! not matter.

pub mod formats;
mod kernels;

use std::collections::BTreeSet;

use gcn_dsl::lang::matrix::{Bf6, Bf8, Fp4, Fp6, Fp8, Xf32};
use gcn_dsl::prelude::*;
use gcn_isa::layout;

use formats::Stored;
use kernels::{Case, Dense, Mx, Scaled, Sparse, run_dense, run_mx, run_scaled, run_sparse};

/// The targets that kernels are built for.
const TARGETS: [Target; 4] = [Target::GFX908, Target::GFX90A, Target::GFX942, Target::GFX950];

/// The instructions that were executed, by target and name.
type Seen = BTreeSet<(&'static str, String)>;

macro_rules! dense {
    ($seen:ident: $($a:ident $b:ident => $c:ident [$($m:literal $n:literal $k:literal $blocks:literal),*];)*) => {$($(
        for wide in [true, false] {
            let kernel = Dense::<$a, $b, $c, $m, $n, $k, $blocks>::new(wide);
            for case in Case::all::<$a, $b, $c>([$m, $n, $k, $blocks], false, false) {
                run_dense(&kernel, &case);
                $seen.insert(case.key());
            }
        }
    )*)*};
}

#[test]
fn dense_instructions_multiply() {
    let mut seen = Seen::new();
    dense! { seen:
        f32 f32 => f32 [32 32 1 2, 16 16 1 4, 4 4 1 16, 32 32 2 1, 16 16 4 1];
        f16 f16 => f32 [32 32 4 2, 16 16 4 4, 4 4 4 16, 32 32 8 1, 16 16 16 1, 32 32 16 1, 16 16 32 1];
        bf16 bf16 => f32 [32 32 2 2, 16 16 2 4, 4 4 2 16, 32 32 4 1, 16 16 8 1];
        bf16 bf16 => f32 [32 32 4 2, 16 16 4 4, 4 4 4 16, 32 32 8 1, 16 16 16 1, 32 32 16 1, 16 16 32 1];
        i8 i8 => i32 [32 32 4 2, 16 16 4 4, 4 4 4 16, 32 32 8 1, 16 16 16 1, 32 32 16 1, 16 16 32 1, 32 32 32 1, 16 16 64 1];
        f64 f64 => f64 [16 16 4 1, 4 4 4 4];
        Fp8 Fp8 => f32 [32 32 16 1, 16 16 32 1];
        Fp8 Bf8 => f32 [32 32 16 1, 16 16 32 1];
        Bf8 Fp8 => f32 [32 32 16 1, 16 16 32 1];
        Bf8 Bf8 => f32 [32 32 16 1, 16 16 32 1];
        Xf32 Xf32 => f32 [32 32 4 1, 16 16 8 1];
    }
    all_seen(&seen, |s| !s.sparse && !s.formats_chosen);
}

macro_rules! sparse {
    ($seen:ident: $($a:ident $b:ident => $c:ident [$($m:literal $n:literal $k:literal),*];)*) => {$($(
        let kernel = Sparse::<$a, $b, $c, $m, $n, $k>::default();
        for case in Case::all::<$a, $b, $c>([$m, $n, $k, 1], true, false) {
            run_sparse(&kernel, &case);
            $seen.insert(case.key());
        }
    )*)*};
}

#[test]
fn sparse_instructions_multiply() {
    let mut seen = Seen::new();
    sparse! { seen:
        f16 f16 => f32 [32 32 16, 16 16 32, 32 32 32, 16 16 64];
        bf16 bf16 => f32 [32 32 16, 16 16 32, 32 32 32, 16 16 64];
        i8 i8 => i32 [32 32 32, 16 16 64, 32 32 64, 16 16 128];
        Fp8 Fp8 => f32 [32 32 32, 16 16 64, 32 32 64, 16 16 128];
        Fp8 Bf8 => f32 [32 32 32, 16 16 64, 32 32 64, 16 16 128];
        Bf8 Fp8 => f32 [32 32 32, 16 16 64, 32 32 64, 16 16 128];
        Bf8 Bf8 => f32 [32 32 32, 16 16 64, 32 32 64, 16 16 128];
    }
    all_seen(&seen, |s| s.sparse);
}

macro_rules! mixtures {
    ($seen:ident, $run:ident, $kernel:ident, $scaled:literal, [$($m:literal $n:literal $k:literal),*]) => {$(
        mixtures!(@a $seen, $run, $kernel, $scaled, $m $n $k: Fp8 Bf8 Fp6 Bf6 Fp4);
    )*};
    (@a $seen:ident, $run:ident, $kernel:ident, $scaled:literal, $m:literal $n:literal $k:literal: $($a:ident)*) => {$(
        mixtures!(@b $seen, $run, $kernel, $scaled, $m $n $k: $a: Fp8 Bf8 Fp6 Bf6 Fp4);
    )*};
    (@b $seen:ident, $run:ident, $kernel:ident, $scaled:literal, $m:literal $n:literal $k:literal: $a:ident: $($b:ident)*) => {$(
        let kernel = $kernel::<$a, $b, $m, $n, $k>::default();
        for case in Case::all::<$a, $b, f32>([$m, $n, $k, 1], false, $scaled) {
            $run(&kernel, &case);
            $seen.insert(case.key());
        }
    )*};
}

#[test]
fn mx_instructions_multiply_every_mixture_of_formats() {
    let mut seen = Seen::new();
    mixtures!(seen, run_mx, Mx, false, [32 32 64, 16 16 128]);
    all_seen(&seen, |s| s.formats_chosen && !s.scaled);
}

#[test]
fn scaled_instructions_multiply_every_mixture_of_formats() {
    let mut seen = Seen::new();
    mixtures!(seen, run_scaled, Scaled, true, [32 32 64, 16 16 128]);
    all_seen(&seen, |s| s.scaled);
}

/// Checks that every instruction of the table that `wanted` selects has been executed, on every target that kernels are
/// built for.
fn all_seen(seen: &Seen, wanted: impl Fn(&layout::Shape) -> bool) {
    let all: Seen = layout::instructions()
        .iter()
        .filter(|(target, _, shape)| TARGETS.contains(target) && wanted(shape))
        .map(|(target, desc, _)| (target.name(), desc.printed.to_owned()))
        .collect();
    assert!(!all.is_empty());
    let missing: Vec<_> = all.difference(seen).collect();
    assert!(missing.is_empty(), "did not run: {missing:?}");
}

/// The bits that the tests write are in the formats that the types denote.
#[test]
fn formats_hold_small_integers() {
    for target in TARGETS {
        assert_eq!(Fp8::bits_of(0, target), 0);
        assert_eq!(Fp4::bits_of(3, target), 0b101, "1.5 * 2^1, bias 1");
        assert_eq!(Fp6::bits_of(-1, target), 0b10_1000);
        assert_eq!(Bf6::bits_of(2, target), 0b01_0000, "2^1, bias 3");
        assert_eq!(Xf32::bits_of(1, target), 0x3f80_0000);
    }
    assert_eq!(Fp8::bits_of(1, Target::GFX950), 0x38, "OCP, bias 7");
    assert_eq!(Fp8::bits_of(1, Target::GFX942), 0x40, "FNUZ, bias 8");
    assert_eq!(Bf8::bits_of(1, Target::GFX950), 0x3c, "OCP, bias 15");
    assert_eq!(Bf8::bits_of(1, Target::GFX942), 0x40, "FNUZ, bias 16");
}
