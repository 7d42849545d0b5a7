//! Products of tiles.

use std::panic::Location;

use gcn_isa::layout::{Controls, ElemType, Matrix, Shape};
use gcn_isa::target::Subtarget;

use super::{Parts, Tile, TileA, TileB};
use crate::ir::{Bin, Inst, Value};
use crate::lang::control::everyone::Everyone;
use crate::lang::matrix::format::AccElement;
use crate::lang::matrix::format::bits;
use crate::lang::matrix::format::{Bf8, Fp8, I4, MatrixElement, Xf32};
use crate::lang::matrix::k_order::KOrder;
use crate::lang::matrix::multiply::{Product, multiply};
use crate::lang::matrix::operand::{Family, here, is_format, square_shapes};
use crate::lang::matrix::place::At;
use crate::lang::matrix::swizzle::WIDEST;
use crate::lang::matrix::view::AsView;
use crate::lang::targets::{
    Availability, Everywhere, OnlyGfx942, SinceGfx11, SinceGfx90a, SinceGfx942AndGfx12,
};
use crate::lang::values::vector::element;
use crate::lang::{IntoDevice, V, with};
use crate::scalar::{Scalar, f8e4m3, f8e5m2};
use half::{bf16, f16};

/// Element types of a left factor for which matrix instructions, and thus [`matmul`], exist with a right factor of `U`
/// and accumulators of `C`.
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` are not multiplied with tiles of `{U}` into tiles of `{C}`",
    label = "no product of these types",
    note = "two factors of f16, bf16 or f32 add up in f32, 8-bit floats (f8e4m3, f8e5m2, Fp8, Bf8) in any mixture in f32, i8 and I4 in i32, f64 in f64"
)]
pub trait TileFactor<U, C>: MatrixElement {
    /// The targets that have such an instruction.
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
    Everywhere {
        f16 f16 => f32;
        bf16 bf16 => f32;
        f32 f32 => f32;
        i8 i8 => i32;
    }
    SinceGfx11 {
        I4 I4 => i32;
    }
    SinceGfx90a {
        f64 f64 => f64;
    }
    SinceGfx942AndGfx12 {
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

/// The instruction whose fragments make up a factor. It follows from the factor's own element type alone, because
/// instructions on mixed 8-bit formats take the same number of `k` as those on equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// The number of rows, and of columns, of an accumulator.
    pub side: usize,
    /// The number of `k` that the instruction takes.
    pub depth: usize,
    pub family: Family,
}

/// The side of the accumulators of tiles declared with `SIDE` = `asked`: 16 if no instruction of the target has that
/// size.
pub(super) fn side(on: Subtarget, asked: usize) -> usize {
    if square_shapes(on).any(|shape| usize::from(shape.m) == asked) { asked } else { 16 }
}

impl Step {
    /// The deepest instruction of the target that multiplies `side x k` by `k x side` elements and whose depth divides
    /// `k`.
    pub fn of(format: ElemType, on: Subtarget, asked: usize, k: usize) -> Option<Step> {
        let side = side(on, asked);
        let all = Step::all(format, on).filter(|step| step.side == side && k.is_multiple_of(step.depth));
        let instruction = all.max_by_key(|step| step.depth);
        instruction
            .or_else(|| Step::all(format, on).next().is_none().then(|| Step::of_lanes(format, k)).flatten())
    }

    /// The step where vector instructions multiply: as many `k` as a lane loads with one access.
    fn of_lanes(format: ElemType, k: usize) -> Option<Step> {
        let multiplies = matches!(format, ElemType::F32 | ElemType::F16 | ElemType::Bf16 | ElemType::I8);
        let most = (8 * WIDEST / bits(format)) as usize;
        let depth = (1..=most).rev().find(|depth| depth.is_power_of_two() && k.is_multiple_of(*depth))?;
        multiplies.then_some(Step { side: 16, depth, family: Family::Lanes })
    }

    /// All instructions of `on` from which tiles of the format can be made.
    fn all(format: ElemType, on: Subtarget) -> impl Iterator<Item = Step> {
        // The instructions with selectable formats are used only for 8-bit ones.
        let chosen = matches!(format, ElemType::Fp8 | ElemType::Bf8);
        let fits = move |s: &&Shape| match s.formats_chosen {
            true => chosen && !s.scaled,
            false => is_format(s.a, format),
        };
        square_shapes(on).filter(fits).map(|s| {
            let family = if s.formats_chosen { Family::F8f6f4 } else { Family::Dense };
            Step { side: s.m.into(), depth: s.k.into(), family }
        })
    }

    /// The instruction on the target that the kernel is built for; the kernel fails if there is none.
    pub fn here(format: ElemType, asked: usize, k: usize, loc: &'static Location<'static>) -> Step {
        with(|c| {
            let on = here(c);
            Step::of(format, on, asked, k).unwrap_or_else(|| {
                c.fail(loc, Step::missing(format, on, asked, k));
                Step { side: asked, depth: k, family: Family::Dense }
            })
        })
    }

    fn missing(format: ElemType, on: Subtarget, side: usize, k: usize) -> String {
        let target = on.target;
        let there: Vec<String> = Step::all(format, on)
            .map(|step| format!("multiples of {} with SIDE {}", step.depth, step.side))
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

/// True if the target multiplies tiles of `T` with matrix instructions, false if it uses vector instructions. For
/// `comptime if`: the best tile sizes differ between the two.
pub fn has_instruction<T: MatrixElement>() -> bool {
    with(|c| Step::all(T::FORMAT, here(c)).next().is_some())
}

/// `c + a * b`, by whatever instruction the target has for it. In a kernel: `acc = matmul(a, b, acc);`.
///
/// Uses the deepest instruction whose depth divides `K`. Where the target has no matrix instruction for f32, f16, bf16
/// or i8 (f32 on RDNA, for example), vector instructions do it, with fused multiply-adds in f32 or sums in i32. The two
/// factors may have different 8-bit float types; where `K` is a multiple of 64 (128 with `SIDE` 16), gfx950 multiplies
/// these with its `f8f6f4` instructions, at twice the rate of the others.
///
/// # Errors
/// Factors that do not fit together do not compile, nor does a product that a target in the kernel's `#[targets(…)]`
/// lacks. A `K` that is not a multiple of any instruction's depth is an error when the kernel is built.
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
pub fn matmul<T, U, C, O, X, const M: usize, const N: usize, const K: usize, const SIDE: usize>(
    a: TileA<T, M, K, SIDE, O>,
    b: TileB<U, K, N, SIDE, O>,
    c: Tile<C, M, N, SIDE>,
) -> Everyone<Tile<C, M, N, SIDE>, X>
where
    T: TileFactor<U, C, Targets = X>,
    U: MatrixElement,
    C: AccElement,
    O: KOrder,
{
    let loc = Location::caller();
    let step = Step::here(T::FORMAT, SIDE, K, loc);
    let side = step.side;
    let size = [side, side, step.depth, 1];
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
    if step.family == Family::Lanes {
        return Everyone::gives(by_lanes(a, b, c, step, loc));
    }
    let (across, steps) = (N / side, K / step.depth);
    let mut values = c.values;
    if a.values.len < M / side * steps || b.values.len < across * steps || values.len < M / side * across {
        return Everyone::gives(c); // the kernel has failed
    }
    for step in 0..steps {
        for i in 0..M / side {
            for j in 0..across {
                let (left, right) = (a.values.values[i * steps + step], b.values.values[j * steps + step]);
                let acc = &mut values.values[i * across + j];
                *acc = multiply(product, &[left, right, *acc], *acc, Ok((controls, 0)), loc);
            }
        }
    }
    Everyone::gives(Tile::of(values))
}

