//! Merges scalar loads into loads of up to 16 dwords. The loads may move across every instruction, because nothing
//! writes the memory that they read.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::super::align::{Alignment, Split};
use super::super::{Inst, Kernel, Stmt, Type, Value, ValueDef};
use super::edit::{Edit, block_bytes, part};
use crate::scalar::Elem;

/// The size in bytes of the widest scalar load.
const WIDEST: u32 = 64;
/// The sizes of scalar loads in dwords.
const SIZES: [u32; 5] = [1, 2, 4, 8, 16];

struct Access {
    at: usize,
    inst: Value,
    constant: u32,
    dwords: u32,
}

/// The resource and the variable part of the offset.
type Key = (Value, Split);

pub(super) fn merge(kernel: &mut Kernel, alignment: &mut Alignment, run: &[Value], edits: &mut [Edit]) {
    let mut order: Vec<(Key, u32)> = Vec::new();
    let mut blocks: HashMap<(Key, u32), SmallVec<[Access; 4]>> = HashMap::new();
    for (at, &inst) in run.iter().enumerate() {
        let Inst::LoadUniform { resource, offset } = kernel.def(inst).inst else { continue };
        let split = Split::of(kernel, offset);
        let base = Split { constant: 0, ..split };
        let block = block_bytes(kernel, alignment, &base, WIDEST);
        let dwords = u32::from(kernel.ty(inst).dwords());
        let (start, constant) = (split.constant & !(block - 1), split.constant);
        if block < 8 || constant - start + 4 * dwords > block {
            continue;
        }
        let key = ((resource, base), start);
        if !blocks.contains_key(&key) {
            order.push(key);
        }
        blocks.entry(key).or_default().push(Access { at, inst, constant, dwords });
    }
    for key in order {
        if let Some(accesses) = blocks.remove(&key) {
            merge_block(kernel, key, accesses, edits);
        }
    }
}

fn merge_block(
    kernel: &mut Kernel,
    ((resource, base), start): (Key, u32),
    mut accesses: SmallVec<[Access; 4]>,
    edits: &mut [Edit],
) {
    accesses.sort_by_key(|a| a.constant);
    let dword = |a: &Access| (a.constant - start) / 4;
    let mut rest = accesses.as_slice();
    while let Some(leader) = rest.first() {
        let first = dword(leader);
        // Choose the largest size of which more than half is used: unused dwords cost SGPRs, but fewer loads save issue
        // slots.
        let choice = SIZES.iter().rev().find_map(|&size| {
            let inside = rest.iter().take_while(|a| dword(a) + a.dwords <= first + size).count();
            let used: u32 = rest[..inside].iter().map(|a| a.dwords).sum();
            let end = rest[..inside].iter().map(|a| dword(a) + a.dwords).max().unwrap_or(first);
            (2 * used > size && 2 * (end - first) > size).then_some((size, inside))
        });
        let (size, inside) = choice.unwrap_or((leader.dwords, 1));
        let (together, others) = rest.split_at(inside.max(1));
        rest = others;
        if together.len() > 1 {
            load(
                kernel,
                resource,
                Split { constant: start.wrapping_add(4 * first), ..base },
                size,
                together,
                edits,
            );
        }
    }
}

/// Emits one load at the position of the first part.
fn load(kernel: &mut Kernel, resource: Value, at: Split, size: u32, parts: &[Access], edits: &mut [Edit]) {
    let Some(leader) = parts.iter().min_by_key(|a| a.at) else { return };
    let before = &mut edits[leader.at].before;
    let offset = at.build(kernel, Type::uniform(Elem::U32), before);
    let ty = Type { count: size as u8, ..Type::uniform(Elem::U32) };
    let loc = kernel.def(leader.inst).loc;
    kernel.values.push(ValueDef { inst: Inst::LoadUniform { resource, offset }, ty: Some(ty), loc });
    let wide = Value(kernel.values.len() as u32 - 1);
    before.push(Stmt::Inst(wide));
    for a in parts {
        let dword = a.constant.wrapping_sub(at.constant) / 4;
        kernel.values[a.inst.0 as usize].inst = part(wide, dword, a.dwords, size);
    }
}
