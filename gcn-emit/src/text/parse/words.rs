//! The words of the instruction grammar other than mnemonics: named registers and values, modifiers, functions.

use std::sync::LazyLock;

use gcn_isa::table::{Modifiers, NameMap};
use gcn_isa::{Reg, SrcSpecial, reg};

use crate::fields::ModField;

/// What a word means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Word {
    Reg(Reg),
    Special(SrcSpecial),
    Off,
    /// A register that other targets have.
    Elsewhere,
    /// A modifier without a value, and its value.
    Flag(Modifier, u32),
    /// A modifier with a value behind a colon.
    Valued(Modifier, Value),
    /// `neg(`, `abs(`, `sext(`, `lit(`, `hwreg(` …; a plain name without the parenthesis.
    Function(Function),
}

/// A modifier's field, and its place among the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Modifier {
    pub field: ModField,
    /// The table's flag; empty for what the table does not list.
    pub flag: Modifiers,
    /// Assemblers want modifiers in this order; equal ones may change places.
    pub order: u8,
    /// For cache bits, which targets spell it so.
    pub spelling: Spelling,
}

/// Which targets know a spelling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spelling {
    /// All.
    Common,
    /// `glc`, `slc`, `scc`: up to gfx90a, and scalar memory.
    Old,
    /// `sc0`, `nt`, `sc1`: vector memory from gfx942 on.
    New,
}

/// How a modifier's value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// A number, or `swizzle(…)`.
    Offset,
    /// A number up to this.
    UpTo(u32),
    /// `[1,0,…]`, up to four bits.
    Bits,
    /// `[0,1,2,3]`.
    QuadPerm,
    /// A lane count: first `dpp_ctrl`, the count that it means, the last count.
    Lanes(u16, u16, u16),
    /// 15 or 31.
    RowBroadcast,
    /// An SDWA selector.
    Selector,
    /// An SDWA treatment of unused bits.
    Unused,
    /// `mul:` 1, 2 or 4.
    Multiply,
    /// `div:` 1 or 2.
    Divide,
    /// 0 or 1, which mean the same.
    BoundControl,
    /// A buffer format.
    Format,
    /// `dfmt:`.
    DataFormat,
    /// `nfmt:`.
    NumFormat,
    /// `fi:1`.
    FetchInactive,
}

/// A word that may stand before a parenthesis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Function {
    Neg,
    Abs,
    Sext,
    Lit,
    Lit64,
    Hwreg,
    Sendmsg,
    GprIdx,
}

static WORDS: LazyLock<NameMap<Word>> = LazyLock::new(|| {
    let mut words = NameMap::default();
    registers(&mut words);
    for (name, word) in FUNCTIONS {
        words.insert(name, Word::Function(word));
    }
    for (order, group) in MODIFIERS.iter().enumerate() {
        for (name, field, flag, form) in *group {
            if *name == "neg" {
                continue;
            }
            let spelling = spelling(name);
            let modifier = Modifier { field: *field, flag: *flag, order: order as u8, spelling };
            match form {
                Form::Flag(value) => words.insert(name, Word::Flag(modifier, *value)),
                Form::Valued(value) => words.insert(name, Word::Valued(modifier, *value)),
            };
        }
    }
    words
});

/// The meaning of a word; `None` for mnemonics, symbols and everything unknown.
pub(super) fn word(name: &str) -> Option<Word> {
    WORDS.get(name).copied()
}

/// `neg:[…]`, whose name is also that of a function around operands.
pub(super) const NEG: Modifier = {
    let mut order = 0;
    while !matches!(MODIFIERS[order][0].1, ModField::Neg) {
        order += 1;
    }
    Modifier { field: ModField::Neg, flag: Modifiers::NEG, order: order as u8, spelling: Spelling::Common }
};

/// The place right before the cache bits.
pub(super) const BEFORE_CACHE_BITS: u8 = {
    let mut order = 0;
    while !matches!(MODIFIERS[order][0].1, ModField::Gds) {
        order += 1;
    }
    order as u8
};

/// The name of the modifier with a flag.
pub(super) fn name_of(flag: Modifiers) -> &'static str {
    MODIFIERS.iter().flat_map(|group| group.iter()).find(|m| m.2 == flag).map_or("a modifier", |m| m.0)
}

