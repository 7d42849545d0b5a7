//! Products of tiles.

use std::panic::Location;

use gcn_isa::layout::{Controls, ElemType, Matrix, Shape};
use gcn_isa::target::Subtarget;

use super::{Parts, Tile, TileA, TileB};
use crate::ir::{Bin, Inst, Value};
use crate::lang::control::everyone::Everyone;
use crate::lang::matrix::elementwise;
use crate::lang::matrix::format::AccElement;
use crate::lang::matrix::format::bits;
use crate::lang::matrix::format::{Bf8, Fp8, I4, MatrixElement, Xf32};
use crate::lang::matrix::k_order::KOrder;
use crate::lang::matrix::multiply::{Product, multiply};
use crate::lang::matrix::operand::{Family, here, is_format, square_shapes};
use crate::lang::matrix::swizzle::WIDEST;
use crate::lang::targets::{
    Availability, Everywhere, OnGfx11AndGfx12, OnlyGfx942, SinceGfx11, SinceGfx90a, SinceGfx942AndGfx12,
};
use crate::lang::values::vector::element;
use crate::lang::{V, with};
use crate::scalar::{Scalar, f8e4m3, f8e5m2};
use half::{bf16, f16};

/// Element types of a left factor for which matrix instructions, and thus [`matmul`], exist with a right factor of `U`
/// and accumulators of `C`.
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` are not multiplied with tiles of `{U}` into tiles of `{C}`",
    label = "no product of these types",
    note = "two factors of f16, bf16 or f32 add up in f32, with WMMA those of f16 and bf16 also in f16 and bf16, 8-bit floats (f8e4m3, f8e5m2, Fp8, Bf8) in any mixture in f32, i8 and I4 in i32, f64 in f64"
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

        /// Each line of the table above.
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
    OnGfx11AndGfx12 {
        I4 I4 => i32;
    }
    SinceGfx11 {
        f16 f16 => f16;
        bf16 bf16 => bf16;
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

/// The instruction whose fragments make up a factor. The factor's own element type determines it, because instructions
/// on two different 8-bit formats take the same number of `k` as instructions on equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// The number of rows of an accumulator, which is also its number of columns.
    pub side: usize,
    /// The number of `k` that the instruction takes.
    pub depth: usize,
    pub family: Family,
}

/// The side of the accumulators of tiles that are declared with `SIDE` = `asked`: `asked`, or 16 if no instruction of
/// the target has that size.
pub(super) fn side(on: Subtarget, asked: usize) -> usize {
    if square_shapes(on).any(|shape| usize::from(shape.m) == asked) { asked } else { 16 }
}

impl Step {
    /// The deepest instruction of the target that multiplies `side x k` by `k x side` elements and whose depth divides
    /// `k`; `None` if there is none.
    pub fn of(format: ElemType, on: Subtarget, asked: usize, k: usize) -> Option<Step> {
        let side = side(on, asked);
        let all = Step::all(format, on).filter(|step| step.side == side && k.is_multiple_of(step.depth));
        let instruction = all.max_by_key(|step| step.depth);
        instruction
            .or_else(|| Step::all(format, on).next().is_none().then(|| Step::of_lanes(format, k)).flatten())
    }

    /// The step if vector instructions multiply: as many `k` as a lane loads with one access. `None` if they cannot
    /// multiply this format.
    fn of_lanes(format: ElemType, k: usize) -> Option<Step> {
        let multiplies = matches!(format, ElemType::F32 | ElemType::F16 | ElemType::Bf16 | ElemType::I8);
        let most = (8 * WIDEST / bits(format)) as usize;
        let depth = (1..=most).rev().find(|depth| depth.is_power_of_two() && k.is_multiple_of(*depth))?;
        multiplies.then_some(Step { side: 16, depth, family: Family::Lanes })
    }

    /// All instructions of `on` from which tiles of the format can be made.
    fn all(format: ElemType, on: Subtarget) -> impl Iterator<Item = Step> {
        // The instructions whose formats are selectable are used only for 8-bit formats.
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

    /// The instruction on the target of this build. If there is none, an error is recorded.
    pub fn here(format: ElemType, asked: usize, k: usize, loc: &'static Location<'static>) -> Step {
        with(|c| {
            let on = here(c);
            Step::of(format, on, asked, k).unwrap_or_else(|| {
                c.fail(loc, Step::missing(format, on, asked, k));
                Step { side: asked, depth: k, family: Family::Dense }
            })
        })
    }

    /// The product of two of its fragments, and what selects the formats.
    fn product(self, formats: [ElemType; 3]) -> (Product, Controls) {
        let size = [self.side, self.side, self.depth, 1];
        if self.family == Family::F8f6f4 {
            let code = |format| ElemType::F8F6F4_FORMATS.iter().position(|f| *f == format).unwrap_or(0) as u8;
            let controls = Controls { cbsz: code(formats[0]), blgp: code(formats[1]), ..Controls::default() };
            return (Product::f8f6f4(size, false), controls);
        }
        (Product { formats, size, sparse: false, scaled: false }, Controls::default())
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

/// True if the target multiplies tiles of `T` with matrix instructions, false if it uses vector instructions. This can
/// be used in `comptime if`, since the best tile sizes differ between the two.
pub fn has_instruction<T: MatrixElement>() -> bool {
    with(|c| Step::all(T::FORMAT, here(c)).next().is_some())
}

/// The least depth (`K`) of a product of tiles of `T` whose accumulators have `SIDE` rows: that of the target's shallowest
/// matrix instruction, for example 16 for f16 on RDNA 4 and 32 on gfx1250. 1 if the target multiplies `T` with vector
/// instructions.
///
/// ```
/// use gcn_dsl::lang::matrix::least_depth;
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     #[workgroup(64)]
///     fn depth(y: &mut [u32]) {
///         y[lane_id()] = least_depth::<f16, 16>() as u32;
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// for (target, least) in [(Target::GFX942, 16), (Target::GFX1030, 1), (Target::GFX1201, 16), (Target::GFX1250, 32)] {
///     let mut y = [0];
///     depth.launch(&Device::simulator(target), Grid::x(1), (&mut y,))?;
///     assert_eq!(y, [least]);
/// }
/// # Ok(())
/// # }
/// ```
pub fn least_depth<T: MatrixElement, const SIDE: usize>() -> usize {
    with(|c| {
        let side = side(here(c), SIDE);
        let fitting = Step::all(T::FORMAT, here(c)).filter(|step| step.side == side);
        fitting.map(|step| step.depth).min().unwrap_or(1)
    })
}

