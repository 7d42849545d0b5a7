//! The matrix instructions.

use std::panic::Location;

use gcn_isa::layout::{self, Controls, ElemType, Layout, Matrix, Shape};
use gcn_isa::table::{InstDesc, Modifiers};
use gcn_isa::{Target, TargetSet};

use super::Acc;
use super::format::MxFormat;
use super::fragment::{MxA, MxB};
use super::target::{Availability, ExistsOn, On, SinceGfx950};
use crate::ir::{Call, Inst, Value};
use crate::lang::context::Context;
use crate::lang::wave::Convergent;
use crate::lang::{IntoDevice, V, lane_id, with};

/// Accumulators onto which a matrix instruction adds the product of an `A` and a `B` fragment.
#[diagnostic::on_unimplemented(
    message = "no matrix instruction adds `{A}` times `{B}` to `{Self}`",
    label = "the shapes or types do not fit together",
    note = "the fragments are `FragA<T, M, K>` and `FragB<T, K, N>`, the accumulator `Acc<U, M, N>`; with several blocks their number stands last in each",
    note = "M x N x K is 32x32x8, 16x16x16, 32x32x16 or 16x16x32 for f16 and bf16 (into f32); 32x32x2 or 16x16x4 for f32; 16x16x4 for f64; 32x32x{{8, 16, 32}} or 16x16x{{16, 32, 64}} for i8 (into i32); 32x32x16 or 16x16x32 for Fp8 and Bf8 (into f32); see docs/language/matrix.md for the others"
)]
pub trait Accumulates<A, B>: Sized {
    /// The targets that have the instruction.
    type Targets: Availability;

    /// `self + a * b`.
    #[doc(hidden)]
    fn accumulate(self, a: A, b: B, options: MfmaOptions, loc: &'static Location<'static>) -> Self;
}

/// Accumulators onto which a sparse matrix instruction adds the product of a sparse `A` and a `B`.
#[diagnostic::on_unimplemented(
    message = "no sparse matrix instruction adds `{A}` times `{B}` to `{Self}`",
    label = "the shapes or types do not fit together",
    note = "the fragments are `SparseA<T, M, K>` and `FragB<T, K, N>`, the accumulator `Acc<U, M, N>`",
    note = "M x N x K is 32x32x16, 16x16x32, 32x32x32 or 16x16x64 for f16 and bf16 (into f32); 32x32x32, 16x16x64, 32x32x64 or 16x16x128 for i8 (into i32), Fp8 and Bf8 (into f32)"
)]
pub trait AccumulatesSparse<A, B>: Sized {
    /// The targets that have the instruction.
    type Targets: Availability;

    /// `self + a * b`.
    #[doc(hidden)]
    fn accumulate(self, a: A, index: SparseIndex, b: B, loc: &'static Location<'static>) -> Self;
}

/// What an `A` is multiplied with under scales.
#[diagnostic::on_unimplemented(
    message = "no scaled matrix instruction adds `{A}` times `{B}` to `{Self}`",
    label = "the shapes do not fit together",
    note = "there are `MxA<T, 32, 64>` times `MxB<U, 64, 32>` onto `Acc<f32, 32, 32>` and `MxA<T, 16, 128>` times `MxB<U, 128, 16>` onto `Acc<f32, 16, 16>`"
)]
pub trait AccumulatesScaled<A, B>: Sized {
    /// The targets that have the instruction.
    type Targets: Availability;

    /// `self + a * b`, scaled.
    #[doc(hidden)]
    fn accumulate(self, operands: (A, Scales, B, Scales), loc: &'static Location<'static>) -> Self;
}

/// Lanes that a multiplication takes elements of B from, instead of each lane from itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LanePattern {
    /// Lanes 32 to 63 from lanes 0 to 31.
    LowerHalf,
    /// Lanes 0 to 31 from lanes 32 to 63.
    UpperHalf,
    /// Each lane from the one 16 further on, the last 16 from the first.
    RotatedBy16,
    /// Every 16 lanes from lanes 0 to 15.
    Quarter0,
    /// Every 16 lanes from lanes 16 to 31.
    Quarter1,
    /// Every 16 lanes from lanes 32 to 47.
    Quarter2,
    /// Every 16 lanes from lanes 48 to 63.
    Quarter3,
}

/// What a matrix instruction does besides: broadcasts blocks of A, permutes lanes of B, negates.
///
/// Which shapes take what is checked when the kernel is built: blocks of A are broadcast by instructions of several blocks,
/// lane patterns of B exist where the target's instruction has them (most before gfx942), negation for f64 since gfx942.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct MfmaOptions {
    /// Blocks that share one of A, and which of them it is.
    broadcast: Option<(u8, u8)>,
    pattern: Option<LanePattern>,
    /// Bit 0 A, bit 1 B, bit 2 C.
    negated: u8,
}

