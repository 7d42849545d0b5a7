//! The shape of a table row.

use bitflags::bitflags;

use super::entry::{Behaviours, Entry};
use crate::mods::{Dpp, Modifiers, Mods, Sdwa};
use crate::target::{Target, TargetSet};

/// One instruction in one encoding and addressing form, on the targets where its facts are the same.
#[derive(Debug)]
pub struct InstDesc {
    /// Index into [`super::rows`].
    pub id: u16,
    /// Name without `_e32`, `_e64`, `_dpp`, `_sdwa`.
    pub mnemonic: &'static str,
    /// Name as the disassembler prints it.
    pub printed: &'static str,
    /// Encoding format.
    pub format: Format,
    /// Addressing form: SMEM `imm`, `sgpr`, `sgpr_imm`; MUBUF/MTBUF `offset`, `offen`, `idxen`, `bothen` (`_lds`);
    /// GLOBAL/SCRATCH `vaddr`, `saddr`, `vaddr_saddr`, `noaddr` (`_lds`); atomics prefixed `rtn_` or `nortn_`; else empty.
    pub form: &'static str,
    /// Targets.
    pub targets: TargetSet,
    /// Opcode field of the format. FLAT family: 7 bits, the segment is in the format.
    pub opcode: u16,
    /// Bytes without a trailing literal (madmk/madak/fmamk/fmaak and `s_setreg_imm32_b32` include theirs).
    pub bytes: u8,
    /// Operands in assembly order.
    pub operands: &'static [OperandDesc],
    /// Pairs of operands that must be both VGPR or both AGPR.
    pub same_file: &'static [SameFile],
    /// Registers read but not written in the text.
    pub implicit_reads: ImplicitRegs,
    /// Registers written but not in the text.
    pub implicit_writes: ImplicitRegs,
    /// Modifiers the instruction accepts.
    pub modifiers: Modifiers,
    /// Modifiers that this form requires.
    pub required: Modifiers,
    /// Inclusive range of `offset:` (or of the SMEM offset), where there is one.
    pub offset_range: Option<(i32, i32)>,
    /// How many bits `op_sel` has (0 if none); VOP3P `op_sel_hi`, `neg_lo`, `neg_hi` have one per source.
    pub op_sel_bits: u8,
    /// Source modifiers: bit i of each for source i: (neg, abs, sext).
    pub source_mods: (u8, u8, u8),
    /// True if the only DPP control is `row_newbcast` (64-bit DPP).
    pub dpp_newbcast_only: bool,
    /// True if `row_newbcast` is among the DPP controls.
    pub dpp_newbcast: bool,
    /// Scheduling and hazard class.
    pub class: Class,
    /// Memory bytes moved per lane (per wave for scalar memory).
    pub mem_bytes: MemBytes,
    /// 2 where VGPR and AGPR tuples must start at an even register, else 1.
    pub vgpr_align: u8,
    /// What the last bit of `op_sel` is, where that chooses a half of the destination.
    pub half: Option<DstHalf>,
    /// True if the widths of A and B follow from `cbsz` and `blgp`; the operands have the largest.
    pub width_by_format: bool,
    /// What holds for every form of the mnemonic.
    pub entry: &'static Entry,
}

impl PartialEq for InstDesc {
    /// Rows are unique, so identity is equality.
    fn eq(&self, other: &InstDesc) -> bool {
        self.id == other.id
    }
}

impl Eq for InstDesc {}

impl InstDesc {
    /// Matrix passes (4 clocks each) on `target`; `None` for instructions that are not matrix instructions and for the
    /// gfx950 f8f6f4 forms, whose count depends on the formats chosen by `cbsz` and `blgp`.
    pub fn passes(&self, target: Target) -> Option<u8> {
        Some(self.entry.passes[target as usize]).filter(|&passes| passes != 0)
    }

    /// True if the instruction has all of these behaviours.
    pub fn does(&self, behaviours: Behaviours) -> bool {
        self.entry.behaviours.contains(behaviours)
    }

