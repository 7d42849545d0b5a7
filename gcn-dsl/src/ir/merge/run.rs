//! Merges the accesses of one run of instructions.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::super::align::{Alignment, Split};
use super::super::{Inst, Kernel, LdsId, Memory, Stmt, Type, Value, ValueDef};
use super::group::{Access, Group, Groups};
use super::uniform;
use crate::scalar::Elem;

/// Bytes of the widest vector access.
const WIDEST: u32 = 16;

/// Changes at one instruction: statements to insert before it, and whether it is removed.
#[derive(Default, Clone)]
pub(super) struct Edit {
    pub before: Vec<Stmt>,
    pub removed: bool,
}

/// Merges the accesses in `open` and moves the instructions to `out`.
pub(super) fn merge(
    kernel: &mut Kernel,
    alignment: &mut Alignment,
    open: &mut Vec<Value>,
    out: &mut Vec<Stmt>,
) {
    let run = std::mem::take(open);
    let mut edits = vec![Edit::default(); run.len()];
    for mut group in groups(kernel, &run) {
        if group.accesses.len() > 1 {
            group.aligned = block_bytes(kernel, alignment, &group.base, 1 << 16);
            // The pointers of different lanes are unrelated: a merged store could reorder the writes of two
            // lanes to the same bytes. Loads are not affected.
            let apart = group.store && matches!(group.memory, Memory::Lanes(_));
            let block = if apart { 4 } else { group.aligned.min(WIDEST) };
            merge_group(kernel, &group, block, &mut edits);
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

/// The size of the aligned blocks within which accesses at `base` may be merged.
pub(super) fn block_bytes(kernel: &Kernel, alignment: &mut Alignment, base: &Split, widest: u32) -> u32 {
    match base.base {
        Some(v) => widest.min(1 << alignment.bits(kernel, v)),
        None => widest,
    }
}

fn groups(kernel: &Kernel, run: &[Value]) -> Vec<Group> {
    let mut groups = Groups::default();
    for (at, &inst) in run.iter().enumerate() {
        let (memory, offset, store, ty) = match kernel.def(inst).inst {
            Inst::Load { memory, offset } => (memory, offset, false, kernel.ty(inst)),
            Inst::Store { memory, offset, value } => (memory, offset, true, kernel.ty(value)),
            ref other => {
                if !passes(other) {
                    groups.close_all(kernel);
                }
                continue;
            }
        };
        let split = Split::of(kernel, offset);
        let bytes = ty.elem.bytes() * u32::from(ty.count);
        let (constant, dwords) = (split.constant, bytes.div_ceil(4));
        let base = Split { constant: 0, ..split };
        let whole = bytes.is_multiple_of(4).then_some(Access { at, inst, constant, dwords });
        match store {
            true => groups.store(kernel, memory, base, whole),
            false => groups.load(kernel, memory, base, whole),
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

pub(in crate::ir) fn is_read_only(kernel: &Kernel, memory: Memory) -> bool {
    matches!(memory, Memory::Buffer(resource) if kernel.read_only.contains(&resource))
}

/// True for all names of the LDS array whose size the launch gives.
pub(super) fn is_dynamic(kernel: &Kernel, id: LdsId) -> bool {
    kernel.lds[id.0 as usize].dynamic
}

/// True for memory behind raw pointers, and for slices that overlap others.
pub(super) fn is_raw(kernel: &Kernel, memory: Memory) -> bool {
    match memory {
        Memory::Global(_) | Memory::Lanes(_) => true,
        Memory::Buffer(resource) => kernel.overlapping.contains(&resource),
        Memory::Lds(_) | Memory::Private(_) => false,
    }
}

/// True if an access to one may touch the bytes of an access to the other.
pub(in crate::ir) fn may_alias(kernel: &Kernel, a: Memory, b: Memory) -> bool {
    let dynamic = |m| matches!(m, Memory::Lds(id) if is_dynamic(kernel, id));
    let raw = |m| is_raw(kernel, m);
    a == b || (raw(a) && raw(b)) || (dynamic(a) && dynamic(b))
}

fn merge_group(kernel: &mut Kernel, group: &Group, block: u32, edits: &mut [Edit]) {
    if block < 8 {
        return;
    }
    let mut blocks: HashMap<u32, SmallVec<[Access; 4]>> = HashMap::new();
    for a in &group.accesses {
        // The aligned block that contains the access. The common base is a multiple of `block`, so the
        // constant alone decides.
        let start = a.constant & !(block - 1);
        if fits(a, start, block) {
            blocks.entry(start).or_default().push(*a);
        }
    }
    let mut blocks: Vec<_> = blocks.into_iter().filter(|b| b.1.len() > 1).collect();
    blocks.sort_unstable_by_key(|b| b.0);
    let block_runs = group.block_runs();
    for (start, accesses) in blocks {
        if group.store {
            stores(kernel, group, start, accesses, &block_runs, edits);
        } else {
            loads(kernel, group, start, &accesses, edits);
        }
    }
}

fn fits(a: &Access, start: u32, block: u32) -> bool {
    a.constant.is_multiple_of(4) && a.constant - start + 4 * a.dwords <= block
}

/// The range of dwords `first..end` of a block, widened to what the alignment rules of LDS accesses permit.
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
    let end = accesses.iter().map(|a| dword(a) + a.dwords).max().unwrap_or_default();
    let (first, end) = widened(group.memory, first, end);
    let ty = Type { count: (end - first) as u8, ..Type::varying(Elem::U32) };
    let Inst::Load { memory, offset } = kernel.def(leader.inst).inst else { return };
    let before = &mut edits[leader.at].before;
    let constant = start.wrapping_add(4 * first);
    // The first access's own offset already is the start of the block's used part.
    let offset = if constant == leader.constant {
        offset
    } else {
        let offset_ty = kernel.ty(offset);
        Split { constant, ..group.base }.build(kernel, offset_ty, before)
    };
    let loc = kernel.def(leader.inst).loc;
    kernel.values.push(ValueDef { inst: Inst::Load { memory, offset }, ty: Some(ty), loc });
    let wide = Value(kernel.values.len() as u32 - 1);
    before.push(Stmt::Inst(wide));
    for a in accesses {
        kernel.values[a.inst.0 as usize].inst = part(wide, dword(a) - first, a.dwords, end - first);
    }
}

/// The instruction that extracts these dwords of a wide value.
pub(super) fn part(from: Value, dword: u32, dwords: u32, of: u32) -> Inst {
    if dwords == of { Inst::Bitcast(from) } else { Inst::Extract { from, dword: dword as u8 } }
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
    let dword = |a: &Access| (a.constant - start) / 4;
    let mut rest = accesses.as_slice();
    while let Some(leader) = rest.first() {
        // Greedily takes adjacent accesses, and the longest prefix of them that the memory can store at once.
        let (mut count, mut end, mut best) = (0, dword(leader), 1);
        for a in rest.iter().take_while(|a| {
            let adjoins = dword(a) == end;
            end += a.dwords;
            adjoins
        }) {
            count += 1;
            let end = dword(a) + a.dwords;
            if widened(group.memory, dword(leader), end) == (dword(leader), end) {
                best = count;
            }
        }
        let (together, others) = rest.split_at(best);
        rest = others;
        if together.len() > 1 && passes_others(group, block_runs, together) {
            store(kernel, group, start.wrapping_add(4 * dword(leader)), together, edits);
        }
    }
}

/// True if the parts may all be stored at the place of the last one. The stores in between lie in the same
/// aligned block, so they are disjoint from those of other lanes, unless these have the same block.
fn passes_others(group: &Group, block_runs: &[u32], parts: &[Access]) -> bool {
    let number = |at: Option<usize>| at.map(|at| group.accesses.partition_point(|a| a.at < at));
    let block_run = |at: Option<usize>| number(at).and_then(|n| block_runs.get(n));
    let positions = || parts.iter().map(|a| a.at);
    block_run(positions().min()) == block_run(positions().max())
}

/// Emits one store at the place of the last part.
fn store(kernel: &mut Kernel, group: &Group, constant: u32, parts: &[Access], edits: &mut [Edit]) {
    let Some(last) = parts.iter().max_by_key(|a| a.at) else { return };
    let mut values = SmallVec::new();
    let mut offset_ty = Type::varying(Elem::U32);
    for a in parts {
        let Inst::Store { offset, value, .. } = kernel.def(a.inst).inst else { return };
        offset_ty = kernel.ty(offset);
        values.push(value);
        edits[a.at].removed = true;
    }
    let count = parts.iter().map(|a| a.dwords).sum::<u32>() as u8;
    let ty = Type { count, ..Type::varying(Elem::U32) };
    let loc = kernel.def(last.inst).loc;
    let before = &mut edits[last.at].before;
    kernel.values.push(ValueDef { inst: Inst::Concat(values), ty: Some(ty), loc });
    let value = Value(kernel.values.len() as u32 - 1);
    before.push(Stmt::Inst(value));
    let offset = Split { constant, ..group.base }.build(kernel, offset_ty, before);
    let inst = Inst::Store { memory: group.memory, offset, value };
    kernel.values.push(ValueDef { inst, ty: None, loc });
    before.push(Stmt::Inst(Value(kernel.values.len() as u32 - 1)));
}
