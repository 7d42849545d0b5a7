//! Builds the program of a section from its pieces.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use gcn_isa::cfg::{is_call, resolve};
use gcn_isa::program::{LabelDef, Line};
use gcn_isa::table::Behaviours;
use gcn_isa::{Inst, Label, Operand, Program, Target};

use super::functions::{self, Start};
use super::image::{CodeImage, Links};
use super::{Code, CodeError, CodePlace, Unread, Unreadable};

/// A section under construction. Its pieces are appended in the order of their offsets.
#[derive(Clone)]
pub(super) struct Builder<'s> {
    section: &'s str,
    address: u64,
    /// The bytes of the section.
    bytes: &'s [u8],
    lines: Vec<Line>,
    places: Vec<CodePlace>,
    /// The lines with branches, and the offset of each branch's target.
    branches: Vec<(usize, u64)>,
    unread: Vec<Unread>,
    /// The lines directly after bytes that could not be decoded.
    gaps: Vec<usize>,
    /// For each line, whether a branch leads to it.
    targets: Vec<bool>,
}

/// The maximum number of times that a section is rebuilt because jumps lead to words that were taken for padding.
const ROUNDS: usize = 4;

/// The encoding of `s_nop N` without the number.
const S_NOP: u32 = 0xbf80_0000;
/// `s_code_end`: not an instruction of these targets, but some compilers use it as padding.
const S_CODE_END: u32 = 0xbf9f_0000;

