//! The machine program: instructions in order, labels between them, and why each was put there.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::inst::Inst;
use crate::target::{Subtarget, Target, WaveSize};

pub use crate::operand::Label;

/// An instruction with what is known about where it came from.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// The instruction. Shared, because most code has the same instruction many times, and passes keep a program as it was
    /// beside what they make of it; [`Line::inst_mut`] changes it in this line only.
    pub inst: Arc<Inst>,
    /// Why the instruction is there, if a pass put it there; printed as a comment on request.
    pub note: Option<Box<str>>,
    /// The user's source position, if known.
    pub loc: Option<SourceLoc>,
    /// Where an indirect jump or call leads (`s_setpc_b64`, `s_swappc_b64`), if that is known; see
    /// [`cfg::resolve`](crate::cfg::resolve).
    pub jump: Option<Jump>,
    /// On an `s_barrier`: reads of LDS may be outstanding at it, because no wave writes their bytes before
    /// the next barrier. The creator of the program knows that; it cannot be derived from the instructions.
    pub reads_pass: bool,
    /// On an `s_barrier`: the waves of the workgroup may run on different compute units (`.amdhsa_tg_split`), so that another wave
    /// sees after it only those stores to memory that are done before it.
    pub orders_stores: bool,
    /// A number by which the creator of the line finds it again after passes have moved it.
    pub origin: Option<NonZeroU32>,
}

/// Where an indirect jump or call leads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Jump {
    /// To a place of the program.
    To(Label),
    /// To code that the program does not have: a function of another file or section.
    Outside,
    /// Back to the instruction after the call by which control came.
    Back {
        /// The return address is the one that LLVM's convention has in `s[30:31]`, so that nothing may be outstanding.
        by_convention: bool,
    },
}

impl Line {
    /// An instruction without further information.
    pub fn new(inst: impl Into<Arc<Inst>>) -> Line {
        Line {
            inst: inst.into(),
            note: None,
            loc: None,
            jump: None,
            reads_pass: false,
            orders_stores: false,
            origin: None,
        }
    }

    /// The instruction, to change it. Other lines that share it keep it as it was.
    pub fn inst_mut(&mut self) -> &mut Inst {
        Arc::make_mut(&mut self.inst)
    }
}

/// A position in the user's source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SourceLoc {
    /// File path as the compiler gives it.
    pub file: &'static str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The call whose function this is a line of, if that was inlined.
    pub call: Option<&'static Call>,
}

/// A call of a function that was inlined.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// The function's name.
    pub function: &'static str,
    /// Where it is called, which may be in a function that was inlined itself.
    pub at: SourceLoc,
}

impl Call {
    /// The call of `function` at a place. Equal ones are kept once, until the program ends: a source has only so many calls,
    /// however often its kernels are built.
    pub fn of(function: &'static str, at: SourceLoc) -> &'static Call {
        static CALLS: LazyLock<Mutex<HashSet<&'static Call>>> = LazyLock::new(Mutex::default);
        let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        let call = Call { function, at };
        if let Some(known) = calls.get(&call) {
            return known;
        }
        let kept: &'static Call = Box::leak(Box::new(call));
        calls.insert(kept);
        kept
    }

    /// The call and those around it, innermost first.
    pub fn chain(&'static self) -> impl Iterator<Item = &'static Call> {
        std::iter::successors(Some(self), |call| call.at.call)
    }
}

impl SourceLoc {
    /// A place that is in no inlined function.
    pub const fn new(file: &'static str, line: u32, column: u32) -> SourceLoc {
        SourceLoc { file, line, column, call: None }
    }

    /// The place in the function that was inlined by `call`, or in the kernel without one: the place itself, or that of the call
    /// which leads to it.
    pub fn in_frame(self, call: Option<&'static Call>) -> Option<SourceLoc> {
        let is_in = |place: &SourceLoc| place.call.map(std::ptr::from_ref) == call.map(std::ptr::from_ref);
        std::iter::successors(Some(self), |place| place.call.map(|call| call.at)).find(is_in)
    }

    /// The beginning of a message: the place and a colon, or nothing if the place is not known.
    pub fn lead(at: Option<SourceLoc>) -> String {
        at.map(|at| format!("{at}: ")).unwrap_or_default()
    }
}

impl fmt::Display for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A label's name and place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelDef {
    /// Symbol name, for example `.LBB0_1`.
    pub name: String,
    /// Index of the instruction that the label stands before; `lines.len()` for the end. `None` until placed.
    pub at: Option<usize>,
}

/// A place at which control comes in from outside the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Index of the instruction.
    pub at: usize,
    /// Who comes in there.
    pub kind: EntryKind,
}

