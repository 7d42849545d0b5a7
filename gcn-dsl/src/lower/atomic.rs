//! Atomics and fences: the atomic instruction, and the waits and cache instructions that the memory model requires
//! around it.
//!
//! [`memory_model`] gives this sequence for an ordering and a scope. The scheduler moves nothing across the waits and
//! cache instructions of the sequence. If the sequence has no instruction before (or after) the atomic, but memory
//! accesses must not be moved across that side either, [`Op::Order`] is emitted there. The waits for register
//! dependences are inserted later, in addition to these.

use gcn_isa::inst::Mods;
use gcn_isa::memory_model::{self, Action, Bits, Mode, Operation, Ordering, Scope, Sequence, Space};
use gcn_isa::mods::Modifier;
use gcn_isa::table;
use hashbrown::HashSet;
use smallvec::{SmallVec, smallvec};

use super::memory::Address;
use super::{Lower, Lowered, Src};
use crate::ir::atomic::Name;
use crate::ir::call::ArgMods;
use crate::ir::{Atomic, AtomicOp, Call, Effect, Given, Inst, Kernel, Memory, Value, Variant};
use crate::mir::{MOperand, Op, VSlice};
use crate::scalar::Elem;

impl Lower<'_> {
    /// Lowers a fence.
    pub(super) fn fence(&mut self, scope: Scope, ordering: Ordering) -> Lowered {
        let sequence = self.sequence(Operation::Fence, ordering, scope, Space::Generic)?;
        self.actions(&sequence.before)?;
        if sequence.before.is_empty() {
            self.order();
        }
        Ok(())
    }

    /// Lowers an atomic access whose result is `v`.
    pub(super) fn atomic(&mut self, v: Value, atomic: &Atomic) -> Lowered {
        let operation = atomic.op.operation();
        let space = match atomic.memory {
            Memory::Buffer(_) | Memory::Global(_) | Memory::Lanes(_) => Space::Global,
            Memory::Lds(_) => Space::Local,
            Memory::Private(_) => unreachable!("private arrays have no atomics"),
        };
        let ordering = atomic.ordering;
        let sequence = self.sequence(operation, ordering, atomic.scope, space)?;
        self.actions(&sequence.before)?;
        // If no code precedes the access that would keep earlier accesses before it, the order has to be recorded here. Releases need this,
        // and atomic loads: plain loads may be reordered, but of two atomic loads of the same element, the second must not return an older
        // value than the first.
        let holds_back = ordering.releases() || operation == Operation::Load;
        if sequence.before.is_empty() && holds_back {
            self.order();
        }
        match (atomic.op, atomic.value) {
            (AtomicOp::Load, _) => {
                self.load_with(v, atomic.memory, atomic.offset, |m| sequence.bits.apply(m))?;
            }
            (AtomicOp::Store, Some(value)) => {
                self.store_with(atomic.memory, atomic.offset, value, |m| sequence.bits.apply(m))?;
            }
            _ => self.read_modify_write(v, atomic, sequence.bits)?,
        }
        self.actions(&sequence.after)?;
        if sequence.after.is_empty() && ordering.acquires() {
            self.order();
        }
        Ok(())
    }

    fn sequence(
        &self,
        operation: Operation,
        ordering: Ordering,
        scope: Scope,
        space: Space,
    ) -> Lowered<Sequence> {
        memory_model::sequence(self.target, Mode::Normal, operation, ordering, scope, space).ok_or_else(
            || {
                let what = format!("a {} with the ordering {}", operation.name(), ordering.name());
                self.unsupported(&what, Elem::U32, "use an ordering that the operation can have")
            },
        )
    }

    fn actions(&mut self, actions: &[Action]) -> Lowered {
        for action in actions {
            match *action {
                Action::Wait(counters) => {
                    self.wait_for(counters.wait())?;
                }
                Action::Cache { mnemonic, bits } => {
                    self.machine_with(mnemonic, &[], &[], |mods| bits.apply(mods))?;
                }
            }
        }
        Ok(())
    }

    /// Emits a point across which nothing is moved.
    fn order(&mut self) {
        self.push(Op::Order, []);
    }

    fn read_modify_write(&mut self, v: Value, atomic: &Atomic, bits: Bits) -> Lowered {
        let elem = atomic.ty.elem;
        let name = atomic.op.name(elem).ok_or_else(|| {
            let what = format!("atomic {:?}", atomic.op).to_lowercase();
            self.unsupported(&what, elem, "use a compare-exchange in a loop")
        })?;
        let used = self.used_atomics.contains(&v);
        let address = self.address(atomic.memory, atomic.offset);
        let mnemonic = self.atomic_mnemonic(name, address.family, elem, used)?;
        let vector = address.family != "ds";
        // LDS has no exchange instruction that discards the old value, so use the form that returns it.
        let returns = used || (!vector && atomic.op == AtomicOp::Swap);
        let srcs = self.atomic_operands(atomic, &address);
        let call = Call {
            mnemonic,
            variant: if vector && returns { Variant::Rtn } else { Variant::Plain },
            args: SmallVec::new(),
            arg_mods: ArgMods::default(),
            old: None,
            scc: None,
            vcc: None,
            m0: None,
            given: modifiers(&address, bits),
            results: if returns { smallvec![atomic.ty] } else { SmallVec::new() },
            effect: Effect::Kept,
        };
        self.call_with(v, &call, &srcs)
    }

    /// The mnemonic of the atomic: of the form that returns the old value if `used`, otherwise of the form that does
    /// not. It is an error if the target lacks that form.
    fn atomic_mnemonic(&self, name: &Name, family: &str, elem: Elem, used: bool) -> Lowered<&'static str> {
        let text = name.mnemonic(family, elem, used);
        let mut rows = table::find_operation(self.func.on(), &text).peekable();
        let mnemonic = rows.peek().map(|row| row.mnemonic).ok_or_else(|| self.no_instruction(&text))?;
        // The target has the instruction, but only in the form without a result.
        if used && family != "ds" && !rows.any(|row| row.variant() == Variant::Rtn) {
            let what = format!("the old value of `{text}` on {}", self.target);
            return Err(self.unsupported(&what, elem, "do not use the result, or use a compare-exchange"));
        }
        Ok(mnemonic)
    }

    /// The source operands, in assembly order.
    fn atomic_operands(&mut self, atomic: &Atomic, address: &Address) -> SmallVec<[Src; 4]> {
        let dwords = atomic.ty.dwords();
        let mut data: SmallVec<[Src; 2]> = SmallVec::new();
        for value in [atomic.expected, atomic.value].into_iter().flatten() {
            let src = self.operand(value);
            data.push(Src::Reg(self.in_vgpr(src, dwords)));
        }
        if let (&[expected, new], true) = (data.as_slice(), address.family != "ds") {
            // Vector memory instructions take the new and the expected value as one tuple, in this order.
            data = smallvec![Src::Reg(self.side_by_side([new, expected], dwords))];
        }
        let (first, second) = match address.family {
            "buffer" => (data, smallvec![address.varying]),
            _ => (smallvec![address.varying], data),
        };
        first.into_iter().chain(second).chain(address.base.iter().copied()).collect()
    }

    fn side_by_side(&mut self, parts: [Src; 2], dwords: u8) -> VSlice {
        let pair = self.new_reg(gcn_isa::RegFile::Vgpr, 2 * dwords);
        self.push(Op::Undef, [MOperand::Virt(pair)]);
        for (i, part) in (0..).zip(parts) {
            self.copy(VSlice { reg: pair.reg, start: i * dwords, len: dwords }, part);
        }
        pair
    }
}

fn modifiers(address: &Address, bits: Bits) -> Given {
    let mut mods = Mods { offset: address.offset, offen: address.offen, ..Mods::default() };
    bits.apply(&mut mods);
    // Record only modifiers that differ from their default, so that table rows without a modifier qualify if it is not
    // needed.
    let differs = |modifier: &&Modifier| modifier.get(&mods) != modifier.get(&Mods::default());
    Given { mods, set: Modifier::ALL.iter().filter(differs).map(|modifier| modifier.flag()).collect() }
}

/// The atomics whose old value is used.
pub(super) fn used_atomics(kernel: &Kernel) -> HashSet<Value> {
    let mut used = HashSet::new();
    kernel.body.each_inst(&mut |v| {
        kernel.def(v).inst.operands(|operand| {
            if matches!(kernel.def(operand).inst, Inst::Atomic(_)) {
                used.insert(operand);
            }
        });
    });
    used
}
