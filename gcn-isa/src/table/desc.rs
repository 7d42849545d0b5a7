//! The structure of a table row.

use super::class::Class;
use super::entry::{Behaviours, Entry};
use super::format::{Format, Unit};
use super::slot::{Access, DstHalf, ImplicitRegs, MemBytes, OperandBits, OperandDesc, SameFile, WaveSizes};
use crate::mods::{Dpp, DppControls, Modifiers, Mods, Sdwa, TemporalHints};
use crate::target::{Family, Generation, InstructionSet, Subtarget, Target, TargetSet};

/// One instruction in one encoding and addressing form, on the instruction sets where its facts do not differ.
#[derive(Debug)]
pub struct InstDesc {
    /// Index into [`super::rows`].
    pub id: u16,
    /// The name without `_e32`, `_e64`, `_dpp`, `_sdwa`.
    pub mnemonic: &'static str,
    /// The name as the disassembler prints it.
    pub printed: &'static str,
    /// The encoding format.
    pub format: Format,
    /// Addressing form: SMEM `imm`, `sgpr`, `sgpr_imm`; MUBUF/MTBUF `offset`, `offen`, `idxen`, `bothen` (`_lds`);
    /// GLOBAL/SCRATCH `vaddr`, `saddr`, `vaddr_saddr`, `noaddr` (`_lds`); atomics prefixed `rtn_` or `nortn_`; else empty.
    pub form: &'static str,
    /// The instruction sets to which the row applies.
    pub targets: TargetSet,
    /// The wave sizes to which the row applies.
    pub waves: WaveSizes,
    /// The opcode field of the format. For the FLAT family, its 7 bits; the segment is part of the format.
    pub opcode: u16,
    /// The size in bytes without an optional literal (madmk, madak, fmamk, fmaak and `s_setreg_imm32_b32` include
    /// theirs).
    pub bytes: u8,
    /// The operands in assembly order.
    pub operands: &'static [OperandDesc],
    /// Pairs of operands that must both be VGPRs or both AGPRs.
    pub same_file: &'static [SameFile],
    /// The registers that the instruction reads implicitly.
    pub implicit_reads: ImplicitRegs,
    /// The registers that the instruction writes implicitly.
    pub implicit_writes: ImplicitRegs,
    /// The modifiers that the instruction accepts.
    pub modifiers: Modifiers,
    /// The modifiers that this form requires.
    pub required: Modifiers,
    /// The inclusive range of `offset:` (or of the SMEM offset), if there is one.
    pub offset_range: Option<(i32, i32)>,
    /// The operands that modifiers may change.
    pub bits: OperandBits,
    /// The DPP controls of the form.
    pub dpp_controls: DppControls,
    /// The temporal hints that `th:` can give.
    pub hints: TemporalHints,
    /// The largest value of `byte_sel` or `index_key`; 0 without them.
    pub last_selector: u8,
    /// The scheduling and hazard class.
    pub class: Class,
    /// The number of memory bytes transferred for each lane, or for the wave in the case of scalar memory.
    pub mem_bytes: MemBytes,
    /// 2 if VGPR and AGPR tuples must start at an even register, otherwise 1.
    pub vgpr_align: u8,
    /// The meaning of the last bit of `op_sel`, if it selects a half of the destination.
    pub half: Option<DstHalf>,
    /// True if an assembler accepts two notations: one that names halves of registers, and one that names whole registers and selects the
    /// halves by `op_sel`.
    pub halves_by_op_sel: bool,
    /// True if the widths of A and B depend on `cbsz` and `blgp`. The operands then have the largest width.
    pub width_by_format: bool,
    /// The two instructions of which a VOPD instruction consists, each with its own operands; `None` for all other instructions.
    pub halves: Option<[&'static InstDesc; 2]>,
    /// The common properties of all forms of the mnemonic.
    pub entry: &'static Entry,
}

impl PartialEq for InstDesc {
    /// Rows are unique, so rows are equal only if they are identical.
    fn eq(&self, other: &InstDesc) -> bool {
        self.id == other.id
    }
}

impl Eq for InstDesc {}

impl InstDesc {
    /// True if the row exists on the processor for this wave size.
    pub fn is_on(&self, on: Subtarget) -> bool {
        self.targets.contains(on.target) && self.waves.has(on.wave)
    }

    /// The first instruction set of the row.
    pub fn instruction_set(&self) -> InstructionSet {
        self.targets.iter().next().unwrap_or(InstructionSet::GFX900)
    }

    /// The family of the row's instruction sets.
    pub fn family(&self) -> Family {
        self.instruction_set().family()
    }

    /// The bit of `op_sel` that selects the half of the operand's register; `None` if the operand is not a half.
    pub fn half_bit(&self, operand: &OperandDesc) -> Option<u8> {
        if !operand.is_half() {
            return None;
        }
        let place = self.operands.iter().filter(|o| o.is_source()).position(|o| o.name == operand.name);
        // The bit of the destination comes after those of the sources.
        Some(place.map_or(self.sources(), |place| place as u8))
    }

