//! Generates the typed functions of `gcn_dsl::isa` from the instruction table, and the list of instructions without one.

#[path = "build/docs.rs"]
mod docs;
#[allow(dead_code, reason = "the crate compiles this file too, and uses more of it")]
#[path = "src/catalog/excluded.rs"]
mod excluded;
#[allow(dead_code, reason = "the crate compiles this file too, and uses more of it")]
#[path = "src/catalog/functions.rs"]
mod functions;
#[path = "build/render.rs"]
mod render;
#[path = "src/catalog/types.rs"]
mod types;

use std::path::PathBuf;

fn main() {
    for file in ["build.rs", "build", "src/catalog"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let functions: String = functions::functions().iter().map(render::function).collect();
    write("isa.rs", &functions);
    write("isa_excluded.md", &docs::excluded());
}

fn write(name: &str, text: &str) {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(folder.join(name), text).expect("OUT_DIR is writable");
}
