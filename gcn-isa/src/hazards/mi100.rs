//! Rules of the matrix instructions of gfx908, whose AGPRs are a separate register file.

use super::row::{cite, rule};
use super::rule::{
    Rule,
    WaitStates::{Const, Passes},
};

pub(super) const RULES: &[Rule] = &[
    rule!("mi100.valu-mfma",
          "vector ALU writes a VGPR, then a matrix instruction or v_accvgpr_write reads it";
          VALU but ACC_WRITE => MATRIX | ACC_WRITE, [vector VSRC]; MI100: Const(2);
          cite::TABLE_29, AGREED rocroller Agrees; "the first instruction may be v_accvgpr_read, which is a vector ALU instruction that writes a VGPR"),
    rule!("mi100.cmpx-mfma", "vector ALU writes EXEC, then a matrix instruction or v_accvgpr_write follows";
          VALU => MATRIX | ACC_WRITE, [writes EXEC]; MI100: Const(4);
          cite::TABLE_29, AGREED rocroller Agrees),
    rule!("mi100.mfma-srcc", "a matrix instruction writes AGPRs, then a matrix instruction reads overlapping AGPRs as source C";
          MATRIX => MATRIX, [source_c Partial]; MI100: Const(2);
          cite::TABLE_29, AGREED rocroller Agrees;
          "no wait states are needed if the registers are exactly the same and so is the number of passes"),
    rule!("llvm.gfx908.srcc-past",
          "a matrix instruction writes AGPRs, a second one writes exactly the AGPRs that a third one reads as source C";
          MATRIX => MATRIX, [source_c PartialEver]; MI100: Const(2);
          cite::LLVM, of(Silent, Moot);
          "LLVM searches backwards for the instruction that wrote the registers of source C. It skips an instruction that wrote exactly these registers, and so may find an earlier one that wrote some of them"),
    rule!("mi100.mfma-srcc.passes",
          "a matrix instruction writes AGPRs, then one with another number of passes reads exactly the same AGPRs as source C";
          MATRIX => MATRIX, [source_c ExactOtherPasses]; MI100: Const(2);
          cite::TABLE_29, ABOVE_LLVM rocroller Less; "LLVM compares only the registers, not the numbers of passes, and requires no wait states here"),
    rule!("mi100.mfma-srcab", "a matrix instruction writes AGPRs, then a matrix instruction reads them as source A or B";
          MATRIX => MATRIX, [vector SRC_AB]; MI100: Const(4);
          cite::TABLE_29, AGREED rocroller Agrees; "the number of wait states does not depend on the number of passes"),
    rule!("mi100.mfma-accread", "a matrix instruction writes AGPRs, then v_accvgpr_read reads one of them";
          MATRIX => ACC_READ, [vector VSRC]; MI100: Passes(2);
          cite::TABLE_29, AGREED rocroller Agrees),
    rule!("mi100.mfma-accwrite", "a matrix instruction writes AGPRs, then v_accvgpr_write writes one of them";
          MATRIX => ACC_WRITE, [vector VDST]; MI100: Passes(-1);
          cite::TABLE_29, AGREED rocroller Agrees),
    rule!("mi100.mfma-accwrite-war", "a matrix instruction reads AGPRs as source C, then v_accvgpr_write writes one of them";
          MATRIX => ACC_WRITE, [registers SRC_C, VDST, Any]; MI100: Passes(-3);
          cite::TABLE_29, AGREED rocroller Agrees),
    rule!("mi100.accwrite-srcc",
          "v_accvgpr_write writes an AGPR, then a matrix instruction reads it as source C";
          ACC_WRITE => MATRIX, [source_c Any]; MI100: Const(1);
          cite::TABLE_29, AGREED rocroller Agrees),
    rule!("mi100.accwrite-srcab",
          "v_accvgpr_write writes an AGPR, then a matrix instruction reads it as source A or B";
          ACC_WRITE => MATRIX, [vector SRC_AB]; MI100: Const(3);
          cite::TABLE_29, AGREED rocroller Agrees),
    rule!("mi100.accwrite-accread", "v_accvgpr_write writes an AGPR, then v_accvgpr_read reads it";
          ACC_WRITE => ACC_READ, [vector VSRC]; MI100: Const(3);
          cite::TABLE_29, AGREED rocroller Agrees),
    rule!("llvm.gfx908.accwrite-write", "v_accvgpr_write writes an AGPR, then v_accvgpr_write writes it";
          ACC_WRITE => ACC_WRITE, [vector VDST]; MI100: Const(3);
          cite::LLVM, LLVM),
    rule!("llvm.gfx908.accvgpr-between",
          "vector ALU writes a VGPR, v_accvgpr_read or v_accvgpr_write follows, then a memory instruction reads the VGPR";
          VALU => MEMORY, [crossing VSRC, ACC_READ | ACC_WRITE]; MI100: Const(2);
          cite::LLVM, LLVM),
    rule!("llvm.gfx908.accread-memory", "v_accvgpr_read writes a VGPR, then a memory instruction reads it";
          ACC_READ => MEMORY, [vector VSRC]; MI100: Const(2);
          cite::LLVM, LLVM),
];
