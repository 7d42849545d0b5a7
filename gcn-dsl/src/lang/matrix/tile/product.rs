//! Products of tiles.

use std::panic::Location;

use gcn_isa::Target;
use gcn_isa::layout::{self, Controls, ElemType};

use super::{Tile, TileA, TileB};
use crate::lang::lanes::wave::Convergent;
use crate::lang::matrix::format::AccElement;
use crate::lang::matrix::format::{Bf8, Fp8, MatrixElement, Xf32};
use crate::lang::matrix::k_order::KOrder;
use crate::lang::matrix::multiply::{Product, multiply};
use crate::lang::matrix::operand::{Family, square_shapes};
use crate::lang::matrix::target::{
    Availability, ExistsOn, On, OnlyGfx942, SinceGfx90a, SinceGfx908, SinceGfx942,
};
use crate::lang::with;
use crate::scalar::{f8e4m3, f8e5m2};
use half::{bf16, f16};

/// Elements of a left factor that matrix instructions multiply with those of a right factor, `U`, into accumulators of `C`, and
/// [`matmul`] so tiles of them.
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` are not multiplied with tiles of `{U}` into tiles of `{C}`",
    label = "no product of these types",
    note = "two factors of f16, bf16 or f32 add up in f32, 8-bit floats (f8e4m3, f8e5m2, Fp8, Bf8) in any mixture in f32, i8 in i32, f64 in f64"
)]
pub trait TileFactor<U, C>: MatrixElement {
    /// The targets that have an instruction for it.
    type Targets: Availability;
}

macro_rules! factors {
    ($($set:ident { $($a:ident $b:ident => $c:ident;)* })*) => {
        $($(
            impl TileFactor<$b, $c> for $a {
                type Targets = $set;
            }
        )*)*

        /// Every line of the table above.
        #[cfg(test)]
        const FACTORS: &[([ElemType; 3], gcn_isa::TargetSet)] =
            &[$($(([<$a>::FORMAT, <$b>::FORMAT, <$c>::FORMAT], $set::TARGETS)),*),*];
    };
}

factors! {
    SinceGfx908 {
        f16 f16 => f32;
        bf16 bf16 => f32;
        f32 f32 => f32;
        i8 i8 => i32;
    }
    SinceGfx90a {
        f64 f64 => f64;
    }
    SinceGfx942 {
        f8e4m3 f8e4m3 => f32;
        f8e4m3 f8e5m2 => f32;
        f8e5m2 f8e4m3 => f32;
        f8e5m2 f8e5m2 => f32;
        Fp8 Fp8 => f32;
        Fp8 Bf8 => f32;
        Bf8 Fp8 => f32;
        Bf8 Bf8 => f32;
    }
    OnlyGfx942 {
        Xf32 Xf32 => f32;
    }
}

/// The instruction whose fragments a factor is made of: it follows from the factor's own element type, for instructions on
/// mixtures are as deep as the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// How many `k` it takes.
    pub depth: usize,
    pub family: Family,
}

impl Step {
    /// The deepest instruction of `target` that multiplies `side x k` by `k x side` elements and whose depth divides `k`.
    pub fn of(format: ElemType, target: Target, side: usize, k: usize) -> Option<Step> {
        let all = Step::all(format, target).filter(|(of, step)| *of == side && k.is_multiple_of(step.depth));
        all.map(|(_, step)| step).max_by_key(|step| step.depth)
    }

    /// Every instruction of `target` that tiles of the format can be made of, and its side.
    fn all(format: ElemType, target: Target) -> impl Iterator<Item = (usize, Step)> {
        // Of the instructions whose fields say the formats, tiles hold those of 8 bits.
        let chosen = matches!(format, ElemType::Fp8 | ElemType::Bf8);
        let fits = move |s: &&layout::Shape| match s.formats_chosen {
            true => chosen && !s.scaled,
            false => s.a == format,
        };
        square_shapes(target).filter(fits).map(|s| {
            let family = if s.formats_chosen { Family::F8f6f4 } else { Family::Dense };
            (s.m.into(), Step { depth: s.k.into(), family })
        })
    }

    /// The instruction of the target that is built for; the kernel fails if there is none.
    pub fn here(format: ElemType, side: usize, k: usize, loc: &'static Location<'static>) -> Step {
        with(|c| {
            Step::of(format, c.target, side, k).unwrap_or_else(|| {
                c.fail(loc, Step::missing(format, c.target, side, k));
                Step { depth: k, family: Family::Dense }
            })
        })
    }

    fn missing(format: ElemType, target: Target, side: usize, k: usize) -> String {
        let there: Vec<String> = Step::all(format, target)
            .map(|(side, step)| format!("multiples of {} with SIDE {side}", step.depth))
            .collect();
        let remedy = match there.is_empty() {
            true => "it has none on such elements: limit the kernel with `#[targets(…)]`".to_owned(),
            false => format!("K can be {}", there.join(", ")),
        };
        format!(
            "{target} has no matrix instruction of {side} x {side} on {} whose depth divides {k}; {remedy}",
            format.name()
        )
    }
}

