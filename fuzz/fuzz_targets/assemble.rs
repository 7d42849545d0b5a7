//! Assembles arbitrary text: the result is a code object, or a list of errors.
#![cfg_attr(fuzzing, no_main)]

use gcn_emit::asm::{Options, assemble};
use gcn_isa::Target;

fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let options =
        Options { target: Some(Target::GFX942.into()), keep_instructions: true, ..Options::default() };
    match assemble("fuzz.s", text, &options) {
        Ok(assembly) => drop(assembly.code_object()),
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
}

gcn_fuzz::target!(run);
