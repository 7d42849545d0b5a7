//! Debugging information of a built kernel: the machine instructions whose results `dbg!` shows, and the source
//! locations of traps.

use gcn_isa::Program;
use gcn_isa::operand::Operand;
use gcn_isa::program::SourceLoc;
use gcn_isa::reg::Reg;
use gcn_isa::table::Behaviours;

use crate::ir::probe::{self, Probe};

/// An instruction whose result is shown. It is a XOR with a mask that identifies the value, so the value is obtained by
/// a second XOR of the result with the mask.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    /// Byte offset of the instruction in the code.
    pub offset: u32,
    /// The register of the result.
    pub register: Reg,
    /// The mask, with which the result must be XORed to get the value.
    pub mask: u32,
    /// The value of which the shown dword is a part.
    pub probe: Probe,
}

/// The source information that a simulated run needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Debug {
    pub watched: Vec<Watched>,
    traps: Vec<(u32, SourceLoc, Option<String>)>,
}

impl Debug {
    pub fn of(program: &Program, offsets: &[u32], said: &probe::Debug) -> Debug {
        let mut found = Debug::default();
        for (line, offset) in program.lines.iter().zip(offsets) {
            if line.inst.desc.class == gcn_isa::Class::Trap
                && let Some(loc) = line.loc
            {
                let note = said.notes.iter().find(|(at, _)| *at == loc).map(|(_, note)| note.clone());
                found.traps.push((*offset, loc, note));
            }
            found.watched.extend(watched(line, *offset, said));
        }
        found
    }

    /// The source location of the trap at a code offset, with the message of its assertion, if it has one; `None` if
    /// there is no trap at that offset.
    pub fn trap(&self, offset: u32) -> Option<(SourceLoc, Option<&str>)> {
        let trap = self.traps.iter().find(|trap| trap.0 == offset)?;
        Some((trap.1, trap.2.as_deref()))
    }
}

fn watched(line: &gcn_isa::program::Line, offset: u32, said: &probe::Debug) -> Option<Watched> {
    if !line.inst.desc.does(Behaviours::XORS) {
        return None;
    }
    let mask = line.inst.operands.iter().find_map(|o| match o {
        Operand::Literal(bits) => Some(*bits),
        _ => None,
    })?;
    let probe = said.probes.get(mask.checked_sub(probe::FIRST)? as usize)?;
    // The user's code may contain a XOR with the same number, but not at the source location of the `dbg!`.
    let Some(Operand::Reg(register)) = line.inst.operands.first() else { return None };
    (line.loc == Some(probe.loc)).then(|| Watched { offset, register: *register, mask, probe: probe.clone() })
}