/// `c + a * b`, with the instruction that the target has for it. In a kernel: `acc = matmul(a, b, acc);`.
///
/// The deepest instruction is taken whose depth divides `K`. Among 8-bit floats the factors may have different types; where `K`
/// is a multiple of 64 (128 with `SIDE` 16) gfx950 multiplies them by its `f8f6f4` instructions, at twice the rate of the others.
///
/// # Errors
/// Factors that do not fit together, and a target in the kernel's `#[targets(…)]` that lacks the product, do not compile. A `K`
/// that no instruction of the target divides is an error when the kernel is built.
///
/// ```
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     /// c = a * b for 32 x 64 times 64 x 32 elements, b column by column.
///     #[workgroup(64)]
///     #[targets(gfx942, gfx950)]
///     fn mixed(a: &[f8e4m3], b: &[f8e5m2], c: &mut [f32]) {
///         let left = TileA::<f8e4m3, 32, 64>::load(row_major(a, 64), 0, 0);
///         let right = TileB::<f8e5m2, 64, 32>::load(col_major(b, 64), 0, 0);
///         matmul(left, right, Tile::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
///     }
/// }
/// let text = |target| mixed.build(target).unwrap().assembly(Comments::None);
/// assert!(text(Target::GFX942).contains("v_mfma_f32_32x32x16_fp8_bf8"));
/// assert!(text(Target::GFX950).contains("v_mfma_f32_32x32x64_f8f6f4"));
/// ```
#[track_caller]
pub fn matmul<F, On_, T, U, C, O, const M: usize, const N: usize, const K: usize, const SIDE: usize>(
    _flow: &F,
    _targets: On<On_>,
    a: TileA<T, M, K, SIDE, O>,
    b: TileB<U, K, N, SIDE, O>,
    c: Tile<C, M, N, SIDE>,
) -> Tile<C, M, N, SIDE>
where
    F: Convergent,
    T: TileFactor<U, C>,
    U: MatrixElement,
    C: AccElement,
    O: KOrder,
    T::Targets: ExistsOn<On_>,
{
    let loc = Location::caller();
    let step = Step::here(T::FORMAT, SIDE, K, loc);
    let size = [SIDE, SIDE, step.depth, 1];
    let (product, controls) = match step.family {
        Family::F8f6f4 => {
            let code = |format| ElemType::F8F6F4_FORMATS.iter().position(|f| *f == format).unwrap_or(0) as u8;
            let controls = Controls { cbsz: code(T::FORMAT), blgp: code(U::FORMAT), ..Controls::default() };
            (Product::f8f6f4(size, false), controls)
        }
        _ => {
            let formats = [T::FORMAT, U::FORMAT, C::FORMAT];
            (Product { formats, size, sparse: false, scaled: false }, Controls::default())
        }
    };
    let (across, steps) = (N / SIDE, K / step.depth);
    let mut values = c.values;
    if a.values.len < M / SIDE * steps || b.values.len < across * steps {
        return c; // the kernel has failed
    }
    for step in 0..steps {
        for i in 0..M / SIDE {
            for j in 0..across {
                let (left, right) = (a.values.values[i * steps + step], b.values.values[j * steps + step]);
                let acc = &mut values.values[i * across + j];
                *acc = multiply(product, &[left, right, *acc], *acc, Ok((controls, 0)), loc);
            }
        }
    }
    Tile::of(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The types are for rustc what the instruction table is for the build, on every target.
    #[test]
    fn factors_are_those_of_the_table() {
        for (formats, set) in FACTORS {
            for target in Target::REPRESENTATIVES {
                let there = layout::instructions().iter().any(|(on, _, s)| {
                    *on == target && [s.a, s.b, s.acc] == *formats && !s.sparse && s.blocks == 1
                });
                assert_eq!(set.contains(target), there, "{formats:?} on {target}");
                let [a, b, _] = formats.map(|format| Step::of(format, target, 16, 128));
                assert_eq!(
                    (a, a.is_some()),
                    (b, there),
                    "{formats:?} on {target}: both factors by one instruction"
                );
            }
        }
    }
}
