//! Host numbers. Their operators are evaluated when the kernel is built.

use crate::ir::Bin;

/// Number types of the host. Expressions of such numbers and literals are evaluated on the host.
pub trait HostNumber: Copy {
    /// Computes `self op right`. For floats `op` is arithmetic only.
    fn apply(self, op: Bin, right: Self) -> Self;
}

/// Types that can be passed for a parameter of the host: `k: usize` of a device function, or `#[host] n: u32`.
#[diagnostic::on_unimplemented(
    message = "this parameter is a `{T}` of the host, known when the kernel is built; the argument is a `{Self}`",
    label = "expected a `{T}` of the host, found `{Self}`",
    note = "the variable of `#[unroll] for k in 0..4` is a number of the host, as constants are; a parameter for numbers of the device is declared as `k: u32` or `k: V<u32>`",
    note = "between numbers of the host convert with `as`"
)]
pub trait KnownNumber<T> {
    /// The number.
    fn number(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T> KnownNumber<T> for T {
    fn number(self) -> T {
        self
    }
}

/// The argument as a number of the host.
pub fn known<T, N: KnownNumber<T>>(argument: N) -> T {
    argument.number()
}

/// Integer types of the host.
pub trait HostInteger: HostNumber {
    /// Computes `self << n` or `self >> n`.
    fn shift(self, op: Bin, n: u32) -> Self;
    /// Converts the number to a shift count.
    fn count(self) -> u32;
}

macro_rules! host_numbers {
    (@bits $a:ident $op:ident $b:ident integer) => {
        match $op {
            Bin::And => $a & $b,
            Bin::Or => $a | $b,
            _ => $a ^ $b,
        }
    };
    (@bits $a:ident $op:ident $b:ident float) => { unreachable!("{:?} is an operator of integers", $op) };
    ($kind:tt $($t:ident)*) => {$(
        impl HostNumber for $t {
            fn apply(self, op: Bin, right: $t) -> $t {
                match op {
                    Bin::Add => self + right,
                    Bin::Sub => self - right,
                    Bin::Mul => self * right,
                    Bin::Div => self / right,
                    Bin::Rem => self % right,
                    op => host_numbers!(@bits self op right $kind),
                }
            }
        }
    )*};
}
host_numbers!(integer i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize);
host_numbers!(float f32 f64);

for_each_type!(N in [i8, u8, i16, u16, i32, u32, i64, u64, i128, u128, isize, usize] {
    impl HostInteger for N {
        fn shift(self, op: Bin, n: u32) -> N {
            if op == Bin::Shl { self << n } else { self >> n }
        }
        fn count(self) -> u32 {
            self as u32
        }
    }
});
