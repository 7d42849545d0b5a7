//! The report of the checker.

use std::fmt;

use crate::counters::OnSet;
use crate::hazards::remedy::Fix;
use crate::hazards::{self, Grade};
use crate::inst::Via;
use crate::program::SourceLoc;
use crate::reg::Reg;
use crate::target::Target;

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckReport {
    /// The program's target.
    pub target: Target,
    /// The number of instructions that were checked.
    pub instructions: usize,
    /// The violations of rules, in program order of the later instruction.
    pub findings: Vec<Finding>,
    /// The findings that are not listed because there are more than [`MOST_FINDINGS`](super::MOST_FINDINGS) of their grade.
    pub not_listed: Vec<NotListed>,
    /// The number of decisions that were not made because a budget was used up: findings with [`Caveat::Undecided`], and instructions from
    /// which not all paths were walked backwards. If this number is not 0, the program is not clean, even without findings.
    pub undecided: usize,
    /// The lines where control leaves to a target that is not visible in the program (`s_setpc`, `s_swappc`, a branch with a numeric
    /// offset). They are assumed to lead to every possible target in the program ([`crate::cfg::Flow`]); code outside the program is not
    /// checked. Wait states across these lines are checked within a budget that only programs with very many such jumps exceed.
    pub unknown_exits: Vec<usize>,
}

/// The number of findings of one rule and one grade that a report does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotListed {
    /// The rule.
    pub rule: &'static str,
    /// A description of the rule.
    pub title: &'static str,
    /// The grade of the findings.
    pub grade: Grade,
    /// The number of findings.
    pub findings: usize,
}

/// A violation of a rule on some path through the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule: the ID of a [`crate::hazards::Rule`], or the name of a counter rule, which begins with `waitcnt.` or
    /// `barrier.`.
    pub rule: &'static str,
    /// How well the rule is supported.
    pub grade: Grade,
    /// A description of the rule.
    pub title: &'static str,
    /// The index of the earlier instruction; `None` for a rule about a single instruction.
    pub first: Option<usize>,
    /// The index of the later instruction.
    pub second: usize,
    /// The earlier instruction's mnemonic.
    pub first_name: &'static str,
    /// The later instruction's mnemonic.
    pub second_name: &'static str,
    /// The later instruction's location in the user's source; `None` if the program does not give it.
    pub loc: Option<SourceLoc>,
    /// The register on which the dependency is based; `None` if it is based on no register.
    pub reg: Option<Reg>,
    /// Whether both instructions name the register, or one of them accesses the register through an index.
    pub via: Via,
    /// The amount that the rule requires between the two instructions.
    pub need: Amount,
    /// The amount that the worst path has between the two instructions.
    pub have: Amount,
    /// The lines at which the worst path enters its blocks, without the block of `first`. The list is empty for straight-line code.
    pub path: Vec<usize>,
    /// The assumption on which the finding depends, if any. The finding's grade is then [`Grade::Cautious`], or at most
    /// [`Grade::Documented`] for a register in the range of a bounded index ([`Via::Range`]).
    pub caveat: Option<Caveat>,
}

/// An assumption on which a finding depends and which the program neither confirms nor excludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Caveat {
    /// Two or more branches, one after the other, go a particular way, and each of them is necessary. The conditions of branches are not
    /// compared, so they may exclude each other.
    Branches,
    /// A jump with an unknown target goes to the finding's location.
    UnknownJump,
    /// No single path shows the violation. It exists only if functions may return to calls other than the call from which control came.
    Unfollowed,
    /// There are too many paths to follow all of them, so it is undecided whether one of them certainly shows the violation.
    Undecided,
    /// Both instructions access the same part of LDS, or the barrier is the one that publishes the accessed part.
    Addresses,
    /// An instruction accesses registers through an index whose value the program does not show.
    Index,
}

impl Caveat {
    /// The assumption about a register that is accessed in this way; `None` if no assumption is necessary.
    pub(super) fn of_index(via: Via) -> Option<Caveat> {
        (via >= Via::Range).then_some(Caveat::Index)
    }
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Caveat::Branches => "if several branches can go this way one after the other",
            Caveat::UnknownJump => "if a jump to an unknown place goes here",
            Caveat::Unfollowed => "if there is a path that goes this way",
            Caveat::Undecided => {
                "if there is a path that goes this way, which is not decided: there are too many"
            }
            Caveat::Addresses => "if both concern the same part of LDS",
            Caveat::Index => "if the index leads there",
        })
    }
}

/// The grade of a finding: the grade of its `rule`, lowered for an assumption or for the way in which a register is
/// accessed.
pub(super) fn grade(rule: Grade, caveat: Option<Caveat>, via: Via) -> Grade {
    match caveat {
        None => rule,
        Some(Caveat::Index) if via == Via::Range => rule.min(Grade::Documented),
        Some(_) => Grade::Cautious,
    }
}

