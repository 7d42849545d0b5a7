//! Packs of 4-, 6- and 8-bit floats with a scale, as gfx950 converts them.

use std::marker::PhantomData;
use std::panic::Location;

use gcn_isa::table::InstDesc;
use half::{bf16, f16};
use smallvec::SmallVec;

use crate::ir::{Call, Inst, Place, Type, Value};
use crate::lang::compound::enums::Placed;
use crate::lang::control::everyone::OnMx;
use crate::lang::matrix::{Bf6, Bf8, Fp4, Fp6, Fp8, MxA, MxB, MxFormat};
use crate::lang::memory::access::StoreAt;
use crate::lang::memory::slice::{Elements, load_elements, store_elements};
use crate::lang::numbers::arithmetic::Float;
use crate::lang::values::constant::within;
use crate::lang::values::data::next_value;
use crate::lang::values::kind::Varying;
use crate::lang::{AsIs, AssignIn, Declare, Flatten, Index, IntoDevice, V, Vector, cast, eq, select, with};
use crate::scalar::Elem;

/// `N` small floats of format `F` in each lane, side by side from the low bits up.
///
/// | formats | `N` | registers |
/// |---|---|---|
/// | [`Fp4`] | 8, 16, 32 | 1, 2, 4 |
/// | [`Fp6`], [`Bf6`] | 32 | 6 |
/// | [`Fp8`], [`Bf8`] | 4, 8, 16, 32 | 1, 2, 4, 8 |
///
/// Each pack has a scale, an E8M0 byte `e` that stands for `2^(e - 127)` (255 is a NaN): the pack's element times the scale
/// is the number. [`scaled_from`](Packed::scaled_from) makes packs of vectors, and [`Vector::scaled_from`] vectors of packs;
/// [`MxA::from_packed`] and [`MxB::from_packed`] make the operands of `mfma_scale` of them. Formats and scales are those of the
/// OCP Microscaling Formats specification, version 1.0.
///
/// A conversion to `Fp4`, `Fp6` and `Bf6` rounds to nearest, ties to even, denormals kept; what is beyond the largest number
/// (6, 7.5 and 28) becomes that. What a NaN becomes the formats cannot say: in the simulator the largest number.
/// `Fp8` and `Bf8` are OCP's, with the NaN and infinity that `as f8e4m3` and `as f8e5m2` give there.
///
/// ```
/// use gcn_dsl::lang::matrix::Fp4;
/// use gcn_dsl::prelude::*;
///
/// type Eight = Packed<Fp4, 8>;
///
/// gcn_kernel! {
///     /// Each lane's eight f32 in 4 bits each, with a scale for them.
///     #[workgroup(64)]
///     #[targets(HasMfmaMx)]
///     fn quantise(x: &[f32], out: &mut [u32], scales: &mut [u8]) {
///         let i = global_id().x;
///         let all = Vector::<f32, 8>::from_fn(|k| x[i * 8 + k]);
///         let mut largest: V<f32> = 0.0;
///         #[unroll]
///         for k in 0..8 {
///             largest = largest.max(all.get(k).abs());
///         }
///         let scale = Eight::scale_of(largest);
///         Eight::scaled_from(all, scale).store(&out, i);
///         scales[i] = scale;
///     }
/// }
/// let x: Vec<f32> = (0..512).map(|i| (i % 8) as f32).collect();
/// let (mut out, mut scales) = (vec![0; 64], vec![0; 64]);
/// quantise.launch(&Device::simulator(Target::GFX950), Grid::x(1), (&x, &mut out, &mut scales))?;
/// // 0, 1, 2, 3, 4, 6 are there; 5 is as near to 4 as to 6, and 7 is beyond the largest.
/// assert_eq!((out[0], scales[0]), (0x7766_5420, 127));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Packed<F, const N: usize> {
    pub(crate) value: Value,
    format: PhantomData<F>,
}

