//! Names that stand for bits of an immediate, as LLVM's AMDGPU guide and disassembler spell them. Printer and parser
//! use the same tables. A symbolic form is printed only if it denotes exactly the immediate's bits.

use std::fmt::Write as _;

use gcn_isa::buffer_format::unified;
use gcn_isa::mods::{DppControls, Form, HINTS, TemporalHints, dpp_word};
use gcn_isa::table::InstDesc;
use gcn_isa::target::Generation;
use gcn_isa::{InstructionSet, InstructionSet as I, Mods, Target, TargetSet};

const GFX9: TargetSet = TargetSet::GFX9;
const GFX9_4: TargetSet = TargetSet::between(I::GFX942, I::GFX950);
const RDNA: TargetSet = TargetSet::RDNA;
const GFX10: TargetSet = TargetSet::between(I::GFX10_1, I::GFX10_3);
const GFX10_1: TargetSet = TargetSet::between(I::GFX10_1, I::GFX1011);
const GFX10_11: TargetSet = TargetSet::between(I::GFX10_1, I::GFX11_5);
const GFX10_3_11: TargetSet = TargetSet::between(I::GFX10_3, I::GFX11_5);
const GFX11: TargetSet = TargetSet::between(I::GFX11, I::GFX11_5);
const GFX11_ON: TargetSet = TargetSet::between(I::GFX11, I::GFX12_5);
const GFX12: TargetSet = TargetSet::between(I::GFX12, I::GFX12_5);
const GFX12_5: TargetSet = TargetSet::one(I::GFX12_5);
const UP_TO_10: TargetSet = GFX9.union(GFX10);
const UP_TO_11: TargetSet = GFX9.union(GFX10_11);

/// The channels of a pixel's attribute by number.
pub(crate) const CHANNELS: [&str; 4] = ["x", "y", "z", "w"];

