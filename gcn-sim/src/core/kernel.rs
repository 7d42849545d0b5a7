//! The settings in a kernel descriptor, and the initial register state that they define.

use gcn_isa::Target;
use gcn_isa::target::WaveSize;

use crate::core::error::LaunchError;
use crate::core::wave::Mode;

/// Inputs that a kernel requests in its first SGPRs, in the order of these fields; each takes the given number of SGPRs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UserSgprs {
    /// The scratch buffer resource (4 SGPRs).
    pub private_segment_buffer: bool,
    /// The address of the dispatch packet (2).
    pub dispatch_ptr: bool,
    /// The address of the queue (2).
    pub queue_ptr: bool,
    /// The address of the kernel's arguments (2).
    pub kernarg_segment_ptr: bool,
    /// The dispatch ID (2).
    pub dispatch_id: bool,
    /// The initial value of `FLAT_SCRATCH` (2).
    pub flat_scratch_init: bool,
    /// The scratch size of a work-item in bytes (1).
    pub private_segment_size: bool,
}

/// The floating-point state at the start of a kernel. The default is the assembler's: round to nearest even, flush f32 denormals, keep f16
/// and f64 denormals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatMode {
    /// The rounding mode of f32: 0 nearest even, 1 up, 2 down, 3 towards zero.
    pub round_32: u8,
    /// The rounding mode of f16 and f64.
    pub round_16_64: u8,
    /// Denormals of f32: bit 0 keeps inputs, bit 1 keeps results.
    pub denorm_32: u8,
    /// Denormals of f16 and f64.
    pub denorm_16_64: u8,
    /// If true, an f16 result or a conversion to fp8 that overflows becomes the largest finite value (`FP16_OVFL`).
    pub fp16_overflow: bool,
}

impl Default for FloatMode {
    fn default() -> FloatMode {
        FloatMode { round_32: 0, round_16_64: 0, denorm_32: 0, denorm_16_64: 3, fp16_overflow: false }
    }
}

/// The settings of a kernel descriptor. The default is a kernel that gets its kernarg pointer in `s[0:1]` and the workgroup ID x in `s2`,
/// and may use every register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelState {
    /// The inputs in the first SGPRs.
    pub user_sgprs: UserSgprs,
    /// The number of user SGPRs, at least as many as [`UserSgprs`] needs. The workgroup IDs are in the SGPRs after them.
    pub user_sgpr_count: u8,
    /// The dimensions whose workgroup IDs follow the user SGPRs.
    pub workgroup_id: [bool; 3],
    /// True if the SGPR after the workgroup IDs contains the workgroup info.
    pub workgroup_info: bool,
    /// True if the next SGPR contains the scratch offset of the wave (only on targets without architected flat scratch).
    pub private_segment_wave_offset: bool,
    /// The work-item IDs that are passed in VGPRs: 0 = x, 1 = x and y, 2 = all.
    pub workitem_id: u8,
    /// The wave size.
    pub wave_size: WaveSize,
    /// The number of allocated VGPRs.
    pub vgprs: u32,
    /// The number of allocated AGPRs (`AccVGPRs`).
    pub agprs: u32,
    /// The number of allocated SGPRs, without VCC and the other named registers.
    pub sgprs: u32,
    /// The LDS size of a workgroup in bytes, including dynamic LDS.
    pub lds_bytes: u32,
    /// The scratch size of a work-item in bytes.
    pub private_bytes: u32,
    /// True if the waves of a workgroup may run on different compute units (`.amdhsa_tg_split`). Then a wave sees another wave's store only
    /// after the store has completed.
    pub tg_split: bool,
    /// True if the waves of a workgroup may run on both compute units of a workgroup processor (`.amdhsa_workgroup_processor_mode`).
    pub workgroup_processors: bool,
    /// The floating-point state.
    pub float_mode: FloatMode,
    /// True if clamping turns NaN into 0.
    pub dx10_clamp: bool,
    /// True if IEEE mode is on.
    pub ieee_mode: bool,
    /// The dwords of the kernarg segment that are loaded into the SGPRs after those of [`UserSgprs`].
    pub kernarg_preload: Preload,
}

