//! Every bit of a kernel descriptor with its name and meaning, for display.
//!
//! Rows: LLVM AMDGPU guide, *Code Object V3 Kernel Descriptor*, *compute_pgm_rsrc1 for GFX6-GFX11*, *compute_pgm_rsrc2
//! for GFX6-GFX11*, *compute_pgm_rsrc3* for GFX90A, GFX940, for GFX10-GFX11 and for GFX12; the kernarg preload fields
//! are those of later guides, and those of gfx12.5 are in LLVM 22's `AMDHSAKernelDescriptor.h`. Fields that a target does not have are reserved there.

use std::fmt::Write as _;

use gcn_isa::{Target, WaveSize};
use serde::Serialize;

use super::on::On;
use super::{DESCRIPTOR_BYTES, KernelDescriptor};

/// A field of a kernel descriptor with its value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DescribedField {
    /// The name in the guide, or `RESERVED_` and the first bit if it has none.
    pub name: String,
    /// The first bit in the descriptor, 0 to 511.
    pub first_bit: u32,
    /// The number of bits, at most 64.
    pub bits: u32,
    /// The bits as an unsigned number.
    pub value: u64,
    /// The meaning of the value on the target, with units; empty for reserved bits.
    pub meaning: String,
    /// True if the bits must be zero: they are reserved, or only the command processor sets them.
    pub must_be_zero: bool,
}

impl DescribedField {
    /// True if the bits must be zero but are not.
    pub fn is_wrong(&self) -> bool {
        self.must_be_zero && self.value != 0
    }
}