    /// Position of the operand called `name`.
    pub fn operand_index(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|o| o.name == name)
    }

    /// True for a matrix instruction (MFMA or SMFMAC).
    pub fn is_matrix(&self) -> bool {
        matches!(self.class, Class::MfmaXdl | Class::MfmaSgemm | Class::MfmaDgemm | Class::Smfmac)
    }

    /// True for a vector ALU instruction other than a matrix instruction (accvgpr moves and lane moves included).
    pub fn is_valu(&self) -> bool {
        self.format.is_vop() && !self.is_matrix()
    }

    /// True for a scalar ALU or program-control instruction (SOP1/2/C/K/P).
    pub fn is_salu(&self) -> bool {
        matches!(self.format, Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk | Format::Sopp)
    }

    /// True for scalar memory.
    pub fn is_smem(&self) -> bool {
        self.format == Format::Smem
    }

    /// True for vector memory: MUBUF, MTBUF, FLAT, GLOBAL, SCRATCH.
    pub fn is_vmem(&self) -> bool {
        matches!(self.format, Format::Mubuf | Format::Mtbuf | Format::Flat | Format::Global | Format::Scratch)
    }

    /// True for LDS/GDS instructions of the DS format.
    pub fn is_ds(&self) -> bool {
        self.format == Format::Ds
    }

    /// True if nothing after the instruction belongs to its basic block.
    pub fn ends_block(&self) -> bool {
        matches!(self.class, Class::Branch | Class::Endpgm)
    }

    /// True if control may continue with the next instruction. (`s_swappc`, `s_call` return, so it does there too.)
    pub fn falls_through(&self) -> bool {
        !self.does(Behaviours::LEAVES) && self.class != Class::Endpgm
    }

    /// Position of the operand that holds a branch distance, if this is a branch that has one.
    pub fn branch_operand(&self) -> Option<usize> {
        if self.class == Class::Branch { self.operand_index("simm16") } else { None }
    }

    /// The op_sel bit that stands for the half of the destination, if there is one. It selects the half of narrow VOP3
    /// results; some instructions whose result fills the register have the bit too.
    pub fn op_sel_dst_bit(&self) -> Option<u8> {
        self.half.map(|_| self.op_sel_bits - 1)
    }

    /// True if the result is at most 16 bits wide and the rest of the destination register is kept.
    ///
    /// ```
    /// use gcn_isa::{Target, table};
    /// let keeps = |name| table::find(Target::GFX942, name).next().unwrap().keeps_other_half();
    /// assert!(keeps("v_mad_u16") && keeps("v_cvt_pk_fp8_f32"));
    /// assert!(!keeps("v_mad_u32_u16") && !keeps("v_alignbit_b32") && !keeps("v_pack_b32_f16"));
    /// ```
    pub fn keeps_other_half(&self) -> bool {
        self.half == Some(DstHalf::Kept)
    }

    /// The modifiers of an instruction written without any: `op_sel_hi` of VOP3P is all ones (zero on the mixed
    /// precision FMAs, where it says that a source is f16), DPP masks are full, SDWA selects whole dwords, the buffer
    /// format is 8-bit UNORM, required flags are set.
    pub fn default_mods(&self) -> Mods {
        let mut mods = Mods::default();
        let mixed_precision = self.source_mods.1 != 0;
        if self.modifiers.contains(Modifiers::OP_SEL_HI) && !mixed_precision {
            mods.op_sel_hi = (1 << self.op_sel_bits) - 1;
        }
        if self.format == Format::Mtbuf {
            mods.format = 1;
        }
        if self.modifiers.contains(Modifiers::DPP_CTRL) {
            // quad_perm:[0,1,2,3], the identity; 64-bit DPP has row_newbcast alone.
            let ctrl = if self.dpp_newbcast_only { 0x150 } else { 0xe4 };
            mods.dpp = Some(Dpp { ctrl, row_mask: 0xf, bank_mask: 0xf, bound_ctrl: false });
        }
        if self.format.is_sdwa() {
            mods.sdwa = Some(Sdwa { dst_sel: 6, dst_unused: 2, src0_sel: 6, src1_sel: 6 });
        }
        mods.glc = self.required.contains(Modifiers::GLC);
        mods.offen = self.required.contains(Modifiers::OFFEN);
        mods.idxen = self.required.contains(Modifiers::IDXEN);
        mods.lds = self.required.contains(Modifiers::LDS);
        mods.gds = self.required.contains(Modifiers::GDS);
        mods
    }
}

