//! `gcn_asm!`: literal assembly, checked while the user's crate compiles.
//!
//! `source` splits the tokens into instructions and labels with their source positions, `options` reads the options
//! before them, `read` makes a program for each target, `judge` checks it or inserts the waits, and `expand` emits the
//! result. `kernel` is the form with a signature. `faults` collects the errors of all targets.

mod eval;
mod expand;
mod faults;
mod judge;
mod kernel;
mod options;
mod read;
mod source;
#[cfg(test)]
mod tests;

use gcn_isa::Target;
use gcn_isa::hazards::RuleSet;
use gcn_isa::target::{Subtarget, WaveSize};
use proc_macro2::{TokenStream, TokenTree};

use crate::errors::Errors;
use faults::Faults;
use judge::Checked;
use source::Item;

/// How the macro handles a missing wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Missing {
    /// Reports the missing wait as an error.
    #[default]
    Deny,
    /// Inserts the missing wait.
    Fix,
}

/// Options for reading and checking assembly.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub targets: Vec<Target>,
    pub missing: Missing,
    pub rules: RuleSet,
    /// The wave size; `None` for the targets' default.
    pub wave: Option<WaveSize>,
    /// True if the assembly is a whole kernel, which has to end with `s_endpgm`.
    pub whole: bool,
    /// Named constants that expressions may use.
    pub constants: Vec<(String, i64)>,
}

/// The expansion of `gcn_asm!`.
pub(crate) fn asm(input: TokenStream) -> TokenStream {
    match input.clone().into_iter().next() {
        Some(TokenTree::Punct(hash)) if hash.as_char() == '#' => kernel::kernels(input),
        Some(TokenTree::Ident(word)) if word == "pub" || word == "fn" => kernel::kernels(input),
        _ => expression(input),
    }
}

fn expression(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let (options, body) = options::split(input, &mut errors);
    let programs = if errors.spoilt() { Vec::new() } else { programs(body, &options, &mut errors) };
    let value = expand::program(&programs);
    if !errors.spoilt() {
        return value;
    }
    let errors = errors.into_compile_errors();
    quote::quote!({ #errors #value })
}

/// Reads and checks the body for each target. Returns an empty list if there is any error.
fn programs(body: TokenStream, options: &Options, errors: &mut Errors) -> Vec<Checked> {
    let items = source::items(body, errors);
    if errors.spoilt() {
        return Vec::new();
    }
    let mut faults = Faults::new(options.targets.len());
    let programs = options.targets.iter().filter_map(|target| checked(*target, &items, options, &mut faults));
    let programs = programs.collect();
    faults.report(&items, errors);
    programs
}

fn checked(target: Target, items: &[Item], options: &Options, faults: &mut Faults) -> Option<Checked> {
    faults.target(target);
    let on = match options.wave {
        None => target.into(),
        Some(wave) => match Subtarget::new(target, wave) {
            Some(on) => on,
            None => {
                let (lanes, has) = (wave.lanes(), target.wave_size());
                let message = format!(
                    "waves of {target} have {has} lanes, not {lanes}; leave out the target or the size of waves"
                );
                faults.add(None, message);
                return None;
            }
        },
    };
    let program = read::program(on, items, options, faults)?;
    judge::judge(program, items, options, faults)
}
