//! Finds the instructions of an image that a kernel can reach.
//!
//! Follows every fall-through, direct branch and direct call from the entry on. The targets of indirect jumps and calls are unknown before
//! the run. If there is an indirect jump or call, all code of the image is decoded, word by word where no instruction boundary is known.
//! Words that cannot be decoded are errors only when execution reaches them.

use std::collections::BTreeMap;

use gcn_emit::decode::decode_inst;
use gcn_isa::table::Class;
use gcn_isa::target::Subtarget;

use super::image::Image;
use crate::semantics::load::{Decoded, branch_offset};

/// `s_nop 0`, a placeholder for words that are not instructions.
const NOP: [u8; 4] = [0, 0, 0x80, 0xbf];

/// The decoded instructions, by offset in the image.
pub(crate) fn reachable(on: Subtarget, image: &Image, entry: u32) -> BTreeMap<u32, Decoded> {
    let mut reach = Reach { on, image, code: BTreeMap::new(), indirect: false };
    reach.follow(entry);
    if reach.indirect {
        image.code.iter().for_each(|range| reach.sweep(range.start, range.end));
    }
    reach.code
}

struct Reach<'a> {
    on: Subtarget,
    image: &'a Image,
    code: BTreeMap<u32, Decoded>,
    indirect: bool,
}

impl Reach<'_> {
    fn follow(&mut self, entry: u32) {
        let mut open = vec![entry];
        while let Some(start) = open.pop() {
            let mut at = start;
            // A jump into the middle of a decoded instruction is not followed: the bytes keep their first decoding.
            while !self.taken(at) {
                let Some((size, next)) = self.decode(at) else { break };
                open.extend(next.branch);
                self.indirect |= next.indirect;
                if !next.falls {
                    break;
                }
                at += size;
            }
        }
    }

    /// True if a decoded instruction covers the byte at this offset.
    fn taken(&self, at: u32) -> bool {
        let before = self.code.range(..=at).next_back();
        before.is_some_and(|(start, decoded)| match decoded {
            Decoded::Inst(size, _) => start + size > at,
            Decoded::Nothing(..) => start + 4 > at,
        })
    }

    /// Decodes one instruction; `None` if the bytes are not an instruction, or if the instruction would overlap a decoded one.
    fn decode(&mut self, at: u32) -> Option<(u32, Next)> {
        let bytes = self.image.bytes.get(at as usize..).unwrap_or_default();
        match decode_inst(bytes, self.on) {
            Ok((inst, size)) => {
                let size = size as u32;
                if self.code.range(at..at + size).next().is_some() {
                    return None;
                }
                let next = Next {
                    branch: branch_offset(&inst, at, size),
                    falls: inst.desc.falls_through(),
                    indirect: inst.desc.class == Class::Branch && inst.distance().is_none(),
                };
                self.code.insert(at, Decoded::Inst(size, inst));
                Some((size, next))
            }
            Err(error) => {
                if let Ok((nop, _)) = decode_inst(&NOP, self.on) {
                    self.code.insert(at, Decoded::Nothing(error.to_string(), nop));
                }
                None
            }
        }
    }

    fn sweep(&mut self, start: u32, end: u32) {
        let mut at = start;
        while at < end {
            if !self.taken(at) {
                self.follow(at);
            }
            let known = self.code.get(&at).map_or(4, |decoded| match decoded {
                Decoded::Inst(size, _) => *size,
                Decoded::Nothing(..) => 4,
            });
            at += known;
        }
    }
}

/// The successors of an instruction.
struct Next {
    branch: Option<u32>,
    falls: bool,
    indirect: bool,
}