/// As [`matmul`] with factors that are loaded while they are multiplied: `M x K` elements of `a` from (`row`, `k`) on, and `K x N` of `b`
/// from (`k`, `col`) on. Of `a` there are the fragments of one or two rows of accumulators in registers at a time, so that a tile may
/// have more rows than lanes have registers for beside the sums: on RDNA 3, where each lane has a whole row of a fragment, 128 rows of 16
/// f16 take 64.
///
/// # Errors
/// Those of [`matmul`].
///
/// ```
/// use gcn_dsl::lang::matrix::{ByNumber, matmul_from};
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     /// c = a * b for 64 x 16 times 16 x 32 elements, b column by column.
///     #[workgroup(64)]
///     #[targets(HasWmma)]
///     fn tall(a: &[f16], b: &[f16], c: &mut [f32]) {
///         let mut acc = Tile::<f32, 64, 32, 16>::zero();
///         acc = matmul_from::<f16, ByNumber, _, _, 64, 32, 16, 16>(row_major(a, 16), col_major(b, 16), 0, 0, 0, acc);
///         acc.store_to(row_major(c, 32), 0, 0);
///     }
/// }
/// let (a, b, mut c) = (vec![f16::ONE; 64 * 16], vec![f16::ONE; 16 * 32], vec![0.0; 64 * 32]);
/// tall.launch(&Device::simulator(Target::GFX1100), Grid::x(1), (&a, &b, &mut c))?;
/// assert!(c.iter().all(|c| *c == 16.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn matmul_from<T, O, C, X, const M: usize, const N: usize, const K: usize, const SIDE: usize>(
    a: impl AsView<T::Memory>,
    b: impl AsView<T::Memory>,
    row: impl IntoDevice<V<u32>>,
    k: impl IntoDevice<V<u32>>,
    col: impl IntoDevice<V<u32>>,
    c: Tile<C, M, N, SIDE>,
) -> Everyone<Tile<C, M, N, SIDE>, X>
where
    T: TileFactor<T, C, Targets = X>,
    C: AccElement,
    O: KOrder,
{
    let loc = Location::caller();
    let [row, k, col] = [At::new(row.into_device()), At::new(k.into_device()), At::new(col.into_device())];
    let (a, b) = (a.places(), b.places());
    let left = |lines| TileA::<T, M, K, SIDE, O>::load_parts(a, [row, k], lines, loc);
    let right = || TileB::<T, K, N, SIDE, O>::load_parts(b, [k, col], 0..N, loc);
    let step = Step::here(T::FORMAT, SIDE, K, loc);
    if step.family != Family::Dense {
        let (left, right) = (Parts::of(left(0..M)), Parts::of(right()));
        return matmul(TileA::<T, M, K, SIDE, O>::of(left), TileB::<T, K, N, SIDE, O>::of(right), c);
    }
    let formats = [T::FORMAT, T::FORMAT, C::FORMAT];
    let product =
        Product { formats, size: [step.side, step.side, step.depth, 1], sparse: false, scaled: false };
    let (across, steps) = (N / step.side, K / step.depth);
    let mut values = c.values;
    // The first product needs the first fragment of each factor: what comes first from LDS.
    let mut next = left(0..step.side);
    let columns = right();
    // Where registers are not short, the next row is on its way while this one is multiplied.
    let ahead = !has_copied_factors();
    for (i, sums) in values.values[..values.len].chunks_mut(across).enumerate() {
        let after = (i + 1) * step.side;
        let load = || if after < M { left(after..after + step.side) } else { Vec::new() };
        let mut rows = next;
        next = if ahead { load() } else { Vec::new() };
        for (step, left) in rows.drain(..).enumerate() {
            for (j, acc) in sums.iter_mut().enumerate() {
                let right = columns[j * steps + step];
                *acc = multiply(product, &[left, right, *acc], *acc, Ok((Controls::default(), 0)), loc);
            }
        }
        if !ahead {
            next = load();
        }
    }
    Everyone::gives(Tile::of(values))
}

