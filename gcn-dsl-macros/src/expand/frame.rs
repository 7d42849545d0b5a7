//! The stack of constructs around the current point, which exits search for their targets.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Label;

use super::deferred::Deferred;
use super::lang;

/// The names of the `Leave` values that record exits: by `break` and `continue`, and by `return`, which also ends the scope of all outer
/// variables.
#[derive(Default, Clone)]
pub(crate) struct Leaves {
    pub left: Vec<Ident>,
    pub returned: Vec<Ident>,
}

/// A construct around the current point.
pub(crate) enum Frame {
    /// The statements of a block, with the exits in the current statement.
    Statements(Leaves),
    /// A branch of an `if`, with the name of its guard, whose type is the branch's kind.
    Branch(Ident),
    /// A target of exits.
    Target(Box<Target>),
    /// A part of an expression, in which exits are forbidden: the rest of the expression would not know that lanes left.
    Operand,
    /// A closure.
    Closure,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetKind {
    /// A loop on the device; `valued` for a `loop`, whose `break`s may have a value.
    Loop { valued: bool, trips: Trips },
    /// A loop that is unrolled.
    Unrolled,
    /// A block with a label.
    Block,
    /// The body of a function.
    Function,
}

/// The order of the trips of a device loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trips {
    /// One after the other.
    Free,
    /// `#[pipeline]`: an iteration starts before the previous one has ended.
    Pipelined,
    /// `#[ping_pong]`: all waves execute the same phases in step.
    PingPong,
}

/// A loop, labelled block or function that an exit can leave.
pub(crate) struct Target {
    pub kind: TargetKind,
    pub label: Option<String>,
    /// The name of its guard.
    pub guard: Ident,
    /// The exits that cross it; for a block and a function also those to its end.
    pub leaves: Leaves,
    /// The `Leave` values of its `continue`s so far.
    pub continues: Vec<Ident>,
    /// True if it has a `break` (for a function, a `return`).
    pub breaks: bool,
    /// The names of the variables that receive the values of its exits.
    pub values: Vec<Ident>,
    /// The states of variables without an initial value at its `break`s and its `continue`s.
    pub at_breaks: Vec<Deferred>,
    pub at_continues: Vec<Deferred>,
}

impl Target {
    /// A frame for a target, without exits.
    pub fn frame(kind: TargetKind, label: Option<&Label>, guard: Ident) -> Frame {
        let label = label.map(|l| l.name.ident.to_string());
        Frame::Target(Box::new(Target {
            kind,
            label,
            guard,
            leaves: Leaves::default(),
            continues: Vec::new(),
            breaks: false,
            values: Vec::new(),
            at_breaks: Vec::new(),
            at_continues: Vec::new(),
        }))
    }

    /// Declares its `Leave` values and the variables for its values.
    pub fn declarations(&self, span: Span) -> TokenStream {
        let mut out = self.leaves.declarations(span);
        let (leave, slot) = (lang("Leave", span), lang("Slot", span));
        for name in &self.continues {
            out.extend(quote_spanned!(span=> let #name = #leave::new();));
        }
        for name in &self.values {
            out.extend(quote_spanned!(span=> let #name = #slot::new();));
        }
        out
    }

    /// The variables for its values, as nested pairs.
    pub fn slots(&self, span: Span) -> TokenStream {
        // Pairs, because the trait that merges the values recurses over pairs; a tuple of each length would need an
        // implementation of its own.
        let (end, rest) = match &self.values[..] {
            [rest @ .., last] if !rest.is_empty() => {
                let wrapper = lang("Last", span);
                (quote_spanned!(span=> #wrapper(#last)), rest)
            }
            all => (quote_spanned!(span=> ()), all),
        };
        rest.iter().rev().fold(end, |rest, name| quote_spanned!(span=> (#name, #rest)))
    }
}

impl Leaves {
    /// True if no lane leaves.
    pub fn is_empty(&self) -> bool {
        self.left.is_empty() && self.returned.is_empty()
    }

    /// Declares the `Leave` values.
    pub fn declarations(&self, span: Span) -> TokenStream {
        let leave = lang("Leave", span);
        self.left
            .iter()
            .chain(&self.returned)
            .map(|name| quote_spanned!(span=> let #name = #leave::new();))
            .collect()
    }
}
