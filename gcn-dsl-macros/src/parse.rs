//! Parses tokens to functions with their attributes; checks only syntax.

mod compound;
mod known;
mod normal;
mod views;

use std::rc::Rc;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, Block, FnArg, Ident, ItemEnum, ItemImpl, ItemStruct, ItemTrait, Signature, Stmt, Token,
    TraitItem, Type, Visibility,
};

pub(crate) use known::Known;
use known::{known, name_of, uniform_fields};
pub(crate) use normal::marked;

/// A function in `gcn_kernel!`.
#[derive(Clone)]
pub(crate) struct KernelFn {
    pub attrs: Vec<Attribute>,
    pub vis: Visibility,
    pub sig: Signature,
    /// The body, or the syntax error in it. The name and the arguments are known even then.
    pub body: syn::Result<Block>,
    /// If the body has a syntax error, the statements that parse.
    pub kept: Vec<Stmt>,
    /// The names of the kernels of this macro call. A kernel is a unit struct, so a pattern with its name would be a
    /// comparison.
    pub kernels: Rc<[String]>,
    /// The tuple structs of this macro call.
    pub tuple_structs: Rc<[String]>,
    /// Facts that follow from the other items of this macro call.
    pub known: Rc<Known>,
    /// The type whose `impl` contains the function, if the type is a plain name.
    pub self_type: Option<Ident>,
    /// True if `self` is varying.
    pub self_varies: bool,
}

/// An item in `gcn_kernel!`.
pub(crate) enum Item {
    Kernel(KernelFn),
    /// `#[device] fn`.
    Function(KernelFn),
    /// `#[device] struct`.
    Struct(ItemStruct),
    /// `#[device] enum`.
    Enum(ItemEnum),
    /// `#[device] impl`.
    Impl(DeviceImpl),
    /// `#[device] trait`.
    Trait(DeviceTrait),
}

/// `#[device] trait … { … }`, with the functions separate from the other members.
pub(crate) struct DeviceTrait {
    /// The trait without its functions: attributes, generics, types, constants.
    pub frame: ItemTrait,
    /// The functions, each with true if it has a body.
    pub functions: Vec<(KernelFn, bool)>,
}

/// `#[device] impl … { … }`, with the functions separate from the other members.
#[derive(Clone)]
pub(crate) struct DeviceImpl {
    /// The block without its functions: attributes, generics, types, constants.
    pub frame: ItemImpl,
    pub functions: Vec<KernelFn>,
}

/// The `#[repr(…)]` attribute, which makes the enum one that can be stored in memory.
pub(crate) fn repr(item: &syn::ItemEnum) -> Option<&Attribute> {
    item.attrs.iter().find(|a| a.path().is_ident("repr"))
}

/// True for the attribute that makes an item a device item.
pub(crate) fn is_device(attr: &Attribute) -> bool {
    attr.path().is_ident("device")
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        let attrs = ahead.call(Attribute::parse_outer)?;
        let device = attrs.iter().find(|a| is_device(a));
        ahead.parse::<Visibility>()?;
        let item = (ahead.peek(Token![struct]), ahead.peek(Token![impl]));
        if device.is_some() && ahead.peek(Token![enum]) {
            return input.parse().map(Item::Enum);
        }
        if device.is_some() && ahead.peek(Token![trait]) {
            return input.parse().map(Item::Trait);
        }
        match (device, item) {
            (Some(_), (true, _)) => input.parse().map(Item::Struct),
            (Some(_), (_, true)) => input.parse().map(Item::Impl),
            (Some(_), _) => {
                outside(&ahead)?;
                input.parse().map(Item::Function)
            }
            (None, (true, _) | (_, true)) => {
                let keyword: proc_macro2::TokenTree = ahead.parse()?;
                let message = format!(
                    "`{keyword}` in `gcn_kernel!` is for device values and says so: write `#[device] {keyword} …`; what \
                     lives on the host stands outside the macro"
                );
                Err(syn::Error::new(keyword.span(), message))
            }
            (None, _) => {
                outside(&ahead)?;
                input.parse().map(Item::Kernel)
            }
        }
    }
}

