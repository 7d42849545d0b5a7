//! Tiles: matrices in registers that are larger than the operands of one instruction.
//!
//! A tile consists of fragments or accumulators of one instruction. Targets differ in the number of `k` that an
//! instruction takes, so the instruction depends on the target; it is determined by element type, target, `SIDE` and
//! `K`. Tiles whose types fit together therefore always use the same instruction.

mod elements;
mod factor;
mod product;

use std::marker::PhantomData;

pub use product::{TileFactor, has_copied_factors, has_instruction, least_depth, matmul, matmul_part};

use super::format::MatrixElement;
use super::k_order::ByNumber;
use super::operand::here;
use crate::ir::Value;
use crate::lang::values::flow::Convergent;
use crate::lang::{AssignIn, Declare, Flatten, next_value, with};

/// The largest number of fragments or accumulators in a tile.
const MOST: usize = 64;

macro_rules! tile {
    ($(#[$doc:meta])* $name:ident<$($a:ident, $b:ident),+ $(; $order:ident)?>) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<T, $(const $a: usize, const $b: usize,)+ const SIDE: usize = 32, $($order = ByNumber)?> {
            values: Parts,
            types: PhantomData<(T, $($order)?)>,
        }

        impl<T, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> Clone
            for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> Copy
            for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {
        }

        impl<T: MatrixElement, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> crate::lang::AsIs
            for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {}

        impl<T: MatrixElement, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> Flatten
            for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {
            fn flatten(&self, out: &mut Vec<Value>) {
                out.extend(self.values.iter());
            }
            fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
                let parts = with(|c| Self::parts(here(c)));
                Self::of(Parts::of((0..parts).map(|_| next_value(values))))
            }
        }

        impl<T: MatrixElement, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> Declare
            for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {
            type Value = Self;
            fn declare(self) -> Self {
                self
            }
        }

        impl<T, __F: Convergent, __G: Convergent, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?>
            AssignIn<__F, __G> for $name<T, $($a, $b,)+ SIDE, $($order)?>
        {
        }

        impl<T, $(const $a: usize, const $b: usize,)+ const SIDE: usize, $($order)?> $name<T, $($a, $b,)+ SIDE, $($order)?> {
            fn of(values: Parts) -> Self {
                $name { values, types: PhantomData }
            }
        }
    };
}

tile! {
    /// An `M x N` matrix made of accumulators of `SIDE x SIDE` elements, where `SIDE` is 32 or 16. On targets without
    /// an instruction for `SIDE` 32, such as RDNA, the accumulators are 16 x 16.
    Tile<M, N>
}
tile! {
    /// An `M x K` piece of a left matrix, made of fragments of `SIDE` rows.
    TileA<M, K; O>
}
tile! {
    /// A `K x N` piece of a right matrix, made of fragments of `SIDE` columns.
    TileB<K, N; O>
}

/// The IR values of a tile: one for each of its fragments or accumulators.
#[derive(Clone, Copy, Debug)]
struct Parts {
    values: [Value; MOST],
    len: usize,
}

impl Parts {
    fn of(values: impl IntoIterator<Item = Value>) -> Parts {
        let mut parts = Parts { values: [Value(0); MOST], len: 0 };
        for value in values {
            parts.values[parts.len] = value;
            parts.len += 1;
        }
        parts
    }

    fn iter(&self) -> impl Iterator<Item = Value> + use<> {
        let parts = *self;
        (0..parts.len).map(move |i| parts.values[i])
    }
}

const fn even(size: usize, side: usize) {
    assert!(side == 32 || side == 16, "the SIDE of a tile is 32 or 16");
    assert!(
        size > 0 && size.is_multiple_of(side),
        "the rows and columns of a tile are multiples of its SIDE"
    );
    assert!(size / side <= 16, "a tile has at most 16 accumulators in a row or column");
}

const fn few(parts: usize) {
    assert!(parts <= MOST, "a tile has at most 64 accumulators or fragments");
}