/// True if each lane has a whole row or column of the factors that matrix instructions multiply, and several lanes have the same, as on
/// RDNA 3: a wave's tile then takes that many times the registers. For `comptime if`.
pub fn has_copied_factors() -> bool {
    with(|c| square_shapes(here(c)).any(|shape| shape.copies(Matrix::A) > 1))
}

/// `c + a * b` by vector instructions: fused multiply-adds in f32, or multiplications and additions in i32, with
/// ascending `k`.
fn by_lanes<T, U, C, O, const M: usize, const N: usize, const K: usize, const SIDE: usize>(
    a: TileA<T, M, K, SIDE, O>,
    b: TileB<U, K, N, SIDE, O>,
    c: Tile<C, M, N, SIDE>,
    step: Step,
    loc: &'static Location<'static>,
) -> Tile<C, M, N, SIDE>
where
    T: MatrixElement,
    U: MatrixElement,
    C: AccElement,
    O: KOrder,
{
    let (across, steps) = (N / step.side, K / step.depth);
    let per_acc = Tile::<C, M, N, SIDE>::per_acc();
    let mut sums: Vec<V<C>> = c.elements();
    if a.values.len < M / step.side * steps || b.values.len < across * steps {
        return c; // the kernel has failed
    }
    for s in 0..steps {
        let rows = (0..M / step.side)
            .map(|i| numbers::<T, C>(a.values.values[i * steps + s], per_acc * step.depth, loc));
        let rows: Vec<Vec<V<C>>> = rows.collect();
        for j in 0..across {
            let column = numbers::<U, C>(b.values.values[j * steps + s], step.depth, loc);
            for (i, row) in rows.iter().enumerate() {
                let first = (i * across + j) * per_acc;
                for (sum, x) in sums[first..first + per_acc].iter_mut().zip(row.chunks(step.depth)) {
                    for (x, y) in x.iter().zip(&column) {
                        *sum = fused(*x, *y, *sum, loc);
                    }
                }
            }
        }
    }
    Tile::from_elements(&sums, c.place(), loc)
}

