//! Attributes in a kernel's body, and their arguments.

use syn::parse::ParseStream;
use syn::{Attribute, Expr, ExprLit, Lit, Token};

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

pub(crate) fn is_ping_pong(attr: &Attribute) -> bool {
    attr.path().is_ident("ping_pong")
}

pub(crate) fn is_matrix(attr: &Attribute) -> bool {
    attr.path().is_ident("matrix")
}

/// Most stages of a pipelined loop. `gcn_dsl::ir::pipeline` has the limits for what is not a literal; a test holds the two together.
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

/// True for `#[schedule(manual)]`; an error for any other argument.
pub(crate) fn is_manual(attr: &Attribute) -> syn::Result<bool> {
    if !is_schedule(attr) {
        return Ok(false);
    }
    let what = "write `#[schedule(manual)]`: in the block the instructions keep the written order";
    let mode: syn::Ident = attr.parse_args().map_err(|_| syn::Error::new_spanned(attr, what))?;
    if mode == "manual" { Ok(true) } else { Err(syn::Error::new_spanned(mode, what)) }
}