impl MfmaOptions {
    /// Nothing.
    pub const fn new() -> MfmaOptions {
        MfmaOptions { broadcast: None, pattern: None, negated: 0 }
    }

    /// Every `share` blocks, a power of two, are multiplied with the same block of A: the `from`-th of them.
    pub const fn broadcast_a(self, share: u8, from: u8) -> MfmaOptions {
        MfmaOptions { broadcast: Some((share, from)), ..self }
    }

    /// B's elements come from other lanes.
    pub const fn permute_b(self, pattern: LanePattern) -> MfmaOptions {
        MfmaOptions { pattern: Some(pattern), ..self }
    }

    /// A is negated (f64).
    pub const fn negate_a(self) -> MfmaOptions {
        MfmaOptions { negated: self.negated | 1, ..self }
    }

    /// B is negated (f64).
    pub const fn negate_b(self) -> MfmaOptions {
        MfmaOptions { negated: self.negated | 2, ..self }
    }

    /// The accumulator is negated (f64).
    pub const fn negate_c(self) -> MfmaOptions {
        MfmaOptions { negated: self.negated | 4, ..self }
    }

    fn controls(self) -> Result<Controls, String> {
        let mut controls = Controls::default();
        if let Some((share, from)) = self.broadcast {
            if !share.is_power_of_two() {
                return Err(format!(
                    "{share} blocks cannot share a block of A; their number is a power of two"
                ));
            }
            (controls.cbsz, controls.abid) = (share.trailing_zeros() as u8, from);
        }
        if let Some(pattern) = self.pattern {
            controls.blgp = pattern as u8 + 1;
        }
        Ok(controls)
    }
}

/// Which two of every four `k` a [`SparseA`](super::SparseA) holds: four bits for each group of four, lowest group first, the number of the first
/// element in the lower two. One register holds several such sets for the larger elements.
#[derive(Debug, Clone, Copy)]
pub struct SparseIndex {
    value: V<u32>,
    set: u8,
}

impl SparseIndex {
    /// The first set in `value`.
    pub fn new(value: impl IntoDevice<V<u32>>) -> SparseIndex {
        SparseIndex { value: value.into_device(), set: 0 }
    }

    /// The `n`-th set in the register.
    #[must_use]
    pub fn set(self, n: u8) -> SparseIndex {
        SparseIndex { set: n, ..self }
    }

    /// Loads what the lane of a [`SparseA`](super::SparseA) needs from the one index word of its row and `k`.
    pub fn value(self) -> V<u32> {
        self.value
    }
}

/// Scales of one factor of an MX product: a byte for each row of A (column of B) and 32 consecutive `k`, in lane
/// `row + M * (k / 32)`; the exponent of a power of two, 127 meaning 1.
#[derive(Debug, Clone, Copy)]
pub struct Scales {
    value: V<u32>,
    byte: u8,
}

impl Scales {
    /// In the low byte of `value`.
    pub fn new(value: impl IntoDevice<V<u32>>) -> Scales {
        Scales { value: value.into_device(), byte: 0 }
    }

    /// In byte `n`, 0 to 3: a register holds the scales for four products.
    #[must_use]
    pub fn byte(self, n: u8) -> Scales {
        Scales { byte: n, ..self }
    }
}

/// `c + a * b` by one matrix instruction. All lanes of the wave must run, and the workgroup consists of full waves.
///
/// In a kernel: `acc = mfma(a, b, acc);`.
#[track_caller]
pub fn mfma<F: Convergent, T, A, B, C>(_flow: &F, _targets: On<T>, a: A, b: B, c: C) -> C
where
    C: Accumulates<A, B>,
    C::Targets: ExistsOn<T>,
{
    c.accumulate(a, b, MfmaOptions::new(), Location::caller())
}

/// `c + a * b` with [`MfmaOptions`].
#[track_caller]
pub fn mfma_with<F: Convergent, T, A, B, C>(
    _flow: &F,
    _targets: On<T>,
    a: A,
    b: B,
    c: C,
    options: MfmaOptions,
) -> C
where
    C: Accumulates<A, B>,
    C::Targets: ExistsOn<T>,
{
    c.accumulate(a, b, options, Location::caller())
}

/// `c + a * b`, where `index` says which half of A's elements `a` holds.
#[track_caller]
pub fn smfmac<F: Convergent, T, A, B, C>(
    _flow: &F,
    _targets: On<T>,
    a: A,
    index: SparseIndex,
    b: B,
    c: C,
) -> C
where
    C: AccumulatesSparse<A, B>,
    C::Targets: ExistsOn<T>,
{
    c.accumulate(a, index, b, Location::caller())
}

