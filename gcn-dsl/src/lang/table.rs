//! Elements of values in registers, and of tables of constants, by an index of the device.

use std::panic::Location;

use super::memory::LoadAt;
use super::{IntoDevice, S, V};
use crate::ir::Inst;
use crate::scalar::Scalar;

/// What a device index chooses among: host values, `S` and `V`.
#[diagnostic::on_unimplemented(
    message = "an index of the device chooses among numbers, not among values of type `{Self}`",
    label = "elements of this type have a place that is known when the kernel is built",
    note = "write `#[unroll] for`, whose variable is a host `usize`; or keep the parts in arrays of their own"
)]
pub trait Choice: Copy {
    /// The element type.
    type Elem: Scalar;
    /// The element at a uniform index.
    type Uniform: Copy;
    /// The element, in each lane.
    fn varying(self) -> V<Self::Elem>;
    /// The element as it is at a uniform index.
    fn uniform(self) -> Self::Uniform;
    /// `a` where bit `bit` of `i` is clear, else `b`.
    fn choose(i: S<u32>, bit: u32, a: Self::Uniform, b: Self::Uniform) -> Self::Uniform;
    /// Something to go on with after an error.
    fn placeholder() -> Self::Uniform;
}

#[track_caller]
fn is_set(i: V<u32>, bit: u32) -> V<bool> {
    super::ne(i & (1 << bit), 0)
}

impl<T: Scalar> Choice for V<T> {
    type Elem = T;
    type Uniform = V<T>;
    fn varying(self) -> V<T> {
        self
    }
    fn uniform(self) -> V<T> {
        self
    }
    #[track_caller]
    fn choose(i: S<u32>, bit: u32, a: V<T>, b: V<T>) -> V<T> {
        let condition = is_set(i.into_device(), bit);
        V::emit(Inst::Select(condition.value, b.value, a.value), Location::caller())
    }
    #[track_caller]
    fn placeholder() -> V<T> {
        V::emit(Inst::Const(0), Location::caller())
    }
}

macro_rules! uniform_choices {
    ($([$($generics:tt)*] $a:ty, $t:ty;)*) => {$(
        impl<$($generics)*> Choice for $a {
            type Elem = $t;
            type Uniform = S<$t>;
            #[track_caller]
            fn varying(self) -> V<$t> {
                self.into_device()
            }
            fn uniform(self) -> S<$t> {
                self.into_device()
            }
            #[track_caller]
            fn choose(i: S<u32>, bit: u32, a: S<$t>, b: S<$t>) -> S<$t> {
                let condition = super::ne(i & (1 << bit), 0);
                S::emit(Inst::Select(condition.value, b.value, a.value), Location::caller())
            }
            #[track_caller]
            fn placeholder() -> S<$t> {
                S::emit(Inst::Const(0), Location::caller())
            }
        }
    )*};
}
uniform_choices! {
    [T: Scalar] S<T>, T;
    [] bool, bool; [] i8, i8; [] u8, u8; [] i16, i16; [] u16, u16; [] i32, i32; [] u32, u32; [] i64, i64; [] u64, u64;
    [] half::f16, half::f16; [] half::bf16, half::bf16; [] f32, f32; [] f64, f64;
}

/// Halves the choices by one bit of the index after the other, lowest first.
#[track_caller]
fn chosen<X: Copy>(
    mut choices: Vec<X>,
    what: &str,
    placeholder: impl Fn() -> X,
    pick: impl Fn(u32, X, X) -> X,
) -> X {
    let loc = Location::caller();
    const MOST: usize = 256;
    if choices.is_empty() || choices.len() > MOST {
        let len = choices.len();
        super::with(|c| {
            let message = format!(
                "{what} of {len} elements cannot be indexed by a value of the device: it is a choice among 1 to {MOST} values in \
                 registers; pass the table to the kernel as `&[T]`"
            );
            c.fail(loc, message);
        });
        return placeholder();
    }
    let mut bit = 0;
    while choices.len() > 1 {
        choices =
            choices.chunks(2).map(|pair| pair.get(1).map_or(pair[0], |b| pick(bit, pair[0], *b))).collect();
        bit += 1;
    }
    choices[0]
}

macro_rules! indexed {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        impl<X: Choice, $($generics)*> LoadAt<V<u32>> for $list {
            type Output = V<X::Elem>;
            #[track_caller]
            fn load_at(&self, i: V<u32>) -> V<X::Elem> {
                let loc = Location::caller();
                let varying: Vec<V<X::Elem>> = self.iter().map(|x| x.varying()).collect();
                chosen(varying, "an array", || V::emit(Inst::Const(0), loc), |bit, a, b| V::emit(Inst::Select(is_set(i, bit).value, b.value, a.value), loc))
            }
        }
        impl<X: Choice, $($generics)*> LoadAt<S<u32>> for $list {
            type Output = X::Uniform;
            #[track_caller]
            fn load_at(&self, i: S<u32>) -> X::Uniform {
                let uniform: Vec<X::Uniform> = self.iter().map(|x| x.uniform()).collect();
                chosen(uniform, "an array", X::placeholder, |bit, a, b| X::choose(i, bit, a, b))
            }
        }
    )*};
}
indexed! { [const N: usize] [X; N]; [] [X]; [] Vec<X>; }

impl<A: LoadAt<I> + ?Sized, I> LoadAt<I> for &A {
    type Output = A::Output;
    #[track_caller]
    fn load_at(&self, i: I) -> A::Output {
        (**self).load_at(i)
    }
}