/// How a value is interpreted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// A number with its unit.
    Number(&'static str),
    /// The distance in bytes from the descriptor to the code, signed.
    Entry,
    VgprBlocks,
    SgprBlocks,
    Rounding,
    Denormals,
    WorkItems,
    AccumOffset,
    SharedVgprs,
    InstPref,
    /// The meanings of 0 and 1.
    Flag(&'static str, &'static str),
    /// Reserved, or set by the command processor: a description.
    Zero(&'static str),
}

/// First bit, number of bits, name, targets, interpretation.
type Row = (u32, u32, &'static str, On, Reading);

use On::{
    All, CountedSgprs, Dx10Clamp, ForwardProgress, KernargPreload, NamedBarriers, NotArchitected, TgSplit,
    Unified, WorkgroupProcessors,
};
use Reading as R;

const NOT: &str = "not set up";
const TRAP: (&str, &str) = ("does not trap", "traps");

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (0, 32, "GROUP_SEGMENT_FIXED_SIZE", All, R::Number("bytes of LDS for a workgroup, without what the launch adds")),
    (32, 32, "PRIVATE_SEGMENT_FIXED_SIZE", All, R::Number("bytes of scratch for a work-item")),
    (64, 32, "KERNARG_SIZE", All, R::Number("bytes of kernel arguments; 0 if unspecified")),
    (96, 32, "", All, R::Zero("")),
    (128, 64, "KERNEL_CODE_ENTRY_BYTE_OFFSET", All, R::Entry),
    (192, 64, "", All, R::Zero("")),
    (256, 64, "", All, R::Zero("")),
    (320, 32, "", All, R::Zero("")),
    // COMPUTE_PGM_RSRC3
    (352, 6, "ACCUM_OFFSET", Unified, R::AccumOffset),
    (352, 4, "SHARED_VGPR_COUNT", On::SharedVgprs, R::SharedVgprs),
    (352, 4, "", ForwardProgress, R::Zero("")),
    (356, 6, "INST_PREF_SIZE", On::InstPref(6), R::InstPref),
    (356, 8, "INST_PREF_SIZE", On::InstPref(8), R::InstPref),
    (358, 10, "", All, R::Zero("")),
    (362, 1, "TRAP_ON_START", All, R::Zero("traps before the first instruction, set by the command processor")),
    (363, 1, "TRAP_ON_END", All, R::Zero("traps before the last instruction, set by the command processor")),
    (364, 2, "", NamedBarriers, R::Zero("")),
    (364, 4, "", All, R::Zero("")),
    (366, 3, "NAMED_BAR_CNT", NamedBarriers, R::Number("blocks of 4 named barriers for a workgroup")),
    (368, 1, "TG_SPLIT", TgSplit, R::Flag("the waves of a workgroup run on one compute unit", "the waves of a workgroup may run on different compute units")),
    (369, 15, "", All, R::Zero("")),
    // COMPUTE_PGM_RSRC1
    (384, 6, "GRANULATED_WORKITEM_VGPR_COUNT", All, R::VgprBlocks),
    (390, 4, "GRANULATED_WAVEFRONT_SGPR_COUNT", CountedSgprs, R::SgprBlocks),
    (394, 2, "PRIORITY", All, R::Zero("priority of the wave, set by the command processor")),
    (396, 2, "FLOAT_ROUND_MODE_32", All, R::Rounding),
    (398, 2, "FLOAT_ROUND_MODE_16_64", All, R::Rounding),
    (400, 2, "FLOAT_DENORM_MODE_32", All, R::Denormals),
    (402, 2, "FLOAT_DENORM_MODE_16_64", All, R::Denormals),
    (404, 1, "PRIV", All, R::Zero("starts in the privileged mode of the trap handler, set by the command processor")),
    (405, 1, "ENABLE_DX10_CLAMP", Dx10Clamp, R::Flag("clamp passes NaN through", "clamp turns NaN into zero")),
    (405, 1, "WG_RR_EN", On::RoundRobin, R::Flag("the oldest wave of a SIMD goes first", "the waves of a SIMD take turns")),
    (406, 1, "DEBUG_MODE", All, R::Zero("starts in single-step mode, set by the command processor")),
    (407, 1, "ENABLE_IEEE_MODE", Dx10Clamp, R::Flag("signaling NaNs are not quieted", "signaling NaNs are quieted and propagated (IEEE 754-2008)")),
    (408, 1, "BULKY", All, R::Zero("one workgroup on a compute unit, set by the command processor")),
    (409, 1, "CDBG_USER", All, R::Zero("flag for debug code, set by the command processor")),
    (410, 1, "FP16_OVFL", All, R::Flag("f16 overflow gives infinity", "f16 overflow gives the largest finite number")),
    (411, 2, "", All, R::Zero("")),
    (413, 1, "WGP_MODE", WorkgroupProcessors, R::Flag("a workgroup runs on one compute unit", "a workgroup may run on both compute units of a workgroup processor")),
    (414, 1, "MEM_ORDERED", ForwardProgress, R::Flag("samples may return before older loads", "loads and samples return in order")),
    (415, 1, "FWD_PROGRESS", ForwardProgress, R::Flag("the oldest wave of a SIMD goes first", "each wave of a SIMD makes progress")),
    // COMPUTE_PGM_RSRC2
    (416, 1, "ENABLE_PRIVATE_SEGMENT", All, R::Flag("no scratch", "scratch is set up")),
    (417, 5, "USER_SGPR_COUNT", On::MostUserSgprs(16), R::Number("user SGPRs")),
    (417, 6, "USER_SGPR_COUNT", On::MostUserSgprs(32), R::Number("user SGPRs")),
    (422, 1, "ENABLE_TRAP_HANDLER", All, R::Zero("there is a trap handler, set by the command processor")),
    (423, 1, "ENABLE_SGPR_WORKGROUP_ID_X", All, R::Flag(NOT, "1 SGPR set up")),
    (424, 1, "ENABLE_SGPR_WORKGROUP_ID_Y", All, R::Flag(NOT, "1 SGPR set up")),
    (425, 1, "ENABLE_SGPR_WORKGROUP_ID_Z", All, R::Flag(NOT, "1 SGPR set up")),
    (426, 1, "ENABLE_SGPR_WORKGROUP_INFO", All, R::Flag(NOT, "1 SGPR set up")),
    (427, 2, "ENABLE_VGPR_WORKITEM_ID", All, R::WorkItems),
    (429, 1, "ENABLE_EXCEPTION_ADDRESS_WATCH", All, R::Zero("address watch traps, set by the command processor")),
    (430, 1, "ENABLE_EXCEPTION_MEMORY", All, R::Zero("memory violations trap, set by the command processor")),
    (431, 9, "GRANULATED_LDS_SIZE", All, R::Zero("LDS of a workgroup, set by the command processor")),
    (440, 1, "ENABLE_EXCEPTION_IEEE_754_FP_INVALID_OPERATION", All, R::Flag(TRAP.0, TRAP.1)),
    (441, 1, "ENABLE_EXCEPTION_FP_DENORMAL_SOURCE", All, R::Flag(TRAP.0, TRAP.1)),
    (442, 1, "ENABLE_EXCEPTION_IEEE_754_FP_DIVISION_BY_ZERO", All, R::Flag(TRAP.0, TRAP.1)),
    (443, 1, "ENABLE_EXCEPTION_IEEE_754_FP_OVERFLOW", All, R::Flag(TRAP.0, TRAP.1)),
    (444, 1, "ENABLE_EXCEPTION_IEEE_754_FP_UNDERFLOW", All, R::Flag(TRAP.0, TRAP.1)),
    (445, 1, "ENABLE_EXCEPTION_IEEE_754_FP_INEXACT", All, R::Flag(TRAP.0, TRAP.1)),
    (446, 1, "ENABLE_EXCEPTION_INT_DIVIDE_BY_ZERO", All, R::Flag(TRAP.0, TRAP.1)),
    (447, 1, "", All, R::Zero("")),
    // KERNEL_CODE_PROPERTIES
    (448, 1, "ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER", NotArchitected, R::Flag(NOT, "4 SGPRs set up")),
    (449, 1, "ENABLE_SGPR_DISPATCH_PTR", All, R::Flag(NOT, "2 SGPRs set up")),
    (450, 1, "ENABLE_SGPR_QUEUE_PTR", All, R::Flag(NOT, "2 SGPRs set up")),
    (451, 1, "ENABLE_SGPR_KERNARG_SEGMENT_PTR", All, R::Flag(NOT, "2 SGPRs set up")),
    (452, 1, "ENABLE_SGPR_DISPATCH_ID", All, R::Flag(NOT, "2 SGPRs set up")),
    (453, 1, "ENABLE_SGPR_FLAT_SCRATCH_INIT", NotArchitected, R::Flag(NOT, "2 SGPRs set up")),
    (454, 1, "ENABLE_SGPR_PRIVATE_SEGMENT_SIZE", All, R::Flag(NOT, "1 SGPR set up")),
    (455, 3, "", All, R::Zero("")),
    (458, 1, "ENABLE_WAVEFRONT_SIZE32", On::Wave32, R::Flag("waves of 64 lanes", "waves of 32 lanes")),
    (459, 1, "USES_DYNAMIC_STACK", All, R::Flag("the stack has a fixed size", "the stack has no fixed size")),
    (460, 4, "", All, R::Zero("")),
    (464, 7, "KERNARG_PRELOAD_SPEC_LENGTH", KernargPreload, R::Number("dwords of kernel arguments in SGPRs when the kernel starts")),
    (471, 9, "KERNARG_PRELOAD_SPEC_OFFSET", KernargPreload, R::Number("dwords of kernel arguments before the first of those")),
    (480, 32, "", All, R::Zero("")),
];

impl KernelDescriptor {
    /// Every field of a descriptor, in the order of its bits, reserved bits included.
    ///
    /// ```
    /// use gcn_emit::descriptor::KernelDescriptor;
    /// use gcn_isa::Target;
    ///
    /// let mut bytes = [0; 64];
    /// bytes[44] = 7;
    /// bytes[96 / 8] = 1;
    /// let fields = KernelDescriptor::describe(&bytes, Target::GFX90A);
    /// let accum = fields.iter().find(|f| f.name == "ACCUM_OFFSET").unwrap();
    /// assert_eq!((accum.value, accum.meaning.as_str()), (7, "first AGPR is register 32 of the file"));
    /// let wrong: Vec<_> = fields.iter().filter(|f| f.is_wrong()).map(|f| f.name.as_str()).collect();
    /// assert_eq!(wrong, ["RESERVED_96"]);
    /// ```
    pub fn describe(bytes: &[u8; DESCRIPTOR_BYTES], target: Target) -> Vec<DescribedField> {
        let wave = KernelDescriptor::from_bytes(bytes).wave(target);
        rows(target).map(|row| describe(bytes, target, wave, row)).collect()
    }
}

/// The rows for a target, which cover each bit exactly once. Of several rows that begin at the same bit, the row of a field that the target
/// has is used; if there is none, the first row.
fn rows(target: Target) -> impl Iterator<Item = &'static Row> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let here = || ROWS.iter().filter(move |row| row.0 == next);
        let row = here().find(|row| row.3.has(target)).or_else(|| here().next())?;
        next += row.1;
        Some(row)
    })
}