/// Hardware registers of `s_getreg_b32` and `s_setreg_b32`: number, name, and the instruction sets that have the register. If a number has
/// two names, the first is printed.
pub(crate) const HWREGS: [(u16, &str, TargetSet); 59] = [
    (1, "HW_REG_WAVE_MODE", GFX12),
    (1, "HW_REG_MODE", GFX9.union(RDNA)),
    (2, "HW_REG_WAVE_STATUS", GFX12),
    (2, "HW_REG_STATUS", GFX9.union(RDNA)),
    (3, "HW_REG_TRAPSTS", UP_TO_11),
    (4, "HW_REG_HW_ID", GFX9),
    (4, "HW_REG_WAVE_STATE_PRIV", GFX12),
    (4, "HW_REG_STATE_PRIV", GFX12),
    (5, "HW_REG_WAVE_GPR_ALLOC", GFX12),
    (5, "HW_REG_GPR_ALLOC", GFX9.union(RDNA)),
    (6, "HW_REG_WAVE_LDS_ALLOC", GFX12),
    (6, "HW_REG_LDS_ALLOC", GFX9.union(RDNA)),
    (7, "HW_REG_IB_STS", GFX9.union(RDNA)),
    (10, "HW_REG_PERF_SNAPSHOT_DATA", GFX12),
    (11, "HW_REG_PERF_SNAPSHOT_PC_LO", GFX12),
    (12, "HW_REG_PERF_SNAPSHOT_PC_HI", GFX12),
    (15, "HW_REG_SH_MEM_BASES", UP_TO_11),
    (15, "HW_REG_PERF_SNAPSHOT_DATA1", GFX12),
    (16, "HW_REG_TBA_LO", UP_TO_10),
    (16, "HW_REG_PERF_SNAPSHOT_DATA2", GFX12),
    (17, "HW_REG_TBA_HI", UP_TO_10),
    (17, "HW_REG_WAVE_EXCP_FLAG_PRIV", GFX12),
    (17, "HW_REG_EXCP_FLAG_PRIV", GFX12),
    (18, "HW_REG_TMA_LO", UP_TO_10),
    (18, "HW_REG_PERF_SNAPSHOT_PC_LO", GFX11),
    (18, "HW_REG_WAVE_EXCP_FLAG_USER", GFX12),
    (18, "HW_REG_EXCP_FLAG_USER", GFX12),
    (19, "HW_REG_TMA_HI", UP_TO_10),
    (19, "HW_REG_PERF_SNAPSHOT_PC_HI", GFX11),
    (19, "HW_REG_WAVE_TRAP_CTRL", GFX12),
    (19, "HW_REG_TRAP_CTRL", GFX12),
    (20, "HW_REG_XCC_ID", GFX9_4),
    (20, "HW_REG_FLAT_SCR_LO", GFX10_11),
    (20, "HW_REG_WAVE_SCRATCH_BASE_LO", GFX12),
    (20, "HW_REG_SCRATCH_BASE_LO", GFX12),
    (21, "HW_REG_SQ_PERF_SNAPSHOT_DATA", GFX9_4),
    (21, "HW_REG_FLAT_SCR_HI", GFX10_11),
    (21, "HW_REG_WAVE_SCRATCH_BASE_HI", GFX12),
    (21, "HW_REG_SCRATCH_BASE_HI", GFX12),
    (22, "HW_REG_SQ_PERF_SNAPSHOT_DATA1", GFX9_4),
    (22, "HW_REG_XNACK_MASK", GFX10_1),
    (23, "HW_REG_SQ_PERF_SNAPSHOT_PC_LO", GFX9_4),
    (23, "HW_REG_WAVE_HW_ID1", GFX12),
    (23, "HW_REG_HW_ID1", RDNA),
    (23, "HW_REG_HW_ID", GFX10),
    (24, "HW_REG_SQ_PERF_SNAPSHOT_PC_HI", GFX9_4),
    (24, "HW_REG_WAVE_HW_ID2", GFX12),
    (24, "HW_REG_HW_ID2", RDNA),
    (25, "HW_REG_POPS_PACKER", GFX10),
    (26, "HW_REG_WAVE_SCHED_MODE", GFX12),
    (27, "HW_REG_PERF_SNAPSHOT_DATA", GFX11),
    (28, "HW_REG_IB_STS2", GFX12_5),
    (29, "HW_REG_SHADER_CYCLES", GFX10_3_11),
    (29, "HW_REG_SHADER_CYCLES_LO", GFX12),
    (30, "HW_REG_SHADER_CYCLES_HI", GFX12),
    (31, "HW_REG_DVGPR_ALLOC_LO", GFX12),
    (32, "HW_REG_DVGPR_ALLOC_HI", GFX12),
    (33, "HW_REG_XNACK_STATE_PRIV", GFX12_5),
    (34, "HW_REG_XNACK_MASK", GFX12_5),
];

/// The immediate of `hwreg(NAME)`, which denotes all 32 bits of a hardware register; `None` if the target has no
/// register with that name.
///
/// ```
/// use gcn_emit::text::whole_hwreg;
/// use gcn_isa::Target;
/// assert_eq!(whole_hwreg(Target::GFX942, "HW_REG_MODE"), Some(1 | 31 << 11));
/// assert_eq!(whole_hwreg(Target::GFX942, "HW_REG_FLAT_SCR_LO"), None);
/// ```
pub fn whole_hwreg(target: Target, name: &str) -> Option<u16> {
    let register = HWREGS.iter().find(|r| r.1 == name && r.2.contains(target))?;
    Some(register.0 | 31 << 11)
}

/// The text `hwreg(NAME, offset, size)` for an immediate: ID in bits 5:0, offset in 10:6, size - 1 in 15:11.
pub(crate) fn hwreg(target: Target, imm: u16) -> String {
    let (id, offset, size) = (imm & 0x3f, imm >> 6 & 0x1f, (imm >> 11) + 1);
    let name = HWREGS.iter().find(|r| r.0 == id && r.2.contains(target));
    let name = name.map_or_else(|| id.to_string(), |r| r.1.to_owned());
    match (offset, size) {
        (0, 32) => format!("hwreg({name})"),
        _ => format!("hwreg({name}, {offset}, {size})"),
    }
}

