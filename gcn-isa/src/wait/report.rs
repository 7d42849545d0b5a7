//! The report of the inserted waits and their reasons.

use std::fmt::{self, Write as _};

use crate::counters::{Counter, WaitCnt};
use crate::hazards::counter::CALL_ENTRY;
use crate::hazards::remedy::Fix;
use crate::inst::Via;
use crate::{InstDesc, Program, Reg, Target};

/// A wait that was inserted into a program, or one of the program's own waits that was strengthened.
#[derive(Debug, Clone, PartialEq)]
pub struct Inserted {
    /// The index of its (first) line in the program.
    pub at: usize,
    /// The number of inserted lines: more than one if the wait is longer than one `s_nop` can be, zero if an existing `s_waitcnt` was
    /// strengthened.
    pub count: usize,
    /// The kind of wait.
    pub kind: InsertedKind,
    /// The reasons. Together they require everything that the wait provides.
    pub reasons: Vec<Reason>,
}

impl Inserted {
    /// Updates the line numbers after lines were inserted before each of the lines `before`, which are in ascending order.
    pub(crate) fn moved(&mut self, before: &[usize]) {
        self.at = moved(self.at, before);
        self.reasons.iter_mut().for_each(|reason| reason.moved(|line| moved(line, before)));
    }
}

/// The new number of a line after lines were inserted before each of the lines `before`, which are in ascending order.
fn moved(line: usize, before: &[usize]) -> usize {
    line + before.partition_point(|b| *b <= line)
}

/// The kinds of waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InsertedKind {
    /// An `s_waitcnt`, which waits until memory operations have returned.
    Waitcnt,
    /// An `s_nop`, which provides a fixed distance between two instructions.
    WaitStates,
    /// The interruption of a hazard sequence on RDNA, by a new instruction or by a changed field of the sequence's last instruction.
    Remedy,
}

/// The reason for a wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// The rule, for example `waitcnt.raw` or `cdna3.105`.
    pub rule: &'static str,
    /// The line of the instruction for which the program waits. If there are several such instructions on a counter, this is one of them.
    /// `None` if there is no such instruction, as for the wait at the entry of a function.
    pub producer: Option<usize>,
    /// The line of the instruction that has to wait.
    pub consumer: usize,
    /// The registers on which the dependency is based, if any.
    pub reg: Option<Reg>,
    /// Whether both instructions name the registers, or one of them accesses the registers through an index.
    pub via: Via,
    /// The required and the actual amount.
    pub demand: Demand,
    producer_desc: Option<(&'static InstDesc, Option<u8>)>,
    consumer_desc: &'static InstDesc,
}

/// The amount that a rule requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// A counter must have decreased to a value.
    Count {
        /// The counter.
        counter: Counter,
        /// The largest value of the counter that is sufficient.
        needed: u8,
        /// The value for which the program itself waited at this position; if there was no wait, the maximum of the field.
        present: u8,
    },
    /// A number of wait states must separate two instructions.
    States {
        /// The number of wait states that the rule requires.
        needed: u32,
        /// The distance on the shortest path without this wait.
        present: u32,
    },
    /// A hazard sequence must be interrupted.
    Remedy {
        /// The fix that interrupts the sequence.
        fix: Fix,
        /// The target, which determines the instructions of the fix.
        target: Target,
    },
}

impl Reason {
    pub(super) fn new(
        program: &Program,
        rule: &'static str,
        producer: Option<usize>,
        consumer: usize,
        (reg, via): (Option<Reg>, Via),
        demand: Demand,
    ) -> Reason {
        let desc = |line: usize| program.lines[line].inst.desc;
        let producer_desc = producer.map(|p| (desc(p), desc(p).passes(program.target)));
        Reason { rule, producer, consumer, reg, via, demand, producer_desc, consumer_desc: desc(consumer) }
    }

