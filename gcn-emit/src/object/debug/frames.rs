//! Call frames (6.4): how to find the caller's registers. They are written to `.debug_frame` and to `.eh_frame`, whose
//! format is defined by the LSB (*Exception Frames*).

use super::bytes::{ADDRESS_BYTES, Bytes};
use crate::object::{RelocationKind, SectionId};

/// Code offsets are multiples of this.
const CODE_ALIGN: u8 = 4;
/// Stack offsets are multiples of this.
const DATA_ALIGN: i64 = 4;
/// The register with the return address, unless the procedure specifies another one: the program counter.
const RETURN_REGISTER: u64 = 16;
const LENGTH_BYTES: usize = 4;

/// The call frame of a procedure.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) section: SectionId,
    /// The procedure's code, by byte offset in the section.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) kind: Kind,
    /// The rule changes and their positions, by byte offset in the section.
    pub(crate) rules: Vec<(u64, Rule)>,
}

/// The data of a common information entry that several procedures share. Values are ordered like the entries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Kind {
    pub(crate) is_signal_frame: bool,
    /// True if the rules that are common to the target's procedures do not apply. (This target has no such rules.)
    pub(crate) is_simple: bool,
    pub(crate) return_register: ReturnRegister,
}

/// The register with the return address. A procedure that specifies it gets a separate entry, even if it specifies the default register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) enum ReturnRegister {
    Named(u64),
    #[default]
    Usual,
}

/// A change of the rules (6.4.2), with registers given by number and offsets in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    Cfa(u64, i64),
    CfaOffset(i64),
    AdjustCfaOffset(i64),
    CfaRegister(u64),
    CfaInAddressSpace(u64, i64, u64),
    Offset(u64, i64),
    /// As `Offset`, relative to the register of the CFA instead of the CFA.
    RelativeOffset(u64, i64),
    ValueOffset(u64, i64),
    Register(u64, u64),
    Undefined(u64),
    SameValue(u64),
    Restore(u64),
    Remember,
    RestoreRemembered,
    WindowSave,
    Escape(Vec<u8>),
}

/// Appends the frames to `out`, which contains the bytes of the section `own`. That section is `.eh_frame` if `eh`, otherwise
/// `.debug_frame`.
pub(crate) fn write(frames: &[Frame], eh: bool, own: SectionId, out: &mut Bytes) {
    let mut order: Vec<&Frame> = frames.iter().collect();
    order.sort_by_key(|frame| frame.kind);
    let mut common: Option<(Kind, usize)> = None;
    for (number, frame) in order.iter().enumerate() {
        // `.debug_frame` has only one common entry, that of the first procedure, because llvm-mc 22 does not distinguish others there.
        let known = common.filter(|(kind, _)| !eh || *kind == frame.kind);
        let (kind, entry) = known.unwrap_or_else(|| (frame.kind, write_common(frame.kind, eh, out)));
        common = Some((kind, entry));
        // Older readers require that `.eh_frame` as a whole is aligned.
        let align = if eh && number + 1 < order.len() { 4 } else { ADDRESS_BYTES };
        write_frame(frame, eh, (own, entry), align, out);
    }
}

/// Appends a common information entry; returns its position.
fn write_common(kind: Kind, eh: bool, out: &mut Bytes) -> usize {
    let start = begin(out);
    let return_register = match kind.return_register {
        ReturnRegister::Named(number) => number,
        ReturnRegister::Usual => RETURN_REGISTER,
    };
    if eh {
        out.bytes.extend([0; 4]);
        out.bytes.push(1);
        out.string(if kind.is_signal_frame { "zRS" } else { "zR" });
        out.bytes.extend([CODE_ALIGN, DATA_ALIGN as u8, return_register as u8]);
        // The data for the letter `R` of the augmentation: addresses are relative and have 4 bytes.
        out.bytes.extend([1, DW_EH_PE_PCREL_SDATA4]);
    } else {
        out.bytes.extend([0xff; 4]);
        // Version 4, no augmentation, no segments.
        out.bytes.extend([4, 0, ADDRESS_BYTES, 0, CODE_ALIGN, DATA_ALIGN as u8]);
        out.unsigned(return_register);
    }
    end(out, start, if eh { 4 } else { ADDRESS_BYTES });
    start
}

