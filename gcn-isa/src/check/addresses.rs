//! Computes how the addresses of LDS accesses change from one iteration of a loop to the next.
//!
//! An address is a sum of terms. Terms that have the same value in each iteration determine the position within a buffer; terms that change
//! (called *moving*) select the buffer. Two accesses whose moving terms are equal therefore use the same buffer; a constant difference
//! between the two addresses is ignored. [`crate::semantics`] states which instructions compute sums. Every other result is one term,
//! identified by the instruction and its operands.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use smallvec::{SmallVec, smallvec};

use super::facts::LineFacts;
use crate::cfg::Flow;
use crate::inst::Inst;
use crate::operand::{Inline, Operand};
use crate::program::Program;
use crate::reg::RegUnit;
use crate::table::{Access, ImplicitRegs};

/// The maximum number of definitions through which a value is followed.
const MOST_DEEP: u8 = 48;

/// The address analysis of one loop.
pub(super) struct Addresses<'a> {
    program: &'a Program,
    flow: &'a Flow,
    lines: &'a [LineFacts],
    /// The first and the last block of the loop; the last block branches back to the first.
    stretch: (usize, usize),
    /// The registers that the loop writes.
    written: HashSet<RegUnit>,
    terms: HashMap<Term, u32>,
    /// For each term, whether its value changes from one iteration to the next.
    moving: Vec<bool>,
    known: HashMap<Place, Sum>,
    deep: u8,
}

/// A visit of a block on a path, as an index into [`Paths`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Visit(u32);

impl Visit {
    /// The visit with which all paths begin. A value at this visit is the same on every path by which control may have arrived.
    pub const FIRST: Visit = Visit(0);
}

/// The paths that begin in the block of a write. Each visit has its block and the previous visit.
#[derive(Debug)]
pub(super) struct Paths {
    visits: Vec<(usize, Visit)>,
    /// The block in which the current paths begin.
    start: usize,
}

impl Paths {
    /// No paths.
    pub fn new() -> Paths {
        Paths { visits: vec![(0, Visit::FIRST)], start: 0 }
    }

    /// From now on, paths begin in this block.
    pub fn begin(&mut self, start: usize) {
        self.start = start;
    }

    /// Extends a path from the visit `from` to `block`.
    pub fn visit(&mut self, block: usize, from: Visit) -> Visit {
        self.visits.push((block, from));
        Visit(self.visits.len() as u32 - 1)
    }

    /// The block and the visit before `visit`; `None` if the path begins with `visit`.
    fn before(&self, visit: Visit) -> Option<(usize, Visit)> {
        if visit == Visit::FIRST {
            return None;
        }
        let from = self.visits[visit.0 as usize].1;
        Some((if from == Visit::FIRST { self.start } else { self.visits[from.0 as usize].0 }, from))
    }
}

/// The current paths, and the number of lines that may still be visited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget<'b> {
    pub paths: &'b Paths,
    pub looks: &'b Cell<usize>,
}

impl Budget<'_> {
    /// Subtracts `looks` from the number of lines that may still be visited.
    pub fn spend(self, looks: usize) {
        self.looks.set(self.looks.get().saturating_sub(looks));
    }

    fn is_spent(self) -> bool {
        self.looks.get() == 0
    }
}

/// A term of an address, which is not split further.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Term {
    /// The value of a register that the loop does not write.
    Outside(RegUnit),
    /// The value of a register at the start of the iteration.
    AtStart(RegUnit),
    /// The result of a line about which nothing else is known.
    Computed(usize, RegUnit, Visit),
    /// The result of an instruction or operator with these operands. The second field distinguishes several results of one instruction.
    Result(&'static str, usize, SmallVec<[Sum; 2]>),
    /// The value of a register at the start of a block with several predecessors.
    Joined(usize, RegUnit),
}

/// The key of a memoised value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    Result(usize, RegUnit, Visit),
    Start(usize, RegUnit),
}

