//! Matrix fragments and accumulators.
//!
//! A wave multiplies an `M x K` fragment of A with a `K x N` fragment of B and adds to an `M x N` accumulator. Which lane
//! and register holds which element is fixed by the instruction; the types here carry the shape and give the lane's
//! coordinates, so that user code never writes the layout down. The layouts are those of AMD's matrix instruction
//! calculator for the one-block shapes, checked by `tests/it/fragments.rs` against `gcn_isa::layout`, which
//! agrees with its output:
//!
//! - A: lane `l` holds row `l % M`, elements `k = E * (l / M) ..` with `E = M * K / 64`, in order.
//! - B: lane `l` holds column `l % N`, elements `k = E * (l / N) ..` with `E = K * N / 64`, in order.
//! - C, D: lane `l` holds column `l % N`; register `r` of f32 is row `4 * (64 / N) * (r / 4) + 4 * (l / N) + r % 4`, of f64
//!   row `(64 / N) * r + l / N`.

use std::marker::PhantomData;
use std::panic::Location;

use gcn_isa::Target;
use half::{bf16, f16};

use super::memory::{Elements, load_elements};
use super::var::next_value;
use super::vector::pack;
use super::wave::Convergent;
use super::{AssignIn, Declare, Flatten, Index, V, lane_id, with};
use crate::ir::{Call, Inst, Place, Type, Value};
use crate::scalar::{Elem, Number, Scalar};

macro_rules! matrix_type {
    ($(#[$doc:meta])* $name:ident<$t:ident, $a:ident, $b:ident>) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<$t, const $a: usize, const $b: usize> {
            pub(crate) value: Value,
            element: PhantomData<$t>,
        }

        impl<$t, const $a: usize, const $b: usize> Clone for $name<$t, $a, $b> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$t, const $a: usize, const $b: usize> Copy for $name<$t, $a, $b> {}

        impl<$t: Number, const $a: usize, const $b: usize> Flatten for $name<$t, $a, $b> {
            fn flatten(&self, out: &mut Vec<Value>) {
                out.push(self.value);
            }
            fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
                Self::of(next_value(values))
            }
        }

        impl<$t: Number, const $a: usize, const $b: usize> Declare for $name<$t, $a, $b> {
            type Value = Self;
            fn declare(self) -> Self {
                self
            }
        }

        // Matrix instructions write every lane, so such a variable changes only where all lanes run.
        impl<$t, F: Convergent, G: Convergent, const $a: usize, const $b: usize> AssignIn<F, G> for $name<$t, $a, $b> {}

        impl<$t: Number, const $a: usize, const $b: usize> $name<$t, $a, $b> {
            fn of(value: Value) -> Self {
                $name { value, element: PhantomData }
            }
        }
    };
}

matrix_type! {
    /// An `M x N` accumulator of `T`, spread over the lanes of a wave, in AGPRs.
    Acc<T, M, N>
}
matrix_type! {
    /// An `M x K` fragment of the left matrix.
    FragA<T, M, K>
}
matrix_type! {
    /// A `K x N` fragment of the right matrix.
    FragB<T, K, N>
}

impl<T: Number, const M: usize, const N: usize> Acc<T, M, N> {
    const TYPE: Type = Type { place: Place::Acc, elem: T::ELEM, count: (M * N / 64) as u8 };

    /// All elements zero.
    #[track_caller]
    pub fn zero() -> Self {
        Self::of(with(|c| c.builder.value(Inst::Const(0), Self::TYPE, None)))
    }

    /// How many elements each lane holds.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub const fn len(&self) -> usize {
        M * N / 64
    }

    /// The lane's `i`-th element.
    ///
    /// # Panics
    /// If `i` is not below [`Acc::len`].
    #[track_caller]
    pub fn get(&self, i: usize) -> V<T> {
        assert!(i < self.len(), "element {i} of an accumulator with {} per lane", self.len());
        let inst = Inst::Extract { from: self.value, dword: i as u8 * T::ELEM.dwords() };
        V::emit(inst, Location::caller())
    }

    /// The row of the lane's `i`-th element.
    #[track_caller]
    pub fn row(&self, i: usize) -> V<u32> {
        let (i, groups) = (i as u32, 64 / N as u32);
        let group = lane_id() >> N.ilog2();
        if T::ELEM == Elem::F64 { group + groups * i } else { (group << 2) + (4 * groups * (i / 4) + i % 4) }
    }

    /// The column of the lane's elements.
    #[track_caller]
    pub fn col(&self) -> V<u32> {
        lane_id() & (N as u32 - 1)
    }
}