impl<F, const N: usize> Clone for Packed<F, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F, const N: usize> Copy for Packed<F, N> {}
impl<F, const N: usize> AsIs for Packed<F, N> {}
impl<F, Here, There, const N: usize> AssignIn<Here, There> for Packed<F, N> {}

impl<F, const N: usize> Flatten for Packed<F, N> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.value);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        Packed { value: next_value(values), format: PhantomData }
    }
}

impl<F, const N: usize> Declare for Packed<F, N> {
    type Value = Self;
    fn declare(self) -> Self {
        self
    }
}

/// Formats that are packed, with what instructions call them.
pub trait PackedFormat: MxFormat {
    /// In mnemonics.
    #[doc(hidden)]
    const NAME: &'static str;
    /// Elements of one step: as many as fill whole registers.
    #[doc(hidden)]
    const STEP: usize;
    /// Bits of an element.
    const BITS: usize;
    /// The exponent of the largest number.
    const LARGEST_EXPONENT: u32;
}

macro_rules! formats {
    ($($format:ident $name:literal $step:literal $bits:literal $largest:literal;)*) => {$(
        impl PackedFormat for $format {
            const NAME: &'static str = $name;
            const STEP: usize = $step;
            const BITS: usize = $bits;
            const LARGEST_EXPONENT: u32 = $largest;
        }
    )*};
}
formats! {
    Fp4 "fp4" 8 4 2;
    Fp6 "fp6" 32 6 2;
    Bf6 "bf6" 32 6 4;
    Fp8 "fp8" 4 8 8;
    Bf8 "bf8" 4 8 15;
}

/// Element types that packs are made of and become: f32, f16 and bf16.
#[diagnostic::on_unimplemented(
    message = "small floats are not converted from or to `{Self}`",
    label = "f32, f16 and bf16 only",
    note = "convert with `as f32` before or after"
)]
pub trait Unpacked: Float {}
impl Unpacked for f32 {}
impl Unpacked for f16 {}
impl Unpacked for bf16 {}

/// `v_cvt_scalef32_` and the parts.
fn instruction(parts: [&str; 3]) -> &'static InstDesc {
    let name = format!("v_cvt_scalef32_{}_{}_{}", parts[0], parts[1], parts[2]);
    let row = gcn_isa::table::find_mnemonic(gcn_isa::Target::GFX950, &name).next();
    row.unwrap_or_else(|| unreachable!("{name} is an instruction of gfx950"))
}

const fn varying(elem: Elem, count: usize) -> Type {
    Type { place: Place::Varying, elem, count: count as u8 }
}

/// An instruction with `op_sel`.
#[track_caller]
fn convert(row: &InstDesc, args: impl IntoIterator<Item = Value>, result: Type, op_sel: u8) -> Value {
    let mut call = Call::plain(row.mnemonic, args, result);
    if op_sel != 0 {
        call.given.mods.op_sel = op_sel;
        call.given.set |= gcn_isa::table::Modifiers::OP_SEL;
    }
    with(|c| c.value(Inst::Machine(Box::new(call)), result, Location::caller()))
}

/// Consecutive dwords of a value.
#[track_caller]
fn part(from: Value, dword: usize, ty: Type) -> Value {
    let inst = Inst::Extract { from, dword: dword as u8 };
    with(|c| if c.builder.kernel().ty(from) == ty { from } else { c.value(inst, ty, Location::caller()) })
}

/// Values side by side.
#[track_caller]
fn concat(parts: SmallVec<[Value; 4]>, ty: Type) -> Value {
    with(|c| c.value(Inst::Concat(parts), ty, Location::caller()))
}

/// The f32 with the scale's exponent, which is what the instructions take.
#[track_caller]
fn scale_word(scale: V<u8>) -> Value {
    (cast::<u32, _>(scale) << 23).value
}