/// A constant plus multiples of terms. The terms are sorted by number.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Sum {
    terms: SmallVec<[(u32, u32); 4]>,
    constant: u32,
}

impl Sum {
    fn constant(constant: u32) -> Sum {
        Sum { constant, ..Sum::default() }
    }

    fn term(number: u32) -> Sum {
        Sum { terms: smallvec![(number, 1)], constant: 0 }
    }

    /// The sum of `self` and `factor` times `other`.
    fn plus(mut self, other: &Sum, factor: u32) -> Sum {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for &(term, times) in &other.terms {
            let times = times.wrapping_mul(factor);
            match self.terms.binary_search_by_key(&term, |t| t.0) {
                Ok(at) => self.terms[at].1 = self.terms[at].1.wrapping_add(times),
                Err(at) => self.terms.insert(at, (term, times)),
            }
        }
        self.terms.retain(|t| t.1 != 0);
        self
    }

    /// The value of the sum if it has no terms; otherwise `None`.
    fn number(&self) -> Option<u32> {
        self.terms.is_empty().then_some(self.constant)
    }

    fn times_of(&self, term: u32) -> u32 {
        self.terms.binary_search_by_key(&term, |t| t.0).map_or(0, |at| self.terms[at].1)
    }
}

impl<'a> Addresses<'a> {
    /// Prepares the analysis of the loop from block `stretch.0` to block `stretch.1`.
    pub fn of(
        program: &'a Program,
        flow: &'a Flow,
        lines: &'a [LineFacts],
        stretch: (usize, usize),
    ) -> Addresses<'a> {
        let blocks = &flow.cfg.blocks;
        let written = program.lines[blocks[stretch.0].start..blocks[stretch.1].end]
            .iter()
            .flat_map(|line| line.inst.writes())
            .flat_map(|w| w.reg.units())
            .collect();
        let (terms, moving, known) = (HashMap::new(), Vec::new(), HashMap::new());
        Addresses { program, flow, lines, stretch, written, terms, moving, known, deep: 0 }
    }

    /// False if the registers are known to have the same values at `line` in each iteration.
    pub fn change(&mut self, units: &[RegUnit], line: usize, budget: Budget<'_>) -> bool {
        units.iter().any(|unit| !self.changing(*unit, line, Visit::FIRST, budget).terms.is_empty())
    }

    /// True if the registers `a` at the first line and the registers `b` at the second line are known to change by the same terms. A path
    /// must lead from the first line to the second.
    pub fn change_alike(
        &mut self,
        (a, first): (RegUnit, usize),
        (b, second, visit): (RegUnit, usize, Visit),
        budget: Budget<'_>,
    ) -> bool {
        let a = self.changing(a, first, Visit::FIRST, budget);
        !a.terms.is_empty() && self.changing(b, second, visit, budget) == a
    }

    /// The number of bytes from the value of register `a` at the first line to the value of register `b` at the second line; `None` if it is
    /// not known. A path must lead from the first line, in the block in which paths begin, to the second.
    pub fn distance(
        &mut self,
        (a, first): (RegUnit, usize),
        (b, second, visit): (RegUnit, usize, Visit),
        budget: Budget<'_>,
    ) -> Option<i32> {
        let a = self.before(a, first, Visit::FIRST, budget);
        let b = self.before(b, second, visit, budget);
        b.plus(&a, u32::MAX).number().map(|bytes| bytes as i32)
    }

    /// The moving terms in the value of `unit` before `line`.
    fn changing(&mut self, unit: RegUnit, line: usize, visit: Visit, budget: Budget<'_>) -> Sum {
        let sum = self.before(unit, line, visit, budget);
        self.moving_part(&sum)
    }

    fn moving_part(&self, sum: &Sum) -> Sum {
        let moves = |term: &&(u32, u32)| self.moving[term.0 as usize];
        Sum { terms: sum.terms.iter().filter(moves).copied().collect(), constant: 0 }
    }

    fn term(&mut self, term: Term, moves: bool) -> u32 {
        let next = self.moving.len() as u32;
        let number = *self.terms.entry(term).or_insert(next);
        if number == next {
            self.moving.push(moves);
        }
        number
    }

    /// If the value is an exclusive or with a constant: the other operand, and the constant.
    fn without_exclusive_or(&self, value: &Sum) -> Option<(Sum, u32)> {
        let &[(number, 1)] = &value.terms[..] else { return None };
        let is_alone = value.constant == 0;
        let term = self.terms.iter().find(|(_, known)| **known == number && is_alone)?.0;
        let Term::Result("^", _, operands) = term else { return None };
        Some((operands[0].clone(), operands.get(1)?.number()?))
    }

    /// The value of `unit` before `line`.
    fn before(&mut self, unit: RegUnit, line: usize, visit: Visit, budget: Budget<'_>) -> Sum {
        let block = self.flow.cfg.block_of(line);
        self.at_line(unit, block, line, visit, budget)
    }

    /// The value of `unit` before a line of `block`, or at its end.
    fn at_line(
        &mut self,
        unit: RegUnit,
        mut block: usize,
        mut line: usize,
        mut visit: Visit,
        budget: Budget<'_>,
    ) -> Sum {
        let blocks = &self.flow.cfg.blocks;
        loop {
            let start = blocks[block].start;
            let writes = |l: &usize| {
                self.program.lines[*l].inst.writes().iter().any(|w| w.reg.units().any(|u| u == unit))
            };
            let from = (start..line).rev().find(writes);
            budget.spend(line - from.unwrap_or(start) + 1);
            if let Some(from) = from {
                return self.result(unit, from, visit, budget);
            }
            let Some((earlier, from)) = budget.paths.before(visit) else {
                return self.at_start(unit, block, budget);
            };
            (block, line, visit) = (earlier, blocks[earlier].end, from);
        }
    }

    /// The value of `unit` at the start of `block`, which takes all paths to the block into account.
    fn at_start(&mut self, unit: RegUnit, block: usize, budget: Budget<'_>) -> Sum {
        if !self.written.contains(&unit) {
            return Sum::term(self.term(Term::Outside(unit), false));
        }
        if block == self.stretch.0 {
            return Sum::term(self.term(Term::AtStart(unit), true));
        }
        let place = Place::Start(block, unit);
        if let Some(known) = self.known.get(&place) {
            return known.clone();
        }
        let joined = self.term(Term::Joined(block, unit), true);
        if self.deep == MOST_DEEP || budget.is_spent() {
            return Sum::term(joined);
        }
        // If the same value is requested recursively, the request gets this placeholder.
        self.known.insert(place, Sum::term(joined));
        let flow = self.flow;
        let inside = |b: &usize| (self.stretch.0..=self.stretch.1).contains(b) && !flow.is_hub(*b);
        let (ways, others): (Vec<usize>, Vec<usize>) =
            flow.cfg.blocks[block].preds.iter().partition(|b| inside(b));
        if ways.is_empty() || !others.is_empty() {
            return Sum::term(joined);
        }
        let mut values = Vec::new();
        self.deep += 1;
        for way in ways {
            let value = self.at_line(unit, way, flow.cfg.blocks[way].end, Visit::FIRST, budget);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        self.deep -= 1;
        // If the value only steps through one buffer from one iteration to the next, it does not select another buffer.
        let steps = |value: &Sum| {
            value.times_of(joined) == 1 && self.moving_part(value).terms.iter().all(|t| t.0 == joined)
        };
        let mut changing = values.iter().filter(|v| !steps(v)).map(|v| self.moving_part(v));
        let first = changing.next().filter(|first| changing.all(|other| other == *first));
        let value = match first {
            Some(_) if values.len() == 1 => values.swap_remove(0),
            Some(first) if first.times_of(joined) == 0 => {
                self.moving[joined as usize] = false;
                for value in self.known.values_mut().filter(|v| v.times_of(joined) != 0) {
                    let times = value.times_of(joined);
                    *value = std::mem::take(value).plus(&first, times);
                }
                Sum::term(joined).plus(&first, 1)
            }
            _ => Sum::term(joined),
        };
        self.known.insert(place, value.clone());
        value
    }

    /// The value that `line` writes to `unit`.
    fn result(&mut self, unit: RegUnit, line: usize, visit: Visit, budget: Budget<'_>) -> Sum {
        let place = Place::Result(line, unit, visit);
        if let Some(known) = self.known.get(&place) {
            return known.clone();
        }
        let whole = Term::Computed(line, unit, visit);
        let is_loaded = !self.lines[line].events.is_empty();
        if is_loaded || self.deep == MOST_DEEP || budget.is_spent() {
            return Sum::term(self.term(whole, true));
        }
        let program = self.program;
        let inst = &program.lines[line].inst;
        let whole = self.term(whole, true);
        self.known.insert(place, Sum::term(whole));
        self.deep += 1;
        let stated = stated_sum(inst).and_then(|text| {
            let mut reader = Reader { addresses: self, text, inst, line, visit, budget };
            reader.sum().filter(|_| reader.is_done())
        });
        let value = stated.unwrap_or_else(|| {
            let operands = self.operands(inst, line, visit, budget);
            let moves = operands.iter().any(|sum| !self.moving_part(sum).terms.is_empty());
            self.moving[whole as usize] = moves;
            let written = inst.writes().iter().find_map(|w| w.reg.units().position(|u| u == unit));
            let is_told = inst.mods == inst.desc.default_mods()
                && !inst.desc.implicit_reads.intersects(ImplicitRegs::all() - ImplicitRegs::EXEC);
            match written.filter(|_| is_told) {
                Some(part) => Sum::term(self.term(Term::Result(inst.desc.mnemonic, part, operands), moves)),
                None => Sum::term(whole),
            }
        });
        self.deep -= 1;
        self.known.insert(place, value.clone());
        value
    }
}