/// A message of `s_sendmsg`.
pub(crate) struct Message {
    /// The ID in bits 3:0; on RDNA 3 and later, in bits 7:0.
    pub id: u16,
    /// The name.
    pub name: &'static str,
    /// The instruction sets that have the message.
    pub sets: TargetSet,
    /// The operations (bits 6:4); empty if the message has none.
    pub ops: &'static [(u16, &'static str)],
    /// True if operations other than 0 have a stream (bits 9:8).
    pub streams: bool,
}

const GS_OPS: [(u16, &str); 4] =
    [(0, "GS_OP_NOP"), (1, "GS_OP_CUT"), (2, "GS_OP_EMIT"), (3, "GS_OP_EMIT_CUT")];

const SYSTEM_OPS: [(u16, &str); 3] =
    [(1, "SYSMSG_OP_ECC_ERR_INTERRUPT"), (2, "SYSMSG_OP_REG_RD"), (4, "SYSMSG_OP_TTRACE_PC")];

const fn message(id: u16, name: &'static str, sets: TargetSet) -> Message {
    Message { id, name, sets, ops: &[], streams: false }
}

/// The messages, by id. `MSG_GS` has no `GS_OP_NOP`.
pub(crate) const MESSAGES: [Message; 23] = [
    message(1, "MSG_INTERRUPT", GFX9.union(RDNA)),
    Message { id: 2, name: "MSG_GS", sets: UP_TO_10, ops: GS_OPS.split_at(1).1, streams: true },
    message(2, "MSG_HS_TESSFACTOR", GFX11_ON),
    Message { id: 3, name: "MSG_GS_DONE", sets: UP_TO_10, ops: &GS_OPS, streams: true },
    message(3, "MSG_DEALLOC_VGPRS", GFX11_ON),
    message(4, "MSG_SAVEWAVE", UP_TO_10),
    message(5, "MSG_STALL_WAVE_GEN", UP_TO_11),
    message(6, "MSG_HALT_WAVES", UP_TO_11),
    message(7, "MSG_ORDERED_PS_DONE", UP_TO_10),
    message(8, "MSG_EARLY_PRIM_DEALLOC", UP_TO_10),
    message(9, "MSG_GS_ALLOC_REQ", GFX9.union(RDNA)),
    message(10, "MSG_GET_DOORBELL", UP_TO_10),
    message(11, "MSG_GET_DDID", GFX10),
    Message { id: 15, name: "MSG_SYSMSG", sets: UP_TO_10, ops: &SYSTEM_OPS, streams: false },
    message(128, "MSG_RTN_GET_DOORBELL", GFX11_ON),
    message(129, "MSG_RTN_GET_DDID", GFX11_ON),
    message(130, "MSG_RTN_GET_TMA", GFX11_ON),
    message(131, "MSG_RTN_GET_REALTIME", GFX11_ON),
    message(132, "MSG_RTN_SAVE_WAVE", GFX11_ON),
    message(133, "MSG_RTN_GET_TBA", GFX11_ON),
    message(134, "MSG_RTN_GET_TBA_TO_PC", GFX11_ON),
    message(135, "MSG_RTN_GET_SE_AID_ID", GFX12),
    message(136, "MSG_RTN_GET_CLUSTER_BARRIER_STATE", GFX12_5),
];

/// The messages of an instruction set.
pub(crate) fn messages(set: InstructionSet) -> impl Iterator<Item = &'static Message> {
    MESSAGES.iter().filter(move |message| message.sets.has(set))
}

/// The number of message IDs on targets where messages have operations: up to RDNA 2.
const MESSAGE_IDS: u16 = 16;

/// The number of message IDs of a generation.
pub(crate) const fn message_ids(generation: Generation) -> u16 {
    match generation {
        Generation::GFX9 | Generation::GFX10 => MESSAGE_IDS,
        Generation::GFX11 | Generation::GFX12 => 256,
    }
}