    /// The reason for the wait at the entry of a function, at `line`.
    pub(super) fn at_entry(program: &Program, line: usize) -> Reason {
        let present = Counter::Vm.capacity(program.target.instruction_set());
        let demand = Demand::Count { counter: Counter::Vm, needed: 0, present };
        Reason::new(program, CALL_ENTRY.id, None, line, (None, Via::Name), demand)
    }

    /// Replaces each line number by the result of `new`.
    pub(super) fn moved(&mut self, new: impl Fn(usize) -> usize) {
        self.producer = self.producer.map(&new);
        self.consumer = new(self.consumer);
    }

    /// Records that the wait already existed, with the values `old`.
    pub(super) fn strengthens(&mut self, old: WaitCnt) {
        if let Demand::Count { counter, present, .. } = &mut self.demand {
            *present = (*present).min(counter.of(old));
        }
    }

    /// Writes the rule and the two instructions of a pair.
    fn sequence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.rule)?;
        if let Some(reg) = self.reg {
            write!(f, "{reg} ")?;
        }
        if let (Some((desc, passes)), Some(line)) = (self.producer_desc, self.producer) {
            write!(f, "{} {} at line {line}", if self.reg.is_some() { "of" } else { "after" }, desc.printed)?;
            if let Some(passes) = passes {
                write!(f, " ({passes} passes)")?;
            }
        }
        write!(f, ", then {}", self.consumer_desc.printed)
    }

    fn what_is_owed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reg = self.reg.map_or_else(|| "memory".to_owned(), |r| r.to_string());
        let verb = match self.rule {
            "waitcnt.exp-war" => "still read",
            "waitcnt.raw" | "waitcnt.waw" => "loaded",
            _ => "accessed",
        };
        write!(f, "{reg} {verb}")?;
        if let (Some((desc, _)), Some(line)) = (self.producer_desc, self.producer) {
            write!(f, " by {} at line {line}", desc.printed)?;
        }
        Ok(())
    }
}

impl fmt::Display for Reason {
    /// Writes, for example, `vmcnt(2): v[4:7] loaded by global_load_dwordx4 at line 12 is read by v_add_f32_e32`, or `cdna3.105: v[0:15]
    /// written by v_mfma_f32_32x32x8_f16 at line 3 (8 passes), then v_add_f32_e32: needs 11, had 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by_index = self.via.words();
        let consumer = self.consumer_desc.printed;
        match self.demand {
            Demand::Count { needed, .. } if self.rule == CALL_ENTRY.id => {
                write!(f, "all counters({needed}): the caller's operations may be outstanding")
            }
            Demand::Count { counter, needed, .. } => {
                write!(f, "{}({needed}): ", counter.name(self.consumer_desc.instruction_set()))?;
                self.what_is_owed(f)?;
                match self.rule {
                    "waitcnt.raw" => write!(f, " is read by {consumer}{by_index}"),
                    "waitcnt.waw" | "waitcnt.exp-war" => write!(f, " is overwritten by {consumer}{by_index}"),
                    _ => write!(f, ", then {consumer}"),
                }
            }
            Demand::States { needed, present } => {
                self.sequence(f)?;
                write!(f, "{by_index}: needs {needed}, had {present}")
            }
            Demand::Remedy { fix, target } => {
                self.sequence(f)?;
                write!(f, "{by_index}: needs {}", fix.words(target))
            }
        }
    }
}

/// The note of a line: the first reasons, on one line. `text` is a buffer that is reused, so that most notes allocate only once.
pub(super) fn note(reasons: &[Reason], text: &mut String) -> Box<str> {
    const SHOWN: usize = 3;
    text.clear();
    for (i, reason) in reasons.iter().take(SHOWN).enumerate() {
        let separator = if i == 0 { "" } else { "; " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{reason}");
    }
    if reasons.len() > SHOWN {
        let _ = write!(text, "; and {} more", reasons.len() - SHOWN);
    }
    Box::from(&**text)
}
