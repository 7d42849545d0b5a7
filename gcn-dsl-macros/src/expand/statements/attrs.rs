//! Rejects attributes in a kernel's body that have no effect at their position.

use syn::{Attribute, Expr, Meta};

use crate::attrs::{
    is_comptime, is_manual, is_matrix, is_ping_pong, is_pipeline, is_rolled, is_schedule, is_unroll,
    is_unsafe,
};
use crate::expand::Cx;
use crate::expand::control::loops::range;

/// The attributes of an expression that the expansion decomposes; empty for other expressions, which keep theirs.
fn of(e: &Expr) -> &[Attribute] {
    match e {
        Expr::Assign(syn::ExprAssign { attrs, .. })
        | Expr::Binary(syn::ExprBinary { attrs, .. })
        | Expr::Block(syn::ExprBlock { attrs, .. })
        | Expr::Call(syn::ExprCall { attrs, .. })
        | Expr::ForLoop(syn::ExprForLoop { attrs, .. })
        | Expr::If(syn::ExprIf { attrs, .. })
        | Expr::Index(syn::ExprIndex { attrs, .. })
        | Expr::Loop(syn::ExprLoop { attrs, .. })
        | Expr::Match(syn::ExprMatch { attrs, .. })
        | Expr::MethodCall(syn::ExprMethodCall { attrs, .. })
        | Expr::Unary(syn::ExprUnary { attrs, .. })
        | Expr::While(syn::ExprWhile { attrs, .. }) => attrs,
        _ => &[],
    }
}

const NO_LOOP: &str =
    "`#[pipeline]` stands before a `for` over a range, whose loads it starts one or more trips ahead";

/// The error message for a `#[pipeline]` on anything but a device `for`.
fn not_pipelined(e: &Expr) -> &'static str {
    match e {
        Expr::While(_) | Expr::Loop(_) => {
            "`#[pipeline]` stands before a `for` over a range: of a `while` or `loop` it is not known before a trip ends \
             whether another follows, so its loads cannot start; count with `for k in (a..b).step_by(s)`, or load what the next \
             trip needs at the start of each, into a variable declared before the loop"
        }
        Expr::ForLoop(_) => {
            "an `#[unroll] for` has no trips on the device to pipeline: all of its loads can start at once; keep one of the \
             attributes"
        }
        _ => NO_LOOP,
    }
}

const NO_PING_PONG: &str = "`#[ping_pong]` stands before a `for` over a range, whose trips all waves of the workgroup make; an \
                            `#[unroll] for` has none on the device";

const NO_TRIPS: &str =
    "`#[unroll(1)]` stands before a `for` over a range, which makes one trip at a time then";

impl Cx<'_> {
    /// Rejects `#[pipeline]` on a `let`: rustc's own error would say only that the attribute is unknown.
    pub fn not_on_let(&mut self, attrs: &[Attribute]) {
        for attr in attrs.iter().filter(|a| is_pipeline(a)) {
            self.errors.at(attr, NO_LOOP);
        }
    }

    /// Rejects attributes that would have no effect.
    pub fn attributes(&mut self, e: &Expr) {
        let unrolled = of(e).iter().any(is_unroll);
        for attr in of(e) {
            if is_pipeline(attr) {
                if !matches!(e, Expr::ForLoop(_)) || unrolled {
                    self.errors.at(attr, not_pipelined(e));
                }
                continue;
            }
            if is_ping_pong(attr) && (!matches!(e, Expr::ForLoop(_)) || unrolled) {
                self.errors.at(attr, NO_PING_PONG);
                continue;
            }
            if is_rolled(attr) {
                let ranges = matches!(e, Expr::ForLoop(of) if !unrolled && range(&of.expr).is_some());
                if !ranges {
                    self.errors.at(attr, NO_TRIPS);
                }
                continue;
            }
            let known = match e {
                Expr::ForLoop(_) => is_unroll(attr) || is_ping_pong(attr),
                Expr::Block(_) if is_matrix(attr) || is_unsafe(attr) => true,
                Expr::Block(_) if is_schedule(attr) => {
                    if let Err(error) = is_manual(attr) {
                        self.errors.push(error);
                    }
                    continue;
                }
                Expr::If(_) | Expr::Match(_) | Expr::Block(_) => is_comptime(attr),
                _ => false,
            };
            if !known {
                let what = "this attribute has no effect here; a kernel's body has `#[unroll]`, `#[pipeline]` and `#[ping_pong]` before \
                            `for`, `#[schedule(manual)]` and `#[matrix]` before a block, lints are allowed before `fn`";
                self.errors.at(attr, what);
            } else if !matches!(attr.meta, Meta::Path(_)) {
                let what = match is_unroll(attr) {
                    true => {
                        "`#[unroll]` takes no arguments: the loop is unrolled completely; without it, the compiler makes 2, 4 or 8 iterations at a \
                             time by itself where that pays, which `#[unroll(1)]` forbids"
                    }
                    false => "this attribute takes no arguments",
                };
                self.errors.at(attr, what);
            }
        }
    }
}
