//! Tokens to functions with their attributes. Nothing is judged here but syntax.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, Block, FnArg, Ident, ItemEnum, ItemImpl, ItemStruct, ItemTrait, Signature, Stmt, Token,
    TraitItem, Type, Visibility,
};

use crate::ty::Elements;

/// A function in `gcn_kernel!`.
#[derive(Clone)]
pub(crate) struct KernelFn {
    pub attrs: Vec<Attribute>,
    pub vis: Visibility,
    pub sig: Signature,
    /// The body, or why it is not Rust: the kernel's name and arguments are known even then.
    pub body: syn::Result<Block>,
    /// Of a body that is not Rust, the statements that are.
    pub kept: Vec<Stmt>,
    /// The kernels beside it: unit structs, which a pattern would take for what it compares with.
    pub kernels: Rc<[String]>,
    /// The tuple structs beside it.
    pub tuple_structs: Rc<[String]>,
    /// What the items beside it say about values.
    pub known: Rc<Known>,
    /// The type in whose `impl` it is, if that is a name.
    pub self_type: Option<Ident>,
    /// `self` is each lane's own.
    pub self_varies: bool,
}

/// Names that stand for varying values wherever one macro call uses them.
#[derive(Default)]
pub(crate) struct Known {
    /// Device functions and methods that return `V<…>`.
    pub functions: HashSet<String>,
    /// Fields of device structs that are `V<…>`.
    pub fields: HashSet<String>,
    /// Device structs with `#[repr(C)]`, with the types of their fields.
    pub data: HashMap<String, Vec<Type>>,
    /// Methods that one of these has and no other type, with the struct.
    pub of_data: HashMap<String, String>,
    /// Those of them that give such a struct.
    pub of_lanes: HashSet<String>,
    /// Methods with `&mut self`.
    pub mutating: HashSet<String>,
    /// Of functions and methods, which parameters are a `&mut V<…>`, `self` not counted.
    pub lends: HashMap<String, Vec<bool>>,
    /// Of functions and methods, which parameters are an `Option` of the device, `self` not counted.
    pub options: HashMap<String, Vec<bool>>,
    /// Of functions and methods, which parameters are of an element type that is a parameter, `self` not counted.
    pub generics: HashMap<String, Vec<bool>>,
    /// The variants of device enums in order, and whether they have no fields.
    pub variants: HashMap<String, Vec<(String, bool)>>,
    /// Device enums that memory holds, `#[repr(u32)]`.
    pub listed: HashSet<String>,
    /// Device enums with parameters.
    pub generic: HashSet<String>,
    /// Device enums whose values are each lane's own.
    pub varying: HashSet<String>,
    /// Operators that `impl`s are for, with the types on their left.
    pub left_of: HashSet<(String, String)>,
    /// Operators that `impl`s are for.
    pub operators: HashSet<String>,
}

impl Known {
    /// True for a struct in memory that is declared beside.
    pub fn is_data(&self, ty: &Type) -> bool {
        let Type::Path(path) = crate::ty::bare(ty) else { return false };
        path.path.get_ident().is_some_and(|name| self.data.contains_key(&name.to_string()))
    }

    /// True for an enum in memory that is declared beside.
    pub fn is_listed(&self, ty: &Type) -> bool {
        let Type::Path(path) = crate::ty::bare(ty) else { return false };
        path.path.get_ident().is_some_and(|name| self.listed.contains(&name.to_string()))
    }

    /// True for types of which each lane has its own value.
    pub fn varies(&self, ty: &Type) -> bool {
        let name = match crate::ty::bare(ty) {
            Type::Path(p) => p.path.get_ident().map(ToString::to_string),
            _ => None,
        };
        Elements::default().is_varying(ty) || name.is_some_and(|name| self.varying.contains(&name))
    }
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

/// `#[device] trait … { … }` with its functions apart.
pub(crate) struct DeviceTrait {
    /// The trait without its functions: attributes, generics, types, constants.
    pub frame: ItemTrait,
    /// The functions, and whether they have a body.
    pub functions: Vec<(KernelFn, bool)>,
}

/// `#[device] impl … { … }` with its functions apart.
#[derive(Clone)]
pub(crate) struct DeviceImpl {
    /// The block without its functions: attributes, generics, types, constants.
    pub frame: ItemImpl,
    pub functions: Vec<KernelFn>,
}

/// The number's type of an enum that memory holds.
pub(crate) fn repr(item: &syn::ItemEnum) -> Option<&Attribute> {
    item.attrs.iter().find(|a| a.path().is_ident("repr"))
}

/// The attribute that makes an item one of the device.
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

/// Items of the host.
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
        // A body that is not Rust must not take the whole block with it.
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

/// The members of an `impl` block: what is not a function, and the functions.
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
            body,
            kept: Vec::new(),
            kernels: Rc::default(),
            tuple_structs: Rc::default(),
            known: Rc::default(),
            self_type: None,
            self_varies: false,
        }
    }

    /// The `#[host]` parameters and the constant ones.
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

    /// It returns `Self`, which is called `name`.
    pub fn gives(&self, name: Option<&str>) -> bool {
        let syn::ReturnType::Type(_, ty) = &self.sig.output else { return false };
        name_of(ty).is_some_and(|of| of == "Self" || Some(&*of) == name)
    }

    /// It takes `&mut self`.
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
            // Past the braces the next kernel can still be read; without braces there is no body to go past.
            let group = input.parse::<proc_macro2::Group>().map_err(|_| error.clone())?;
            Ok((Err(error), parsable(group.stream())))
        }
    }
}

