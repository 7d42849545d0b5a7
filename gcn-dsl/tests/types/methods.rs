//! Methods that Rust's numbers have: one expression for the device and for the host, so that the names are Rust's too.

mod floats;
mod integers;
mod table;

/// A result as 64 bits, so that one array holds all.
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