impl<F: PackedFormat, const N: usize> Packed<F, N> {
    const SIZE: () = assert!(
        N > 0 && N <= 32 && N.is_multiple_of(F::STEP),
        "packs hold 8, 16 or 32 elements of 4 bits, 32 of 6 bits, or 4, 8, 16 or 32 of 8 bits"
    );
    /// Registers of a lane, and words in memory.
    pub const WORDS: usize = N * F::BITS / 32;
    const TYPE: Type = varying(Elem::U8, N * F::BITS / 8);

    fn of(value: Value) -> Self {
        const { Self::SIZE };
        Packed { value, format: PhantomData }
    }

    /// The pack that these words are, lowest element first.
    ///
    /// # Panics
    /// If there are not [`WORDS`](Packed::WORDS) of them.
    #[track_caller]
    pub fn from_words(words: &[V<u32>]) -> Self {
        assert_eq!(words.len(), Self::WORDS, "a pack of {N} has {} words", Self::WORDS);
        Self::of(concat(words.iter().map(|w| w.value).collect(), Self::TYPE))
    }

    /// Word `k` of [`WORDS`](Packed::WORDS), known when the kernel is built, which fails if there is no such word.
    #[track_caller]
    pub fn word(self, k: usize) -> V<u32> {
        let k = within(k, Self::WORDS, "word", || format!("a pack of {} words", Self::WORDS));
        V::from_value(part(self.value, k, varying(Elem::U32, 1)))
    }

    /// Loads a pack from word `i` of memory of `u32` on, 16 bytes by one instruction.
    #[track_caller]
    pub fn load(from: &impl Elements<u32>, i: impl Index) -> Self {
        let (i, loc) = (i.index(), Location::caller());
        let mut parts = SmallVec::new();
        for (at, count) in pieces(Self::WORDS) {
            parts.push(load_elements(from, i + at as u32, count, loc));
        }
        Self::of(concat(parts, Self::TYPE))
    }

    /// Stores the pack to word `i` of memory of `u32` and those after it, 16 bytes by one instruction.
    #[track_caller]
    pub fn store<M>(self, to: &M, i: impl Index)
    where
        M: Elements<u32> + StoreAt<V<u32>, Element = V<u32>>,
    {
        let (i, loc) = (i.index(), Location::caller());
        for (at, count) in pieces(Self::WORDS) {
            let piece = part(self.value, at, varying(Elem::U32, count));
            store_elements(to, i + at as u32, piece, loc);
        }
    }

    /// The scale with which numbers of up to `largest` use the format's range: the exponent of `largest` less that of the
    /// format's largest number, as the specification recommends. 255, which makes all numbers NaN, if `largest` is infinite or a NaN.
    ///
    /// Numbers between the format's largest times the scale and `largest` are rounded down to the former.
    #[track_caller]
    pub fn scale_of(largest: impl IntoDevice<V<f32>>) -> V<u8> {
        let largest: V<f32> = largest.into_device();
        let exponent = (largest.to_bits_as::<u32>() >> 23) & 0xff;
        let scale = exponent.max(F::LARGEST_EXPONENT) - F::LARGEST_EXPONENT;
        cast::<u8, _>(select(eq(exponent, 255u32), 255u32, scale))
    }

    /// `values / scale`, rounded to the format; in a kernel `Packed::<Fp4, 8>::scaled_from(values, scale)`.
    ///
    /// Exists on gfx950: two elements of 4 or 8 bits by one instruction, 32 of 6 bits by one.
    #[track_caller]
    pub fn scaled_from<T: Unpacked>(values: Vector<T, N>, scale: impl IntoDevice<V<u8>>) -> OnMx<Self> {
        let scale = scale_word(scale.into_device());
        if F::BITS == 6 {
            return OnMx::gives(Self::of(narrow_all::<F, T>(values.value, scale)));
        }
        let word = varying(Elem::U32, 1);
        let row = instruction(["pk", F::NAME, T::ELEM.name()]);
        // A pair fills a byte or half a word, which the last bits of `op_sel` number.
        let last = row.op_sel_dst_bit().unwrap_or(3);
        let (pairs, lowest) = if F::BITS == 4 { (4, last - 1) } else { (2, last) };
        let mut words = SmallVec::new();
        for w in 0..Self::WORDS {
            let mut held = with(|c| c.v_u32(0));
            for pair in 0..pairs {
                let mut args: SmallVec<[Value; 4]> = SmallVec::from_slice(&[held]);
                let first = (w * pairs + pair) * 2;
                let size = T::ELEM.bytes() as usize;
                let sources = if size == 4 { 0..2 } else { 0..1 };
                args.extend(sources.map(|s| part(values.value, first * size / 4 + s, varying(Elem::U32, 1))));
                args.push(scale);
                held = convert(row, args, word, (pair as u8) << lowest);
            }
            words.push(held);
        }
        OnMx::gives(Self::of(concat(words, Self::TYPE)))
    }
}