/// What a modifier of this name sets.
///
/// ```
/// use gcn_isa::table::Modifiers;
/// assert_eq!(gcn_emit::text::modifier("sc0"), Some(Modifiers::GLC));
/// assert_eq!(gcn_emit::text::modifier("quad_perm"), Some(Modifiers::DPP_CTRL));
/// assert_eq!(gcn_emit::text::modifier("saturate"), None);
/// ```
pub fn modifier(name: &str) -> Option<Modifiers> {
    let named = MODIFIERS.iter().flat_map(|group| group.iter()).find(|m| m.0 == name);
    named.map(|m| m.2).filter(|flag| !flag.is_empty())
}

fn spelling(name: &str) -> Spelling {
    match name.strip_prefix("no").filter(|n| !n.is_empty()).unwrap_or(name) {
        "glc" | "slc" | "scc" => Spelling::Old,
        "sc0" | "sc1" | "nt" => Spelling::New,
        _ => Spelling::Common,
    }
}

fn registers(words: &mut NameMap<Word>) {
    let pairs = [
        (["vcc", "vcc_lo", "vcc_hi"], reg::VCC),
        (["exec", "exec_lo", "exec_hi"], reg::EXEC),
        (["flat_scratch", "flat_scratch_lo", "flat_scratch_hi"], reg::FLAT_SCRATCH),
        (["xnack_mask", "xnack_mask_lo", "xnack_mask_hi"], reg::XNACK_MASK),
    ];
    for (names, pair) in pairs {
        for (name, reg) in names.into_iter().zip([pair, pair.sub(0), pair.sub(1)]) {
            words.insert(name, Word::Reg(reg));
        }
    }
    words.insert("m0", Word::Reg(reg::M0));
    words.insert("off", Word::Off);
    for special in SrcSpecial::ALL {
        let name = special.name();
        words.insert(name, Word::Special(special));
        words.insert(name.trim_start_matches("src_"), Word::Special(special));
    }
    for name in ELSEWHERE {
        words.insert(name, Word::Elsewhere);
    }
}

/// Registers that LLVM knows, but not on these targets.
const ELSEWHERE: [&str; 10] = [
    "null",
    "pc",
    "tba",
    "tba_lo",
    "tba_hi",
    "tma",
    "tma_lo",
    "tma_hi",
    "src_flat_scratch_base_lo",
    "src_flat_scratch_base_hi",
];

const FUNCTIONS: [(&str, Function); 8] = [
    ("neg", Function::Neg),
    ("abs", Function::Abs),
    ("sext", Function::Sext),
    ("lit", Function::Lit),
    ("lit64", Function::Lit64),
    ("hwreg", Function::Hwreg),
    ("sendmsg", Function::Sendmsg),
    ("gpr_idx", Function::GprIdx),
];

/// Whether a modifier has a value.
enum Form {
    Flag(u32),
    Valued(Value),
}

