//! Macros and repetitions.

use std::collections::HashSet;

use super::super::Assembler;
use super::super::args::Args;
use super::super::fault::{Fault, Located, Result};
use super::super::macros::argument::{value, word};
use super::super::macros::{Body, Delimiters, Each, Parameter, Values};

const MACRO: Delimiters = Delimiters { begin: &[".macro"], end: &[".endm", ".endmacro"] };
const REPETITION: Delimiters = Delimiters { begin: &[".rep", ".rept", ".irp", ".irpc"], end: &[".endr"] };

/// `.macro name a, b:req, c=1, d:vararg`
pub(super) fn define<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    asm.expands = true;
    let read = head(asm, args);
    // The body must be consumed even if the macro's head is wrong, so that it is not parsed as statements of the file.
    let body = asm.body(&MACRO, args.statement());
    let (name, parameters) = read?;
    let body = body?;
    if asm.macros.contains_key(name) {
        return Err(Located::new(args.statement(), Fault::MacroDefined(name.to_owned())));
    }
    asm.define_macro(name, parameters, body);
    Ok(())
}

/// Parses the name and parameters of a macro.
fn head<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>) -> Result<(&'s str, Vec<Parameter<'s>>)> {
    let name = args.name()?;
    args.eat(b',');
    let mut parameters: Vec<Parameter<'s>> = Vec::new();
    let mut names = HashSet::new();
    while !args.at_end() {
        if let Some(last) = parameters.last().filter(|last| last.vararg) {
            return Err(args.error(Fault::AfterVararg(last.name.to_owned())));
        }
        let at = args.position();
        let parameter = parameter(asm, args)?;
        if !names.insert(parameter.name) {
            let fault = Fault::ParameterTwice(parameter.name.to_owned());
            return Err(Located::new(args.span_from(at), fault));
        }
        parameters.push(parameter);
        args.eat(b',');
    }
    Ok((name, parameters))
}

fn parameter<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>) -> Result<Parameter<'s>> {
    let name = args.name()?;
    let (mut required, mut vararg, mut default) = (false, false, None);
    if args.eat(b':') {
        args.peek();
        let at = args.position();
        match args.name()? {
            "req" => required = true,
            "vararg" => vararg = true,
            other => {
                return Err(Located::new(args.span_from(at), Fault::Qualifier(other.to_owned())));
            }
        }
    }
    if args.eat(b'=') {
        args.peek();
        let at = args.position();
        default = value(args, false)?;
        if required {
            asm.warn(args.span_from(at), "a parameter that needs a value never takes its default");
        }
    }
    Ok(Parameter { name, required, vararg, default })
}

/// Executes `.endm`, `.endr` and `.exitm`. The first two end the body that is being read; `.exitm` also closes the conditions that were
/// opened in the body.
pub(super) fn leave<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    asm.expands = true;
    args.end()?;
    if asm.exit(name == ".exitm") {
        return Ok(());
    }
    Err(Located::new(args.statement(), Fault::OutsideBody(name)))
}

/// `.purgem name`
pub(super) fn purge<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, _: &'static str) -> Result<()> {
    asm.expands = true;
    args.peek();
    let at = args.position();
    let name = args.name()?;
    let span = args.span_from(at);
    args.end()?;
    match asm.macros.remove(name) {
        Some(_) => Ok(()),
        None => Err(Located::new(span, Fault::NoMacro(name.to_owned()))),
    }
}

/// `.altmacro`, `.noaltmacro`
pub(super) fn alternate<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    asm.expands = true;
    args.end()?;
    asm.alternate = name == ".altmacro";
    Ok(())
}

/// `.rept 4`
pub(super) fn repeat<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let read = count(asm, args);
    let (count, body) = with_body(asm, args, read)?;
    asm.repeat_body(name, args.statement(), body, count)
}

fn count<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>) -> Result<u64> {
    args.peek();
    let at = args.position();
    let number = asm.absolute(args)?;
    let range = Fault::Range { what: "the count", value: number, low: 0, high: i64::MAX };
    let count = u64::try_from(number).map_err(|_| Located::new(args.span_from(at), range))?;
    args.end()?;
    Ok(count)
}

/// `.irp name, 1, 2, 3`
pub(super) fn each_value<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let read = parameter_of(args).and_then(|parameter| Ok((parameter, asm.macro_values(args)?)));
    let ((parameter, list), body) = with_body(asm, args, read)?;
    each(asm, args, name, (parameter, Values::List(list.into_iter())), body)
}

/// `.irpc name, 123`
pub(super) fn each_character<'s>(
    asm: &mut Assembler<'s>,
    args: &mut Args<'s>,
    name: &'static str,
) -> Result<()> {
    let read = parameter_of(args).and_then(|parameter| Ok((parameter, word(args)?)));
    let ((parameter, word), body) = with_body(asm, args, read)?;
    each(asm, args, name, (parameter, Values::Characters(word.chars())), body)
}

fn each<'s>(
    asm: &mut Assembler<'s>,
    args: &Args<'s>,
    name: &'static str,
    (parameter, values): (&'s str, Values<'s>),
    body: Body<'s>,
) -> Result<()> {
    let (calls, alternate) = (Some(asm.macro_calls), asm.alternate);
    let each = Each { body, parameter: Some(parameter), values, number: 0, calls, alternate };
    asm.each(name, args.statement(), each)
}

fn parameter_of<'s>(args: &mut Args<'s>) -> Result<&'s str> {
    let name = args.name()?;
    args.comma()?;
    Ok(name)
}

/// Consumes the body of a repetition, even if its head has an error.
fn with_body<'s, T>(asm: &mut Assembler<'s>, args: &Args<'s>, read: Result<T>) -> Result<(T, Body<'s>)> {
    asm.expands = true;
    let body = asm.body(&REPETITION, args.statement());
    Ok((read?, body?))
}
