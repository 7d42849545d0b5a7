//! Tests the dataflow of bits: the parts that lines of the notation and modifiers select.

use gcn_isa::dataflow::{self, Part};
use gcn_isa::table::Modifiers;
use gcn_isa::target::Family;
use gcn_isa::{Inst, Operand, Reg, Target, table};

/// The parts of an instruction on VGPRs with the given `op_sel` and `op_sel_hi` bits.
fn parts(printed: &str, op_sel: u8, op_sel_hi: Option<u8>) -> Vec<Part> {
    let row = table::find(Target::GFX942, printed).next().unwrap();
    let operands = row.operands.iter().map(|o| Operand::Reg(Reg::v(0, o.dwords)));
    let inst = Inst::new(row, operands).with(|mods| {
        mods.op_sel = op_sel;
        mods.op_sel_hi = op_sel_hi.unwrap_or(mods.op_sel_hi);
    });
    dataflow::parts(&inst)
}

/// Tests the parts against the pseudo-code of the CDNA3 manual.
#[test]
fn parts_read_what_the_modifiers_choose() {
    let (low, high) = (0xffff, 0xffff_0000);
    let part = |result, a, b| Part { result, sources: [a, b, 0], accumulates: false };
    assert_eq!(parts("v_pk_add_f16", 0, None), [part(low, low, low), part(high, high, high)]);
    assert_eq!(parts("v_pk_add_f16", 0b01, Some(0b01)), [part(low, high, low), part(high, high, low)]);
    let (word, upper) = (0xffff_ffff, 0xffff_ffff_0000_0000);
    assert_eq!(parts("v_pk_add_f32", 0, Some(0b01)), [part(word, word, word), part(upper, upper, word)]);
    assert_eq!(parts("v_add_f16_e32", 0, None), [part(low, low, low)]);
    assert_eq!(parts("v_fma_f16", 0b001, None), [Part { sources: [high, low, low], ..part(u64::MAX, 0, 0) }]);
    assert_eq!(parts("v_cvt_f32_ubyte1_e32", 0, None), [part(word, 0xff00, 0)]);
    assert!(parts("v_fmac_f32_e32", 0, None)[0].accumulates);
}

/// Tests that each element of a product reads a row and a column, and that `op_sel` selects halves only of packed operands.
#[test]
fn elements_of_matrices_read_all_of_their_sources() {
    let mut matrices = 0;
    for row in Family::ALL.into_iter().flat_map(table::rows_of) {
        let operands = row.operands.iter().map(|o| Operand::Reg(Reg::v(0, o.dwords)));
        let parts = dataflow::parts(&Inst::new(row, operands));
        if row.modifiers.contains(Modifiers::OP_SEL_HI) && row.operands[0].dwords > 2 {
            assert!(
                parts.iter().all(|part| part.sources[0] == u64::MAX),
                "{}: {parts:?}",
                row.entry.mnemonic
            );
            matrices += 1;
        }
    }
    assert!(matrices > 0);
}
