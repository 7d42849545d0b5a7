//! Tests properties of random instructions and random words.

use std::collections::HashSet;

use gcn_emit::decode::{decode_inst, decode_program};
use gcn_emit::encode::encode_inst;
use gcn_emit::text::parse_inst;
use gcn_isa::table::{self, InstDesc, Modifiers, OperandBits, OperandDesc, OperandKinds};
use gcn_isa::{Dpp, Inline, Inst, Operand, Reg, SrcSpecial, Target};
use gcn_test_support::Random;
use proptest::prelude::*;

/// A named register or special value from the slot's list.
fn special(rng: &mut Random, slot: &OperandDesc) -> Operand {
    let names: Vec<&str> = slot.specials.split(',').collect();
    let name = *rng.pick(&names);
    if let Some(special) = SrcSpecial::ALL.into_iter().find(|s| s.name() == name) {
        return Operand::Special(special);
    }
    let first = match name.trim_end_matches("_lo") {
        "flat_scratch" => 102,
        "xnack_mask" => 104,
        "vcc" => 106,
        "ttmp" => 108,
        "m0" => 124,
        _ => 126,
    };
    Reg::s(first, slot.dwords).into()
}

/// A random operand of a kind that the slot accepts; value ranges and rules about several operands may be violated. `agprs` selects the
/// register file of operands that may be in either.
fn operand(rng: &mut Random, slot: &OperandDesc, dwords: u8, desc: &InstDesc, agprs: bool) -> Operand {
    let either = slot.kinds.contains(OperandKinds::VGPR | OperandKinds::AGPR);
    let excluded = match either {
        true if agprs => OperandKinds::VGPR,
        true => OperandKinds::AGPR,
        false => OperandKinds::empty(),
    };
    let kinds: Vec<OperandKinds> = slot.kinds.difference(excluded).iter().collect();
    let vector = |rng: &mut Random| {
        let align = if dwords > 1 { u64::from(desc.vgpr_align) } else { 1 };
        (rng.below_u64((256 - u64::from(dwords)) / align + 1) * align) as u16
    };
    match *rng.pick(&kinds) {
        OperandKinds::VGPR => Reg::v(vector(rng), dwords).into(),
        OperandKinds::AGPR => Reg::a(vector(rng), dwords).into(),
        OperandKinds::SGPR => {
            let align = u64::from(dwords.min(4));
            Reg::s((rng.below_u64((102 - u64::from(dwords)) / align + 1) * align) as u16, dwords).into()
        }
        OperandKinds::INLINE_INT => Inline::Int(rng.below_u64(81) as i8 - 16).into(),
        OperandKinds::INLINE_FLOAT => Inline::Float(240 + rng.below_u64(9) as u8).into(),
        OperandKinds::LITERAL => Operand::Literal(rng.next_u64() as u32),
        OperandKinds::LITERAL16 => Operand::Literal(rng.below_u64(0x10000) as u32),
        OperandKinds::SPECIAL => special(rng, slot),
        OperandKinds::IMM => {
            let bits = *rng.pick(&[4, 7, 8, 16]);
            Operand::Imm(rng.below_u64(1 << bits) as i64)
        }
        _ => Operand::Off,
    }
}

/// The number of registers of a matrix operand with elements of 8, 6 or 4 bits, by its format number.
fn f8f6f4_dwords(format: u8) -> u8 {
    [8, 8, 6, 6, 4, 8, 8, 8][usize::from(format)]
}

fn modifiers(rng: &mut Random, desc: &InstDesc, inst: &mut Inst) {
    let has = |m: Modifiers| desc.modifiers.contains(m) && !desc.required.contains(m);
    let mods = &mut inst.mods;
    let OperandBits { neg, abs, sext, .. } = desc.bits;
    mods.neg = rng.next_u64() as u8 & neg;
    mods.abs = rng.next_u64() as u8 & abs;
    mods.sext = if mods.sdwa.is_some() { rng.next_u64() as u8 & sext } else { 0 };
    let bits = (1u8 << desc.op_sel_bits()) - 1;
    if has(Modifiers::OP_SEL) {
        mods.op_sel = rng.next_u64() as u8 & bits;
    }
    if has(Modifiers::OP_SEL_HI) {
        mods.op_sel_hi = rng.next_u64() as u8 & bits;
    }
    let flags = [
        (Modifiers::CLAMP, &mut mods.clamp),
        (Modifiers::GLC, &mut mods.glc),
        (Modifiers::SLC, &mut mods.slc),
        (Modifiers::SCC, &mut mods.scc),
        (Modifiers::GDS, &mut mods.gds),
    ];
    for (flag, value) in flags {
        *value |= has(flag) && rng.flip();
    }
    if has(Modifiers::OMOD) {
        mods.omod = rng.below_u64(4) as u8;
    }
    if let Some((lo, hi)) = desc.offset_range {
        mods.offset = lo + rng.below_u64((hi - lo + 1) as u64) as i32;
    }
    let numbers = [
        (Modifiers::OFFSET0, 256, &mut mods.offset0),
        (Modifiers::OFFSET1, 256, &mut mods.offset1),
        (Modifiers::CBSZ, 8, &mut mods.cbsz),
        (Modifiers::ABID, 16, &mut mods.abid),
        (Modifiers::BLGP, 8, &mut mods.blgp),
        (Modifiers::BITOP3, 256, &mut mods.bitop3),
    ];
    for (flag, bound, value) in numbers {
        if has(flag) {
            *value = rng.below_u64(bound) as u8;
        }
    }
    if mods.dpp.is_some() {
        let ctrl = *rng.pick(&[0x1b, 0x101, 0x11f, 0x128, 0x130, 0x138, 0x140, 0x143, 0x150, 0x15f]);
        let (row_mask, bank_mask) = (rng.below_u64(16) as u8, rng.below_u64(16) as u8);
        mods.dpp = Some(Dpp { ctrl, row_mask, bank_mask, bound_ctrl: rng.flip() });
    }
    if let Some(sdwa) = &mut mods.sdwa {
        let fields = [
            (Modifiers::DST_SEL, 7, &mut sdwa.dst_sel),
            (Modifiers::DST_UNUSED, 3, &mut sdwa.dst_unused),
            (Modifiers::SRC0_SEL, 7, &mut sdwa.src0_sel),
            (Modifiers::SRC1_SEL, 7, &mut sdwa.src1_sel),
        ];
        for (flag, bound, value) in fields {
            if has(flag) {
                *value = rng.below_u64(bound) as u8;
            }
        }
    }
}

