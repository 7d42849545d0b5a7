//! The assembler's words for modifiers, and the notation of each word's value.

use super::{DppControls, Modifier, Modifiers, TemporalHints};
use crate::target::Target;

/// A word of the assembler for a modifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word {
    /// The spelling of the word.
    pub name: &'static str,
    /// The modifier that the word sets.
    pub modifier: Modifier,
    /// Whether the word has a value, and its notation.
    pub form: Form,
    /// The instructions that accept the word.
    pub spelling: Spelling,
}

/// The instructions that accept a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// All instructions.
    Common,
    /// All memory instructions but those of `New`: `glc`, `slc`, `scc`.
    Old,
    /// Vector memory instructions of gfx942 and gfx950: `sc0`, `nt`, `sc1`.
    New,
}

/// Whether a word has a value, and its notation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The word has no value: its presence sets the modifier to this value.
    Flag(u32),
    /// A number, or `swizzle(…)`.
    Offset,
    /// A number up to this limit.
    UpTo(u32),
    /// A list of up to four bits: `[1,0,…]`.
    Bits,
    /// `[0,1,2,3]`.
    QuadPerm,
    /// A number of lanes. The fields are the first `dpp_ctrl`, the number of lanes for that `dpp_ctrl`, and the largest number of lanes.
    Lanes(u16, u16, u16),
    /// The number 15 or 31.
    RowBroadcast,
    /// One of [`SDWA_SELECTORS`].
    Selector,
    /// One of [`SDWA_UNUSED`].
    Unused,
    /// `mul:` with 1, 2 or 4.
    Multiply,
    /// `div:` with 1 or 2.
    Divide,
    /// 0 or 1, which have the same meaning.
    BoundControl,
    /// A buffer format.
    Format,
    /// `dfmt:`.
    DataFormat,
    /// `nfmt:`.
    NumFormat,
    /// `fi:1`.
    FetchInactive,
    /// `dpp8:[0,1,2,3,4,5,6,7]`.
    Dpp8,
    /// One of [`HINTS`].
    Hint,
    /// One of [`SCOPES`].
    Scope,
    /// One of these names. The value is the position of the name.
    Name(&'static [&'static str]),
}

/// The temporal hints of RDNA 4: the words, which differ between loads, stores and atomics; the field's value; and the scope, if the value
/// has this meaning only with a certain scope.
pub const HINTS: [(TemporalHints, u8, Option<u8>); 20] = {
    use TemporalHints as T;
    [
        (T::TH_LOAD_NT, 1, None),
        (T::TH_LOAD_HT, 2, None),
        (T::TH_LOAD_BYPASS, 3, Some(3)),
        (T::TH_LOAD_LU, 3, None),
        (T::TH_LOAD_NT_RT, 4, None),
        (T::TH_LOAD_RT_NT, 5, None),
        (T::TH_LOAD_NT_HT, 6, None),
        (T::TH_STORE_NT, 1, None),
        (T::TH_STORE_HT, 2, None),
        (T::TH_STORE_BYPASS, 3, Some(3)),
        (T::TH_STORE_WB, 3, None),
        (T::TH_STORE_NT_RT, 4, None),
        (T::TH_STORE_RT_NT, 5, None),
        (T::TH_STORE_NT_HT, 6, None),
        (T::TH_STORE_NT_WB, 7, None),
        (T::TH_ATOMIC_RETURN, 1, None),
        (T::TH_ATOMIC_NT, 2, None),
        (T::TH_ATOMIC_NT_RETURN, 3, None),
        (T::TH_ATOMIC_CASCADE_RT, 4, None),
        (T::TH_ATOMIC_CASCADE_NT, 6, None),
    ]
};

/// The scopes of RDNA 4 by value.
pub const SCOPES: [&str; 4] = ["SCOPE_CU", "SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS"];

/// The formats of matrices on gfx12.5 by value.
pub const MATRIX_FORMATS: [&str; 5] =
    ["MATRIX_FMT_FP8", "MATRIX_FMT_BF8", "MATRIX_FMT_FP6", "MATRIX_FMT_BF6", "MATRIX_FMT_FP4"];