/// The text `sendmsg(…)` for an immediate; a plain number if the immediate has other bits set.
pub(crate) fn sendmsg(imm: u16, set: InstructionSet) -> String {
    let generation = set.generation();
    if message_ids(generation) > MESSAGE_IDS {
        let named = messages(set).find(|m| m.id == imm).filter(|m| m.ops.is_empty());
        return match named {
            Some(message) => format!("sendmsg({})", message.name),
            None if imm >= message_ids(generation) => imm.to_string(),
            None => format!("sendmsg({imm}, 0, 0)"),
        };
    }
    let (id, op, stream) = (imm & 0xf, imm >> 4 & 7, imm >> 8 & 3);
    if imm & !0x37f != 0 {
        return imm.to_string();
    }
    let symbolic = messages(set).find(|m| m.id == id).and_then(|m| {
        if m.ops.is_empty() {
            return (op == 0 && stream == 0).then(|| format!("sendmsg({})", m.name));
        }
        let name = m.ops.iter().find(|o| o.0 == op)?.1;
        match (m.streams && op != 0, stream) {
            (true, _) => Some(format!("sendmsg({}, {name}, {stream})", m.name)),
            (false, 0) => Some(format!("sendmsg({}, {name})", m.name)),
            (false, _) => None,
        }
    });
    symbolic.unwrap_or_else(|| format!("sendmsg({id}, {op}, {stream})"))
}

/// The operands to which `s_set_gpr_idx_on` and `s_set_gpr_idx_mode` apply the index, by bit.
pub(crate) const GPR_IDX_MODES: [&str; 4] = ["SRC0", "SRC1", "SRC2", "DST"];

/// The text `gpr_idx(…)` for an immediate.
pub(crate) fn gpr_idx(imm: u16) -> String {
    if imm > 0xf {
        return format!("{imm:#x}");
    }
    let names: Vec<&str> =
        GPR_IDX_MODES.iter().enumerate().filter(|(bit, _)| imm >> bit & 1 == 1).map(|(_, n)| *n).collect();
    format!("gpr_idx({})", names.join(","))
}

/// The data formats of MTBUF, by `dfmt`.
pub(crate) const DATA_FORMATS: [&str; 16] = [
    "BUF_DATA_FORMAT_INVALID",
    "BUF_DATA_FORMAT_8",
    "BUF_DATA_FORMAT_16",
    "BUF_DATA_FORMAT_8_8",
    "BUF_DATA_FORMAT_32",
    "BUF_DATA_FORMAT_16_16",
    "BUF_DATA_FORMAT_10_11_11",
    "BUF_DATA_FORMAT_11_11_10",
    "BUF_DATA_FORMAT_10_10_10_2",
    "BUF_DATA_FORMAT_2_10_10_10",
    "BUF_DATA_FORMAT_8_8_8_8",
    "BUF_DATA_FORMAT_32_32",
    "BUF_DATA_FORMAT_16_16_16_16",
    "BUF_DATA_FORMAT_32_32_32",
    "BUF_DATA_FORMAT_32_32_32_32",
    "BUF_DATA_FORMAT_RESERVED_15",
];

/// The number formats of MTBUF, by `nfmt`.
pub(crate) const NUM_FORMATS: [&str; 8] = [
    "BUF_NUM_FORMAT_UNORM",
    "BUF_NUM_FORMAT_SNORM",
    "BUF_NUM_FORMAT_USCALED",
    "BUF_NUM_FORMAT_SSCALED",
    "BUF_NUM_FORMAT_UINT",
    "BUF_NUM_FORMAT_SINT",
    "BUF_NUM_FORMAT_RESERVED_6",
    "BUF_NUM_FORMAT_FLOAT",
];