fn describe(
    bytes: &[u8; DESCRIPTOR_BYTES],
    target: Target,
    wave: WaveSize,
    &(first_bit, bits, name, on, reading): &Row,
) -> DescribedField {
    let value = (0..bits).fold(0u64, |value, i| {
        let bit = (first_bit + i) as usize;
        value | u64::from(bytes[bit / 8] >> (bit % 8) & 1) << i
    });
    let exists = on.has(target);
    let must_be_zero = !exists || matches!(reading, R::Zero(_));
    let name = if name.is_empty() { format!("RESERVED_{first_bit}") } else { name.to_owned() };
    let meaning = match reading {
        _ if !exists => format!("not on {target}"),
        reading => meaning(reading, value, target, wave),
    };
    DescribedField { name, first_bit, bits, value, meaning, must_be_zero }
}

fn meaning(reading: Reading, value: u64, target: Target, wave: WaveSize) -> String {
    let mut out = String::new();
    let _ = match reading {
        R::Number(unit) => write!(out, "{value} {unit}"),
        R::Entry => write!(out, "the code is {} bytes from the descriptor", value as i64),
        R::VgprBlocks => {
            let file = if target.has_unified_agprs() { " together with AGPRs" } else { "" };
            write!(
                out,
                "{} VGPRs{file} of a work-item",
                (value + 1) * u64::from(target.vgpr_file(wave).block)
            )
        }
        R::SgprBlocks => write!(out, "{} SGPRs of a wave", (value + 1) * u64::from(super::SGPR_BLOCK)),
        R::SharedVgprs => write!(out, "{} VGPRs shared by the halves of a wave", value * 8),
        R::InstPref => write!(out, "{} bytes of code are fetched before a wave starts", value * 128),
        R::AccumOffset => write!(out, "first AGPR is register {} of the file", (value + 1) * 4),
        R::Rounding => {
            let modes = ["to nearest, ties to even", "toward +infinity", "toward -infinity", "toward zero"];
            write!(out, "{}", modes[(value & 3) as usize])
        }
        R::Denormals => {
            let modes =
                ["flushed when read and written", "flushed when written", "flushed when read", "kept"];
            write!(out, "{}", modes[(value & 3) as usize])
        }
        R::WorkItems => {
            let ids = ["x", "x and y", "x, y and z", "undefined"];
            write!(out, "{}", ids[(value & 3) as usize])
        }
        R::Flag(clear, set) => write!(out, "{}", if value == 0 { clear } else { set }),
        R::Zero(what) => write!(out, "{what}"),
    };
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_cover_every_bit_once() {
        for target in Target::KNOWN {
            let mut next = 0;
            for (first, bits, name, ..) in rows(target) {
                assert_eq!(*first, next, "{name} of {target}");
                assert!(*bits <= 64);
                next += bits;
            }
            assert_eq!(next as usize, DESCRIPTOR_BYTES * 8, "{target}");
        }
    }

    #[test]
    fn rows_lie_where_the_fields_that_are_written_lie() {
        use super::super::Field;
        for field in Field::ALL {
            let first = field.word.first_bit() as u32 + u32::from(field.lo);
            // A `Field` may contain several flags, each of which has a row here.
            let mut here = ROWS.iter().filter(|row| row.0 == first);
            assert!(
                here.any(|row| {
                    (row.1, row.2) == (u32::from(field.bits), field.name)
                        || matches!(field.name, "EXCEPTIONS" | "USER_SGPRS")
                }),
                "{field:?}"
            );
        }
    }
}
