//! Vectors of 4-, 6- and 8-bit floats with a common scale, as the conversions of gfx950 produce them.

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

/// `N` small floats of format `F` in each lane, packed from the low bits up.
///
/// | formats | `N` | registers |
/// |---|---|---|
/// | [`Fp4`] | 8, 16, 32 | 1, 2, 4 |
/// | [`Fp6`], [`Bf6`] | 32 | 6 |
/// | [`Fp8`], [`Bf8`] | 4, 8, 16, 32 | 1, 2, 4, 8 |
///
/// Each pack has a scale, an E8M0 byte `e` that stands for `2^(e - 127)` (255 is a NaN); the value of an element is its
/// number times the scale. [`scaled_from`](Packed::scaled_from) converts vectors to packs, and [`Vector::scaled_from`]
/// converts packs to vectors. [`MxA::from_packed`] and [`MxB::from_packed`] make operands of `mfma_scale` from packs.
/// Formats and scales are those of the OCP Microscaling Formats specification, version 1.0.
///
/// Conversions to `Fp4`, `Fp6` and `Bf6` round to nearest, ties to even, and keep denormals; numbers beyond the
/// format's largest number (6, 7.5 and 28, respectively) saturate to it. These formats have no NaN: the simulator
/// converts a NaN to the largest number. `Fp8` and `Bf8` are OCP's formats and treat NaN and infinity as `as f8e4m3`
/// and `as f8e5m2` do on gfx950.
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

/// Formats of packs, with the parameters of their conversion instructions.
pub trait PackedFormat: MxFormat {
    /// The format's name in mnemonics.
    #[doc(hidden)]
    const NAME: &'static str;
    /// The smallest number of elements that fill whole registers. `N` must be a multiple of it.
    #[doc(hidden)]
    const STEP: usize;
    /// The size of an element in bits.
    const BITS: usize;
    /// The exponent of the format's largest number.
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

/// Element types that convert to and from packs: f32, f16 and bf16.
#[diagnostic::on_unimplemented(
    message = "small floats are not converted from or to `{Self}`",
    label = "f32, f16 and bf16 only",
    note = "convert with `as f32` before or after"
)]
pub trait Unpacked: Float {}
impl Unpacked for f32 {}
impl Unpacked for f16 {}
impl Unpacked for bf16 {}

/// The instruction `v_cvt_scalef32_A_B_C`, where `parts` are `A`, `B` and `C`.
fn instruction(parts: [&str; 3]) -> &'static InstDesc {
    let name = format!("v_cvt_scalef32_{}_{}_{}", parts[0], parts[1], parts[2]);
    let row = gcn_isa::table::find_mnemonic(gcn_isa::Target::GFX950, &name).next();
    row.unwrap_or_else(|| unreachable!("{name} is an instruction of gfx950"))
}

const fn varying(elem: Elem, count: usize) -> Type {
    Type { place: Place::Varying, elem, count: count as u8 }
}

/// Emits a conversion instruction with the given `op_sel`.
#[track_caller]
fn convert(row: &InstDesc, args: impl IntoIterator<Item = Value>, result: Type, op_sel: u8) -> Value {
    let mut call = Call::plain(row.mnemonic, args, result);
    if op_sel != 0 {
        call.given.mods.op_sel = op_sel;
        call.given.set |= gcn_isa::table::Modifiers::OP_SEL;
    }
    with(|c| c.value(Inst::Machine(Box::new(call)), result, Location::caller()))
}

/// Extracts consecutive dwords of a value, from `dword` on, as a value of type `ty`.
#[track_caller]
fn part(from: Value, dword: usize, ty: Type) -> Value {
    let inst = Inst::Extract { from, dword: dword as u8 };
    with(|c| if c.builder.kernel().ty(from) == ty { from } else { c.value(inst, ty, Location::caller()) })
}

/// Concatenates values.
#[track_caller]
fn concat(parts: SmallVec<[Value; 4]>, ty: Type) -> Value {
    with(|c| c.value(Inst::Concat(parts), ty, Location::caller()))
}

/// The f32 whose exponent field is the scale; the instructions take scales in this form.
#[track_caller]
fn scale_word(scale: V<u8>) -> Value {
    (cast::<u32, _>(scale) << 23).value
}

impl<F: PackedFormat, const N: usize> Packed<F, N> {
    const SIZE: () = assert!(
        N > 0 && N <= 32 && N.is_multiple_of(F::STEP),
        "packs hold 8, 16 or 32 elements of 4 bits, 32 of 6 bits, or 4, 8, 16 or 32 of 8 bits"
    );
    /// The number of registers in each lane, which is also the number of words in memory.
    pub const WORDS: usize = N * F::BITS / 32;
    const TYPE: Type = varying(Elem::U8, N * F::BITS / 8);

