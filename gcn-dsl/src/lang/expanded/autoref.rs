//! The expansion of a method call `x.method(…)` on a variable. Another macro invocation may define the method, so only
//! rustc knows whether it takes `&mut self`. The method gets a copy of the value, which is written back if the method
//! borrowed it mutably.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

use crate::ir::Variable;
use crate::lang::values::data::{AssignIn, Flatten};
use crate::lang::values::data::{read_all, write_all};
use crate::lang::values::literal::{LiteralsOfNumbers, Receiver};
use crate::lang::values::variable::Var;
use crate::lang::{LanePtr, Ptr, S, Stored, V, Vector};
use crate::scalar::{Number, Scalar};

/// A variable of type `X` declared in flow `F`, or a part of one, on which a method is called.
#[derive(Debug)]
pub struct CalledOn<X, F> {
    leaves: Vec<Variable>,
    types: PhantomData<(X, F)>,
}

impl<X: Flatten, F> Var<X, F> {
    /// The expansion of `x` in `x.method(…)`.
    pub fn called_on(&self) -> CalledOn<X, F> {
        CalledOn { leaves: self.leaves().to_vec(), types: PhantomData }
    }

    /// The expansion of `x.part` in `x.part.method(…)`.
    pub fn part_called_on<P: Flatten>(&self, part: impl FnOnce(&mut X) -> &mut P) -> CalledOn<P, F> {
        CalledOn { leaves: self.leaves_of(part), types: PhantomData }
    }
}

impl<X: Flatten, F> CalledOn<X, F> {
    #[track_caller]
    fn get(&self) -> X {
        X::unflatten(&mut read_all(&self.leaves, Location::caller()).into_iter())
    }
}

/// Types whose values no method changes. Method lookup finds this before [`HoldOther`].
pub trait HoldNumber<X> {
    /// Reads the value for a method call.
    fn hold<G>(&self, flow: &G) -> Unchanged<X>;
}
macro_rules! numbers {
    ($([$($generics:tt)*] $ty:ty;)*) => {$(
        impl<$($generics)*, F> HoldNumber<$ty> for &CalledOn<$ty, F> {
            #[track_caller]
            fn hold<G>(&self, _flow: &G) -> Unchanged<$ty> {
                Unchanged(self.get())
            }
        }
    )*};
}
numbers! {
    [T: Scalar] S<T>; [T: Scalar] V<T>; [T: Number, const N: usize] Vector<T, N>; [T: Stored, A] Ptr<T, A>; [T: Stored, A] LanePtr<T, A>;
}

/// Structs and other types, whose methods may change them.
pub trait HoldOther<X, F> {
    /// The value for a call in flow `G`.
    fn hold<G, W>(&self, flow: &G) -> Held<X, F, G, W>;
}
impl<X: Flatten, F> HoldOther<X, F> for CalledOn<X, F> {
    #[track_caller]
    fn hold<G, W>(&self, _flow: &G) -> Held<X, F, G, W> {
        let (value, leaves) = (self.get(), self.leaves.clone());
        Held { value, leaves, changed: false, types: PhantomData }
    }
}

/// A copy of the value of a variable declared in flow `F`, for a method call in flow `G`. A method with `&mut self` may
/// change the value if the variable may be assigned there; a uniform field may be assigned only where all lanes are
/// active that were active at the variable's declaration.
///
/// `W` is not determined until [`Held::end`] makes it [`ByMethod`]. Therefore rustc first accepts a method with `&mut
/// self`, and afterwards reports the violated rule if [`ChangesIn`] is not implemented. If it could decide the
/// condition at once, it would only report that this type lacks `DerefMut`.
#[derive(Debug)]
pub struct Held<X, F, G, W> {
    value: X,
    leaves: Vec<Variable>,
    changed: bool,
    types: PhantomData<(F, G, W)>,
}

/// The only type that `W` can be, which stands for a method that changes the value.
#[derive(Debug)]
pub struct ByMethod;

/// Implemented if an `X` declared in flow `F` may be changed in flow `G`.
pub trait ChangesIn<X, F, G> {}
impl<X: AssignIn<F, G>, F, G> ChangesIn<X, F, G> for ByMethod {}

impl<X, F, G, W> Deref for Held<X, F, G, W> {
    type Target = X;
    fn deref(&self) -> &X {
        &self.value
    }
}
impl<X, F, G, W: ChangesIn<X, F, G>> DerefMut for Held<X, F, G, W> {
    fn deref_mut(&mut self) -> &mut X {
        self.changed = true;
        &mut self.value
    }
}
impl<X, F, G, W> Held<X, F, G, W> {
    /// The receiver of the method.
    pub fn it(&mut self) -> &mut Self {
        self
    }
}
impl<X: Flatten, F, G> Held<X, F, G, ByMethod> {
    /// Called after the method: writes the value back if it was borrowed mutably.
    #[track_caller]
    pub fn end(self) {
        if self.changed {
            let mut values = Vec::new();
            self.value.flatten(&mut values);
            write_all(&self.leaves, values, Location::caller());
        }
    }
}

/// A value that no method changes.
#[derive(Debug)]
pub struct Unchanged<X>(X);
impl<T> LiteralsOfNumbers for Receiver<'_, Unchanged<S<T>>> {}
impl<T> LiteralsOfNumbers for Receiver<'_, Unchanged<V<T>>> {}
impl<X: Copy> Unchanged<X> {
    /// The receiver of the method.
    pub fn it(&mut self) -> X {
        self.0
    }
    /// Called after the method; there is nothing to write back.
    pub fn end(self) {}
}
