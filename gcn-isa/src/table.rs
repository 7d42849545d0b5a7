//! The table of instructions, in which each instruction is declared once.
//!
//! `gcn-isa/data/isa/` has an entry for each mnemonic: its opcodes, forms, operands and differences between targets,
//! its meaning with the source, and how bits flow through it (`declarations.isa` describes the notation). The entries
//! were measured with LLVM 22 and cross-checked against AMD's machine-readable ISA tables. An entry expands to *rows*,
//! one for each format, addressing form and group of targets with the same facts. Printer, parser, encoder, decoder,
//! hazard rules, builder functions and simulator all read these rows; the only other place that describes instructions
//! is their implementation in the simulator.
//!
//! The rows of a family are parsed on first use (about a millisecond for GFX9) and are never freed. The same applies to each index.

mod accepts;
mod class;
mod constants;
mod desc;
mod elements;
mod entry;
mod format;
mod index;
mod load;
mod msb;
mod names;
mod slot;
mod variant;

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

pub use crate::mods::Modifiers;
pub use class::Class;
pub use constants::{ConstType, Constants};
pub use desc::InstDesc;
pub use entry::{Behaviours, Entry, Flow, Rule};
pub use format::{Format, Unit};
pub use index::{IndexedBy, M0Part};
pub use msb::MsbField;
pub use names::{NameHasher, NameMap};
pub use slot::{
    Access, DstHalf, ImplicitRegs, MemBytes, OperandBits, OperandDesc, OperandKinds, SameFile, WaveSizes,
};
pub use variant::Variant;

use crate::target::{Family, Generation, Subtarget};

/// The number of the first row of RDNA; rows of GFX9 have lower numbers.
const FIRST_OF_RDNA: u16 = 0x4000;

/// The rows of a family and indices into them, each created on first use.
struct Table {
    family: Family,
    first: u16,
    rows: OnceLock<Vec<InstDesc>>,
    by_printed: OnceLock<NameMap<Vec<u16>>>,
    by_mnemonic: OnceLock<NameMap<Vec<u16>>>,
    by_entry: OnceLock<NameMap<Vec<u16>>>,
    by_opcode: OnceLock<HashMap<(Format, u16), Vec<u16>>>,
}

static GFX9: Table = Table::new(Family::GFX9, 0);
static RDNA: Table = Table::new(Family::RDNA, FIRST_OF_RDNA);

impl Table {
    const fn new(family: Family, first: u16) -> Table {
        Table {
            family,
            first,
            rows: OnceLock::new(),
            by_printed: OnceLock::new(),
            by_mnemonic: OnceLock::new(),
            by_entry: OnceLock::new(),
            by_opcode: OnceLock::new(),
        }
    }

    fn of(family: Family) -> &'static Table {
        match family {
            Family::GFX9 => &GFX9,
            Family::RDNA => &RDNA,
        }
    }

    fn rows(&self) -> &[InstDesc] {
        self.rows.get_or_init(|| load::rows(self.family, self.first))
    }

    fn row(&self, id: u16) -> &InstDesc {
        &self.rows()[usize::from(id - self.first)]
    }

    fn by_name(&self, name: fn(&InstDesc) -> &'static str) -> NameMap<Vec<u16>> {
        let mut ids: NameMap<Vec<u16>> = NameMap::default();
        for row in self.rows() {
            ids.entry(name(row)).or_default().push(row.id);
        }
        ids
    }

    fn by_printed(&self) -> &NameMap<Vec<u16>> {
        self.by_printed.get_or_init(|| self.by_name(|row| row.printed))
    }

    fn by_mnemonic(&self) -> &NameMap<Vec<u16>> {
        self.by_mnemonic.get_or_init(|| self.by_name(|row| row.mnemonic))
    }

    fn by_entry(&self) -> &NameMap<Vec<u16>> {
        self.by_entry.get_or_init(|| self.by_name(|row| row.entry.mnemonic))
    }

    fn by_opcode(&self) -> &HashMap<(Format, u16), Vec<u16>> {
        self.by_opcode.get_or_init(|| {
            let mut ids: HashMap<_, Vec<u16>> = HashMap::new();
            for row in self.rows() {
                ids.entry((row.format, row.opcode)).or_default().push(row.id);
            }
            ids
        })
    }
}

/// All rows of GFX9, in table order; [`InstDesc::id`] is the index.
pub fn rows() -> &'static [InstDesc] {
    GFX9.rows()
}