/// The positions of a matrix's scales, by value.
pub const MATRIX_SCALES: [&str; 2] = ["MATRIX_SCALE_ROW0", "MATRIX_SCALE_ROW1"];

/// The types of scales by value.
pub const SCALE_FORMATS: [&str; 3] =
    ["MATRIX_SCALE_FMT_E8", "MATRIX_SCALE_FMT_E5M3", "MATRIX_SCALE_FMT_E4M3"];

/// SDWA selectors by value.
pub const SDWA_SELECTORS: [&str; 7] = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"];

/// The treatment of unselected destination bits by SDWA, by value.
pub const SDWA_UNUSED: [&str; 3] = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"];

const fn word(name: &'static str, modifier: Modifier, form: Form) -> Word {
    Word { name, modifier, form, spelling: Spelling::Common }
}

const fn old(name: &'static str, modifier: Modifier, value: u32) -> Word {
    Word { name, modifier, form: Form::Flag(value), spelling: Spelling::Old }
}

const fn new(name: &'static str, modifier: Modifier, value: u32) -> Word {
    Word { name, modifier, form: Form::Flag(value), spelling: Spelling::New }
}

/// The words in the order in which assemblers accept them and disassemblers print them. The words of one group may occur in any order.
pub const WORDS: &[&[Word]] = &[
    &[word("dfmt", Modifier::Format, Form::DataFormat), word("nfmt", Modifier::Format, Form::NumFormat)],
    &[word("bitop3", Modifier::Bitop3, Form::UpTo(0xff))],
    &[word("scale_sel", Modifier::ScaleSel, Form::UpTo(15))],
    &[word("index_key", Modifier::IndexKey, Form::UpTo(3))],
    &[word("matrix_a_fmt", Modifier::MatrixAFmt, Form::Name(&MATRIX_FORMATS))],
    &[word("matrix_b_fmt", Modifier::MatrixBFmt, Form::Name(&MATRIX_FORMATS))],
    &[word("matrix_a_scale", Modifier::MatrixAScale, Form::Name(&MATRIX_SCALES))],
    &[word("matrix_b_scale", Modifier::MatrixBScale, Form::Name(&MATRIX_SCALES))],
    &[word("matrix_a_scale_fmt", Modifier::MatrixAScaleFmt, Form::Name(&SCALE_FORMATS))],
    &[word("matrix_b_scale_fmt", Modifier::MatrixBScaleFmt, Form::Name(&SCALE_FORMATS))],
    &[word("matrix_a_reuse", Modifier::MatrixAReuse, Form::Flag(1))],
    &[word("matrix_b_reuse", Modifier::MatrixBReuse, Form::Flag(1))],
    &[word("op_sel", Modifier::OpSel, Form::Bits)],
    &[word("byte_sel", Modifier::ByteSel, Form::UpTo(3))],
    &[word("op_sel_hi", Modifier::OpSelHi, Form::Bits)],
    &[word("neg_lo", Modifier::NegLo, Form::Bits)],
    &[word("neg_hi", Modifier::NegHi, Form::Bits)],
    &[word("clamp", Modifier::Clamp, Form::Flag(1)), word("noclamp", Modifier::Clamp, Form::Flag(0))],
    &[word("mul", Modifier::Omod, Form::Multiply), word("div", Modifier::Omod, Form::Divide)],
    &[
        word("quad_perm", Modifier::DppCtrl, Form::QuadPerm),
        word("row_shl", Modifier::DppCtrl, Form::Lanes(0x101, 1, 15)),
        word("row_shr", Modifier::DppCtrl, Form::Lanes(0x111, 1, 15)),
        word("row_ror", Modifier::DppCtrl, Form::Lanes(0x121, 1, 15)),
        word("wave_shl", Modifier::DppCtrl, Form::Lanes(0x130, 1, 1)),
        word("wave_rol", Modifier::DppCtrl, Form::Lanes(0x134, 1, 1)),
        word("wave_shr", Modifier::DppCtrl, Form::Lanes(0x138, 1, 1)),
        word("wave_ror", Modifier::DppCtrl, Form::Lanes(0x13c, 1, 1)),
        word("row_newbcast", Modifier::DppCtrl, Form::Lanes(0x150, 0, 15)),
        word("row_share", Modifier::DppCtrl, Form::Lanes(0x150, 0, 15)),
        word("row_xmask", Modifier::DppCtrl, Form::Lanes(0x160, 0, 15)),
        word("row_bcast", Modifier::DppCtrl, Form::RowBroadcast),
        word("row_mirror", Modifier::DppCtrl, Form::Flag(0x140)),
        word("row_half_mirror", Modifier::DppCtrl, Form::Flag(0x141)),
    ],
    &[word("row_mask", Modifier::RowMask, Form::UpTo(0xf))],
    &[word("bank_mask", Modifier::BankMask, Form::UpTo(0xf))],
    &[word("bound_ctrl", Modifier::BoundCtrl, Form::BoundControl)],
    &[word("dpp8", Modifier::Dpp8, Form::Dpp8)],
    &[word("fi", Modifier::Fi, Form::FetchInactive)],
    &[word("dst_sel", Modifier::DstSel, Form::Selector)],
    &[word("dst_unused", Modifier::DstUnused, Form::Unused)],
    &[word("src0_sel", Modifier::Src0Sel, Form::Selector)],
    &[word("src1_sel", Modifier::Src1Sel, Form::Selector)],
    &[word("cbsz", Modifier::Cbsz, Form::UpTo(7))],
    &[word("abid", Modifier::Abid, Form::UpTo(15))],
    &[word("blgp", Modifier::Blgp, Form::UpTo(7))],
    &[word("neg", Modifier::Neg, Form::Bits)],
    &[word("format", Modifier::Format, Form::Format)],
    &[word("idxen", Modifier::Idxen, Form::Flag(1))],
    &[word("offen", Modifier::Offen, Form::Flag(1))],
    &[word("offset", Modifier::Offset, Form::Offset)],
    &[word("offset0", Modifier::Offset0, Form::UpTo(0xff))],
    &[word("offset1", Modifier::Offset1, Form::UpTo(0xff))],
    &[word("scale_offset", Modifier::ScaleOffset, Form::Flag(1))],
    &[word("gds", Modifier::Gds, Form::Flag(1)), word("nogds", Modifier::Gds, Form::Flag(0))],
    &[
        word("dlc", Modifier::Dlc, Form::Flag(1)),
        word("nodlc", Modifier::Dlc, Form::Flag(0)),
        word("th", Modifier::Th, Form::Hint),
        word("scope", Modifier::Scope, Form::Scope),
        word("nv", Modifier::Nv, Form::Flag(1)),
        old("glc", Modifier::Glc, 1),
        old("slc", Modifier::Slc, 1),
        old("scc", Modifier::Scc, 1),
        new("sc0", Modifier::Glc, 1),
        new("nt", Modifier::Slc, 1),
        new("sc1", Modifier::Scc, 1),
        old("noglc", Modifier::Glc, 0),
        old("noslc", Modifier::Slc, 0),
        old("noscc", Modifier::Scc, 0),
        new("nosc0", Modifier::Glc, 0),
        new("nont", Modifier::Slc, 0),
        new("nosc1", Modifier::Scc, 0),
    ],
    &[word("wait_vdst", Modifier::WaitVdst, Form::UpTo(15))],
    &[word("wait_va_vdst", Modifier::WaitVaVdst, Form::UpTo(15))],
    &[word("wait_vm_vsrc", Modifier::WaitVmVsrc, Form::UpTo(1))],
    &[word("tfe", Modifier::Tfe, Form::Flag(1))],
    &[word("lds", Modifier::Lds, Form::Flag(1))],
];