/// The statements that parse, of a body that does not: what an editor completes names from while one is being written.
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
            // After braces a statement may go on (`if … { } else { }`), after `;` it is over.
            Err(_) if semicolon => open = TokenStream::new(),
            Err(_) => {}
        }
    }
    kept
}

/// Of a parameter that is not `self`, whether it is a `&mut V<…>`.
fn lends(input: &FnArg) -> Option<bool> {
    let FnArg::Typed(typed) = input else { return None };
    Some(
        matches!(&*typed.ty, Type::Reference(r) if r.mutability.is_some() && Elements::default().is_varying(&r.elem)),
    )
}

/// Of a parameter that is not `self`, whether it is an `Option` of the device.
fn takes_option(input: &FnArg) -> Option<bool> {
    let FnArg::Typed(typed) = input else { return None };
    let host = typed.attrs.iter().any(|a| a.path().is_ident("host"));
    Some(!host && crate::ty::optional(&typed.ty).is_some())
}

/// Of a parameter that is not `self`, whether it is a number whose type is a parameter: `V<T>`, `S<T>` or `T`.
fn takes_number(input: &FnArg, elements: &Elements) -> Option<bool> {
    let FnArg::Typed(typed) = input else { return None };
    let ty = crate::ty::handled(&typed.ty);
    Some(matches!(ty, Type::Path(p) if p.path.get_ident().is_some_and(|name| elements.is_parameter(name))))
}

/// The operator that an `impl` is for.
fn operator(item: &Item) -> Option<String> {
    let Item::Impl(i) = item else { return None };
    let (_, path, _) = i.frame.trait_.as_ref()?;
    crate::operator::key(path, crate::operator::right(path)?, &i.frame.self_ty)
}

