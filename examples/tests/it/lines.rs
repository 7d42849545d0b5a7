//! Tests that the line counts in the table of docs/compared.md are correct, and that the HIP versions compile.

use std::path::Path;

use crate::llvm;

/// The kernels that are written both in the DSL and in HIP.
const COMPARED: [&str; 6] = ["stencil", "histogram", "prefix_scan", "gemv", "softmax", "layernorm"];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn is_code(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with("//") && !line.starts_with("#include")
}

/// The number of code lines in a lesson's constants and its `gcn_kernel!` block.
fn ours(name: &str) -> usize {
    let text = read(&format!("src/lessons/{name}.rs"));
    let (constants, rest) = text.split_once("gcn_kernel! {").unwrap_or_else(|| panic!("{name}: no kernel"));
    let (kernel, _) = rest.split_once("\n}\n").unwrap_or_else(|| panic!("{name}: the kernel does not end"));
    let constants = constants.lines().filter(|line| line.starts_with("const "));
    // The first and the last line of the block were split off, so 2 is added.
    constants.count() + kernel.lines().filter(|line| is_code(line)).count() + 2
}

/// The number of code lines in the HIP file.
fn hip(name: &str) -> usize {
    read(&format!("hip/{name}.hip")).lines().filter(|line| is_code(line)).count()
}

#[test]
fn the_documents_numbers_of_lines_are_those_of_the_files() {
    let document = read("../docs/compared.md");
    for name in COMPARED {
        let row = format!("| `{name}` | {} | {} |", ours(name), hip(name));
        assert!(document.contains(&row), "the row of {name} should begin with {row}");
    }
}

#[test]
fn clang_compiles_the_hip_versions() {
    let Some(clang) = llvm::tool("clang") else { return };
    let folder = llvm::Scratch::new();
    for name in COMPARED {
        for target in ["gfx90a", "gfx942"] {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("hip/{name}.hip"));
            let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("hip/include");
            let (include, arch) = (format!("-I{}", include.display()), format!("--offload-arch={target}"));
            let output = folder.file("out.s");
            let out = output.to_str().unwrap();
            let options = [
                "-x",
                "hip",
                &arch,
                "-nogpuinc",
                "-nogpulib",
                "--cuda-device-only",
                "-Wall",
                "-Werror",
                "-O3",
            ];
            let args: Vec<&str> = options.into_iter().chain([include.as_str(), "-S", "-o", out]).collect();
            llvm::run(&clang, &args, &[&source]);
            let text = std::fs::read_to_string(&output).unwrap();
            assert!(
                text.contains(&format!(".amdhsa_kernel {name}")),
                "{name} for {target}: no kernel\n{text}"
            );
        }
    }
}
