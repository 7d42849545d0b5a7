//! Determines the registers that are accessed through an index: by relative moves and by VGPR indexing.
//!
//! Relative moves add M0, or parts of it, to the numbers of SGPRs (`s_movrel*`) or VGPRs (`v_movrel*`, `v_swaprel_b32`). While VGPR
//! indexing is on (from `s_set_gpr_idx_on` to `s_set_gpr_idx_off`, also across branches), vector ALU instructions add `M0[7:0]` to the
//! numbers of the VGPRs that `M0[15:12]` selects ([`IndexedBy`]). On gfx12.5, `s_set_vgpr_msb` sets the upper bits of the numbers of
//! VGPRs. [`Indexing`] determines the registers that each instruction may then access. This is a property of the program, like its
//! control-flow graph, so the inserter of waits and the checker share it. The simulator does not need it, because it knows the value of
//! M0.
//!
//! - *Values*: a forward dataflow analysis over the control-flow graph computes the possible values of MODE.GPR_IDX_EN, of M0 and of the
//!   upper bits of VGPR numbers (`state`). An index is known if it is a constant, and partly known if a constant in the same block masks it
//!   (`s_and_b32 s0, s0, 31`).
//! - *Registers*: an indexed operand may access any register from the named one plus the least index to the named one plus the greatest
//!   index, within the register file. An index beyond the file is illegal (MI100 ISA 3.6.1, 6.6.1). The size of the wave's allocation does
//!   not matter: the program cannot name a register beyond it in any other way.
//! - *Calls*: indexing is off at the entry of kernels and functions, by the calling convention and in the dispatcher. A call may change M0.
//! - *Writes of MODE*: `s_setreg_b32` from a register is assumed to restore a value that `s_getreg_b32` has read, so it may set GPR_IDX_EN
//!   only if another instruction of the program sets it.
//!
//! Nearly all programs have no such instructions. For them the cost is one pass over the lines.

mod solve;
mod state;

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::cfg::Flow;
use crate::hwreg::vgpr_msb_of_setreg;
use crate::inst::{Inst, RegUse, Via};
use crate::operand::Operand;
use crate::program::Program;
use crate::reg::{FIRST_NAMED_SGPR, MOST_VGPRS, Reg, RegFile};
use crate::table::{Behaviours, IndexedBy, MsbField};
use crate::target::Target;
use state::{FIRST_OPERAND, INDEX, Offsets, State};

/// The registers of one file that an operand may denote.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Reached {
    operand: u8,
    file: RegFile,
    first: u16,
    /// One more than the number of the last register.
    end: u16,
    /// The number with the upper bits that `s_set_vgpr_msb` has set, if they are certain and not 0. M0 may be added to it.
    full: Option<u16>,
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
            let by = inst.desc.indexed_by(i);
            let by = by.filter(|by| matches!(by, IndexedBy::M0(_)) || reg.file != RegFile::Sgpr)?;
            // The manuals neither describe indexed AccVGPRs nor exclude them.
            let named = reg.file != RegFile::Agpr;
            let old = inst.desc.msb_field_of_old_value(i).map(|field| by.with_field(field));
            let both = |by: IndexedBy, old: Option<IndexedBy>| {
                let now = state.offsets(by, named);
                old.map_or(now, |old| Offsets::either(now, state.offsets(old, named)))
            };
            let offsets = both(by, old)?;
            let upper = match by {
                IndexedBy::Msb(field, _) => {
                    let plain = |field| IndexedBy::Msb(field, None);
                    both(plain(field), inst.desc.msb_field_of_old_value(i).map(plain))
                }
                _ => None,
            };
            reach(reg, by, (offsets, upper), i as u8)
        });
        Indexed(reached.collect())
    }

    fn reached_by<Uses: FromIterator<RegUse>>(&self, named: &[RegUse]) -> Uses {
        named.iter().flat_map(|u| self.reached(*u)).collect()
    }

    /// The registers that an operand may denote: the registers of `named` if no index is added to the operand, otherwise all registers that
    /// the index may select, in tuples of at most 32.
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

