//! `#[device] fn`: functions that are inlined at each call.

use std::marker::PhantomData;
use std::panic::Location;

use gcn_isa::Target;

use crate::ir::{Value, Variable};
use crate::lang::matrix::AnyTarget;
use crate::lang::values::data::{AssignIn, Declare, Flatten};
use crate::lang::values::flow::Convergent;
use crate::lang::values::flow::{EveryLane, Flow, SameScope, WholeWorkgroup};
use crate::lang::values::variable::Var;
use crate::lang::{IntoDevice, S, with};

/// The flow in a device function that does not take an [`AllLanes`] token: the lanes that are active at the call are
/// active in the function, but the type does not say which they are.
#[derive(Debug, Clone, Copy)]
pub struct Called<By>(PhantomData<By>);

/// Stands for the unknown caller of a device function without a token.
#[derive(Debug, Clone, Copy)]
pub struct Anyone(());

impl Called<Anyone> {
    /// The flow of a device function's body.
    #[allow(clippy::new_without_default, reason = "made by the macro only")]
    pub fn new() -> Self {
        Called(PhantomData)
    }
}

impl<By: Copy> Flow for Called<By> {
    type Lanes = Self;
    type Scope = Self;
    fn token() -> Self {
        Called(PhantomData)
    }
}

/// Callers of a device function that have proved, by a token, that all lanes are active.
#[diagnostic::on_unimplemented(
    message = "all lanes must run here, and a device function does not know which lanes its caller runs",
    label = "needs all lanes",
    note = "take the token: `#[device] fn f(all: AllLanes, …)`, called as `f(all_lanes(), …)`, which compiles only where all lanes run"
)]
pub trait PromisesAllLanes {}

impl<By: PromisesAllLanes> EveryLane for Called<By> {}

/// The flow in a closure's body, whose callers are unknown.
#[derive(Debug, Clone, Copy)]
pub struct InClosure<By>(PhantomData<By>);

impl InClosure<Anyone> {
    /// The flow of a closure's body.
    #[allow(clippy::new_without_default, reason = "made by the macro only")]
    pub fn new() -> Self {
        InClosure(PhantomData)
    }
}

impl<By: Copy> Flow for InClosure<By> {
    type Lanes = Self;
    type Scope = Self;
    fn token() -> Self {
        InClosure(PhantomData)
    }
}

/// Callers of a closure that guarantee that all lanes are active. No type implements this.
#[diagnostic::on_unimplemented(
    message = "a function that all lanes must call is not available in a closure, for the closure may be called where other lanes run; call it outside",
    label = "needs all lanes"
)]
pub trait RunsForAll {}

impl<By: RunsForAll> EveryLane for InClosure<By> {}

/// A token that proves that all lanes of the workgroup are active. [`all_lanes()`](all_lanes) creates it. A `#[device]
/// fn` with a parameter of this type may call `barrier()` and `mfma()`.
///
/// The token has no data and is allowed only as the argument of a call. Inside the function, `all_lanes()` or the
/// parameter's name gives the token for the next call.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// The sum of `x` over the 256 work-items of the workgroup, in each of them.
///     #[device]
///     fn block_sum(all: AllLanes, x: V<f32>) -> V<f32> {
///         let parts = Lds::<f32, 256>::new();
///         parts[local_id().x] = x;
///         barrier();
///         let mut sum: V<f32> = 0.0;
///         for i in 0..256u32 {
///             sum += parts[i];
///         }
///         sum
///     }
///
///     #[workgroup(256)]
///     fn sums(x: &[f32], y: &mut [f32]) {
///         let i = global_id().x;
///         y[i] = block_sum(all_lanes(), x[i]);
///     }
/// }
/// let (x, mut y) = (vec![0.5; 512], vec![0.0; 512]);
/// sums.launch(&Device::simulator(Target::GFX90A), Grid::x(2), (&x, &mut y))?;
/// assert!(y.iter().all(|y| *y == 128.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `AllLanes<T>` names the caller's targets `T`. A matrix instruction that not all of them have is a compile error in
/// the function, unless a bound such as [`HasMfmaF8`](crate::lang::HasMfmaF8) requires it; rustc then checks the bound
/// at the call.
#[derive(Debug)]
pub struct AllLanes<T = AnyTarget> {
    divergence: u32,
    targets: PhantomData<T>,
}

