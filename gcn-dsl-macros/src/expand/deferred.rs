//! `let x;`: checks that the variable is assigned on every path before it is read, and expands its assignments.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use super::{Cx, Kind, lang};

/// The dataflow state at the current point. A variable is identified by its index in the list of names in scope, so
/// variables of the same name in nested blocks are different.
#[derive(Clone, Default)]
pub(crate) struct Deferred {
    /// The variables that are assigned on every path.
    assigned: HashSet<usize>,
    /// The variables that are assigned on some path, each with the name as written in its first assignment.
    begun: HashMap<usize, Ident>,
    declared: HashMap<usize, Declared>,
    /// True if the current point is unreachable.
    left: bool,
}

#[derive(Clone)]
struct Declared {
    mutable: bool,
    /// The type annotation.
    ty: Option<syn::Type>,
}

impl Deferred {
    /// The lattice meet of the states of two paths.
    pub(super) fn meet(self, other: Deferred) -> Deferred {
        match (self.left, other.left) {
            // A path whose end is unreachable contributes nothing.
            (true, false) => other,
            (false, true) => self,
            (left, _) => Deferred {
                // "Assigned on every path" is an intersection, "assigned on some path" a union.
                assigned: self.assigned.intersection(&other.assigned).copied().collect(),
                begun: self.begun.into_iter().chain(other.begun).collect(),
                declared: self.declared,
                left,
            },
        }
    }

    /// The meet of the states of all `ways`; unreachable if there are none.
    fn meeting(ways: impl IntoIterator<Item = Deferred>) -> Deferred {
        ways.into_iter().reduce(Deferred::meet).unwrap_or(Deferred { left: true, ..Deferred::default() })
    }
}

