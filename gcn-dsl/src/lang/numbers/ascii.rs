//! The methods of `u8` that classify ASCII characters and change their case, as Rust defines them.

use crate::lang::{S, V, and, cast, eq, le, lt, or};

macro_rules! methods {
    ($handle:ident) => {
        impl $handle<u8> {
            /// True from `first` to `last`: a difference that wraps around is greater than every length.
            #[track_caller]
            fn is_from(self, first: u8, last: u8) -> $handle<bool> {
                le(cast::<u32, _>(self) - u32::from(first), u32::from(last - first))
            }

            /// A letter in lower case. No other character becomes a letter.
            #[track_caller]
            fn letter(self) -> Self {
                self | 0x20
            }

            /// True if the value is an ASCII character, below 128.
            #[track_caller]
            pub fn is_ascii(self) -> $handle<bool> {
                lt(self, 128)
            }

            /// True for `0` to `9`.
            ///
            /// ```
            /// use gcn_dsl::prelude::*;
            /// gcn_kernel! {
            ///     /// The digits' values; other characters stay.
            ///     #[workgroup(64)]
            ///     fn digits(text: &[u8], out: &mut [u8]) {
            ///         let c = text[global_id().x];
            ///         out[global_id().x] = if c.is_ascii_digit() { c - b'0' } else { c.to_ascii_uppercase() };
            ///     }
            /// }
            /// let mut out = [0; 4];
            /// digits.launch(&Device::simulator(Target::GFX942), Grid::x(1), (b"7x9?", &mut out))?;
            /// assert_eq!(out, [7, b'X', 9, b'?']);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[track_caller]
            pub fn is_ascii_digit(self) -> $handle<bool> {
                self.is_from(b'0', b'9')
            }

            /// True for `0` to `9`, `A` to `F` and `a` to `f`.
            #[track_caller]
            pub fn is_ascii_hexdigit(self) -> $handle<bool> {
                or(self.is_ascii_digit(), self.letter().is_from(b'a', b'f'))
            }

            /// True for `A` to `Z` and `a` to `z`.
            #[track_caller]
            pub fn is_ascii_alphabetic(self) -> $handle<bool> {
                self.letter().is_from(b'a', b'z')
            }

            /// True for a letter or a digit.
            #[track_caller]
            pub fn is_ascii_alphanumeric(self) -> $handle<bool> {
                or(self.is_ascii_alphabetic(), self.is_ascii_digit())
            }

            /// True for `A` to `Z`.
            #[track_caller]
            pub fn is_ascii_uppercase(self) -> $handle<bool> {
                self.is_from(b'A', b'Z')
            }

            /// True for `a` to `z`.
            #[track_caller]
            pub fn is_ascii_lowercase(self) -> $handle<bool> {
                self.is_from(b'a', b'z')
            }

            /// True for a character that is visible: `!` to `~`.
            #[track_caller]
            pub fn is_ascii_graphic(self) -> $handle<bool> {
                self.is_from(b'!', b'~')
            }

            /// True for a visible character that is neither a letter nor a digit.
            #[track_caller]
            pub fn is_ascii_punctuation(self) -> $handle<bool> {
                and(self.is_ascii_graphic(), !self.is_ascii_alphanumeric())
            }

            /// True for a space, a tab, a line feed, a form feed and a carriage return.
            #[track_caller]
            pub fn is_ascii_whitespace(self) -> $handle<bool> {
                let [tab, feed] = [self.is_from(b'\t', b'\n'), self.is_from(0x0c, b'\r')];
                or(eq(self, b' '), or(tab, feed))
            }

            /// True for a control character: below 32, or 127.
            #[track_caller]
            pub fn is_ascii_control(self) -> $handle<bool> {
                or(lt(self, 32), eq(self, 127))
            }

            /// `a` to `z` become `A` to `Z`; other values stay.
            #[track_caller]
            pub fn to_ascii_uppercase(self) -> Self {
                self ^ (cast::<u8, _>(self.is_ascii_lowercase()) << 5)
            }

            /// `A` to `Z` become `a` to `z`; other values stay.
            #[track_caller]
            pub fn to_ascii_lowercase(self) -> Self {
                self ^ (cast::<u8, _>(self.is_ascii_uppercase()) << 5)
            }
        }
    };
}

methods!(V);
methods!(S);