impl Addresses<'_> {
    /// The value of each register that the instruction names as a source.
    fn operands(&mut self, inst: &Inst, line: usize, visit: Visit, budget: Budget<'_>) -> SmallVec<[Sum; 2]> {
        let mut operands = SmallVec::new();
        for (operand, desc) in inst.operands.iter().zip(inst.desc.operands) {
            match *operand {
                _ if desc.access == Access::Write => {}
                Operand::Reg(reg) => {
                    operands.extend(reg.units().map(|unit| self.before(unit, line, visit, budget)));
                }
                other => operands.push(number(other).map_or_else(Sum::default, Sum::constant)),
            }
        }
        operands
    }
}

/// The value of a constant operand. If the operand is not an integer, the value is its bit pattern. `None` for registers and labels.
fn number(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Inline(inline) => Some(inline.bits32()),
        Operand::Literal(number) => Some(number),
        Operand::Imm(number) => Some(number as u32),
        _ => None,
    }
}

/// The formula for the result of an instruction that writes a single 32-bit register; `None` if a modifier changes the result.
fn stated_sum(inst: &Inst) -> Option<&'static str> {
    let first = inst.desc.entry.meaning.split("; ").next()?;
    let (left, right) = first.split_once(" = ")?;
    let is_plain = inst.mods == inst.desc.default_mods();
    (is_plain && matches!(left, "D.u32" | "D.i32" | "D.b32")).then_some(right)
}

