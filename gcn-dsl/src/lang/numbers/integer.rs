//! Methods of integers, with the names and meaning of Rust's.
//!
//! Bit operations work on zero-extended 32-bit words, or on the two words of a 64-bit integer. Uniform values are
//! computed by scalar instructions.

use std::panic::Location;

use gcn_isa::target::WaveSize;

use super::arithmetic::Integer;
use crate::ir::{Bin, Inst, Type, Value};
use crate::isa;
use crate::lang::numbers::power::Exponent;
use crate::lang::{IntoDevice, S, V, cast, lt, ne, read_first_lane, with};
use crate::scalar::Elem;

/// If `x` is `mask & ((1 << lane_id) - 1)`, returns `mask`; otherwise `None`.
fn of_lanes_below(x: Value) -> Option<Value> {
    with(|c| {
        let (b, kernel) = (&c.builder, c.builder.kernel());
        let def = |v: Value| &kernel.def(v).inst;
        let below = |v: Value| {
            // If the other operand is a mask of 32 lanes, `(1u64 << lane) - 1` has already been narrowed to 32 bits.
            let wide = match def(v) {
                Inst::Cast(of) if kernel.ty(*of).dwords() == 2 => *of,
                _ => v,
            };
            // The subtraction of a constant from a word has been folded to a sum.
            let (power, least) = match def(wide) {
                Inst::Bin(Bin::Sub, power, one) => (power, b.as_const(*one) == Some(1)),
                Inst::Bin(Bin::Add, power, less) => (power, b.as_const(*less) == Some(u32::MAX.into())),
                _ => return false,
            };
            let Inst::Bin(Bin::Shl, base, lane) = def(*power) else { return false };
            least && b.as_const(*base) == Some(1) && *def(*lane) == Inst::LaneId
        };
        match def(x) {
            Inst::Bin(Bin::And, mask, other) if below(*other) => Some(*mask),
            Inst::Bin(Bin::And, other, mask) if below(*other) => Some(*mask),
            _ => None,
        }
    })
}

/// The vector instructions that the methods need; each operates on one word.
mod varying {
    use super::*;

    type Word = V<u32>;

    #[track_caller]
    pub fn count_ones(x: Word) -> Word {
        // In waves of 32 lanes, `x` may be a lane mask in one word.
        if let (WaveSize::W32, Some(mask)) = (with(|c| c.wave), of_lanes_below(x.value)) {
            return isa::v_mbcnt_lo_u32_b32(Word::from_value(mask), 0u32);
        }
        isa::v_bcnt_u32_b32(x, 0u32)
    }
    /// The number of set bits of a 64-bit `x` with the words `low` and `high`. If `x` is a mask limited to the lanes
    /// below this one, `v_mbcnt_*` counts its bits directly.
    #[track_caller]
    pub fn count_both(x: Value, [low, high]: [Word; 2]) -> Word {
        if let Some(mask) = of_lanes_below(x) {
            let [low, high] = V::<u64>::from_value(mask).words();
            return isa::v_mbcnt_hi_u32_b32(high, isa::v_mbcnt_lo_u32_b32(low, 0u32));
        }
        isa::v_bcnt_u32_b32(high, count_ones(low))
    }
    /// The number of leading zeros; all bits set if `x` is 0.
    #[track_caller]
    pub fn first_high(x: Word) -> Word {
        isa::v_ffbh_u32(x)
    }
    /// The number of trailing zeros; all bits set if `x` is 0.
    #[track_caller]
    pub fn first_low(x: Word) -> Word {
        isa::v_ffbl_b32(x)
    }
    #[track_caller]
    pub fn reverse(x: Word) -> Word {
        isa::v_bfrev_b32(x)
    }
    #[track_caller]
    pub fn swap_bytes(x: Word) -> Word {
        isa::v_perm_b32(0u32, x, 0x0001_0203u32)
    }
    #[track_caller]
    pub fn rotate_right(x: Word, n: Word) -> Word {
        // If the count is constant, reduce it below 32, so that it can be an inline operand; a count of -30, for
        // example, has the same effect as 2 but would need a register.
        let is_constant = with(|c| c.builder.as_const(n.value)).is_some();
        isa::v_alignbit_b32(x, x, if is_constant { n & 31 } else { n })
    }
    #[track_caller]
    pub fn mul_hi_64(a: V<u64>, b: V<u64>) -> V<u64> {
        super::super::divide::mul_hi(a, b)
    }
}

