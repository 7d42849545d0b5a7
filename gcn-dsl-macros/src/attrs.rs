//! Attributes in a kernel's body, and their arguments.

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token, parse_quote_spanned};

pub(crate) fn is_comptime(attr: &Attribute) -> bool {
    attr.path().is_ident("comptime")
}

/// The internal attribute that marks a block as `unsafe`.
pub(crate) fn unsafe_mark(at: Span) -> Attribute {
    let mark = syn::Ident::new_raw(UNSAFE, at);
    parse_quote_spanned!(at=> #[#mark])
}

const UNSAFE: &str = "unsafe";

pub(crate) fn is_unsafe(attr: &Attribute) -> bool {
    attr.path().get_ident().is_some_and(|name| *name == syn::Ident::new_raw(UNSAFE, name.span()))
}

pub(crate) fn is_unroll(attr: &Attribute) -> bool {
    attr.path().is_ident("unroll") && !is_rolled(attr)
}

/// True for `#[unroll(1)]`, which forbids unrolling.
pub(crate) fn is_rolled(attr: &Attribute) -> bool {
    let one = |n: syn::LitInt| n.base10_digits() == "1";
    attr.path().is_ident("unroll") && attr.parse_args().is_ok_and(one)
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

/// The maximum number of stages of a pipelined loop. It applies to literals; other values are checked by
/// `gcn_dsl::ir::pipeline` against its own limits, and a test compares the two limits.
const MOST_STAGES: u64 = 8;

/// The arguments of `#[pipeline(stages = n, buffers = m)]`; `None` if omitted, so that the compiler chooses.
#[derive(Default)]
pub(crate) struct Pipeline {
    pub stages: Option<Expr>,
    pub buffers: Option<Expr>,
}

/// Parses a `#[pipeline]` attribute.
pub(crate) fn pipeline(attr: &Attribute) -> syn::Result<Pipeline> {
    const FORM: &str = "write `#[pipeline(stages = 2)]`: so many trips of the loop are under way at once; `buffers = 2` after it, or \
                        alone, gives each LDS array that the loop fills a second one; `#[pipeline]` leaves both to the compiler";
    let mut given = Pipeline::default();
    if matches!(attr.meta, Meta::Path(_)) {
        return Ok(given);
    }
    let read = |input: ParseStream<'_>| {
        loop {
            let name: syn::Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            let place = match name.to_string().as_str() {
                "stages" => &mut given.stages,
                "buffers" => &mut given.buffers,
                _ => return Err(input.error(FORM)),
            };
            if place.replace(input.parse()?).is_some() {
                return Err(input.error(FORM));
            }
            if input.is_empty() {
                return Ok(());
            }
            input.parse::<Token![,]>()?;
        }
    };
    attr.parse_args_with(read).map_err(|_| syn::Error::new_spanned(attr, FORM))?;
    check_literals(&given)?;
    Ok(given)
}

fn check_literals(given: &Pipeline) -> syn::Result<()> {
    fn literal(e: Option<&Expr>) -> Option<(&syn::LitInt, Option<u64>)> {
        let Some(Expr::Lit(ExprLit { lit: Lit::Int(n), .. })) = e else { return None };
        Some((n, n.base10_parse().ok()))
    }
    if let Some((n, value)) = literal(given.buffers.as_ref())
        && !matches!(value, Some(1 | 2))
    {
        let what = "a pipelined loop has 1 or 2 buffers in LDS for each of its arrays; a later trip waits in registers (`stages`)";
        return Err(syn::Error::new_spanned(n, what));
    }
    let Some((n, value)) = literal(given.stages.as_ref()) else { return Ok(()) };
    let what = match value {
        Some(0 | 1) => "a pipelined loop has at least 2 stages, one that loads and one that computes; take the attribute away \
                        for a loop that loads where it computes"
            .to_owned(),
        Some(2..=MOST_STAGES) => return Ok(()),
        _ => format!("a pipelined loop has at most {MOST_STAGES} stages: each is a copy of the body, with registers of its own"),
    };
    Err(syn::Error::new_spanned(n, what))
}

/// True for `#[schedule(manual)]`. Returns an error for any other argument of `schedule`.
pub(crate) fn is_manual(attr: &Attribute) -> syn::Result<bool> {
    if !is_schedule(attr) {
        return Ok(false);
    }
    let what = "write `#[schedule(manual)]`: in the block the instructions keep the written order";
    let mode: syn::Ident = attr.parse_args().map_err(|_| syn::Error::new_spanned(attr, what))?;
    if mode == "manual" { Ok(true) } else { Err(syn::Error::new_spanned(mode, what)) }
}
