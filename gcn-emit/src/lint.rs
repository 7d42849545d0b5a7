//! Compares what a kernel declares to the loader with the resources that its code uses.
//!
//! A kernel's descriptor and metadata state how many registers it has, how much LDS, scratch and arguments, and which values the dispatcher
//! initialises before its first instruction. Assemblers do not verify this (`llvm-mc` accepts `.amdhsa_next_free_vgpr 4` for code that uses
//! `v21`). [`lint`] does.
//!
//! Only certain effects of the code are compared: code that a kernel reaches by branches, but not by calls through registers; and constant
//! offsets, but not computed addresses.
//!
//! ```
//! use gcn_emit::{asm, code::Unit, lint};
//!
//! let source = "
//!     .amdgcn_target \"amdgcn-amd-amdhsa--gfx906\"
//! k:  v_mov_b32 v21, 0
//!     s_endpgm
//!     .rodata
//!     .amdhsa_kernel k
//!         .amdhsa_next_free_vgpr 4
//!         .amdhsa_next_free_sgpr 8
//!     .end_amdhsa_kernel
//! ";
//! let options = asm::Options { keep_instructions: true, ..asm::Options::default() };
//! let assembly = asm::assemble("k.s", source, &options).unwrap();
//! let lints = lint::lint(&Unit::of_assembly(&assembly).unwrap());
//! assert_eq!(lints[0].rule.id, "kernel.vgprs");
//! assert_eq!(lints[0].message, "v21 is used, but the descriptor gives the kernel 4 VGPRs");
//! ```

mod initial;
mod kernel;
mod memory;
mod metadata;
mod registers;
mod rules;
mod scalar;

use crate::code::Unit;
use kernel::Kernel;

pub use rules::{ALL, LintRule};

/// A contradiction between a kernel's code and its descriptor or metadata.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lint {
    /// The rule that is violated.
    pub rule: &'static LintRule,
    /// The kernel.
    pub kernel: String,
    /// The instruction that contradicts: the index in [`Unit::sections`], and the line. If several do, the first one. `None` if no
    /// instruction does.
    pub at: Option<(usize, usize)>,
    /// The problem, in one sentence.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

/// The problems of a file's kernels, in the order of the kernels. Each rule reports the same problem at most once per kernel. Problems of
/// the whole file come last and are attributed to the first kernel.
pub fn lint(unit: &Unit) -> Vec<Lint> {
    let mut found = Vec::new();
    let graphs: Vec<_> = unit.sections.iter().map(|s| gcn_isa::cfg::Cfg::build(&s.program)).collect();
    for facts in &unit.kernels {
        let kernel = Kernel::new(unit, &graphs, facts);
        let mut lints = Lints { kernel: &facts.name, found: &mut found };
        registers::check(&kernel, &mut lints);
        memory::check(&kernel, &mut lints);
        initial::check(&kernel, &mut lints);
        scalar::check(&kernel, &mut lints);
        metadata::check(&kernel, unit, &mut lints);
    }
    if let Some(first) = unit.kernels.first() {
        metadata::check_file(unit, &mut Lints { kernel: &first.name, found: &mut found });
    }
    found
}

/// Collects the lints of one kernel.
struct Lints<'l> {
    kernel: &'l str,
    found: &'l mut Vec<Lint>,
}

impl Lints<'_> {
    fn add(
        &mut self,
        rule: &'static LintRule,
        at: Option<(usize, usize)>,
        message: String,
        remedy: impl Into<String>,
    ) {
        self.found.push(Lint { rule, kernel: self.kernel.to_owned(), at, message, remedy: remedy.into() });
    }
}
