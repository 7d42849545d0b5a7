//! Writes the typed functions of `gcn_dsl::isa`, and the list of instructions that have none, from the table.

#[allow(dead_code, reason = "the crate compiles this file too, and uses more of it")]
#[path = "src/isa/catalog.rs"]
mod catalog;
#[path = "build/docs.rs"]
mod docs;
#[allow(dead_code, reason = "the crate compiles this file too, and uses more of it")]
#[path = "src/isa/excluded.rs"]
mod excluded;
#[path = "build/render.rs"]
mod render;
#[path = "src/isa/types.rs"]
mod types;

use std::path::PathBuf;

fn main() {
    for file in ["build.rs", "build", "src/isa/catalog.rs", "src/isa/excluded.rs", "src/isa/types.rs"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let functions: String = catalog::functions().iter().map(render::function).collect();
    write("isa.rs", &functions);
    write("isa_excluded.md", &docs::excluded());
}

fn write(name: &str, text: &str) {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(folder.join(name), text).expect("OUT_DIR is writable");
}