/// Encoding format.
#[allow(missing_docs, reason = "the manuals' format names")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Format {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
    Smem,
    Vop1,
    Vop1Dpp,
    Vop1Sdwa,
    Vop2,
    Vop2Dpp,
    Vop2Sdwa,
    Vopc,
    VopcSdwa,
    Vop3a,
    Vop3b,
    Vop3p,
    Vop3pMai,
    Vop3px2,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
}

impl Format {
    /// The formats with their names in the table files.
    pub const NAMES: [(&'static str, Format); 25] = [
        ("SOP1", Format::Sop1),
        ("SOP2", Format::Sop2),
        ("SOPC", Format::Sopc),
        ("SOPK", Format::Sopk),
        ("SOPP", Format::Sopp),
        ("SMEM", Format::Smem),
        ("VOP1", Format::Vop1),
        ("VOP1_DPP", Format::Vop1Dpp),
        ("VOP1_SDWA", Format::Vop1Sdwa),
        ("VOP2", Format::Vop2),
        ("VOP2_DPP", Format::Vop2Dpp),
        ("VOP2_SDWA", Format::Vop2Sdwa),
        ("VOPC", Format::Vopc),
        ("VOPC_SDWA", Format::VopcSdwa),
        ("VOP3A", Format::Vop3a),
        ("VOP3B", Format::Vop3b),
        ("VOP3P", Format::Vop3p),
        ("VOP3P_MAI", Format::Vop3pMai),
        ("VOP3PX2", Format::Vop3px2),
        ("DS", Format::Ds),
        ("FLAT", Format::Flat),
        ("GLOBAL", Format::Global),
        ("SCRATCH", Format::Scratch),
        ("MUBUF", Format::Mubuf),
        ("MTBUF", Format::Mtbuf),
    ];

    /// True for the vector ALU formats, matrix instructions included.
    pub fn is_vop(self) -> bool {
        (Format::Vop1..=Format::Vop3px2).contains(&self)
    }
}

/// An operand slot of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperandDesc {
    /// Field name: `vdst`, `src0`, `sdata`, `srsrc` …
    pub name: &'static str,
    /// Whether it is read, written or both.
    pub access: Access,
    /// What may stand there.
    pub kinds: OperandKinds,
    /// Width in dwords; 0 if not a register. f8f6f4 operands whose width follows `cbsz`/`blgp` have their largest.
    pub dwords: u8,
    /// Named special registers accepted here, comma separated; 32-bit operands are listed by their `_lo` half,
    /// `ttmp` stands for the trap temporaries.
    pub specials: &'static str,
}

impl OperandDesc {
    /// True if the special register `name` (as listed in the table: `vcc_lo`, `exec`, `m0`, `src_scc` …) may stand here.
    pub fn allows_special(&self, name: &str) -> bool {
        self.specials.split(',').any(|s| s == name)
    }
}

/// Operand access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Read and written.
    ReadWrite,
}

/// Two operands that must be in the same vector register file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SameFile {
    /// Index of one operand.
    pub a: u8,
    /// Index of the other.
    pub b: u8,
}

