//! Attributes in a kernel's body.

use syn::parse::ParseStream;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

use super::Cx;

/// The attributes of an expression that the expansion takes apart. Others keep theirs.
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

pub(crate) fn is_comptime(attr: &Attribute) -> bool {
    attr.path().is_ident("comptime")
}

pub(crate) fn is_unroll(attr: &Attribute) -> bool {
    attr.path().is_ident("unroll")
}

pub(crate) fn is_schedule(attr: &Attribute) -> bool {
    attr.path().is_ident("schedule")
}

pub(crate) fn is_pipeline(attr: &Attribute) -> bool {
    attr.path().is_ident("pipeline")
}

/// Most stages of a pipelined loop. `gcn_dsl::ir::pipeline` has the limits for what is no literal; a test holds the two together.
const MOST_STAGES: u64 = 8;

/// The stages of `#[pipeline(stages = n)]`.
pub(crate) fn stages(attr: &Attribute) -> syn::Result<Expr> {
    const FORM: &str = "write `#[pipeline(stages = 2)]`: so many trips of the loop are under way at once";
    let read = |input: ParseStream<'_>| {
        let name: syn::Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let stages: Expr = input.parse()?;
        match name == "stages" && input.is_empty() {
            true => Ok(stages),
            false => Err(input.error(FORM)),
        }
    };
    let stages = attr.parse_args_with(read).map_err(|_| syn::Error::new_spanned(attr, FORM))?;
    let Expr::Lit(ExprLit { lit: Lit::Int(n), .. }) = &stages else { return Ok(stages) };
    let what = match n.base10_parse::<u64>() {
        Ok(0 | 1) => "a pipelined loop has at least 2 stages, one that loads and one that computes; take the attribute away \
                      for a loop that loads where it computes"
            .to_owned(),
        Ok(2..=MOST_STAGES) => return Ok(stages),
        _ => format!("a pipelined loop has at most {MOST_STAGES} stages: each is a copy of the body, with registers of its own"),
    };
    Err(syn::Error::new_spanned(n, what))
}

const NO_LOOP: &str =
    "`#[pipeline]` stands before a `for` over a range, whose loads it starts one or more trips ahead";

/// What is wrong with a `#[pipeline]` before something else than a `for` on the device.
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

/// True for `#[schedule(manual)]`; an error for any other argument.
pub(crate) fn is_manual(attr: &Attribute) -> syn::Result<bool> {
    if !is_schedule(attr) {
        return Ok(false);
    }
    let what = "write `#[schedule(manual)]`: in the block the instructions keep the written order";
    let mode: syn::Ident = attr.parse_args().map_err(|_| syn::Error::new_spanned(attr, what))?;
    if mode == "manual" { Ok(true) } else { Err(syn::Error::new_spanned(mode, what)) }
}

impl Cx<'_> {
    /// Refuses `#[pipeline]` before a `let`, for which rustc would have no better word than that it does not know it.
    pub fn not_on_let(&mut self, attrs: &[Attribute]) {
        for attr in attrs.iter().filter(|a| is_pipeline(a)) {
            self.errors.at(attr, NO_LOOP);
        }
    }

    /// Refuses attributes that would have no effect.
    pub fn attributes(&mut self, e: &Expr) {
        let unrolled = of(e).iter().any(is_unroll);
        for attr in of(e) {
            if is_pipeline(attr) {
                if !matches!(e, Expr::ForLoop(_)) || unrolled {
                    self.errors.at(attr, not_pipelined(e));
                }
                continue;
            }
            let known = match e {
                Expr::ForLoop(_) => is_unroll(attr),
                Expr::Block(_) if is_schedule(attr) => {
                    if let Err(error) = is_manual(attr) {
                        self.errors.push(error);
                    }
                    continue;
                }
                Expr::If(_) | Expr::Block(_) => is_comptime(attr),
                _ => false,
            };
            if !known {
                let what = "this attribute has no effect here; a kernel's body has `#[unroll]` and `#[pipeline]` before `for` and \
                            `#[schedule(manual)]` before a block, lints are allowed before `fn`";
                self.errors.at(attr, what);
            } else if !matches!(attr.meta, Meta::Path(_)) {
                self.errors.at(attr, "`#[unroll]` takes no arguments: the loop is unrolled completely");
            }
        }
    }
}