    /// The number of sources that have bits in the modifiers of a vector instruction. A destination that is also read
    /// counts as the last source.
    pub fn sources(&self) -> u8 {
        let named = self.operands.iter().filter(|o| o.is_source()).count();
        let accumulates = !self.does(Behaviours::KEEPS_PART)
            && self.format.is_vop()
            && self.operands.iter().any(|o| o.name == "vdst" && o.access == Access::ReadWrite);
        named as u8 + u8::from(accumulates)
    }

    /// The generation whose encoding the row has. A row never applies to several generations.
    pub fn generation(&self) -> Generation {
        self.instruction_set().generation()
    }

    /// The number of matrix passes (4 clocks each) on `target`; `None` for instructions that are not matrix instructions and for the gfx950
    /// f8f6f4 forms, for which the number depends on the formats selected by `cbsz` and `blgp`.
    pub fn passes(&self, target: Target) -> Option<u8> {
        self.entry.passes.iter().find(|passes| passes.0.contains(target)).map(|passes| passes.1)
    }

    /// The same as [`InstDesc::passes`], but with these modifiers; 0 for instructions that are not matrix instructions. The f8f6f4
    /// instructions of gfx950 take twice the passes if at least one of the formats (selected by `cbsz` and `blgp`) has 8 bits.
    pub fn passes_with(&self, target: Target, mods: &Mods) -> u8 {
        let eight_bits = mods.cbsz <= 1 || mods.blgp <= 1;
        let by_format = self.entry.passes_by_format * (1 + u8::from(eight_bits));
        self.passes(target).unwrap_or(by_format)
    }

    /// The number of different scalar values that the instruction may read if it is a vector instruction. It is
    /// [`InstructionSet::constant_bus_reads`], except that 64-bit shifts have the limit from before RDNA on all instruction sets up to RDNA
    /// 4 (measured with LLVM 22).
    ///
    /// ```
    /// use gcn_isa::{Target, table};
    /// let reads = |name| table::find_operation(Target::GFX1100, name).next().unwrap().constant_bus_reads(Target::GFX1100);
    /// assert_eq!([reads("v_add_f32"), reads("v_lshlrev_b64")], [2, 1]);
    /// ```
    pub fn constant_bus_reads(&self, target: Target) -> usize {
        let free = target.reads_scalars_in_long_shifts() && !self.does(Behaviours::READS_ONE_SCALAR);
        let one = self.does(Behaviours::SHIFTS_PAIR) && !free;
        if one { 1 } else { target.constant_bus_reads() }
    }

    /// True if the instruction has all of these behaviours.
    pub fn does(&self, behaviours: Behaviours) -> bool {
        self.entry.behaviours.contains(behaviours)
    }

    /// True if the result is wrong on `target` if it shares registers with a source: the instruction writes a part of the result before it
    /// has read all sources, or forwards it to itself
    /// ([`InstructionSet::forwards_wide_sums_wrongly`](crate::InstructionSet::forwards_wide_sums_wrongly)).
    ///
    /// ```
    /// use gcn_isa::{Target, table};
    /// let early = |target, name| table::find_operation(target, name).next().unwrap().writes_early(target);
    /// assert!(early(Target::GFX942, "v_mqsad_u32_u8") && !early(Target::GFX942, "v_mad_u64_u32"));
    /// assert!(early(Target::GFX1100, "v_mad_u64_u32") && !early(Target::GFX1151, "v_mad_u64_u32"));
    /// ```
    pub fn writes_early(&self, target: Target) -> bool {
        self.does(Behaviours::WRITES_EARLY)
            || self.does(Behaviours::ADDS_WIDE_PRODUCT)
                && target.instruction_set().forwards_wide_sums_wrongly()
    }

    /// The position of the operand with the name `name`; `None` if the row has no such operand.
    pub fn operand_index(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|o| o.name == name)
    }

    /// True for a matrix instruction (MFMA or SMFMAC).
    pub fn is_matrix(&self) -> bool {
        matches!(self.class, Class::MfmaXdl | Class::MfmaSgemm | Class::MfmaDgemm | Class::Smfmac)
    }

    /// True for an instruction that multiplies matrices: [`InstDesc::is_matrix`], or WMMA or SWMMAC, which belong to
    /// the vector ALU.
    pub fn multiplies_matrices(&self) -> bool {
        self.is_matrix() || matches!(self.class, Class::Wmma | Class::Swmmac)
    }

    /// True for a vector ALU instruction other than a matrix instruction. Moves from and to AccVGPRs and lane moves are included.
    pub fn is_valu(&self) -> bool {
        self.format.is_vop() && !self.is_matrix()
    }

