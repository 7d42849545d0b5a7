//! Text of instructions and programs: it must be parsed, or rejected with an error whose message is not empty.
#![cfg_attr(fuzzing, no_main)]

use gcn_isa::Target;

fn run(data: &[u8]) {
    let Some((first, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let target = Target::ALL[usize::from(*first) % Target::ALL.len()];
    if let Err(error) = gcn_emit::text::parse_inst(text, target) {
        assert!(!error.to_string().is_empty());
    }
    if let Err(error) = gcn_emit::text::parse_program(text, target, "fuzz") {
        assert!(!error.to_string().is_empty());
    }
}

gcn_fuzz::target!(run);
