//! Methods that Rust's numbers have: the same expression is compiled for the device and for the host, so the names are
//! also Rust's.

mod ascii;
mod floats;
mod integers;
mod table;

/// A result as 64 bits, so that one array can contain all results.
pub trait Word {
    fn word(self) -> u64;
}

macro_rules! words {
    ($($t:ident)*) => {$(
        impl Word for $t {
            fn word(self) -> u64 { self as u64 }
        }
    )*};
}
words! { bool u8 i8 u16 i16 u32 i32 u64 i64 }
