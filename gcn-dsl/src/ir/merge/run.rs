//! Merges the accesses in one run of instructions.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::super::align::{Alignment, Split};
use super::super::{Bin, Inst, Kernel, Manner, Memory, Stmt, Type, Value, ValueDef};
use super::edit::{Edit, block_bytes, part};
use super::group::{Access, Group, Groups};
use super::{narrow, uniform};
use crate::scalar::Elem;

/// The size in bytes of the widest vector access.
const WIDEST: u32 = 16;

/// Merges the accesses in `open` and moves the instructions to `out`.
pub(super) fn merge(
    kernel: &mut Kernel,
    alignment: &mut Alignment,
    open: &mut Vec<Value>,
    in_loop: bool,
    out: &mut Vec<Stmt>,
) {
    let run = std::mem::take(open);
    let mut edits = vec![Edit::default(); run.len()];
    for mut group in groups(kernel, &run) {
        if group.accesses.len() > 1 {
            group.aligned = block_bytes(kernel, alignment, &group.base, 1 << 16);
            if let Some(element) = element_bytes(kernel, &group).filter(|bytes| *bytes > group.aligned) {
                group.aligned = element;
            }
            // The pointers of different lanes are unrelated, so a merged store could change the order in which two
            // lanes write the same bytes. Loads do not have this problem.
            let apart = group.store && matches!(group.memory, Memory::Lanes(_));
            let block = if apart { 4 } else { WIDEST };
            merge_group(kernel, &group, block, in_loop, &mut edits);
        }
    }
    uniform::merge(kernel, alignment, &run, &mut edits);
    for (v, edit) in run.into_iter().zip(edits) {
        out.extend(edit.before);
        if !edit.removed {
            out.push(Stmt::Inst(v));
        }
    }
}

/// The size of the slice's elements, if offsets are multiples of it and it is not a power of two; `None` otherwise.
fn element_bytes(kernel: &Kernel, group: &Group) -> Option<u32> {
    let (Memory::Buffer(_), Some(base)) = (group.memory, group.base.base) else { return None };
    let Inst::Bin(Bin::Mul, _, bytes) = kernel.def(base).inst else { return None };
    let bytes = u32::try_from(kernel.constant(bytes)?).ok()?;
    (bytes.is_multiple_of(4) && bytes <= 1 << 16).then_some(bytes)
}

fn groups(kernel: &Kernel, run: &[Value]) -> Vec<Group> {
    let mut groups = Groups::default();
    for (at, &inst) in run.iter().enumerate() {
        let (memory, offset, store, ty) = match kernel.def(inst).inst {
            Inst::Load { memory, offset, manner: Manner::Plain } => (memory, offset, false, kernel.ty(inst)),
            Inst::Store { memory, offset, value, manner: Manner::Plain } => {
                (memory, offset, true, kernel.ty(value))
            }
            ref other => {
                if !passes(other) {
                    groups.close_all(kernel);
                }
                continue;
            }
        };
        let split = Split::of(kernel, offset);
        let bytes = ty.elem.bytes() * u32::from(ty.count);
        let constant = split.constant;
        let base = Split { constant: 0, ..split };
        let whole =
            bytes.is_multiple_of(4) || ty.count == 1 && ty.elem != Elem::Bool && narrow::merge_in(memory);
        let access = whole.then_some(Access { at, inst, constant, bytes, elem: ty.elem });
        match store {
            true => groups.store(kernel, memory, base, access),
            false => groups.load(kernel, memory, base, access),
        }
    }
    groups.finish()
}

/// True if memory accesses may move across the instruction.
fn passes(inst: &Inst) -> bool {
    let harmless = matches!(
        inst,
        Inst::Read(_)
            | Inst::Write { .. }
            | Inst::LoadUniform { .. }
            | Inst::ReadFirstLane(_)
            | Inst::ReadLane(..)
            | Inst::Permute { .. }
            | Inst::Ballot(_)
    );
    harmless || inst.is_pure()
}

fn merge_group(kernel: &mut Kernel, group: &Group, block: u32, in_loop: bool, edits: &mut [Edit]) {
    let mut blocks: HashMap<u32, SmallVec<[Access; 4]>> = HashMap::new();
    for a in &group.accesses {
        // The start of the part of the aligned block that contains the access. The common base is a multiple of the
        // block's size, so the constant alone decides.
        let whole = group.start_of(a.constant);
        let start = a.constant - a.constant.wrapping_sub(whole) % block;
        if fits(a, start, block.min(group.aligned - start.wrapping_sub(whole))) {
            blocks.entry(start).or_default().push(*a);
        }
    }
    let dear = in_loop && narrow::has_tail(kernel, group.memory);
    for (start, accesses) in &mut blocks {
        narrow::keep_whole_dwords(*start, accesses, dear);
    }
    let mut blocks: Vec<_> = blocks.into_iter().filter(|b| b.1.len() > 1).collect();
    blocks.sort_unstable_by_key(|b| b.0);
    let block_runs = group.block_runs();
    for (start, accesses) in blocks {
        if group.store {
            stores(kernel, group, start, accesses, &block_runs, edits);
        } else if group.passes(&accesses) {
            loads(kernel, group, start, &accesses, edits);
        }
    }
}

fn fits(a: &Access, start: u32, block: u32) -> bool {
    a.constant.is_multiple_of(a.bytes.min(4)) && a.constant - start + a.bytes <= block
}