impl Word {
    /// The flag in the table rows of instructions that accept this word. It is empty if rows do not list it.
    pub const fn flag(&self) -> Modifiers {
        self.modifier.flag()
    }

    /// True if instructions with the new (or old) names of the cache bits accept the word.
    fn is_known(&self, new_names: bool) -> bool {
        match self.spelling {
            Spelling::Common => true,
            Spelling::Old => !new_names,
            Spelling::New => new_names,
        }
    }

    /// The values of `dpp_ctrl` that the word can set: the first, the last, and the number that is written in assembly for the first.
    fn controls(&self) -> (u16, u16, u16) {
        match self.form {
            Form::QuadPerm => (0, 0xff, 0),
            Form::Lanes(first, low, high) => (first, first + high - low, low),
            Form::RowBroadcast => (0x142, 0x143, 0),
            Form::Flag(value) => (value as u16, value as u16, 0),
            _ => (1, 0, 0),
        }
    }

    /// The DPP control that the word sets, as rows list it. It is empty for a word of another modifier.
    pub(crate) fn control(&self) -> DppControls {
        DppControls::named(self.name).unwrap_or(DppControls::empty())
    }

    /// The word's syntax, with `<…>` for parts to be filled in, given the number of `op_sel` bits and the range of
    /// offsets.
    pub fn syntax(&self, bits: usize, offsets: (i32, i32)) -> String {
        let name = self.name;
        let value = match self.form {
            Form::Flag(_) => return name.to_owned(),
            Form::Offset => format!("<{}..{}>", offsets.0, offsets.1),
            Form::UpTo(most) => format!("<0..{most}>"),
            Form::Bits => format!("[{}]", vec!["0|1"; bits].join(",")),
            Form::QuadPerm => "[<0..3>,<0..3>,<0..3>,<0..3>]".to_owned(),
            Form::Lanes(_, low, high) if low == high => low.to_string(),
            Form::Lanes(_, low, high) => format!("<{low}..{high}>"),
            Form::RowBroadcast => "<15 or 31>".to_owned(),
            Form::Selector => SDWA_SELECTORS.join("|"),
            Form::Unused => SDWA_UNUSED.join("|"),
            Form::Multiply => return format!("{name}:2|{name}:4"),
            Form::Divide => "2".to_owned(),
            Form::BoundControl => "0".to_owned(),
            Form::Format => "<0..127>".to_owned(),
            Form::DataFormat => "<0..15>".to_owned(),
            Form::NumFormat => "<0..7>".to_owned(),
            Form::FetchInactive => "1".to_owned(),
            Form::Dpp8 => "[<0..7>,<0..7>,<0..7>,<0..7>,<0..7>,<0..7>,<0..7>,<0..7>]".to_owned(),
            Form::Hint => "TH_…".to_owned(),
            Form::Scope => SCOPES.join("|"),
            Form::Name(names) => names.join("|"),
        };
        format!("{name}:{value}")
    }
}

