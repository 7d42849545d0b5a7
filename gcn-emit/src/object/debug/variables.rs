//! Variables of the source: the blocks that declare them, and their locations.
//!
//! Register numbers and operations on lanes are those of LLVM (*User Guide for AMDGPU Backend*, register identifiers; *DWARF
//! Extensions For Heterogeneous Debugging*).

use std::ops::Range;

use gcn_isa::RegFile;
use gcn_isa::program::{Call, SourceLoc};
use gcn_isa::reg::RegUnit;

use super::bytes::Bytes;
use super::scopes::{Block, Inlined, Local};
use super::types::Type;
use super::{Files, Lines};
use crate::kernel::{Piece, PieceAt, Variable};

/// Assigns blocks to the kernel and to the functions that were inlined into it.
pub(super) fn place(lines: &mut Lines<'_>, offsets: &[u32], files: &mut Files) {
    let end = lines.span.size as u32;
    let offset = |line: usize| offsets.get(line).copied().unwrap_or(end);
    let (kernel, rows) = (lines.kernel, &lines.rows);
    let mut of_frame = |call: Option<&'static Call>| {
        let declared = kernel.variables.iter().filter(|v| same(v.at.call, call));
        let mut blocks: Vec<Block> = Vec::new();
        for variable in declared {
            let Some(local) = local(variable, &offset, files) else { continue };
            let start = (variable.at.line, variable.at.column);
            match blocks.iter_mut().find(|block| block.end == variable.end) {
                Some(block) => {
                    block.start = block.start.min(start);
                    block.variables.push(local);
                }
                None => {
                    let variables = vec![local];
                    blocks.push(Block {
                        start,
                        end: variable.end,
                        ranges: Vec::new(),
                        variables,
                        inner: Vec::new(),
                        calls: Vec::new(),
                    });
                }
            }
        }
        blocks.iter_mut().for_each(|block| block.ranges = ranges(block, call, rows, end));
        blocks.retain(|block| !block.ranges.is_empty());
        nested(blocks)
    };
    // A reference, because the closure is used again below.
    let of_frame = &mut of_frame;
    lines.blocks = of_frame(None);
    inlined(&mut lines.inlined, &mut lines.blocks, of_frame);
}