/// `c + a * b`, computed by the instructions that the target has for it. In a kernel: `acc = matmul(a, b, acc);`.
///
/// The deepest instruction whose depth divides `K` is used. If the target has no matrix instruction for f32, f16, bf16
/// or i8 (f32 on RDNA 3 and 4, for example), vector instructions are used: fused multiply-adds in f32, or multiplications and
/// sums in i32. The two factors may have different 8-bit float types; if `K` is a multiple of 64 (128 with `SIDE` 16),
/// gfx950 multiplies these with its `f8f6f4` instructions, at twice the rate of the others.
///
/// # Errors
/// Factors that do not fit together do not compile, and neither does a product that a target in the kernel's
/// `#[targets(…)]` lacks. A `K` that is not a multiple of any instruction's depth is an error when the kernel is built.
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
    let mut values = c.values;
    let sums = &mut values.values[..values.len];
    let per_acc = Tile::<C, M, N, SIDE>::per_acc();
    add_products::<T, U, C>([&a.values, &b.values], sums, per_acc, (step, K / step.depth), loc);
    Everyone::gives(Tile::of(values))
}

/// As [`matmul`] for a part of the tile `c`: adds `a * b` to the `P x Q` elements from `row` and `column` on, numbers on the host.
///
/// With it a kernel loads the factors of a large tile while it multiplies them, a few rows and columns at a time, where all would not fit into
/// the registers beside the sums: on RDNA 3, where each lane has a whole row of a fragment, 128 rows of 16 f16 take 64.
///
/// # Errors
/// Those of [`matmul`]; when the kernel is built, if the part does not consist of whole accumulators of `c`.
///
/// ```
/// use gcn_dsl::lang::matrix::matmul_part;
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     /// c = a * b for 64 x 16 times 16 x 32 elements, b column by column.
///     #[workgroup(64)]
///     #[targets(HasWmma)]
///     fn tall(a: &[f16], b: &[f16], c: &mut [f32]) {
///         let right = TileB::<f16, 16, 32, 16>::load(col_major(b, 16), 0, 0);
///         let mut acc = Tile::<f32, 64, 32, 16>::zero();
///         #[unroll]
///         for row in (0..64usize).step_by(16) {
///             let left = TileA::<f16, 16, 16, 16>::load(row_major(a, 16), row as u32, 0);
///             acc = matmul_part(left, right, acc, row, 0usize);
///         }
///         acc.store_to(row_major(c, 32), 0, 0);
///     }
/// }
/// let (a, b, mut c) = (vec![f16::ONE; 64 * 16], vec![f16::ONE; 16 * 32], vec![0.0; 64 * 32]);
/// tall.launch(&Device::simulator(Target::GFX1100), Grid::x(1), (&a, &b, &mut c))?;
/// assert!(c.iter().all(|c| *c == 16.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn matmul_part<
    T,
    U,
    C,
    O,
    X,
    const P: usize,
    const Q: usize,
    const K: usize,
    const FACTOR: usize,
    const M: usize,
    const N: usize,
    const SIDE: usize,
