//! Waits for counters, and the instructions that perform them.

use std::fmt;

use smallvec::SmallVec;

use super::Counter;
use crate::immediate::{Field, Immediate};
use crate::inst::Inst;
use crate::operand::Operand;
use crate::reg;
use crate::table::{self, Class, InstDesc};
use crate::target::{Generation, InstructionSet, Target};

/// The largest permitted value of each counter. The value [`u8::MAX`] means no wait for the counter.
///
/// ```
/// use gcn_isa::InstructionSet;
/// use gcn_isa::counters::{Counter, WaitCnt};
/// let set = InstructionSet::GFX900;
/// assert_eq!(Counter::Vm.at(0).immediate(set), 0x0f70);
/// assert_eq!(WaitCnt::of_immediate(set, 0xc07f), Counter::Lgkm.at(0));
/// assert_eq!(Counter::Vs.at(0).on(InstructionSet::GFX12).to_string(), "s_wait_storecnt 0x0");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WaitCnt([u8; Counter::ALL.len()]);

/// An instruction that waits for counters.
struct Waiter {
    mnemonic: &'static str,
    /// The counters in the instruction's immediate, each with its lowest bit. For `s_waitcnt`, the counters are in [`Immediate::Counters`].
    fields: &'static [(Counter, u8)],
    /// True if the instruction has a register operand before the immediate. The value of the register is added to the immediate.
    register: bool,
}

/// The bits of a counter in an immediate with one or two counters.
const BITS: u16 = 0x3f;

/// The instructions that wait for counters. Those that wait for several counters come first.
const WAITERS: [Waiter; 17] = [
    waiter("s_wait_loadcnt_dscnt", &[(Counter::Vm, 8), (Counter::Lgkm, 0)]),
    waiter("s_wait_storecnt_dscnt", &[(Counter::Vs, 8), (Counter::Lgkm, 0)]),
    waiter("s_wait_loadcnt", &[(Counter::Vm, 0)]),
    waiter("s_wait_storecnt", &[(Counter::Vs, 0)]),
    waiter("s_wait_dscnt", &[(Counter::Lgkm, 0)]),
    waiter("s_wait_kmcnt", &[(Counter::Km, 0)]),
    waiter("s_wait_expcnt", &[(Counter::Exp, 0)]),
    waiter("s_wait_samplecnt", &[(Counter::Sample, 0)]),
    waiter("s_wait_bvhcnt", &[(Counter::Bvh, 0)]),
    waiter("s_wait_xcnt", &[(Counter::X, 0)]),
    waiter("s_wait_asynccnt", &[(Counter::Async, 0)]),
    waiter("s_wait_tensorcnt", &[(Counter::Tensor, 0)]),
    with_register("s_waitcnt_vscnt", &[(Counter::Vs, 0)]),
    with_register("s_waitcnt_vmcnt", &[(Counter::Vm, 0)]),
    with_register("s_waitcnt_expcnt", &[(Counter::Exp, 0)]),
    with_register("s_waitcnt_lgkmcnt", &[(Counter::Lgkm, 0)]),
    waiter("s_wait_idle", &[]),
];

const fn waiter(mnemonic: &'static str, fields: &'static [(Counter, u8)]) -> Waiter {
    Waiter { mnemonic, fields, register: false }
}

const fn with_register(mnemonic: &'static str, fields: &'static [(Counter, u8)]) -> Waiter {
    Waiter { mnemonic, fields, register: true }
}

/// The counters in the immediate of `s_waitcnt`, with their fields. GFX12 does not use the instruction.
fn fields(set: InstructionSet) -> impl Iterator<Item = (Counter, &'static Field)> {
    let fields: &[Field] =
        if set.generation() == Generation::GFX12 { &[] } else { Immediate::Counters.fields(set) };
    [Counter::Vm, Counter::Exp, Counter::Lgkm].into_iter().zip(fields)
}

