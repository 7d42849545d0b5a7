//! Checks a kernel's declaration as far as syntax alone allows, and extracts its properties.

mod registers;

use gcn_emit::kernel::MAX_WORKGROUP;
use gcn_isa::layout::Capability;
use gcn_isa::target::Subtarget;
use gcn_isa::{InstDesc, Target, table};
use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, FnArg, GenericParam, Lit, Meta, Pat, ReturnType, Type, parse_quote};

use crate::errors::Errors;
use crate::parse::KernelFn;
use crate::ty;
use registers::Registers;

/// The properties that a kernel's declaration states.
pub(crate) struct Declared {
    /// The three workgroup sizes.
    pub workgroup: [Expr; 3],
    /// The targets in `#[targets(…)]`; `None` without this attribute.
    pub targets: Option<Vec<Target>>,
    /// Limits on register use.
    pub registers: Registers,
    /// True if `#[contract]` is present.
    pub contract: bool,
    /// The kernel's arguments.
    pub args: Vec<Arg>,
}

/// A `#[host]` parameter: a field of the kernel's struct, whose value is known when the kernel is built.
pub(crate) struct HostParam {
    pub name: syn::Ident,
    pub ty: Type,
}

fn is_host(input: &FnArg) -> bool {
    matches!(input, FnArg::Typed(typed) if typed.attrs.iter().any(|a| a.path().is_ident("host")))
}

/// The `#[host]` parameters.
pub(crate) fn host_params(kernel: &KernelFn) -> Vec<HostParam> {
    let typed = kernel.sig.inputs.iter().filter(|input| is_host(input)).filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    typed
        .filter_map(|typed| match &*typed.pat {
            Pat::Ident(p) => Some(HostParam { name: p.ident.clone(), ty: (*typed.ty).clone() }),
            _ => None,
        })
        .collect()
}

/// An argument of the kernel.
pub(crate) struct Arg {
    pub name: syn::Ident,
    pub kind: ArgKind,
    /// The type of the argument, or of the memory's elements.
    pub elem: Type,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgKind {
    Value,
    Slice,
    SliceMut,
    Pointer,
    PointerMut,
}

impl ArgKind {
    /// The method for arguments of this kind; `Signature`, `Arguments` and, on the host, `Packer` each have a method of
    /// this name.
    pub fn method(self) -> &'static str {
        match self {
            ArgKind::Value => "value",
            ArgKind::Slice => "slice",
            ArgKind::SliceMut => "slice_mut",
            ArgKind::Pointer => "pointer",
            ArgKind::PointerMut => "pointer_mut",
        }
    }
}

const ARG_FORMS: &str = "a kernel takes `name: T` (a scalar, an array, a tuple or a `#[repr(C)]` struct by value), `&[T]`, `&mut [T]`, `*const T` or `*mut T`";
const ELEMENTS: &str =
    "the element types are bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, f8e4m3 and f8e5m2";

/// Returns the error to report for input that contains no kernel.
pub(crate) fn no_kernel(error: &syn::Error) -> syn::Error {
    // The messages of this crate's own errors are specific enough.
    if !error.to_string().starts_with("expected") {
        return error.clone();
    }
    let message = format!("{error}; a kernel looks like `#[workgroup(64)] fn name(x: &mut [f32]) {{ … }}`");
    syn::Error::new(error.span(), message)
}

/// The kernel's body; `None`, with the error recorded, if it does not parse as Rust.
pub(crate) fn body<'k>(kernel: &'k KernelFn, errors: &mut Errors) -> Option<&'k syn::Block> {
    match &kernel.body {
        Ok(body) => Some(body),
        Err(error) => {
            let message = format!("the body of `{}` does not parse as Rust: {error}", kernel.sig.ident);
            errors.push(syn::Error::new(error.span(), message));
            None
        }
    }
}

/// True for a function that should have been declared `#[device]`, because it has no workgroup size and takes or
/// returns device values.
pub(crate) fn is_device_function(kernel: &KernelFn) -> bool {
    let workgroup = kernel.attrs.iter().any(|a| a.path().is_ident("workgroup"));
    let takes = kernel.sig.inputs.iter().any(|input| match input {
        FnArg::Typed(typed) => crate::ty::is_handle(&typed.ty),
        FnArg::Receiver(_) => false,
    });
    !workgroup && (takes || matches!(kernel.sig.output, ReturnType::Type(..)))
}

