//! The words of the instruction grammar other than mnemonics: named registers and values, modifiers,
//! functions.

use std::sync::LazyLock;

use gcn_isa::mods::{self, Form, Modifier, Modifiers};
use gcn_isa::table::NameMap;
use gcn_isa::{Reg, SrcSpecial, reg};

/// The meaning of a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Word {
    Reg(Reg),
    Special(SrcSpecial),
    Off,
    /// A register that only other targets have.
    Elsewhere,
    /// A modifier without a value in the text, and the value that it sets.
    Flag(ModWord, u32),
    /// A modifier with a value after a colon.
    Valued(ModWord),
    /// `neg(`, `abs(`, `sext(`, `lit(`, `hwreg(` …; without the parenthesis it is a plain name.
    Function(Function),
}

/// A word for a modifier, and its rank in the required order.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModWord {
    pub word: &'static mods::Word,
    /// The rank in the order that assemblers require. Modifiers of equal rank may be exchanged.
    pub order: u8,
}

/// A word that may precede a parenthesis.
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
    for (order, group) in mods::WORDS.iter().enumerate() {
        // `neg` is also the name of a function around operands.
        for word in group.iter().filter(|w| w.modifier != Modifier::Neg) {
            let modifier = ModWord { word, order: order as u8 };
            match word.form {
                Form::Flag(value) => words.insert(word.name, Word::Flag(modifier, value)),
                _ => words.insert(word.name, Word::Valued(modifier)),
            };
        }
    }
    words
});

/// The meaning of a word; `None` for mnemonics, symbols and everything unknown.
pub(super) fn word(name: &str) -> Option<Word> {
    WORDS.get(name).copied()
}

/// The rank of a modifier's words in the order that assemblers require.
const fn order(modifier: Modifier) -> u8 {
    let mut order = 0;
    while mods::WORDS[order][0].modifier as u8 != modifier as u8 {
        order += 1;
    }
    order as u8
}

/// `neg:[…]`, whose name is also that of a function around operands.
pub(super) const NEG: ModWord = {
    let order = order(Modifier::Neg);
    ModWord { word: &mods::WORDS[order as usize][0], order }
};

/// The rank directly before the cache bits.
pub(super) const BEFORE_CACHE_BITS: u8 = order(Modifier::Gds);

fn word_with(is_it: impl Fn(&mods::Word) -> bool) -> Option<&'static mods::Word> {
    mods::WORDS.iter().flat_map(|group| group.iter()).find(|w| is_it(w))
}

/// The name of the modifier with a flag.
pub(super) fn name_of(flag: Modifiers) -> &'static str {
    word_with(|w| w.flag() == flag).map_or("a modifier", |w| w.name)
}

/// The modifier with this name.
///
/// ```
/// use gcn_isa::table::Modifiers;
/// assert_eq!(gcn_emit::text::modifier("sc0"), Some(Modifiers::GLC));
/// assert_eq!(gcn_emit::text::modifier("quad_perm"), Some(Modifiers::DPP_CTRL));
/// assert_eq!(gcn_emit::text::modifier("saturate"), None);
/// ```
pub fn modifier(name: &str) -> Option<Modifiers> {
    word_with(|w| w.name == name).map(mods::Word::flag).filter(|flag| !flag.is_empty())
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
    words.insert("null", Word::Reg(reg::NULL));
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

/// Registers that LLVM knows but no supported target has.
const ELSEWHERE: [&str; 7] = ["pc", "tba", "tba_lo", "tba_hi", "tma", "tma_lo", "tma_hi"];

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
