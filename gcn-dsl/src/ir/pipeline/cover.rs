//! Computes the bytes of an LDS array that the accesses of a workgroup cover, if their addresses depend only on the
//! work-item.
//!
//! Double buffering is correct only if each trip writes every byte that it reads; otherwise it would read data from two
//! trips earlier. The check is exact: it computes the addresses for each work-item.

use hashbrown::HashMap;

use super::super::{Bin, Inst, Kernel, LdsId, Pred, Type, Value, evaluate};
use crate::scalar::Elem;

/// An access to LDS: the array, the byte offset and the size in bytes.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub array: LdsId,
    pub offset: Value,
    pub bytes: u32,
}

/// The size of a value in bytes.
pub(super) fn bytes(ty: Type) -> u32 {
    ty.elem.bytes() * u32::from(ty.count)
}

/// The first load that may read a byte which the stores of the same trip do not write; `None` if there is none. A load
/// of `u32::MAX` bytes may read the whole array.
pub(super) fn unwritten(
    kernel: &Kernel,
    workgroup: [u32; 3],
    stores: &[Access],
    loads: &[Access],
) -> Option<usize> {
    let mut items = Items::new(kernel, workgroup);
    let mut written: HashMap<LdsId, Vec<bool>> = HashMap::new();
    for store in stores {
        let size = kernel.lds[store.array.0 as usize].bytes as usize;
        let written = written.entry(store.array).or_insert_with(|| vec![false; size]);
        for item in 0..items.count {
            let Some(at) = items.value(store.offset, item) else { break };
            // Bytes beyond the end of the array are ignored, since no load can read them.
            let reached = written.iter_mut().skip(at as usize).take(store.bytes as usize);
            reached.for_each(|byte| *byte = true);
        }
    }
    let mut is_written = |load: &Access| {
        let Some(written) = written.get(&load.array) else { return true };
        written.iter().all(|byte| *byte)
            || (0..items.count).all(|item| {
                let reached = items.value(load.offset, item).and_then(|at| {
                    let end = at.checked_add(load.bytes)?;
                    written.get(at as usize..end as usize)
                });
                reached.is_some_and(|bytes| bytes.iter().all(|byte| *byte))
            })
    };
    loads.iter().position(|load| !is_written(load))
}

/// Evaluates values for each work-item of a workgroup.
struct Items<'k> {
    kernel: &'k Kernel,
    workgroup: [u32; 3],
    count: u32,
    found: HashMap<(Value, u32), Option<u32>>,
}

impl<'k> Items<'k> {
    fn new(kernel: &'k Kernel, workgroup: [u32; 3]) -> Items<'k> {
        Items { kernel, workgroup, count: workgroup.iter().product(), found: HashMap::new() }
    }

    /// The value of a 32-bit integer in a work-item; `None` if the value depends on anything else than the work-item.
    fn value(&mut self, v: Value, item: u32) -> Option<u32> {
        if let Some(found) = self.found.get(&(v, item)) {
            return *found;
        }
        let found = self.compute(v, item);
        self.found.insert((v, item), found);
        found
    }

    fn compute(&mut self, v: Value, item: u32) -> Option<u32> {
        let def = self.kernel.def(v);
        let ty = self.kernel.ty(v);
        if ty.count != 1 || !matches!(ty.elem, Elem::U32 | Elem::I32 | Elem::Bool) {
            return None;
        }
        let [x, y, _] = self.workgroup;
        match def.inst {
            Inst::Const(bits) => Some(bits as u32),
            Inst::LocalId(0) => Some(item % x),
            Inst::LocalId(1) => Some(item / x % y),
            Inst::LocalId(2) => Some(item / (x * y)),
            Inst::LaneId => Some(item % self.kernel.wave().lanes()),
            // At the top level of the body all lanes are active.
            Inst::ReadFirstLane(of) => {
                let lanes = self.kernel.wave().lanes();
                self.value(of, item / lanes * lanes)
            }
            Inst::Splat(of) | Inst::Bitcast(of) => self.value(of, item),
            Inst::Bin(op, a, b) if ty.elem != Elem::Bool => self.operation(op, [a, b], item, ty.elem),
            Inst::Cmp(pred, a, b) => self.comparison(pred, [a, b], item),
            Inst::Select(c, a, b) => {
                let of = if self.value(c, item)? != 0 { a } else { b };
                self.value(of, item)
            }
            _ => None,
        }
    }

    fn operation(&mut self, op: Bin, [a, b]: [Value; 2], item: u32, elem: Elem) -> Option<u32> {
        let (a, b) = (self.value(a, item)?, self.value(b, item)?);
        evaluate::eval(op, a, b, elem)
    }

    fn comparison(&mut self, pred: Pred, [a, b]: [Value; 2], item: u32) -> Option<u32> {
        let elem = self.kernel.ty(a).elem;
        let (a, b) = (self.value(a, item)?, self.value(b, item)?);
        evaluate::holds(pred, elem, a.into(), b.into()).map(u32::from)
    }
}
