//! Rules of the matrix instructions from gfx90a on: rules about their inputs and rules about the instructions that read their results.
//!
//! "Exactly the same registers" means the same first register and the same size, as in an accumulation.

use super::row::{cite, rule};
use super::rule::{
    Rule,
    WaitStates::{Const, OnlyAt2, Passes, PassesBut2},
};

/// Rules about the inputs of matrix instructions, and rules about the instructions after them that apply regardless of the registers that
/// the matrix instructions write.
pub(super) const INPUT_RULES: &[Rule] = &[
    rule!("cdna3.100", "vector ALU writes a VGPR or AGPR, then a matrix instruction reads it";
          VALU but DL => MATRIX, [vector VSRC]; FROM_GFX90A: Const(2);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("llvm.cmpx-mfma", "vector ALU writes EXEC, then a matrix instruction follows";
          VALU => MATRIX, [writes EXEC]; FROM_GFX90A: Const(4);
          cite::LLVM, LLVM rocroller Agrees;
          "the result in EXEC is not forwarded to the matrix pipe. MI100 ISA table 29 has the same rule for gfx908"),
    rule!("llvm.dgemm-fma64",
          "an f64 matrix instruction is followed by v_fma_f64 or v_fmac_f64, with any registers";
          DGEMM => FMA64, [always]; FROM_GFX90A: Const(2);
          cite::LLVM, LLVM),
    rule!("llvm.xdl-srcc-war",
          "a matrix instruction reads registers as source C, then a vector ALU instruction or a load writes one of them";
          XDL => VALU | MEMORY, [registers SRC_C, VDST, Any]; FROM_GFX90A: Passes(-1);
          cite::LLVM, LLVM rocroller Agrees;
          "a matrix instruction reads source C throughout its execution, but sources A and B only at its start"),
    rule!("rocroller.xdl-srcc-war",
          "a matrix instruction reads registers as source C, then a vector ALU instruction writes one of them (up to four more wait states than llvm.xdl-srcc-war)";
          XDL => VALU, [registers SRC_C, VDST, Any]; MI200: PassesBut2 { at2: 1, plus: 3 };
          cite::ROCROLLER, ROCROLLER),
    rule!("rocroller.sgemm-srcc-war",
          "an f32 matrix instruction reads registers as source C, then a vector ALU instruction writes one of them";
          SGEMM => VALU, [registers SRC_C, VDST, Any]; GFX940: Passes(-1);
          cite::ROCROLLER, ROCROLLER; "LLVM has this rule only for XDL matrix instructions"),
];

/// Rules about the results of XDL and SMFMAC instructions (on gfx90a, of every matrix instruction except the f64 ones).
pub(super) const XDL_RULES: &[Rule] = &[
    rule!("cdna3.102", "an XDL matrix instruction writes registers, then an XDL or f32 matrix instruction reads exactly the same registers as source C";
          XDL => XDL | SGEMM, [source_c Exact]; GFX940: OnlyAt2(2);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.102.passes",
          "an XDL matrix instruction writes registers, then one with another number of passes accumulates onto exactly the same registers";
          XDL => XDL, [source_c ExactOtherPasses]; MI200: Passes(0), MI300: Passes(1), MI350: Passes(2);
          cite::TABLE_37, ABOVE_LLVM rocroller Less;
          "if the registers are exactly the same, the manual requires fewer wait states only between instructions with the same number of passes. LLVM compares only the registers"),
    rule!("llvm.102.opcode",
          "an XDL matrix instruction writes registers, then another XDL opcode with the same number of passes accumulates onto exactly the same registers";
          XDL => XDL, [source_c ExactSamePassesOtherOpcode];
          MI200: Passes(0), MI300: Passes(1), MI350: Passes(2);
          "LLVM pull request 218363", of(Less, Less) rocroller Less;
          "the manual requires fewer wait states in this case. LLVM pull request 218363 (open) proposes the number given here"),
    rule!("cdna3.103", "an XDL matrix instruction writes registers, then an XDL matrix instruction reads overlapping registers as source C";
          XDL => XDL, [source_c Partial]; MI200: Passes(0), MI300: Passes(1), MI350: Passes(2);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.104", "an XDL matrix instruction writes registers, then an f32 or f64 matrix instruction reads overlapping registers as source C";
          XDL => SGEMM | DGEMM, [source_c Partial];
          MI200_MI300: Passes(1), MI350: PassesBut2 { at2: 3, plus: 2 };
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.104.exact", "an XDL matrix instruction writes registers, then an f32 matrix instruction reads exactly the same registers as source C";
          XDL => SGEMM, [source_c Exact]; MI300: Passes(1), MI350: PassesBut2 { at2: 3, plus: 2 };
          cite::TABLE_37, ABOVE_LLVM rocroller Less;
          "LLVM requires fewer wait states if the registers are exactly the same; the manual makes no such exception"),
    rule!("cdna3.105", "an XDL matrix instruction writes a register, then a matrix instruction reads it as source A or B, index or scale";
          XDL => MATRIX, [vector SRC_AB | INDEX];
          MI200_MI300: Passes(3), MI350: PassesBut2 { at2: 5, plus: 4 };
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.106", "an XDL matrix instruction writes a register, then a vector ALU or memory instruction reads it";
          XDL => VALU | MEMORY, [vector VSRC]; MI200_MI300: Passes(3), MI350: PassesBut2 { at2: 5, plus: 4 };
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.106.write", "an XDL matrix instruction writes a register, then a vector ALU instruction writes it";
          XDL => VALU, [vector VDST]; MI200_MI300: Passes(3), MI350: PassesBut2 { at2: 5, plus: 4 };
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("llvm.106.load", "an XDL matrix instruction writes a register, then a load writes it";
          XDL => MEMORY, [vector VDST]; MI200_MI300: Passes(3), MI350: PassesBut2 { at2: 5, plus: 4 };
          cite::LLVM, LLVM;
          "a load takes longer than any matrix instruction, but nothing in the hardware orders the two writes"),
];

/// Rules about the results of the f32 matrix instructions (on targets that distinguish them) and of the f64 ones.
pub(super) const F32_F64_RULES: &[Rule] = &[
    rule!("cdna3.107", "an f32 matrix instruction writes registers, then an XDL matrix instruction reads exactly the same registers as source C";
          SGEMM => XDL, [source_c Exact]; GFX940: OnlyAt2(2);
          cite::TABLE_37, ABOVE_MANUAL rocroller Agrees; "the manual requires no wait states in this case, even if the first instruction has two passes"),
    rule!("cdna3.108", "an f32 matrix instruction writes registers, then an XDL matrix instruction reads overlapping registers as source C";
          SGEMM => XDL, [source_c Partial]; GFX940: Passes(0);
          cite::TABLE_37, ABOVE_LLVM rocroller Agrees; "LLVM inserts no wait states here"),
    rule!("cdna3.108.passes",
          "an f32 matrix instruction writes registers, then an XDL matrix instruction with another number of passes reads exactly the same registers as source C";
          SGEMM => XDL, [source_c ExactOtherPasses]; GFX940: Passes(0);
          cite::TABLE_37, ABOVE_LLVM rocroller Less; "LLVM inserts no wait states here"),
    rule!("cdna3.109", "an f32 matrix instruction writes registers, then an f32 or f64 matrix instruction reads overlapping registers as source C";
          SGEMM => SGEMM | DGEMM, [source_c Partial]; GFX940: Passes(0);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.109.opcode",
          "an f32 matrix instruction writes registers, then another f32 or f64 opcode accumulates onto exactly the same registers";
          SGEMM => SGEMM | DGEMM, [source_c ExactOtherOpcode]; GFX940: Passes(0);
          cite::TABLE_37, ABOVE_LLVM rocroller Less;
          "LLVM requires fewer wait states if the registers are exactly the same; the manual's table makes no such exception"),
    rule!("cdna3.109.same",
          "an f32 matrix instruction writes registers, then an f32 matrix instruction accumulates onto exactly the same registers";
          SGEMM => SGEMM, [source_c Exact]; GFX940: OnlyAt2(2);
          cite::TABLE_37, AGREED rocroller Agrees;
          "the line of the manual's table has the comment \"overlapped\", but no exception for exactly the same registers. Every f32 GEMM relies on such an exception"),
    rule!("cdna3.110",
          "an f32 matrix instruction writes a register, then a matrix instruction reads it as source A or B, index or scale";
          SGEMM => MATRIX, [vector SRC_AB | INDEX]; GFX940: Passes(2);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.111", "an f32 matrix instruction writes a register, then a vector ALU or memory instruction reads it";
          SGEMM => VALU | MEMORY, [vector VSRC]; GFX940: Passes(2);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.111.write", "an f32 matrix instruction writes a register, then a vector ALU instruction writes it";
          SGEMM => VALU, [vector VDST]; GFX940: Passes(2);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("llvm.111.load", "an f32 matrix instruction writes a register, then a load writes it";
          SGEMM => MEMORY, [vector VDST]; GFX940: Passes(2);
          cite::LLVM, LLVM),
    rule!("cdna3.113", "v_mfma_f64_16x16x4 writes registers, then an f64 matrix instruction reads overlapping registers as source C";
          DGEMM16 => DGEMM, [source_c Partial]; MI200_MI300: Const(9), MI350: Const(17);
          cite::TABLE_37, AGREED rocroller Agrees;
          "no wait states are needed if the registers are exactly the same and so is the opcode (case 112)"),
    rule!("cdna3.113.sgemm", "v_mfma_f64_16x16x4 writes a register, then an f32 matrix instruction reads it as source C";
          DGEMM16 => SGEMM, [source_c Any]; MI300: Const(9), MI350: Const(17);
          cite::TABLE_37, AGREED rocroller Less; "if the second is an XDL matrix instruction, no wait states are needed (cases 114 and 115)"),
    rule!("cdna3.116",
          "v_mfma_f64_16x16x4 writes a register, then a matrix instruction reads it as source A or B, index or scale";
          DGEMM16 => MATRIX, [vector SRC_AB | INDEX]; MI200_MI300: Const(11), MI350: Const(19);
          cite::TABLE_37, AGREED rocroller Agrees; "the rule combines cases 116, 117 and 118"),
    rule!("cdna3.119", "v_mfma_f64_16x16x4 writes a register, then a vector ALU instruction reads it";
          DGEMM16 => VALU, [vector VSRC]; MI200_MI300: Const(11), MI350: Const(19);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.119.write", "v_mfma_f64_16x16x4 writes a register, then a vector ALU instruction writes it";
          DGEMM16 => VALU, [vector VDST]; FROM_GFX90A: Const(11);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.119.write.gfx950",
          "v_mfma_f64_16x16x4, with twice the passes on gfx950, writes a register, then a vector ALU instruction writes it";
          DGEMM16 => VALU, [vector VDST]; MI350: Const(19);
          cite::EXTRAPOLATED, of(Silent, Less);
          "LLVM requires 11 wait states, fewer than before a vector ALU instruction that reads the register; no manual covers gfx950"),
    rule!("cdna3.120", "v_mfma_f64_16x16x4 writes a register, then a memory instruction reads it";
          DGEMM16 => MEMORY, [vector VSRC]; FROM_GFX90A: Const(18);
          cite::TABLE_37, AGREED rocroller Agrees),
    rule!("cdna3.120.gfx950",
          "v_mfma_f64_16x16x4, with twice the passes on gfx950, writes a register, then a memory instruction reads it";
          DGEMM16 => MEMORY, [vector VSRC]; MI350: Const(26);
          cite::EXTRAPOLATED, of(Silent, Less);
          "LLVM requires only 18 wait states on gfx950, as many as on gfx942, and fewer than before a vector ALU instruction that reads the register. LLVM's other numbers for this instruction are 8 higher on gfx950 than on gfx942; the rule adds 8 here, too. A matrix multiplication that Triton ships leaves 25"),
    rule!("llvm.dgemm16-load", "v_mfma_f64_16x16x4 writes a register, then a load writes it";
          DGEMM16 => MEMORY, [vector VDST]; FROM_GFX90A: Const(11);
          cite::LLVM, LLVM),
    rule!("llvm.dgemm4.srcc", "v_mfma_f64_4x4x4 writes a register, then an f64 matrix instruction reads it as source C";
          DGEMM4 => DGEMM, [source_c Any]; FROM_GFX90A: Const(4);
          cite::LLVM, LLVM rocroller Agrees; "the rule also applies if the registers are exactly the same"),
    rule!("llvm.dgemm4.srcc-sgemm", "v_mfma_f64_4x4x4 writes a register, then an f32 matrix instruction reads it as source C";
          DGEMM4 => SGEMM, [source_c Any]; GFX940: Const(4);
          cite::LLVM, LLVM rocroller Less),
    rule!("llvm.dgemm4.input",
          "v_mfma_f64_4x4x4 writes a register, then a matrix instruction reads it as source A or B, index or scale";
          DGEMM4 => MATRIX, [vector SRC_AB | INDEX]; FROM_GFX90A: Const(6);
          cite::LLVM, LLVM rocroller Agrees),
    rule!("llvm.dgemm4.valu",
          "v_mfma_f64_4x4x4 writes a register, then a vector ALU instruction uses it or a load writes it";
          DGEMM4 => VALU | MEMORY, [vector VSRC | VDST]; FROM_GFX90A: Const(6);
          cite::LLVM, LLVM rocroller Agrees),
    rule!("llvm.dgemm.between",
          "vector ALU writes a VGPR, v_mfma_f64 follows, then a memory instruction reads the VGPR";
          VALU => MEMORY, [crossing VSRC, DGEMM]; MI200: Const(2);
          cite::LLVM, LLVM),
    rule!("llvm.dgemm4.memory", "v_mfma_f64_4x4x4 writes a register, then a memory instruction reads it";
          DGEMM4 => MEMORY, [vector VSRC]; FROM_GFX90A: Const(9);
          cite::LLVM, LLVM rocroller Agrees),
];