/// Where the loads and stores of so many words begin, and how many each moves.
fn pieces(words: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..words).step_by(4).map(move |at| (at, (words - at).min(4)))
}

/// 32 elements of 6 bits.
#[track_caller]
fn narrow_all<F: PackedFormat, T: Unpacked>(values: Value, scale: Value) -> Value {
    let result = varying(Elem::U8, 24);
    if T::ELEM != Elem::F32 {
        let row = instruction(["pk32", F::NAME, T::ELEM.name()]);
        return convert(row, [values, scale], result, 0);
    }
    // Two sources, whose elements alternate in the result.
    let element = varying(Elem::F32, 1);
    let every_other = |from: usize| {
        let parts = (0..16).map(|i| part(values, 2 * i + from, element)).collect();
        concat(parts, varying(Elem::F32, 16))
    };
    let (even, odd) = (every_other(0), every_other(1));
    convert(instruction(["2xpk16", F::NAME, "f32"]), [even, odd, scale], result, 0)
}

impl<T: Unpacked, const N: usize> Vector<T, N> {
    /// `pack * scale`, element by element; in a kernel `Vector::<f32, 8>::scaled_from(pack, scale)`.
    ///
    /// Exists on gfx950. f32 and bf16 hold every element exactly, but for scales near the ends of their range; f16 rounds once where the
    /// scale leaves its range.
    #[track_caller]
    pub fn scaled_from<F: PackedFormat>(pack: Packed<F, N>, scale: impl IntoDevice<V<u8>>) -> OnMx<Self> {
        let scale = scale_word(scale.into_device());
        let whole = varying(T::ELEM, N);
        if F::BITS == 6 {
            let row = instruction(["pk32", T::ELEM.name(), F::NAME]);
            return OnMx::gives(Self::of(convert(row, [pack.value, scale], whole, 0)));
        }
        let row = instruction(["pk", T::ELEM.name(), F::NAME]);
        let pairs = if F::BITS == 4 { 4 } else { 2 };
        let mut parts = SmallVec::new();
        for pair in 0..N / 2 {
            let word = part(pack.value, pair / pairs, varying(Elem::U32, 1));
            parts.push(convert(row, [word, scale], varying(T::ELEM, 2), (pair % pairs) as u8));
        }
        OnMx::gives(Self::of(concat(parts, whole)))
    }
}

macro_rules! fragments {
    ($($name:ident $a:ident $b:ident)*) => {$(
        impl<F: PackedFormat, const $a: usize, const $b: usize> $name<F, $a, $b> {
            /// The fragment whose 32 elements of each lane are these: element `j` is that of `k_of(j)`.
            pub fn from_packed(pack: Packed<F, 32>) -> Self {
                const { assert!($a * $b == 64 * 32, "a fragment of 32 elements to a lane is 32 x 64 or 16 x 128") };
                Self::of(pack.value)
            }
        }
    )*};
}
fragments! { MxA M K MxB K N }

impl<F: PackedFormat, const N: usize> crate::lang::InRegisters<crate::lang::Vgprs> for Packed<F, N> {}

impl<F, const N: usize> Placed for Packed<F, N> {
    type Place = Varying;
    type Pattern = Self;
}
