//! Recognises waits that order memory by the instructions around them.
//!
//! A wait for a register can be derived again from the program. A wait of the memory model cannot: nothing in the code
//! shows that other threads rely on it. It can only be recognised by its position in one of the tables' sequences.

use crate::table::{Behaviours, Class};
use crate::{Inst, Program};

/// The reason for assuming that a wait orders memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryWait {
    /// The wait is before `s_barrier`: accesses to memory that the workgroup shares must be complete.
    Barrier,
    /// The wait is after a write-back (`buffer_wbl2`, `s_dcache_wb`), which must be complete.
    WriteBack,
    /// The wait is before an invalidation (`buffer_inv`, `buffer_invl2`, `buffer_wbinvl1*`): the previous load must be complete.
    Invalidate,
    /// The wait is before an atomic access: a read-modify-write, or a load or store with scope bits.
    Release,
    /// The wait is after an atomic access.
    Acquire,
    /// The wait is before the end of the program or before a message: all effects that leave the wave must be complete.
    Exit,
}

/// The reason for which the `s_waitcnt` at line `at` of `program` may order memory, so that it must be kept even if no register needs it.
/// `None` for other instructions, and for waits without an ordered access nearby.
///
/// The search for such an access skips other waits, `s_nop` and cache instructions. In doubt, the wait is assumed to order memory, although
/// a wait before an atomic may serve only a register.
///
/// ```
/// use gcn_isa::memory_model::{MemoryWait, memory_wait};
/// use gcn_isa::{Inst, Line, Mods, Operand, Program, Target, table};
///
/// let line = |name: &str, imm: Option<i64>| {
///     let desc = table::find(Target::GFX942, name).next().unwrap();
///     let operands = imm.map(Operand::Imm).into_iter().collect();
///     Line::new(Inst { desc, operands, mods: Mods::default() })
/// };
/// let mut program = Program::new(Target::GFX942, "f");
/// program.lines = vec![line("buffer_wbl2", None), line("s_waitcnt", Some(0x70)), line("s_nop", Some(0))];
/// assert_eq!(memory_wait(&program, 1), Some(MemoryWait::WriteBack));
/// assert_eq!(memory_wait(&program, 2), None);
/// ```
pub fn memory_wait(program: &Program, at: usize) -> Option<MemoryWait> {
    let line = program.lines.get(at)?;
    if line.inst.desc.class != Class::Waitcnt {
        return None;
    }
    let after = program.lines.get(at + 1..).unwrap_or_default().iter().map(|l| &*l.inst);
    let before = program.lines.get(..at).unwrap_or_default().iter().rev().map(|l| &*l.inst);
    let next = after.clone().take(REACH).find(|i| !is_wait(i));
    let last = before.clone().take(REACH).find(|i| !is_wait(i));
    match (last, next) {
        (Some(last), _) if is_write_back(last) => Some(MemoryWait::WriteBack),
        (_, Some(next)) if next.desc.class == Class::CacheCtl => Some(MemoryWait::Invalidate),
        (_, Some(next)) if next.desc.class == Class::Barrier => Some(MemoryWait::Barrier),
        (_, Some(next)) if matches!(next.desc.class, Class::Endpgm | Class::Sendmsg) => {
            Some(MemoryWait::Exit)
        }
        (_, Some(next)) if is_shared_access(next) => Some(MemoryWait::Release),
        (Some(last), _) if is_shared_access(last) => Some(MemoryWait::Acquire),
        _ => None,
    }
}

/// The maximum number of instructions that are skipped in each direction. Two counters and the wait states of one hazard are far fewer
/// instructions.
const REACH: usize = 8;

fn is_wait(inst: &Inst) -> bool {
    matches!(inst.desc.class, Class::Waitcnt | Class::Nop)
}

fn is_write_back(inst: &Inst) -> bool {
    inst.desc.does(Behaviours::WRITES_BACK)
}

/// True for read-modify-writes, and for loads and stores that bypass a cache.
fn is_shared_access(inst: &Inst) -> bool {
    let memory = inst.desc.is_vmem() || inst.desc.is_ds();
    memory && (inst.desc.class.is_atomic() || inst.mods.glc || inst.mods.scc || inst.mods.scope != 0)
}
