//! Expands a kernel's syntax tree to calls of `gcn_dsl::__private`. Running the expansion while the kernel is built records the kernel's
//! operations (*tracing*); device values are then handles of IR values.

mod analysis;
mod control;
mod deferred;
mod embedded;
pub(crate) mod expr;
mod frame;
pub(crate) mod items;
mod places;
mod statements;
mod types;

use std::collections::HashSet;
use std::rc::Rc;

use gcn_isa::Target;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use crate::errors::Errors;
use crate::ty;

/// The context for expanding a body: the names of device variables, and the collected errors.
pub(crate) struct Cx<'e> {
    pub errors: &'e mut Errors,
    pub targets: Option<&'e [Target]>,
    /// The type `T` of a parameter `AllLanes<T>`, if a device function with one is being expanded.
    pub callers_targets: Option<TokenStream>,
    /// A token of the kernel. The generated names get its hygiene.
    site: Span,
    /// Names in scope, innermost last.
    names: Vec<Name>,
    /// The number of closures around the current point.
    closures: usize,
    /// The stack of enclosing constructs, in which exits search for their targets.
    frames: Vec<frame::Frame>,
    /// Line and column at which the names of the enclosing statements go out of scope.
    ends: Option<(u32, u32)>,
    /// The number of unique names generated so far.
    fresh: usize,
    /// True in a function whose `return` has no value.
    pub returns_nothing: bool,
    /// The device function that is being expanded, if any, and the number of enclosing `comptime` branches.
    pub function: Option<Ident>,
    pub comptime: usize,
    /// The nesting depth of destructuring assignments.
    pub nesting: usize,
    /// The kernels of this macro call, and those of them whose names the body rebinds.
    pub kernels: Rc<[String]>,
    pub renamed: Vec<Ident>,
    /// The tuple structs of this macro call.
    pub tuple_structs: Rc<[String]>,
    /// The type whose `impl` contains the function, if it is a plain name.
    pub self_type: Option<Ident>,
    /// The function's return type, as written.
    pub result: Option<syn::Type>,
    /// The type parameters in scope.
    pub elements: ty::Elements,
    /// The numbers of enclosing manually scheduled blocks and of enclosing `unsafe` blocks.
    manual: usize,
    unsafes: usize,
    /// The number of `#[matrix]` phases so far, and whether the current point is in such a phase.
    phases: usize,
    in_phase: bool,
    /// The assignments to `#[carried]` variables so far, by the variables' names.
    carried: Vec<Ident>,
    /// Facts that follow from the other items of this macro call.
    pub known: Rc<crate::parse::Known>,
    /// The variables that were declared without an initial value, and whether they have been assigned.
    pub deferred: deferred::Deferred,
    /// The variables that start uniform and are later assigned varying values.
    pub varying: analysis::vary::Varying,
    /// The parameters whose values are known when the kernel is built.
    pub hosts: Vec<String>,
    /// Constant parameters of type `usize`.
    sizes: Vec<String>,
    /// Parameters of type `&[V<T>]`.
    lists: Vec<String>,
    /// The names that denote memory; and the variables of `#[unroll] for` that index both memory and arrays of values.
    memory: HashSet<String>,
    mixed: Vec<Ident>,
}

/// What a name in a body denotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An immutable device value (a handle) or host value.
    Value,
    /// A `let mut` variable of the device.
    Variable,
    /// A `&mut` parameter of a device function: it denotes a variable of the caller, and is accessed as `*name`.
    Lent,
    /// The parameter `name: AllLanes`.
    Token,
    /// The variable of an `#[unroll] for`, which is a host value.
    Counted,
    /// A `#[carried] let mut` variable, whose value the next trip of its loop receives.
    Carried,
    /// A `let x;` without an initial value.
    Deferred,
}

struct Name {
    text: String,
    kind: Kind,
    /// The number of closures that enclose the variable's declaration.
    closures: usize,
    /// True if the name is a variable that contains a pointer.
    pointer: bool,
    /// The initial value, if that is an untyped number.
    number: Option<syn::Expr>,
    /// True if the name is a host value that may be a `usize`.
    size: bool,
    /// True for a variable that is initialised with `None` without a type annotation: the first assigned value
    /// determines the type.
    untyped: bool,
}