/// The name of the type that an `impl` or a method belongs to.
fn name_of(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(p) => p.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

/// The methods of an `impl` that give a value of its type.
fn gives_itself(item: &Item) -> Vec<String> {
    let Item::Impl(i) = item else { return Vec::new() };
    let itself = |f: &&KernelFn| f.gives(name_of(&i.frame.self_ty).as_deref());
    i.functions.iter().filter(itself).map(|f| f.sig.ident.to_string()).collect()
}

/// The methods of structs of memory whose name no other type's method has.
fn methods_of_data(items: &[Item], known: &Known) -> HashMap<String, String> {
    let (mut found, mut others) = (HashMap::new(), HashSet::new());
    for item in items {
        let (of, functions): (Option<String>, Vec<&KernelFn>) = match item {
            Item::Impl(i) => {
                let own = i.frame.trait_.is_none().then(|| name_of(&i.frame.self_ty)).flatten();
                (own.filter(|name| known.data.contains_key(name)), i.functions.iter().collect())
            }
            Item::Trait(t) => (None, t.functions.iter().map(|(f, _)| f).collect()),
            _ => continue,
        };
        for name in functions.into_iter().map(|f| f.sig.ident.to_string()) {
            match &of {
                Some(of) if found.get(&name).is_none_or(|other| other == of) => {
                    found.insert(name, of.clone());
                }
                _ => {
                    others.insert(name);
                }
            }
        }
    }
    found.retain(|name, _| !others.contains(name));
    found
}

/// Of functions and fields with one name, all must say so.
fn known(items: &[Item]) -> Known {
    let (mut known, mut others) = (Known::default(), Known::default());
    for item in items {
        let Item::Enum(e) = item else { continue };
        let variants =
            e.variants.iter().map(|v| (v.ident.to_string(), matches!(v.fields, syn::Fields::Unit)));
        known.variants.insert(e.ident.to_string(), variants.collect());
        if repr(e).is_some() {
            known.listed.insert(e.ident.to_string());
            continue;
        }
        if !e.generics.params.is_empty() {
            known.generic.insert(e.ident.to_string());
        }
        let mut fields = e.variants.iter().flat_map(|v| &v.fields).peekable();
        if fields.peek().is_none() || fields.any(|f| Elements::default().is_varying(&f.ty)) {
            known.varying.insert(e.ident.to_string());
        }
    }
    let enums = Known { varying: known.varying.clone(), ..Known::default() };
    let note =
        |names: &mut HashSet<String>, others: &mut HashSet<String>, name: &Ident, ty: Option<&syn::Type>| {
            let varies = ty.is_some_and(|ty| enums.varies(ty));
            if varies { names } else { others }.insert(name.to_string());
        };
    let mut function = |f: &KernelFn, around: &Elements| {
        let ty = match &f.sig.output {
            syn::ReturnType::Type(_, ty) => Some(&**ty),
            syn::ReturnType::Default => None,
        };
        note(&mut known.functions, &mut others.functions, &f.sig.ident, ty);
        if f.mutates_self() {
            known.mutating.insert(f.sig.ident.to_string());
        }
        let lent: Vec<bool> = f.sig.inputs.iter().filter_map(lends).collect();
        if lent.contains(&true) {
            known.lends.insert(f.sig.ident.to_string(), lent);
        }
        let options: Vec<bool> = f.sig.inputs.iter().filter_map(takes_option).collect();
        if options.contains(&true) {
            known.options.insert(f.sig.ident.to_string(), options);
        }
        let elements = around.with(&f.sig.generics);
        let numbers: Vec<bool> = f.sig.inputs.iter().filter_map(|i| takes_number(i, &elements)).collect();
        // Of several with one name, all must say so.
        let seen = known.generics.entry(f.sig.ident.to_string()).or_insert_with(|| numbers.clone());
        *seen = seen.iter().zip(numbers).map(|(a, b)| *a && b).collect();
    };
    for item in items {
        match item {
            Item::Function(f) => function(f, &Elements::default()),
            Item::Impl(i) => {
                let around = crate::ty::elements(&i.frame.generics);
                i.functions.iter().for_each(|f| function(f, &around));
            }
            Item::Trait(t) => {
                let around = crate::ty::elements(&t.frame.generics);
                t.functions.iter().for_each(|(f, _)| function(f, &around));
            }
            _ => {}
        }
    }
    for item in items {
        let Item::Struct(s) = item else { continue };
        if s.attrs.iter().any(|a| a.path().is_ident("repr")) {
            known.data.insert(s.ident.to_string(), s.fields.iter().map(|f| f.ty.clone()).collect());
        }
        for field in &s.fields {
            if let Some(name) = &field.ident {
                note(&mut known.fields, &mut others.fields, name, Some(&field.ty));
            }
        }
    }
    known.of_data = methods_of_data(items, &known);
    known.of_lanes = items.iter().flat_map(gives_itself).collect();
    known.operators = items.iter().filter_map(operator).collect();
    let impls = items.iter().filter_map(|item| match item {
        Item::Impl(i) => i.frame.trait_.as_ref().map(|(_, path, _)| (path, &i.frame.self_ty)),
        _ => None,
    });
    known.left_of = impls.filter_map(|(path, ty)| crate::operator::with_left(path, ty)).collect();
    known.functions.retain(|name| !others.functions.contains(name));
    known.fields.retain(|name| !others.fields.contains(name));
    known
}

/// Fields of device structs whose type is an enum of memory are one value for all lanes, as those of a plain scalar type.
fn uniform_fields(item: &mut Item, known: &Known) {
    let fields: Vec<&mut syn::Field> = match item {
        Item::Struct(s) if !known.data.contains_key(&s.ident.to_string()) => s.fields.iter_mut().collect(),
        Item::Enum(e) => e.variants.iter_mut().flat_map(|v| v.fields.iter_mut()).collect(),
        _ => return,
    };
    for field in fields {
        if known.is_listed(&field.ty) {
            let ty = &field.ty;
            field.ty = syn::parse_quote_spanned!(syn::spanned::Spanned::span(ty)=> ::gcn_dsl::S<#ty>);
        }
    }
}

/// Tells each function the names of all kernels and of all tuple structs.
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

/// All items of one macro call.
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
        introduce(&mut items);
        Ok(items)
    };
    parser.parse2(input)
}