/// `c + (a * scale_a) * (b * scale_b)` by one instruction, each 32 consecutive `k` of a row or column with a scale of their own.
#[track_caller]
pub fn mfma_scale<F: Convergent, T, A, B, C>(
    _flow: &F,
    _targets: On<T>,
    a: A,
    scale_a: Scales,
    b: B,
    scale_b: Scales,
    c: C,
) -> C
where
    C: AccumulatesScaled<A, B>,
    C::Targets: ExistsOn<T>,
{
    c.accumulate((a, scale_a, b, scale_b), Location::caller())
}

/// What an instruction multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Product {
    pub formats: [ElemType; 3],
    /// M, N, K and the number of blocks.
    pub size: [usize; 4],
    pub sparse: bool,
    pub scaled: bool,
}

impl Product {
    /// The instruction of `target`, if there is one.
    pub fn instruction(&self, target: Target) -> Option<(&'static InstDesc, &'static Shape)> {
        let mut there = layout::instructions().iter().filter(|i| i.0 == target);
        there.find(|i| self.is(i.2)).map(|i| (i.1, i.2))
    }

    fn is(&self, shape: &Shape) -> bool {
        let formats = [shape.a, shape.b, shape.acc];
        let size: [usize; 4] = [shape.m.into(), shape.n.into(), shape.k.into(), shape.blocks.into()];
        formats == self.formats
            && size == self.size
            && (shape.sparse, shape.scaled) == (self.sparse, self.scaled)
    }

    /// Targets that have it.
    pub fn targets(&self) -> TargetSet {
        let has = |t: &Target| self.instruction(*t).is_some();
        Target::ALL.into_iter().filter(has).fold(TargetSet::EMPTY, |set, t| set.union(TargetSet::of(&[t])))
    }

    /// The shapes with the same element types on `target`.
    fn near(&self, target: Target) -> String {
        let like = layout::instructions().iter().filter(|(on, _, s)| {
            let same = (s.sparse, s.scaled) == (self.sparse, self.scaled);
            *on == target && [s.a, s.b, s.acc] == self.formats && same
        });
        let names: Vec<String> = like.map(|(_, _, s)| size([s.m, s.n, s.k, s.blocks.into()])).collect();
        names.join(", ")
    }

    fn missing(&self, target: Target) -> String {
        let [a, b, acc] = self.formats.map(ElemType::name);
        let [m, n, k, blocks] = self.size.map(|x| x as u16);
        let near = self.near(target);
        let near =
            if near.is_empty() { "has none for these types".to_owned() } else { format!("has {near}") };
        let on: Vec<&str> = self.targets().iter().map(Target::name).collect();
        format!(
            "{target} has no matrix instruction of {} for {a} times {b} into {acc}; {target} {near}, and {} {} this one",
            size([m, n, k, blocks]),
            on.join(", "),
            if on.len() == 1 { "has" } else { "have" }
        )
    }
}

fn size([m, n, k, blocks]: [u16; 4]) -> String {
    match blocks {
        1 => format!("{m}x{n}x{k}"),
        _ => format!("{m}x{n}x{k} in {blocks} blocks"),
    }
}

/// Emits the instruction of `product`: `operands` are A, B, C and what else it reads, `acc` the one that the result replaces.
pub(super) fn multiply(
    product: Product,
    operands: &[Value],
    acc: Value,
    options: Result<(Controls, u8), String>,
    loc: &'static Location<'static>,
) -> Value {
    with(|context| {
        full_waves(context, loc);
        let target = context.target;
        let Some((row, shape)) = product.instruction(target) else {
            context.fail(loc, product.missing(target));
            return acc;
        };
        let (controls, negated) = match options {
            Ok(options) => options,
            Err(what) => {
                context.fail(loc, what);
                return acc;
            }
        };
        let judged = Controls { blgp: controls.blgp | negated, ..controls };
        if let Err(fault) = Layout::new(row, target, Matrix::D, judged) {
            context.fail(loc, fault.to_string());
            return acc;
        }
        if controls.blgp != 0 && shape.negates || negated != 0 && !shape.negates {
            let what = format!(
                "{} on {target} does not {}",
                row.mnemonic,
                if negated == 0 { "permute B" } else { "negate: f64 instructions do, since gfx942" }
            );
            context.fail(loc, what);
            return acc;
        }
        let ty = context.builder.kernel().ty(acc);
        let mut call = Call::plain(row.mnemonic, operands.iter().copied(), ty);
        call.arg_mods.neg = negated;
        give(&mut call, controls);
        context.value(Inst::Machine(Box::new(call)), ty, loc)
    })
}