    fn of(value: Value) -> Self {
        const { Self::SIZE };
        Packed { value, format: PhantomData }
    }

    /// The pack whose bits are these words, lowest element first.
    ///
    /// # Panics
    /// If the number of words is not [`WORDS`](Packed::WORDS).
    #[track_caller]
    pub fn from_words(words: &[V<u32>]) -> Self {
        assert_eq!(words.len(), Self::WORDS, "a pack of {N} has {} words", Self::WORDS);
        Self::of(concat(words.iter().map(|w| w.value).collect(), Self::TYPE))
    }

    /// Word `k` of the pack's [`WORDS`](Packed::WORDS). `k` is known when the kernel is built; the build fails if there
    /// is no such word.
    #[track_caller]
    pub fn word(self, k: usize) -> V<u32> {
        let k = within(k, Self::WORDS, "word", || format!("a pack of {} words", Self::WORDS));
        V::from_value(part(self.value, k, varying(Elem::U32, 1)))
    }

    /// Loads a pack from memory of `u32`, from word `i` on. Each instruction loads up to 16 bytes.
    #[track_caller]
    pub fn load(from: &impl Elements<u32>, i: impl Index) -> Self {
        let (i, loc) = (i.index(), Location::caller());
        let mut parts = SmallVec::new();
        for (at, count) in pieces(Self::WORDS) {
            parts.push(load_elements(from, i + at as u32, count, loc));
        }
        Self::of(concat(parts, Self::TYPE))
    }

    /// Stores the pack to memory of `u32`, from word `i` on. Each instruction stores up to 16 bytes.
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

    /// The scale with which numbers of up to `largest` use the format's whole range: the exponent of `largest` minus
    /// that of the format's largest number, as the specification recommends. If `largest` is infinite or a NaN, the
    /// scale is 255, which makes all numbers NaN.
    ///
    /// The format's largest number times this scale may be slightly below `largest`; numbers above that product
    /// saturate to it.
    #[track_caller]
    pub fn scale_of(largest: impl IntoDevice<V<f32>>) -> V<u8> {
        let largest: V<f32> = largest.into_device();
        let exponent = (largest.to_bits_as::<u32>() >> 23) & 0xff;
        let scale = exponent.max(F::LARGEST_EXPONENT) - F::LARGEST_EXPONENT;
        cast::<u8, _>(select(eq(exponent, 255u32), 255u32, scale))
    }

    /// `values / scale`, rounded to the format; in a kernel `Packed::<Fp4, 8>::scaled_from(values, scale)`.
    ///
    /// This exists on gfx950 only. One instruction converts two elements of 4 or 8 bits, or 32 elements of 6 bits.
    #[track_caller]
    pub fn scaled_from<T: Unpacked>(values: Vector<T, N>, scale: impl IntoDevice<V<u8>>) -> OnMx<Self> {
        let scale = scale_word(scale.into_device());
        if F::BITS == 6 {
            return OnMx::gives(Self::of(narrow_all::<F, T>(values.value, scale)));
        }
        let word = varying(Elem::U32, 1);
        let row = instruction(["pk", F::NAME, T::ELEM.name()]);
        // A pair of results fills one byte (4-bit elements) or half a dword (8-bit elements). The highest bits of
        // `op_sel` are the number of that byte or half.
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

/// Splits a load or store of `words` words into accesses of at most four words: for each, its first word and its number
/// of words.
fn pieces(words: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..words).step_by(4).map(move |at| (at, (words - at).min(4)))
}

/// Converts 32 values to 6-bit elements.
#[track_caller]
fn narrow_all<F: PackedFormat, T: Unpacked>(values: Value, scale: Value) -> Value {
    let result = varying(Elem::U8, 24);
    if T::ELEM != Elem::F32 {
        let row = instruction(["pk32", F::NAME, T::ELEM.name()]);
        return convert(row, [values, scale], result, 0);
    }
    // The instruction for f32 has two sources of 16 elements, and takes elements from the two alternately.
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
    /// This exists on gfx950 only. f32 and bf16 represent every result exactly, except for scales near the ends of
    /// their range; f16 rounds once if the scale exceeds its range.
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
            /// Makes a fragment from the 32 elements of each lane. Element `j` of the pack is the fragment's element at
            /// `k_of(j)`.
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