type Entry = (&'static str, ModField, Modifiers, Form);

const NONE: Modifiers = Modifiers::empty();

/// The modifiers in the order in which assemblers take and disassemblers print them; those of a group may change places.
const MODIFIERS: &[&[Entry]] = &[
    &[
        ("dfmt", ModField::Format, NONE, Form::Valued(Value::DataFormat)),
        ("nfmt", ModField::Format, NONE, Form::Valued(Value::NumFormat)),
    ],
    &[("bitop3", ModField::Bitop3, Modifiers::BITOP3, Form::Valued(Value::UpTo(0xff)))],
    &[
        ("quad_perm", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Valued(Value::QuadPerm)),
        ("row_shl", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Valued(Value::Lanes(0x101, 1, 15))),
        ("row_shr", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Valued(Value::Lanes(0x111, 1, 15))),
        ("row_ror", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Valued(Value::Lanes(0x121, 1, 15))),
        ("wave_shl", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Valued(Value::Lanes(0x130, 1, 1))),
        ("wave_rol", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Valued(Value::Lanes(0x134, 1, 1))),
        ("wave_shr", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Valued(Value::Lanes(0x138, 1, 1))),
        ("wave_ror", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Valued(Value::Lanes(0x13c, 1, 1))),
        ("row_newbcast", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Valued(Value::Lanes(0x150, 0, 15))),
        ("row_bcast", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Valued(Value::RowBroadcast)),
        ("row_mirror", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Flag(0x140)),
        ("row_half_mirror", ModField::DppCtrl, Modifiers::DPP_CTRL, Form::Flag(0x141)),
    ],
    &[("row_mask", ModField::RowMask, Modifiers::ROW_MASK, Form::Valued(Value::UpTo(0xf)))],
    &[("bank_mask", ModField::BankMask, Modifiers::BANK_MASK, Form::Valued(Value::UpTo(0xf)))],
    &[("bound_ctrl", ModField::BoundCtrl, Modifiers::BOUND_CTRL, Form::Valued(Value::BoundControl))],
    &[("fi", ModField::BoundCtrl, NONE, Form::Valued(Value::FetchInactive))],
    &[("op_sel", ModField::OpSel, Modifiers::OP_SEL, Form::Valued(Value::Bits))],
    &[("op_sel_hi", ModField::OpSelHi, Modifiers::OP_SEL_HI, Form::Valued(Value::Bits))],
    &[("neg_lo", ModField::NegLo, Modifiers::NEG_LO, Form::Valued(Value::Bits))],
    &[("neg_hi", ModField::NegHi, Modifiers::NEG_HI, Form::Valued(Value::Bits))],
    &[
        ("clamp", ModField::Clamp, Modifiers::CLAMP, Form::Flag(1)),
        ("noclamp", ModField::Clamp, Modifiers::CLAMP, Form::Flag(0)),
    ],
    &[
        ("mul", ModField::Omod, Modifiers::OMOD, Form::Valued(Value::Multiply)),
        ("div", ModField::Omod, Modifiers::OMOD, Form::Valued(Value::Divide)),
    ],
    &[("dst_sel", ModField::DstSel, Modifiers::DST_SEL, Form::Valued(Value::Selector))],
    &[("dst_unused", ModField::DstUnused, Modifiers::DST_UNUSED, Form::Valued(Value::Unused))],
    &[("src0_sel", ModField::Src0Sel, Modifiers::SRC0_SEL, Form::Valued(Value::Selector))],
    &[("src1_sel", ModField::Src1Sel, Modifiers::SRC1_SEL, Form::Valued(Value::Selector))],
    &[("cbsz", ModField::Cbsz, Modifiers::CBSZ, Form::Valued(Value::UpTo(7)))],
    &[("abid", ModField::Abid, Modifiers::ABID, Form::Valued(Value::UpTo(15)))],
    &[("blgp", ModField::Blgp, Modifiers::BLGP, Form::Valued(Value::UpTo(7)))],
    &[("neg", ModField::Neg, Modifiers::NEG, Form::Valued(Value::Bits))],
    &[("format", ModField::Format, NONE, Form::Valued(Value::Format))],
    &[("idxen", ModField::Idxen, Modifiers::IDXEN, Form::Flag(1))],
    &[("offen", ModField::Offen, Modifiers::OFFEN, Form::Flag(1))],
    &[("offset", ModField::Offset, Modifiers::OFFSET, Form::Valued(Value::Offset))],
    &[("offset0", ModField::Offset0, Modifiers::OFFSET0, Form::Valued(Value::UpTo(0xff)))],
    &[("offset1", ModField::Offset1, Modifiers::OFFSET1, Form::Valued(Value::UpTo(0xff)))],
    &[
        ("gds", ModField::Gds, Modifiers::GDS, Form::Flag(1)),
        ("nogds", ModField::Gds, Modifiers::GDS, Form::Flag(0)),
    ],
    &[
        ("glc", ModField::Glc, Modifiers::GLC, Form::Flag(1)),
        ("slc", ModField::Slc, Modifiers::SLC, Form::Flag(1)),
        ("scc", ModField::Scc, Modifiers::SCC, Form::Flag(1)),
        ("sc0", ModField::Glc, Modifiers::GLC, Form::Flag(1)),
        ("nt", ModField::Slc, Modifiers::SLC, Form::Flag(1)),
        ("sc1", ModField::Scc, Modifiers::SCC, Form::Flag(1)),
        ("noglc", ModField::Glc, Modifiers::GLC, Form::Flag(0)),
        ("noslc", ModField::Slc, Modifiers::SLC, Form::Flag(0)),
        ("noscc", ModField::Scc, Modifiers::SCC, Form::Flag(0)),
        ("nosc0", ModField::Glc, Modifiers::GLC, Form::Flag(0)),
        ("nont", ModField::Slc, Modifiers::SLC, Form::Flag(0)),
        ("nosc1", ModField::Scc, Modifiers::SCC, Form::Flag(0)),
    ],
    &[("tfe", ModField::Tfe, NONE, Form::Flag(1))],
    &[("lds", ModField::Lds, Modifiers::LDS, Form::Flag(1))],
];
