//! Finds `loop`s that only a `return` can leave. Like `return`, they have no value.

use syn::visit::{self, Visit};
use syn::{ExprBreak, ExprForLoop, ExprLoop, ExprWhile};

/// True for a loop that no `break` leaves.
pub(in crate::expand) fn is_endless(e: &ExprLoop) -> bool {
    let mut breaks = Breaks { label: e.label.as_ref().map(|l| &l.name), depth: 0, found: false };
    breaks.visit_block(&e.body);
    !breaks.found
}

/// Searches a loop's body for a `break` out of the loop, which may have a label.
struct Breaks<'a> {
    label: Option<&'a syn::Lifetime>,
    /// The number of inner loops around the current expression.
    depth: usize,
    found: bool,
}

impl Breaks<'_> {
    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }
}

impl<'ast> Visit<'ast> for Breaks<'_> {
    fn visit_expr_break(&mut self, e: &'ast ExprBreak) {
        self.found |= match &e.label {
            Some(label) => self.label == Some(label),
            None => self.depth == 0,
        };
        visit::visit_expr_break(self, e);
    }
    fn visit_expr_loop(&mut self, e: &'ast ExprLoop) {
        self.inside(|breaks| visit::visit_expr_loop(breaks, e));
    }
    fn visit_expr_while(&mut self, e: &'ast ExprWhile) {
        self.inside(|breaks| visit::visit_expr_while(breaks, e));
    }
    fn visit_expr_for_loop(&mut self, e: &'ast ExprForLoop) {
        self.inside(|breaks| visit::visit_expr_for_loop(breaks, e));
    }
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