/// Checks the declaration; `None` if it has errors.
pub(crate) fn kernel(kernel: &KernelFn, errors: &mut Errors) -> Option<Declared> {
    signature(kernel, errors);
    let args = arguments(kernel, errors);
    let workgroup = workgroup(kernel, errors);
    let targets = targets(kernel, errors);
    let registers = registers::registers(kernel, targets.as_deref(), errors);
    let contract = find(kernel, "contract");
    if let Some(attr) = contract.filter(|attr| !matches!(attr.meta, Meta::Path(_))) {
        errors.at(attr, "`#[contract]` takes no arguments; write `#[contract]`");
    }
    attributes(kernel, errors);
    Some(Declared { workgroup: workgroup?, targets, registers, contract: contract.is_some(), args: args? })
}

fn attributes(kernel: &KernelFn, errors: &mut Errors) {
    const KEPT: [&str; 5] = ["doc", "allow", "expect", "cfg", "deprecated"];
    const OWN: [&str; 7] =
        ["workgroup", "targets", "schedule", "max_registers", "min_occupancy", "wave", "contract"];
    let is = |attr: &Attribute, names: &[&str]| names.iter().any(|name| attr.path().is_ident(name));
    for (i, attr) in kernel.attrs.iter().enumerate() {
        if !is(attr, &KEPT) && !is(attr, &OWN) {
            let what = "unknown attribute on a kernel; there are `#[workgroup(…)]`, `#[targets(…)]`, `#[schedule(manual)]`, \
                        `#[max_registers(…)]`, `#[min_occupancy(…)]`, `#[wave(…)]` and `#[contract]`";
            errors.at(attr, what);
        }
        if let Err(error) = crate::attrs::is_manual(attr) {
            errors.push(error);
        }
        if is(attr, &OWN) && kernel.attrs[..i].iter().any(|earlier| earlier.path() == attr.path()) {
            errors.at(attr, "the kernel has this attribute already; remove one");
        }
    }
}

fn signature(kernel: &KernelFn, errors: &mut Errors) {
    let sig = &kernel.sig;
    for input in sig.inputs.iter().filter(|input| is_host(input)) {
        let FnArg::Typed(typed) = input else { continue };
        let plain = matches!(&*typed.pat, Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none());
        if typed.attrs.len() > 1 || !plain {
            errors.at(&typed.pat, "a `#[host]` parameter has a plain name and no other attribute");
        } else if let Type::Reference(_) | Type::Infer(_) | Type::ImplTrait(_) = &*typed.ty {
            errors.at(
                &typed.ty,
                "a `#[host]` parameter is a field of the kernel: give it a type that is `Copy`",
            );
        }
    }
    let refuse = |errors: &mut Errors, tokens: Option<&dyn ToTokens>, what: &str| {
        if let Some(tokens) = tokens {
            errors.at(tokens.to_token_stream(), format!("a kernel cannot be {what}"));
        }
    };
    refuse(
        errors,
        sig.asyncness.as_ref().map(|t| t as &dyn ToTokens),
        "`async`; launching already waits for it",
    );
    refuse(errors, sig.unsafety.as_ref().map(|t| t as &dyn ToTokens), "`unsafe`; remove the word");
    refuse(errors, sig.constness.as_ref().map(|t| t as &dyn ToTokens), "`const`; remove the word");
    refuse(errors, sig.abi.as_ref().map(|t| t as &dyn ToTokens), "`extern`; remove the ABI");
    if let ReturnType::Type(_, ty) = &sig.output {
        errors.at(ty, "a kernel returns nothing; write results to a `&mut [T]` argument");
    }
    for param in &sig.generics.params {
        match param {
            GenericParam::Const(_) => {}
            GenericParam::Lifetime(_) => errors.at(param, "a kernel has no lifetimes; its slices live as long as the launch: remove it"),
            GenericParam::Type(_) if sig.inputs.iter().any(is_host) => errors.at(
                param,
                "a kernel with `#[host]` parameters is generic over constants only; make the parameter a constant, \
                 `fn name<T: Float, const N: u32>(…)`",
            ),
            GenericParam::Type(_) => {}
        }
    }
    if let (Some(clause), None) = (&sig.generics.where_clause, sig.generics.type_params().next()) {
        errors.at(
            clause,
            "a kernel takes no `where` clause; check constants with `comptime { assert!(…) }` in the body",
        );
    }
}

/// The arguments; `None` if a parameter is invalid.
pub(crate) fn arguments(kernel: &KernelFn, errors: &mut Errors) -> Option<Vec<Arg>> {
    let mut args = Some(Vec::new());
    for input in kernel.sig.inputs.iter().filter(|input| !is_host(input)) {
        match argument(input).and_then(|arg| no_enum(arg, kernel)) {
            Ok(arg) => {
                if let Some(args) = &mut args {
                    args.push(arg);
                }
            }
            Err((span, message)) => {
                errors.at(span, message);
                args = None;
            }
        }
    }
    args
}

