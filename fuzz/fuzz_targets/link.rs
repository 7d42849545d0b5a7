//! Relocatable objects of others: linked or refused, and what is linked is read.
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
