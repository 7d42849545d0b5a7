//! Instruction sets: the level at which tables, hazards, counters and memory models distinguish targets.

use std::fmt;

use super::reg_file::RegFile;

/// A family of instruction sets that developed from each other. A range of instruction sets never crosses families.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// Vega and CDNA.
    GFX9,
    /// RDNA 1 to 4, and CDNA 5, which developed from them.
    RDNA,
}

impl Family {
    /// All families, the oldest first.
    pub const ALL: [Family; 2] = [Family::GFX9, Family::RDNA];
}

/// A generation: instruction sets with the same encoding, whose formats have the same fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Generation {
    /// Vega and CDNA.
    GFX9,
    /// RDNA 1 and 2.
    GFX10,
    /// RDNA 3.
    GFX11,
    /// RDNA 4 and CDNA 5.
    GFX12,
}

impl Generation {
    /// All generations, the oldest first.
    pub const ALL: [Generation; 4] =
        [Generation::GFX9, Generation::GFX10, Generation::GFX11, Generation::GFX12];
}

/// The number of lanes of a wave.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WaveSize {
    /// 32 lanes. VCC, EXEC and masks of lanes are one SGPR.
    W32,
    /// 64 lanes. Masks of lanes are pairs of SGPRs.
    W64,
}

impl WaveSize {
    /// The number of lanes.
    pub const fn lanes(self) -> u32 {
        match self {
            WaveSize::W32 => 32,
            WaveSize::W64 => 64,
        }
    }

    /// A mask with a bit set for each lane.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.lanes())
    }

    /// The wave size with this number of lanes; `None` if there is no such wave size.
    pub const fn of_lanes(lanes: u32) -> Option<WaveSize> {
        match lanes {
            32 => Some(WaveSize::W32),
            64 => Some(WaveSize::W64),
            _ => None,
        }
    }

    /// All wave sizes, the smaller first.
    pub const ALL: [WaveSize; 2] = [WaveSize::W32, WaveSize::W64];

    /// The number of SGPRs of a mask with one bit for each lane.
    pub const fn mask_registers(self) -> u8 {
        (self.lanes() / 32) as u8
    }
}

/// The encoding numbers of scalar registers that are not numbered SGPRs; `None` if the instruction set lacks the
/// register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedSgprs {
    /// The pair `flat_scratch`.
    pub flat_scratch: Option<u16>,
    /// The pair `xnack_mask`.
    pub xnack_mask: Option<u16>,
    /// The pair `vcc`.
    pub vcc: u16,
    /// `m0`.
    pub m0: u16,
    /// `null`, which reads as 0 and ignores writes.
    pub null: Option<u16>,
    /// The pair `exec`.
    pub exec: u16,
}

const GFX9_NAMED: NamedSgprs =
    NamedSgprs { flat_scratch: Some(102), xnack_mask: Some(104), vcc: 106, m0: 124, null: None, exec: 126 };
const GFX10_NAMED: NamedSgprs =
    NamedSgprs { flat_scratch: None, xnack_mask: None, null: Some(125), ..GFX9_NAMED };
const GFX11_NAMED: NamedSgprs = NamedSgprs { m0: 125, null: Some(124), ..GFX10_NAMED };