impl Cx<'_> {
    /// The expansion of `let name;` or `let name: ty;`.
    pub fn defer(&mut self, name: &Ident, ty: Option<syn::Type>, mutable: bool, span: Span) -> TokenStream {
        self.declare_as(name, Kind::Deferred);
        let key = self.names.len() - 1;
        // A variable of an ended scope may have had the same index.
        self.deferred.assigned.remove(&key);
        self.deferred.begun.remove(&key);
        self.deferred.declared.insert(key, Declared { mutable, ty });
        let flow = self.flow(span);
        // In the expansion, `mut` is needed only for a mutable borrow, not for assignments.
        let mutable = mutable.then(|| quote_spanned!(span=> #[allow(unused_mut)]));
        let token = mutable.is_some().then(|| syn::Token![mut](span));
        quote_spanned!(span=> #mutable let #token #name = ::gcn_dsl::__private::Var::deferred(&#flow);)
    }

    /// The index of this variable, if it was declared without a value.
    fn deferred_key(&self, name: &Ident) -> Option<usize> {
        let name = name.to_string();
        let key = self.names.iter().rposition(|n| name == n.text)?;
        (self.names[key].kind == Kind::Deferred).then_some(key)
    }

    fn declared(&self, name: &Ident) -> Option<&Declared> {
        self.deferred.declared.get(&self.deferred_key(name)?)
    }

    /// The expansion of `name = value` for a variable that was declared without a value.
    pub fn assign_deferred(&mut self, name: &Ident, value: TokenStream, span: Span) -> TokenStream {
        if let Some(key) = self.deferred_key(name) {
            self.begin(key, name);
        }
        let ty = self.declared(name).and_then(|declared| declared.ty.as_ref());
        // As in a `let` with a value, literals take the annotated type, and uniform values are converted to a varying
        // one.
        let value = ty.map_or(value.clone(), |ty| self.written(ty, &value, span));
        // A plain type and `*const T` are written for what is uniform and for what differs between lanes.
        let either = |ty| matches!(crate::ty::bare(ty), syn::Type::Ptr(_)) || self.elements.leaves_open(ty);
        let open = ty.is_none_or(either);
        let value = if open && self.varying.has_deferred(name) {
            let vary = lang("vary", span);
            quote_spanned!(span=> #vary(#value))
        } else if open {
            self.varied_later(name, value)
        } else {
            value
        };
        let flow = self.flow(span);
        quote_spanned!(span=> #name.set_first(&#flow, #value))
    }

    /// Records that the variable has been assigned.
    fn begin(&mut self, key: usize, name: &Ident) {
        let immutable = self.deferred.declared.get(&key).is_some_and(|d| !d.mutable);
        // As in Rust, nothing is reported in unreachable code.
        if immutable && !self.deferred.left && self.deferred.begun.contains_key(&key) {
            let what = format!(
                "`{name}` may have a value already; to assign it again, declare it with `let mut {name}`"
            );
            self.errors.at(name, what);
        }
        self.deferred.assigned.insert(key);
        self.deferred.begun.insert(key, name.clone());
    }

    /// True for a `let mut x;` that has been assigned. From then on it is an ordinary variable.
    pub fn has_value(&self, name: &Ident) -> bool {
        let assigned = self.deferred_key(name).is_some_and(|key| self.deferred.assigned.contains(&key));
        assigned && self.declared(name).is_some_and(|declared| declared.mutable)
    }

    /// True for `let name: ty;`.
    pub fn has_type(&self, name: &Ident) -> bool {
        self.declared(name).is_some_and(|declared| declared.ty.is_some())
    }

    /// Reports an error if the variable may be unassigned at this read.
    pub fn read_deferred(&mut self, name: &Ident) {
        let has_value = self.deferred_key(name).is_some_and(|key| self.deferred.assigned.contains(&key));
        if !self.deferred.left && !has_value {
            let what = format!(
                "`{name}` may have no value here: every way to this point assigns it first, in each branch of an `if` or `match`; or \
                 start it with a value, `let mut {name} = …`"
            );
            self.errors.at(name, what);
        }
    }

    /// Marks the current point as unreachable. Returns the state before.
    pub fn leaves_here(&mut self) -> Deferred {
        let here = self.deferred.clone();
        self.deferred.left = true;
        here
    }

    /// Expands the two sides of a branch and joins their states.
    pub fn ways<A, B>(
        &mut self,
        one: impl FnOnce(&mut Self) -> A,
        other: impl FnOnce(&mut Self) -> B,
    ) -> (A, B) {
        let before = self.deferred.clone();
        let first = one(self);
        // The second side starts from the same state as the first.
        let after = std::mem::replace(&mut self.deferred, before);
        let second = other(self);
        self.deferred = std::mem::take(&mut self.deferred).meet(after);
        (first, second)
    }

    /// Expands a block that labelled `break`s may leave. The state at its end is the meet of the states at these
    /// `break`s and after the last statement.
    pub fn meeting_at_end<A>(&mut self, f: impl FnOnce(&mut Self) -> (A, Vec<Deferred>)) -> A {
        let (expanded, ways) = f(self);
        let end = std::mem::take(&mut self.deferred);
        self.deferred = Deferred::meeting(ways.into_iter().chain([end]));
        expanded
    }

    /// Expands a loop's body with `f`, which also returns the states at the loop's `break`s and `continue`s. An
    /// `endless` loop ends only by `break`; other loops may also end before the first trip.
    pub fn trips<A>(
        &mut self,
        endless: bool,
        body: impl FnOnce(&mut Self) -> (A, Vec<Deferred>, Vec<Deferred>),
    ) -> A {
        let before = self.deferred.clone();
        let (expanded, breaks, continues) = body(self);
        let end = std::mem::take(&mut self.deferred);
        let next = Deferred::meeting(continues.into_iter().chain([end.clone()]));
        // A variable that one trip assigns would be assigned again in the next.
        self.not_begun_again(&before, &next);
        self.deferred = match endless {
            true => Deferred::meeting(breaks),
            // The loop may make no trip at all, so the state before the loop is met as well.
            false => Deferred::meeting(breaks.into_iter().chain([end, before])),
        };
        expanded
    }

    /// Reports immutable variables that are declared outside a loop and assigned in its body, so that several trips may
    /// assign them.
    fn not_begun_again(&mut self, before: &Deferred, next: &Deferred) {
        if next.left {
            return;
        }
        let immutable = |key: &usize| {
            let outside = self.names.get(*key).is_some_and(|name| name.kind == Kind::Deferred);
            outside && next.declared.get(key).is_some_and(|declared| !declared.mutable)
        };
        let mut again: Vec<(&usize, &Ident)> = next.begun.iter().collect();
        again.retain(|(key, _)| !before.begun.contains_key(key) && immutable(key));
        // Sorted by declaration: the iteration order of the map is random, but messages must be the same in every
        // build.
        again.sort_by_key(|(key, _)| **key);
        for (_, name) in again {
            let what = format!(
                "`{name}` is assigned again in the next trip of the loop; declare it with `let mut {name}`, or leave the loop here by `break`"
            );
            self.errors.at(name, what);
        }
    }
}