/// Assigns blocks to functions, and moves each function into the block that calls it.
fn inlined(
    calls: &mut Vec<Inlined>,
    blocks: &mut [Block],
    of_frame: &mut impl FnMut(Option<&'static Call>) -> Vec<Block>,
) {
    for mut call in std::mem::take(calls) {
        call.blocks = of_frame(Some(call.call));
        inlined(&mut call.inner, &mut call.blocks, of_frame);
        match around(blocks, call.call.at) {
            Some(block) => block.calls.push(call),
            None => calls.push(call),
        }
    }
}

/// The innermost block that contains a position; `None` if no block does.
fn around(blocks: &mut [Block], place: SourceLoc) -> Option<&mut Block> {
    let at =
        blocks.iter().position(|block| (block.start..=block.end).contains(&(place.line, place.column)))?;
    let block = &mut blocks[at];
    match block.inner.iter().any(|inner| (inner.start..=inner.end).contains(&(place.line, place.column))) {
        true => around(&mut block.inner, place),
        false => Some(block),
    }
}

/// True if both are the same call; equal calls have the same address.
fn same(a: Option<&'static Call>, b: Option<&'static Call>) -> bool {
    a.map(std::ptr::from_ref) == b.map(std::ptr::from_ref)
}

/// The code of a block: the rows whose position is in the block, and the rows of code that was inlined there.
fn ranges(
    block: &Block,
    call: Option<&'static Call>,
    rows: &[(u32, u64, SourceLoc)],
    end: u32,
) -> Vec<Range<u32>> {
    let is_inside = |place: SourceLoc| {
        let at = place.in_frame(call).map(|place| (place.line, place.column));
        at.is_some_and(|at| (block.start..=block.end).contains(&at))
    };
    let mut found: Vec<Range<u32>> = Vec::new();
    let ends = rows.iter().skip(1).map(|row| row.0).chain([end]);
    for ((start, ..), end) in rows.iter().zip(ends).filter(|(row, _)| is_inside(row.2)) {
        match found.last_mut() {
            Some(last) if last.end == *start => last.end = end,
            _ => found.push(*start..end),
        }
    }
    found
}

/// Nests blocks in each other.
fn nested(mut blocks: Vec<Block>) -> Vec<Block> {
    // An outer block begins before an inner one, or at the same position and ends after it.
    blocks.sort_by_key(|block| (block.start, std::cmp::Reverse(block.end)));
    let mut out: Vec<Block> = Vec::new();
    for block in blocks {
        insert(&mut out, block);
    }
    out
}

fn insert(into: &mut Vec<Block>, block: Block) {
    match into.last_mut() {
        Some(outer) if block.start >= outer.start && block.end <= outer.end => {
            insert(&mut outer.inner, block);
        }
        _ => into.push(block),
    }
}

fn local(variable: &Variable, offset: &impl Fn(usize) -> u32, files: &mut Files) -> Option<Local> {
    let located = variable
        .locations
        .iter()
        .map(|(lines, pieces)| (offset(lines.start)..offset(lines.end), expression(pieces)));
    Some(Local {
        name: variable.name.clone(),
        file: files.number(variable.at.file),
        line: variable.at.line,
        ty: Type::of(&variable.ty)?,
        locations: located.collect(),
    })
}

/// The number of an SGPR in debug information.
pub(super) fn sgpr(index: u16) -> u64 {
    if index < 64 { 32 + u64::from(index) } else { 1088 + u64::from(index - 64) }
}

/// The location expression for the pieces (2.6.1).
fn expression(pieces: &[Piece]) -> Vec<u8> {
    const DW_OP_PIECE: u8 = 0x93;
    let mut out = Bytes::default();
    for piece in pieces {
        piece.at.into_iter().for_each(|at| at_place(at, &mut out));
        if pieces.len() > 1 {
            out.bytes.push(DW_OP_PIECE);
            out.unsigned(piece.bytes.into());
        }
    }
    out.bytes
}

fn at_place(at: PieceAt, out: &mut Bytes) {
    const DW_OP_CONSTU: u8 = 0x10;
    const DW_OP_STACK_VALUE: u8 = 0x9f;
    const DW_OP_REGX: u8 = 0x90;
    match at {
        PieceAt::Constant(bits) => {
            out.bytes.push(DW_OP_CONSTU);
            out.unsigned(bits);
            out.bytes.push(DW_OP_STACK_VALUE);
        }
        PieceAt::Register(unit) => {
            out.bytes.push(DW_OP_REGX);
            out.unsigned(register_number(unit));
            if unit.reg().file != RegFile::Sgpr {
                out.bytes.extend(OF_LANE);
            }
        }
    }
}

/// An operation for a vector register, which has four bytes for each lane: selects those of the lane that the debugger inspects.
const OF_LANE: [u8; 6] = {
    const DW_OP_LLVM_USER: u8 = 0xe9;
    const DW_OP_LLVM_PUSH_LANE: u8 = 0x03;
    const DW_OP_LLVM_OFFSET: u8 = 0x04;
    const DW_OP_LIT4: u8 = 0x34;
    const DW_OP_MUL: u8 = 0x1e;
    [DW_OP_LLVM_USER, DW_OP_LLVM_PUSH_LANE, DW_OP_LIT4, DW_OP_MUL, DW_OP_LLVM_USER, DW_OP_LLVM_OFFSET]
};

/// The number of a register in debug information.
pub(crate) fn register_number(unit: RegUnit) -> u64 {
    let reg = unit.reg();
    match reg.file {
        RegFile::Sgpr => sgpr(reg.index),
        RegFile::Vgpr => 2560 + u64::from(reg.index),
        RegFile::Agpr => 3072 + u64::from(reg.index),
    }
}
