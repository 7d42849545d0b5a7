//! Every instruction, declared once.
//!
//! `gcn-isa/data/isa/` has an entry for each mnemonic: its opcodes, forms, operands and differences between targets, its
//! meaning with the witness, and how bits flow through it (`declarations.isa` describes the notation). They were measured with
//! LLVM 22 and cross-checked against AMD's machine-readable ISA tables. An entry expands to rows, one per format, addressing form and
//! group of targets with the same facts. Printer, parser, encoder, decoder, hazard rules, builder functions and simulator
//! all read these rows; nothing about an instruction is written down anywhere else but its semantics in the simulator.
//!
//! The rows are read on first use (about a millisecond) and live for the rest of the process; so are the indices, each on
//! its own first use.

mod accepts;
mod class;
mod desc;
mod elements;
mod entry;
mod format;
mod index;
mod load;
mod names;
mod slot;
mod variant;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use crate::mods::Modifiers;
pub use class::Class;
pub use desc::InstDesc;
pub use elements::{ConstType, Constants};
pub use entry::{Behaviours, Entry, Flow, Rule};
pub use format::{Format, Unit};
pub use index::IndexedBy;
pub use names::{NameHasher, NameMap};
pub use slot::{
    Access, DstHalf, ImplicitRegs, MemBytes, OperandBits, OperandDesc, OperandKinds, SameFile, WaveSizes,
};
pub use variant::Variant;

use crate::target::Target;

static ROWS: LazyLock<Vec<InstDesc>> = LazyLock::new(load::rows);
static BY_PRINTED: LazyLock<NameMap<Vec<u16>>> = LazyLock::new(|| by_name(|row| row.printed));
static BY_MNEMONIC: LazyLock<NameMap<Vec<u16>>> = LazyLock::new(|| by_name(|row| row.mnemonic));
static BY_OPCODE: LazyLock<HashMap<(Format, u16), Vec<u16>>> = LazyLock::new(|| {
    let mut ids: HashMap<_, Vec<u16>> = HashMap::new();
    for row in rows() {
        ids.entry((row.format, row.opcode)).or_default().push(row.id);
    }
    ids
});

fn by_name(name: fn(&InstDesc) -> &'static str) -> NameMap<Vec<u16>> {
    let mut ids: NameMap<Vec<u16>> = NameMap::default();
    for row in rows() {
        ids.entry(name(row)).or_default().push(row.id);
    }
    ids
}

/// Every row, in table order; [`InstDesc::id`] is the index.
pub fn rows() -> &'static [InstDesc] {
    &ROWS
}

fn pick(ids: Option<&'static Vec<u16>>, target: Target) -> impl Iterator<Item = &'static InstDesc> {
    ids.into_iter().flatten().map(|&id| &ROWS[id as usize]).filter(move |r| r.targets.contains(target))
}

/// The rows of `target` that the disassembler prints as `printed` (with `_e32`, `_e64`, `_dpp` or `_sdwa` where the
/// canonical text has it). Several rows differ by addressing form.
pub fn find(target: Target, printed: &str) -> impl Iterator<Item = &'static InstDesc> + use<> {
    pick(BY_PRINTED.get(printed), target)
}

/// The rows of `target` with the suffix-less name `mnemonic`, in every encoding and form.
pub fn find_mnemonic(target: Target, mnemonic: &str) -> impl Iterator<Item = &'static InstDesc> + use<> {
    pick(BY_MNEMONIC.get(mnemonic), target)
}

/// The rows of `target` with this opcode in this format (several where addressing forms share an opcode).
pub fn find_opcode(
    target: Target,
    format: Format,
    opcode: u16,
) -> impl Iterator<Item = &'static InstDesc> + use<> {
    pick(BY_OPCODE.get(&(format, opcode)), target)
}

/// The row printed as `printed` whose addressing form is `form` (empty for instructions that have none).
pub fn find_form(target: Target, printed: &str, form: &str) -> Option<&'static InstDesc> {
    find(target, printed).find(|r| r.form == form)
}

/// What holds for every form of `mnemonic`.
pub fn entry(mnemonic: &str) -> Option<&'static Entry> {
    Some(ROWS[usize::from(*BY_MNEMONIC.get(mnemonic)?.first()?)].entry)
}

/// The class of a mnemonic's first form.
pub fn class_of(mnemonic: &str) -> Option<Class> {
    Some(ROWS[usize::from(*BY_MNEMONIC.get(mnemonic)?.first()?)].class)
}

/// The mnemonic as the table has it, for callers that keep it.
pub fn mnemonic(name: &str) -> Option<&'static str> {
    BY_MNEMONIC.get_key_value(name).map(|(mnemonic, _)| *mnemonic)
}

/// Every suffix-less mnemonic of any target, in no particular order.
pub fn mnemonics() -> impl Iterator<Item = &'static str> {
    BY_MNEMONIC.keys().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_key_occurs_once() {
        let mut seen = HashSet::new();
        for row in rows() {
            for target in row.targets.targets() {
                assert!(
                    seen.insert((row.printed, row.format, row.form, target)),
                    "{} {:?} {} on {target} twice",
                    row.printed,
                    row.format,
                    row.form
                );
            }
        }
    }

    #[test]
    fn facts_that_differ_by_target() {
        let f64_mfma = find(Target::GFX942, "v_mfma_f64_16x16x4_f64").next().unwrap();
        assert_eq!(f64_mfma.passes(Target::GFX942), Some(8));
        assert_eq!(f64_mfma.passes(Target::GFX950), Some(16));
        let row = find(Target::GFX90A, "v_mfma_f32_32x32x8f16").next().unwrap();
        assert_eq!((row.class, row.passes(Target::GFX90A)), (Class::MfmaXdl, Some(16)));
    }

    #[test]
    fn operands_know_access_width_and_kinds() {
        let row = find(Target::GFX942, "v_add_f32_e32").next().unwrap();
        let [vdst, src0, src1] = row.operands else { panic!("three operands") };
        assert_eq!((vdst.name, vdst.access, vdst.dwords), ("vdst", Access::Write, 1));
        assert!(src0.kinds.contains(OperandKinds::SGPR | OperandKinds::LITERAL));
        assert!(src0.allows_special("m0") && !src1.allows_special("m0"));
        assert_eq!(src1.kinds, OperandKinds::VGPR);
    }
}