impl Counter {
    /// The counter's largest permitted value in `wait`; [`u8::MAX`] if `wait` does not wait for this counter.
    pub const fn of(self, wait: WaitCnt) -> u8 {
        wait.0[self as usize]
    }

    /// True if `wait` waits for this counter.
    pub const fn is_in(self, wait: WaitCnt) -> bool {
        self.of(wait) != u8::MAX
    }

    /// The wait for this counter alone.
    pub const fn at(self, value: u8) -> WaitCnt {
        self.set(WaitCnt::NONE, value)
    }

    /// `wait` with this counter set to `value`.
    pub const fn set(self, mut wait: WaitCnt, value: u8) -> WaitCnt {
        wait.0[self as usize] = value;
        wait
    }
}

impl WaitCnt {
    /// The instruction whose immediate has all counters of a generation before GFX12.
    pub const INSTRUCTION: &str = "s_waitcnt";
    /// The wait for nothing.
    pub const NONE: WaitCnt = WaitCnt([u8::MAX; Counter::ALL.len()]);

    /// The wait for everything.
    pub fn all(set: InstructionSet) -> WaitCnt {
        set.counters().iter().fold(WaitCnt::NONE, |wait, counter| counter.set(wait, 0))
    }

    /// The waits that a function has completed when it begins and when it returns, by LLVM's convention (LLVM 22, measured). They cover all
    /// operations except stores on a separate counter, operands, and copies to LDS.
    ///
    /// ```
    /// use gcn_isa::InstructionSet;
    /// use gcn_isa::counters::WaitCnt;
    /// let at_calls = |set| WaitCnt::at_calls(set).on(set).to_string();
    /// assert_eq!(at_calls(InstructionSet::GFX900), "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)");
    /// assert_eq!(at_calls(InstructionSet::GFX11), "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)");
    /// ```
    pub fn at_calls(set: InstructionSet) -> WaitCnt {
        let left = [Counter::Vs, Counter::X, Counter::Async, Counter::Tensor];
        left.into_iter().fold(WaitCnt::all(set), |wait, counter| counter.set(wait, u8::MAX))
    }

    /// The counters for which this wait waits.
    pub fn counters(self) -> impl Iterator<Item = Counter> {
        Counter::ALL.into_iter().filter(move |counter| counter.is_in(self))
    }

    /// The wait of an instruction that waits for counters; `None` for other instructions. If the instruction adds a register whose value is
    /// unknown, the wait guarantees nothing.
    pub fn of(inst: &Inst) -> Option<WaitCnt> {
        if inst.desc.class != Class::Waitcnt {
            return None;
        }
        let set = inst.desc.instruction_set();
        if inst.desc.mnemonic == WaitCnt::INSTRUCTION {
            return match inst.operands.first() {
                Some(&Operand::Imm(imm)) => Some(WaitCnt::of_immediate(set, imm as u16)),
                _ => None,
            };
        }
        let waiter = WAITERS.iter().find(|w| w.mnemonic == inst.desc.mnemonic)?;
        if waiter.fields.is_empty() {
            return Some(WaitCnt::all(set));
        }
        let known = !waiter.register || matches!(inst.operands.first(), Some(Operand::Reg(reg::NULL)));
        match inst.operands.last() {
            Some(&Operand::Imm(imm)) if known => {
                let field = |low: u8| (imm as u16 >> low) & BITS;
                Some(
                    waiter
                        .fields
                        .iter()
                        .fold(WaitCnt::NONE, |wait, &(counter, low)| with(wait, set, counter, field(low))),
                )
            }
            _ => Some(WaitCnt::NONE),
        }
    }