bitflags! {
    /// What an operand slot accepts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct OperandKinds: u16 {
        /// VGPR.
        const VGPR = 1;
        /// AGPR.
        const AGPR = 2;
        /// SGPR.
        const SGPR = 4;
        /// Integer inline constant.
        const INLINE_INT = 8;
        /// Float inline constant.
        const INLINE_FLOAT = 16;
        /// 32-bit literal.
        const LITERAL = 32;
        /// Literal of which 16 bits count.
        const LITERAL16 = 64;
        /// Named special register, see [`OperandDesc::specials`].
        const SPECIAL = 128;
        /// Immediate field.
        const IMM = 256;
        /// The keyword `off`.
        const OFF = 512;
    }

    /// Registers that the text does not show.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct ImplicitRegs: u8 {
        /// EXEC.
        const EXEC = 1;
        /// VCC.
        const VCC = 2;
        /// SCC.
        const SCC = 4;
        /// M0.
        const M0 = 8;
        /// FLAT_SCRATCH.
        const FLAT_SCRATCH = 16;
        /// MODE.
        const MODE = 32;
    }
}

/// The half of the destination that the last bit of `op_sel` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DstHalf {
    /// The result goes there, and the other half stays.
    Kept,
    /// The bit exists, but the result fills the register.
    Filled,
}

/// Memory bytes per lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemBytes {
    /// The instruction moves no data, or the count is not fixed.
    None,
    /// So many bytes.
    Bytes(u8),
    /// So many components of the buffer's format.
    FormatComponents(u8),
}

macro_rules! classes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Scheduling and hazard class of a row.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Class { $($(#[$doc])* $name,)* }

        impl Class {
            pub(super) fn parse(text: &str) -> Option<Class> {
                match text { $($text => Some(Class::$name),)* _ => None }
            }

            /// The class's name in the table files.
            pub fn name(self) -> &'static str {
                match self { $(Class::$name => $text,)* }
            }
        }
    };
}

impl Class {
    /// True if the instruction reads and writes memory at one moment.
    pub const fn is_atomic(self) -> bool {
        use Class as C;
        matches!(
            self,
            C::SmemAtomic
                | C::SmemAtomicRet
                | C::LdsAtomic
                | C::LdsAtomicRet
                | C::VmemAtomic
                | C::VmemAtomicRet
                | C::FlatAtomic
                | C::FlatAtomicRet
                | C::GlobalAtomic
                | C::GlobalAtomicRet
        )
    }

    /// True if a scheduler moves nothing across such an instruction, nor it: it changes how others work, is seen from outside,
    /// or asks for its neighbours.
    pub const fn is_boundary(self) -> bool {
        use Class as C;
        matches!(
            self,
            C::Branch
                | C::Endpgm
                | C::Barrier
                | C::Waitcnt
                | C::Nop
                | C::Sleep
                | C::Sendmsg
                | C::Trap
                | C::SoppMisc
                | C::Setreg
                | C::Getreg
                | C::GprIdx
                | C::MovrelSource
                | C::MovrelDestination
                | C::CacheCtl
                | C::SmemCache
                | C::SmemTime
                | C::Gds
                | C::Gws
                | C::MfmaLdScale
        )
    }
}