/// The registers that `reg` may denote after an offset in `offsets` is added, of which `upper` are the upper bits of a VGPR's number; `None`
/// if the tuple is longer than the register file.
fn reach(
    reg: Reg,
    by: IndexedBy,
    (offsets, upper): (Offsets, Option<Offsets>),
    operand: u8,
) -> Option<Reached> {
    let last = u32::from(file_end(reg, by).checked_sub(u16::from(reg.len))?);
    let place = |offset: u32| u32::from(reg.index).saturating_add(offset).min(last) as u16;
    let is_legal = u32::from(reg.index).saturating_add(offsets.least) <= last;
    // If the index is always illegal, nothing is assumed about the index.
    let first = if is_legal { place(offsets.least) } else { reg.index };
    let is_one = |offsets: &Offsets| offsets.least == offsets.most;
    let via = match is_legal {
        true if upper.is_some_and(|upper| !is_one(&upper)) => Via::SeveralMsbs,
        true if matches!(by, IndexedBy::Msb(_, None)) => Via::Msb,
        true if is_one(&offsets) => Via::Index,
        true if offsets.bounded => Via::Range,
        _ => Via::AnyIndex,
    };
    let full = upper.filter(is_one).map(|upper| place(upper.least));
    Some(Reached { operand, file: reg.file, first, end: place(offsets.most) + u16::from(reg.len), full, via })
}

/// One more than the number of the last register that an index added to `reg` may select.
fn file_end(reg: Reg, by: IndexedBy) -> u16 {
    match reg.file {
        RegFile::Vgpr if matches!(by, IndexedBy::Msb(..)) => MOST_VGPRS,
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

    /// The operands with a VGPR whose number is uncertain, because `s_set_vgpr_msb` has set different upper bits on different paths: line
    /// and operand, at most one operand of each line.
    pub fn with_several_msbs(&self) -> impl Iterator<Item = (usize, usize)> {
        let is_one = |r: &&Reached| r.file == RegFile::Vgpr && r.via == Via::SeveralMsbs;
        let of_line = move |(line, indexed): &(u32, Indexed)| {
            let found = indexed.0.iter().find(is_one)?;
            Some((*line as usize, usize::from(found.operand)))
        };
        self.lines.iter().filter_map(of_line)
    }

    /// `inst`, which is at `line`, with the full numbers of its VGPRs: the upper bits that `s_set_vgpr_msb` has set are included where they
    /// are certain.
    pub fn meant<'i>(&self, line: usize, inst: &'i Inst) -> Cow<'i, Inst> {
        let mut meant = Cow::Borrowed(inst);
        let certain = |r: &Reached| Some((usize::from(r.operand), r.full?));
        for (operand, full) in self.at(line).into_iter().flat_map(|i| &i.0).filter_map(certain) {
            if let Some(Operand::Reg(reg)) = meant.to_mut().operands.get_mut(operand) {
                reg.index = full;
            }
        }
        meant
    }

    /// A remark on the VGPRs of `inst`, which is at `line`, whose full number differs from the number in the text because of
    /// `s_set_vgpr_msb`: `v155 is v411`. If the upper bits are uncertain, the remark gives the first and the last possible register. `None`
    /// if there are no such VGPRs. For a VGPR to which a relative move adds M0, M0 is not included.
    pub fn full_numbers(&self, line: usize, inst: &Inst) -> Option<String> {
        let mut texts: Vec<String> = Vec::new();
        let differs = |r: &&Reached| r.full.is_some() || r.via == Via::SeveralMsbs;
        for reached in self.at(line)?.0.iter().filter(differs) {
            let named = inst.operands.get(usize::from(reached.operand)).and_then(|o| o.reg())?;
            let text = match reached.full {
                Some(index) => format!("{named} is {}", Reg { index, ..named }),
                None => {
                    let first = Reg { index: reached.first, ..named };
                    let last = Reg { index: reached.end - u16::from(named.len), ..named };
                    format!("{named} is between {first} and {last}")
                }
            };
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        (!texts.is_empty()).then(|| texts.join(", "))
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
    /// The instruction reads and writes the operand, and takes the upper bits for reading and for writing from two fields of
    /// `s_set_vgpr_msb`, which have different values.
    #[error("an accumulator whose fields of s_set_vgpr_msb differ")]
    Accumulator,
}

/// The upper bits of VGPR numbers that `inst` sets, encoded as in the operand of `s_set_vgpr_msb`; `None` if `inst` does not set them. The
/// upper byte of that operand has no effect: LLVM 22 stores the previous value there.
///
/// ```
/// use gcn_isa::{Inst, Operand, Target, indexing, table};
///
/// let row = table::find(Target::GFX1250, "s_set_vgpr_msb").next().unwrap();
/// let set = Inst::new(row, [Operand::Imm(0x4041)]);
/// assert_eq!(indexing::msb_set_by(Target::GFX1250, &set), Some(0x41));
/// ```
pub fn msb_set_by(target: Target, inst: &Inst) -> Option<u8> {
    if inst.desc.does(Behaviours::SETS_VGPR_MSB) {
        return match inst.operands.first() {
            Some(Operand::Imm(value)) => Some(*value as u8),
            _ => None,
        };
    }
    if target.addressable_vgprs() < MOST_VGPRS.into() {
        return None;
    }
    vgpr_msb_of_setreg(inst)
}

/// The parts of a wave's state that, together with the numbers in an instruction, select the registers that the instruction accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// M0.
    pub m0: u32,
    /// The bit GPR_IDX_EN of MODE.
    pub enabled: bool,
    /// The upper bits of VGPR numbers, encoded as in the operand of `s_set_vgpr_msb`.
    pub msb: u8,
}

