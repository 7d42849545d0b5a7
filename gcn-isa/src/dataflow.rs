//! Which bits of the sources determine which bits of a result.
//!
//! A simulator that tracks undefined bits through a program needs this information for every instruction. It is described by two kinds of
//! facts:
//!
//! - [`Flow`] states how bits combine, and is part of the instruction's table entry. An entry without it has
//!   [`Flow::All`], which is correct for every instruction but imprecise.
//! - [`parts`] states which source bits each part of the result reads. It follows from the instruction's modifiers and
//!   the instruction's description in [`crate::semantics`], called its *line* here.
//!
//! The rules follow Valgrind's Memcheck (Seward and Nethercote, "Using Valgrind to detect undefined value errors with
//! bit-precision", USENIX 2005) and LLVM's MemorySanitizer, applied to these instructions.

use crate::inst::Inst;
use crate::reg::Half;
use crate::table::{Behaviours, Format, InstDesc, Modifiers};

pub use crate::table::{Flow, Rule};

/// The rule that states how the bits of an instruction's results depend on the bits of its sources.
///
/// ```
/// use gcn_isa::dataflow::{self, Flow};
/// use gcn_isa::{Target, table};
/// let of = |name| dataflow::of(table::find_mnemonic(Target::GFX942, name).next().unwrap());
/// assert_eq!((of("v_lshlrev_b32").flow, of("v_lshlrev_b32").controls), (Flow::Bits, 1));
/// assert_eq!(of("v_mul_f32").flow, Flow::All);
/// ```
pub fn of(desc: &InstDesc) -> Rule {
    desc.entry.rule
}

/// A part of the result in a vector register of up to 64 bits, and the source bits that it reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The bits of the result that belong to this part.
    pub result: u64,
    /// The bits of each source that the part reads. For sources wider than 64 bits, the mask applies to every 64 bits.
    pub sources: [u64; 3],
    /// True if the part reads the destination as a source. A read that only preserves bits of the destination does not count.
    pub accumulates: bool,
}

/// True if the instruction preserves some bits of a destination regardless of its modifiers.
pub fn keeps(desc: &InstDesc) -> bool {
    desc.does(Behaviours::KEEPS_PART)
}

/// True if the third source is a mask, of which lane `i` reads bit `i`.
pub fn third_source_is_mask(desc: &InstDesc) -> bool {
    desc.entry.behaviours.intersects(Behaviours::SELECTS_BY_MASK | Behaviours::CARRIES_IN)
}

/// The parts of an instruction's vector result. An instruction without a semantics line has one part that reads everything.
pub fn parts(inst: &Inst) -> Vec<Part> {
    let line = inst.desc.entry.meaning;
    let parts = statements(line).unwrap_or_else(|| {
        let accumulates = !keeps(inst.desc);
        vec![Part { result: u64::MAX, sources: [u64::MAX; 3], accumulates }]
    });
    parts.into_iter().map(|part| placed(inst, part)).collect()
}

/// The half of a 32-bit register that the result occupies, if it occupies only one half.
pub(crate) fn half_written(inst: &Inst) -> Option<Half> {
    match parts(inst).iter().fold(0, |all, part| all | part.result) {
        0xffff => Some(Half::Low),
        0xffff_0000 => Some(Half::High),
        _ => None,
    }
}

