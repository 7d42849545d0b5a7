//! The kernel descriptor: 64 bytes that the command processor reads before it starts a kernel.
//!
//! Layout and meaning: LLVM AMDGPU guide, *Code Object V3 Kernel Descriptor* and the `compute_pgm_rsrc` tables.
//! Register counts are stored in blocks: see [`KernelDescriptor::of`].

pub(crate) mod directive;
pub(crate) mod field;
mod on;
mod settings;
mod table;

pub use field::{Field, Word};
pub use settings::Settings;
pub use table::DescribedField;

use gcn_isa::{Target, WaveSize};

use crate::kernel::KernelSpec;
use field as f;

/// The size of a kernel descriptor in bytes.
pub const DESCRIPTOR_BYTES: usize = 64;
/// The byte offset of `KERNEL_CODE_ENTRY_BYTE_OFFSET` in a descriptor.
pub const CODE_ENTRY_OFFSET: u64 = 16;
/// The alignment that the command processor requires of a descriptor.
pub const DESCRIPTOR_ALIGN: u64 = 64;
/// The number of SGPRs in a block, the unit of the descriptor.
pub(crate) const SGPR_BLOCK: u32 = 8;
/// The number of VGPRs in a block of those that the halves of a wave share.
const SHARED_VGPR_BLOCK: u32 = 8;

/// A kernel descriptor, word by word. [`Field`] names the bits that this crate writes, [`Settings`]
/// interprets them, and [`KernelDescriptor::describe`] lists every bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KernelDescriptor {
    /// The LDS size of a workgroup in bytes (`GROUP_SEGMENT_FIXED_SIZE`).
    pub group_segment_fixed_size: u32,
    /// The scratch size of a work-item in bytes (`PRIVATE_SEGMENT_FIXED_SIZE`).
    pub private_segment_fixed_size: u32,
    /// The size of the kernarg segment in bytes (`KERNARG_SIZE`).
    pub kernarg_size: u32,
    /// The distance from the descriptor to the first instruction (`KERNEL_CODE_ENTRY_BYTE_OFFSET`).
    pub kernel_code_entry_byte_offset: i64,
    /// `COMPUTE_PGM_RSRC3`.
    pub compute_pgm_rsrc3: u32,
    /// `COMPUTE_PGM_RSRC1`.
    pub compute_pgm_rsrc1: u32,
    /// `COMPUTE_PGM_RSRC2`.
    pub compute_pgm_rsrc2: u32,
    /// Bits 448 to 463: user SGPRs and flags.
    pub kernel_code_properties: u16,
    /// Bits 464 to 479: the kernarg dwords that are loaded into user SGPRs before the kernel starts. This crate
    /// requests none.
    pub kernarg_preload: u16,
}

impl KernelDescriptor {
    /// The descriptor of `kernel` whose first instruction is `entry_offset` bytes after the descriptor.
    ///
    /// Register counts are stored as a number of blocks minus one: VGPRs (both halves of a unified file together) in blocks of
    /// [`VgprFile::block`](gcn_isa::target::VgprFile::block), SGPRs (including the named ones) in blocks of 8. For SGPRs, the guide's
    /// formula rounds to 16; LLVM's formula, which is used here, never allocates fewer registers than requested. On targets where each wave
    /// gets all SGPRs, the stored number is 0.
    pub fn of(kernel: &KernelSpec, entry_offset: i64) -> KernelDescriptor {
        let target = kernel.target();
        let blocks = |count: u32, block: u32| count.max(1).div_ceil(block) - 1;
        let mut d = KernelDescriptor {
            group_segment_fixed_size: kernel.lds_bytes,
            private_segment_fixed_size: kernel.scratch_bytes,
            kernarg_size: kernel.kernarg_bytes,
            kernel_code_entry_byte_offset: entry_offset,
            ..KernelDescriptor::default()
        };
        let vgpr_block = target.vgpr_file(kernel.program.wave).block;
        d.set(f::GRANULATED_WORKITEM_VGPR_COUNT, blocks(kernel.total_vgprs(), vgpr_block));
        if target.counts_sgprs() {
            d.set(f::GRANULATED_WAVEFRONT_SGPR_COUNT, blocks(kernel.total_sgprs(), SGPR_BLOCK));
        }
        d.set_float_mode(kernel);
        d.set_scheduling(kernel);
        d.set_initial_state(kernel);
        if let Some(offset) = kernel.accum_offset() {
            d.set(f::ACCUM_OFFSET, (offset / 4).saturating_sub(1));
        }
        if target.has_tg_split() {
            d.set(f::TG_SPLIT, kernel.tg_split.into());
        }
        d
    }

    fn set_float_mode(&mut self, kernel: &KernelSpec) {
        let mode = kernel.float_mode;
        self.set(f::FLOAT_ROUND_MODE_32, mode.round_32 as u32);
        self.set(f::FLOAT_ROUND_MODE_16_64, mode.round_16_64 as u32);
        self.set(f::FLOAT_DENORM_MODE_32, mode.denorm_32 as u32);
        self.set(f::FLOAT_DENORM_MODE_16_64, mode.denorm_16_64 as u32);
        if kernel.target().has_dx10_clamp() {
            self.set(f::ENABLE_DX10_CLAMP, mode.dx10_clamp.into());
            self.set(f::ENABLE_IEEE_MODE, mode.ieee_mode.into());
        }
        self.set(f::FP16_OVFL, mode.fp16_overflow.into());
        self.set(f::EXCEPTIONS, kernel.exceptions.bits().into());
    }

