//! The stack of constructs around the current point. An exit searches it for its target.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Label;

use super::deferred::Deferred;
use super::lang;

/// The names of the variables that record exits. `left` is for `break` and `continue`, `returned` for `return`, which
/// also ends the scope of all outer variables.
#[derive(Default, Clone)]
pub(crate) struct Leaves {
    pub left: Vec<Ident>,
    pub returned: Vec<Ident>,
}

/// A construct around the current point.
pub(crate) enum Frame {
    /// The statements of a block, and the exits in the current statement.
    Statements(Leaves),
    /// A branch of an `if`: the name of its guard, whose type is the branch's kind.
    Branch(Ident),
    /// A target of exits.
    Target(Box<Target>),
    /// A part of an expression. Exits are forbidden in it, because the rest of the expression would still execute for
    /// the lanes that left.
    Operand,
    /// A closure.
    Closure,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetKind {
    /// A loop on the device. `valued` is true for a `loop`, whose `break`s may have a value.
    Loop { valued: bool, trips: Trips },
    /// A loop that is unrolled.
    Unrolled,
    /// A block with a label.
    Block,
    /// The body of a function.
    Function,
}

/// How the trips of a device loop follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trips {
    /// One after the other.
    Free,
    /// `#[pipeline]`: a trip starts before the previous one has ended.
    Pipelined,
    /// `#[ping_pong]`: all waves execute the same phases in step.
    PingPong,
}

/// A loop, labelled block or function that an exit can leave.
pub(crate) struct Target {
    pub kind: TargetKind,
    pub label: Option<String>,
    /// The name of the construct's guard.
    pub guard: Ident,
    /// The exits that cross the construct; for a block or a function, also the exits to its end.
    pub leaves: Leaves,
    /// The names of the variables that record the loop's `continue`s so far.
    pub continues: Vec<Ident>,
    /// True if the construct has a `break` (for a function, a `return`).
    pub breaks: bool,
    /// The names of the variables that receive the values of the exits.
    pub values: Vec<Ident>,
    /// The states of variables without an initial value, at each `break` and at each `continue`.
    pub at_breaks: Vec<Deferred>,
    pub at_continues: Vec<Deferred>,
}

impl Target {
    /// A frame for a target that has no exits yet.
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

    /// Declares the variables that record exits and the variables for the exits' values.
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

    /// The variables for the exits' values, as nested pairs.
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
    /// True if no exit is recorded.
    pub fn is_empty(&self) -> bool {
        self.left.is_empty() && self.returned.is_empty()
    }

    /// Declares the variables that record the exits.
    pub fn declarations(&self, span: Span) -> TokenStream {
        let leave = lang("Leave", span);
        self.left
            .iter()
            .chain(&self.returned)
            .map(|name| quote_spanned!(span=> let #name = #leave::new();))
            .collect()
    }
}
