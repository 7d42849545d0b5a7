//! A function of the catalogue as Rust text: a signature and one call of the core, `Request`.

use std::fmt::Write as _;

use crate::docs;
use crate::functions::{Form, Function, Kind, Param, Variant};

/// The text of `f`'s forms.
pub fn function(f: &Function) -> String {
    f.forms().iter().map(|&form| one(f, form)).collect()
}

fn one(f: &Function, form: Form) -> String {
    let params = f.params_of(form);
    let mut out = docs::of(f, form);
    let signature: Vec<String> = params.iter().filter_map(parameter).collect();
    let results: Vec<&str> = f.results.iter().map(|r| result(f, form, &r.ty)).collect();
    let result = match results[..] {
        [] => String::new(),
        [one] => format!(" -> {one}"),
        ref many => format!(" -> ({})", many.join(", ")),
    };
    let (call, end) = if results.is_empty() { ("call::<()>", ";") } else { ("call", "") };
    let splits: String = params.iter().filter_map(split).collect();
    let settings: String = params.iter().filter_map(setting).collect();
    let args: Vec<String> = params.iter().filter_map(argument).collect();
    let _ = writeln!(
        out,
        "#[track_caller]\npub fn {}({}){result} {{\n{splits}    Request::new({:?}, Variant::{:?}, Effect::{:?}){settings}.{call}(&[{}]){end}\n}}\n",
        f.name_of(form),
        signature.join(", "),
        f.mnemonic,
        f.variant,
        f.effect,
        args.join(", "),
    );
    out
}

/// The type of a result. Where a modifier may choose the half that is written, both halves are the result.
fn result<'a>(f: &Function, form: Form, ty: &'a str) -> &'a str {
    let halves =
        f.variant != Variant::Dpp && f.params_of(form).iter().any(|p| matches!(p.kind, Kind::Old(_)));
    match ty {
        "V<f16>" if halves => "Vector<f16, 2>",
        "V<bf16>" if halves => "Vector<bf16, 2>",
        other => other,
    }
}

/// The parameter in the signature.
fn parameter(p: &Param) -> Option<String> {
    let name = p.name;
    Some(match p.kind {
        Kind::Old(n) | Kind::Vector(n) => format!("{name}: impl Source<{n}>"),
        Kind::Narrow => format!("{name}: impl MatrixSource"),
        Kind::Uniform(n) => format!("{name}: impl UniformSource<{n}>"),
        Kind::Buffer => format!("{name}: impl BufferAddress"),
        Kind::Global => format!("{name}: impl GlobalAddress"),
        Kind::SecondAddress => return None,
        Kind::Smem => "offset: impl SmemOffset".into(),
        Kind::Imm => format!("{name}: i64"),
        Kind::Literal => format!("{name}: u32"),
        Kind::Scc => "scc: impl IntoDevice<S<bool>>".into(),
        Kind::Vcc => "vcc: impl UniformSource<2>".into(),
        Kind::M0 => "m0: impl UniformSource<1>".into(),
        Kind::Offset => "offset: i32".into(),
        Kind::Offsets => "offset0: u8, offset1: u8".into(),
        Kind::Bitop3 => "bitop3: u8".into(),
        Kind::BufferFormat => "format: BufferFormat".into(),
        Kind::Options => "options: Options".into(),
    })
}

/// What must be taken apart before the call.
fn split(p: &Param) -> Option<String> {
    let line = match p.kind {
        Kind::Buffer => "let (vaddr, addressing) = vaddr.split();",
        Kind::Global => "let (vaddr, saddr) = vaddr.split();",
        Kind::Smem => "let (soffset, offset) = offset.split();",
        _ => return None,
    };
    Some(format!("    {line}\n"))
}

/// What is set on the request.
fn setting(p: &Param) -> Option<String> {
    Some(match p.kind {
        Kind::Old(_) => ".old(old.input())".into(),
        Kind::Scc => ".scc(scc)".into(),
        Kind::Vcc => ".vcc(vcc.input())".into(),
        Kind::M0 => ".m0(m0.input())".into(),
        Kind::Buffer => ".set(addressing)".into(),
        Kind::Smem => ".set(offset)".into(),
        Kind::Offset => ".set(Options::at(offset))".into(),
        Kind::Offsets => ".set(Options::at_both(offset0, offset1))".into(),
        Kind::Bitop3 => ".set(Options::table(bitop3))".into(),
        Kind::BufferFormat => ".set(format.options())".into(),
        Kind::Options => ".set(options)".into(),
        _ => return None,
    })
}

/// The operand in the call.
fn argument(p: &Param) -> Option<String> {
    let name = p.name;
    Some(match p.kind {
        Kind::Vector(_) | Kind::Narrow | Kind::Uniform(_) => format!("{name}.input()"),
        Kind::Buffer | Kind::Global => "vaddr".into(),
        Kind::SecondAddress => "saddr".into(),
        Kind::Smem => "soffset".into(),
        Kind::Imm => format!("Input::imm({name})"),
        Kind::Literal => format!("Input::literal({name})"),
        _ => return None,
    })
}