/// The elements of a lane's part of a factor, converted to the type of the sums.
fn numbers<T: MatrixElement, C: AccElement>(
    part: Value,
    count: usize,
    loc: &'static Location<'static>,
) -> Vec<V<C>> {
    let cast = |x: Value| {
        if <T::Memory as Scalar>::ELEM == C::ELEM { V::from_value(x) } else { V::emit(Inst::Cast(x), loc) }
    };
    (0..count).map(|j| cast(element::<T::Memory>(part, j, count, loc))).collect()
}

fn fused<C: AccElement>(x: V<C>, y: V<C>, sum: V<C>, loc: &'static Location<'static>) -> V<C> {
    if C::FORMAT == ElemType::I32 {
        let product: V<C> = V::emit(Inst::Bin(Bin::Mul, x.value, y.value), loc);
        return V::emit(Inst::Bin(Bin::Add, product.value, sum.value), loc);
    }
    V::emit(Inst::Fma(x.value, y.value, sum.value), loc)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The types that rustc accepts are the products that the instruction table has, on every target.
    #[test]
    fn factors_are_those_of_the_table() {
        // The targets that kernels can be built for.
        let known = Everywhere::TARGETS;
        for (formats, set) in FACTORS {
            let firsts = gcn_isa::Target::compilable().filter(|target| target.is_first_of_its_set());
            for target in firsts.filter(|target| known.contains(*target)) {
                let there = gcn_isa::layout::instructions_on(target.into()).iter().any(|(_, s)| {
                    let same = [s.a, s.b, s.acc].into_iter().zip(*formats).all(|(a, b)| is_format(a, b));
                    same && !s.sparse && s.blocks == 1
                });
                let by_lanes =
                    Step::of(formats[0], target.into(), 16, 128).is_some_and(|s| s.family == Family::Lanes);
                assert_eq!(set.contains(target), there || by_lanes, "{formats:?} on {target}");
                let instruction = |step: &Step| step.family != Family::Lanes;
                let [a, b, _] =
                    formats.map(|format| Step::of(format, target.into(), 16, 128).filter(instruction));
                assert_eq!(
                    (a, a.is_some()),
                    (b, there),
                    "{formats:?} on {target}: both factors by one instruction"
                );
            }
        }
    }
}
