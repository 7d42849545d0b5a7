//! Determines the registers that are accessed through an index: by relative moves and by VGPR indexing.
//!
//! `s_movrel*` adds M0 to the number of an SGPR. While VGPR indexing is on (from `s_set_gpr_idx_on` to `s_set_gpr_idx_off`, also across
//! branches), vector ALU instructions add `M0[7:0]` to the numbers of the VGPRs that `M0[15:12]` selects ([`IndexedBy`]). [`Indexing`]
//! determines which registers may be accessed in this way. This is a property of the program, like its control-flow graph, so the inserter
//! of waits and the checker share the analysis. The simulator does not need it, because it knows M0.
//!
//! - *Which instructions*: a forward dataflow analysis over the control-flow graph computes the possible values of
//!   MODE.GPR_IDX_EN and M0 (`state`). An index is known if it is a constant, and partly known if a constant in the
//!   same block masks it (`s_and_b32 s0, s0, 31`).
//! - *Which registers*: from the named register plus the least index to the named register plus the greatest index,
//!   within the register file. An index beyond the file is illegal (MI100 ISA 3.6.1, 6.6.1). The wave's allocation does
//!   not matter: registers beyond it have no other name in the program either.
//! - *Calls*: indexing is off at the entry of kernels and functions, by the calling convention and in the dispatcher; a
//!   call may change M0.
//! - A write of MODE by `s_setreg_b32` from a register is assumed to restore a value that `s_getreg_b32` read, so it
//!   may set GPR_IDX_EN only if something else in the program sets it.
//!
//! For programs without such instructions, which is nearly all programs, the cost is one pass over the lines.

mod solve;
mod state;

use smallvec::SmallVec;

use crate::cfg::Flow;
use crate::inst::{Inst, RegUse, Via};
use crate::operand::Operand;
use crate::program::Program;
use crate::reg::{FIRST_NAMED_SGPR, Reg, RegFile};
use crate::table::IndexedBy;
use state::{FIRST_OPERAND, INDEX, Offsets, State};

/// The registers of one file that an operand may denote.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Reached {
    operand: u8,
    file: RegFile,
    first: u16,
    /// One more than the number of the last register.
    end: u16,
    via: Via,
}

/// The operands of an instruction to which an index is added or may be added.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Indexed(SmallVec<[Reached; 3]>);

/// The maximum length of the tuples into which a range of registers is split. No instruction names a longer tuple, and bit sets of a
/// tuple's registers have this many bits.
const PIECE: u16 = 32;

impl Indexed {
    fn of(inst: &Inst, state: &State) -> Indexed {
        let operands = inst.operands.iter().enumerate();
        let reached = operands.filter_map(|(i, operand)| {
            let reg = operand.reg()?;
            let by =
                inst.desc.indexed_by(i).filter(|by| *by == IndexedBy::M0 || reg.file != RegFile::Sgpr)?;
            // The manuals neither describe indexed AccVGPRs nor exclude them.
            let offsets = state.offsets(by, reg.file != RegFile::Agpr)?;
            reach(reg, offsets, i as u8)
        });
        Indexed(reached.collect())
    }

    fn reached_by<Uses: FromIterator<RegUse>>(&self, named: &[RegUse]) -> Uses {
        named.iter().flat_map(|u| self.reached(*u)).collect()
    }

    /// The registers that an operand may denote: the named ones, or those that an index may select, in tuples of at
    /// most 32.
    pub fn reached(&self, named: RegUse) -> impl Iterator<Item = RegUse> {
        let found = self.0.iter().find(|r| Some(r.operand) == named.operand).copied();
        let given = found.is_none().then_some(named);
        given.into_iter().chain(found.into_iter().flat_map(move |reached| {
            let starts = (reached.first..reached.end).step_by(PIECE.into());
            starts.map(move |index| {
                let len = (reached.end - index).min(PIECE) as u8;
                RegUse {
                    reg: Reg { file: reached.file, index, len },
                    operand: named.operand,
                    via: reached.via,
                }
            })
        }))
    }
}

/// The registers that `reg` may denote after an offset in `offsets` is added.
fn reach(reg: Reg, offsets: Offsets, operand: u8) -> Option<Reached> {
    let last = u32::from(file_end(reg).checked_sub(u16::from(reg.len))?);
    let place = |offset: u32| u32::from(reg.index).saturating_add(offset).min(last) as u16;
    let is_legal = u32::from(reg.index).saturating_add(offsets.least) <= last;
    // If the index is always illegal, nothing is assumed about the index.
    let first = if is_legal { place(offsets.least) } else { reg.index };
    let via = match is_legal {
        true if offsets.least == offsets.most => Via::Index,
        true if offsets.bounded => Via::Range,
        _ => Via::AnyIndex,
    };
    Some(Reached { operand, file: reg.file, first, end: place(offsets.most) + u16::from(reg.len), via })
}

/// One more than the number of the last register that an index added to `reg` may select.
fn file_end(reg: Reg) -> u16 {
    match reg.file {
        RegFile::Sgpr if reg.index < FIRST_NAMED_SGPR => FIRST_NAMED_SGPR,
        RegFile::Sgpr => 128,
        RegFile::Vgpr | RegFile::Agpr => 256,
    }
}

