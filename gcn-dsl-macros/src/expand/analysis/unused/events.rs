//! What happens to variables, in the order of execution, and which values nobody reads.

use std::collections::HashSet;

use proc_macro2::Ident;

/// What a body does to its variables.
pub(super) enum Event {
    Read(usize),
    Write(Write),
    /// In order.
    Seq(Vec<Event>),
    /// One of them.
    Either(Vec<Event>),
    /// Again and again, until a `Break` to it.
    Loop(Target, Box<Event>),
    /// Once, with breaks to its end.
    Block(Target, Box<Event>),
    Break(Option<String>),
    Continue(Option<String>),
    Return,
}

/// The label of what a `break` can name.
pub(super) type Target = Option<String>;

/// A place that gives a variable a value.
#[derive(Clone)]
pub(super) struct Write {
    pub variable: usize,
    pub at: Ident,
    /// It is the variable's first value.
    pub first: bool,
    /// It reads the value before, as `+=` does.
    pub reads: bool,
}

pub(super) fn nothing() -> Event {
    Event::Seq(Vec::new())
}

/// The variables whose values are read later.
type Live = HashSet<usize>;

/// The writes whose values nobody reads.
pub(super) fn dead(event: &Event, variables: usize) -> Vec<Write> {
    let mut liveness = Liveness { reports: true, ..Liveness::default() };
    let live = Live::with_capacity(variables);
    liveness.before(event, live);
    liveness.dead
}

#[derive(Default)]
struct Liveness {
    targets: Vec<Around>,
    /// Not while a loop's values are still being found.
    reports: bool,
    dead: Vec<Write>,
}

struct Around {
    label: Target,
    is_loop: bool,
    /// What is read later at its end, and at its begin.
    end: Live,
    begin: Live,
}

impl Liveness {
    /// What is read later before `event`, from what is read later after it.
    fn before(&mut self, event: &Event, mut live: Live) -> Live {
        match event {
            Event::Read(variable) => {
                live.insert(*variable);
                live
            }
            Event::Write(write) => {
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
            Event::Break(label) => self.target(label).map_or(live, |t| t.end.clone()),
            Event::Continue(label) => self.target(label).map_or(live, |t| t.begin.clone()),
            Event::Return => Live::new(),
        }
    }

    fn looped(&mut self, label: &Target, body: &Event, end: Live) -> Live {
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
            if before == begin {
                self.reports = reports;
                // Once more, now that all is known.
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