macro_rules! fragment {
    ($name:ident, $a:ident, $b:ident, $free:ident, $k:ident, $coordinate:ident, $what:literal) => {
        impl<T: Number, const $a: usize, const $b: usize> $name<T, $a, $b> {
            const PER_LANE: usize = $a * $b / 64;

            #[doc = concat!("The lane's ", $what, ".")]
            #[track_caller]
            pub fn $coordinate() -> V<u32> {
                lane_id() & ($free as u32 - 1)
            }

            /// The first of the consecutive `k` that the lane holds.
            #[track_caller]
            pub fn k() -> V<u32> {
                (lane_id() >> $free.ilog2()) * Self::PER_LANE as u32
            }

            /// Loads the lane's elements, which stand side by side in memory from index `i` on: `k` is the fast
            /// dimension there.
            #[track_caller]
            pub fn load(from: &impl Elements<T>, i: impl Index) -> Self {
                Self::of(load_elements(from, i.index(), Self::PER_LANE, Location::caller()))
            }

            /// The lane's elements one by one: `f(j)` gives the element of `k() + j`.
            #[track_caller]
            pub fn from_fn(f: impl FnMut(u32) -> V<T>) -> Self {
                let parts: Vec<V<T>> = (0..Self::PER_LANE as u32).map(f).collect();
                Self::of(pack(&parts, Location::caller()))
            }
        }
    };
}

fragment!(FragA, M, K, M, K, row, "row");
fragment!(FragB, K, N, N, K, col, "column");

/// Accumulators onto which a matrix instruction adds the product of an `A` and a `B` fragment.
#[diagnostic::on_unimplemented(
    message = "no matrix instruction adds `{A}` times `{B}` to `{Self}`",
    label = "the shapes or types do not fit together",
    note = "the fragments are `FragA<T, M, K>` and `FragB<T, K, N>`, the accumulator `Acc<U, M, N>`; M x N x K is 32x32x8 or 16x16x16 for f16 and bf16 (into f32), 32x32x2 or 16x16x4 for f32, 16x16x4 for f64"
)]
pub trait Accumulates<A, B>: Sized {
    /// `self + a * b`.
    fn accumulate(self, a: A, b: B) -> Self;
}

macro_rules! shapes {
    ($($t:ty => $u:ty: $($m:literal x $n:literal x $k:literal),*;)*) => {$($(
        impl Accumulates<FragA<$t, $m, $k>, FragB<$t, $k, $n>> for Acc<$u, $m, $n> {
            #[track_caller]
            fn accumulate(self, a: FragA<$t, $m, $k>, b: FragB<$t, $k, $n>) -> Self {
                let name = |target| mnemonic(target, <$t>::ELEM, <$u>::ELEM, [$m, $n, $k]);
                Acc::of(multiply(name, [a.value, b.value, self.value], Self::TYPE, Location::caller()))
            }
        }
    )*)*};
}
shapes! {
    f16 => f32: 32 x 32 x 8, 16 x 16 x 16;
    bf16 => f32: 32 x 32 x 8, 16 x 16 x 16;
    f32 => f32: 32 x 32 x 2, 16 x 16 x 4;
    f64 => f64: 16 x 16 x 4;
}

/// `c + a * b` by one matrix instruction. All lanes of the wave must run, and the workgroup consists of full waves.
#[track_caller]
pub fn mfma<F: Convergent, A, B, C: Accumulates<A, B>>(_flow: &F, a: A, b: B, c: C) -> C {
    c.accumulate(a, b)
}

fn multiply(
    name: impl Fn(Target) -> String,
    operands: [Value; 3],
    ty: Type,
    loc: &'static Location<'static>,
) -> Value {
    with(|context| {
        let name = name(context.target);
        let Some(row) = gcn_isa::table::find_mnemonic(context.target, &name).next() else {
            let target = context.target;
            context.fail(loc, format!("{target} has no `{name}`; build for gfx90a or later"));
            return operands[2];
        };
        let lanes: u32 = context.workgroup.iter().product();
        if !lanes.is_multiple_of(64) {
            let message = format!(
                "matrix instructions need full waves, but the workgroup of {lanes} is no multiple of 64"
            );
            context.fail(loc, message);
        }
        let call = Call::plain(row.mnemonic, operands, ty);
        context.value(Inst::Machine(Box::new(call)), ty, loc)
    })
}

/// The one-block MFMA's name: gfx942 and later put the input type behind an underscore; before, it follows the shape
/// directly, and the bf16 forms with twice the depth end in `_1k`.
fn mnemonic(target: Target, input: Elem, output: Elem, [m, n, k]: [usize; 3]) -> String {
    let shape = format!("v_mfma_{output}_{m}x{n}x{k}");
    match (target.is_gfx940_family(), input) {
        (true, _) => format!("{shape}_{input}"),
        (false, Elem::Bf16) => format!("{shape}{input}_1k"),
        (false, _) => format!("{shape}{input}"),
    }
}
