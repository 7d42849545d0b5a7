//! Relocatable objects from other tools: they must be linked or rejected, and the linked code object must be readable.
#![cfg_attr(fuzzing, no_main)]

use gcn_emit::object::{Module, link, read_code_object, write_relocatable};

fn run(data: &[u8]) {
    let Ok(module) = Module::from_relocatable(data) else { return };
    let _ = write_relocatable(&module);
    if let Ok(linked) = link(&module) {
        let _ = read_code_object(&linked);
    }
}

gcn_fuzz::target!(run);