/// Parses a sum in the notation of [`crate::semantics`].
struct Reader<'r, 'a> {
    addresses: &'r mut Addresses<'a>,
    text: &'static str,
    inst: &'r Inst,
    line: usize,
    visit: Visit,
    budget: Budget<'r>,
}

impl Reader<'_, '_> {
    /// True if the sum is complete, so that only explanatory words may follow.
    fn is_done(&self) -> bool {
        let rest = self.text.trim_start();
        rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '(')
    }

    fn takes(&mut self, word: &str) -> bool {
        let rest = self.text.trim_start().strip_prefix(word);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    /// Parses a sum. An *or* counts as an addition, because programs use it to combine parts of an address. `None` if the text is not a
    /// sum.
    fn sum(&mut self) -> Option<Sum> {
        let mut sum = self.product()?;
        loop {
            if self.takes("+ ") || self.takes("| ") {
                sum = sum.plus(&self.product()?, 1);
            } else if self.takes("- ") {
                sum = sum.plus(&self.product()?, u32::MAX);
            } else if self.takes("^ ") {
                let other = self.product()?;
                sum = self.exclusive_or(sum, other);
            } else {
                return Some(sum);
            }
        }
    }

    fn product(&mut self) -> Option<Sum> {
        let mut product = self.operand()?;
        loop {
            let (operator, other, factor);
            if self.takes("* ") {
                (operator, other) = ("*", self.operand()?);
                if let Some(number) = product.number() {
                    product = Sum::default().plus(&other, number);
                    continue;
                }
                factor = other.number();
            } else if self.takes("<< ") {
                (operator, other) = ("<<", self.operand()?);
                factor = other.number().and_then(|n| 1u32.checked_shl(n));
            } else {
                return Some(product);
            }
            product = match factor {
                Some(factor) => Sum::default().plus(&product, factor),
                None => self.part(operator, smallvec![product, other]),
            };
        }
    }

    fn operand(&mut self) -> Option<Sum> {
        if self.takes("low 32 bits of ") {
            return self.product();
        }
        if self.takes("(") || self.takes("sext(") || self.takes("zext(") {
            let sum = self.sum()?;
            return self.takes(")").then_some(sum);
        }
        const NAMES: [(&str, &[&str]); 5] = [
            ("S0", &["src0", "ssrc0"]),
            ("S1", &["src1", "ssrc1", "vsrc1"]),
            ("S2", &["src2"]),
            ("SIMM16", &["simm16"]),
            ("D", &["sdst", "vdst"]),
        ];
        let text = self.text.trim_start();
        if let Some(number) = text.split(|c: char| !c.is_ascii_digit()).next().filter(|n| !n.is_empty()) {
            self.text = &text[number.len()..];
            return number.parse().ok().map(Sum::constant);
        }
        let operands = NAMES.iter().find(|name| self.takes(name.0))?.1;
        // The bits that are selected do not matter for an LDS address.
        if self.text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return None;
        }
        let suffix = self.text.find([' ', ')', '(']).unwrap_or(self.text.len());
        self.text = &self.text[suffix..];
        let operand = operands.iter().find_map(|name| self.inst.operand(name))?;
        self.value(operand)
    }

    fn value(&mut self, operand: Operand) -> Option<Sum> {
        match operand {
            Operand::Reg(reg) => {
                let unit = reg.units().next()?;
                Some(self.addresses.before(unit, self.line, self.visit, self.budget))
            }
            Operand::Inline(Inline::Float(_)) => None,
            other => number(other).map(Sum::constant),
        }
    }

    /// Programs with two buffers change between them by an exclusive or with a constant. Two constants are combined, so that two changes
    /// lead back.
    fn exclusive_or(&mut self, a: Sum, b: Sum) -> Sum {
        let (value, number) = match (a.number(), b.number()) {
            (Some(a), Some(b)) => return Sum::constant(a ^ b),
            (Some(number), None) => (b, number),
            (None, Some(number)) => (a, number),
            (None, None) => return self.part("^", smallvec![a, b]),
        };
        let (value, earlier) = self.addresses.without_exclusive_or(&value).unwrap_or((value, 0));
        match number ^ earlier {
            0 => value,
            number => self.part("^", smallvec![value, Sum::constant(number)]),
        }
    }

    /// A term for a part of the result that is not a sum.
    fn part(&mut self, operator: &'static str, operands: SmallVec<[Sum; 2]>) -> Sum {
        let moves = operands.iter().any(|sum| !self.addresses.moving_part(sum).terms.is_empty());
        Sum::term(self.addresses.term(Term::Result(operator, 0, operands), moves))
    }
}
