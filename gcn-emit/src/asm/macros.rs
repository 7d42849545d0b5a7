//! Macros and repetitions: bodies, parameter values, their expansion, and reading of nested texts.

pub(super) mod argument;
mod body;
mod expand;
mod frame;
mod repetition;

use std::cell::Cell;
use std::rc::Rc;

use hashbrown::HashMap;

use super::fault::{Fault, Located, Result};
use super::source::Call;
use super::span::Span;
use super::{Assembler, args::Args};
use argument::Value;
pub(super) use body::{Body, Delimiters};
pub use expand::MAX_EXPANSION;
use expand::{Numbers, expand};
pub use frame::MAX_MACRO_NESTING;
use frame::OVERHEAD;
pub(super) use frame::{Entry, Frame};
pub(super) use repetition::{Each, Rounds, Values};

/// The cost of each parameter of a call, in bytes of expansion. It is counted because a call of a macro with many unused parameters also
/// takes time.
const PARAMETER_COST: u64 = 16;

/// A macro.
pub(super) struct Macro<'s> {
    pub name: &'s str,
    pub parameters: Vec<Parameter<'s>>,
    /// The index of each parameter, by name.
    by_name: HashMap<&'s str, usize>,
    pub body: Body<'s>,
    /// The number of calls so far: `\+`.
    calls: Cell<u64>,
}

/// A parameter of a macro.
pub(super) struct Parameter<'s> {
    pub name: &'s str,
    /// `:req`
    pub required: bool,
    /// `:vararg`: the rest of the call.
    pub vararg: bool,
    pub default: Value<'s>,
}

impl<'s> Assembler<'s> {
    /// The macro with a name; `None` if there is none.
    pub fn macro_named(&self, name: &str) -> Option<Rc<Macro<'s>>> {
        // A fast path, because most files define no macros.
        if self.macros.is_empty() { None } else { self.macros.get(name).cloned() }
    }

    /// Defines a macro.
    pub fn define_macro(&mut self, name: &'s str, parameters: Vec<Parameter<'s>>, body: Body<'s>) {
        let by_name = parameters.iter().enumerate().map(|(i, p)| (p.name, i)).collect();
        let new = Macro { name, parameters, by_name, body, calls: Cell::new(0) };
        self.macros.insert(name, Rc::new(new));
    }

    /// Expands a macro; `args` is positioned after its name.
    pub fn call_macro(&mut self, called: &Macro<'s>, args: &mut Args<'s>) -> Result<()> {
        self.expands = true;
        let span = args.statement();
        let located = |fault| Located::new(span, fault);
        if self.nesting() >= MAX_MACRO_NESTING {
            return Err(located(Fault::Nesting(MAX_MACRO_NESTING)));
        }
        let values = self.arguments(called, args)?;
        self.charge(called.parameters.len() as u64 * PARAMETER_COST).map_err(located)?;
        let parameter = |name: &str| {
            let value = values.get(*called.by_name.get(name)?)?;
            Some(value.as_deref().unwrap_or_default())
        };
        let bare = self.alternate;
        let numbers = Numbers { calls: Some(self.macro_calls), round: called.calls.get(), bare };
        let text = expand(called.body.text, parameter, &numbers, self.budget()).map_err(located)?;
        self.charge(text.len() as u64).map_err(located)?;
        called.calls.set(numbers.round + 1);
        self.macro_calls += 1;
        let text = self.kept(text);
        let entry = Entry { text, file: called.body.file, line: called.body.line };
        self.enter(&entry, Call { span, name: called.name, is_file: false }, Rounds::Over)
    }

    /// The values of all parameters for a call.
    fn arguments(&mut self, called: &Macro<'s>, args: &mut Args<'s>) -> Result<Vec<Value<'s>>> {
        let mut values: Vec<Value<'s>> = vec![None; called.parameters.len()];
        let mut keywords = false;
        for (position, parameter) in called.parameters.iter().enumerate() {
            let keyword = argument::keyword(args);
            if keywords && keyword.is_none() {
                return Err(args.error(Fault::MixedArguments));
            }
            keywords |= keyword.is_some();
            let read = self.macro_value(args, parameter.vararg)?;
            let place = match keyword {
                Some((name, span)) => {
                    let unknown = || {
                        let fault =
                            Fault::NoParameter { called: called.name.to_owned(), name: name.to_owned() };
                        Located::new(span, fault)
                    };
                    *called.by_name.get(name).ok_or_else(unknown)?
                }
                None => position,
            };
            if read.is_some() {
                values[place] = read;
            }
            if args.at_end() {
                break;
            }
            args.eat(b',');
            if position + 1 == called.parameters.len() {
                return Err(
                    args.error(Fault::TooManyArguments(called.name.to_owned(), called.parameters.len()))
                );
            }
        }
        if called.parameters.is_empty() && !args.at_end() {
            return Err(args.error(Fault::TooManyArguments(called.name.to_owned(), 0)));
        }
        fill_in(called, values, args)
    }

    /// Expands a body this many times. All copies have the same text, unless the body uses the number of the repetition.
    pub fn repeat_body(&mut self, name: &'static str, span: Span, body: Body<'s>, count: u64) -> Result<()> {
        self.expands = true;
        if count == 0 {
            return Ok(());
        }
        if body.is_numbered() {
            let values = Values::None(count);
            let each = Each { body, parameter: None, values, number: 0, calls: None, alternate: false };
            return self.each(name, span, each);
        }
        let located = |fault| Located::new(span, fault);
        let numbers = Numbers { calls: None, round: 0, bare: false };
        let text = expand(body.text, |_| None, &numbers, self.budget()).map_err(located)?;
        // All copies are counted before the first one, so that a count that is too large is rejected at once.
        self.charge((text.len() as u64 + OVERHEAD).saturating_mul(count)).map_err(located)?;
        let text = self.kept(text);
        let entry = Entry { text, file: body.file, line: body.line };
        self.enter(&entry, Call { span, name, is_file: false }, Rounds::Same(count - 1))
    }

    /// Expands a body once for each value.
    pub fn each(&mut self, name: &'static str, span: Span, each: Each<'s>) -> Result<()> {
        // Reading enters an empty text, which ends immediately: the rounds of a repetition begin where a text ends.
        let entry = Entry { text: "", file: each.body.file, line: each.body.line };
        self.enter(&entry, Call { span, name, is_file: false }, Rounds::Each(Box::new(each)))
    }
}

/// Replaces missing values by defaults.
fn fill_in<'s>(called: &Macro<'s>, mut values: Vec<Value<'s>>, args: &Args<'s>) -> Result<Vec<Value<'s>>> {
    for (value, parameter) in values.iter_mut().zip(&called.parameters) {
        if value.is_some() {
            continue;
        }
        if parameter.required {
            let fault = Fault::NoArgument { called: called.name.to_owned(), name: parameter.name.to_owned() };
            return Err(Located::new(args.statement(), fault));
        }
        value.clone_from(&parameter.default);
    }
    Ok(values)
}