    /// The counters in the immediate of an instruction that waits for counters, each with its bits.
    ///
    /// ```
    /// use gcn_isa::counters::{Counter, WaitCnt};
    /// use gcn_isa::{Target, table};
    /// let desc = table::find(Target::GFX1201, "s_wait_loadcnt_dscnt").next().unwrap();
    /// assert_eq!(WaitCnt::fields_of(desc)[..], [(Counter::Vm, 0x3f00), (Counter::Lgkm, 0x3f)]);
    /// ```
    pub fn fields_of(desc: &InstDesc) -> SmallVec<[(Counter, u16); 3]> {
        let set = desc.instruction_set();
        if desc.mnemonic == WaitCnt::INSTRUCTION {
            return fields(set).map(|(counter, field)| (counter, field.encode(u16::MAX))).collect();
        }
        let waiter = WAITERS.iter().filter(|w| w.mnemonic == desc.mnemonic);
        let fields = waiter.flat_map(|w| w.fields);
        fields.map(|&(counter, low)| (counter, u16::from(counter.capacity(set)) << low)).collect()
    }

    /// The wait of an `s_waitcnt` with this immediate. Unused bits are ignored, as in hardware.
    pub fn of_immediate(set: InstructionSet, imm: u16) -> WaitCnt {
        fields(set).fold(WaitCnt::NONE, |wait, (counter, field)| with(wait, set, counter, field.decode(imm)))
    }

    /// The immediate of an `s_waitcnt` for this wait. Counters that the immediate lacks are ignored.
    pub fn immediate(self, set: InstructionSet) -> u16 {
        fields(set).fold(0, |imm, (counter, field)| imm | field.encode(counter.of(self).into()))
    }

    /// The stronger of the two waits, separately for each counter.
    #[must_use]
    pub fn and(mut self, other: WaitCnt) -> WaitCnt {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = (*mine).min(theirs);
        }
        self
    }

    /// The wait without the counters for which `other` waits.
    #[must_use]
    pub fn without(mut self, other: WaitCnt) -> WaitCnt {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine = if theirs == u8::MAX { *mine } else { u8::MAX };
        }
        self
    }

    /// True if this wait does not wait for any counter.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// The part of this wait that `inst`, an instruction that waits for counters, can express.
    #[must_use]
    pub fn part_of(self, inst: &Inst) -> WaitCnt {
        if inst.desc.mnemonic == WaitCnt::INSTRUCTION {
            let said: SmallVec<[Counter; 3]> = fields(inst.desc.instruction_set()).map(|f| f.0).collect();
            return self.only(&said);
        }
        match WAITERS.iter().find(|w| w.mnemonic == inst.desc.mnemonic) {
            Some(waiter) if !waiter.register || inst.operands.first() == Some(&Operand::Reg(reg::NULL)) => {
                let said: SmallVec<[Counter; 2]> = waiter.fields.iter().map(|f| f.0).collect();
                self.only(&said)
            }
            _ => WaitCnt::NONE,
        }
    }

    /// The part of this wait that concerns `counters`.
    fn only(self, counters: &[Counter]) -> WaitCnt {
        counters.iter().fold(WaitCnt::NONE, |part, counter| counter.set(part, counter.of(self)))
    }

    /// Replaces the wait of an instruction that waits for counters by this wait, to the extent that the instruction can express it.
    pub fn put_into(self, inst: &mut Inst) {
        let set = inst.desc.instruction_set();
        let value = if inst.desc.mnemonic == WaitCnt::INSTRUCTION {
            self.immediate(set)
        } else {
            let waiter = WAITERS.iter().find(|w| w.mnemonic == inst.desc.mnemonic);
            waiter.map_or(0, |waiter| self.field(set, waiter.fields))
        };
        if let Some(imm) = inst.operands.last_mut() {
            *imm = Operand::Imm(value.into());
        }
    }

    /// The immediate with these fields, filled with the values of the counters.
    fn field(self, set: InstructionSet, fields: &[(Counter, u8)]) -> u16 {
        fields.iter().fold(0, |imm, &(counter, low)| {
            let value = counter.of(self).min(counter.capacity(set));
            imm | u16::from(value) << low
        })
    }

    /// The smallest list of instructions of the instruction set that express exactly this wait: each with its mnemonic, whether it has a
    /// register operand, and its part of the wait. The list is empty if the wait does not wait for any counter.
    fn parts(self, set: InstructionSet) -> SmallVec<[(&'static str, bool, WaitCnt); 1]> {
        let mut left = self;
        let mut parts = SmallVec::new();
        let said: SmallVec<[Counter; 3]> = fields(set).map(|f| f.0).collect();
        if said.iter().any(|counter| counter.is_in(left)) {
            parts.push((WaitCnt::INSTRUCTION, false, left.only(&said)));
            left = left.without(left.only(&said));
        }
        let newer = set.generation() == Generation::GFX12;
        for waiter in WAITERS.iter().filter(|w| w.register != newer && !w.fields.is_empty()) {
            if waiter.fields.iter().all(|(counter, _)| counter.is_in(left)) {
                let said: SmallVec<[Counter; 2]> = waiter.fields.iter().map(|f| f.0).collect();
                parts.push((waiter.mnemonic, waiter.register, left.only(&said)));
                left = left.without(left.only(&said));
            }
        }
        parts
    }

    /// The instructions that perform exactly this wait. The list is empty if the wait does not wait for any counter.
    pub fn instructions(self, target: Target) -> SmallVec<[Inst; 1]> {
        let parts = self.parts(target.instruction_set()).into_iter();
        let made = parts.filter_map(|(mnemonic, register, part)| {
            let desc = table::find(target, mnemonic).next()?;
            let null = register.then_some(Operand::Reg(reg::NULL));
            let mut inst = Inst::new(desc, null.into_iter().chain([Operand::Imm(0)]));
            part.put_into(&mut inst);
            Some(inst)
        });
        made.collect()
    }

    /// The wait together with an instruction set, which determines the wait's text.
    pub const fn on(self, set: InstructionSet) -> OnSet {
        OnSet { wait: self, set }
    }
}

