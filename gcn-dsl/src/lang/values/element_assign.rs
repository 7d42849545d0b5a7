//! Assignments to elements of arrays in variables: `a[i] = x`, `a[i][k] = x`, `a[i].x = y`. A host index selects
//! registers. For a device index, each element is compared with the index and is replaced or kept.

use std::panic::Location;

use super::data::is_memory;
use super::data::{AssignIn, Flatten};
use super::variable::Here;
use crate::ir::{Inst, Place, Pred, Type, Value};
use crate::lang::context::source;
use crate::lang::values::constant::within;
use crate::lang::{IntoDevice, S, V, with};
use crate::scalar::Elem;

/// Arrays with assignable elements, together with their index type: arrays of values are indexed by `usize`, `u32` or a
/// device value, memory by its own index types.
#[diagnostic::on_unimplemented(
    message = "an element of `{Self}` cannot be assigned at an index of type `{I}`",
    label = "cannot be indexed by `{I}`",
    note = "an index is a `u32`, `S<u32>` or `V<u32>`, and for values in registers also a `usize`: convert with `as u32`",
    note = "through a pointer in a field or an array numbers are written; for a part of a struct take it, `let p = a[k]; p[i].x = y`"
)]
pub trait HasElements<I> {
    /// The element type.
    type Element;
    /// Changes element `i` by calling `f` on it.
    fn change_at(&mut self, i: I, f: impl Fn(&mut Self::Element));
}

/// The expansion of an assignment to a part of `array[i]`.
#[track_caller]
pub fn at<A: HasElements<I>, I>(array: &mut A, i: I, f: impl Fn(&mut A::Element)) {
    array.change_at(i, f);
}

/// The expansion of an assignment to a part of a variable.
#[track_caller]
pub fn put<P: AssignIn<F, G>, F, G, E: IntoDevice<P>>(part: &mut P, e: E, _here: Here<F, G>) {
    *part = e.into_device();
}

impl<X, const N: usize> HasElements<usize> for [X; N] {
    type Element = X;
    #[track_caller]
    fn change_at(&mut self, i: usize, f: impl Fn(&mut X)) {
        let i = within(i, N, "element", || format!("an array of {N}"));
        f(&mut self[i]);
    }
}

macro_rules! by_device {
    ($($handle:ident)*) => {$(
        impl<X: Flatten, const N: usize> HasElements<$handle<u32>> for [X; N] {
            type Element = X;
            #[track_caller]
            fn change_at(&mut self, i: $handle<u32>, f: impl Fn(&mut X)) {
                if let Some(known) = with(|c| c.builder.as_const(i.value)) {
                    return self.change_at(known as usize, f);
                }
                let loc = Location::caller();
                with(|c| c.choosing += 1);
                for (k, element) in self.iter_mut().enumerate() {
                    let mut new = *element;
                    f(&mut new);
                    *element = changed_where(i.value, k as u32, new, *element, loc);
                }
                with(|c| c.choosing -= 1);
            }
        }
    )*};
}
by_device!(S V);

/// `new` if the index `i` equals `k`, otherwise `old`.
fn changed_where<X: Flatten>(i: Value, k: u32, new: X, old: X, loc: &'static Location<'static>) -> X {
    let (mut news, mut olds) = (Vec::new(), Vec::new());
    new.flatten(&mut news);
    old.flatten(&mut olds);
    X::unflatten(&mut chosen(i, k, &news, &olds, loc).into_iter())
}

fn chosen(i: Value, k: u32, news: &[Value], olds: &[Value], loc: &'static Location<'static>) -> Vec<Value> {
    with(|c| {
        let place = c.builder.kernel().ty(i).place;
        c.builder.indexed(source(loc));
        let k = c.builder.constant(k.into(), Type { place, elem: Elem::U32, count: 1 });
        let condition = |place| Type { place, elem: Elem::Bool, count: 1 };
        let is = c.value(Inst::Cmp(Pred::Eq, i, k), condition(place), loc);
        let mut list = Vec::new();
        for (new, old) in news.iter().zip(olds) {
            if new == old || is_memory(*new) {
                list.push(*old);
                continue;
            }
            let is = match (place, c.builder.kernel().ty(*old).place) {
                (Place::Uniform, Place::Uniform) | (Place::Varying, Place::Varying) => is,
                (Place::Uniform, _) => c.value(Inst::Splat(is), condition(Place::Varying), loc),
                _ => {
                    let what = "an element that is one value for all lanes is assigned at an index that varies: declare the elements as \
                                `V`, `[V<f32>; 4]`";
                    c.fail(loc, what.to_owned());
                    return olds.to_vec();
                }
            };
            list.push(c.choose(is, *new, *old, loc));
        }
        list
    })
}

/// Selects element `i` of a list of structs. `#[device] struct` implements [`Choice`](crate::lang::Choice) with this
/// function.
#[track_caller]
pub fn element_of<X: Flatten>(list: &[X], i: impl Flatten) -> X {
    let loc = Location::caller();
    let mut number = Vec::new();
    i.flatten(&mut number);
    let i = crate::lang::next_value(&mut number.into_iter());
    let mut leaves = Vec::new();
    for (k, element) in list.iter().enumerate() {
        let mut own = Vec::new();
        element.flatten(&mut own);
        if own.iter().zip(&leaves).any(|(own, other)| is_memory(*own) && own != other) {
            let what = "an index of the device chooses among values, and these structs hold different memory: keep the memory outside of \
                        them, or take it from one array at `i * N + k`";
            with(|c| c.fail(loc, what.to_owned()));
        }
        leaves = if k == 0 { own } else { chosen(i, k as u32, &own, &leaves, loc) };
    }
    X::unflatten(&mut leaves.into_iter())
}
