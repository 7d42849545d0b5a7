//! The parameters of a kernel: their types and locations.
//!
//! A parameter remains in the kernarg segment while the kernel runs. The wave knows the segment's address until it
//! overwrites the two SGPRs in which it initially receives the address.

use std::ops::Range;

use gcn_isa::cfg::Cfg;
use gcn_isa::{Program, Reg};

use super::bytes::Bytes;
use super::types::Type;
use super::variables::sgpr;
use crate::kernel::{KernelSpec, UserSgprs};

/// A parameter.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) ty: Type,
    /// The code, by byte offset in the kernel, for which `location` is valid.
    pub(super) ranges: Vec<Range<u32>>,
    /// The expression that computes its address.
    pub(super) location: Vec<u8>,
}

/// The parameters of a kernel whose instructions are at `offsets`. Only parameters with a name and a type that debuggers know are included.
pub(super) fn parameters(kernel: &KernelSpec, offsets: &[u32], end: u32) -> Vec<Parameter> {
    let Some(segment) = kernel.initial_sgprs().user_sgpr(UserSgprs::KERNARG_SEGMENT_PTR) else {
        return Vec::new();
    };
    let ranges = unwritten(&kernel.program, segment, offsets, end);
    let parameter = |arg: &crate::metadata::KernelArg| {
        let ty = Type::named(arg.type_name.as_deref()?)?;
        let location = in_segment(segment, arg.offset);
        Some(Parameter { name: arg.name.clone()?, ty, ranges: ranges.clone(), location })
    };
    kernel.args.iter().filter_map(parameter).collect()
}

/// The expression for the address `offset` bytes after the start of the segment (2.5.1), which combines two 32-bit
/// registers into a 64-bit value.
fn in_segment(segment: Reg, offset: u32) -> Vec<u8> {
    const DW_OP_BREGX: u8 = 0x92;
    const DW_OP_CONST1U: u8 = 0x08;
    const DW_OP_SHL: u8 = 0x24;
    const DW_OP_OR: u8 = 0x21;
    const DW_OP_PLUS_UCONST: u8 = 0x23;
    let mut out = Bytes::default();
    let half = |out: &mut Bytes, index: u16| {
        out.bytes.push(DW_OP_BREGX);
        out.unsigned(sgpr(index));
        out.signed(0);
    };
    half(&mut out, segment.index + 1);
    out.bytes.extend([DW_OP_CONST1U, 32, DW_OP_SHL]);
    half(&mut out, segment.index);
    out.bytes.extend([DW_OP_OR, DW_OP_PLUS_UCONST]);
    out.unsigned(offset.into());
    out.bytes
}

/// The byte ranges of the instructions before which no path has written to the registers.
fn unwritten(program: &Program, reg: Reg, offsets: &[u32], end: u32) -> Vec<Range<u32>> {
    let cfg = Cfg::build(program);
    let writes = |line: usize| program.lines[line].inst.writes().iter().any(|w| w.reg.overlaps(reg));
    // If jumps lead to unknown destinations, the registers are certainly unwritten only in the first block.
    let unsure = cfg.blocks.iter().any(|b| b.unknown_exit);
    let mut written = vec![unsure; cfg.blocks.len()];
    written.first_mut().into_iter().for_each(|first| *first = false);
    let mut open: Vec<usize> = (0..cfg.blocks.len()).collect();
    while let Some(block) = open.pop() {
        let b = &cfg.blocks[block];
        if !written[block] && !(b.start..b.end).any(writes) {
            continue;
        }
        for &next in &b.succs {
            if !std::mem::replace(&mut written[next], true) {
                open.push(next);
            }
        }
    }
    let mut ranges: Vec<Range<u32>> = Vec::new();
    let ends = offsets.iter().skip(1).copied().chain([end]);
    let code: Vec<Range<u32>> = offsets.iter().zip(ends).map(|(start, end)| *start..end).collect();
    for (block, written) in cfg.blocks.iter().zip(&mut written) {
        for (line, code) in (block.start..).zip(&code[block.start..block.end]) {
            match (&*written, ranges.last_mut()) {
                (true, _) => break,
                (false, Some(last)) if last.end == code.start => last.end = code.end,
                (false, _) => ranges.push(code.clone()),
            }
            *written = writes(line);
        }
    }
    ranges
}