fn all_words() -> impl Iterator<Item = &'static Word> {
    WORDS.iter().flat_map(|group| group.iter())
}

/// The words that set modifiers, with the older or the newer names of the cache bits. Words that restore a default, such as `noclamp`, are
/// excluded.
pub(crate) fn words(new_names: bool) -> impl Iterator<Item = &'static Word> {
    all_words().filter(move |w| w.form != Form::Flag(0) && w.is_known(new_names))
}

/// The word with this name; `None` if there is none.
pub fn word_named(name: &str) -> Option<&'static Word> {
    all_words().find(|w| w.name == name)
}

/// The word for a modifier of vector memory. Cache bits have the names that `target` uses.
pub fn word_of(modifier: Modifier, target: Target) -> &'static str {
    let renamed = |w: &&Word| w.modifier == modifier && w.spelling == Spelling::New;
    let new_name = if target.is_gfx940_family() { all_words().find(renamed) } else { None };
    new_name.map_or(modifier.name(), |w| w.name)
}

/// The word for a DPP control, out of those that an instruction accepts, and the number to write with it; `None` if the instruction does
/// not accept the control.
pub fn dpp_word(ctrl: u16, among: DppControls) -> Option<(&'static Word, u16)> {
    let word = all_words().find(|w| {
        let (first, last, _) = w.controls();
        w.modifier == Modifier::DppCtrl && among.contains(w.control()) && (first..=last).contains(&ctrl)
    })?;
    let (first, _, number) = word.controls();
    let number = match word.form {
        Form::RowBroadcast => 15 + 16 * (ctrl - first),
        _ => ctrl - first + number,
    };
    Some((word, number))
}