/// Who enters a program at an [`Entry`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// The dispatcher: nothing is outstanding.
    Kernel,
    /// A caller, with operations of its own outstanding.
    Function,
}

/// A straight list of instructions with labels: one kernel's code, or a section of code with several functions.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The target.
    pub target: Target,
    /// Lanes of a wave.
    pub wave: WaveSize,
    /// The kernel's name.
    pub name: String,
    /// The instructions.
    pub lines: Vec<Line>,
    /// Labels; [`Label`] is an index into this.
    pub labels: Vec<LabelDef>,
    /// Where control comes in, in order of place. None means: at the first instruction, from the dispatcher.
    pub entries: Vec<Entry>,
    /// Lines before which there are bytes that could not be read as instructions, in order. Control neither runs on from the
    /// line before nor into such a line but by a label; where it goes there is unknown.
    pub gaps: Vec<usize>,
    /// Every workgroup is a single wave: a barrier has nobody to wait for, and LDS no other reader.
    pub single_wave: bool,
}

impl<'a> From<&'a Program> for Cow<'a, Program> {
    fn from(program: &'a Program) -> Self {
        Cow::Borrowed(program)
    }
}

impl From<Program> for Cow<'_, Program> {
    fn from(program: Program) -> Self {
        Cow::Owned(program)
    }
}

impl Program {
    /// The processor with the size of the program's waves.
    pub fn subtarget(&self) -> Subtarget {
        Subtarget { target: self.target, wave: self.wave }
    }

    /// An empty program, for waves of the usual size.
    pub fn new(target: Target, name: impl Into<String>) -> Program {
        Program {
            target,
            wave: target.usual_wave(),
            name: name.into(),
            lines: Vec::new(),
            labels: Vec::new(),
            entries: Vec::new(),
            gaps: Vec::new(),
            single_wave: false,
        }
    }

    /// Appends an instruction.
    pub fn push(&mut self, inst: impl Into<Arc<Inst>>) -> &mut Line {
        self.lines.push(Line::new(inst));
        self.lines.last_mut().expect("just pushed")
    }

    /// A new label that is not placed yet.
    pub fn new_label(&mut self, name: impl Into<String>) -> Label {
        self.labels.push(LabelDef { name: name.into(), at: None });
        Label(self.labels.len() as u32 - 1)
    }

    /// Places `label` before the next instruction pushed.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0 as usize].at = Some(self.lines.len());
    }

    /// Inserts instructions; `insertions` are (index, line) in ascending order of index, each placed before the
    /// instruction that has that index now. A label at that index ends up *before* the inserted instruction, so every
    /// path that reaches the old instruction passes the new one. One linear pass.
    ///
    /// # Panics
    /// If the indices are not ascending or lie past the end.
    pub fn insert(&mut self, insertions: Vec<(usize, Line)>) {
        assert!(insertions.is_sorted_by_key(|i| i.0), "insertions must be in order");
        assert!(insertions.last().is_none_or(|i| i.0 <= self.lines.len()), "insertion past the end");
        let indices: Vec<usize> = insertions.iter().map(|i| i.0).collect();
        for label in &mut self.labels {
            if let Some(at) = &mut label.at {
                *at += indices.partition_point(|i| i < at);
            }
        }
        // An entry is a label, too; a gap stays right before its line.
        for entry in &mut self.entries {
            entry.at += indices.partition_point(|i| *i < entry.at);
        }
        for gap in &mut self.gaps {
            *gap += indices.partition_point(|i| i < gap);
        }
        let old = std::mem::take(&mut self.lines);
        self.lines.reserve(old.len() + insertions.len());
        let mut pending = insertions.into_iter().peekable();
        for (index, line) in old.into_iter().enumerate() {
            while let Some((_, new)) = pending.next_if(|i| i.0 <= index) {
                self.lines.push(new);
            }
            self.lines.push(line);
        }
        self.lines.extend(pending.map(|i| i.1));
    }

    /// The source position of each line. One without a position of its own, such as a wait, belongs to the next instruction that
    /// has one; at the end, to the last.
    pub fn positions(&self) -> Vec<Option<SourceLoc>> {
        let mut positions: Vec<_> = self.lines.iter().map(|line| line.loc).collect();
        let mut next = positions.iter().rev().find_map(|p| *p);
        for position in positions.iter_mut().rev() {
            next = position.or(next);
            *position = next;
        }
        positions
    }

    /// Labels sorted by place: (instruction index, label).
    pub fn labels_in_order(&self) -> Vec<(usize, Label)> {
        let mut placed: Vec<_> = self
            .labels
            .iter()
            .enumerate()
            .filter_map(|(i, def)| def.at.map(|at| (at, Label(i as u32))))
            .collect();
        placed.sort_unstable();
        placed
    }
}
