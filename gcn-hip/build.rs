//! Generates the symbols of the library from `data/functions.tsv`: a version script, and assembly for `src/exports.rs`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const FUNCTIONS: &str = "data/functions.tsv";
/// The library's `SONAME`. Programs built for HIP 5 and 6 look for other names, which are symbolic links (`gcn run` creates them).
const SONAME: &str = "libamdhip64.so.7";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={FUNCTIONS}");
    // On other systems the library is empty (src/lib.rs).
    let system =
        ["CARGO_CFG_TARGET_OS", "CARGO_CFG_TARGET_ARCH"].map(|name| env::var(name).unwrap_or_default());
    if system != ["linux", "x86_64"] {
        return Ok(());
    }
    let out = env::var("OUT_DIR")?;
    let table = fs::read_to_string(FUNCTIONS)?;
    let rows: Vec<Vec<&str>> =
        table.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').collect()).collect();

    let versions: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
    let (mut script, mut before) = (String::new(), "");
    for version in versions {
        writeln!(script, "{version} {{ }} {before};")?;
        before = version;
    }
    let script_path = Path::new(&out).join("versions.map");
    fs::write(&script_path, script)?;
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={}", script_path.display());

    let (mut lines, mut operands, mut table) = (String::new(), BTreeSet::new(), String::new());
    for row in &rows {
        let &[version, name, path, traced] = row.as_slice() else {
            return Err(format!("{FUNCTIONS}: {row:?} does not have four fields").into());
        };
        // Each version of a name gets a separate symbol.
        let symbol = format!("gcn_{name}_{}", version.replace('.', "_"));
        let text = format!("gcn_name_{name}_{}", version.replace('.', "_"));
        writeln!(lines, "    \".pushsection .rodata\", \"{text}: .asciz \\\"{name}\\\"\", \".popsection\",")?;
        // The second label has no version, so that the table can refer to it without a symbol look-up by the loader.
        writeln!(
            lines,
            "    \".globl {symbol}\", \".type {symbol}, @function\", \"{symbol}:\", \"{symbol}_here:\","
        )?;
        writeln!(
            table,
            "    \".quad {text}, {symbol}_here, {}, {}\",",
            number(version)?,
            traced.replace('-', "0")
        )?;
        if path == "-" {
            writeln!(lines, "    \"lea rdi, [rip + {text}]\", \"jmp {{unsupported}}\",")?;
        } else {
            let operand = path.replace("::", "_");
            writeln!(lines, "    \"jmp {{{operand}}}\",")?;
            operands.insert(format!("    {operand} = sym crate::abi::{path},\n"));
        }
        writeln!(lines, "    \".size {symbol}, . - {symbol}\", \".symver {symbol}, {name}@@@{version}\",")?;
    }
    let operands: String = operands.into_iter().collect();
    let assembly = format!(
        "std::arch::global_asm!(\n    \".pushsection .text.hip, \\\"ax\\\", @progbits\",\n{lines}    \".popsection\",\n    \
         \".pushsection .data.rel.ro.hip, \\\"aw\\\", @progbits\", \".p2align 3\", \".globl gcn_functions\", \
         \".hidden gcn_functions\", \"gcn_functions:\",\n{table}    \".popsection\",\n{operands}    \
         unsupported = sym crate::abi::status::unsupported,\n);\n"
    );
    fs::write(Path::new(&out).join("exports.rs"), assembly)?;
    fs::write(Path::new(&out).join("count.rs"), rows.len().to_string())?;
    Ok(())
}

/// A version as a number in the form in which programs pass it to `hipGetProcAddress`: 402 for `hip_4.2`.
fn number(version: &str) -> Result<u32, Box<dyn std::error::Error>> {
    let wrong = || format!("{FUNCTIONS}: `{version}` is not of the form hip_4.2");
    let (major, minor) = version.strip_prefix("hip_").and_then(|v| v.split_once('.')).ok_or_else(wrong)?;
    Ok(major.parse::<u32>()? * 100 + minor.parse::<u32>()?)
}