/// The text `format:[…]` for an MTBUF format (dfmt in bits 3:0, nfmt in 6:4); `None` for the default, 8-bit UNORM.
pub(crate) fn buffer_format(format: u8) -> Option<String> {
    let (data, num) = (format & 0xf, format >> 4 & 7);
    let names: Vec<&str> =
        [(data != 1, DATA_FORMATS[usize::from(data)]), (num != 0, NUM_FORMATS[usize::from(num)])]
            .into_iter()
            .filter(|n| n.0)
            .map(|n| n.1)
            .collect();
    (!names.is_empty()).then(|| format!("format:[{}]", names.join(",")))
}

/// Data formats from 1 on, and number formats: their parts of the format names on RDNA.
const UNIFIED_DATA: [&str; 14] = [
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
];
const UNIFIED_NUMBERS: [&str; 8] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "", "FLOAT"];

/// The names of the formats of typed buffers on RDNA, by number.
fn unified_formats(generation: Generation) -> Vec<String> {
    let name = |(data, number): (u8, u8)| {
        let (data, number) = (UNIFIED_DATA[usize::from(data) - 1], UNIFIED_NUMBERS[usize::from(number)]);
        format!("BUF_FMT_{data}_{number}")
    };
    std::iter::once("BUF_FMT_INVALID".to_owned()).chain(unified(generation).map(name)).collect()
}

/// The number of the RDNA format with this name; `None` if there is none.
pub(crate) fn unified_format_named(name: &str, generation: Generation) -> Option<u8> {
    if generation == Generation::GFX9 {
        return None;
    }
    unified_formats(generation).iter().position(|format| format == name).and_then(|at| u8::try_from(at).ok())
}

/// The text `format:[…]` for a typed buffer instruction of RDNA; `None` for the default, 8-bit UNORM.
pub(crate) fn unified_format(format: u8, generation: Generation) -> Option<String> {
    match unified_formats(generation).get(usize::from(format)) {
        _ if format == 1 => None,
        Some(name) => Some(format!("format:[{name}]")),
        None => Some(format!("format:{format}")),
    }
}

/// The text `swizzle(…)` for a `ds_swizzle_b32` offset; the number if no symbolic form has exactly these bits.
pub(crate) fn swizzle(offset: u16) -> String {
    let symbolic = match offset >> 13 {
        0..=3 => Some(bitmask_swizzle(offset)),
        4 => Some(format!(
            "swizzle(QUAD_PERM,{},{},{},{})",
            offset & 3,
            offset >> 2 & 3,
            offset >> 4 & 3,
            offset >> 6 & 3
        )),
        6 => Some(format!("swizzle(ROTATE,{},{})", offset >> 10 & 1, offset >> 5 & 0x1f)),
        7 => Some(format!("swizzle(FFT,{})", offset & 0x1f)),
        _ => None,
    };
    symbolic.filter(|text| parse_swizzle(text) == Some(offset)).unwrap_or_else(|| offset.to_string())
}

/// The text for lane masks: new lane = ((lane & and) | or) ^ xor.
fn bitmask_swizzle(offset: u16) -> String {
    let (and, or, xor) = (offset & 0x1f, offset >> 5 & 0x1f, offset >> 10 & 0x1f);
    if and == 0x1f && or == 0 && xor.is_power_of_two() {
        return format!("swizzle(SWAP,{xor})");
    }
    if and == 0x1f && or == 0 && (xor + 1).is_power_of_two() && xor != 0 {
        return format!("swizzle(REVERSE,{})", xor + 1);
    }
    let group = 0x20 - and;
    if xor == 0 && group.is_power_of_two() && group > 1 && or < group {
        return format!("swizzle(BROADCAST,{group},{or})");
    }
    let mut text = String::from("swizzle(BITMASK_PERM,\"");
    for bit in (0..5).rev() {
        let of_lane_bit = |lane: u16| (lane & and >> bit & 1 | or >> bit & 1) ^ xor >> bit & 1;
        let _ = text.write_char(match (of_lane_bit(0), of_lane_bit(1)) {
            (0, 0) => '0',
            (1, 1) => '1',
            (0, _) => 'p',
            _ => 'i',
        });
    }
    text.push_str("\")");
    text
}

