//! Generates the Rust text of a function of the catalogue: a signature, and a `Request` to the library.

use std::fmt::Write as _;

use crate::docs;
use crate::functions::{Form, Function, Param, ParamKind, Variant};

/// The text of all forms of `f`.
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

/// The type of a result. If a modifier may select the half that is written, the result has both halves.
fn result<'a>(f: &Function, form: Form, ty: &'a str) -> &'a str {
    let halves =
        f.variant != Variant::Dpp && f.params_of(form).iter().any(|p| matches!(p.kind, ParamKind::Old(_)));
    match ty {
        "V<f16>" if halves => "Vector<f16, 2>",
        "V<bf16>" if halves => "Vector<bf16, 2>",
        other => other,
    }
}

/// The text of a parameter in the signature.
fn parameter(p: &Param) -> Option<String> {
    let name = p.name;
    Some(match p.kind {
        ParamKind::Old(n) | ParamKind::Vector(n) => format!("{name}: impl Source<{n}>"),
        ParamKind::Narrow => format!("{name}: impl MatrixSource"),
        ParamKind::Uniform(n) => format!("{name}: impl UniformSource<{n}>"),
        ParamKind::Buffer => format!("{name}: impl BufferAddress"),
        ParamKind::Global => format!("{name}: impl GlobalAddress"),
        ParamKind::SecondAddress => return None,
        ParamKind::Smem => "offset: impl SmemOffset".into(),
        ParamKind::Imm => format!("{name}: i64"),
        ParamKind::Literal => format!("{name}: u32"),
        ParamKind::Literal64 => format!("{name}: u64"),
        ParamKind::Scc => "scc: impl IntoDevice<S<bool>>".into(),
        ParamKind::Vcc => "vcc: impl UniformSource<2>".into(),
        ParamKind::M0 => "m0: impl UniformSource<1>".into(),
        ParamKind::Offset => "offset: i32".into(),
        ParamKind::Offsets => "offset0: u8, offset1: u8".into(),
        ParamKind::Bitop3 => "bitop3: u8".into(),
        ParamKind::BufferFormat => "format: BufferFormat".into(),
        ParamKind::Options => "options: Options".into(),
    })
}

/// The statement that destructures an argument before the call, if one is needed.
fn split(p: &Param) -> Option<String> {
    let line = match p.kind {
        ParamKind::Buffer => "let (vaddr, addressing) = vaddr.split();",
        ParamKind::Global => "let (vaddr, saddr) = vaddr.split();",
        ParamKind::Smem => "let (soffset, offset) = offset.split();",
        _ => return None,
    };
    Some(format!("    {line}\n"))
}

/// The method call that sets a parameter on the request.
fn setting(p: &Param) -> Option<String> {
    Some(match p.kind {
        ParamKind::Old(_) => ".old(old.input())".into(),
        ParamKind::Scc => ".scc(scc)".into(),
        ParamKind::Vcc => ".vcc(vcc.input())".into(),
        ParamKind::M0 => ".m0(m0.input())".into(),
        ParamKind::Buffer => ".set(addressing)".into(),
        ParamKind::Smem => ".set(offset)".into(),
        ParamKind::Offset => ".set(Options::at(offset))".into(),
        ParamKind::Offsets => ".set(Options::at_both(offset0, offset1))".into(),
        ParamKind::Bitop3 => ".set(Options::table(bitop3))".into(),
        ParamKind::BufferFormat => ".set(format.options())".into(),
        ParamKind::Options => ".set(options)".into(),
        _ => return None,
    })
}

/// The text of an operand in the call.
fn argument(p: &Param) -> Option<String> {
    let name = p.name;
    Some(match p.kind {
        ParamKind::Vector(_) | ParamKind::Narrow | ParamKind::Uniform(_) => format!("{name}.input()"),
        ParamKind::Buffer | ParamKind::Global => "vaddr".into(),
        ParamKind::SecondAddress => "saddr".into(),
        ParamKind::Smem => "soffset".into(),
        ParamKind::Imm => format!("Input::imm({name})"),
        ParamKind::Literal => format!("Input::literal({name})"),
        ParamKind::Literal64 => format!("Input::literal64({name})"),
        _ => return None,
    })
}
