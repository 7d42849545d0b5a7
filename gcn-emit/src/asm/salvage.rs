//! Assembles the readable parts of a file with errors.

use std::collections::{BTreeMap, BTreeSet};

use gcn_isa::WaveSize;

use super::{Assembly, Diagnostic, Diagnostics, Files, NoFiles, Options, assemble_with};
use crate::target_id::TargetId;

/// An assembled file from which some statements may have been omitted.
#[derive(Debug)]
pub struct Salvaged {
    /// The assembled rest of the file. Each omitted instruction is replaced by a word that is not an instruction on any target.
    pub assembly: Assembly,
    /// The errors in the omitted statements, in order of line.
    pub left_out: Vec<Diagnostic>,
}

/// The maximum number of attempts to assemble a file. Each attempt reports up to [`Diagnostics::LIMIT`] errors; a file with more errors is
/// not considered assembly.
const ROUNDS: usize = 16;

/// Replaces an omitted instruction.
const NO_INSTRUCTION: &str = "\t.long 0xffffffff";

/// Assembles the readable parts of a file: lines with errors, such as instructions that no target knows, are omitted.
///
/// ```
/// use gcn_emit::asm::{Options, assemble_readable};
///
/// let options = Options { target: Some("gfx942".parse().unwrap()), keep_instructions: true, ..Options::default() };
/// let salvaged = assemble_readable("k.s", "v_nop\nv_nonsense v0\ns_endpgm\n", &options).unwrap();
/// assert_eq!(salvaged.assembly.instructions.len(), 2);
/// assert_eq!(salvaged.left_out[0].line, 2);
/// ```
///
/// # Errors
/// The file's errors, if the target is unknown or no instruction can be assembled.
pub fn assemble_readable(file: &str, text: &str, options: &Options) -> Result<Salvaged, Diagnostics> {
    assemble_readable_with(file, text, options, &NoFiles)
}

/// As [`assemble_readable`], with `files` for `.include` and `.incbin`. An erroneous line of a macro's body is omitted
/// from all its calls; a file with an error in an included file is rejected.
///
/// # Errors
/// The errors of [`assemble_readable`].
pub fn assemble_readable_with(
    file: &str,
    text: &str,
    options: &Options,
    files: &dyn Files,
) -> Result<Salvaged, Diagnostics> {
    let errors = match assemble_with(file, text, options, files) {
        Ok(assembly) => return Ok(Salvaged { assembly, left_out: Vec::new() }),
        Err(errors) => errors,
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut left_out: BTreeMap<u32, Diagnostic> = BTreeMap::new();
    let mut found = errors.clone();
    for _ in 0..ROUNDS {
        // A line of a macro may cause errors in several calls.
        let mut round = BTreeSet::new();
        for error in found.list {
            if error.file != file {
                return Err(errors);
            }
            let line = (error.line as usize).checked_sub(1).and_then(|i| lines.get_mut(i));
            match line {
                Some(_) if !round.insert(error.line) => {}
                Some(line) if !names_target(line) && !left_out.contains_key(&error.line) => {
                    *line = without_statement(line);
                    left_out.insert(error.line, error);
                }
                _ => return Err(errors),
            }
        }
        match assemble_with(file, &(lines.join("\n") + "\n"), options, files) {
            Ok(assembly) if assembly.instructions.is_empty() => return Err(errors),
            Ok(assembly) => return Ok(Salvaged { assembly, left_out: left_out.into_values().collect() }),
            Err(more) => found = more,
        }
    }
    Err(errors)
}

/// True for a line with `.amdgcn_target`, which is needed for anything to be assembled.
fn names_target(line: &str) -> bool {
    line.trim_start().starts_with(".amdgcn_target")
}

/// The target ID in a file's `.amdgcn_target`; `None` if there is none, or if it is not supported.
///
/// ```
/// let text = "; a kernel\n  .amdgcn_target \"amdgcn-amd-amdhsa--gfx90a:xnack-\"\n";
/// assert_eq!(gcn_emit::asm::named_target(text).unwrap().to_string(), "gfx90a:xnack-");
/// ```
pub fn named_target(text: &str) -> Option<TargetId> {
    text.lines().find(|line| names_target(line))?.split('"').nth(1)?.parse().ok()
}

/// The wave size that all `.amdhsa_wavefront_size32` of a file select by 0 or 1; `None` if there are none, or if they
/// differ.
///
/// ```
/// use gcn_isa::WaveSize;
///
/// let text = ".amdhsa_kernel k\n  .amdhsa_wavefront_size32 0 ; waves of 64 lanes\n.end_amdhsa_kernel\n";
/// assert_eq!(gcn_emit::asm::named_wave(text), Some(WaveSize::W64));
/// ```
pub fn named_wave(text: &str) -> Option<WaveSize> {
    let mut found = None;
    for line in text.lines() {
        let Some(value) = line.trim_start().strip_prefix(".amdhsa_wavefront_size32") else { continue };
        let wave = match value.split_ascii_whitespace().next()? {
            "0" => WaveSize::W64,
            "1" => WaveSize::W32,
            _ => return None,
        };
        if found.replace(wave).is_some_and(|before| before != wave) {
            return None;
        }
    }
    found
}

/// The line reduced to its labels and a placeholder for the instruction.
fn without_statement(line: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let mut rest = line.trim_start();
    let mut kept = String::new();
    while let Some((label, behind)) = rest.split_once(':')
        && !label.is_empty()
        && label.chars().all(is_name)
    {
        kept += label;
        kept.push(':');
        rest = behind.trim_start();
    }
    if !rest.is_empty() && !rest.starts_with('.') {
        kept += NO_INSTRUCTION;
    }
    kept
}
