//! The context on which the text of an instruction depends: processor, symbols, and the forms of its mnemonic.

use gcn_isa::table::{Class, InstDesc, OperandKinds};
use gcn_isa::target::Subtarget;

use super::implied::least_operands;
use super::scope::Scope;
use super::words::Word;

/// The context on which the grammar depends.
pub(super) struct Context<'s> {
    pub on: Subtarget,
    pub scope: &'s mut dyn Scope,
    /// True if `scc` is a cache bit in this instruction instead of a register.
    pub scc_is_cache_bit: bool,
    /// The table rows of the mnemonic.
    pub rows: &'s [&'static InstDesc],
}

impl Context<'_> {
    /// True if a word that can also be a modifier or `off` is the name of a symbol here, after `operands` operands. Modifiers follow all
    /// operands, and `off` occurs only in forms without an address.
    pub fn is_symbol(&self, name: &str, word: Word, operands: usize) -> bool {
        let takes_off = |row: &&InstDesc| {
            let slot = row.operands.get(operands);
            slot.is_some_and(|slot| slot.kinds.contains(OperandKinds::OFF))
        };
        // If the form has this modifier and its last operand is optional, the word is the modifier.
        let still_wants = |row: &InstDesc| match word {
            Word::Flag(modifier, _) if row.modifiers.intersects(modifier.word.flag()) => {
                operands < least_operands(row)
            }
            _ => operands < row.operands.len(),
        };
        let known = || match self.rows {
            [only] if only.class == Class::Branch => true,
            _ => self.scope.defines(name),
        };
        self.rows.iter().all(|row| still_wants(row))
            && !(matches!(word, Word::Off) && self.rows.iter().any(takes_off))
            && known()
    }
}
