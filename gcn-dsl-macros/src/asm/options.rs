//! Parses the options before the instructions: `target = gfx942, check = deny,`.

use gcn_isa::Target;
use gcn_isa::hazards::RuleSet;
use gcn_isa::target::WaveSize;
use proc_macro2::{Delimiter, Ident, Literal, TokenStream, TokenTree};

use super::{Missing, Options};
use crate::errors::Errors;

/// Every option with a description of its values, for messages.
const OPTIONS: [(&str, &str); 5] = [
    ("target", "a target such as `gfx942`"),
    ("targets", "targets such as `[gfx90a, gfx942]`"),
    ("check", "`deny` (a missing wait is an error) or `fix` (it is put in)"),
    ("rules", "`safe`, `fast`, `manual`, `certain`, `llvm` or `mesa`"),
    ("wave", "the lanes of a wave, 32 or 64"),
];

/// Splits the options off the front of the input.
pub(crate) fn split(input: TokenStream, errors: &mut Errors) -> (Options, TokenStream) {
    let mut options = Options::default();
    let mut seen: Vec<String> = Vec::new();
    let tokens: Vec<TokenTree> = input.into_iter().collect();
    let mut rest = tokens.as_slice();
    // No instruction has a `=` after its first word, so this is an option.
    while let [TokenTree::Ident(name), TokenTree::Punct(equals), after @ ..] = rest
        && equals.as_char() == '='
    {
        let end = after.iter().position(is_separator);
        let value = &after[..end.unwrap_or(after.len())];
        rest = &after[end.map_or(after.len(), |e| e + 1)..];
        if seen.iter().any(|s| name == s) {
            errors.at(name, format!("`{name}` is given already; remove one"));
        }
        seen.push(name.to_string());
        match (value, words(value)) {
            ([TokenTree::Literal(lanes)], _) if name == "wave" => match wave(lanes) {
                Some(wave) => options.wave = Some(wave),
                None => errors.at(lanes, format!("{}, not {lanes}", wanted("wave"))),
            },
            (_, Some(words)) => set(&mut options, name, &words, errors),
            _ => errors.at(name, wanted(&name.to_string())),
        }
    }
    if options.targets.is_empty() && !errors.spoilt() {
        let message = "which target? begin with `target = gfx942,` or with `targets = [gfx90a, gfx942],`";
        errors.at(TokenStream::new(), message);
    }
    (options, rest.iter().cloned().collect())
}

fn is_separator(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(p) if matches!(p.as_char(), ',' | ';'))
}

/// Parses a number of lanes as a wave size.
fn wave(lanes: &Literal) -> Option<WaveSize> {
    lanes.to_string().parse().ok().and_then(WaveSize::of_lanes)
}

/// Parses one word, or several in brackets.
fn words(value: &[TokenTree]) -> Option<Vec<Ident>> {
    match value {
        [TokenTree::Ident(word)] => Some(vec![word.clone()]),
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => list(group.stream()),
        _ => None,
    }
}

/// A comma-separated list of words.
pub(crate) fn list(tokens: TokenStream) -> Option<Vec<Ident>> {
    use syn::parse::Parser;
    let parser = syn::punctuated::Punctuated::<Ident, syn::Token![,]>::parse_terminated;
    Some(parser.parse2(tokens).ok()?.into_iter().collect())
}

/// Sets the option called `name`; any mistake becomes an error.
pub(crate) fn set(options: &mut Options, name: &Ident, words: &[Ident], errors: &mut Errors) {
    match (name.to_string().as_str(), words) {
        ("target", [word]) => target(options, word, errors),
        ("targets", [_, ..]) => words.iter().for_each(|word| target(options, word, errors)),
        ("check", [word]) if word == "deny" => options.missing = Missing::Deny,
        ("check", [word]) if word == "fix" => options.missing = Missing::Fix,
        ("rules", [word]) => match word.to_string().parse::<RuleSet>() {
            Ok(rules) => options.rules = rules,
            Err(_) => errors.at(word, format!("{}, not `{word}`", wanted("rules"))),
        },
        ("check", [word]) => errors.at(word, format!("{}, not `{word}`", wanted("check"))),
        (text, _) if OPTIONS.iter().any(|o| o.0 == text) => errors.at(name, wanted(text)),
        (text, _) => {
            let names: Vec<String> = OPTIONS.iter().map(|o| format!("`{}`", o.0)).collect();
            errors.at(name, format!("there is no option `{text}`; there are {}", names.join(", ")));
        }
    }
}

fn wanted(option: &str) -> String {
    let values = OPTIONS.iter().find(|o| o.0 == option).map_or("a word", |o| o.1);
    format!("`{option}` takes {values}")
}

fn target(options: &mut Options, word: &Ident, errors: &mut Errors) {
    match Target::of_identifier(&word.to_string()) {
        Ok(target) if options.targets.contains(&target) => {
            errors.at(word, format!("{target} is named already; remove one"));
        }
        Ok(target) => options.targets.push(target),
        Err(error) => errors.at(word, error),
    }
}