/// Parses the offset of a `swizzle(…)` text; `None` if it is not valid.
pub(crate) fn parse_swizzle(text: &str) -> Option<u16> {
    let arguments = text.trim().strip_prefix("swizzle")?.trim_start().strip_prefix('(')?.strip_suffix(')')?;
    let mut words = arguments.split(',').map(str::trim);
    let mode = words.next()?;
    if mode == "BITMASK_PERM" {
        return bitmask_offset(words.next()?).filter(|_| words.next().is_none());
    }
    let numbers: Vec<u16> = words.map(|w| w.parse().ok()).collect::<Option<_>>()?;
    let group = |n: u16, least| n.is_power_of_two() && (least..=32).contains(&n);
    match (mode, numbers.as_slice()) {
        ("QUAD_PERM", &[a, b, c, d]) if [a, b, c, d].iter().all(|n| *n < 4) => {
            Some(0x8000 | a | b << 2 | c << 4 | d << 6)
        }
        ("SWAP", &[n]) if group(n, 1) && n < 32 => Some(n << 10 | 0x1f),
        ("REVERSE", &[n]) if group(n, 2) => Some((n - 1) << 10 | 0x1f),
        ("BROADCAST", &[n, lane]) if group(n, 2) && lane < n => Some(lane << 5 | (0x20 - n)),
        ("ROTATE", &[direction, amount]) if direction < 2 && amount < 32 => {
            Some(0xc000 | direction << 10 | amount << 5)
        }
        ("FFT", &[n]) if n < 32 => Some(0xe000 | n),
        _ => None,
    }
}

pub(crate) fn bitmask_offset(quoted: &str) -> Option<u16> {
    let mask = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if mask.len() != 5 {
        return None;
    }
    mask.chars().enumerate().try_fold(0, |offset, (i, c)| {
        let bit = 1 << (4 - i);
        let (and, or, xor) = match c {
            '0' => (0, 0, 0),
            '1' => (0, bit, 0),
            'p' => (bit, 0, 0),
            'i' => (bit, 0, bit),
            _ => return None,
        };
        Some(offset | and | or << 5 | xor << 10)
    })
}

/// The text of a DPP control, for an instruction that accepts the controls in `among`.
pub(crate) fn dpp_control(ctrl: u16, among: DppControls) -> String {
    if ctrl <= 0xff {
        let lane = |i: u16| ctrl >> (2 * i) & 3;
        return format!("quad_perm:[{},{},{},{}]", lane(0), lane(1), lane(2), lane(3));
    }
    match dpp_word(ctrl, among) {
        Some((word, _)) if matches!(word.form, Form::Flag(_)) => word.name.to_owned(),
        Some((word, number)) => format!("{}:{number}", word.name),
        None => format!("dpp_ctrl:{ctrl:#x}"),
    }
}

/// The temporal hint that the bits of the modifiers mean, which also depends on the scope.
pub(super) fn hint(desc: &InstDesc, mods: &Mods) -> Option<TemporalHints> {
    let means = |hint: &&(TemporalHints, u8, Option<u8>)| {
        hint.1 == mods.th && hint.2.is_none_or(|scope| scope == mods.scope) && desc.hints.contains(hint.0)
    };
    HINTS.iter().find(means).map(|hint| hint.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swizzle_text_means_its_offset() {
        for offset in 0..=u16::MAX {
            let text = swizzle(offset);
            assert_eq!(parse_swizzle(&text).or_else(|| text.parse().ok()), Some(offset), "{text}");
        }
    }

    #[test]
    fn dpp_controls_have_distinct_texts() {
        let rdna = DppControls::ROW_SHARE | DppControls::ROW_XMASK;
        for among in [rdna, DppControls::all().difference(rdna)] {
            let controls = (0..0x200).filter(|c| dpp_word(*c, among).is_some());
            let mut texts: Vec<String> = controls.map(|c| dpp_control(c, among)).collect();
            let count = texts.len();
            texts.sort();
            texts.dedup();
            assert!(count > 30 && texts.len() == count);
        }
    }
}
