//! Computes the position and the contents of the partial dword of a slice.

use super::super::{Bin, Inst, Manner, Pred, Stmt, Type, Value};
use super::{Access, LANE, Last, OUTSIDE, Tails, UNIFORM};
use crate::scalar::Elem;

impl Tails<'_> {
    /// The partial dword of a slice: its offset and contents.
    pub(super) fn last(&mut self, access: &Access, aligned: bool, out: &mut Vec<Stmt>) -> Last {
        let key = (access.resource, access.ty.elem.bytes(), aligned);
        let plain = access.stored.is_none() && access.manner == Manner::Plain;
        let constant = plain && self.kernel.read_only.contains(&access.resource);
        // If the contents may change, or if the resource is defined in a nested region, load the dword here.
        if !constant || !self.entry.contains(&access.resource) {
            let at = self.last_at(access, aligned, out);
            return self.load_last(access, at, out);
        }
        if let Some(last) = self.constant.get(&key) {
            return *last;
        }
        let at = self.last_at(access, aligned, out);
        let mut early = self.early.remove(&access.resource).unwrap_or_default();
        let last = self.load_last(access, at, &mut early);
        self.early.insert(access.resource, early);
        self.constant.insert(key, last);
        last
    }

    pub(super) fn load_last(&mut self, access: &Access, at: Value, out: &mut Vec<Stmt>) -> Last {
        // Load unsigned elements, so that the bits above an element are 0.
        let element = Type::varying(if access.ty.elem.bytes() == 1 { Elem::U8 } else { Elem::U16 });
        let mut one = |n: i32, out: &mut Vec<Stmt>| {
            let at = self.plus(at, n, out);
            let one = self.value(access.at(at, None), element, out);
            self.value(Inst::Bitcast(one), LANE, out)
        };
        let mut bits = one(0, out);
        if access.ty.elem.bytes() == 1 {
            let others = [one(1, out), one(2, out)];
            for (n, other) in (1..).zip(others) {
                let shift = self.lanes(8 * n, out);
                let moved = self.value(Inst::Bin(Bin::Shl, other, shift), LANE, out);
                bits = self.value(Inst::Bin(Bin::Or, bits, moved), LANE, out);
            }
        }
        Last { at, bits }
    }

    /// The offset of the partial dword, computed once, after the instruction that defines the resource.
    pub(super) fn last_at(&mut self, access: &Access, aligned: bool, out: &mut Vec<Stmt>) -> Value {
        let key = (access.resource, access.ty.elem.bytes(), aligned);
        if let Some(at) = self.places.get(&key) {
            return *at;
        }
        if !self.entry.contains(&access.resource) {
            return self.find_last(access, aligned, out);
        }
        let mut early = self.early.remove(&access.resource).unwrap_or_default();
        let at = self.find_last(access, aligned, &mut early);
        self.early.insert(access.resource, early);
        self.places.insert(key, at);
        at
    }

    pub(super) fn find_last(&mut self, access: &Access, aligned: bool, out: &mut Vec<Stmt>) -> Value {
        let bytes = self.size(access.resource, out);
        let at = if access.ty.elem.bytes() == 1 && aligned {
            let mask = self.value(Inst::Const(0xffff_fffc), UNIFORM, out);
            self.value(Inst::Bin(Bin::And, bytes, mask), UNIFORM, out)
        } else {
            let back = if access.ty.elem.bytes() == 2 { 2 } else { 3 };
            let back = self.value(Inst::Const(back), UNIFORM, out);
            let at = self.value(Inst::Bin(Bin::Sub, bytes, back), UNIFORM, out);
            if aligned { self.or_outside(at, out) } else { at }
        };
        self.value(Inst::Splat(at), LANE, out)
    }

    /// The offset of the partial dword of a slice that has one.
    pub(super) fn partial_at(&mut self, access: &Access, out: &mut Vec<Stmt>) -> Value {
        let bytes = self.size(access.resource, out);
        let mask = self.value(Inst::Const(0xffff_fffc), UNIFORM, out);
        let at = self.value(Inst::Bin(Bin::And, bytes, mask), UNIFORM, out);
        self.value(Inst::Splat(at), LANE, out)
    }

    /// `at` if it is a multiple of 4. Otherwise no aligned dword begins at `at` and the last dword is whole, so the
    /// result is an offset outside of the buffer.
    pub(super) fn or_outside(&mut self, at: Value, out: &mut Vec<Stmt>) -> Value {
        let [three, zero, outside] =
            [3, 0, OUTSIDE].map(|bits| self.value(Inst::Const(bits.into()), UNIFORM, out));
        let low = self.value(Inst::Bin(Bin::And, at, three), UNIFORM, out);
        let begins = self.value(Inst::Cmp(Pred::Eq, low, zero), Type::uniform(Elem::Bool), out);
        self.value(Inst::Select(begins, at, outside), UNIFORM, out)
    }
}