/// Passes the columns of the table of instruction sets to a macro that generates code for each.
macro_rules! facts {
    ($make:ident) => {
        $make! {
            /// The family. Ranges of instruction sets end at the end of a family.
            family: Family,
            /// The generation, which determines the encoding.
            generation: Generation,
            /// The wave sizes, the usual wave size first.
            wave_sizes: &'static [WaveSize],
            /// The encoding numbers of named scalar registers.
            named_sgprs: NamedSgprs,
            /// The largest number of numbered SGPRs (`s0` and on) that a kernel can use, in addition to
            /// [`named_sgprs`](InstructionSet::named_sgprs).
            addressable_sgprs: u32,
            /// The number of VGPRs that a wave can have. An instruction can name only the first 256 by itself; a tuple that begins there
            /// may extend past them.
            addressable_vgprs: u32,
            /// The number of different scalar values (SGPRs or pairs, VCC, M0, special registers, the literal) that a vector instruction
            /// may read: the constant bus (CDNA3 ISA, "VALU operands"; RDNA ISA, "VALU operands": two from GFX10 on).
            constant_bus_reads: usize,
            /// True if 64-bit shifts may read as many scalar values as other vector instructions, except for those that the table restricts;
            /// otherwise they may read only one (measured with LLVM 22).
            reads_scalars_in_long_shifts: bool,
            /// True if instructions can have literals of 64 bits.
            has_long_literals: bool,
            /// True if there are AccVGPRs (gfx908 and later of CDNA).
            has_agprs: bool,
            /// True if VGPRs and AccVGPRs are two halves of one file of 512 registers for each wave (gfx90a and later of CDNA), so that
            /// memory instructions and MFMA results may use either, and the descriptor has `accum_offset`.
            has_unified_agprs: bool,
            /// True if VGPR tuples of two or more registers must start at an even register (gfx90a and later of CDNA).
            needs_even_vgpr_tuples: bool,
            /// True if `s_barrier` may be executed while operations are outstanding (gfx90a and later of CDNA, RDNA). Otherwise the program
            /// must first wait until every counter with outstanding operations is zero.
            has_back_off_barrier: bool,
            /// True if the work-item IDs of all three dimensions arrive packed in `v0` (x in bits 9:0, y in 19:10, z in
            /// 29:20) instead of in `v0`, `v1`, `v2`.
            has_packed_tid: bool,
            /// True if a 16-bit result preserves the other half of its register; on GFX9 that half becomes zero (LLVM:
            /// `zeroesHigh16BitsOfDest`).
            writes_halves: bool,
            /// True if a half of a VGPR is a separate register: an instruction that uses one half neither reads nor writes the other (RDNA
            /// 3 and later; LLVM: `true16`).
            has_half_vgprs: bool,
            /// True if the hardware provides the IDs of workgroup and wave in trap temporaries instead of SGPRs (LLVM: architected SGPRs):
            /// x in `ttmp9`, y and z in `ttmp7`, the wave in `ttmp8`.
            has_ids_in_ttmps: bool,
            /// The bit of MODE that a kernel sets at its start, so that, after a page fault, the hardware can repeat memory instructions
            /// of more than one group, as the waits for `xcnt` assume (gfx12.5; LLVM pull request 169016).
            replay_mode_bit: Option<u8>,
            /// True if the waves of a workgroup may run on different compute units when the descriptor's TG_SPLIT requests it.
            has_tg_split: bool,
            /// True if a descriptor may request that kernel arguments are loaded into SGPRs before the kernel starts.
            has_kernarg_preload: bool,
            /// True if a kernel with preloaded arguments begins with 256 bytes of code that load the arguments. Firmware that does not
            /// preload arguments executes this code; other firmware starts the kernel after it (gfx90a and later of CDNA, but not gfx12.5:
            /// LLVM 22, measured).
            has_preload_prologue: bool,
            /// True if a wave gets the number of SGPRs that its descriptor states. On RDNA, each wave gets all SGPRs.
            counts_sgprs: bool,
            /// True if programs can choose the DX10_CLAMP and IEEE bits of MODE; on GFX12 these bits are fixed.
            has_dx10_clamp: bool,
            /// True if a workgroup can run on two compute units that share their LDS (a workgroup processor) when the descriptor requests
            /// it (RDNA).
            has_workgroup_processors: bool,
            /// True if the descriptor chooses whether loads return in order and whether each wave makes progress
            /// (RDNA).
            has_forward_progress: bool,
            /// The largest number of user SGPRs (LLVM AMDGPU guide, *Initial Kernel Execution State*; gfx12.5: LLVM 22,
            /// measured).
            most_user_sgprs: u32,
            /// True if a workgroup can have barriers besides its own, whose number the descriptor states (gfx12.5).
            has_named_barriers: bool,
            /// True if the two halves of a 64-lane wave can share VGPRs (RDNA 1 to 3).
            has_shared_vgprs: bool,
            /// The width of the descriptor's field for the number of 128-byte pieces of code to prefetch before a wave
            /// starts; 0 if there is no such field.
            inst_pref_size_bits: u8,
            /// True if the descriptor can request round-robin scheduling of the waves of a SIMD.
            has_round_robin_scheduling: bool,
            /// True if the hardware sets up scratch, so that `scratch_` instructions work without code in the kernel
            /// that sets up `FLAT_SCRATCH` (gfx942 and later of CDNA, RDNA from GFX11 on).
            has_architected_flat_scratch: bool,
            /// True if each byte of each lane's scratch has a flat address of its own, at which other lanes can access it: the base, which is
            /// the operand `src_flat_scratch_base_lo`, plus the lane's number in the bits from 52 on, plus the address in the lane's scratch
            /// (gfx12.5; LLVM 22, measured). Elsewhere, the same aperture stands for the own scratch of every lane.
            has_scratch_addresses: bool,
            /// True if the cache bits are `sc0`, `sc1` and `nt`, and the matrix rules distinguish XDL from SGEMM
            /// (gfx942 and later of CDNA).
            is_gfx940_family: bool,
            /// True if instructions that invalidate or write back a cache are counted like vector memory (gfx942 and
            /// later of CDNA, GFX12).
            counts_cache_control: bool,
            /// True if vector memory returns its data in issue order. On GFX12 a later load may return first, so a register must not be
            /// loaded again before its previous load is done (LLVM 22, measured).
            returns_loads_in_order: bool,
            /// True if there are copies between memory and LDS that bypass registers, and counters for these copies and for operands that
            /// memory instructions have yet to read (gfx12.5; LLVM 22, measured).
            has_async_copies: bool,
            /// True if a 32-bit offset in a VGPR that is added to a base in SGPRs is signed (gfx12.5: there, and nowhere else, LLVM 22 uses
            /// such an offset for a signed index).
            signs_vector_offsets: bool,
            /// The number of SIMDs of a compute unit.
            simds_per_cu: u32,
            /// The number of LDS banks, of four bytes each (AMD CDNA 4 white paper: 32 up to CDNA 3; 64 on gfx950,
            /// inferred from its first bank conflict; RDNA white paper: a workgroup processor has two halves of 32).
            lds_banks: u32,
            /// True if fp8 and bf8 are the formats without infinities and negative zero (`fnuz`): gfx942. Later targets
            /// have the OCP formats.
            has_fnuz_floats: bool,
            /// True if the range check of a raw buffer includes SOFFSET (gfx942 and later: AMD's emulator, which claims
            /// to match the hardware; LLVM issue 169230). For earlier targets the manual says that SOFFSET is not a
            /// part of the offset (MI100 ISA 9.1.5).
            checks_soffset: bool,
            /// True if matrix instructions and `v_dot2_f32` flush denormal f16 and bf16 inputs, f32 sums and f32
            /// results to zero, regardless of MODE: gfx90a. All other targets preserve them (PyTorch, "Numerical
            /// accuracy"; values of `v_dot2_f32_f16` measured on gfx90a and gfx950: LLVM pull request 205101).
            flushes_half_products: bool,
            /// True if `v_dot2_bf16_bf16` truncates its result to bf16 instead of rounding it.
            cuts_bf16_dots: bool,
            /// The number of lanes among which `ds_permute_b32` and `ds_bpermute_b32` move data. On RDNA it is half of a 64-lane wave
            /// (Mesa, ACO, `emit_bpermute`, uses other methods for 64-lane waves from GFX10 on).
            permuted_lanes: usize,
            /// True if `neg_lo` of integer dot products marks the signed factors (RDNA 3 and later: `v_dot4_i32_iu8`).
            signs_by_neg_lo: bool,
            /// True if a buffer resource has 57 bits of base, 45 bits of records from bit 57 on, and the stride from bit 108 on (gfx12.5;
            /// LLVM 22, measured). The others have 48 bits of base, and 32 bits of records from bit 64 on.
            has_long_buffers: bool,
            /// True if `global_atomic_add_f32` and `buffer_atomic_add_f32` flush denormals, regardless of MODE: gfx908
            /// and gfx90a. There, LLVM uses them only where denormals may be lost; AMD's emulator flushes.
            memory_adds_flush: bool,
            /// True if a conversion to fp8, bf8 or fp4 writes only a part of its destination, so that a reader must
            /// keep a distance (gfx950).
            has_narrow_conversion_hazard: bool,
            /// The distance in dwords for which a branch is executed wrongly. Assemblers avoid it by an `s_nop` after the branch (RDNA 1:
            /// LLVM, feature `offset-3f-bug`).
            bad_branch_distance: Option<u16>,
            /// True if WMMA needs complete copies of A and B in every 16 lanes (RDNA 3).
            copies_wmma_inputs: bool,
            /// True if WMMA distributes A and B over the two groups of 16 lanes in runs of eight `k` (gfx12.5; `docs/layouts.md`).
            alternates_wmma_inputs: bool,
            /// True if `s_waitcnt_depctr` has `depctr_hold_cnt` (RDNA from 2 on).
            has_hold_count: bool,
            /// True if `s_trap 2` has no effect in a wave that is privileged, as waves in a trap handler are, so that compilers put code after
            /// it (RDNA 3 but not 3.5: LLVM, feature `priv-enabled-trap2-nop-bug`).
            ignores_trap_if_privileged: bool,
            /// True if a multiply-add with a result of 64 bits is wrong if the result overlaps a source (RDNA 3 but not 3.5: LLVM, feature
            /// `mad-intra-fwd-bug`).
            forwards_wide_sums_wrongly: bool,
            /// True for one instruction set, gfx942, which lacks the fewest instructions. If several instruction sets have an instruction
            /// with separate rows, its row represents the instruction.
            has_most_instructions: bool,
        }
    };
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $ty:ty,)*) => {
        /// A row of the table of instruction sets.
        #[derive(Clone, Copy)]
        struct Facts {
            $($name: $ty,)*
        }

        impl InstructionSet {
            $($(#[$doc])* pub const fn $name(self) -> $ty { FACTS[self as usize].$name })*
        }
    };
}

facts!(columns);

pub(super) use facts;

const GFX900: Facts = Facts {
    family: Family::GFX9,
    generation: Generation::GFX9,
    wave_sizes: &[WaveSize::W64],
    named_sgprs: GFX9_NAMED,
    addressable_sgprs: 102,
    addressable_vgprs: 256,
    constant_bus_reads: 1,
    reads_scalars_in_long_shifts: false,
    has_long_literals: false,
    has_agprs: false,
    has_unified_agprs: false,
    needs_even_vgpr_tuples: false,
    has_back_off_barrier: false,
    has_packed_tid: false,
    writes_halves: false,
    has_half_vgprs: false,
    has_ids_in_ttmps: false,
    replay_mode_bit: None,
    has_tg_split: false,
    has_kernarg_preload: false,
    has_preload_prologue: false,
    counts_sgprs: true,
    has_dx10_clamp: true,
    has_workgroup_processors: false,
    has_forward_progress: false,
    most_user_sgprs: 16,
    has_named_barriers: false,
    has_shared_vgprs: false,
    inst_pref_size_bits: 0,
    has_round_robin_scheduling: false,
    has_architected_flat_scratch: false,
    has_scratch_addresses: false,
    is_gfx940_family: false,
    counts_cache_control: false,
    returns_loads_in_order: true,
    has_async_copies: false,
    signs_vector_offsets: false,
    simds_per_cu: 4,
    lds_banks: 32,
    has_fnuz_floats: false,
    checks_soffset: false,
    flushes_half_products: false,
    cuts_bf16_dots: false,
    permuted_lanes: 64,
    signs_by_neg_lo: false,
    has_long_buffers: false,
    memory_adds_flush: false,
    has_narrow_conversion_hazard: false,
    bad_branch_distance: None,
    copies_wmma_inputs: false,
    alternates_wmma_inputs: false,
    has_hold_count: false,
    ignores_trap_if_privileged: false,
    forwards_wide_sums_wrongly: false,
    has_most_instructions: false,
};
const GFX908: Facts = Facts { has_agprs: true, memory_adds_flush: true, ..GFX900 };
const GFX90A: Facts = Facts {
    has_unified_agprs: true,
    needs_even_vgpr_tuples: true,
    has_back_off_barrier: true,
    has_packed_tid: true,
    has_tg_split: true,
    has_kernarg_preload: true,
    has_preload_prologue: true,
    flushes_half_products: true,
    ..GFX908
};
/// The facts that gfx942 and gfx950 have in common.
const GFX9_4: Facts = Facts {
    has_architected_flat_scratch: true,
    is_gfx940_family: true,
    counts_cache_control: true,
    checks_soffset: true,
    flushes_half_products: false,
    memory_adds_flush: false,
    ..GFX90A
};
const GFX942: Facts = Facts { has_fnuz_floats: true, has_most_instructions: true, ..GFX9_4 };
const GFX950: Facts = Facts { lds_banks: 64, has_narrow_conversion_hazard: true, ..GFX9_4 };
const GFX10: Facts = Facts {
    family: Family::RDNA,
    generation: Generation::GFX10,
    writes_halves: true,
    permuted_lanes: 32,
    wave_sizes: &[WaveSize::W32, WaveSize::W64],
    named_sgprs: GFX10_NAMED,
    addressable_sgprs: 106,
    constant_bus_reads: 2,
    has_back_off_barrier: true,
    counts_sgprs: false,
    has_workgroup_processors: true,
    has_forward_progress: true,
    simds_per_cu: 2,
    has_shared_vgprs: true,
    bad_branch_distance: Some(0x3f),
    ..GFX900
};
const GFX10_3: Facts = Facts { has_hold_count: true, bad_branch_distance: None, ..GFX10 };
const GFX11: Facts = Facts {
    generation: Generation::GFX11,
    has_half_vgprs: true,
    named_sgprs: GFX11_NAMED,
    has_packed_tid: true,
    has_architected_flat_scratch: true,
    inst_pref_size_bits: 6,
    copies_wmma_inputs: true,
    signs_by_neg_lo: true,
    ignores_trap_if_privileged: true,
    forwards_wide_sums_wrongly: true,
    ..GFX10_3
};
const GFX11_5: Facts =
    Facts { ignores_trap_if_privileged: false, forwards_wide_sums_wrongly: false, ..GFX11 };
const GFX12: Facts = Facts {
    generation: Generation::GFX12,
    has_ids_in_ttmps: true,
    cuts_bf16_dots: true,
    counts_cache_control: true,
    returns_loads_in_order: false,
    has_dx10_clamp: false,
    has_shared_vgprs: false,
    inst_pref_size_bits: 8,
    has_round_robin_scheduling: true,
    copies_wmma_inputs: false,
    ..GFX11_5
};

const GFX12_5: Facts = Facts {
    wave_sizes: &[WaveSize::W32],
    needs_even_vgpr_tuples: true,
    addressable_vgprs: 1024,
    reads_scalars_in_long_shifts: true,
    has_long_literals: true,
    has_kernarg_preload: true,
    has_workgroup_processors: false,
    most_user_sgprs: 32,
    has_named_barriers: true,
    has_scratch_addresses: true,
    has_async_copies: true,
    alternates_wmma_inputs: true,
    has_long_buffers: true,
    replay_mode_bit: Some(25),
    signs_vector_offsets: true,
    simds_per_cu: 4,
    ..GFX12
};

/// The unit, in bytes, of the descriptor's field for prefetching instructions.
const PREFETCHED_PIECE: u64 = 128;

macro_rules! instruction_sets {
    ($($(#[$doc:meta])* $set:ident = $name:literal, $facts:ident, $like:ident;)*) => {
        /// The common properties of processors with the same instructions.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        #[expect(non_camel_case_types, reason = "the names that LLVM and ROCm have, with `_` for `-`")]
        pub enum InstructionSet { $($(#[$doc])* $set,)* }

        const FACTS: [Facts; InstructionSet::COUNT] = [$($facts),*];

        impl InstructionSet {
            /// All instruction sets. The families follow each other, and each family has its oldest instruction set first.
            pub const ALL: [InstructionSet; [$(InstructionSet::$set),*].len()] = [$(InstructionSet::$set),*];

            /// The number of instruction sets, for arrays indexed by them.
            pub const COUNT: usize = Self::ALL.len();

            /// The name in tables and messages; on GFX9, the name of its first processor.
            pub const fn name(self) -> &'static str {
                match self { $(InstructionSet::$set => $name,)* }
            }

            /// The instruction set whose measurements (shapes of matrices, times) also apply to this one, which was not
            /// measured separately.
            pub const fn measured_as(self) -> InstructionSet {
                match self { $(InstructionSet::$set => InstructionSet::$like,)* }
            }
        }
    };
}

// The position of a generic set decides which ranges contain it. `gfx9-4-generic` is between gfx942 and gfx950, whose common instructions
// it has, so every range that contains both also contains it. `gfx9-generic` comes before gfx900, so a range from `gfx9-generic` on
// contains it, and a range from gfx900 on does not.
instruction_sets! {
    /// The instructions that are common to every GFX9 processor before CDNA.
    GFX9_GENERIC = "gfx9-generic", GFX900, GFX900;
    /// Vega 10.
    GFX900 = "gfx900", GFX900, GFX900;
    /// Vega 12, which has mixed precision with a fused multiply-add.
    GFX904 = "gfx904", GFX900, GFX900;
    /// Vega 20, which has dot products.
    GFX906 = "gfx906", GFX900, GFX906;
    /// CDNA 1, which has matrix instructions.
    GFX908 = "gfx908", GFX908, GFX908;
    /// CDNA 2, which has one file of VGPRs and AccVGPRs.
    GFX90A = "gfx90a", GFX90A, GFX90A;
    /// CDNA 3.
    GFX942 = "gfx942", GFX942, GFX942;
    /// The instructions that are common to every CDNA 3 and CDNA 4 processor.
    GFX9_4_GENERIC = "gfx9-4-generic", GFX9_4, GFX942;
    /// CDNA 4.
    GFX950 = "gfx950", GFX950, GFX950;
    /// RDNA 1.
    GFX10_1 = "gfx10.1", GFX10, GFX10_1;
    /// RDNA 1 with dot products.
    GFX1011 = "gfx1011", GFX10, GFX1011;
    /// RDNA 2.
    GFX10_3 = "gfx10.3", GFX10_3, GFX10_3;
    /// RDNA 3.
    GFX11 = "gfx11", GFX11, GFX11;
    /// RDNA 3.5, which has scalar floating-point instructions.
    GFX11_5 = "gfx11.5", GFX11_5, GFX11_5;
    /// RDNA 4.
    GFX12 = "gfx12", GFX12, GFX12;
    /// CDNA 5, which developed from RDNA 4. It has only 32-lane waves, up to 1024 VGPRs, and VGPR tuples that begin at even numbers.
    GFX12_5 = "gfx12.5", GFX12_5, GFX12_5;
}

impl InstructionSet {
    /// The wave size of programs that do not specify one.
    pub const fn usual_wave(self) -> WaveSize {
        self.wave_sizes()[0]
    }

    /// True if waves can have this wave size.
    pub fn has_wave(self, wave: WaveSize) -> bool {
        self.wave_sizes().contains(&wave)
    }

    /// The value of the descriptor's prefetch field for code of this size, limited to the field's maximum; 0 if there
    /// is no such field.
    pub const fn inst_pref_size(self, code_bytes: u64) -> u32 {
        let most = (1 << self.inst_pref_size_bits()) - 1;
        let pieces = code_bytes.div_ceil(PREFETCHED_PIECE);
        if pieces < most { pieces as u32 } else { most as u32 }
    }

    /// The index for arrays with an element for each instruction set.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The number of which a tuple's first register must be a multiple: 2 for vector tuples if the target requires it, 2 for SGPR pairs,
    /// and 4 for larger SGPR tuples.
    pub const fn tuple_alignment(self, file: RegFile, len: u8) -> u8 {
        match (file, len) {
            (_, 1) => 1,
            (RegFile::Sgpr, 2) => 2,
            (RegFile::Sgpr, _) => 4,
            _ if self.needs_even_vgpr_tuples() => 2,
            _ => 1,
        }
    }

    /// The number of registers of a file that a kernel can use.
    pub const fn registers(self, file: RegFile) -> u32 {
        match file {
            RegFile::Sgpr => self.addressable_sgprs(),
            RegFile::Vgpr => self.addressable_vgprs(),
            RegFile::Agpr if self.has_agprs() => 256,
            RegFile::Agpr => 0,
        }
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