/// A range of the kernarg segment that is already in SGPRs when a kernel starts (LLVM AMDGPU guide, "Preloaded Kernel Arguments").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Preload {
    /// The index of the first dword.
    pub offset: u16,
    /// The number of dwords; 0 for none.
    pub length: u8,
}

/// The size in bytes of the compatibility prologue of a kernel with preloaded arguments. The prologue loads the arguments for firmware that
/// cannot preload them; other firmware starts the kernel after the prologue.
pub(crate) const PRELOAD_PROLOGUE: u64 = 256;

/// The maximum scratch size of a work-item in bytes. A field of 13 bits (`COMPUTE_TMPRING_SIZE.WAVESIZE`) holds the scratch size of a wave
/// in KiB, and a wave has 64 work-items. LLVM reports the same limit for stack frames that exceed it.
pub(crate) const MAX_SCRATCH: u32 = ((1 << 13) - 1) * 1024 / 64;

/// The base address in the scratch buffer resource. An access through this resource goes to the scratch of the accessing wave.
pub(crate) const SCRATCH_WINDOW: u64 = 0x0000_6000_0000_0000;

/// The scratch buffer resource (LLVM AMDGPU guide, "Private Segment Buffer"): without a size limit, and swizzled with the lane as the
/// index, so that the same dwords of 64 lanes are adjacent.
const SCRATCH_RESOURCE: [u32; 4] = [
    SCRATCH_WINDOW as u32,
    (SCRATCH_WINDOW >> 32) as u32 | 1 << 31,
    u32::MAX,
    1 << 23 | 3 << 21 | 1 << 19 | 0xfac,
];

impl Default for KernelState {
    fn default() -> KernelState {
        KernelState {
            user_sgprs: UserSgprs { kernarg_segment_ptr: true, ..UserSgprs::default() },
            user_sgpr_count: 2,
            workgroup_id: [true, false, false],
            workgroup_info: false,
            private_segment_wave_offset: false,
            workitem_id: 0,
            wave_size: WaveSize::W64,
            vgprs: 256,
            agprs: 256,
            sgprs: 102,
            lds_bytes: 0,
            private_bytes: 0,
            tg_split: false,
            workgroup_processors: false,
            float_mode: FloatMode::default(),
            dx10_clamp: true,
            ieee_mode: true,
            kernarg_preload: Preload::default(),
        }
    }
}

/// `count` bits of a word, from bit `low` on.
fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

