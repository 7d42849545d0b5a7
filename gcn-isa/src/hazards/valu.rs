//! Rules of the vector ALU: scalar results, DPP, lane access, moved results, transcendental results, and dot products.

use super::row::{cite, rule};
use super::rule::{Rule, WaitStates::Const};

/// Rules about a vector instruction's writes to SGPRs, VCC and EXEC.
pub(super) const SCALAR_RULES: &[Rule] = &[
    rule!("cdna3.5", "vector ALU writes VCC or EXEC, then VCCZ or EXECZ is read as data";
          VALU => VALU, [scalar ZERO_FLAG]; GFX9: Const(5);
          cite::TABLE_11, MANUAL; "LLVM never reads these flags as data"),
    rule!("cdna3.6", "vector ALU writes an SGPR, then v_readlane or v_writelane uses it as lane number";
          VALU => READLANE | WRITELANE, [scalar LANE_SELECT]; GFX9: Const(4);
          cite::TABLE_11, AGREED rocroller Agrees; "case 18 of the table repeats the rule"),
    rule!("cdna3.7", "vector ALU writes VCC, then v_div_fmas follows";
          VALU => DIV_FMAS, [writes VCC]; GFX9: Const(4);
          cite::TABLE_11, AGREED rocroller Agrees; "a write of either half of VCC is enough for the rule to apply"),
    rule!("cdna3.10", "vector ALU writes an SGPR, then vector memory reads it";
          VALU => VMEM, [registers SDST, SSRC, AnyLive]; GFX9: Const(5);
          cite::TABLE_11, AGREED rocroller Agrees;
          "the rule does not apply if another instruction overwrites the SGPR in between"),
    rule!("llvm.10.overwritten",
          "vector ALU writes an SGPR, another instruction overwrites it, then vector memory reads it";
          VALU => VMEM, [scalar SSRC]; GFX9: Const(5);
          cite::LLVM, of(Silent, Moot);
          "LLVM looks for the last vector ALU instruction that wrote the register, even if another instruction has overwritten the register since"),
    rule!("llvm.exec-vmem", "vector ALU writes EXEC, then a vector memory instruction follows";
          VALU => VMEM, [writes EXEC]; GFX9: Const(5);
          cite::LLVM, LLVM;
          "LLVM counts EXEC as an SGPR operand of every memory instruction, so that case 10 of the manual's table applies"),
    rule!("cdna3.13", "vector ALU writes EXEC, then a DPP instruction follows";
          VALU => DPP, [writes EXEC]; GFX9: Const(5);
          cite::TABLE_11, AGREED),
    rule!("cdna3.18",
          "vector ALU writes an SGPR, VCC or EXEC, then a vector ALU instruction reads it as a constant";
          VALU => VALU, [scalar CONSTANT]; GFX940: Const(2);
          cite::TABLE_11, AGREED rocroller Less; "the manual's word constant means a scalar operand other than a carry-in or mask; some shipping kernels leave no wait state after a v_readlane"),
    rule!("llvm.18.carry",
          "vector ALU writes an SGPR, VCC or EXEC, then a vector ALU instruction reads it as carry-in";
          VALU => VALU, [scalar CARRY]; GFX940: Const(2);
          cite::LLVM, ABOVE_MANUAL rocroller Less;
          "the manual requires no wait state before a carry-in. LLVM does not distinguish a carry-in from another scalar operand"),
    rule!("rocroller.18.mask", "vector ALU writes an SGPR or VCC, then v_cndmask reads it as mask";
          VALU => VALU, [scalar MASK]; GFX940: Const(1);
          cite::ROCROLLER, ABOVE_MANUAL rocroller Agrees;
          "rocRoller requires one wait state if the mask is VCC and two if it is another SGPR. Shipping kernels leave one"),
    rule!("llvm.18.mask",
          "vector ALU writes an SGPR, VCC or EXEC, then v_cndmask reads it as mask (one more wait state than rocroller.18.mask)";
          VALU => VALU, [scalar MASK]; GFX940: Const(2);
          cite::LLVM, ABOVE_MANUAL rocroller Less;
          "LLVM does not distinguish a mask from another scalar operand. Shipping kernels leave one wait state between a compare and v_cndmask"),
    rule!("llvm.18.vcc", "vector ALU writes half of VCC, then a vector ALU instruction reads the other half";
          VALU => READS_VCC, [writes VCC]; GFX940: Const(2);
          cite::LLVM, LLVM; "LLVM treats VCC as one register, so that case 18 of the table applies"),
    rule!("cdna3.18.cmpx-lane", "vector ALU writes EXEC, then v_readlane, v_readfirstlane or v_writelane follows";
          VALU => READLANE | WRITELANE, [writes EXEC]; GFX940: Const(4);
          cite::TABLE_11, AGREED rocroller Agrees),
    rule!("llvm.cmpx-permlane", "vector ALU writes EXEC, then v_permlane_swap follows";
          VALU => PERMLANE, [writes EXEC]; MI350: Const(4);
          cite::LLVM, LLVM rocroller Agrees),
];

