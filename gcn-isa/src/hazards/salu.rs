//! Rules about hardware registers and M0.

use super::row::{cite, rule};
use super::rule::{Rule, WaitStates::Const};

pub(super) const RULES: &[Rule] = &[
    rule!("cdna3.1", "s_setreg of a hardware register, then s_getreg of it";
          SETREG => GETREG, [hwreg]; GFX9: Const(2);
          cite::TABLE_11, AGREED; "which bits are accessed does not matter"),
    rule!("cdna3.2", "s_setreg of a hardware register, then s_setreg of it";
          SETREG => SETREG, [hwreg]; GFX9: Const(2);
          cite::TABLE_11, AGREED; "which bits are accessed does not matter"),
    rule!("cdna3.3", "s_setvskip, then s_getreg of MODE";
          SETVSKIP => GETREG_MODE, [always]; GFX9: Const(2);
          cite::TABLE_11, MANUAL; "LLVM never emits s_setvskip"),
    rule!("cdna3.4", "s_setreg of MODE that covers VSKIP, then a vector instruction";
          SETREG_VSKIP => VECTOR, [always]; GFX9: Const(2);
          cite::TABLE_11, MANUAL; "LLVM never emits such an s_setreg"),
    rule!("cdna3.15", "s_setreg of TRAPSTS, then a return from exception";
          SETREG_TRAPSTS => RFE, [always]; GFX9: Const(1);
          cite::TABLE_11, AGREED),
    rule!("cdna3.11", "scalar ALU writes M0, then a GDS or GWS instruction, s_sendmsg or s_ttracedata follows";
          SALU => M0_MESSAGE, [writes M0]; GFX9: Const(1);
          cite::TABLE_11, AGREED),
    rule!("cdna3.16",
          "scalar ALU writes M0, then LDS add-TID, a store from LDS, or a FLAT, global or scratch load into LDS follows";
          SALU => M0_LDS, [writes M0]; GFX9: Const(1);
          cite::TABLE_11, AGREED),
    rule!("llvm.16.buffer-load", "scalar ALU writes M0, then a buffer load into LDS follows";
          SALU => M0_BUFFER_LDS, [writes M0]; GFX9: Const(1);
          cite::LLVM, LLVM;
          "the manual names stores from LDS and scratch and global loads into LDS, but not buffer loads"),
    rule!("cdna3.17", "scalar ALU writes M0, then s_movrel follows";
          SALU => M0_MOVREL, [writes M0]; GFX9: Const(1);
          cite::TABLE_11, AGREED),
    rule!("mi100.16.lds-direct", "scalar ALU writes M0, then src_lds_direct is read";
          SALU => M0_DIRECT, [writes M0]; UP_TO_GFX908: Const(1);
          "MI100 ISA table 12", AGREED),
];