mod uniform {
    use super::*;

    type Word = S<u32>;

    #[track_caller]
    pub fn count_ones(x: Word) -> Word {
        isa::s_bcnt1_i32_b32(x).0.to_bits_as()
    }
    /// The number of set bits of a 64-bit integer.
    #[track_caller]
    pub fn count_both(_: Value, [low, high]: [Word; 2]) -> Word {
        count_ones(low) + count_ones(high)
    }
    #[track_caller]
    pub fn first_high(x: Word) -> Word {
        isa::s_flbit_i32_b32(x).to_bits_as()
    }
    #[track_caller]
    pub fn first_low(x: Word) -> Word {
        isa::s_ff1_i32_b32(x).to_bits_as()
    }
    #[track_caller]
    pub fn reverse(x: Word) -> Word {
        isa::s_brev_b32(x)
    }
    #[track_caller]
    pub fn swap_bytes(x: Word) -> Word {
        (x << 24u32) | ((x & 0xff00) << 8u32) | ((x >> 8u32) & 0xff00) | (x >> 24u32)
    }
    #[track_caller]
    pub fn rotate_right(x: Word, n: Word) -> Word {
        (x >> (n & 31)) | (x << ((0u32 - n) & 31))
    }
    #[track_caller]
    pub fn mul_hi_64(a: S<u64>, b: S<u64>) -> S<u64> {
        read_first_lane(super::super::divide::mul_hi(a.into_device(), b.into_device()))
    }
}

