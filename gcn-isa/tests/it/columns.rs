//! Prints the rows of the instruction table in the columns of the measured tables.

use std::fmt::Display;

use gcn_isa::Target;
use gcn_isa::table::{Access, ImplicitRegs, InstDesc, MemBytes, OperandDesc, OperandKinds};

/// The kinds of operands in the order of the text. `c` denotes both kinds of inline constants.
pub const KINDS: [(&str, OperandKinds); 11] = [
    ("h", OperandKinds::HALF_VGPR),
    ("v", OperandKinds::VGPR),
    ("a", OperandKinds::AGPR),
    ("s", OperandKinds::SGPR),
    ("c", OperandKinds::INLINE_INT.union(OperandKinds::INLINE_FLOAT)),
    ("l", OperandKinds::LITERAL),
    ("l16", OperandKinds::LITERAL16),
    ("l64", OperandKinds::LITERAL64),
    ("m", OperandKinds::SPECIAL),
    ("imm", OperandKinds::IMM),
    ("off", OperandKinds::OFF),
];

pub const ACCESS: [(&str, Access); 3] = [("s", Access::Read), ("d", Access::Write), ("b", Access::ReadWrite)];

pub const IMPLICIT: [(&str, ImplicitRegs); 6] = [
    ("mode", ImplicitRegs::MODE),
    ("vcc", ImplicitRegs::VCC),
    ("exec", ImplicitRegs::EXEC),
    ("flat_scr", ImplicitRegs::FLAT_SCRATCH),
    ("m0", ImplicitRegs::M0),
    ("scc", ImplicitRegs::SCC),
];

/// The word for a value in such a list.
pub fn word<V: PartialEq>(words: &[(&'static str, V)], value: &V) -> &'static str {
    words.iter().find(|w| w.1 == *value).expect("a value of the list").0
}

/// The items, joined by `separator`.
pub fn join(items: impl IntoIterator<Item = impl Display>, separator: &str) -> String {
    let items: Vec<String> = items.into_iter().map(|i| i.to_string()).collect();
    items.join(separator)
}

/// The operands, as in `vdst:d:v:1 ; src0:s:v|s:1`.
pub fn operands(row: &InstDesc) -> String {
    join(row.operands.iter().map(operand), " ; ")
}

fn operand(o: &OperandDesc) -> String {
    let kinds = join(KINDS.iter().filter(|k| o.kinds.contains(k.1)).map(|k| k.0), "|");
    let half = o.kinds.contains(OperandKinds::HALF_VGPR);
    let width = if half { "h".to_owned() } else { o.dwords.to_string() };
    format!("{}:{}:{kinds}:{width}", o.name, word(&ACCESS, &o.access))
}

/// The special registers of each operand that accepts any.
pub fn specials(row: &InstDesc, separator: &str) -> String {
    let named = row.operands.iter().filter(|o| !o.specials.is_empty());
    join(named.map(|o| format!("{}={}", o.name, o.specials)), separator)
}

/// The registers that the text of the instruction does not show.
pub fn implicit(set: ImplicitRegs) -> String {
    join(IMPLICIT.iter().filter(|n| set.contains(n.1)).map(|n| n.0), " ")
}

/// The modifiers of the sources, as in `src0=neg+abs ; src1=neg`.
pub fn source_modifiers(row: &InstDesc, separator: &str) -> String {
    let all = [(row.bits.neg, "neg"), (row.bits.abs, "abs"), (row.bits.sext, "sext")];
    let of = |source: u8| {
        let words = join(all.iter().filter(|m| m.0 >> source & 1 == 1).map(|m| m.1), "+");
        (!words.is_empty()).then(|| format!("src{source}={words}"))
    };
    join((0..3).filter_map(of), separator)
}

pub fn mem_bytes(bytes: MemBytes) -> String {
    match bytes {
        MemBytes::None => String::new(),
        MemBytes::Bytes(count) => count.to_string(),
        MemBytes::FormatComponents(count) => format!("fmt:{count}"),
    }
}

/// A modifier with its bits, as in `op_sel[0/1/3]`.
pub fn listed(name: &str, bits: u8) -> String {
    format!("{name}[{}]", join((0..8).filter(|i| bits >> i & 1 == 1), "/"))
}

/// The number of passes: one number for all targets of the row, or one for each target.
pub fn passes(row: &InstDesc) -> String {
    let by_target: Vec<_> = row.targets.representatives().map(|t| (t, row.passes(t))).collect();
    match by_target[..] {
        [(_, first), ref rest @ ..] if rest.iter().all(|r| r.1 == first) => {
            first.map_or(String::new(), |n| n.to_string())
        }
        _ => join(by_target.iter().map(|(t, n): &(Target, _)| format!("{}@{t}", n.unwrap())), ";"),
    }
}