/// The parts that a semantics line states, before modifiers are applied; `None` if the line has a form that is not analysed.
fn statements(line: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut inputs = None;
    for (left, right) in line.split("; ").filter_map(|s| s.split_once(" = ")) {
        let sources = [b'0', b'1', b'2'].map(|digit| mentions(right, digit));
        if left == "in_i" {
            // Mixed-precision instructions state their inputs in a separate assignment.
            inputs = Some([u64::MAX; 3]);
            continue;
        }
        if matches!(left, "SCC" | "EXEC" | "SD[lane]") {
            continue;
        }
        let left = left.strip_prefix("{SD[lane], ").map_or(left, |rest| rest.trim_end_matches('}'));
        let place = left.strip_prefix('D')?;
        let result = if place == "[lane]" { u64::MAX } else { bits_of(place)? };
        // A parenthesis contains the alternatives of op_sel. An accumulator is written with its type or bits, and a preserved destination
        // is written without them.
        let right = right.split(" (op_sel").next().unwrap_or(right);
        let accumulates = right.match_indices('D').any(|(at, _)| {
            let alone = !right[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
            alone && right[at + 1..].starts_with(['.', '['])
        });
        parts.push(Part { result, sources, accumulates });
    }
    if let Some(inputs) = inputs {
        parts.iter_mut().for_each(|part| part.sources = inputs);
    }
    (!parts.is_empty()).then_some(parts)
}

/// The bits of source `digit` that an expression reads.
fn mentions(text: &str, digit: u8) -> u64 {
    let name = [b'S', digit];
    let places = text.as_bytes().windows(2).enumerate().filter(|(_, pair)| **pair == name);
    let mask = |at: usize| bits_of(&text[at + 2..]).unwrap_or(u64::MAX);
    places.fold(0, |all, (at, _)| all | mask(at))
}

/// The bits that a suffix such as `[15:0]`, `[31]` or `.f16` selects; `None` if they are not given as numbers.
fn bits_of(suffix: &str) -> Option<u64> {
    if let Some(rest) = suffix.strip_prefix('[') {
        let (range, _) = rest.split_once(']')?;
        let (high, low) = range.split_once(':').unwrap_or((range, range));
        let (high, low): (u32, u32) = (high.parse().ok()?, low.parse().ok()?);
        return (low <= high && high < 64).then(|| ones(high - low + 1) << low);
    }
    let ty = suffix.strip_prefix('.')?;
    let ty = ty.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let bits: u32 = ty.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    (bits <= 64).then(|| ones(bits))
}

fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The part after the instruction's modifiers are applied.
fn placed(inst: &Inst, part: Part) -> Part {
    let (desc, mods) = (inst.desc, &inst.mods);
    let sources = [0, 1, 2].map(|i| source(inst, part, i));
    // The result may then be written to any position except preserved bits.
    let moved = mods.sdwa.is_some() || desc.format != Format::Vop3p && mods.op_sel != 0;
    Part { result: if moved { u64::MAX } else { part.result }, sources, ..part }
}

/// The bits of source `i` that the part reads, after selection by SDWA and `op_sel`.
fn source(inst: &Inst, part: Part, i: usize) -> u64 {
    let (desc, mods, mask) = (inst.desc, &inst.mods, part.sources[i]);
    let bit = |field: u8| field >> i & 1 == 1;
    if mask == 0 {
        return 0;
    }
    // The source is half of a register, on instruction sets where halves count as registers.
    let slot = desc.operand_index(["src0", "src1", "src2"][i]);
    if let Some(half) = slot.and_then(|slot| inst.half(slot as u8)) {
        return half.bits().into();
    }
    if let Some(sdwa) = mods.sdwa {
        return match if i == 0 { sdwa.src0_sel } else { sdwa.src1_sel } {
            byte @ 0..=3 => 0xff << (8 * byte),
            4 => 0xffff,
            5 => 0xffff_0000,
            _ => mask,
        };
    }
    if desc.format != Format::Vop3p {
        return match mask {
            _ if mods.op_sel == 0 || mask > 0xffff => mask,
            0xffff => mask << (16 * u32::from(bit(mods.op_sel))),
            // Bytes are selected by two bits, which are not analysed.
            _ => u64::MAX,
        };
    }
    if desc.is_mixed_precision() {
        // In mixed precision, a set `op_sel_hi` bit means that the source is a 16-bit half.
        return match (bit(mods.op_sel_hi), bit(mods.op_sel)) {
            (false, _) => 0xffff_ffff,
            (true, false) => 0xffff,
            (true, true) => 0xffff_0000,
        };
    }
    if !desc.modifiers.contains(Modifiers::OP_SEL_HI) {
        return mask;
    }
    // The lower part of the result reads the half that op_sel selects, and the upper part reads the half that op_sel_hi selects.
    let width = 16 * u32::from(desc.operands[0].dwords);
    if width > 32 {
        // For matrices, each element of the result reads many elements of the sources.
        return u64::MAX;
    }
    let half = ones(width);
    match (part.result == half, part.result == half << width) {
        (true, _) if mask <= half => mask << if bit(mods.op_sel) { width } else { 0 },
        (_, true) if mask & half == 0 => mask >> if bit(mods.op_sel_hi) { 0 } else { width },
        _ => u64::MAX,
    }
}