/// All rows of a family, in table order, with increasing [`InstDesc::id`].
pub fn rows_of(family: Family) -> &'static [InstDesc] {
    Table::of(family).rows()
}

/// All rows of a processor for one wave size, in table order.
///
/// ```
/// use gcn_isa::{Target, table};
///
/// assert!(table::rows_on(Target::GFX1100).any(|row| row.mnemonic == "v_wmma_f32_16x16x16_f16"));
/// assert!(!table::rows_on(Target::GFX942).any(|row| row.mnemonic == "v_wmma_f32_16x16x16_f16"));
/// ```
pub fn rows_on(on: impl Into<Subtarget>) -> impl Iterator<Item = &'static InstDesc> {
    let on = on.into();
    rows_of(on.family()).iter().filter(move |row| row.is_on(on))
}

/// The names that instructions had on earlier instruction sets of the family and that assemblers still accept, each with the current name.
/// According to measurements with LLVM 22, RDNA 3 and later have all of them, and RDNA 1 and 2 have none.
///
/// ```
/// use gcn_isa::{Target, table};
///
/// let former: Vec<_> = table::former_names(Target::GFX1201).filter(|names| names.1 == "global_load_b32").collect();
/// assert_eq!(former, [("global_load_dword", "global_load_b32")]);
/// ```
pub fn former_names(on: impl Into<Subtarget>) -> impl Iterator<Item = (&'static str, &'static str)> {
    let on = on.into();
    let set = on.instruction_set();
    let renamed = matches!(set.generation(), Generation::GFX11 | Generation::GFX12);
    let rows = if renamed { rows_of(on.family()) } else { &[] };
    let today: HashMap<*const Entry, &'static str> = rows
        .iter()
        .filter(|row| row.is_on(on))
        .map(|row| (std::ptr::from_ref(row.entry), row.mnemonic))
        .collect();
    let mut last = "";
    rows.iter().filter(move |row| row.targets.iter().all(|earlier| earlier < set)).filter_map(move |row| {
        let name = today.get(&std::ptr::from_ref(row.entry)).filter(|name| **name != row.mnemonic)?;
        // The forms of an instruction are adjacent.
        (std::mem::replace(&mut last, row.mnemonic) != row.mnemonic).then_some((row.mnemonic, *name))
    })
}

/// The row with a number.
pub fn row(id: u16) -> &'static InstDesc {
    let table = if id < FIRST_OF_RDNA { &GFX9 } else { &RDNA };
    table.row(id)
}

fn pick(ids: Option<&'static Vec<u16>>, on: Subtarget) -> impl Iterator<Item = &'static InstDesc> {
    ids.into_iter().flatten().map(|&id| row(id)).filter(move |row| row.is_on(on))
}

/// The rows that the disassembler prints as `printed` (with `_e32`, `_e64`, `_dpp` or `_sdwa` if the canonical text has
/// it). If there are several, they differ in their addressing form.
pub fn find<S: Into<Subtarget>>(on: S, printed: &str) -> impl Iterator<Item = &'static InstDesc> + use<S> {
    let on = on.into();
    pick(Table::of(on.family()).by_printed().get(printed), on)
}

/// The rows with the mnemonic `mnemonic`, which has no suffix, in every encoding and form.
pub fn find_mnemonic<S: Into<Subtarget>>(
    on: S,
    mnemonic: &str,
) -> impl Iterator<Item = &'static InstDesc> + use<S> {
    let on = on.into();
    pick(Table::of(on.family()).by_mnemonic().get(mnemonic), on)
}

/// The rows of an operation, in every encoding and form, regardless of the operation's name on the target. An operation has the name of its
/// entry, which is the GFX9 name if GFX9 has the operation.
///
/// ```
/// use gcn_isa::{Target, table};
/// let names = |target, name| table::find_operation(target, name).map(|row| row.mnemonic).next();
/// assert_eq!(names(Target::GFX942, "v_add_u32"), Some("v_add_u32"));
/// assert_eq!(names(Target::GFX1201, "v_add_u32"), Some("v_add_nc_u32"));
/// assert_eq!(names(Target::GFX1030, "global_load_dword"), Some("global_load_dword"));
/// assert_eq!(names(Target::GFX1100, "global_load_dword"), Some("global_load_b32"));
/// assert_eq!(names(Target::GFX1100, "v_accvgpr_read_b32"), None);
/// ```
pub fn find_operation<S: Into<Subtarget>>(
    on: S,
    name: &str,
) -> impl Iterator<Item = &'static InstDesc> + use<S> {
    let on = on.into();
    pick(Table::of(on.family()).by_entry().get(name), on)
}