/// Rules about a vector instruction's writes to VGPRs.
pub(super) const VECTOR_RULES: &[Rule] = &[
    rule!("cdna3.12",
          "vector ALU writes a VGPR, then a DPP instruction reads it as the source that it permutes";
          ANY_VALU => DPP, [vector PERMUTED]; GFX9: Const(2);
          cite::TABLE_11, AGREED),
    rule!("cdna3.12.other", "vector ALU writes a VGPR, then a DPP instruction reads it other than as the source that it permutes";
          ANY_VALU => DPP, [vector UNPERMUTED]; GFX9: Const(2);
          cite::TABLE_11, of(Covers, Agrees);
          "there are two such reads: that of the second source, and that of the destination's old value in lanes that are masked out. The manual's words include both; some kernels in shipped libraries do not wait before them"),
    rule!("llvm.12.old", "a VGPR is written, then a DPP instruction overwrites it without keeping any of the old value";
          VECTOR => DPP, [vector REPLACED]; GFX9: Const(2);
          cite::LLVM, LLVM;
          "LLVM assumes that every DPP instruction reads the old value of its destination. In fact the old value is not read if all rows and banks are written and lanes without a source get 0"),
    rule!("llvm.12.load", "a load writes a VGPR, then a DPP instruction reads it";
          MEMORY => DPP, [vector VSRC]; GFX9: Const(2);
          cite::LLVM, LLVM; "LLVM inserts the wait states in addition to the wait for the load"),
    rule!("cdna3.19", "vector ALU writes a VGPR, then v_readlane or v_readfirstlane reads it";
          ANY_VALU => READLANE, [vector VSRC]; GFX940: Const(1);
          cite::TABLE_11, AGREED rocroller Agrees),
    rule!("cdna3.20",
          "op_sel or SDWA moves a result within its register, then a vector ALU instruction reads it";
          MOVED_RESULT => ANY_VALU, [vector VSRC]; GFX940: Const(1);
          cite::TABLE_11, AGREED rocroller Agrees),
    rule!("llvm.20.write",
          "op_sel or SDWA moves a result within its register, then a vector ALU instruction writes it";
          MOVED_RESULT => ANY_VALU, [vector VDST]; GFX940: Const(1);
          cite::LLVM, LLVM;
          "an instruction that writes part of a register also reads the register's old value, to compute its parity. LLVM applies the rule to every instruction that writes the register"),
    rule!("llvm.20.packed", "packed math writes a VGPR, then a vector ALU instruction reads or writes it";
          PACKED_HI => ANY_VALU, [vector VSRC | VDST]; GFX940: Const(1);
          cite::LLVM, LLVM;
          "case 20 is about the op_sel bit of the destination. LLVM reads op_sel_hi of source 0 instead of this bit, and so applies the case to packed math. No manual requires this"),
    rule!("gfx950.cvt-scale",
          "a scaled conversion to fp8, bf8 or fp4 writes a VGPR, then a vector ALU instruction uses it";
          NARROW_CVT but STOCHASTIC_FP4 => ANY_VALU, [vector VSRC | VDST]; MI350: Const(1);
          "LLVM pull request 117844", of(Silent, Less);
          "AMD's document on gfx950, which the pull request quotes, requires the wait state after every such conversion. LLVM inserts it only if op_sel selects the upper half. Shipping kernels never have it"),
    rule!("gfx950.cvt-scale.stochastic",
          "a scaled conversion to fp4 with stochastic rounding writes a VGPR, then a vector ALU instruction \
           uses it";
          STOCHASTIC_FP4 => ANY_VALU, [vector VSRC | VDST]; MI350: Const(1);
          "LLVM pull requests 117844 and 118813", LLVM),
    rule!("cdna3.21",
          "a transcendental instruction writes a VGPR, then another vector ALU instruction reads it";
          TRANS => ANY_VALU but TRANS, [vector VSRC]; GFX940: Const(1);
          cite::TABLE_11, AGREED rocroller Agrees),
    rule!("llvm.20.lds-dma",
          "an instruction writes a moved, packed or transcendental result to a VGPR, then a load into LDS reads it";
          MOVED_RESULT | PACKED_HI | TRANS | NARROW_CVT => LDS_DMA, [vector VSRC]; GFX940: Const(1);
          cite::LLVM, LLVM;
          "cases 20 and 21 are about vector ALU instructions; LLVM applies them to loads into LDS, too"),
    rule!("gfx950.permlane", "vector ALU writes a VGPR, then v_permlane_swap reads it";
          ANY_VALU => PERMLANE, [vector VSRC]; MI350: Const(2);
          cite::LLVM, LLVM rocroller Agrees),
    rule!("cdna3.101.same", "a dot product writes a VGPR, then the same opcode reads it as source A or B";
          DL => DL, [registers VDST, SRC_AB, AnySameOpcode]; FROM_GFX90A: Const(3);
          cite::TABLE_37, AGREED rocroller Agrees; "if the result is read as source C, it is forwarded, and no wait states are needed"),
    rule!("cdna3.101.other", "a dot product writes a VGPR, then another opcode reads or writes it";
          DL => VALU | MEMORY, [registers VDST, VSRC | VDST, AnyOtherOpcode]; FROM_GFX90A: Const(3);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.101.mfma", "a dot product writes a VGPR, then a matrix instruction reads or writes it";
          DL => MATRIX, [vector VSRC | VDST]; GFX940: Const(3);
          cite::TABLE_37, ABOVE_LLVM rocroller Agrees;
          "the manual requires the wait states before \"any opcode that is not the same\", which includes matrix instructions. LLVM does not apply the case to matrix instructions"),
    rule!("rocroller.101.mfma", "a dot product writes a VGPR, then a matrix instruction reads or writes it";
          DL => MATRIX, [vector VSRC | VDST]; MI200: Const(3);
          cite::ROCROLLER, ROCROLLER;
          "case 101 is about any opcode other than that of the dot product, which includes matrix instructions. LLVM does not apply the case to matrix instructions"),
];