pub(super) fn random_inst(desc: &'static InstDesc, seed: u64) -> Inst {
    let mut rng = Random::new(seed);
    let agprs = rng.flip();
    let mut inst = Inst::new(desc, []);
    modifiers(&mut rng, desc, &mut inst);
    for (position, slot) in desc.operands.iter().enumerate() {
        let dwords = match slot.name {
            "src0" if desc.mnemonic.ends_with("f8f6f4") => f8f6f4_dwords(inst.mods.cbsz),
            "src1" if desc.mnemonic.ends_with("f8f6f4") => f8f6f4_dwords(inst.mods.blgp),
            _ => slot.dwords,
        };
        let operand = match operand(&mut rng, slot, dwords, desc, agprs) {
            // The constant has a code but no text in this position.
            Operand::Inline(inline) if !desc.spells_inline(position, inline) => Inline::Int(0).into(),
            operand => operand,
        };
        inst.operands.push(operand);
    }
    inst
}

/// If the instruction is legal: encodes, decodes, prints, parses and encodes it again.
fn check_round_trip(inst: &Inst, target: Target) -> bool {
    let Ok(bytes) = encode_inst(inst, target) else { return false };
    let (decoded, length) = decode_inst(&bytes, target).unwrap_or_else(|e| panic!("{inst:?}: {e}"));
    assert_eq!((&decoded, length), (inst, bytes.len()), "{} on {target}", inst.desc.printed);
    let text = super::text(inst, target);
    let parsed = parse_inst(&text, target).unwrap_or_else(|e| panic!("`{text}` on {target}: {e}"));
    let again = encode_inst(&parsed, target).unwrap_or_else(|e| panic!("`{text}`: {e}"));
    // A constant that is written as a number gets its shortest form. If the row prints a suffix, nothing else can differ.
    assert_eq!(again, bytes, "`{text}` on {target}");
    true
}

#[test]
fn every_row_survives_encode_decode_print_parse() {
    const SEEDS: u64 = 30;
    // Most random instructions are legal, but of a few rows hardly any.
    const ENOUGH: usize = 8;
    let mut legal = 0;
    let mut rows_without_success = HashSet::new();
    for desc in table::rows() {
        for target in desc.targets.targets() {
            let passed = (0..SEEDS).filter(|seed| {
                let seed = seed << 20 | u64::from(desc.id) << 3 | target as u64;
                check_round_trip(&random_inst(desc, seed), target)
            });
            let passed = passed.take(ENOUGH).count();
            legal += passed;
            if passed == 0 {
                rows_without_success.insert(format!("{} {}", desc.printed, desc.form));
            }
        }
    }
    println!("{legal} random legal instructions made the round");
    assert!(rows_without_success.is_empty(), "no legal instruction was found for {rows_without_success:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..24), target in 0usize..6) {
        let target = Target::REPRESENTATIVES[target];
        if let Ok((inst, length)) = decode_inst(&bytes, target) {
            prop_assert!(length <= bytes.len());
            let _ = super::text(&inst, target);
            let _ = encode_inst(&inst, target);
        }
        let _ = decode_program(&bytes, target, "random");
    }

    #[test]
    fn random_text_never_panics(text in "[ -~]{0,40}", target in 0usize..6) {
        let _ = parse_inst(&text, Target::REPRESENTATIVES[target]);
    }

    #[test]
    fn damaged_text_never_panics(
        index in any::<proptest::sample::Index>(),
        cut in 0usize..40,
        insert in "[ -~é]{0,3}",
    ) {
        let row = index.get(table::rows());
        let target = row.targets.targets().next().expect("a row has targets");
        let text = super::text(&random_inst(row, cut as u64), target);
        let cut = cut.min(text.len());
        let _ = parse_inst(&format!("{}{insert}{}", &text[..cut], &text[cut..]), target);
        let _ = parse_inst(&text[..cut], target);
    }
}

/// Every word that can be decoded is encoded again to bits with the same meaning: random operand fields with every opcode.
#[test]
fn what_decodes_encodes_back() {
    let mut rng = Random::new(7);
    let (mut decoded, mut same) = (0, 0);
    for _ in 0..400_000 {
        let target = Target::REPRESENTATIVES[rng.below_u64(6) as usize];
        let bytes = (rng.next_u64() << 40 ^ rng.next_u64() << 20 ^ rng.next_u64()).to_le_bytes();
        let Ok((inst, length)) = decode_inst(&bytes, target) else { continue };
        decoded += 1;
        // Rules about several operands (constant bus) are checked by the encoder only; a word may violate them and can still be decoded.
        let Ok(encoded) = encode_inst(&inst, target) else { continue };
        let (again, _) = decode_inst(&encoded, target).expect("encoded by us");
        assert_eq!(again, inst, "{bytes:02x?} on {target}");
        same += usize::from(encoded.as_slice() == &bytes[..length]);
    }
    println!("{decoded} of 400000 random words decoded, {same} encoded to the very same bytes");
    assert!(decoded > 10_000);
}