impl<'s> Builder<'s> {
    pub fn new(section: &'s str, address: u64, bytes: &'s [u8]) -> Result<Builder<'s>, CodeError> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(CodeError::TooLarge { section: section.to_owned(), bytes: bytes.len() as u64 });
        }
        let most = bytes.len() / 4;
        Ok(Builder {
            section,
            address,
            bytes,
            lines: Vec::with_capacity(most / 2),
            places: Vec::with_capacity(most / 2),
            branches: Vec::new(),
            unread: Vec::new(),
            gaps: Vec::new(),
            targets: Vec::new(),
        })
    }

    /// Appends an instruction. `leads_to` is the offset of a branch's target, if the target is in the section.
    pub fn inst(&mut self, place: CodePlace, inst: impl Into<Arc<Inst>>, leads_to: Option<u64>) {
        if let Some(offset) = leads_to {
            self.branches.push((self.lines.len(), offset));
        }
        self.lines.push(Line::new(inst));
        self.places.push(place);
    }

    /// Appends bytes that are not instructions.
    pub fn unread(&mut self, offset: u64, length: u64, why: Unreadable) {
        let gap = self.lines.len();
        if let Some(last) = self.unread.last_mut()
            && last.offset + last.length == offset
            && self.gaps.last() == Some(&gap)
        {
            last.length += length;
            return;
        }
        self.unread.push(Unread { offset, length, why });
        self.gaps.push(gap);
    }

    /// True if control may fall through into the next piece.
    pub fn falls_through(&self) -> bool {
        self.gaps.last() != Some(&self.lines.len()) && self.lines.last().is_some_and(Line::falls_through)
    }

    /// True if control may fall through from the line before `line`.
    fn falls_into(&self, line: usize) -> bool {
        let Some(before) = line.checked_sub(1).and_then(|l| self.lines.get(l)) else { return false };
        before.falls_through() && self.gaps.binary_search(&line).is_err()
    }

    /// True if a branch leads to `line`.
    fn is_branched_to(&self, line: usize) -> bool {
        self.targets.get(line).copied().unwrap_or(false)
    }

    /// Produces the program. `label` returns the name of the label at an offset, if there is one.
    pub fn finish<'n>(
        self,
        target: Target,
        starts: Vec<Start>,
        label: impl Fn(u64) -> Option<&'n str>,
        links: &Links,
    ) -> Code {
        let starts = functions::in_order(starts);
        // Words that look like padding may be the first instructions of a function without a symbol. If code computes addresses, such a
        // function is found only by following its jumps.
        let makes_addresses =
            |l: &Line| l.inst.desc.entry.behaviours.intersects(Behaviours::READS_PC | Behaviours::JUMPS_BY);
        let whole = self.lines.iter().any(makes_addresses).then(|| self.clone());
        let mut entered: Vec<u64> = Vec::new();
        let (mut code, mut missed) = self.build(target, &starts, &label, links, &entered);
        for _ in 0..ROUNDS {
            let Some(whole) = whole.as_ref().filter(|_| !missed.is_empty()) else { break };
            entered.append(&mut missed);
            (code, missed) = whole.clone().build(target, &starts, &label, links, &entered);
        }
        code
    }

    /// The program, and the targets of jumps to words that were taken for padding. `entered` contains such targets that are known already.
    fn build<'n>(
        mut self,
        target: Target,
        starts: &[Start],
        label: &impl Fn(u64) -> Option<&'n str>,
        links: &Links,
        entered: &[u64],
    ) -> (Code, Vec<u64>) {
        let ranges = functions::ranges(starts, self.bytes.len() as u64);
        self.mark_last_calls(&ranges);
        self.drop_padding(starts, &ranges, entered);
        let lines_at = self.line_table();
        let start = self.address;
        let name = |offset: u64| {
            let address = start.wrapping_add(offset);
            label(offset).map_or_else(|| format!(".L{address:x}"), str::to_owned)
        };
        let labels = self.set_labels(&lines_at, &name);
        let is_reached = |line| self.falls_into(line) || self.is_branched_to(line);
        let (functions, entries) =
            functions::functions(self.section, &self.places, starts, &ranges, is_reached);
        // A gap after the last line does not precede any line.
        self.gaps.retain(|g| *g < self.lines.len());
        let mut program = Program {
            lines: self.lines,
            labels,
            entries,
            gaps: self.gaps,
            ..Program::new(target, self.section)
        };
        let image = CodeImage {
            bytes: self.bytes,
            places: &self.places,
            links,
            label: name,
            missed: RefCell::default(),
        };
        resolve(&mut program, &image);
        let missed = image.missed.into_inner().into_iter();
        let missed = missed.filter(|o| word(self.bytes, *o).is_some_and(is_filling)).collect();
        let code = Code {
            section: self.section.to_owned(),
            address: self.address,
            program,
            places: self.places,
            functions,
            unread: self.unread,
        };
        (code, missed)
    }

    /// For each dword of the section, one plus the number of the line that begins there; 0 if none does.
    fn line_table(&self) -> Vec<u32> {
        let mut table = vec![0; self.bytes.len() / 4 + 1];
        for (line, place) in self.places.iter().enumerate().filter(|(_, p)| p.offset % 4 == 0) {
            if let Some(entry) = table.get_mut((place.offset / 4) as usize) {
                *entry = line as u32 + 1;
            }
        }
        table
    }

    /// Creates labels for the targets of all branches that lead to an instruction, and refers to them in the branches.
    fn set_labels(&mut self, lines_at: &[u32], name: &dyn Fn(u64) -> String) -> Vec<LabelDef> {
        let mut numbers = vec![0u32; self.lines.len()];
        self.targets = vec![false; self.lines.len()];
        let mut labels = Vec::new();
        for (line, offset) in &self.branches {
            let at = usize::try_from(offset / 4).ok().filter(|_| offset % 4 == 0);
            let to = at.and_then(|at| lines_at.get(at)).and_then(|to| to.checked_sub(1));
            let Some(to) = to.map(|to| to as usize) else { continue };
            let (Some(number), Some(target)) = (numbers.get_mut(to), self.targets.get_mut(to)) else {
                continue;
            };
            if *number == 0 {
                labels.push(LabelDef { name: name(*offset), at: Some(to) });
                *number = labels.len() as u32;
                *target = true;
            }
            let Some(line) = self.lines.get_mut(*line) else { continue };
            let inst = line.inst_mut();
            if let Some(operand) = inst.desc.branch_operand().and_then(|i| inst.operands.get_mut(i)) {
                *operand = Operand::Label(Label(*number - 1));
            }
        }
        labels
    }

    /// Marks calls that are the last instructions of functions: code of another function follows them, or none, so they do not return.
    fn mark_last_calls(&mut self, ranges: &[Range<u64>]) {
        for range in ranges {
            let last = self.places.partition_point(|p| p.offset < range.end).checked_sub(1);
            let Some((line, place)) = last.and_then(|l| self.lines.get_mut(l).zip(self.places.get(l))) else {
                continue;
            };
            let is_last = place.offset >= range.start && place.offset + u64::from(place.length) == range.end;
            line.never_returns = is_last && is_call(&line.inst);
        }
    }

    /// Removes the padding of alignments: words without effect that follow an instruction that does not fall through, and that are not the
    /// target of a branch, of one of `jumps`, or of a symbol. Zeros count as padding only outside of functions with a known size.
    fn drop_padding(&mut self, starts: &[Start], ranges: &[Range<u64>], jumps: &[u64]) {
        let mut entered = vec![false; self.bytes.len() / 4 + 1];
        let starts_at = starts.iter().flat_map(|s| [Some(s.offset), s.other_entry]).flatten();
        for offset in self.branches.iter().map(|b| b.1).chain(starts_at).chain(jumps.iter().copied()) {
            if let Some(flag) = usize::try_from(offset / 4).ok().and_then(|at| entered.get_mut(at)) {
                *flag = true;
            }
        }
        let sized = |offset: u64| {
            let next = ranges.partition_point(|r| r.start <= offset);
            let own = next.checked_sub(1).and_then(|i| starts.get(i).zip(ranges.get(i)));
            own.is_some_and(|(start, range)| start.size > 0 && range.contains(&offset))
        };
        // In a section with functions, code before the first one is never entered; a section without functions is entered at its start.
        let mut dead = !starts.is_empty();
        let mut keep = Vec::with_capacity(self.places.len());
        for (line, place) in self.places.iter().enumerate() {
            let comes_to = entered.get((place.offset / 4) as usize).copied().unwrap_or(false);
            dead = (dead || (line > 0 && !self.falls_into(line)))
                && !comes_to
                && match word(self.bytes, place.offset) {
                    Some(0) => !sized(place.offset),
                    Some(word) => is_filling(word),
                    None => false,
                };
            keep.push(!dead);
        }
        self.retain(&keep);
    }

    /// Keeps only these lines, and undecoded bytes unless they are padding.
    fn retain(&mut self, keep: &[bool]) {
        // The new number of each line; for a removed line, that of the next remaining line.
        let mut numbers = Vec::with_capacity(keep.len() + 1);
        let mut next = 0;
        for kept in keep {
            numbers.push(next);
            next += usize::from(*kept);
        }
        if next < keep.len() {
            let mut flags = keep.iter();
            self.lines.retain(|_| flags.next().copied().unwrap_or(true));
            let mut flags = keep.iter();
            self.places.retain(|_| flags.next().copied().unwrap_or(true));
            for branch in &mut self.branches {
                branch.0 = numbers.get(branch.0).copied().unwrap_or(next);
            }
        }
        let (bytes, lines, places) = (self.bytes, &self.lines, &self.places);
        let behind = |offset: u64| places.partition_point(|p| p.offset < offset);
        self.unread.retain(|unread| {
            let before = behind(unread.offset).checked_sub(1).and_then(|l| lines.get(l));
            before.is_some_and(Line::falls_through) || !all_filling(bytes, unread)
        });
        self.gaps = self.unread.iter().map(|u| behind(u.offset)).collect();
        self.gaps.dedup();
    }
}

fn word(bytes: &[u8], offset: u64) -> Option<u32> {
    let word = bytes.get(usize::try_from(offset).ok()?..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*word))
}

/// True for words that assemblers and compilers use as padding.
fn is_filling(word: u32) -> bool {
    word & 0xffff_0000 == S_NOP || word == S_CODE_END || word == 0
}

/// True if the undecoded bytes are only padding: whole words of padding, possibly after single zero bytes.
fn all_filling(bytes: &[u8], unread: &Unread) -> bool {
    let range = usize::try_from(unread.offset).ok().zip(usize::try_from(unread.offset + unread.length).ok());
    let Some(piece) = range.and_then(|(from, to)| bytes.get(from..to)) else { return false };
    let (odd, words) = piece.split_at(piece.len() % 4);
    odd.iter().all(|b| *b == 0) && words.as_chunks::<4>().0.iter().all(|w| is_filling(u32::from_le_bytes(*w)))
}
