//! Instructions that were read a short while ago.
//!
//! Unrolled and compiled code writes the same statement again and again: three in ten instructions of clang's files in this
//! crate's corpus stand, letter by letter, earlier in their file. Their machine code is the same as long as they name no
//! symbol.

use std::hash::BuildHasher as _;

use gcn_isa::Target;
use hashbrown::DefaultHashBuilder;

/// Statements that are remembered at most: a power of two.
const PLACES: usize = 1 << 12;

/// What reading an instruction came to.
#[derive(Clone, Copy)]
pub struct Recalled<'s> {
    text: &'s str,
    target: Target,
    /// One past the highest VGPR and SGPR named.
    pub ends: [u16; 2],
    length: u8,
    code: [u8; 20],
}

impl Recalled<'_> {
    /// The machine code.
    pub fn code(&self) -> &[u8] {
        self.code.get(..self.length.into()).unwrap_or_default()
    }
}

/// Statements by the hash of their text; a newer one takes an older one's place.
#[derive(Default)]
pub struct Recall<'s> {
    places: Vec<Option<Recalled<'s>>>,
    hasher: DefaultHashBuilder,
}

impl<'s> Recall<'s> {
    /// The instruction `text`, if it was read before.
    pub fn find(&self, text: &str, target: Target) -> Option<&Recalled<'s>> {
        let known = self.places.get(self.place(text))?.as_ref()?;
        (known.text == text && known.target == target).then_some(known)
    }

    /// Remembers an instruction that names no symbol.
    pub fn keep(&mut self, text: &'s str, target: Target, code: &[u8], ends: [u16; 2]) {
        let mut bytes = [0; 20];
        let Some(taken) = bytes.get_mut(..code.len()) else { return };
        taken.copy_from_slice(code);
        let place = self.place(text);
        if self.places.is_empty() {
            self.places.resize(PLACES, None);
        }
        if let Some(known) = self.places.get_mut(place) {
            *known = Some(Recalled { text, target, ends, length: code.len() as u8, code: bytes });
        }
    }

    fn place(&self, text: &str) -> usize {
        self.hasher.hash_one(text) as usize & (PLACES - 1)
    }
}