/// `inst` with its registers replaced by the registers that it accesses in this state; `None` if these are the registers that `inst` names.
///
/// # Errors
/// [`Unresolved`] if no manual defines the effect of the index.
///
/// ```
/// use gcn_isa::{Inst, Reg, Target, indexing, table};
///
/// let row = table::find(Target::GFX906, "v_mov_b32_e32").next().unwrap();
/// let mov = Inst::new(row, [Reg::v(1, 1).into(), Reg::v(2, 1).into()]);
/// let on = indexing::Selection { m0: 0x1007, enabled: true, msb: 0 };
/// let moved = indexing::resolve(&mov, on).unwrap().unwrap();
/// assert_eq!(moved.operands[1].reg(), Some(Reg::v(9, 1)));
/// assert_eq!(indexing::resolve(&mov, indexing::Selection { enabled: false, ..on }), Ok(None));
/// ```
pub fn resolve(inst: &Inst, state: Selection) -> Result<Option<Inst>, Unresolved> {
    let mut moved: Option<Inst> = None;
    for (i, reg) in inst.operands.iter().enumerate().filter_map(|(i, o)| Some((i, o.reg()?))) {
        let Some(by) = inst.desc.indexed_by(i) else { continue };
        let offset = offset(by, reg.file, state)?;
        if let Some(field) = inst.desc.msb_field_of_old_value(i)
            && offset != self::offset(by.with_field(field), reg.file, state)?
        {
            return Err(Unresolved::Accumulator);
        }
        if offset == 0 {
            continue;
        }
        let index = u32::from(reg.index).saturating_add(offset);
        if index.saturating_add(reg.len.into()) > u32::from(file_end(reg, by)) {
            return Err(Unresolved::Beyond);
        }
        if let Some(operand) = moved.get_or_insert_with(|| inst.clone()).operands.get_mut(i) {
            *operand = Operand::Reg(Reg { index: index as u16, ..reg });
        }
    }
    Ok(moved)
}

/// The offset that is added to the number of a register of `file`.
fn offset(by: IndexedBy, file: RegFile, state: Selection) -> Result<u32, Unresolved> {
    let Selection { m0, enabled, msb } = state;
    match by {
        IndexedBy::M0(part) => Ok(part.of(m0)),
        IndexedBy::Msb(..) if file != RegFile::Vgpr => Ok(0),
        IndexedBy::Msb(field, part) => {
            let upper = u32::from(field.of(msb)) * u32::from(MsbField::REGISTERS);
            Ok(upper.saturating_add(part.map_or(0, |part| part.of(m0))))
        }
        IndexedBy::Mode { bits, .. } if !enabled || m0 >> FIRST_OPERAND & u32::from(bits) == 0 => Ok(0),
        _ if file == RegFile::Sgpr || m0 & INDEX == 0 => Ok(0),
        IndexedBy::Mode { stated: true, .. } if file == RegFile::Vgpr => Ok(m0 & INDEX),
        IndexedBy::Mode { .. } => Err(Unresolved::Undefined),
    }
}