macro_rules! methods {
    ($handle:ident $word:ident $place:ident) => {
        /// Zero-extends an integer of up to 32 bits to a word.
        #[track_caller]
        fn $word<T: Integer>(x: $handle<T>) -> $handle<u32> {
            let word: $handle<u32> = cast::<u32, _>(x);
            match T::ELEM.bytes() {
                4 => word,
                // Signed integers are sign-extended in registers, so clear the copies of the sign bit.
                bytes => word & ((1 << (8 * bytes)) - 1),
            }
        }

        impl<T: Integer> $handle<T> {
            pub(in crate::lang) const BITS: u32 = 8 * T::ELEM.bytes();

            pub(in crate::lang) fn constant(bits: u64) -> Self {
                Self::from_value(with(|c| c.builder.constant(bits, Self::TYPE)))
            }

            /// The low and high words of a 64-bit integer.
            #[track_caller]
            fn words(self) -> [$handle<u32>; 2] {
                let ty = Type { elem: Elem::U32, ..Self::TYPE };
                [0, 1].map(|i| {
                    let inst = Inst::Extract { from: self.value, dword: i };
                    $handle::from_value(with(|c| c.value(inst, ty, Location::caller())))
                })
            }

            #[track_caller]
            fn of_words(low: $handle<u32>, high: $handle<u32>) -> Self {
                Self::emit(Inst::Concat([low.value, high.value].into_iter().collect()), Location::caller())
            }

            /// Truncates a word to this type.
            #[track_caller]
            fn of_word(word: $handle<u32>) -> Self {
                Self::emit(Inst::Cast(word.value), Location::caller())
            }

            /// The number of bits that are one.
            #[track_caller]
            pub fn count_ones(self) -> $handle<u32> {
                if Self::BITS == 64 {
                    return $place::count_both(self.value, self.words());
                }
                $place::count_ones($word(self))
            }

            /// The number of bits that are zero.
            #[track_caller]
            pub fn count_zeros(self) -> $handle<u32> {
                Self::BITS - self.count_ones()
            }

            /// The number of leading zeros; the integer's width if it is 0.
            #[track_caller]
            pub fn leading_zeros(self) -> $handle<u32> {
                if Self::BITS == 64 {
                    let [low, high] = self.words();
                    let below = $place::first_high(low).min(32) + 32;
                    return $place::first_high(high).min(below);
                }
                // The zero-extended word has `32 - BITS` more leading zeros than the integer.
                $place::first_high($word(self)).min(32) - (32 - Self::BITS)
            }

            /// The number of trailing zeros; the integer's width if it is 0.
            #[track_caller]
            pub fn trailing_zeros(self) -> $handle<u32> {
                if Self::BITS == 64 {
                    let [low, high] = self.words();
                    let above = $place::first_low(high).min(32) + 32;
                    return $place::first_low(low).min(above);
                }
                $place::first_low($word(self)).min(Self::BITS)
            }

            /// The bits in reverse order.
            #[track_caller]
            pub fn reverse_bits(self) -> Self {
                if Self::BITS == 64 {
                    let [low, high] = self.words();
                    return Self::of_words($place::reverse(high), $place::reverse(low));
                }
                Self::of_word($place::reverse($word(self)) >> (32 - Self::BITS))
            }

            /// The bytes in reverse order.
            #[track_caller]
            pub fn swap_bytes(self) -> Self {
                if Self::BITS == 64 {
                    let [low, high] = self.words();
                    return Self::of_words($place::swap_bytes(high), $place::swap_bytes(low));
                }
                if Self::BITS == 8 {
                    return self;
                }
                Self::of_word($place::swap_bytes($word(self)) >> (32 - Self::BITS))
            }

            #[track_caller]
            pub(in crate::lang) fn rotate_left_alike(self, n: $handle<u32>) -> Self {
                self.rotate_right(0u32 - n)
            }

            #[track_caller]
            pub(in crate::lang) fn rotate_right_alike(self, n: $handle<u32>) -> Self {
                if Self::BITS == 32 {
                    return Self::of_word($place::rotate_right($word(self), n));
                }
                let unsigned: $handle<T::Unsigned> = cast::<T::Unsigned, _>(self);
                let shift = |op, n: $handle<u32>| {
                    $handle::<T::Unsigned>::emit(Inst::Bin(op, unsigned.value, n.value), Location::caller())
                };
                let n = n & (Self::BITS - 1);
                let (down, up) = (shift(Bin::Shr, n), shift(Bin::Shl, (0u32 - n) & (Self::BITS - 1)));
                let both = $handle::<T::Unsigned>::emit(
                    Inst::Bin(Bin::Or, down.value, up.value),
                    Location::caller(),
                );
                Self::emit(Inst::Cast(both.value), Location::caller())
            }

            #[track_caller]
            pub(in crate::lang) fn mul_hi_alike(self, other: $handle<T>) -> Self {
                let (a, b) = (self, other);
                let loc = Location::caller();
                match Self::BITS {
                    32 => Self::emit(Inst::Bin(Bin::MulHi, a.value, b.value), loc),
                    64 => {
                        let wide = |x: Self| -> $handle<u64> { $handle::emit(Inst::Bitcast(x.value), loc) };
                        let product = $place::mul_hi_64(wide(a), wide(b));
                        let product = Self::emit(Inst::Bitcast(product.value), loc);
                        if !T::ELEM.is_signed() {
                            return product;
                        }
                        // The unsigned product treats a negative factor as a number that is larger by 2^64, so subtract
                        // the excess from the upper half.
                        product - (a.sign() & b) - (b.sign() & a)
                    }
                    bits => {
                        let word = Type {
                            elem: if T::ELEM.is_signed() { Elem::I32 } else { Elem::U32 },
                            ..Self::TYPE
                        };
                        let shift = $handle::<u32>::constant(u64::from(bits));
                        let value = with(|c| {
                            let [a, b] = [a, b].map(|x| c.value(Inst::Cast(x.value), word, loc));
                            let product = c.value(Inst::Bin(Bin::Mul, a, b), word, loc);
                            c.value(Inst::Bin(Bin::Shr, product, shift.value), word, loc)
                        });
                        Self::emit(Inst::Cast(value), loc)
                    }
                }
            }

            /// All bits set where the integer is negative, otherwise 0.
            #[track_caller]
            pub(in crate::lang) fn sign(self) -> Self {
                let places = $handle::<u32>::constant(u64::from(Self::BITS - 1));
                Self::emit(Inst::Bin(Bin::Shr, self.value, places.value), Location::caller())
            }

            #[track_caller]
            pub(in crate::lang) fn abs_diff_alike(self, other: $handle<T>) -> $handle<T::Unsigned> {
                cast::<T::Unsigned, _>(self.max(other) - self.min(other))
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_add_alike(self, other: $handle<T>) -> (Self, $handle<bool>) {
                let sum = self + other;
                if T::ELEM.is_signed() {
                    let zero = Self::constant(0);
                    return (sum, lt((self ^ sum) & (other ^ sum), zero));
                }
                (sum, lt(sum, self))
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_sub_alike(self, other: $handle<T>) -> (Self, $handle<bool>) {
                let difference = self - other;
                if T::ELEM.is_signed() {
                    let zero = Self::constant(0);
                    return (difference, lt((self ^ other) & (self ^ difference), zero));
                }
                (difference, lt(self, other))
            }

            #[track_caller]
            pub(in crate::lang) fn overflowing_mul_alike(self, other: $handle<T>) -> (Self, $handle<bool>) {
                let product = self * other;
                let beyond = if T::ELEM.is_signed() { product.sign() } else { Self::constant(0) };
                (product, ne(self.mul_hi(other), beyond))
            }

            /// The largest and the smallest value, as constants.
            pub(in crate::lang) fn range() -> [Self; 2] {
                use crate::ir::wave::{Spread, identity};
                [Bin::Min, Bin::Max].map(|op| Self::constant(identity(op, T::ELEM, Spread::Reduce)))
            }

            #[track_caller]
            pub(in crate::lang) fn choose(condition: $handle<bool>, a: Self, b: Self) -> Self {
                Self::emit(Inst::Select(condition.value, a.value, b.value), Location::caller())
            }

            /// Replaces a result that has overflowed by the nearer end of the range: for signed types the largest value
            /// if `up` is not negative, otherwise the smallest.
            #[track_caller]
            fn saturated(result: (Self, $handle<bool>), up: Self) -> Self {
                let [most, least] = Self::range();
                let end = if T::ELEM.is_signed() { up.sign() ^ most } else { least };
                Self::choose(result.1, end, result.0)
            }

            #[track_caller]
            pub(in crate::lang) fn saturating_add_alike(self, other: $handle<T>) -> Self {
                let (sum, over) = self.overflowing_add(other);
                if T::ELEM.is_signed() {
                    return Self::saturated((sum, over), self);
                }
                Self::choose(over, Self::range()[0], sum)
            }

            #[track_caller]
            pub(in crate::lang) fn saturating_sub_alike(self, other: $handle<T>) -> Self {
                Self::saturated(self.overflowing_sub(other), self)
            }

            #[track_caller]
            pub(in crate::lang) fn saturating_mul_alike(self, other: $handle<T>) -> Self {
                let (product, over) = self.overflowing_mul(other);
                if T::ELEM.is_signed() {
                    return Self::saturated((product, over), self ^ other);
                }
                Self::choose(over, Self::range()[0], product)
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_add_alike(self, other: $handle<T>) -> Self {
                self + other
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_sub_alike(self, other: $handle<T>) -> Self {
                self - other
            }

            #[track_caller]
            pub(in crate::lang) fn wrapping_mul_alike(self, other: $handle<T>) -> Self {
                self * other
            }

            /// `-self`; wraps around.
            #[track_caller]
            pub fn wrapping_neg(self) -> Self {
                -self
            }

            /// `self` to the power of `n`; wraps around. If `n` is known when the kernel is built, it is a sequence of
            /// multiplications, at most two for each bit of `n`, otherwise a loop over the bits of the greatest exponent.
            ///
            /// ```
            /// use gcn_dsl::prelude::*;
            /// gcn_kernel! {
            ///     #[workgroup(64)]
            ///     fn powers(n: &[u32], y: &mut [u32]) {
            ///         let i = global_id().x;
            ///         y[i] = 3u32.pow(n[i]) + i.pow(2);
            ///     }
            /// }
            /// let (n, mut y) = ((0..64).collect::<Vec<u32>>(), vec![0; 64]);
            /// powers.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&n, &mut y))?;
            /// assert!((0..64).all(|i| y[i as usize] == 3u32.wrapping_pow(i) + i * i));
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[track_caller]
            pub fn pow<N: Exponent<Self>>(self, n: N) -> N::Power {
                n.power_of(self)
            }

            /// True if exactly one bit is set.
            #[track_caller]
            pub fn is_power_of_two(self) -> $handle<bool> {
                crate::lang::eq(self.count_ones(), 1u32)
            }
        }
    };
}

methods!(V word_v varying);
methods!(S word_s uniform);