/// The operands in a program that are accessed through an index.
///
/// ```
/// use gcn_isa::cfg::Flow;
/// use gcn_isa::indexing::Indexing;
/// use gcn_isa::inst::Via;
/// use gcn_isa::{Inline, Inst, Operand, Program, Reg, Target, table};
///
/// let find = |name| table::find(Target::GFX906, name).next().unwrap();
/// let mut program = Program::new(Target::GFX906, "example");
/// program.push(Inst::new(find("s_set_gpr_idx_on"), [Operand::Inline(Inline::Int(7)), Operand::Imm(1)]));
/// program.push(Inst::new(find("v_mov_b32_e32"), [Reg::v(1, 1).into(), Reg::v(2, 1).into()]));
/// let indexing = Indexing::of(&program, &Flow::of(&program));
/// let reads = indexing.reads(1, &program.lines[1].inst);
/// assert_eq!((reads[0].reg, reads[0].via), (Reg::v(9, 1), Via::Index));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Indexing {
    /// The indexed operands of each line that has any, in ascending order of lines.
    lines: Vec<(u32, Indexed)>,
}

impl Indexing {
    /// Analyses `program`, whose control flow is `flow`.
    pub fn of(program: &Program, flow: &Flow) -> Indexing {
        Indexing { lines: solve::lines(program, flow) }
    }

    /// The indexed operands at `line`; `None` if there are none.
    #[inline]
    pub fn at(&self, line: usize) -> Option<&Indexed> {
        if self.lines.is_empty() {
            return None;
        }
        let found = self.lines.binary_search_by_key(&line, |l| l.0 as usize).ok()?;
        self.lines.get(found).map(|l| &l.1)
    }

    /// The registers that `inst`, which is at `line`, may read: those of [`Inst::reads`], where each indexed operand is replaced by all
    /// registers that the index may select.
    #[inline]
    pub fn reads(&self, line: usize, inst: &Inst) -> SmallVec<[RegUse; 6]> {
        self.at(line).map_or_else(|| inst.reads(), |i| i.reached_by(&inst.reads()))
    }

    /// The registers that `inst`, which is at `line`, may write, where each indexed operand is replaced by all registers that the index may
    /// select.
    #[inline]
    pub fn writes(&self, line: usize, inst: &Inst) -> SmallVec<[RegUse; 3]> {
        self.at(line).map_or_else(|| inst.writes(), |i| i.reached_by(&inst.writes()))
    }
}

/// The reason why the registers of an instruction are unknown although M0 and MODE are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unresolved {
    /// The index selects a register beyond the register file, which is illegal.
    #[error("an index beyond the register file")]
    Beyond,
    /// VGPR indexing is on for an operand or a register file for which the manual does not define whether the index is added.
    #[error("VGPR indexing of an operand for which the manual does not define it")]
    Undefined,
}

/// `inst` with its registers replaced by those that its indices select, given M0 and the bit GPR_IDX_EN of MODE; `None` if the selected
/// registers are the named ones.
///
/// # Errors
/// [`Unresolved`] if no manual defines the effect of the index.
///
/// ```
/// use gcn_isa::{Inst, Reg, Target, indexing, table};
///
/// let row = table::find(Target::GFX906, "v_mov_b32_e32").next().unwrap();
/// let mov = Inst::new(row, [Reg::v(1, 1).into(), Reg::v(2, 1).into()]);
/// let moved = indexing::resolve(&mov, 0x1007, true).unwrap().unwrap();
/// assert_eq!(moved.operands[1].reg(), Some(Reg::v(9, 1)));
/// assert_eq!(indexing::resolve(&mov, 0x1007, false), Ok(None));
/// ```
pub fn resolve(inst: &Inst, m0: u32, enabled: bool) -> Result<Option<Inst>, Unresolved> {
    let mut moved: Option<Inst> = None;
    for (i, reg) in inst.operands.iter().enumerate().filter_map(|(i, o)| Some((i, o.reg()?))) {
        let offset = inst.desc.indexed_by(i).map_or(Ok(0), |by| offset(by, reg.file, m0, enabled))?;
        if offset == 0 {
            continue;
        }
        let index = u32::from(reg.index).saturating_add(offset);
        if index + u32::from(reg.len) > u32::from(file_end(reg)) {
            return Err(Unresolved::Beyond);
        }
        if let Some(operand) = moved.get_or_insert_with(|| inst.clone()).operands.get_mut(i) {
            *operand = Operand::Reg(Reg { index: index as u16, ..reg });
        }
    }
    Ok(moved)
}

/// The offset that is added to the number of a register of `file`.
fn offset(by: IndexedBy, file: RegFile, m0: u32, enabled: bool) -> Result<u32, Unresolved> {
    match by {
        IndexedBy::M0 => Ok(m0),
        IndexedBy::Mode { bits, .. } if !enabled || m0 >> FIRST_OPERAND & u32::from(bits) == 0 => Ok(0),
        _ if file == RegFile::Sgpr || m0 & INDEX == 0 => Ok(0),
        IndexedBy::Mode { stated: true, .. } if file == RegFile::Vgpr => Ok(m0 & INDEX),
        IndexedBy::Mode { .. } => Err(Unresolved::Undefined),
    }
}