impl KernelState {
    /// Reads a 64-byte kernel descriptor (LLVM AMDGPU guide, "Kernel Descriptor").
    ///
    /// # Errors
    /// [`LaunchError::DescriptorSize`] if `bytes` is not 64 bytes long.
    pub fn from_descriptor(bytes: &[u8], target: Target) -> Result<KernelState, LaunchError> {
        let bytes: &[u8; 64] = bytes.try_into().map_err(|_| LaunchError::DescriptorSize(bytes.len()))?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (rsrc3, rsrc1, rsrc2) = (word(44), word(48), word(52));
        let properties = u32::from(bytes[56]) | u32::from(bytes[57]) << 8;
        let preload = u32::from(bytes[58]) | u32::from(bytes[59]) << 8;
        let property = |bit: u32| properties >> bit & 1 == 1;
        let wave_size = target.wave_size_of(property(10));
        let file = target.vgpr_file(wave_size);
        let vector = ((bits(rsrc1, 0, 6) + 1) * file.block).next_multiple_of(file.granule);
        let (vgprs, agprs) = if target.has_unified_agprs() {
            let offset = (bits(rsrc3, 0, 6) + 1) * 4;
            (offset.min(vector).min(256), vector.saturating_sub(offset).min(256))
        } else {
            (vector.min(target.addressable_vgprs()), if target.has_agprs() { vector.min(256) } else { 0 })
        };
        Ok(KernelState {
            user_sgprs: UserSgprs {
                private_segment_buffer: property(0),
                dispatch_ptr: property(1),
                queue_ptr: property(2),
                kernarg_segment_ptr: property(3),
                dispatch_id: property(4),
                flat_scratch_init: property(5),
                private_segment_size: property(6),
            },
            // The field is as wide as the largest number needs, and one bit more.
            user_sgpr_count: bits(rsrc2, 1, target.most_user_sgprs().ilog2() + 1) as u8,
            workgroup_id: [7, 8, 9].map(|bit| bits(rsrc2, bit, 1) == 1 && !target.has_ids_in_ttmps()),
            workgroup_info: bits(rsrc2, 10, 1) == 1 && !target.has_ids_in_ttmps(),
            private_segment_wave_offset: bits(rsrc2, 0, 1) == 1 && !target.has_architected_flat_scratch(),
            workitem_id: bits(rsrc2, 11, 2) as u8,
            wave_size,
            vgprs,
            agprs,
            // GFX9 allocates SGPRs in blocks of 16. The block count includes VCC and the other named registers.
            sgprs: if target.counts_sgprs() {
                ((bits(rsrc1, 6, 4) / 2 + 1) * 16).min(target.addressable_sgprs())
            } else {
                target.addressable_sgprs()
            },
            lds_bytes: word(0),
            private_bytes: word(4),
            tg_split: target.has_tg_split() && bits(rsrc3, 16, 1) == 1,
            workgroup_processors: target.has_workgroup_processors() && bits(rsrc1, 29, 1) == 1,
            float_mode: FloatMode {
                round_32: bits(rsrc1, 12, 2) as u8,
                round_16_64: bits(rsrc1, 14, 2) as u8,
                denorm_32: bits(rsrc1, 16, 2) as u8,
                denorm_16_64: bits(rsrc1, 18, 2) as u8,
                fp16_overflow: bits(rsrc1, 26, 1) == 1,
            },
            // On targets without these settings, clamping turns NaN into 0, and minimum and maximum follow IEEE 754-2019.
            dx10_clamp: bits(rsrc1, 21, 1) == 1 || !target.has_dx10_clamp(),
            ieee_mode: bits(rsrc1, 23, 1) == 1 && target.has_dx10_clamp(),
            kernarg_preload: Preload {
                length: bits(preload, 0, 7) as u8,
                offset: bits(preload, 7, 9) as u16,
            },
        })
    }

    /// The initial value of MODE.
    pub(crate) fn mode(&self) -> Mode {
        let f = self.float_mode;
        let field = |value: u8, low: u32| u32::from(value & 3) << low;
        Mode::new(
            field(f.round_32, 0)
                | field(f.round_16_64, 2)
                | field(f.denorm_32, 4)
                | field(f.denorm_16_64, 6)
                | u32::from(self.dx10_clamp) << 8
                | u32::from(self.ieee_mode) << 9
                | u32::from(f.fp16_overflow) << 23,
        )
    }

