//! `let x;`: a variable that gets its value later, on every way before it is read.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use super::{Cx, Kind, lang};

/// Which variables have a value where the expansion is.
#[derive(Clone, Default)]
pub(crate) struct Deferred {
    assigned: HashSet<String>,
    /// Those that are `mut`.
    mutable: HashSet<String>,
    /// The declared types, as types of the device.
    types: HashMap<String, TokenStream>,
    /// Nobody gets here: what leaves needs no value.
    left: bool,
}

impl Deferred {
    /// What holds after two ways that meet.
    pub(super) fn meet(self, other: Deferred) -> Deferred {
        match (self.left, other.left) {
            (true, false) => other,
            (false, true) => self,
            (left, _) => Deferred {
                assigned: self.assigned.intersection(&other.assigned).cloned().collect(),
                mutable: self.mutable,
                types: self.types,
                left,
            },
        }
    }
}

impl Cx<'_> {
    /// The expansion of `let name;` or `let name: ty;`.
    pub fn defer(&mut self, name: &Ident, ty: Option<TokenStream>, mutable: bool, span: Span) -> TokenStream {
        self.declare_as(name, Kind::Deferred);
        self.deferred.assigned.remove(&name.to_string());
        match mutable {
            true => self.deferred.mutable.insert(name.to_string()),
            false => self.deferred.mutable.remove(&name.to_string()),
        };
        match ty {
            Some(ty) => self.deferred.types.insert(name.to_string(), ty),
            None => self.deferred.types.remove(&name.to_string()),
        };
        let flow = self.flow(span);
        quote_spanned!(span=> let #name = ::gcn_dsl::lang::Var::deferred(&#flow);)
    }

    /// The expansion of `name = value` for such a variable.
    pub fn assign_deferred(&mut self, name: &Ident, value: TokenStream, span: Span) -> TokenStream {
        self.deferred.assigned.insert(name.to_string());
        let value = if let Some(ty) = self.deferred.types.get(&name.to_string()) {
            // As where a `let` has a value at once: literals take the type, and uniform values widen to it.
            let annotate = lang("annotate", span);
            quote_spanned!(span=> #annotate::<#ty, _>(#value))
        } else if self.varying.has_deferred(name) {
            let vary = lang("vary", span);
            quote_spanned!(span=> #vary(#value))
        } else {
            value
        };
        let flow = self.flow(span);
        quote_spanned!(span=> #name.set_first(&#flow, #value))
    }

    /// True for a `let mut x;` that has a value here: from now on a variable as any other.
    pub fn has_value(&self, name: &Ident) -> bool {
        let text = name.to_string();
        self.kind(name) == Some(Kind::Deferred)
            && self.deferred.mutable.contains(&text)
            && self.deferred.assigned.contains(&text)
    }

    /// True for `let name: ty;`.
    pub fn has_type(&self, name: &Ident) -> bool {
        self.deferred.types.contains_key(&name.to_string())
    }

    /// An error if the variable may have no value where it is read.
    pub fn read_deferred(&mut self, name: &Ident) {
        if !self.deferred.left && !self.deferred.assigned.contains(&name.to_string()) {
            let what = format!(
                "`{name}` may have no value here: every way to this point assigns it first, in each branch of an `if` or `match`; or \
                 start it with a value, `let mut {name} = …`"
            );
            self.errors.at(name, what);
        }
    }

    /// Nobody gets to what follows.
    pub fn leaves_here(&mut self) {
        self.deferred.left = true;
    }

    /// Expands one of two ways, then the other.
    pub fn ways<A, B>(
        &mut self,
        one: impl FnOnce(&mut Self) -> A,
        other: impl FnOnce(&mut Self) -> B,
    ) -> (A, B) {
        let before = self.deferred.clone();
        let first = one(self);
        let after = std::mem::replace(&mut self.deferred, before);
        let second = other(self);
        self.deferred = std::mem::take(&mut self.deferred).meet(after);
        (first, second)
    }
}