/// Returns an error if the next item is one that belongs outside of the macro.
fn outside(ahead: ParseStream<'_>) -> syn::Result<()> {
    let what = if ahead.peek(Token![trait]) {
        "`trait` in `gcn_kernel!` is for functions on device values and says so: write `#[device] trait …`, and `#[device] impl Trait for \
         Type { … }` for what implements it"
    } else if ahead.peek(Token![enum]) {
        "`enum` in `gcn_kernel!` is for device values and says so: write `#[device] enum …`; an enum of the host stands outside of the \
         macro, and a `comptime match` chooses by it"
    } else if ahead.peek(Token![use])
        || ahead.peek(Token![mod])
        || ahead.peek(Token![static])
        || ahead.peek(Token![type])
    {
        "this stands outside of `gcn_kernel!`, which holds kernels, `#[device]` functions, structs and impls"
    } else if ahead.peek(Token![const]) && !ahead.peek2(Token![fn]) {
        "a constant stands outside of `gcn_kernel!`, or inside a function's body"
    } else {
        return Ok(());
    };
    Err(ahead.error(what))
}

impl Parse for DeviceImpl {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut tokens = proc_macro2::TokenStream::new();
        let mut body = None;
        // A syntax error in one body must not discard the whole macro call.
        while body.is_none() {
            if input.peek(syn::token::Brace) {
                let inner;
                syn::braced!(inner in input);
                body = Some(members(&inner)?);
            } else {
                tokens.extend([input.parse::<proc_macro2::TokenTree>()?]);
            }
        }
        let (others, functions) = body.unwrap_or_default();
        let frame: ItemImpl = syn::parse2(quote::quote!(#tokens { #others }))?;
        Ok(DeviceImpl { frame, functions })
    }
}

/// The functions of an `impl` block, and its other members.
fn members(input: ParseStream<'_>) -> syn::Result<(TokenStream, Vec<KernelFn>)> {
    let (mut others, mut functions) = (TokenStream::new(), Vec::new());
    while !input.is_empty() {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        if ahead.peek(Token![type]) || (ahead.peek(Token![const]) && ahead.peek2(Ident)) {
            let member: syn::ImplItem = input.parse()?;
            others.extend(quote::ToTokens::into_token_stream(member));
        } else {
            functions.push(input.parse()?);
        }
    }
    Ok((others, functions))
}

impl Parse for DeviceTrait {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut frame: ItemTrait = input.parse()?;
        let mut functions = Vec::new();
        for item in std::mem::take(&mut frame.items) {
            match item {
                TraitItem::Fn(f) => {
                    let body = f.default.clone().unwrap_or_else(|| syn::parse_quote!({}));
                    let function = KernelFn::of(f.attrs, Visibility::Inherited, f.sig, Ok(body));
                    functions.push((function, f.default.is_some()));
                }
                other => frame.items.push(other),
            }
        }
        Ok(DeviceTrait { frame, functions })
    }
}

impl KernelFn {
    fn of(attrs: Vec<Attribute>, vis: Visibility, sig: Signature, body: syn::Result<Block>) -> KernelFn {
        KernelFn {
            attrs,
            vis,
            sig,
            body: body.map(normal::normal),
            kept: Vec::new(),
            kernels: Rc::default(),
            tuple_structs: Rc::default(),
            known: Rc::default(),
            self_type: None,
            self_varies: false,
        }
    }

    /// The names of the `#[host]` parameters and of the constant parameters.
    pub fn host_names(&self) -> Vec<String> {
        let host = |input: &FnArg| match input {
            FnArg::Typed(t) if t.attrs.iter().any(|a| a.path().is_ident("host")) => match &*t.pat {
                syn::Pat::Ident(p) => Some(p.ident.to_string()),
                _ => None,
            },
            _ => None,
        };
        let consts = self.sig.generics.const_params().map(|c| c.ident.to_string());
        self.sig.inputs.iter().filter_map(host).chain(consts).collect()
    }

    /// The constant parameters of type `usize`.
    pub fn size_names(&self) -> Vec<String> {
        let is_size = |c: &&syn::ConstParam| matches!(&c.ty, syn::Type::Path(p) if p.path.is_ident("usize"));
        self.sig.generics.const_params().filter(is_size).map(|c| c.ident.to_string()).collect()
    }

    /// True if the function returns `Self`, or the type `name`.
    pub fn gives(&self, name: Option<&str>) -> bool {
        let syn::ReturnType::Type(_, ty) = &self.sig.output else { return false };
        name_of(crate::ty::handled(ty)).is_some_and(|of| of == "Self" || Some(&*of) == name)
    }

    /// True if the function takes `mut self`.
    pub fn owns_mutable_self(&self) -> bool {
        matches!(self.sig.inputs.first(), Some(FnArg::Receiver(r)) if r.reference.is_none() && r.mutability.is_some())
    }