const DW_EH_PE_PCREL_SDATA4: u8 = 0x1b;

/// Appends a frame description entry. `of` is the section of the code and the position of the common entry.
fn write_frame(frame: &Frame, eh: bool, of: (SectionId, usize), align: u8, out: &mut Bytes) {
    let start = begin(out);
    let size = frame.end.wrapping_sub(frame.start);
    if eh {
        let back = out.bytes.len() - of.1;
        out.bytes.extend((back as u32).to_le_bytes());
        out.address(RelocationKind::Rel32, 4, frame.section, frame.start);
        out.bytes.extend((size as u32).to_le_bytes());
        out.unsigned(0);
    } else {
        out.address(RelocationKind::Abs32, 4, of.0, of.1 as u64);
        out.address(RelocationKind::Abs64, 8, frame.section, frame.start);
        out.bytes.extend(size.to_le_bytes());
    }
    let (mut at, mut cfa_offset) = (frame.start, 0);
    for (offset, rule) in &frame.rules {
        advance(offset.wrapping_sub(at) / u64::from(CODE_ALIGN), out);
        at = *offset;
        write_rule(rule, &mut cfa_offset, out);
    }
    end(out, start, align);
}

/// Begins an entry; returns its position.
fn begin(out: &mut Bytes) -> usize {
    let start = out.bytes.len();
    out.bytes.extend([0; LENGTH_BYTES]);
    start
}

/// Ends an entry, padding it with instructions that do nothing.
fn end(out: &mut Bytes, start: usize, align: u8) {
    const DW_CFA_NOP: u8 = 0;
    let size = out.bytes.len().next_multiple_of(align.into());
    out.bytes.resize(size, DW_CFA_NOP);
    out.set_length(start);
}

/// Advances the location by this number of instructions.
fn advance(steps: u64, out: &mut Bytes) {
    const DW_CFA_ADVANCE_LOC: u8 = 0x40;
    const DW_CFA_ADVANCE_LOC1: u8 = 2;
    const DW_CFA_ADVANCE_LOC2: u8 = 3;
    const DW_CFA_ADVANCE_LOC4: u8 = 4;
    match steps {
        0 => {}
        1..0x40 => out.bytes.push(DW_CFA_ADVANCE_LOC | steps as u8),
        0x40..0x100 => out.bytes.extend([DW_CFA_ADVANCE_LOC1, steps as u8]),
        0x100..0x1_0000 => {
            out.bytes.push(DW_CFA_ADVANCE_LOC2);
            out.bytes.extend((steps as u16).to_le_bytes());
        }
        _ => {
            out.bytes.push(DW_CFA_ADVANCE_LOC4);
            out.bytes.extend((steps as u32).to_le_bytes());
        }
    }
}