/// Sets the fields that are not at their default.
fn give(call: &mut Call, controls: Controls) {
    let given = &mut call.given;
    let mods = &mut given.mods;
    let bits = |shift: u8| (controls.scale_a >> shift & 1) | (controls.scale_b >> shift & 1) << 1;
    let fields = [
        (Modifiers::CBSZ, &mut mods.cbsz, controls.cbsz),
        (Modifiers::ABID, &mut mods.abid, controls.abid),
        (Modifiers::BLGP, &mut mods.blgp, controls.blgp),
        (Modifiers::OP_SEL, &mut mods.op_sel, bits(0)),
        (Modifiers::OP_SEL_HI, &mut mods.op_sel_hi, bits(1)),
    ];
    for (flag, field, value) in fields {
        if value != 0 {
            *field = value;
            given.set |= flag;
        }
    }
}

fn full_waves(context: &mut Context, loc: &'static Location<'static>) {
    let lanes: u32 = context.workgroup.iter().product();
    if !lanes.is_multiple_of(64) {
        let message =
            format!("matrix instructions need full waves, but the workgroup of {lanes} is no multiple of 64");
        context.fail(loc, message);
    }
}

/// Dense: the operands in assembly order are A, B, C.
pub(super) fn dense(
    product: Product,
    [a, b, c]: [Value; 3],
    options: MfmaOptions,
    loc: &'static Location<'static>,
) -> Value {
    multiply(product, &[a, b, c], c, options.controls().map(|controls| (controls, options.negated)), loc)
}

/// Sparse: the accumulator is read and written, so that it comes first.
pub(super) fn sparse(
    product: Product,
    [a, b, c]: [Value; 3],
    index: SparseIndex,
    loc: &'static Location<'static>,
) -> Value {
    let controls = Controls { abid: index.set, ..Controls::default() };
    multiply(product, &[c, a, b, index.value.value], c, Ok((controls, 0)), loc)
}

macro_rules! mx {
    ($($m:literal x $n:literal x $k:literal;)*) => {$(
        impl<T: MxFormat, U: MxFormat> Accumulates<MxA<T, $m, $k>, MxB<U, $k, $n>> for Acc<f32, $m, $n> {
            type Targets = SinceGfx950;
            fn accumulate(
                self,
                a: MxA<T, $m, $k>,
                b: MxB<U, $k, $n>,
                options: MfmaOptions,
                loc: &'static Location<'static>,
            ) -> Self {
                let product = mx_product([$m, $n, $k, 1], false);
                let controls = Controls { cbsz: T::CODE, blgp: U::CODE, ..Controls::default() };
                let options = if options == MfmaOptions::new() {
                    Ok((controls, 0))
                } else {
                    Err("instructions on MX formats have no options: their fields say the formats".to_owned())
                };
                Acc::of(multiply(product, &[a.value, b.value, self.value], self.value, options, loc))
            }
        }

        impl<T: MxFormat, U: MxFormat> AccumulatesScaled<MxA<T, $m, $k>, MxB<U, $k, $n>> for Acc<f32, $m, $n> {
            type Targets = SinceGfx950;
            fn accumulate(
                self,
                (a, scale_a, b, scale_b): (MxA<T, $m, $k>, Scales, MxB<U, $k, $n>, Scales),
                loc: &'static Location<'static>,
            ) -> Self {
                let product = mx_product([$m, $n, $k, 1], true);
                let controls = Controls {
                    cbsz: T::CODE,
                    blgp: U::CODE,
                    scale_a: scale_a.byte,
                    scale_b: scale_b.byte,
                    ..Controls::default()
                };
                let scales = [scale_a.value.value, scale_b.value.value];
                let operands = [a.value, b.value, self.value, scales[0], scales[1]];
                Acc::of(multiply(product, &operands, self.value, Ok((controls, 0)), loc))
            }
        }
    )*};
}
mx! { 32 x 32 x 64; 16 x 16 x 128; }

fn mx_product(size: [usize; 4], scaled: bool) -> Product {
    let formats = [ElemType::F8f6f4, ElemType::F8f6f4, ElemType::F32];
    Product { formats, size, sparse: false, scaled }
}

macro_rules! scales {
    ($name:ident<$a:ident, $b:ident>, $free:ident, $line:ident, $what:literal) => {
        impl<T: MxFormat, const $a: usize, const $b: usize> $name<T, $a, $b> {
            #[doc = concat!("The ", $what, " whose scale this lane holds in [`Scales`].")]
            #[track_caller]
            pub fn $line() -> V<u32> {
                lane_id() & ($free as u32 - 1)
            }

            /// The block of 32 `k` whose scale this lane holds in [`Scales`].
            #[track_caller]
            pub fn scale_block() -> V<u32> {
                lane_id() / $free as u32
            }
        }
    };
}
scales!(MxA<M, K>, M, scale_row, "row");
scales!(MxB<K, N>, N, scale_col, "column");