/// The amount that is present, or required, between two instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// A number of wait states.
    States(u8),
    /// A wait for these counter values, or for lower ones.
    Wait(OnSet),
    /// No sufficiently strong wait.
    NoWait,
    /// An instruction of this name before the later instruction.
    Instruction(&'static str),
    /// An interruption of a hazard sequence: instructions before the later instruction, or changed fields in the later instruction.
    Remedy {
        /// The required fix.
        fix: Fix,
        /// The target, which determines the instructions of the fix.
        target: Target,
    },
    /// A register other than the one that the instruction uses.
    OtherRegister,
    /// The instruction of this name before the later one, with an operand that only the author of the program knows.
    Setting(&'static str),
    /// Another value in the instruction: the value, and what it is written to.
    OtherValue(&'static str),
}

impl Finding {
    /// The remedy as a text.
    pub fn remedy(&self) -> String {
        self.remedy_at(&format!("line {}", self.second))
    }

    /// The remedy as a text. `place` is the name of the later instruction in the text.
    pub fn remedy_at(&self, place: &str) -> String {
        match (self.need, self.have) {
            (Amount::States(need), Amount::States(have)) => {
                let missing = need.saturating_sub(have);
                format!(
                    "put {} or {missing} independent instruction{} before {place}",
                    hazards::nops_in_words(missing.into()),
                    if missing == 1 { "" } else { "s" },
                )
            }
            (Amount::Wait(wait), _) => format!("put `{wait}` before {place}"),
            (Amount::Instruction(text), _) => format!("put `{text}` before {place}"),
            (Amount::Remedy { fix, target }, _) => {
                let before = quoted(&fix.statements(target)).map(|s| format!("put {s} before {place}"));
                let fields = quoted(&fix.fields(target)).map(|s| format!("write {s} in {place}"));
                before.into_iter().chain(fields).collect::<Vec<_>>().join(", and ")
            }
            (Amount::Setting(name), _) => {
                format!("put `{name}` with the number that is meant before {place}")
            }
            (Amount::OtherValue(value), _) => format!("write {value} in {place}"),
            (Amount::OtherRegister, _) => {
                format!("copy {} to another register and use that in {place}", self.register())
            }
            _ => String::new(),
        }
    }

    /// The statements to insert before the later instruction. The list is empty if a remedy of another kind is needed.
    pub fn missing_statements(&self) -> Vec<String> {
        match (self.need, self.have) {
            (Amount::States(need), Amount::States(have)) => {
                hazards::nops(need.saturating_sub(have).into()).map(|n| format!("s_nop {n}")).collect()
            }
            (Amount::Wait(wait), _) => wait.statements(),
            (Amount::Instruction(text), _) => vec![text.to_owned()],
            (Amount::Remedy { fix, target }, _) => fix.statements(target),
            _ => Vec::new(),
        }
    }

    /// The violation as one sentence, without the remedy.
    pub fn message(&self) -> String {
        let first = self.first.map_or(String::new(), |l| format!("line {l} `{}`, then ", self.first_name));
        let reg = self.reg.map_or(String::new(), |r| format!(" on {r}{}", self.via.words()));
        let amounts = match (self.need, self.have) {
            (Amount::States(need), Amount::States(have)) => {
                format!(": needs {need} wait state{}, has {have}", if need == 1 { "" } else { "s" })
            }
            (Amount::Wait(wait), _) => {
                format!(": needs `{wait}`, nothing on this path is that strong")
            }
            (Amount::Remedy { fix, target }, _) => format!(": needs {}", fix.words(target)),
            _ => String::new(),
        };
        let path = if self.path.is_empty() {
            String::new()
        } else {
            let lines: Vec<String> = self.path.iter().map(|l| format!("line {l}")).collect();
            format!(" (by way of {})", lines.join(", "))
        };
        let caveat = self.caveat.map_or(String::new(), |c| format!(", {c}"));
        format!("{first}line {} `{}`{reg}{amounts}{path}{caveat}", self.second, self.second_name)
    }

    fn register(&self) -> String {
        self.reg.map_or_else(|| "the register".to_owned(), |r| r.to_string())
    }
}

/// Pieces of code, quoted and joined for use in a sentence; `None` if `texts` is empty.
fn quoted(texts: &[String]) -> Option<String> {
    let all: Vec<String> = texts.iter().map(|t| format!("`{t}`")).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(loc) = self.loc {
            write!(f, "{loc}: ")?;
        }
        write!(f, "{} [{}, {}]; {}", self.message(), self.rule, self.grade, self.remedy())
    }
}

impl CheckReport {
    /// True if there are no findings, listed or not, and no decision was left open because a budget was used up.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.not_listed.is_empty() && self.undecided == 0
    }

    /// The number of findings that are not listed.
    pub fn omitted(&self) -> usize {
        self.not_listed.iter().map(|n| n.findings).sum()
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        let omitted = self.omitted();
        if omitted > 0 {
            writeln!(f, "… and {omitted} findings more")?;
        }
        if self.undecided > 0 {
            writeln!(f, "not decided at {} places, whose paths are too many to follow", self.undecided)?;
        }
        for line in &self.unknown_exits {
            writeln!(
                f,
                "line {line}: control leaves to an unknown place; what follows there is not checked"
            )?;
        }
        let count = self.findings.len() + omitted;
        write!(
            f,
            "{}: {} instructions, {count} finding{}",
            self.target,
            self.instructions,
            if count == 1 { "" } else { "s" }
        )
    }
}

/// Collects findings up to a limit for each grade. The limits are separate so that many findings of a low grade do not displace those of a
/// high grade.
#[derive(Default)]
pub(super) struct Findings {
    pub list: Vec<Finding>,
    pub not_listed: Vec<NotListed>,
    pub undecided: usize,
    /// The number of listed findings, by grade.
    listed: [usize; Grade::ALL.len()],
}

impl Findings {
    /// Adds a finding, or only counts it if the limit of its grade is reached.
    pub fn push(&mut self, finding: Finding) {
        self.undecided += usize::from(finding.caveat == Some(Caveat::Undecided));
        let listed = &mut self.listed[finding.grade as usize];
        if *listed < super::MOST_FINDINGS {
            *listed += 1;
            return self.list.push(finding);
        }
        let Finding { rule, title, grade, .. } = finding;
        match self.not_listed.iter_mut().find(|n| (n.rule, n.grade) == (rule, grade)) {
            Some(known) => known.findings += 1,
            None => self.not_listed.push(NotListed { rule, title, grade, findings: 1 }),
        }
    }
}
