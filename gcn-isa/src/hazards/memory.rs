//! Rules of memory instructions: rules about the data of wide stores, and rules about clauses under XNACK.

use super::row::{cite, rule};
use super::rule::{Rule, WaitStates::Const};

pub(super) const RULES: &[Rule] = &[
    rule!("cdna3.8", "a store or atomic of more than 64 bits, then a load that overwrites its data registers";
          WIDE_STORE but SGPR_OFFSET => MEMORY, [registers STORE_DATA, VDST, Any]; GFX9: Const(1);
          cite::TABLE_11, of(Moot, Less) rocroller Moot;
          "the manual's words cover every instruction that overwrites the data. But no load returns within one cycle, and LLVM considers only vector ALU instructions"),
    rule!("cdna3.9", "a store or atomic of more than 64 bits, then a vector ALU instruction that overwrites its data registers";
          WIDE_STORE but SGPR_OFFSET => ANY_VALU, [registers STORE_DATA, VDST, Any];
          UP_TO_GFX90A: Const(1), GFX940: Const(2);
          cite::TABLE_11, AGREED rocroller Agrees),
    rule!("llvm.9.sgpr-offset",
          "a buffer store of more than 64 bits with an SGPR as offset, then a vector ALU instruction that overwrites its data registers";
          WIDE_STORE => ANY_VALU, [registers STORE_DATA, VDST, Any]; GFX940: Const(1);
          "LLVM pull requests 197267 and 203770", of(Less, Less) rocroller Less hardware fails;
          "the manual exempts stores with an SGPR as offset. On an MI350X, such a store without the wait state stored the new value of one register; with the wait state it stored the old value, as it should"),
    rule!("xnack.clause",
          "one memory instruction of a clause writes what another reads, or a store follows a load in the clause";
          LOADS => VMEM | SMEM, [clause 64]; GFX9: Const(1);
          cite::LLVM, LLVM, xnack;
          "a *clause* is a run of adjacent scalar memory instructions or of adjacent vector memory instructions; any other instruction ends it. After a page fault the whole clause is replayed"),
    rule!("xnack.clause.rdna1",
          "one scalar memory instruction of a clause writes what another reads, or a store follows a load in the clause";
          LOADS => SMEM, [clause 64]; SCALAR_CLAUSES: Const(1);
          cite::LLVM, LLVM, xnack;
          "a *clause* is a run of adjacent scalar memory instructions; any other instruction ends it. After a page fault the whole clause is replayed"),
];
