//! Objects from LLVM's tools, which tests can read without the tools. `tests/data/link/README.md` describes how they were made.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use gcn_isa::Target;

/// The name with which the linker of the golden files identifies itself.
pub const PRODUCER: &str = "Linker: Debian LLD 22.1.8";

macro_rules! pairs {
    ($($name:literal),*) => {
        &[$((
            $name,
            include_bytes!(concat!("../../data/link/", $name, ".o.gz")),
            include_bytes!(concat!("../../data/link/", $name, ".so.gz")),
        )),*]
    };
}

const PAIRS: &[(&str, &[u8], &[u8])] = pairs!(
    "sections",
    "symbols",
    "relocs",
    "kernels-gfx900",
    "kernels-gfx908",
    "kernels-gfx90a_xnackp",
    "kernels-gfx942",
    "pointers-gfx90a",
    "aster-gfx942-gemm_loop",
    "flydsl-gfx950-ew_poly_128b",
    "triton-gfx942-vector_add_f32_w4"
);

/// Name, relocatable object, linked object.
pub fn objects() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    PAIRS.iter().map(|(name, object, linked)| (*name, unpack(object), unpack(linked))).collect()
}

/// A clang offload bundle, and the same bundle compressed.
pub fn bundles() -> (Vec<u8>, Vec<u8>) {
    let plain = include_bytes!("../../data/link/bundle.hipfb.gz");
    let compressed = include_bytes!("../../data/link/bundle.ccob.gz");
    (unpack(plain), unpack(compressed))
}

/// A host library of HIP with a bundle for each of two source files, and the same library with compressed bundles.
pub fn host_libraries() -> [Vec<u8>; 2] {
    let plain = include_bytes!("../../data/link/host-plain.so.gz");
    let compressed = include_bytes!("../../data/link/host-compressed.so.gz");
    [unpack(plain), unpack(compressed)]
}

fn unpack(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut out).expect("test data is whole");
    out
}

/// The text of a hand-written file.
pub fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/link").join(format!("{name}.s"));
    std::fs::read_to_string(path).expect("test data is there")
}

/// Assembly files below a directory, compressed or not.
pub fn find_assembly(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            find_assembly(&path, out);
        } else if path.to_str().is_some_and(|p| p.ends_with(".s") || p.ends_with(".s.gz")) {
            out.push(path);
        }
    }
}

/// The target and the text of an assembly file. The line with the target is omitted, because not every assembler accepts it.
pub fn read_assembly(path: &Path) -> Option<(Target, String)> {
    let bytes = std::fs::read(path).ok()?;
    let bytes = if path.extension()? == "gz" { unpack(&bytes) } else { bytes };
    let text = String::from_utf8(bytes).ok()?;
    let name = path.to_str()?;
    let target = Target::REPRESENTATIVES.into_iter().find(|t| name.contains(&format!("/{t}/")))?;
    let kept = text.lines().filter(|line| !line.trim_start().starts_with(".amdgcn_target"));
    Some((target, kept.map(|line| format!("{line}\n")).collect()))
}
