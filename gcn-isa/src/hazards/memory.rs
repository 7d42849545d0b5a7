//! Rules of memory instructions: rules about the data of wide stores, and rules about clauses under XNACK.

use super::row::{cite, rule};
use super::rule::{Rule, WaitStates::Const};

pub(super) const RULES: &[Rule] = &[
    rule!("cdna3.8", "a store or atomic of more than 64 bits, then a load that overwrites its data registers";
          WIDE_STORE but SGPR_OFFSET => MEMORY, [registers STORE_DATA, VDST, Any]; GFX9: Const(1);
          cite::TABLE_11, of(Moot, Less) rocroller Moot;
          "by its words the case holds for whatever writes the data, but no load returns in one cycle; LLVM \
           looks at vector ALU writers only"),
    rule!("cdna3.9", "a store or atomic of more than 64 bits, then a vector ALU instruction that overwrites its data registers";
          WIDE_STORE but SGPR_OFFSET => ANY_VALU, [registers STORE_DATA, VDST, Any];
          UP_TO_GFX90A: Const(1), GFX940: Const(2);
          cite::TABLE_11, AGREED rocroller Agrees),
    rule!("llvm.9.sgpr-offset",
          "a buffer store of more than 64 bits with an SGPR as offset, then a vector ALU instruction that overwrites its data registers";
          WIDE_STORE => ANY_VALU, [registers STORE_DATA, VDST, Any]; GFX940: Const(1);
          "LLVM pull requests 197267 and 203770", of(Less, Less) rocroller Less hardware fails;
          "the manual exempts an SGPR offset; an MI350X stored the new value of one register without a wait state, and the right \
           one with it"),
    rule!("xnack.clause",
          "one memory instruction of a clause writes what another reads, or a store follows a load in it";
          LOADS => VMEM | SMEM, [clause 64]; GFX9: Const(1);
          cite::LLVM, LLVM, xnack;
          "adjacent scalar memory instructions form a clause, adjacent vector memory instructions do; a page \
           fault replays the whole clause. Any other instruction ends the clause"),
    rule!("xnack.clause.rdna1",
          "one scalar memory instruction of a clause writes what another reads, or a store follows a load in it";
          LOADS => SMEM, [clause 64]; SCALAR_CLAUSES: Const(1);
          cite::LLVM, LLVM, xnack;
          "adjacent scalar memory instructions form a clause; a page fault replays the whole clause. Any other instruction ends the clause"),
];