>(
    a: TileA<T, P, K, FACTOR, O>,
    b: TileB<U, K, Q, FACTOR, O>,
    c: Tile<C, M, N, SIDE>,
    row: usize,
    column: usize,
) -> Everyone<Tile<C, M, N, SIDE>, X>
where
    T: TileFactor<U, C, Targets = X>,
    U: MatrixElement,
    C: AccElement,
    O: KOrder,
{
    let loc = Location::caller();
    let step = Step::here(T::FORMAT, FACTOR, K, loc);
    let (whole, across) = (with(|c| side(here(c), SIDE)), N / step.side);
    let multiple = (row | column | P | Q).is_multiple_of(step.side);
    let inside = |from: usize, count: usize, all: usize| from <= all && count <= all - from;
    if whole != step.side || !multiple || !inside(row, P, M) || !inside(column, Q, N) {
        let what = format!(
            "{P} x {Q} elements from row {row} and column {column} on are no part of {M} x {N} in accumulators of {whole} x {whole} elements; \
             factors with SIDE {FACTOR} give parts in multiples of {}",
            step.side
        );
        with(|c| c.fail(loc, what));
        return Everyone::gives(c);
    }
    let mut values = c.values;
    let (rows, columns) =
        (row / step.side..(row + P) / step.side, column / step.side..(column + Q) / step.side);
    let place = |i: usize| i * across + columns.start..i * across + columns.end;
    let mut sums: Vec<Value> = rows.clone().flat_map(|i| values.values[place(i)].to_vec()).collect();
    add_products::<T, U, C>(
        [&a.values, &b.values],
        &mut sums,
        Tile::<C, M, N, SIDE>::per_acc(),
        (step, K / step.depth),
        loc,
    );
    for (i, sums) in rows.zip(sums.chunks(columns.len())) {
        values.values[place(i)].copy_from_slice(sums);
    }
    Everyone::gives(Tile::of(values))
}

