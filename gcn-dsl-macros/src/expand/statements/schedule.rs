//! Expands blocks with a manual schedule: `#[schedule(manual)]`, whose instructions keep their written order, `interleave!`, and
//! `#[carried]` variables, whose type changes with each assignment because it names the phase of a buffer in LDS.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Block, ExprBlock, LitInt, Local, Pat, Token};

use crate::expand::{Cx, Kind, lang};

/// The instruction classes of `interleave!`. The list in `gcn_dsl::sched::class` is the same.
const CLASSES: [&str; 11] =
    ["mfma", "valu", "salu", "trans", "ds_read", "ds_write", "ds", "vmem_read", "vmem_write", "vmem", "smem"];

pub(crate) fn is_carried(attr: &Attribute) -> bool {
    attr.path().is_ident("carried")
}

impl Cx<'_> {
    /// Expands a block whose instructions keep their written order.
    pub fn manual(&mut self, block: &ExprBlock) -> TokenStream {
        let span = block.block.brace_token.span.open();
        self.manual += 1;
        let body = match &block.label {
            Some(label) => self.labelled_block(label, &block.block.stmts, label.name.span()),
            None => self.statements(&block.block.stmts),
        };
        self.manual -= 1;
        self.in_manual(span, &body)
    }

    /// Expands the body of a kernel with `#[schedule(manual)]`.
    pub fn manual_body(&mut self, block: &Block) -> TokenStream {
        let span = block.brace_token.span.open();
        self.manual += 1;
        // A counter and not a flag, because manual blocks may be nested.
        let body = self.function_body(&block.stmts, span);
        self.manual -= 1;
        self.in_manual(span, &body)
    }

    /// Wraps the expansion of a `#[ping_pong]` loop. The loop's body has `phases` `#[matrix]` phases.
    pub fn ping_pong(
        &mut self,
        attr: &Attribute,
        at: Span,
        phases: usize,
        looped: &TokenStream,
    ) -> TokenStream {
        if phases == 0 {
            let what = "a `#[ping_pong]` loop takes turns between what uses memory and what multiplies: put the multiplications \
                        of its body in one or more blocks with `#[matrix]` before them";
            self.errors.beside(attr, what);
        }
        if self.is_manual() {
            let what = "in a `#[schedule(manual)]` block the order is the written one, barriers included; take one of the \
                        attributes away";
            self.errors.beside(attr, what);
        }
        let span = attr.path().span();
        let (guard, flow, begin) =
            (self.helper("ping_pong", span), self.flow(at), lang("ping_pong_begin", span));
        quote_spanned!(span=> { let #guard = #begin(&#flow); #looped #guard.end(); })
    }

    /// Expands `#[matrix] { … }`, a phase of a `#[ping_pong]` loop.
    pub fn matrix_phase(&mut self, block: &ExprBlock) -> TokenStream {
        if !self.is_in_ping_pong() || self.in_phase {
            let what = "`#[matrix]` stands before a block that is a statement of the body of a `#[ping_pong] for` itself, where \
                        every wave gets to it on every trip: not in another phase, branch or loop (an `#[unroll] for` is fine)";
            self.errors.beside(&block.attrs[0], what);
        }
        self.phases += 1;
        // A phase inside another would put the waves out of step.
        self.in_phase = true;
        let body = self.statements_of_unit(&block.block.stmts);
        self.in_phase = false;
        let span = block.block.brace_token.span.open();
        let (guard, begin) = (self.helper("phase", span), lang("matrix_phase_begin", span));
        quote_spanned!(span=> { let #guard = #begin(); { #body } #guard.end(); })
    }

    /// True inside a manually scheduled block.
    pub fn is_manual(&self) -> bool {
        self.manual > 0
    }

    fn in_manual(&self, span: Span, body: &TokenStream) -> TokenStream {
        let (guard, begin) = (self.helper("manual", span), lang("manual_begin", span));
        quote_spanned!(span=> { let #guard = #begin(); #body })
    }

    /// Wraps the body of a device loop in a host loop that runs once. rustc then requires that a variable whose value
    /// has been moved is assigned a new value, since it assumes a next trip.
    pub fn trip(&self, body: &TokenStream, span: Span) -> TokenStream {
        let traced = lang("traced", span);
        quote_spanned!(span=> loop { { #body } if #traced() { break; } })
    }

    /// The number of assignments to `#[carried]` variables so far.
    pub fn carried_so_far(&self) -> usize {
        self.carried.len()
    }

    /// Rejects all assignments after the first `since`, which are in a loop with an early exit or `continue`: the exit
    /// would skip the change of phase at the end of the trip.
    pub fn not_carried(&mut self, since: usize) {
        // Each assignment is reported once, for the innermost loop that has an early exit.
        for name in self.carried.split_off(since) {
            let what = format!(
                "`{name}` is `#[carried]`, and this loop has a `break` or `continue`, after which it would be in another phase; \
                 make it part of the loop's condition or put the rest of the body in an `if`"
            );
            self.errors.beside(&name, what);
        }
    }

    /// Rejects, outside of manually scheduled blocks, methods that start an asynchronous operation.
    pub fn asynchronous(&mut self, method: &Ident) {
        const METHODS: [&str; 5] =
            ["load_async", "load_vector_async", "store_async", "store_vector_async", "uniform_async"];
        if self.manual == 0 && METHODS.iter().any(|m| method == m) {
            let what = format!(
                "`{method}` is for manual schedules, where the order of instructions is the written one: put \
                 `#[schedule(manual)]` before the block or the kernel, or leave out `_async`: the compiler then waits where \
                 the result is used"
            );
            self.errors.beside(method, what);
        }
    }

    /// Expands `#[carried] let mut name = value;`.
    pub fn carried_let(&mut self, local: &Local, value: &TokenStream) -> TokenStream {
        let name = match &local.pat {
            Pat::Ident(p) if p.mutability.is_some() && p.by_ref.is_none() && p.subpat.is_none() => &p.ident,
            pat => {
                let what = "`#[carried]` stands before `let mut name = …`: what the variable holds is moved out in a \
                            loop's body and assigned again before its end";
                self.errors.at(pat, what);
                return TokenStream::new();
            }
        };
        self.declare_as(name, Kind::Carried);
        let (slot, span) = (self.slot(name), local.init.as_ref().map_or(name.span(), |i| i.expr.span()));
        let carried = lang("carried", span);
        quote_spanned!(span=> let (#slot, mut #name) = #carried(#value);)
    }

    /// Expands `name = value` for a `#[carried]` variable.
    pub fn assign_carried(
        &mut self,
        name: &Ident,
        value: &TokenStream,
        span: proc_macro2::Span,
    ) -> TokenStream {
        let slot = self.slot(name);
        quote_spanned!(span=> #name = #slot.again(#value))
    }

    /// The name of the variable that represents the `#[carried]` variable `name` in the expansion.
    fn slot(&self, name: &Ident) -> Ident {
        self.helper(&format!("carried_{name}"), name.span())
    }

    pub fn is_carried(&self, name: &Ident) -> bool {
        self.name(name).is_some_and(|n| n.kind == Kind::Carried)
    }

    /// Expands `interleave! { 1 mfma, 2 ds_read }`.
    pub fn interleave(&mut self, call: &syn::Macro) -> TokenStream {
        let groups: Groups = match call.parse_body() {
            Ok(groups) => groups,
            Err(error) => {
                self.errors.push(error);
                return TokenStream::new();
            }
        };
        let groups = groups.0.iter().map(|(count, class)| {
            let class = class.to_string();
            quote!((#count, #class))
        });
        let span = call.path.span();
        let interleave = lang("interleave", span);
        quote_spanned!(span=> #interleave(&[#(#groups),*]))
    }
}

struct Groups(Vec<(u8, Ident)>);

impl Parse for Groups {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const FORM: &str = "`interleave!` lists how many instructions of which class follow each other: \
                            `interleave! { 1 mfma, 2 ds_read, 1 vmem }`";
        if input.is_empty() {
            return Err(input.error(FORM));
        }
        let mut groups = Vec::new();
        while !input.is_empty() {
            let count: LitInt = input.parse().map_err(|e| syn::Error::new(e.span(), FORM))?;
            let class: Ident = input.parse().map_err(|e| syn::Error::new(e.span(), FORM))?;
            if !CLASSES.iter().any(|c| class == c) {
                let what = format!("there is no class `{class}`; the classes are {}", CLASSES.join(", "));
                return Err(syn::Error::new_spanned(class, what));
            }
            let many = match count.base10_parse::<u8>() {
                Ok(many) if many > 0 => many,
                _ => return Err(syn::Error::new_spanned(count, "a group has 1 to 255 instructions")),
            };
            groups.push((many, class));
            if !input.is_empty() {
                input.parse::<Token![,]>().map_err(|e| syn::Error::new(e.span(), FORM))?;
            }
        }
        Ok(Groups(groups))
    }
}

/// True for a call of the macro `name!`.
pub(crate) fn is_macro(call: &syn::Macro, name: &str) -> bool {
    call.path.segments.last().is_some_and(|s| s.ident == name)
}