/// The token that proves that all lanes are active. It can be created only where they are, and only as the argument of
/// a call.
pub fn all_lanes() -> AllLanesHere {
    AllLanesHere(())
}

/// The result of [`all_lanes()`](all_lanes). As an argument in a kernel it becomes an [`AllLanes`] with the kernel's
/// targets.
#[derive(Debug)]
#[must_use = "it is the argument of a call"]
pub struct AllLanesHere(());

impl<T> AllLanes<T> {
    /// Creates the token. The caller has made rustc check that all lanes are active.
    pub(in crate::lang) fn here() -> AllLanes<T> {
        AllLanes { divergence: with(|c| c.builder.divergence()), targets: PhantomData }
    }

    /// The flow in a device function that takes the token.
    #[track_caller]
    pub fn flow(self) -> WholeWorkgroup {
        let loc = Location::caller();
        // The macro allows the token only in calls, but a host function could still have passed it to code with another
        // divergence.
        with(|c| {
            if c.builder.divergence() != self.divergence {
                let message =
                    "this `AllLanes` was made where other lanes run; write `all_lanes()` in the call itself";
                c.fail(loc, message.to_owned());
            }
        });
        WholeWorkgroup::new()
    }
}

/// A device variable of type `X` that a device function may write: the expansion of `&mut x` in a call.
#[derive(Debug)]
pub struct Lent<'a, X> {
    leaves: Vec<Variable>,
    types: PhantomData<&'a mut X>,
}

impl<X: Flatten, F> Var<X, F> {
    /// The expansion of `&mut x` in a call. The function may assign to the variable if the caller may.
    pub fn lend<G: Flow>(&mut self, _flow: &G) -> Lent<'_, X>
    where
        X: AssignIn<F, G>,
    {
        Lent { leaves: self.leaves().to_vec(), types: PhantomData }
    }

    /// The expansion of `&mut x.part` in a call: the function may assign to this part. The macro checks that no part is
    /// lent twice in one call.
    pub fn lend_part<G: Flow, P>(&self, _flow: &G, part: impl FnOnce(&mut X) -> &mut P) -> Lent<'_, P>
    where
        P: Flatten + AssignIn<F, G>,
    {
        Lent { leaves: self.leaves_of(part), types: PhantomData }
    }

    /// The IR variables that represent a part of `x`.
    pub(in crate::lang) fn leaves_of<P: Flatten>(
        &self,
        part: impl FnOnce(&mut X) -> &mut P,
    ) -> Vec<Variable> {
        // Build an `X` from the numbers 0, 1, … instead of IR values; the numbers found in the part are the indices of
        // its leaves.
        let mut whole = X::unflatten(&mut (0..).map(Value));
        let mut numbers = Vec::new();
        part(&mut whole).flatten(&mut numbers);
        numbers.iter().map(|n| self.leaves()[n.0 as usize]).collect()
    }
}

impl<X: Flatten> Lent<'_, X> {
    /// The variable as the function sees it: it counts as declared at the function's start.
    pub fn enter<F: Flow>(self, _flow: &F) -> Var<X, FromCaller<F>> {
        Var::of(self.leaves)
    }
}

/// Types that can be passed for a parameter `d: &mut M` of a device function, where `M` is an array in LDS or private
/// memory: `&mut d`, where `d` is such an array or a field that is one.
#[diagnostic::on_unimplemented(
    message = "this parameter takes a `&mut {M}`",
    label = "not a `&mut {M}`",
    note = "the array is declared in the kernel, `let d = …`, and lent, `&mut d`"
)]
pub trait LendsMemory<M> {
    /// The array.
    fn memory(self) -> M;
}
impl<M: Copy> LendsMemory<M> for &M {
    fn memory(self) -> M {
        *self
    }
}
impl<M: Flatten> LendsMemory<M> for Lent<'_, M> {
    #[track_caller]
    fn memory(self) -> M {
        Var::<M, ()>::of(self.leaves).get()
    }
}

