//! Propagates undefined bits through a single instruction, so that `gcn-sim-tests` can compare [`Now::changes`] with computed results.

use gcn_isa::Inst;

use super::{Aside, Bits, Info, Kind, Now, Word};
use crate::core::fault::Next;
use crate::core::machine::{Cx, Machine, Step};
use crate::core::memory::Memory;
use crate::core::value::LANES;
use crate::core::wave::{Lanes, Mode, NUMBERED, Wave};
use crate::semantics::execute::execute;
use crate::semantics::functions;

/// The contents of a wave's registers: either their values, or masks of their undefined bits.
#[derive(Clone, Debug)]
pub struct Registers {
    /// The SGPRs, by number.
    pub s: [u32; NUMBERED],
    /// The vector registers by slot (VGPRs first, then AGPRs), with a dword for each lane.
    pub v: Vec<[u32; LANES]>,
    /// SCC.
    pub scc: bool,
}

/// A single instruction.
pub struct Alone<'m> {
    machine: &'m Machine,
    step: Step,
    info: Info,
    aside: Aside,
    memory: Memory,
}

impl<'m> Alone<'m> {
    /// `None` for an instruction that the simulator does not implement, and for one that affects anything but registers.
    pub fn new(machine: &'m Machine, inst: &Inst) -> Option<Alone<'m>> {
        let (exec, directed) = functions::of(inst, machine.target(), machine.registers()).ok()?;
        let step = Step::resolve(inst.clone(), (0, 8), machine.target(), machine.registers(), exec, directed);
        let info = Info::of(machine, inst);
        let followed = !matches!(info.kind, Kind::Memory | Kind::Decides | Kind::Nothing);
        followed.then(|| Alone { machine, step, info, aside: Aside::default(), memory: Memory::new() })
    }

    fn wave(&self, registers: &Registers) -> Wave {
        let mut wave = Wave::new(self.machine.vector_registers(), 0, self.machine.state().wave_size);
        wave.s[..NUMBERED].copy_from_slice(&registers.s);
        wave.v[..registers.v.len()].copy_from_slice(&registers.v);
        (wave.scc, wave.mode) = (registers.scc, Mode::new(0xf0));
        wave
    }

    /// The register values after the instruction; `None` if the instruction cannot be executed with the given values.
    pub fn after(&self, registers: &Registers) -> Option<Registers> {
        let (mut wave, mut lds) = (self.wave(registers), Vec::new());
        let (memory, machine) = (&self.memory, self.machine);
        execute(
            &mut Cx { w: &mut wave, lds: &mut lds, memory, machine, trace: None, next: Next::Fall },
            &self.step,
        )
        .ok()?;
        wave.v.truncate(wave.room());
        Some(Registers { s: *wave.s.first_chunk()?, v: wave.v, scc: wave.scc })
    }

    /// The undefined bits after the instruction; `None` if undefined bits reach an address or EXEC, which is reported as a finding instead.
    pub fn undefined_after(&mut self, registers: &Registers, undefined: &Registers) -> Option<Registers> {
        let (mut wave, mut lds) = (self.wave(registers), Vec::new());
        let mut bits = Bits::default();
        bits.start(self.machine, 0, &wave);
        bits.scalars.copy_from_slice(&undefined.s);
        bits.scc = undefined.scc;
        for (slot, register) in undefined.v.iter().enumerate() {
            bits.set(Word::Vector(slot), register);
        }
        let (memory, machine) = (&self.memory, self.machine);
        let cx = Cx { w: &mut wave, lds: &mut lds, memory, machine, trace: None, next: Next::Fall };
        let now = Now { cx: &cx, step: &self.step, inst: &self.step.inst, info: &self.info, bits: &bits };
        let changes = now.changes(&mut self.aside).ok()?;
        if now.uses().is_some() || changes.exec().is_some() {
            return None;
        }
        let mut after = bits.clone();
        changes.apply(&mut after);
        let lanes = |slot| -> Lanes { after.all(Word::Vector(slot)) };
        let s = std::array::from_fn(|number| after.scalars[number]);
        Some(Registers { s, v: (0..undefined.v.len()).map(lanes).collect(), scc: after.scc })
    }
}