classes! {
    /// Vector ALU.
    Valu = "valu",
    /// Transcendental vector ALU.
    Trans = "trans",
    /// Dot product ("DL op").
    ValuDot = "valu_dot",
    /// Vector compare.
    Cmp = "cmp",
    /// Vector compare that writes EXEC.
    Cmpx = "cmpx",
    /// `v_nop`.
    Vnop = "vnop",
    /// `v_readlane_b32`, `v_readfirstlane_b32`.
    Readlane = "readlane",
    /// `v_writelane_b32`.
    Writelane = "writelane",
    /// `v_permlane*_swap`.
    Permlane = "permlane",
    /// `v_accvgpr_read_b32`.
    AccvgprRead = "accvgpr_read",
    /// `v_accvgpr_write_b32`.
    AccvgprWrite = "accvgpr_write",
    /// `v_accvgpr_mov_b32`.
    AccvgprMov = "accvgpr_mov",
    /// Matrix instruction of the XDL pipe.
    MfmaXdl = "mfma_xdl",
    /// f32 matrix instruction (told apart on gfx942 and later).
    MfmaSgemm = "mfma_sgemm",
    /// f64 matrix instruction.
    MfmaDgemm = "mfma_dgemm",
    /// Sparse matrix instruction.
    Smfmac = "smfmac",
    /// `v_mfma_ld_scale_b32`.
    MfmaLdScale = "mfma_ld_scale",
    /// Scalar ALU.
    Salu = "salu",
    /// `s_movrels_*`: the source is at a distance of M0 from the one named.
    MovrelSource = "movrel_source",
    /// `s_movreld_*`: the destination is at a distance of M0 from the one named.
    MovrelDestination = "movrel_destination",
    /// `s_set_gpr_idx_*`.
    GprIdx = "gpr_idx",
    /// `s_setreg*`.
    Setreg = "setreg",
    /// `s_getreg_b32`.
    Getreg = "getreg",
    /// Branches, calls, returns.
    Branch = "branch",
    /// `s_barrier`.
    Barrier = "barrier",
    /// `s_waitcnt`.
    Waitcnt = "waitcnt",
    /// `s_nop`.
    Nop = "nop",
    /// `s_sleep`.
    Sleep = "sleep",
    /// `s_endpgm*`.
    Endpgm = "endpgm",
    /// `s_sendmsg*`.
    Sendmsg = "sendmsg",
    /// `s_trap`.
    Trap = "trap",
    /// Other program-control instructions.
    SoppMisc = "sopp_misc",
    /// Scalar load.
    SmemLoad = "smem_load",
    /// Scalar store.
    SmemStore = "smem_store",
    /// Scalar atomic.
    SmemAtomic = "smem_atomic",
    /// Scalar atomic with return.
    SmemAtomicRet = "smem_atomic_ret",
    /// Scalar cache control.
    SmemCache = "smem_cache",
    /// `s_memtime`, `s_memrealtime`.
    SmemTime = "smem_time",
    /// LDS read.
    LdsRead = "lds_read",
    /// LDS write.
    LdsWrite = "lds_write",
    /// LDS atomic.
    LdsAtomic = "lds_atomic",
    /// LDS atomic with return.
    LdsAtomicRet = "lds_atomic_ret",
    /// `ds_swizzle`, `ds_permute`, `ds_bpermute`.
    LdsPermute = "lds_permute",
    /// `ds_nop`.
    LdsNop = "lds_nop",
    /// GDS-only instructions.
    Gds = "gds",
    /// Global wave sync.
    Gws = "gws",
    /// Buffer load.
    VmemLoad = "vmem_load",
    /// Buffer load into LDS.
    VmemLoadLds = "vmem_load_lds",
    /// Buffer store.
    VmemStore = "vmem_store",
    /// Buffer store from LDS.
    VmemStoreLds = "vmem_store_lds",
    /// Buffer atomic.
    VmemAtomic = "vmem_atomic",
    /// Buffer atomic with return.
    VmemAtomicRet = "vmem_atomic_ret",
    /// Vector cache control.
    CacheCtl = "cache_ctl",
    /// Flat load.
    FlatLoad = "flat_load",
    /// Flat store.
    FlatStore = "flat_store",
    /// Flat atomic.
    FlatAtomic = "flat_atomic",
    /// Flat atomic with return.
    FlatAtomicRet = "flat_atomic_ret",
    /// Global load.
    GlobalLoad = "global_load",
    /// Global load into LDS.
    GlobalLoadLds = "global_load_lds",
    /// Global store.
    GlobalStore = "global_store",
    /// Global atomic.
    GlobalAtomic = "global_atomic",
    /// Global atomic with return.
    GlobalAtomicRet = "global_atomic_ret",
    /// Scratch load.
    ScratchLoad = "scratch_load",
    /// Scratch load into LDS.
    ScratchLoadLds = "scratch_load_lds",
    /// Scratch store.
    ScratchStore = "scratch_store",
}
