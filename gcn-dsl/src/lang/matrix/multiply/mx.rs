//! The `f8f6f4` instructions of gfx950.

use std::panic::Location;

use gcn_isa::layout::Controls;

use super::product::{Product, multiply};
use super::{Accumulates, AccumulatesScaled, MfmaOptions, Scales};
use crate::lang::matrix::format::MxFormat;
use crate::lang::matrix::{Acc, MxA, MxB};
use crate::lang::targets::SinceGfx950;
use crate::lang::{V, lane_id};

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
                let product = Product::f8f6f4([$m, $n, $k, 1], false);
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
                let product = Product::f8f6f4([$m, $n, $k, 1], true);
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

macro_rules! scales {
    ($name:ident<$a:ident, $b:ident>, $free:ident, $line:ident, $what:literal) => {
        impl<T: MxFormat, const $a: usize, const $b: usize> $name<T, $a, $b> {
            #[doc = concat!("The ", $what, " whose scale this lane holds in [`Scales`].")]
            #[track_caller]
            pub fn $line() -> V<u32> {
                lane_id() & ($free as u32 - 1)
            }

            /// The number of the block of 32 `k` whose scale this lane contains in [`Scales`].
            #[track_caller]
            pub fn scale_block() -> V<u32> {
                lane_id() / $free as u32
            }
        }
    };
}
scales!(MxA<M, K>, M, scale_row, "row");
scales!(MxB<K, N>, N, scale_col, "column");