fn write_rule(rule: &Rule, cfa_offset: &mut i64, out: &mut Bytes) {
    const DW_CFA_OFFSET: u8 = 0x80;
    const DW_CFA_RESTORE: u8 = 0xc0;
    const DW_CFA_OFFSET_EXTENDED: u8 = 0x05;
    const DW_CFA_RESTORE_EXTENDED: u8 = 0x06;
    const DW_CFA_UNDEFINED: u8 = 0x07;
    const DW_CFA_SAME_VALUE: u8 = 0x08;
    const DW_CFA_REGISTER: u8 = 0x09;
    const DW_CFA_REMEMBER_STATE: u8 = 0x0a;
    const DW_CFA_RESTORE_STATE: u8 = 0x0b;
    const DW_CFA_DEF_CFA: u8 = 0x0c;
    const DW_CFA_DEF_CFA_REGISTER: u8 = 0x0d;
    const DW_CFA_DEF_CFA_OFFSET: u8 = 0x0e;
    const DW_CFA_OFFSET_EXTENDED_SF: u8 = 0x11;
    const DW_CFA_VAL_OFFSET: u8 = 0x14;
    const DW_CFA_VAL_OFFSET_SF: u8 = 0x15;
    const DW_CFA_GNU_WINDOW_SAVE: u8 = 0x2d;
    const DW_CFA_LLVM_DEF_ASPACE_CFA: u8 = 0x30;
    // The opcode contains a register number in its low six bits, if the number is small enough.
    let small = |register: u64| u8::try_from(register).ok().filter(|register| *register < 0x40);
    let mut operation = |opcode: u8, operands: &[u64]| {
        out.bytes.push(opcode);
        operands.iter().for_each(|operand| out.unsigned(*operand));
    };
    match rule {
        Rule::Cfa(register, offset) => {
            *cfa_offset = *offset;
            operation(DW_CFA_DEF_CFA, &[*register, *offset as u64]);
        }
        Rule::CfaOffset(offset) => {
            *cfa_offset = *offset;
            operation(DW_CFA_DEF_CFA_OFFSET, &[*offset as u64]);
        }
        Rule::AdjustCfaOffset(by) => {
            *cfa_offset = cfa_offset.wrapping_add(*by);
            operation(DW_CFA_DEF_CFA_OFFSET, &[*cfa_offset as u64]);
        }
        Rule::CfaRegister(register) => operation(DW_CFA_DEF_CFA_REGISTER, &[*register]),
        Rule::CfaInAddressSpace(register, offset, space) => {
            *cfa_offset = *offset;
            operation(DW_CFA_LLVM_DEF_ASPACE_CFA, &[*register, *offset as u64, *space]);
        }
        Rule::Offset(register, offset) | Rule::RelativeOffset(register, offset) => {
            let base = if matches!(rule, Rule::RelativeOffset(..)) { *cfa_offset } else { 0 };
            let offset = offset.wrapping_sub(base) / DATA_ALIGN;
            match (u64::try_from(offset), small(*register)) {
                (Ok(offset), Some(small)) => operation(DW_CFA_OFFSET | small, &[offset]),
                (Ok(offset), None) => operation(DW_CFA_OFFSET_EXTENDED, &[*register, offset]),
                (Err(_), _) => {
                    operation(DW_CFA_OFFSET_EXTENDED_SF, &[*register]);
                    out.signed(offset);
                }
            }
        }
        Rule::ValueOffset(register, offset) => {
            let offset = offset / DATA_ALIGN;
            if let Ok(offset) = u64::try_from(offset) {
                operation(DW_CFA_VAL_OFFSET, &[*register, offset]);
            } else {
                operation(DW_CFA_VAL_OFFSET_SF, &[*register]);
                out.signed(offset);
            }
        }
        Rule::Register(register, other) => operation(DW_CFA_REGISTER, &[*register, *other]),
        Rule::Undefined(register) => operation(DW_CFA_UNDEFINED, &[*register]),
        Rule::SameValue(register) => operation(DW_CFA_SAME_VALUE, &[*register]),
        Rule::Restore(register) => match small(*register) {
            Some(small) => operation(DW_CFA_RESTORE | small, &[]),
            None => operation(DW_CFA_RESTORE_EXTENDED, &[*register]),
        },
        Rule::Remember => operation(DW_CFA_REMEMBER_STATE, &[]),
        Rule::RestoreRemembered => operation(DW_CFA_RESTORE_STATE, &[]),
        Rule::WindowSave => operation(DW_CFA_GNU_WINDOW_SAVE, &[]),
        Rule::Escape(bytes) => out.bytes.extend(bytes),
    }
}