    /// The initial SGPRs of a wave of workgroup `id`, which has `waves` waves.
    pub(crate) fn initial_sgprs(
        &self,
        inputs: &Inputs,
        id: [u32; 3],
        waves: u32,
    ) -> Result<Vec<u32>, LaunchError> {
        let mut sgprs = Vec::new();
        let pair = |sgprs: &mut Vec<u32>, value: u64| sgprs.extend([value as u32, (value >> 32) as u32]);
        let user = &self.user_sgprs;
        if user.private_segment_buffer {
            sgprs.extend(SCRATCH_RESOURCE);
        }
        if user.dispatch_ptr {
            pair(&mut sgprs, inputs.dispatch_packet);
        }
        if user.queue_ptr {
            // There is no queue, so a load through this address is reported as out of bounds.
            pair(&mut sgprs, 0);
        }
        if user.kernarg_segment_ptr {
            pair(&mut sgprs, inputs.kernarg);
        }
        if user.dispatch_id {
            pair(&mut sgprs, 0);
        }
        if user.flat_scratch_init {
            // This simulator addresses scratch without FLAT_SCRATCH, so its value does not matter.
            pair(&mut sgprs, 0);
        }
        if user.private_segment_size {
            sgprs.push(self.private_bytes);
        }
        sgprs.extend(inputs.preload.iter().take(usize::from(self.kernarg_preload.length)));
        // User SGPRs after the requested inputs are zero.
        sgprs.resize(sgprs.len().max(usize::from(self.user_sgpr_count)), 0);
        sgprs.extend(id.iter().zip(self.workgroup_id).filter(|(_, enabled)| *enabled).map(|(id, _)| *id));
        if self.workgroup_info {
            sgprs.push(waves);
        }
        if self.private_segment_wave_offset {
            sgprs.push(0);
        }
        if sgprs.len() > 102 {
            return Err(LaunchError::TooManySgprs(sgprs.len() as u32));
        }
        Ok(sgprs)
    }
}

/// The addresses and sizes that the initial SGPRs contain.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Inputs {
    pub kernarg: u64,
    pub dispatch_packet: u64,
    /// The preloaded dwords of the kernarg segment.
    pub preload: [u32; MAX_PRELOAD],
}

/// The maximum number of user SGPRs, and hence of preloaded dwords.
pub(crate) const MAX_PRELOAD: usize = 32;

impl KernelState {
    /// The preloaded dwords of the kernarg segment; dwords past the end of the segment are 0.
    pub(crate) fn preloaded(&self, kernarg: &[u8]) -> [u32; MAX_PRELOAD] {
        let start = usize::from(self.kernarg_preload.offset) * 4;
        let (words, _) = kernarg.get(start..).unwrap_or_default().as_chunks::<4>();
        let length = usize::from(self.kernarg_preload.length).min(MAX_PRELOAD);
        let mut out = [0; MAX_PRELOAD];
        out.iter_mut().zip(words).take(length).for_each(|(out, word)| *out = u32::from_le_bytes(*word));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected descriptor is the one that LLVM 22 writes for `.amdhsa_next_free_vgpr 40`, `.amdhsa_accum_offset 24`,
    /// `.amdhsa_next_free_sgpr 20`, with the kernarg pointer, workgroup IDs x and y, and otherwise default settings.
    #[test]
    fn descriptor_fields() {
        let mut bytes = [0u8; 64];
        bytes[0..4].copy_from_slice(&1024u32.to_le_bytes());
        bytes[44..48].copy_from_slice(&5u32.to_le_bytes());
        bytes[48..52].copy_from_slice(&0x00af_0084u32.to_le_bytes());
        bytes[52..56].copy_from_slice(&0x0000_0184u32.to_le_bytes());
        bytes[56] = 8;
        let state = KernelState::from_descriptor(&bytes, Target::GFX90A).unwrap();
        assert_eq!((state.vgprs, state.agprs, state.sgprs, state.lds_bytes), (24, 16, 32, 1024));
        assert_eq!((state.user_sgpr_count, state.workgroup_id), (2, [true, true, false]));
        assert_eq!(state.float_mode, FloatMode { denorm_32: 3, ..FloatMode::default() });
        assert!(state.dx10_clamp && state.ieee_mode && state.user_sgprs.kernarg_segment_ptr);
        let inputs = Inputs { kernarg: 0x1_0000_2000, ..Inputs::default() };
        assert_eq!(state.initial_sgprs(&inputs, [7, 8, 9], 1).unwrap(), [0x2000, 1, 7, 8]);
        assert!(KernelState::from_descriptor(&bytes[1..], Target::GFX90A).is_err());
    }
}
