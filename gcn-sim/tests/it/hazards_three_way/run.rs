//! Runs a random program in the simulator's strict mode.

use gcn_emit::encode::encode_program;
use gcn_isa::table::Class;
use gcn_isa::{Inst, Program, Target};
use gcn_sim::{Hazard, KernelState, Machine, Memory, Options, SimError, run};

use super::program::single;
use crate::harness::state;

/// The size in bytes of the buffer to which all addresses refer.
const BUFFER: usize = 0x1_0000;
/// The offset of the addresses and offsets that restoring loads read. The programs write the part of the buffer before it.
const ADDRESSES: u64 = 0x8000;
const OFFSETS: u64 = 0xa000;

pub fn kernel() -> KernelState {
    KernelState { vgprs: 64, agprs: 64, lds_bytes: 0x4000, private_bytes: 0x800, ..state() }
}

/// True if the simulator can execute `inst`.
pub fn is_simulated(target: Target, inst: &Inst) -> bool {
    Runner::new(&single(target, inst)).and_then(|mut runner| runner.run(0)).is_ok()
}

/// Writes the values that restoring loads read.
pub fn fill(memory: &mut Memory, buffer: u64) -> Result<(), String> {
    for lane in 0..64u64 {
        memory
            .write(buffer + ADDRESSES + 8 * lane, &(buffer + 16 * lane).to_le_bytes())
            .map_err(|e| e.to_string())?;
        memory
            .write(buffer + OFFSETS + 16 * lane, &(16 * lane as u32).to_le_bytes())
            .map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// The kernel arguments that the prologue loads.
pub fn arguments(buffer: u64, choices: u32) -> Vec<u8> {
    let [low, high] = [buffer as u32, (buffer >> 32) as u32];
    let resource = [low, high & 0xffff, OFFSETS as u32, 0x0002_7000];
    let words = [low, high, 16, 0].into_iter().chain(resource).chain([choices, 0, 0, 0]);
    words.flat_map(u32::to_le_bytes).collect()
}

/// A program ready to run, and its memory.
pub struct Runner {
    machine: Machine,
    offsets: Vec<u32>,
    memory: Memory,
    buffer: u64,
    waves: u32,
}

impl Runner {
    /// # Errors
    /// A description, if the program cannot be encoded or loaded.
    pub fn new(program: &Program) -> Result<Runner, String> {
        let code = encode_program(program).map_err(|e| e.to_string())?;
        let machine = Machine::new(program.target, &code.bytes, kernel()).map_err(|e| e.to_string())?;
        let mut memory = Memory::new();
        let buffer = memory.alloc(BUFFER);
        fill(&mut memory, buffer)?;
        assert!(buffer as u32 as u64 + BUFFER as u64 <= u64::from(u32::MAX), "addresses add without carry");
        // A barrier has an effect only if there are several waves.
        let barrier = program.lines.iter().any(|l| l.inst.desc.class == Class::Barrier);
        let waves = if barrier { 2 } else { 1 };
        Ok(Runner { machine, offsets: code.offsets, memory, buffer, waves })
    }

    /// The kernel arguments that the prologue loads.
    fn arguments(&self, choices: u32) -> Vec<u8> {
        arguments(self.buffer, choices)
    }

    /// Runs the program. Returns `Ok(None)` if it ended, and `Ok(Some)` with the line that executed too early and the hazard.
    ///
    /// # Errors
    /// A description of anything else that stopped the program.
    pub fn run(&mut self, choices: u32) -> Result<Option<(usize, Box<Hazard>)>, String> {
        let options = Options { max_instructions: 10_000, ..Options::strict() };
        let size = [64 * self.waves, 1, 1];
        let arguments = self.arguments(choices);
        match run(&self.machine, &mut self.memory, [1, 1, 1], size, &arguments, &options) {
            Ok(_) => Ok(None),
            Err(SimError::Hazard(hazard)) => {
                let line = self
                    .offsets
                    .binary_search(&hazard.second.offset)
                    .map_err(|_| "an offset inside an instruction")?;
                Ok(Some((line, hazard)))
            }
            Err(other) => Err(other.to_string()),
        }
    }
}
