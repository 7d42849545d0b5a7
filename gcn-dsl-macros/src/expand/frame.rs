//! The constructs around the current point, which exits cross.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Label;

use super::deferred::Deferred;
use super::lang;

/// The names of `Leave` values: of `break`s and `continue`s, and of `return`s, which no variable outlives.
#[derive(Default, Clone)]
pub(crate) struct Leaves {
    pub left: Vec<Ident>,
    pub returned: Vec<Ident>,
}

/// A construct around the current point.
pub(crate) enum Frame {
    /// The statements of a block; what leaves it from the current statement.
    Statements(Leaves),
    /// A branch of an `if`; its guard has the kind.
    Branch(Ident),
    /// What an exit can name.
    Target(Box<Target>),
    /// A part of an expression: nothing of the rest knows that lanes left.
    Operand,
    /// A closure.
    Closure,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetKind {
    /// A loop on the device; `loop` has a value.
    Loop { valued: bool, trips: Trips },
    /// A loop that is unrolled.
    Unrolled,
    /// A block with a label.
    Block,
    /// The body of a function.
    Function,
}

/// How the trips of a loop on the device follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trips {
    /// One after the other, until one leaves.
    Free,
    /// `#[pipeline]`: a trip begins before the one before it has ended.
    Pipelined,
    /// `#[ping_pong]`: all waves count the same phases.
    PingPong,
}

/// What an exit can name.
pub(crate) struct Target {
    pub kind: TargetKind,
    pub label: Option<String>,
    /// Its guard.
    pub guard: Ident,
    /// What leaves it, and for a block and a function what goes to its end.
    pub leaves: Leaves,
    /// The `continue`s so far.
    pub continues: Vec<Ident>,
    /// It has a `break` (a `return` for a function).
    pub breaks: bool,
    /// The values of its exits.
    pub values: Vec<Ident>,
    /// Which variables have a value at its `break`s, and at its `continue`s.
    pub at_breaks: Vec<Deferred>,
    pub at_continues: Vec<Deferred>,
}

impl Target {
    /// The frame of a construct that nothing has left yet.
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

    /// Declarations of its `Leave`s and slots.
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

    /// Its slots as nested pairs.
    pub fn slots(&self, span: Span) -> TokenStream {
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

    /// Their declarations.
    pub fn declarations(&self, span: Span) -> TokenStream {
        let leave = lang("Leave", span);
        self.left
            .iter()
            .chain(&self.returned)
            .map(|name| quote_spanned!(span=> let #name = #leave::new();))
            .collect()
    }
}
