//! A cache of instructions that were parsed recently.
//!
//! Unrolled and compiled code repeats statements: in this crate's corpus of clang's files, three in ten instructions have the same text as
//! an earlier one in the same file. Unless such an instruction names a symbol, its machine code is the same.

use std::hash::BuildHasher as _;
use std::sync::Arc;

use gcn_isa::{Inst, Target};
use hashbrown::DefaultHashBuilder;

/// The initial and the maximum number of cache slots, which are powers of two. The initial table fits into a core's own cache.
const PLACES: (usize, usize) = (1 << 12, 1 << 16);

/// Thresholds for the hit rate, which is examined whenever as many statements have been stored as there are slots. With at least one hit
/// for every `FEW.0` stored statements, the table grows. With fewer than one hit for every `FEW.1`, lookups cost more than they save.
const FEW: (usize, usize) = (4, 16);

/// If lookups cost more than they save, the cache is switched off for this many statements per slot.
const REST: usize = 8;

/// The result of parsing an instruction.
#[derive(Clone)]
pub struct Recalled<'s> {
    text: &'s str,
    target: Target,
    /// For VGPRs and for SGPRs, one more than the highest register number that the instruction names.
    pub ends: [u16; 2],
    pub length: u8,
    code: [u8; 20],
    /// The instruction, if instructions are kept.
    pub inst: Option<Arc<Inst>>,
}

impl Recalled<'_> {
    /// The machine code.
    pub fn code(&self) -> &[u8] {
        self.code.get(..self.length.into()).unwrap_or_default()
    }
}

/// Statements in slots that are selected by the hash of their text. A newer statement replaces the older one in its slot.
#[derive(Default)]
pub struct Recall<'s> {
    places: Vec<Option<Recalled<'s>>>,
    /// Statements stored since the hit rate was last examined.
    kept: usize,
    /// The number of hits since the hit rate was last examined.
    found: usize,
    /// The number of statements for which the cache remains switched off.
    resting: usize,
    hasher: DefaultHashBuilder,
}

impl<'s> Recall<'s> {
    /// The result for the instruction `text`, if it is in the cache.
    pub fn find(&mut self, text: &str, target: Target) -> Option<&Recalled<'s>> {
        if self.resting > 0 {
            self.resting -= 1;
            return None;
        }
        let known = self.places.get(self.place(text))?.as_ref()?;
        let known = (known.text == text && known.target == target).then_some(known)?;
        self.found += 1;
        Some(known)
    }

    /// Stores the result of an instruction that names no symbol.
    pub fn keep(
        &mut self,
        text: &'s str,
        target: Target,
        code: &[u8],
        ends: [u16; 2],
        inst: Option<Arc<Inst>>,
    ) {
        if self.resting > 0 {
            return;
        }
        let mut bytes = [0; 20];
        let Some(taken) = bytes.get_mut(..code.len()) else { return };
        taken.copy_from_slice(code);
        if self.kept >= self.places.len() {
            self.judge();
        }
        self.kept += 1;
        self.put(Recalled { text, target, ends, length: code.len() as u8, code: bytes, inst });
    }

    /// Grows the table, or switches the cache off for a while, depending on the hit rate.
    fn judge(&mut self) {
        let (kept, found) = (std::mem::take(&mut self.kept), std::mem::take(&mut self.found));
        if found * FEW.0 >= kept && self.places.len() < PLACES.1 {
            let more = (self.places.len() * 4).clamp(PLACES.0, PLACES.1);
            let old = std::mem::replace(&mut self.places, vec![None; more]);
            old.into_iter().flatten().for_each(|known| self.put(known));
        } else if found * FEW.1 < kept {
            self.resting = REST * self.places.len();
        }
    }

    fn put(&mut self, new: Recalled<'s>) {
        let place = self.place(new.text);
        if let Some(known) = self.places.get_mut(place) {
            *known = Some(new);
        }
    }

    /// The slot for a statement; `None` before the first insertion.
    fn place(&self, text: &str) -> usize {
        self.hasher.hash_one(text) as usize & self.places.len().wrapping_sub(1)
    }
}