    /// Sets the fields that were added with RDNA.
    fn set_scheduling(&mut self, kernel: &KernelSpec) {
        let (target, scheduling) = (kernel.target(), kernel.scheduling);
        if target.has_workgroup_processors() {
            self.set(f::WGP_MODE, scheduling.workgroup_processors.into());
        }
        if target.has_forward_progress() {
            self.set(f::MEM_ORDERED, scheduling.ordered_loads.into());
            self.set(f::FWD_PROGRESS, scheduling.forward_progress.into());
        }
        if target.has_round_robin_scheduling() {
            self.set(f::WG_RR_EN, scheduling.round_robin.into());
        }
        if target.has_shared_vgprs() {
            self.set(f::SHARED_VGPR_COUNT, kernel.shared_vgprs.div_ceil(SHARED_VGPR_BLOCK));
        }
        if target.inst_pref_size_bits() > 0 {
            self.set(f::INST_PREF_SIZE_12, kernel.inst_pref_size);
        }
        self.set(f::ENABLE_WAVEFRONT_SIZE32, (kernel.program.wave == WaveSize::W32).into());
    }

    fn set_initial_state(&mut self, kernel: &KernelSpec) {
        let [x, y, z] = kernel.workgroup_ids;
        self.set(f::ENABLE_PRIVATE_SEGMENT, kernel.uses_scratch().into());
        self.set(f::user_sgpr_count(kernel.target()), kernel.user_sgprs.registers());
        self.set(f::ENABLE_SGPR_WORKGROUP_ID_X, x.into());
        self.set(f::ENABLE_SGPR_WORKGROUP_ID_Y, y.into());
        self.set(f::ENABLE_SGPR_WORKGROUP_ID_Z, z.into());
        self.set(f::ENABLE_SGPR_WORKGROUP_INFO, kernel.workgroup_info.into());
        self.set(f::ENABLE_VGPR_WORKITEM_ID, kernel.work_item_ids as u32);
        self.set(f::USER_SGPRS, kernel.user_sgprs.bits().into());
        self.set(f::USES_DYNAMIC_STACK, kernel.uses_dynamic_stack.into());
    }

    /// The value of a bit field.
    pub fn get(&self, field: Field) -> u32 {
        field.of(match field.word {
            Word::Rsrc1 => self.compute_pgm_rsrc1,
            Word::Rsrc2 => self.compute_pgm_rsrc2,
            Word::Rsrc3 => self.compute_pgm_rsrc3,
            Word::Properties => self.kernel_code_properties.into(),
        })
    }

    /// Sets a bit field; bits of `value` that do not fit are dropped.
    pub fn set(&mut self, field: Field, value: u32) {
        match field.word {
            Word::Rsrc1 => field.put(&mut self.compute_pgm_rsrc1, value),
            Word::Rsrc2 => field.put(&mut self.compute_pgm_rsrc2, value),
            Word::Rsrc3 => field.put(&mut self.compute_pgm_rsrc3, value),
            Word::Properties => {
                let mut word = self.kernel_code_properties.into();
                field.put(&mut word, value);
                self.kernel_code_properties = word as u16;
            }
        }
    }

    /// The kernel's wave size.
    pub fn wave(&self, target: Target) -> WaveSize {
        let short =
            self.get(f::ENABLE_WAVEFRONT_SIZE32) != 0 && target.instruction_set().has_wave(WaveSize::W32);
        if short { WaveSize::W32 } else { WaveSize::W64 }
    }

    /// The number of VGPRs that a wave may use, including the AGPRs of a unified file: a multiple of the descriptor's
    /// block. The hardware may allocate more.
    pub fn allocated_vgprs(&self, target: Target) -> u32 {
        (self.get(f::GRANULATED_WORKITEM_VGPR_COUNT) + 1) * target.vgpr_file(self.wave(target)).block
    }

    /// The number of SGPRs that are allocated, including the named ones.
    pub fn allocated_sgprs(&self, target: Target) -> u32 {
        match target.counts_sgprs() {
            true => (self.get(f::GRANULATED_WAVEFRONT_SGPR_COUNT) + 1) * SGPR_BLOCK,
            false => target.addressable_sgprs().next_multiple_of(SGPR_BLOCK),
        }
    }

    /// The bytes of the descriptor in a code object.
    pub fn to_bytes(&self) -> [u8; DESCRIPTOR_BYTES] {
        let mut out = [0; DESCRIPTOR_BYTES];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.group_segment_fixed_size.to_le_bytes());
        put(4, &self.private_segment_fixed_size.to_le_bytes());
        put(8, &self.kernarg_size.to_le_bytes());
        put(16, &self.kernel_code_entry_byte_offset.to_le_bytes());
        put(44, &self.compute_pgm_rsrc3.to_le_bytes());
        put(48, &self.compute_pgm_rsrc1.to_le_bytes());
        put(52, &self.compute_pgm_rsrc2.to_le_bytes());
        put(56, &self.kernel_code_properties.to_le_bytes());
        put(58, &self.kernarg_preload.to_le_bytes());
        out
    }

    /// Parses the bytes. Reserved bytes are dropped.
    pub fn from_bytes(bytes: &[u8; DESCRIPTOR_BYTES]) -> KernelDescriptor {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        KernelDescriptor {
            group_segment_fixed_size: word(0),
            private_segment_fixed_size: word(4),
            kernarg_size: word(8),
            kernel_code_entry_byte_offset: (u64::from(word(16)) | u64::from(word(20)) << 32) as i64,
            compute_pgm_rsrc3: word(44),
            compute_pgm_rsrc1: word(48),
            compute_pgm_rsrc2: word(52),
            kernel_code_properties: half(56),
            kernarg_preload: half(58),
        }
    }
}