impl<'e> Cx<'e> {
    pub fn new(errors: &'e mut Errors, targets: Option<&'e [Target]>, site: Span) -> Cx<'e> {
        Cx {
            errors,
            targets,
            callers_targets: None,
            site,
            names: Vec::new(),
            closures: 0,
            frames: Vec::new(),
            ends: None,
            fresh: 0,
            returns_nothing: true,
            function: None,
            kernels: Rc::default(),
            renamed: Vec::new(),
            tuple_structs: Rc::default(),
            self_type: None,
            result: None,
            comptime: 0,
            nesting: 0,
            elements: ty::Elements::default(),
            manual: 0,
            unsafes: 0,
            phases: 0,
            in_phase: false,
            carried: Vec::new(),
            known: Rc::default(),
            deferred: deferred::Deferred::default(),
            varying: analysis::vary::Varying::default(),
            hosts: Vec::new(),
            sizes: Vec::new(),
            lists: Vec::new(),
            memory: HashSet::new(),
            mixed: Vec::new(),
        }
    }

    /// The name of the flow token, whose type says whether all lanes are active, with the position `at`.
    pub fn flow(&self, at: Span) -> Ident {
        self.helper("flow", at)
    }

    /// A name that the expansion declares.
    pub fn helper(&self, name: &str, at: Span) -> Ident {
        helper(name, at, self.site)
    }

    /// The name of a construct's guard, the variable that represents the construct in the expansion. Constructs of the
    /// same kind may be nested, and exits may refer to the outer ones, so each guard has its own number.
    pub fn guard(&self, name: &str, at: Span) -> Ident {
        let depth = self
            .frames
            .iter()
            .filter(|f| matches!(f, frame::Frame::Branch(_) | frame::Frame::Target(_)))
            .count();
        match depth {
            0 | 1 => self.helper(name, at),
            _ => self.helper(&format!("{name}{depth}"), at),
        }
    }

    /// True if `name` is a device variable here.
    pub fn is_variable(&self, name: &Ident) -> bool {
        self.kind(name) == Some(Kind::Variable)
    }

    /// The meaning of `name`, if it is declared in the body.
    pub fn kind(&self, name: &Ident) -> Option<Kind> {
        self.name(name).map(|n| n.kind)
    }

    /// True if `name` was declared outside the closure that is being expanded.
    pub fn is_captured(&self, name: &Ident) -> bool {
        self.name(name).is_some_and(|n| n.closures < self.closures)
    }

    fn name(&self, name: &Ident) -> Option<&Name> {
        // Once, because a comparison with an `Ident` writes the name each time.
        let name = name.to_string();
        self.names.iter().rev().find(|n| name == n.text)
    }

    pub fn declare(&mut self, name: &Ident, variable: bool) {
        self.declare_as(name, if variable { Kind::Variable } else { Kind::Value });
    }

    pub fn declare_as(&mut self, name: &Ident, kind: Kind) {
        if self.kernels.iter().any(|k| name == k) && !self.renamed.contains(name) {
            self.renamed.push(name.clone());
        }
        self.names.push(Name {
            text: name.to_string(),
            kind,
            closures: self.closures,
            pointer: false,
            number: None,
            size: false,
            untyped: false,
        });
    }

    /// Functions that shadow the kernels whose names the body rebinds. In a pattern, the name of a unit struct (a
    /// kernel) is a comparison, but the name of a function is a new binding.
    pub fn freed_names(&self) -> TokenStream {
        let free = |name: &Ident| quote!(#[allow(dead_code)] fn #name() {});
        self.renamed.iter().map(free).collect()
    }

    /// Reports an error if the current point is inside a closure. It is unknown who calls the closure and under which
    /// condition, so nothing in a closure may depend on the set of active lanes.
    pub fn not_in_closure(&mut self, at: impl ToTokens, what: &str, remedy: &str) {
        if self.closures > 0 {
            let why = "the closure may be called where other lanes run";
            self.errors.at(at, format!("{what} is not available in a closure, for {why}; {remedy}"));
        }
    }

    /// Runs `f`, which expands a closure's body.
    pub fn closure<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        self.closures += 1;
        self.frames.push(frame::Frame::Closure);
        let result = self.scope(f);
        self.frames.pop();
        self.closures -= 1;
        result
    }

    /// Runs `f`, and ends the scope of the names that `f` declares.
    pub fn scope<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let depth = self.names.len();
        let result = f(self);
        self.names.truncate(depth);
        result
    }
}

/// A name that the expansion declares. Its span has the location of `at`, so that errors point there, and the hygiene
/// of `site`, a token of the user's kernel: with the hygiene of the macro call, rustc would point at the whole call.
/// The prefix distinguishes the name from the user's names.
pub(crate) fn helper(name: &str, at: Span, site: Span) -> Ident {
    Ident::new(&format!("__gcn_{name}"), at.resolved_at(site))
}

/// The name of `::gcn_dsl::__private` in the bodies of functions, which [`traits_by_type`] imports: every token of an
/// expansion takes rustc time, and of this one there are several in each statement.
const LANG: &str = "__gcn";

/// `gcn_dsl::__private::name` in a function's body, with the span to which errors about the call should point.
pub(crate) fn lang(name: &str, span: Span) -> TokenStream {
    let (module, name) = (Ident::new(LANG, span), Ident::new(name, span));
    quote_spanned!(span=> #module::#name)
}

/// Imports [`LANG`], and the traits whose methods choose by a type that only rustc knows. Every function that the expansion
/// writes has one import at its head: one at each use, in a block of its own, takes rustc longer than everything else in
/// the block.
fn traits_by_type() -> TokenStream {
    quote! {
        #[allow(unused_imports)]
        use ::gcn_dsl::__private::by_type::*;
    }
}

/// True for the path of an item of [`lang`], which only the expansion writes.
pub(crate) fn is_of_lang(path: &syn::Path) -> bool {
    match path.leading_colon {
        Some(_) => path.segments.iter().nth(1).is_some_and(|module| module.ident == "__private"),
        None => path.segments.first().is_some_and(|module| module.ident == LANG),
    }
}
