//! `break` and `continue` in an unrolled loop. The trips are straight-line code, so `break` becomes an exit from a
//! labelled block around all trips, and `continue` one from a block around its trip.

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprForLoop, Label, Lifetime, parse_quote_spanned};

use crate::attrs;

/// The labels of these blocks, which no user's program is likely to use.
const ALL: &str = "'__gcn_trips";
const ONE: &str = "'__gcn_trip";

struct Leaves<'l> {
    label: Option<&'l Lifetime>,
    /// The number of loops between the unrolled loop and the current point; 0 directly in the unrolled loop's body.
    depth: usize,
    breaks: bool,
    continues: bool,
}

impl Leaves<'_> {
    /// True for an exit whose target is this loop.
    fn is_own(&self, label: Option<&Lifetime>) -> bool {
        match label {
            Some(label) => self.label == Some(label),
            None => self.depth == 0,
        }
    }

    fn inside(&mut self, f: impl FnOnce(&mut Self)) {
        self.depth += 1;
        f(self);
        self.depth -= 1;
    }
}

impl VisitMut for Leaves<'_> {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        match e {
            Expr::Break(exit) if self.is_own(exit.label.as_ref()) && exit.expr.is_none() => {
                self.breaks = true;
                exit.label = Some(Lifetime::new(ALL, exit.break_token.span));
            }
            Expr::Continue(exit) if self.is_own(exit.label.as_ref()) => {
                self.continues = true;
                let (span, label) = (exit.continue_token.span, Lifetime::new(ONE, exit.continue_token.span));
                *e = parse_quote_spanned!(span=> break #label);
            }
            Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => {
                self.inside(|inside| visit_mut::visit_expr_mut(inside, e));
            }
            // A `comptime` block contains host code, whose exits leave host loops.
            Expr::Block(b) if b.attrs.iter().any(attrs::is_comptime) => {}
            Expr::Closure(_) => {}
            _ => visit_mut::visit_expr_mut(self, e),
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The loop with these blocks around it and its body, if it has a `break` or `continue`.
pub(in crate::expand) fn in_blocks(e: &ExprForLoop) -> Option<Expr> {
    let mut looped = e.clone();
    let label = looped.label.take();
    let of = label.as_ref().map(|label| &label.name);
    let mut leaves = Leaves { label: of, depth: 0, breaks: false, continues: false };
    leaves.visit_block_mut(&mut looped.body);
    let (breaks, continues) = (leaves.breaks, leaves.continues);
    if !breaks && !continues {
        return None;
    }
    let span: Span = e.for_token.span;
    if continues {
        let (label, body) = (named(ONE, span), &looped.body);
        looped.body = parse_quote_spanned!(span=> { #label #body });
    }
    Some(match breaks {
        true => {
            let label = named(ALL, span);
            parse_quote_spanned!(span=> #label { #looped })
        }
        false => Expr::ForLoop(looped),
    })
}

fn named(label: &str, span: Span) -> Label {
    Label { name: Lifetime::new(label, span), colon_token: syn::Token![:](span) }
}