    /// True if the function takes `&mut self`.
    pub fn mutates_self(&self) -> bool {
        matches!(self.sig.inputs.first(), Some(FnArg::Receiver(r)) if r.reference.is_some() && r.mutability.is_some())
    }
}

impl Parse for KernelFn {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (attrs, vis, sig) = (input.call(Attribute::parse_outer)?, input.parse()?, input.parse()?);
        let (body, kept) = body(input)?;
        Ok(KernelFn { kept, ..KernelFn::of(attrs, vis, sig, body) })
    }
}

fn body(input: ParseStream<'_>) -> syn::Result<(syn::Result<Block>, Vec<Stmt>)> {
    let ahead = input.fork();
    match ahead.parse() {
        Ok(block) => {
            input.advance_to(&ahead);
            Ok((Ok(block), Vec::new()))
        }
        Err(error) => {
            // After the braces of this body, the next kernel can still be parsed. Without braces, there is no body to
            // skip.
            let group = input.parse::<proc_macro2::Group>().map_err(|_| error.clone())?;
            Ok((Err(error), parsable(group.stream())))
        }
    }
}

/// Returns those statements of a body with a syntax error that can be parsed. While the user is typing one statement, an editor can then
/// complete the names that the others declare.
fn parsable(body: TokenStream) -> Vec<Stmt> {
    let (mut kept, mut open) = (Vec::new(), TokenStream::new());
    for token in body {
        let ends = match &token {
            TokenTree::Punct(p) => p.as_char() == ';',
            TokenTree::Group(g) => g.delimiter() == Delimiter::Brace,
            _ => false,
        };
        let semicolon = matches!(token, TokenTree::Punct(_));
        open.extend([token]);
        if !ends {
            continue;
        }
        match Block::parse_within.parse2(open.clone()) {
            Ok(statements) => {
                kept.extend(statements);
                open = TokenStream::new();
            }
            // The tokens do not parse. If they end with `;`, the statement is complete and is dropped. If they end with `}`, it may
            // continue (`if … { } else { }`), so that more tokens are tried.
            Err(_) if semicolon => open = TokenStream::new(),
            Err(_) => {}
        }
    }
    kept
}

/// Tells each function the names of all kernels and tuple structs, and the facts about the other items.
fn introduce(items: &mut [Item]) {
    let kernels = items.iter().filter_map(|item| match item {
        Item::Kernel(kernel) => Some(kernel.sig.ident.to_string()),
        _ => None,
    });
    let structs = items.iter().filter_map(|item| match item {
        Item::Struct(s) if matches!(s.fields, syn::Fields::Unnamed(_)) => Some(s.ident.to_string()),
        _ => None,
    });
    let (kernels, structs): (Rc<[String]>, Rc<[String]>) = (kernels.collect(), structs.collect());
    let known = Rc::new(known(items));
    items.iter_mut().for_each(|item| uniform_fields(item, &known));
    let tell = |f: &mut KernelFn| {
        (f.kernels, f.tuple_structs) = (Rc::clone(&kernels), Rc::clone(&structs));
        f.known = Rc::clone(&known);
    };
    for item in items {
        match item {
            Item::Kernel(f) | Item::Function(f) => tell(f),
            Item::Impl(i) => {
                let name = match &*i.frame.self_ty {
                    Type::Path(p) => p.path.get_ident().cloned(),
                    _ => None,
                };
                i.functions.iter_mut().for_each(|f| {
                    tell(f);
                    f.self_type.clone_from(&name);
                });
            }
            Item::Trait(t) => t.functions.iter_mut().for_each(|(f, _)| tell(f)),
            Item::Struct(_) | Item::Enum(_) => {}
        }
    }
}

/// Parses all items of one macro call.
pub(crate) fn items(input: TokenStream) -> syn::Result<Vec<Item>> {
    let parser = |input: ParseStream<'_>| {
        if input.is_empty() {
            return Err(input.error(
                "`gcn_kernel!` is empty; write a kernel, for example `#[workgroup(64)] fn fill(x: &mut [f32]) { … }`",
            ));
        }
        let mut items = Vec::new();
        while !input.is_empty() {
            items.push(input.parse()?);
        }
        views::without_lifetimes(&mut items);
        compound::as_operators(&mut items);
        introduce(&mut items);
        Ok(items)
    };
    parser.parse2(input)
}
