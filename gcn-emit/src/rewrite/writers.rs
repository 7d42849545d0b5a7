//! The last writers of the registers that each instruction reads (reaching definitions).

use std::collections::HashSet;

use gcn_isa::Reg;
use gcn_isa::cfg::Flow;
use gcn_isa::indexing::Indexing;
use gcn_isa::inst::Via;
use serde::Serialize;

use crate::code::{Code, Unit};

/// The registers that an instruction reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Writers {
    /// The line of the assembly file, from 1.
    pub line: Option<u32>,
    /// The index of the instruction in its section's program.
    pub index: usize,
    /// The registers that the instruction reads.
    pub reads: Vec<LastWriters>,
}

/// A register that is read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LastWriters {
    /// The register.
    pub register: String,
    /// The instructions that may have written the register last, each with its line. `entry` if the value may come from outside of the
    /// function; `…` if there are too many paths to follow.
    pub written_by: Vec<String>,
}

/// The maximum number of blocks that are searched for one register.
const MOST_BLOCKS: usize = 256;

/// Finds the last writers of the registers that each instruction reads.
///
/// ```
/// use gcn_emit::{asm, code::Unit, rewrite::writers};
///
/// let source = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\nv_mov_b32 v0, v1\nv_add_f32 v2, v0, v1\ns_endpgm";
/// let options = asm::Options { keep_instructions: true, ..asm::Options::default() };
/// let unit = Unit::of_assembly(&asm::assemble("k.s", source, &options).unwrap()).unwrap();
/// let found = writers(&unit);
/// assert_eq!(found[1].reads[0].register, "v0");
/// assert_eq!(found[1].reads[0].written_by, ["v_mov_b32_e32 (line 2)"]);
/// assert_eq!(found[1].reads[1].written_by, ["entry"]);
/// ```
pub fn writers(unit: &Unit) -> Vec<Writers> {
    unit.sections.iter().flat_map(section).collect()
}

fn section(code: &Code) -> Vec<Writers> {
    let program = &code.program;
    let flow = Flow::of(program);
    let facts = Facts { code, indexing: Indexing::of(program, &flow), flow };
    let mut found = Vec::new();
    for (index, line) in program.lines.iter().enumerate() {
        let mut reads: Vec<LastWriters> = Vec::new();
        for used in facts.indexing.reads(index, &line.inst).iter().filter(|u| u.operand.is_some()) {
            let register = used.reg.to_string();
            if reads.iter().all(|r| r.register != register) {
                reads.push(LastWriters { register, written_by: last_writers(&facts, index, used.reg) });
            }
        }
        if !reads.is_empty() {
            found.push(Writers { line: code.places.get(index).and_then(|p| p.line), index, reads });
        }
    }
    found
}

/// The data about a section that all searches use.
struct Facts<'a> {
    code: &'a Code,
    flow: Flow,
    indexing: Indexing,
}

/// Walks back from before `line` until every part of `reg` has been written.
fn last_writers(facts: &Facts<'_>, line: usize, reg: Reg) -> Vec<String> {
    let Facts { code, flow, .. } = facts;
    let program = &code.program;
    let (mut found, mut entry, mut more) = (Vec::new(), false, false);
    let mut seen = HashSet::new();
    let all = if reg.len >= 64 { u64::MAX } else { (1u64 << reg.len) - 1 };
    let mut work = vec![(flow.cfg.block_of(line), line, all)];
    while let Some((block, end, mut open)) = work.pop() {
        for line in (flow.cfg.blocks[block].start..end).rev() {
            let (surely, perhaps) = written(facts, line, reg);
            if (surely | perhaps) & open != 0 {
                found.push(line);
                open &= !surely;
            }
            if open == 0 {
                break;
            }
        }
        if open == 0 {
            continue;
        }
        entry |= flow.roots.iter().any(|r| r.block == block);
        for &pred in &flow.cfg.blocks[block].preds {
            if seen.len() >= MOST_BLOCKS {
                more = true;
            } else if seen.insert((pred, open)) {
                work.push((pred, flow.cfg.blocks[pred].end, open));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    let name = |line: usize| {
        let mnemonic = program.lines[line].inst.desc.printed;
        code.places
            .get(line)
            .and_then(|p| p.line)
            .map_or_else(|| mnemonic.to_owned(), |n| format!("{mnemonic} (line {n})"))
    };
    let mut texts: Vec<String> = found.into_iter().map(name).collect();
    if entry || texts.is_empty() {
        texts.push("entry".to_owned());
    }
    if more {
        texts.push("…".to_owned());
    }
    texts
}

/// The parts of `reg` that a line writes, one bit for each, and the parts that it may write through an index.
fn written(facts: &Facts<'_>, line: usize, reg: Reg) -> (u64, u64) {
    let (mut surely, mut perhaps) = (0, 0);
    for write in facts.indexing.writes(line, &facts.code.program.lines[line].inst) {
        let parts = if write.via >= Via::Range { &mut perhaps } else { &mut surely };
        if write.reg.file == reg.file {
            let from = write.reg.index.max(reg.index);
            let to = write.reg.end().min(reg.end());
            (from..to).for_each(|i| *parts |= 1u64.checked_shl(u32::from(i - reg.index)).unwrap_or(0));
        }
    }
    (surely, perhaps)
}