/// Returns the argument unchanged, or an error if its type is an enum declared in the same macro call.
fn no_enum(arg: Arg, kernel: &KernelFn) -> Result<Arg, (proc_macro2::TokenStream, String)> {
    let name = match &arg.elem {
        Type::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    let known = &kernel.known;
    match name.filter(|name| known.variants.contains_key(name) && !known.listed.contains(name)) {
        None => Ok(arg),
        Some(name) => {
            let what = format!(
                "this device enum has no layout in memory: an enum without fields has one with `#[repr(u32)]`; of another pass numbers, \
                 and make a `{name}` of them with `match`"
            );
            Err((arg.elem.to_token_stream(), what))
        }
    }
}

fn argument(input: &FnArg) -> Result<Arg, (proc_macro2::TokenStream, String)> {
    let FnArg::Typed(typed) = input else {
        return Err((input.to_token_stream(), format!("a kernel has no `self`; {ARG_FORMS}")));
    };
    if let Some(attr) = typed.attrs.first() {
        let what =
            "an argument takes the attribute `#[host]`: a value that is known when the kernel is built";
        return Err((attr.to_token_stream(), what.to_owned()));
    }
    let name = match &*typed.pat {
        Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none() => {
            p.ident.clone()
        }
        Pat::Ident(p) if p.mutability.is_some() => {
            let what = "an argument is not mutable itself; copy it: `let mut x = arg;`";
            return Err((p.to_token_stream(), what.to_owned()));
        }
        pat => return Err((pat.to_token_stream(), format!("an argument has a plain name; {ARG_FORMS}"))),
    };
    let unknown = || (typed.ty.to_token_stream(), format!("this is not a kernel argument type; {ARG_FORMS}"));
    let (kind, elem) = match ty::bare(&typed.ty) {
        ty @ (Type::Path(_) | Type::Array(_) | Type::Tuple(_)) => (ArgKind::Value, ty),
        Type::Reference(r) if r.lifetime.is_none() => match ty::bare(&r.elem) {
            Type::Slice(s) if r.mutability.is_some() => (ArgKind::SliceMut, ty::bare(&s.elem)),
            Type::Slice(s) => (ArgKind::Slice, ty::bare(&s.elem)),
            _ => return Err(unknown()),
        },
        Type::Ptr(p) if p.mutability.is_some() => (ArgKind::PointerMut, ty::bare(&p.elem)),
        Type::Ptr(p) => (ArgKind::Pointer, ty::bare(&p.elem)),
        _ => return Err(unknown()),
    };
    if kind != ArgKind::Value && matches!(elem, Type::Tuple(_)) {
        let message = "Rust does not say how a tuple lies in memory: members of one type are an array, `&[[u32; 2]]`, and others a \
                       `#[device] #[repr(C)] struct`";
        return Err((elem.to_token_stream(), message.to_owned()));
    }
    if kind != ArgKind::Value && !matches!(elem, Type::Path(_) | Type::Array(_)) {
        return Err(unknown());
    }
    let elem = elem.clone();
    if ty::resulting(&elem).is_some() {
        let message = "the host and the device cannot share a `Result`: pass the number and a code, `x: f32, fault: u32`";
        return Err((elem.to_token_stream(), message.to_owned()));
    }
    if ty::optional(&elem).is_some() {
        let message = "the host and the device cannot share an `Option`: pass a number and the condition, `x: f32, has_x: bool`, or, if \
                       the kernel may be built for it, a `#[host]` parameter";
        return Err((elem.to_token_stream(), message.to_owned()));
    }
    if ty::is_host(&elem) {
        let message = format!("`{}` exists on the host only; {ELEMENTS}", elem.to_token_stream());
        return Err((elem.to_token_stream(), message));
    }
    Ok(Arg { name, kind, elem })
}

fn find<'k>(kernel: &'k KernelFn, name: &str) -> Option<&'k Attribute> {
    kernel.attrs.iter().find(|a| a.path().is_ident(name))
}

fn list<T: syn::parse::Parse>(attr: &Attribute) -> syn::Result<Vec<T>> {
    let parser = syn::punctuated::Punctuated::<T, syn::Token![,]>::parse_terminated;
    Ok(attr.parse_args_with(parser)?.into_iter().collect())
}