fn with(wait: WaitCnt, set: InstructionSet, counter: Counter, value: u16) -> WaitCnt {
    let waits = value < u16::from(counter.capacity(set));
    if waits { counter.set(wait, value as u8) } else { wait }
}

/// A wait on an instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OnSet {
    /// The wait.
    pub wait: WaitCnt,
    /// The instruction set.
    pub set: InstructionSet,
}

impl OnSet {
    /// The counters of the wait, in the notation of `s_waitcnt`: `vmcnt(0) lgkmcnt(1)`. If the wait does not wait for any counter, all
    /// counters are listed with their largest values.
    pub fn counters(self) -> String {
        let none = self.wait.is_none();
        let shown = self.set.counters().iter().filter(|c| none || c.is_in(self.wait));
        let value = |c: &Counter| c.of(self.wait).min(c.capacity(self.set));
        let parts: Vec<String> = shown.map(|c| format!("{}({})", c.name(self.set), value(c))).collect();
        parts.join(" ")
    }

    /// The statements that express the wait; for an empty wait, the `s_waitcnt` that does not wait.
    pub fn statements(self) -> Vec<String> {
        let parts = self.wait.parts(self.set);
        if parts.is_empty() {
            return vec![format!("{} {}", WaitCnt::INSTRUCTION, self.counters())];
        }
        let statement = |&(mnemonic, register, part): &(&str, bool, WaitCnt)| {
            if mnemonic == WaitCnt::INSTRUCTION {
                return format!("{mnemonic} {}", part.on(self.set).counters());
            }
            let waiter = WAITERS.iter().find(|w| w.mnemonic == mnemonic);
            let value = waiter.map_or(0, |waiter| part.field(self.set, waiter.fields));
            format!("{mnemonic} {}{value:#x}", if register { "null, " } else { "" })
        };
        parts.iter().map(statement).collect()
    }
}

impl fmt::Display for OnSet {
    /// Writes the instructions as LLVM prints them: `s_waitcnt vmcnt(0) lgkmcnt(1)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.statements().join("; "))
    }
}
