//! Merges two LDS accesses with the same base into one: `ds_read2_b32` and similar instructions.
//!
//! Within a block, reads from the same base without an LDS write in between are paired at the position of the first
//! read, and writes at that of the last write. A paired instruction has two offsets of 8 bits, in units of one element
//! or of 64 elements. If the offsets are too large, a closer base is computed, provided that this enables at least two
//! pairs.

use gcn_isa::inst::Mods;
use gcn_isa::operand::Operand;
use gcn_isa::reg::RegFile;
use gcn_isa::table::{self, Class, ImplicitRegs};
use hashbrown::HashMap;

use super::combine::accesses;
use crate::mir::{Function, MInst, MOperand, Op, VReg, VSlice};

/// The instruction for one access, the two instructions for two accesses (one with offsets in elements, one with
/// offsets in units of 64 elements), and the element size in bytes.
struct Kind {
    one: &'static str,
    two: [&'static str; 2],
    bytes: i32,
}

const KINDS: &[Kind] = &[
    Kind { one: "ds_read_b32", two: ["ds_read2_b32", "ds_read2st64_b32"], bytes: 4 },
    Kind { one: "ds_read_b64", two: ["ds_read2_b64", "ds_read2st64_b64"], bytes: 8 },
    Kind { one: "ds_write_b32", two: ["ds_write2_b32", "ds_write2st64_b32"], bytes: 4 },
    Kind { one: "ds_write_b64", two: ["ds_write2_b64", "ds_write2st64_b64"], bytes: 8 },
];

/// The largest offset in a paired instruction.
const MAX: i32 = 255;

/// The largest number of open groups, and of accesses in a group. Each new access is compared with all of these, so the
/// bound keeps the pass linear.
const OPEN: usize = 64;

/// Pairs accesses in `f`. Blocks in which the user has fixed the order or counts accesses are left unchanged. Accesses
/// on different sides of a mark are not paired.
pub(super) fn run(f: &mut Function) {
    let fixes = |inst: &MInst| matches!(&inst.op, Op::Mark(mark) if !mark.leaves_pairs());
    if f.blocks.iter().flat_map(|b| &b.insts).any(fixes) {
        return;
    }
    let writers = writers(f);
    let mut renamed = HashMap::new();
    for block in 0..f.blocks.len() {
        let groups = groups(f, &f.blocks[block].insts, &writers);
        let mut edits = Edits::default();
        for group in groups {
            pair_up(f, block, &group, &mut edits, &mut renamed);
        }
        apply(&mut f.blocks[block].insts, edits);
    }
    rename(f, &renamed);
}

/// An access that may be paired.
#[derive(Clone, Copy)]
struct Single {
    index: usize,
    kind: usize,
    base: VSlice,
    offset: i32,
}

/// The changes to a block.
#[derive(Default)]
struct Edits {
    gone: Vec<usize>,
    /// Instructions to insert, each with its position; those for one position are in order.
    new: Vec<(usize, MInst)>,
}

/// For each register, the number of its writers.
fn writers(f: &Function) -> Vec<u32> {
    let mut writers = vec![0; f.vregs.len()];
    for inst in f.blocks.iter().flat_map(|b| &b.insts) {
        for (slot, operand) in inst.operands.iter().enumerate() {
            if let MOperand::Virt(slice) = operand
                && accesses(inst, slot).1
            {
                writers[slice.reg.0 as usize] += 1 + u32::from(inst.keeps_dst);
            }
        }
    }
    let fixed = f.kept.iter().chain(f.pins.iter().map(|pin| &pin.reg));
    // Observed and pinned registers must not be renamed. A count of two writers excludes them.
    fixed.for_each(|reg| writers[reg.0 as usize] = 2);
    writers
}

/// Groups of accesses of one kind and base that may be reordered among each other, in program order.
fn groups(f: &Function, insts: &[MInst], writers: &[u32]) -> Vec<Vec<Single>> {
    let mut done = Vec::new();
    let mut open: Vec<Vec<Single>> = Vec::new();
    for (index, inst) in insts.iter().enumerate() {
        let Some(single) = single(f, inst, index, writers) else {
            if is_fence(inst) {
                done.append(&mut open);
            }
            continue;
        };
        let fits = |group: &Vec<Single>| group[0].kind == single.kind && group[0].base == single.base;
        let write = is_write(single.kind);
        // Reads may be reordered. A write may be reordered only with writes at the same base, which do not overlap
        // because their offsets differ.
        if open.iter().any(|group| write && !fits(group) || write != is_write(group[0].kind)) {
            done.append(&mut open);
        }
        if open.len() > OPEN || open.iter().any(|group| group.len() > OPEN) {
            done.append(&mut open);
        }
        match open.iter_mut().find(|group| fits(group)) {
            Some(group) => group.push(single),
            None => open.push(vec![single]),
        }
    }
    done.append(&mut open);
    done
}

fn is_write(kind: usize) -> bool {
    table::class_of(KINDS[kind].one) == Some(Class::LdsWrite)
}

fn single(f: &Function, inst: &MInst, index: usize, writers: &[u32]) -> Option<Single> {
    let Op::Machine(row, mods) = &inst.op else { return None };
    let kind = KINDS.iter().position(|kind| kind.one == row.entry.mnemonic)?;
    let plain = *mods == Mods { offset: mods.offset, ..row.default_mods() } && !inst.keeps_dst;
    let once = |operand: &MOperand| match operand {
        MOperand::Virt(s) => writers[s.reg.0 as usize] == 1 && f.info(s.reg).file == RegFile::Vgpr,
        MOperand::Fixed(_) => false,
    };
    if !plain || !inst.operands.iter().all(once) || mods.offset % KINDS[kind].bytes != 0 {
        return None;
    }
    let (result, base) = match inst.operands[..] {
        [MOperand::Virt(result), MOperand::Virt(base)] if !is_write(kind) => (Some(result), base),
        [MOperand::Virt(base), MOperand::Virt(_)] if is_write(kind) => (None, base),
        _ => return None,
    };
    // The result becomes a part of a longer register, so it must not already be a part of a tuple.
    let whole = result.is_none_or(|r| f.info(r.reg).len == r.len);
    whole.then_some(Single { index, kind, base, offset: mods.offset })
}

/// True if no LDS access may move across `inst`.
fn is_fence(inst: &MInst) -> bool {
    use Class as C;
    let exec = inst.operands.first().is_some_and(MOperand::is_exec);
    match &inst.op {
        Op::Machine(row, _) => {
            let memory = !matches!(
                row.class,
                C::Valu | C::Salu | C::SmemLoad | C::VmemLoad | C::VmemStore | C::LdsPermute
            );
            memory && !row.format.is_vop() || row.implicit_writes.contains(ImplicitRegs::EXEC) || exec
        }
        Op::Copy => exec,
        Op::Undef => false,
        Op::Order | Op::Mark(_) => true,
    }
}

/// Pairs the accesses of a group.
fn pair_up(
    f: &mut Function,
    block: usize,
    group: &[Single],
    edits: &mut Edits,
    renamed: &mut HashMap<VReg, VSlice>,
) {
    let mut rest = group.to_vec();
    rest.sort_by_key(|single| single.offset);
    // Of two writes to the same address the later one must win, so such a group is left unchanged.
    if is_write(group[0].kind) && rest.windows(2).any(|w| w[0].offset == w[1].offset) {
        return;
    }
    let first = group.iter().map(|single| single.index).min().unwrap_or_default();
    while let Some(one) = rest.first().copied() {
        rest.remove(0);
        let with = |step: i32| {
            move |other: &Single| {
                let unit = step * KINDS[one.kind].bytes;
                [one.offset, other.offset].iter().all(|o| o % unit == 0 && o / unit <= MAX)
            }
        };
        let found = [1, 64]
            .into_iter()
            .enumerate()
            .find_map(|(which, step)| rest.iter().position(with(step)).map(|at| (which, step, at)));
        if let Some((which, step, at)) = found {
            let other = rest.remove(at);
            merge(f, block, [one, other], one.base, (which, step, 0), edits, renamed);
            continue;
        }
        // Compute a closer base for the accesses within its reach. The addition pays only if it enables at least two
        // pairs.
        let unit = KINDS[one.kind].bytes;
        let near = rest.iter().take_while(|s| s.offset - one.offset <= MAX * unit).count();
        if near < 3 {
            continue;
        }
        let base = VSlice { reg: f.new_vreg(RegFile::Vgpr, 1), start: 0, len: 1 };
        let Some(row) = table::find_operation(f.on(), "v_add_u32").find(|row| row.bytes == 4) else { return };
        let sum = [
            MOperand::Virt(base),
            MOperand::Fixed(Operand::const32(one.offset as u32)),
            MOperand::Virt(one.base),
        ];
        let loc = f.blocks[block].insts[first].loc;
        let op = Op::Machine(row, row.default_mods());
        let sum = MInst { op, operands: sum.into_iter().collect(), keeps_dst: false, loc };
        edits.new.push((first, sum));
        let mut near: Vec<Single> = std::iter::once(one).chain(rest.drain(..near)).collect();
        while near.len() > 1 {
            let two = [near.remove(0), near.remove(0)];
            merge(f, block, two, base, (0, 1, one.offset), edits, renamed);
        }
    }
}

/// Replaces two accesses by one whose address is `base`, which stands for offset `origin`. The offsets in the new
/// instruction are in units of `step` elements.
fn merge(
    f: &mut Function,
    block: usize,
    two: [Single; 2],
    base: VSlice,
    (which, step, origin): (usize, i32, i32),
    edits: &mut Edits,
    renamed: &mut HashMap<VReg, VSlice>,
) {
    let kind = &KINDS[two[0].kind];
    let Some(row) = table::find_operation(f.on(), kind.two[which]).next() else { return };
    let insts = &f.blocks[block].insts;
    let [a, b] = two.map(|single| insts[single.index].operands.clone());
    let loc = insts[two[0].index].loc;
    let unit = step * kind.bytes;
    let [offset0, offset1] = two.map(|single| ((single.offset - origin) / unit) as u8);
    let mods = Mods { offset0, offset1, ..row.default_mods() };
    let (before, after) = (two[0].index.min(two[1].index), two[0].index.max(two[1].index));
    // Two writes are merged at the later position, where the data of both is available; two reads at the earlier
    // position, before all readers of the results.
    let (operands, place, gone) = if is_write(two[0].kind) {
        ([MOperand::Virt(base), a[1], b[1]].into_iter().collect(), after, before)
    } else {
        let len = (kind.bytes / 4) as u8;
        let pair = f.new_vreg(RegFile::Vgpr, 2 * len);
        for (i, operand) in [a[0], b[0]].into_iter().enumerate() {
            if let MOperand::Virt(result) = operand {
                renamed.insert(result.reg, VSlice { reg: pair, start: i as u8 * len, len });
            }
        }
        let pair = VSlice { reg: pair, start: 0, len: 2 * len };
        ([MOperand::Virt(pair), MOperand::Virt(base)].into_iter().collect(), before, after)
    };
    let inst = MInst { op: Op::Machine(row, mods), operands, keeps_dst: false, loc };
    edits.gone.extend([gone, place]);
    edits.new.push((place, inst));
}

fn apply(insts: &mut Vec<MInst>, mut edits: Edits) {
    if edits.new.is_empty() {
        return;
    }
    edits.gone.sort_unstable();
    edits.new.sort_by_key(|(index, _)| *index);
    let mut new = edits.new.into_iter().peekable();
    for (index, inst) in std::mem::take(insts).into_iter().enumerate() {
        while let Some((_, inst)) = new.next_if(|(at, _)| *at == index) {
            insts.push(inst);
        }
        if edits.gone.binary_search(&index).is_err() {
            insts.push(inst);
        }
    }
}

/// Renames the results, which are now parts of longer registers.
fn rename(f: &mut Function, renamed: &HashMap<VReg, VSlice>) {
    if renamed.is_empty() {
        return;
    }
    for operand in f.blocks.iter_mut().flat_map(|b| &mut b.insts).flat_map(|inst| &mut inst.operands) {
        if let MOperand::Virt(slice) = operand
            && let Some(part) = renamed.get(&slice.reg)
        {
            *slice = VSlice { reg: part.reg, start: part.start + slice.start, len: slice.len };
        }
    }
}
