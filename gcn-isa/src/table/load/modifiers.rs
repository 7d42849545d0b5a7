//! Parses the words for modifiers, in forms and in declared groups.

use super::Broken;
use crate::mods::{DppControls, Modifiers, TemporalHints};
use crate::table::slot::OperandBits;

/// The modifiers of a form.
#[derive(Clone, Copy)]
pub(super) struct ModifierFacts {
    pub(super) accepted: Modifiers,
    pub(super) required: Modifiers,
    pub(super) offset_range: Option<(i32, i32)>,
    pub(super) bits: OperandBits,
    pub(super) dpp_controls: DppControls,
    pub(super) hints: TemporalHints,
    pub(super) last_selector: u8,
}

impl Default for ModifierFacts {
    fn default() -> ModifierFacts {
        ModifierFacts {
            accepted: Modifiers::empty(),
            required: Modifiers::empty(),
            offset_range: None,
            bits: OperandBits::default(),
            dpp_controls: DppControls::empty(),
            hints: TemporalHints::empty(),
            last_selector: 0,
        }
    }
}

impl ModifierFacts {
    pub(super) fn add(&mut self, word: &str) -> Result<(), Broken> {
        let (word, required) = word.strip_suffix('!').map_or((word, false), |w| (w, true));
        let (name, argument) = word.split_at(word.find('[').unwrap_or(word.len()));
        let argument = argument.trim_matches(['[', ']']);
        let (at_source, name) = name.strip_prefix("src_").map_or((false, name), |name| (true, name));
        if let Some(bits) = self.bits.named(name, at_source) {
            *bits |= operands(argument)?;
        }
        if at_source {
            return Ok(());
        }
        let flag = Modifiers::named(name).ok_or("unknown modifier")?;
        self.accepted |= flag;
        if required {
            self.required |= flag;
        }
        match flag {
            Modifiers::OFFSET => {
                let bounds = argument.split_once("..").ok_or("an offset has a range, `[0..4095]`")?;
                let bound = |s: &str| s.parse::<i32>().map_err(|_| "a bound of an offset is a number");
                self.offset_range = Some((bound(bounds.0)?, bound(bounds.1)?));
            }
            Modifiers::DPP_CTRL => {
                for word in argument.split('/') {
                    self.dpp_controls |= DppControls::named(word).ok_or("unknown DPP control")?;
                }
            }
            Modifiers::TH => {
                for word in argument.split('/') {
                    self.hints |= TemporalHints::from_name(word).ok_or("unknown temporal hint")?;
                }
            }
            Modifiers::BYTE_SEL | Modifiers::INDEX_KEY => {
                let last = argument.strip_prefix("0..").and_then(|last| last.parse().ok());
                self.last_selector = last.ok_or("a selector has a range from 0, `[0..3]`")?;
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn extend(&mut self, more: &ModifierFacts) {
        self.accepted |= more.accepted;
        self.required |= more.required;
        self.offset_range = self.offset_range.or(more.offset_range);
        self.bits.extend(more.bits);
        self.dpp_controls |= more.dpp_controls;
        self.hints |= more.hints;
        self.last_selector = self.last_selector.max(more.last_selector);
    }
}

fn operands(list: &str) -> Result<u8, Broken> {
    list.split('/').try_fold(0, |all, digit| match digit.parse::<u8>() {
        Ok(operand @ 0..=7) => Ok(all | 1 << operand),
        _ => Err("a list of operands is `[0/1/2]`"),
    })
}