fn workgroup(kernel: &KernelFn, errors: &mut Errors) -> Option<[Expr; 3]> {
    const FORM: &str = "write `#[workgroup(256)]`, `#[workgroup(16, 16)]` or `#[workgroup(8, 8, 4)]`";
    let Some(attr) = find(kernel, "workgroup") else {
        errors.at(
            &kernel.sig.ident,
            format!("the kernel does not say how large its workgroup is; {FORM} before `fn`"),
        );
        return None;
    };
    let sizes: Vec<Expr> = match list(attr) {
        Ok(sizes) if (1..=3).contains(&sizes.len()) => sizes,
        _ => {
            errors.at(attr, format!("a workgroup has one to three sizes; {FORM}"));
            return None;
        }
    };
    let known: Option<Vec<u64>> = sizes.iter().map(literal).collect();
    if let Some(known) = known {
        let items: u64 = known.iter().fold(1, |a, b| a.saturating_mul(*b));
        if items == 0 || items > MAX_WORKGROUP.into() {
            errors.at(
                attr.meta.require_list().map(|l| l.tokens.clone()).unwrap_or_default(),
                format!(
                    "a workgroup of {items} work-items does not exist; it has at least 1 and at most {MAX_WORKGROUP}"
                ),
            );
            return None;
        }
    }
    let mut sizes = sizes.into_iter();
    Some(std::array::from_fn(|_| sizes.next().unwrap_or_else(|| parse_quote!(1))))
}

fn literal(e: &Expr) -> Option<u64> {
    match e {
        Expr::Lit(ExprLit { lit: Lit::Int(i), .. }) => i.base10_parse().ok(),
        _ => None,
    }
}

fn targets(kernel: &KernelFn, errors: &mut Errors) -> Option<Vec<Target>> {
    let attr = find(kernel, "targets")?;
    if !matches!(attr.meta, Meta::List(_)) {
        errors.at(attr, "write the targets in parentheses: `#[targets(gfx90a, gfx942)]`");
        return None;
    }
    let names: Vec<syn::Ident> = match list(attr) {
        Ok(names) => names,
        Err(error) => {
            errors.at(attr, format!("write targets by name: `#[targets(gfx90a, gfx942)]` ({error})"));
            return None;
        }
    };
    let mut found = Vec::new();
    for name in names {
        let text = name.to_string();
        match (Target::of_identifier(&text), Capability::find(&text)) {
            (_, Some(capability)) => found.extend(capability.targets().targets()),
            (Ok(target), None) => found.push(target),
            (Err(_), None) if text.starts_with("Has") => {
                let names = gcn_isa::layout::CAPABILITIES.map(|c| c.name).join("`, `");
                errors.at(&name, format!("there is no capability `{text}`; there are `{names}`"));
            }
            (Err(error), None) => errors.at(&name, error),
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// The mnemonics that the instruction of the function `name` may have, each with the rest of the name: a suffix may
/// select among the instruction's rows.
fn mnemonics(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let name = name.strip_suffix("_with").unwrap_or(name);
    let parts = name.match_indices('_').map(|(at, _)| at).chain([name.len()]).rev().take(3);
    parts.map(|at| name.split_at(at))
}

/// The row in the instruction table, for `target`, of the instruction that the function `name` emits.
fn row_of(target: Target, name: &str) -> Option<&'static InstDesc> {
    let on = target.wave_sizes().iter().filter_map(|wave| Subtarget::new(target, *wave));
    let rows = |mnemonic: &str| -> Vec<&'static InstDesc> {
        let called = on.clone().flat_map(|on| table::find_mnemonic(on, mnemonic));
        called.chain(on.clone().flat_map(|on| table::find_operation(on, mnemonic))).collect()
    };
    mnemonics(name).find_map(|(mnemonic, end)| {
        let says = |row: &InstDesc| format!("{}{}", row.variant().suffix(), row.size_suffix()) == end;
        rows(mnemonic).into_iter().find(|row| says(row))
    })
}

/// True if two rows that have the same opcode are probably one instruction with two names.
fn same_operands(a: &InstDesc, b: &InstDesc) -> bool {
    a.class == b.class && a.operands.iter().map(|o| o.dwords).eq(b.operands.iter().map(|o| o.dwords))
}

/// Reports an error if a call emits an instruction of the table that one of the kernel's targets lacks.
pub(crate) fn instruction(name: &syn::Ident, targets: &[Target], errors: &mut Errors) {
    let text = name.to_string();
    // Few calls are of instructions, and there are many targets to ask.
    if !mnemonics(&text).any(|(mnemonic, _)| table::is_name(mnemonic)) {
        return;
    }
    let exists = |t: Target| row_of(t, &text);
    let Some(known) = Target::KNOWN.into_iter().find_map(exists) else { return };
    for target in targets.iter().filter(|t| exists(**t).is_none()) {
        let twin = gcn_isa::table::find_opcode(*target, known.format, known.opcode)
            .find(|row| row.form == known.form && same_operands(row, known));
        let hint = match twin {
            Some(row) => format!("there the instruction with this opcode is called `{}`", row.mnemonic),
            None => format!("remove {target} from `#[targets(…)]` or use another instruction"),
        };
        errors.beside(
            name,
            format!("`{text}` does not exist on {target}, which `#[targets(…)]` lists; {hint}"),
        );
    }
}