/// Adds the products of the fragments of two factors to accumulators, row after row.
fn add_products<T: TileFactor<U, C>, U: MatrixElement, C: AccElement>(
    factors: [&Parts; 2],
    sums: &mut [Value],
    per_acc: usize,
    (step, steps): (Step, usize),
    loc: &'static Location<'static>,
) {
    let [left, right] = factors.map(|parts| &parts.values[..parts.len]);
    let across = right.len() / steps;
    if across == 0 || left.len() / steps * across != sums.len() {
        return; // the kernel has failed
    }
    if step.family == Family::Lanes {
        return by_lanes::<T, U, C>([left, right], sums, per_acc, (step, steps), loc);
    }
    let (product, controls) = step.product([T::FORMAT, U::FORMAT, C::FORMAT]);
    for step in 0..steps {
        for (i, row) in sums.chunks_mut(across).enumerate() {
            for (j, acc) in row.iter_mut().enumerate() {
                let (left, right) = (left[i * steps + step], right[j * steps + step]);
                *acc = multiply(product, &[left, right, *acc], *acc, Ok((controls, 0)), loc);
            }
        }
    }
}

/// True if each lane has a whole row or column of the factors of matrix instructions, so that several lanes have the
/// same one, as on RDNA 3. A wave's tile then takes that many times the registers. This can be used in `comptime if`.
pub fn has_copied_factors() -> bool {
    with(|c| square_shapes(here(c)).any(|shape| shape.copies(Matrix::A) > 1))
}

/// Adds products to accumulators, row after row, by vector instructions: fused multiply-adds in f32, or multiplications and additions in
/// i32, with ascending `k`. The factors are a lane's parts of rows and of columns: all `k` of one after each other, then the next.
fn by_lanes<T: MatrixElement, U: MatrixElement, C: AccElement>(
    [left, right]: [&[Value]; 2],
    accs: &mut [Value],
    per_acc: usize,
    (step, steps): (Step, usize),
    loc: &'static Location<'static>,
) {
    let across = right.len() / steps;
    let place = |acc: Value| with(|c| c.builder.kernel().ty(acc).place);
    let mut sums: Vec<V<C>> = accs.iter().flat_map(|acc| elementwise::extract(*acc, per_acc, loc)).collect();
    for s in 0..steps {
        let rows = left.chunks(steps).map(|row| numbers::<T, C>(row[s], per_acc * step.depth, loc));
        let rows: Vec<Vec<V<C>>> = rows.collect();
        for j in 0..across {
            let column = numbers::<U, C>(right[j * steps + s], step.depth, loc);
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
    for (acc, sums) in accs.iter_mut().zip(sums.chunks(per_acc)) {
        *acc = elementwise::collect(sums, 1, place(*acc), loc);
    }
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

    /// Checks that the products that rustc accepts are those of the instruction table, on every target.
    #[test]
    fn factors_are_those_of_the_table() {
        // The targets that kernels can be built for.
        let known = Everywhere::TARGETS;
        for (formats, set) in FACTORS {
            let firsts = gcn_isa::Target::KNOWN.into_iter().filter(|target| target.is_first_of_its_set());
            for target in firsts.filter(|target| known.contains(*target)) {
                let there = gcn_isa::layout::instructions_on(target.into()).iter().any(|(_, s)| {
                    let same = [s.a, s.b, s.acc].into_iter().zip(*formats).all(|(a, b)| is_format(a, b));
                    same && !s.sparse && s.blocks == 1
                });
                // Vector instructions add in 32 bits, and so does MFMA.
                let narrow = bits(formats[2]) < 32;
                let by_lanes = !narrow
                    && Step::of(formats[0], target.into(), 16, 128)
                        .is_some_and(|s| s.family == Family::Lanes);
                assert_eq!(set.contains(target), there || by_lanes, "{formats:?} on {target}");
                let instruction = |step: &Step| step.family != Family::Lanes;
                let [a, b, _] =
                    formats.map(|format| Step::of(format, target.into(), 16, 128).filter(instruction));
                assert_eq!(a, b, "{formats:?} on {target}: both factors by one instruction");
                assert!(a.is_some() == there || narrow && !there, "{formats:?} on {target}");
            }
        }
    }
}