/// True if an instruction or an operation of any target has this name, which has no suffix.
///
/// ```
/// use gcn_isa::table;
/// assert!(table::is_name("v_wmma_f32_16x16x16_f16") && table::is_name("global_load_dword"));
/// assert!(!table::is_name("barrier"));
/// ```
pub fn is_name(name: &str) -> bool {
    Family::ALL
        .into_iter()
        .map(Table::of)
        .any(|table| table.by_mnemonic().contains_key(name) || table.by_entry().contains_key(name))
}

static PAIRS: LazyLock<HashMap<[&'static str; 2], Vec<u16>>> = LazyLock::new(|| {
    let mut pairs: HashMap<_, Vec<u16>> = HashMap::new();
    for row in rows_of(Family::RDNA) {
        if let Some(halves) = row.halves {
            pairs.entry(halves.map(|half| half.entry.alone)).or_default().push(row.id);
        }
    }
    pairs
});

/// The VOPD instruction whose halves perform these two operations ([`Entry::alone`]), the first half first.
///
/// ```
/// use gcn_isa::{Target, table};
///
/// let pair = |target, halves| table::pair_of(target, halves).map(|row| row.mnemonic);
/// let halves = ["v_mul_f32", "v_add_u32"];
/// assert_eq!(pair(Target::GFX1100, halves), Some("v_dual_mul_f32 :: v_dual_add_nc_u32"));
/// // Some halves stand second only.
/// assert_eq!(pair(Target::GFX1100, ["v_add_u32", "v_mul_f32"]), None);
/// assert_eq!(pair(Target::GFX1030, halves), None);
/// ```
pub fn pair_of(on: impl Into<Subtarget>, halves: [&'static str; 2]) -> Option<&'static InstDesc> {
    pick(PAIRS.get(&halves), on.into()).next()
}

/// The rows of a family with the mnemonic `mnemonic`, which has no suffix, on any of its instruction sets.
pub fn find_in(family: Family, mnemonic: &str) -> impl Iterator<Item = &'static InstDesc> {
    Table::of(family).by_mnemonic().get(mnemonic).into_iter().flatten().map(|&id| row(id))
}

/// The rows with this opcode in this format (several if addressing forms share an opcode).
pub fn find_opcode<S: Into<Subtarget>>(
    on: S,
    format: Format,
    opcode: u16,
) -> impl Iterator<Item = &'static InstDesc> + use<S> {
    let on = on.into();
    pick(Table::of(on.family()).by_opcode().get(&(format, opcode)), on)
}

/// The row that is printed as `printed` and has the addressing form `form` (empty for instructions without addressing forms); `None` if
/// there is no such row.
pub fn find_form(on: impl Into<Subtarget>, printed: &str, form: &str) -> Option<&'static InstDesc> {
    find(on, printed).find(|r| r.form == form)
}

/// The first form of an operation ([`Entry::mnemonic`]) on any family. An RDNA name of an operation that GFX9 calls otherwise is
/// understood, too.
fn first_form(operation: &str) -> Option<&'static InstDesc> {
    let named = |table: &'static Table| {
        table.by_entry().get(operation).or_else(|| table.by_mnemonic().get(operation))?.first()
    };
    named(&GFX9).or_else(|| named(&RDNA)).map(|&id| row(id))
}

/// Common properties of all forms of an operation; `None` if no family has it.
///
/// ```
/// use gcn_isa::table;
///
/// assert_eq!(table::entry("v_add_nc_u32").unwrap().mnemonic, "v_add_u32");
/// assert_eq!(table::entry("s_barrier_wait").unwrap().mnemonic, "s_barrier_wait");
/// assert!(table::entry("barrier").is_none());
/// ```
pub fn entry(operation: &str) -> Option<&'static Entry> {
    first_form(operation).map(|row| row.entry)
}

/// The class of the first form of an operation; `None` if no family has it.
pub fn class_of(operation: &str) -> Option<Class> {
    first_form(operation).map(|row| row.class)
}

/// The table's static copy of an operation's name, for callers that store it; `None` if no family has it.
pub fn mnemonic(operation: &str) -> Option<&'static str> {
    entry(operation).map(|entry| entry.mnemonic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;
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