/// `self` in a device method with `&mut self`: a variable whose final value the method returns to the caller.
#[track_caller]
pub fn mutable_self<X: Flatten + Declare<Value = X>, F: Flow>(_flow: &F, value: X) -> Var<X, FromCaller<F>> {
    let declared: Var<X, F> = Var::declare(&F::token(), value);
    Var::of(declared.leaves().to_vec())
}

/// Types whose values a method of a `#[device] trait` with `&mut self` can change. The trait's provided methods, and
/// device functions that are generic over the trait, know this about `Self`. They change the value only where the same
/// lanes are active as at their start.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value of the device, and a method of the trait takes `&mut self`",
    label = "not a value that a kernel changes",
    note = "a `#[device] struct` is one; types of the host implement traits whose methods take `self` or `&self`"
)]
pub trait Changeable:
    Flatten + Declare<Value = Self> + IntoDevice<Self> + AssignIn<FromCaller<Called<Anyone>>, Called<Anyone>>
{
}

impl<X> Changeable for X where
    X: Flatten + Declare<Value = X> + IntoDevice<X> + AssignIn<FromCaller<Called<Anyone>>, Called<Anyone>>
{
}

/// The flow in which a lent variable counts as declared, for a function with flow `F`. It is outside of the function,
/// because lanes that return still read the variable afterwards.
#[derive(Debug, Clone, Copy)]
pub struct FromCaller<F>(PhantomData<F>);

impl<F: Convergent> Convergent for FromCaller<F> {}

impl<T, F: Flow, G: Flow> AssignIn<FromCaller<F>, G> for S<T> where G::Lanes: SameScope<F::Lanes> {}

/// A number with element type `T` on the device, uniform or varying. As a bound, it makes a device function accept both
/// and return the same kind.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Uniform for a uniform `x`.
///     #[device]
///     fn cube<X: Numeric<f32>>(x: X) -> X {
///         x * x * x
///     }
///
///     #[workgroup(64)]
///     fn k(a: f32, x: &mut [f32]) {
///         let scale: f32 = cube(a);
///         let i = global_id().x;
///         x[i] = scale * cube(x[i]);
///     }
/// }
/// # k.build(Target::GFX942).unwrap();
/// ```
pub trait Numeric<T>:
    Flatten
    + Declare<Value = Self>
    + crate::lang::IntoDevice<Self>
    + crate::lang::IntoDevice<crate::lang::V<T>>
    + AssignIn<Called<Anyone>, Called<Anyone>>
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::Add<T, Output = Self>
    + std::ops::Sub<T, Output = Self>
    + std::ops::Mul<T, Output = Self>
{
}

impl<T, X> Numeric<T> for X where
    X: Flatten
        + Declare<Value = Self>
        + crate::lang::IntoDevice<Self>
        + crate::lang::IntoDevice<crate::lang::V<T>>
        + AssignIn<Called<Anyone>, Called<Anyone>>
        + std::ops::Add<Output = Self>
        + std::ops::Sub<Output = Self>
        + std::ops::Mul<Output = Self>
        + std::ops::Neg<Output = Self>
        + std::ops::Add<T, Output = Self>
        + std::ops::Sub<T, Output = Self>
        + std::ops::Mul<T, Output = Self>
{
}

/// The target that the kernel is being built for. This is a host value, for example for `comptime if`.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     #[workgroup(64)]
///     fn k(x: &mut [u32]) {
///         let wide = comptime { target().has_unified_agprs() };
///         comptime if wide { x[global_id().x] = 1; } else { x[global_id().x] = 0; }
///     }
/// }
/// # k.build(Target::GFX942).unwrap();
/// ```
pub fn target() -> Target {
    with(|c| c.target)
}
