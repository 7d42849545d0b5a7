//! The machine program: instructions in order, labels between them, and notes that explain why passes inserted instructions.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::inst::Inst;
use crate::target::{Subtarget, Target, WaveSize};

pub use crate::operand::Label;

/// An instruction together with its origin.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// The instruction. It is shared, because most code has the same instruction many times, and because passes keep the original program
    /// in addition to the changed one. [`Line::inst_mut`] changes the instruction only in this line.
    pub inst: Arc<Inst>,
    /// The reason for the instruction, if a pass inserted it. It is printed as a comment on request.
    pub note: Option<Box<str>>,
    /// The position in the user's source, if known.
    pub loc: Option<SourceLoc>,
    /// The destination of an indirect jump or call (`s_setpc_b64`, `s_swappc_b64`), if known; see
    /// [`cfg::resolve`](crate::cfg::resolve).
    pub jump: Option<Jump>,
    /// True for a call from which control never comes back, to `abort` for example. The symbols show it: no instruction of the calling
    /// function follows.
    pub never_returns: bool,
    /// True for an `s_barrier` at which LDS reads may be outstanding, because no wave writes the bytes that they read before the next
    /// barrier. Only the creator of the program has this information; it cannot be derived from the instructions.
    pub reads_pass: bool,
    /// True for an `s_barrier` of a workgroup whose waves may run on different compute units (`.amdhsa_tg_split`). After the barrier,
    /// another wave sees only those stores to memory that were done before the barrier.
    pub orders_stores: bool,
    /// A number by which the creator of the line can find it again after passes have moved it; `None` if the creator gave none, and for
    /// lines that passes have inserted.
    pub origin: Option<NonZeroU32>,
}

/// The destination of an indirect jump or call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Jump {
    /// A label of the program.
    To(Label),
    /// Code that is not part of the program: a function of another file or section.
    Outside,
    /// The instruction after the call from which control came.
    Back {
        /// True if the return address is the one in `s[30:31]` by LLVM's convention, which also requires that no operation is outstanding.
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
            never_returns: false,
            reads_pass: false,
            orders_stores: false,
            origin: None,
        }
    }

    /// True if control may continue at the next line, directly or after a call.
    pub fn falls_through(&self) -> bool {
        self.inst.falls_through() && !self.never_returns
    }

    /// The instruction, for modification. Other lines that share it are not affected.
    pub fn inst_mut(&mut self) -> &mut Inst {
        Arc::make_mut(&mut self.inst)
    }
}

/// A position in the user's source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SourceLoc {
    /// The file's path, as the compiler reports it.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The call that was inlined, if this position is in an inlined function.
    pub call: Option<&'static Call>,
}

/// A call of a function that was inlined.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// The function's name.
    pub function: &'static str,
    /// The position of the call, which may be in an inlined function itself.
    pub at: SourceLoc,
}

impl Call {
    /// The call of `function` at a position. Equal calls are stored only once and are never freed: a source has a limited number of calls,
    /// regardless of how often its kernels are built.
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

    /// The call and the calls that enclose it, innermost first.
    pub fn chain(&'static self) -> impl Iterator<Item = &'static Call> {
        std::iter::successors(Some(self), |call| call.at.call)
    }
}

impl SourceLoc {
    /// A position that is not in an inlined function.
    pub const fn new(file: &'static str, line: u32, column: u32) -> SourceLoc {
        SourceLoc { file, line, column, call: None }
    }

    /// The position in the function that was inlined by `call`, or in the kernel if `call` is `None`. It is this position itself or the
    /// position of the enclosing call.
    pub fn in_frame(self, call: Option<&'static Call>) -> Option<SourceLoc> {
        let is_in = |place: &SourceLoc| place.call.map(std::ptr::from_ref) == call.map(std::ptr::from_ref);
        std::iter::successors(Some(self), |place| place.call.map(|call| call.at)).find(is_in)
    }

    /// The start of a message: the position and a colon, or an empty text if the position is not known.
    pub fn lead(at: Option<SourceLoc>) -> String {
        at.map(|at| format!("{at}: ")).unwrap_or_default()
    }
}

impl fmt::Display for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A label's name and position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelDef {
    /// The symbol name, for example `.LBB0_1`.
    pub name: String,
    /// The index of the instruction after the label; `lines.len()` for the end of the program. `None` until the label is placed.
    pub at: Option<usize>,
}

/// A place where control enters from outside the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The index of the instruction.
    pub at: usize,
    /// The origin of control.
    pub kind: EntryKind,
}

/// The origin of control at an [`Entry`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// Control comes from the dispatcher, and no operation is outstanding.
    Kernel,
    /// Control comes from a caller, which may have operations outstanding.
    Function,
}

/// A list of instructions with labels: the code of one kernel, or a section of code with several functions.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The target.
    pub target: Target,
    /// The wave size.
    pub wave: WaveSize,
    /// The kernel's name.
    pub name: String,
    /// The instructions.
    pub lines: Vec<Line>,
    /// The labels. A [`Label`] is an index into this list.
    pub labels: Vec<LabelDef>,
    /// The places where control enters, in ascending order. If the list is empty, control enters at the first instruction, from the
    /// dispatcher.
    pub entries: Vec<Entry>,
    /// The lines before which there are bytes that could not be decoded, in ascending order. Control does not fall through from the line
    /// before such a gap to the line after it; the line after the gap is reached only through a label. The destination of control that
    /// enters the gap is unknown.
    pub gaps: Vec<usize>,
    /// True if every workgroup is a single wave. Then no barrier waits for another wave, and no other wave reads the LDS.
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
    /// The processor together with the program's wave size.
    pub fn subtarget(&self) -> Subtarget {
        Subtarget { target: self.target, wave: self.wave }
    }

    /// An empty program with the target's usual wave size.
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

    /// Creates a label that is not placed yet.
    pub fn new_label(&mut self, name: impl Into<String>) -> Label {
        self.labels.push(LabelDef { name: name.into(), at: None });
        Label(self.labels.len() as u32 - 1)
    }

    /// Places `label` before the next instruction pushed.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0 as usize].at = Some(self.lines.len());
    }

    /// Inserts instructions. `insertions` are pairs of index and line in ascending order of index. Each line is inserted before the
    /// instruction that has this index before the call. A label at that index is then *before* the inserted instruction, so every path to
    /// the old instruction executes the new one. The time is linear.
    ///
    /// # Panics
    /// Panics if the indices are not ascending or exceed the number of lines.
    pub fn insert(&mut self, insertions: Vec<(usize, Line)>) {
        assert!(insertions.is_sorted_by_key(|i| i.0), "insertions must be in order");
        assert!(insertions.last().is_none_or(|i| i.0 <= self.lines.len()), "insertion past the end");
        let indices: Vec<usize> = insertions.iter().map(|i| i.0).collect();
        for label in &mut self.labels {
            if let Some(at) = &mut label.at {
                *at += indices.partition_point(|i| i < at);
            }
        }
        // An entry moves like a label; a gap stays directly before its line.
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

    /// The source position of each line. A line without a position, such as a wait, has the position of the next line that has one, or, at
    /// the end, of the last line that has one.
    pub fn positions(&self) -> Vec<Option<SourceLoc>> {
        let mut positions: Vec<_> = self.lines.iter().map(|line| line.loc).collect();
        let mut next = positions.iter().rev().find_map(|p| *p);
        for position in positions.iter_mut().rev() {
            next = position.or(next);
            *position = next;
        }
        positions
    }

    /// Labels sorted by position: (instruction index, label).
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