    /// True for a scalar ALU or program-control instruction (SOP1/2/C/K/P).
    pub fn is_salu(&self) -> bool {
        self.format.unit() == Unit::Scalar
    }

    /// True for scalar memory.
    pub fn is_smem(&self) -> bool {
        self.format.unit() == Unit::ScalarMemory
    }

    /// True for vector memory: MUBUF, MTBUF, FLAT, GLOBAL, SCRATCH.
    pub fn is_vmem(&self) -> bool {
        self.format.unit() == Unit::VectorMemory
    }

    /// True for LDS/GDS instructions of the DS format.
    pub fn is_ds(&self) -> bool {
        self.format.unit() == Unit::Lds
    }

    /// True if the instruction is the last of its basic block.
    pub fn ends_block(&self) -> bool {
        matches!(self.class, Class::Branch | Class::Endpgm)
    }

    /// True if control may continue with the next instruction. This includes `s_swappc` and `s_call`, because control returns from the
    /// called function, and every trap; [`Inst::falls_through`](crate::Inst::falls_through) also considers the trap's number.
    pub fn falls_through(&self) -> bool {
        !self.does(Behaviours::LEAVES) && self.class != Class::Endpgm
    }

    /// The position of the operand with the branch distance, if this is a branch that has one.
    pub fn branch_operand(&self) -> Option<usize> {
        if self.class == Class::Branch { self.operand_index("simm16") } else { None }
    }

    /// The number of bits in the lists of `op_sel` and `op_sel_hi` in assembly text; 0 if there are no such lists.
    pub fn op_sel_bits(&self) -> u8 {
        if self.has_halves() {
            // There is one bit for each source and one for the destination, regardless of which of them are halves. LLVM 22 omits the
            // destination's bit for compares that write EXEC or have DPP.
            let without = self.class == Class::Cmpx || self.class == Class::Cmp && self.format.is_dpp();
            return self.sources() + u8::from(!without);
        }
        8 - (self.bits.op_sel | self.bits.op_sel_hi).leading_zeros() as u8
    }

    /// True for the long encodings of vector instructions, including those with DPP.
    pub fn is_vop3(&self) -> bool {
        use Format as F;
        matches!(self.format, F::Vop3a | F::Vop3aDpp | F::Vop3aDpp8 | F::Vop3b | F::Vop3bDpp | F::Vop3bDpp8)
    }

    /// True if an operand is a half of a VGPR that a bit of `op_sel` selects.
    pub fn has_halves(&self) -> bool {
        self.operands.iter().any(OperandDesc::is_half)
    }

    /// True for a mixed-precision multiply-add, in which `op_sel_hi` marks the sources that are f16.
    pub fn is_mixed_precision(&self) -> bool {
        matches!(self.format, Format::Vop3p | Format::Vop3pDpp | Format::Vop3pDpp8) && self.bits.abs != 0
    }

    /// The op_sel bit for the half of the destination, if there is one. It selects the half for narrow VOP3 results. Some instructions
    /// whose result fills the register also have the bit.
    pub fn op_sel_dst_bit(&self) -> Option<u8> {
        self.half.map(|_| self.op_sel_bits() - 1)
    }

    /// True if the result is at most 16 bits wide and the rest of the destination register is preserved.
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

    /// True if lanes or bits of a vector result keep their old value, because of a modifier or because the other half
    /// is preserved: see [`Inst::preserves_destination`](crate::Inst::preserves_destination).
    pub fn preserves_destination(&self, mods: &Mods) -> bool {
        mods.keep_a_part() || self.keeps_other_half()
    }

    /// The modifiers of an instruction that is written without any modifiers: `op_sel_hi` of VOP3P is all ones (zero for the
    /// mixed-precision FMAs, where it marks f16 sources), DPP masks are full, SDWA selects whole dwords, the buffer format is 8-bit UNORM,
    /// and required flags are set.
    pub fn default_mods(&self) -> Mods {
        let mut mods = Mods::default();
        if self.modifiers.contains(Modifiers::OP_SEL_HI) && !self.is_mixed_precision() {
            mods.op_sel_hi = self.bits.op_sel_hi;
        }
        if self.is_typed_buffer() {
            mods.format = 1;
        }
        if self.modifiers.contains(Modifiers::DPP8) {
            // [0,1,2,3,4,5,6,7], the identity.
            mods.dpp8 = 0xfac688;
        }
        if self.required.contains(Modifiers::TH) {
            // This form is an atomic that returns the old value.
            mods.th = 1;
        }
        if self.modifiers.contains(Modifiers::DPP_CTRL) {
            // quad_perm:[0,1,2,3], the identity; 64-bit DPP has only row_newbcast.
            let ctrl = if self.dpp_controls == DppControls::ROW_NEWBCAST { 0x150 } else { 0xe4 };
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
