//! A liveness analysis on a body's variable accesses in execution order, which finds values that are never read.

use std::collections::HashSet;

use proc_macro2::Ident;

/// The accesses of a piece of code to variables.
pub(super) enum Event {
    Read(usize),
    Write(Write),
    /// Events that occur one after the other.
    Seq(Vec<Event>),
    /// Alternatives of which exactly one occurs: the arms of a branch.
    Either(Vec<Event>),
    /// A loop, which repeats until a `Break` out of it.
    Loop(Target, Box<Event>),
    /// A labelled block, which executes once. A `Break` out of it jumps to its end.
    Block(Target, Box<Event>),
    Break(Option<String>),
    Continue(Option<String>),
    Return,
}

/// The label of a loop or block; `None` if it has none.
pub(super) type Target = Option<String>;

/// A write of a variable.
#[derive(Clone)]
pub(super) struct Write {
    pub variable: usize,
    pub at: Ident,
    /// True if this is the variable's initial value.
    pub first: bool,
    /// True if the write also reads the old value, as `+=` does.
    pub reads: bool,
}

pub(super) fn nothing() -> Event {
    Event::Seq(Vec::new())
}

/// The variables that are live: their current values may still be read.
type Live = HashSet<usize>;

/// The writes whose values are never read.
pub(super) fn dead(event: &Event, variables: usize) -> Vec<Write> {
    let mut liveness = Liveness { reports: true, ..Liveness::default() };
    let live = Live::with_capacity(variables);
    liveness.before(event, live);
    liveness.dead
}

#[derive(Default)]
struct Liveness {
    targets: Vec<Around>,
    /// False while a loop's live variables are still being computed.
    reports: bool,
    dead: Vec<Write>,
}

struct Around {
    label: Target,
    is_loop: bool,
    /// The variables that are live at the end of a loop or block, and those that are live at its start.
    end: Live,
    begin: Live,
}

impl Liveness {
    /// The variables live before `event`, given those live after it.
    fn before(&mut self, event: &Event, mut live: Live) -> Live {
        match event {
            Event::Read(variable) => {
                live.insert(*variable);
                live
            }
            Event::Write(write) => {
                // Going backwards, the variable is dead before a write, unless the write itself reads it.
                let was_read = live.remove(&write.variable);
                if !was_read && self.reports {
                    self.dead.push(write.clone());
                }
                if write.reads {
                    live.insert(write.variable);
                }
                live
            }
            Event::Seq(events) => events.iter().rev().fold(live, |live, event| self.before(event, live)),
            Event::Either(ways) => ways.iter().fold(Live::new(), |mut all, way| {
                all.extend(self.before(way, live.clone()));
                all
            }),
            Event::Loop(label, body) => self.looped(label, body, live),
            Event::Block(label, body) => {
                let around =
                    Around { label: label.clone(), is_loop: false, end: live.clone(), begin: Live::new() };
                self.inside(around, body, live)
            }
            // Control continues at the target, so the liveness of the following statements is irrelevant.
            Event::Break(label) => self.target(label).map_or(live, |t| t.end.clone()),
            Event::Continue(label) => self.target(label).map_or(live, |t| t.begin.clone()),
            Event::Return => Live::new(),
        }
    }

    fn looped(&mut self, label: &Target, body: &Event, end: Live) -> Live {
        // Until the fixpoint is reached, a write that only the next trip reads would be reported as dead.
        let reports = std::mem::replace(&mut self.reports, false);
        let mut begin = Live::new();
        loop {
            let around = |begin: &Live| Around {
                label: label.clone(),
                is_loop: true,
                end: end.clone(),
                begin: begin.clone(),
            };
            let before = self.inside(around(&begin), body, begin.clone());
            // The set of live variables only grows from round to round, so the iteration ends.
            if before == begin {
                self.reports = reports;
                // A last pass over the body with the final liveness reports the dead writes.
                return if reports { self.inside(around(&begin), body, begin) } else { begin };
            }
            begin = before;
        }
    }

    fn inside(&mut self, around: Around, body: &Event, live: Live) -> Live {
        self.targets.push(around);
        let before = self.before(body, live);
        self.targets.pop();
        before
    }

    fn target(&self, label: &Target) -> Option<&Around> {
        self.targets.iter().rev().find(|t| match label {
            Some(_) => t.label == *label,
            None => t.is_loop,
        })
    }
}
