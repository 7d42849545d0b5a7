//! LDS arrays that start beyond the reach of an instruction's offset field (64 KiB). The start of such an array is
//! added to the index of each access, where value numbering can share the sum and loop-invariant code motion can hoist
//! it.

use hashbrown::HashMap;

use super::{Bin, Inst, Kernel, Memory, Region, Stmt, Type, Value};

/// The largest offset of a DS instruction.
pub const DS_OFFSET_MAX: u32 = 65_535;

impl Kernel {
    /// An array's byte offset as two parts: the part that is added to the indices of accesses, and the part for the
    /// offset fields of instructions.
    pub fn lds_place(&self, id: super::LdsId) -> (u32, u32) {
        let offset = self.lds_offset(id);
        if offset > DS_OFFSET_MAX { (offset, 0) } else { (0, offset) }
    }
}

/// Adds the start of each array that is out of reach to the indices of its accesses. Returns true if there are such
/// arrays.
pub fn run(kernel: &mut Kernel) -> bool {
    if kernel.lds_end() <= DS_OFFSET_MAX {
        return false;
    }
    kernel.rewrite(|kernel, body| {
        let mut far = Far { kernel, sums: HashMap::new(), found: false };
        far.region(body);
        far.found
    })
}

struct Far<'k> {
    kernel: &'k mut Kernel,
    /// Within a region: for each offset of an access and each start of an array, their sum.
    sums: HashMap<(Value, u32), Value>,
    found: bool,
}

impl Far<'_> {
    fn region(&mut self, region: &mut Region) {
        self.sums.clear();
        region.rebuild(|mut stmt, out| {
            if let Stmt::Inst(v) = stmt {
                self.access(v, out);
            }
            for inner in stmt.regions_mut() {
                self.region(inner);
                self.sums.clear();
            }
            out.push(stmt);
        });
    }

    fn access(&mut self, v: Value, out: &mut Vec<Stmt>) {
        let Some((Memory::Lds(id), offset)) = self.kernel.def(v).inst.place() else { return };
        let (place, _) = self.kernel.lds_place(id);
        if place == 0 {
            return;
        }
        self.found = true;
        let sum = match self.sums.get(&(offset, place)) {
            Some(sum) => *sum,
            None => {
                let sum = self.sum(offset, place, out);
                self.sums.insert((offset, place), sum);
                sum
            }
        };
        if let Some((_, offset)) = self.kernel.values[v.0 as usize].inst.place_mut() {
            *offset = sum;
        }
    }

    /// `offset + place`. If `offset` has a constant part, it is added last, so that it can go to the instruction's
    /// offset field.
    fn sum(&mut self, offset: Value, place: u32, out: &mut Vec<Stmt>) -> Value {
        let resolved = self.kernel.resolved(offset);
        let ty = self.kernel.ty(offset);
        let is_const = |v: Value| matches!(self.kernel.def(v).inst, Inst::Const(_));
        match self.kernel.def(resolved).inst {
            Inst::Const(bits) => {
                self.kernel.append(Inst::Const(u64::from((bits as u32).wrapping_add(place))), ty, None, out)
            }
            Inst::Bin(Bin::Add, inner, constant) if is_const(constant) => {
                let inner = self.add(inner, place, ty, out);
                self.kernel.append(Inst::Bin(Bin::Add, inner, constant), ty, None, out)
            }
            _ => self.add(offset, place, ty, out),
        }
    }

    fn add(&mut self, to: Value, place: u32, ty: Type, out: &mut Vec<Stmt>) -> Value {
        let place = self.kernel.append(Inst::Const(place.into()), ty, None, out);
        self.kernel.append(Inst::Bin(Bin::Add, to, place), ty, None, out)
    }
}