/// The type of an access to this number of dwords that consists of these parts. If the parts are narrow elements, the
/// type has their element type, by which [`tails`] recognises them.
///
/// [`tails`]: super::super::tails
fn together(parts: &[Access], dwords: u32) -> Type {
    let elem = parts.first().map(|a| a.elem).filter(|elem| elem.bytes() < 4);
    let elem = elem.filter(|elem| parts.iter().all(|a| a.elem == *elem)).unwrap_or(Elem::U32);
    Type { count: (4 * dwords / elem.bytes()) as u8, ..Type::varying(elem) }
}

/// The range of dwords that one access must cover to include `first..end` of a memory block. A wide access to LDS must
/// start at an aligned address, so for LDS the range may begin before `first`.
fn widened(memory: Memory, first: u32, end: u32) -> (u32, u32) {
    match (memory, first, end - first) {
        (Memory::Lds(_), 1, 2) | (Memory::Lds(_), 1, 3) => (0, end),
        _ => (first, end),
    }
}

fn loads(kernel: &mut Kernel, group: &Group, start: u32, accesses: &[Access], edits: &mut [Edit]) {
    let Some(leader) = accesses.first().filter(|_| accesses.len() > 1) else { return };
    let dword = |a: &Access| (a.constant - start) / 4;
    let first = accesses.iter().map(dword).min().unwrap_or_default();
    let end = accesses.iter().map(|a| (a.constant - start + a.bytes).div_ceil(4)).max().unwrap_or_default();
    let (first, end) = widened(group.memory, first, end);
    let ty = together(accesses, end - first);
    let Inst::Load { memory, offset, manner } = kernel.def(leader.inst).inst else { return };
    let before = &mut edits[leader.at].before;
    let constant = start.wrapping_add(4 * first);
    // The offset of the leading access is already the start of the part of the block that is used.
    let offset = if constant == leader.constant {
        offset
    } else {
        let offset_ty = kernel.ty(offset);
        Split { constant, ..group.base }.build(kernel, offset_ty, before)
    };
    let loc = kernel.def(leader.inst).loc;
    let wide = kernel.append(Inst::Load { memory, offset, manner }, ty, loc, before);
    for a in accesses {
        let inst = if a.bytes < 4 {
            let byte = a.constant - start - 4 * first;
            narrow::element(kernel, wide, byte, a, &mut edits[a.at].before)
        } else {
            part(wide, dword(a) - first, a.bytes / 4, end - first)
        };
        kernel.values[a.inst.0 as usize].inst = inst;
    }
}

fn stores(
    kernel: &mut Kernel,
    group: &Group,
    start: u32,
    mut accesses: SmallVec<[Access; 4]>,
    block_runs: &[u32],
    edits: &mut [Edit],
) {
    accesses.sort_unstable_by_key(|a| a.constant);
    let mut rest = accesses.as_slice();
    while let Some(leader) = rest.first() {
        // Take adjacent accesses greedily. Of these, use the longest prefix that one store can write.
        let first = leader.constant - start;
        let (mut count, mut end, mut best) = (0, first, 1);
        for a in rest {
            if a.constant - start != end {
                break;
            }
            count += 1;
            end += a.bytes;
            let dwords = (first / 4, end / 4);
            if end.is_multiple_of(4) && widened(group.memory, dwords.0, dwords.1) == dwords {
                best = count;
            }
        }
        let (together, others) = rest.split_at(best);
        rest = others;
        if together.len() > 1 && group.passes(together) && passes_others(group, block_runs, together) {
            store(kernel, group, leader.constant, together, edits);
        }
    }
}

/// True if all parts may be stored at the position of the last one: all stores of the group between them are to the
/// same aligned block. They are then disjoint from the stores of other lanes, unless these access the same block.
fn passes_others(group: &Group, block_runs: &[u32], parts: &[Access]) -> bool {
    let number = |at: Option<usize>| at.map(|at| group.accesses.partition_point(|a| a.at < at));
    let block_run = |at: Option<usize>| number(at).and_then(|n| block_runs.get(n));
    let positions = || parts.iter().map(|a| a.at);
    block_run(positions().min()) == block_run(positions().max())
}

/// Emits one store at the position of the last part.
fn store(kernel: &mut Kernel, group: &Group, constant: u32, parts: &[Access], edits: &mut [Edit]) {
    let Some(last) = parts.iter().max_by_key(|a| a.at) else { return };
    let mut values: SmallVec<[(Value, u32); 4]> = SmallVec::new();
    let mut offset_ty = Type::varying(Elem::U32);
    for a in parts {
        let Inst::Store { offset, value, .. } = kernel.def(a.inst).inst else { return };
        offset_ty = kernel.ty(offset);
        values.push((value, a.bytes));
        edits[a.at].removed = true;
    }
    let loc = kernel.def(last.inst).loc;
    let before = &mut edits[last.at].before;
    let words = narrow::words(kernel, &values, loc, before);
    let ty = together(parts, parts.iter().map(|a| a.bytes).sum::<u32>() / 4);
    let value = kernel.append(Inst::Concat(words), ty, loc, before);
    let offset = Split { constant, ..group.base }.build(kernel, offset_ty, before);
    let inst = Inst::Store { memory: group.memory, offset, value, manner: Manner::Plain };
    kernel.values.push(ValueDef { inst, ty: None, loc });
    before.push(Stmt::Inst(Value(kernel.values.len() as u32 - 1)));
}
