//! Deferred work: operations that wait for the host, and operations that the ordering rules of streams place after them.
//!
//! Host callbacks and waits for values run on separate threads, because the submitting thread may be the one for which they wait. A
//! successor runs on the thread on which its last predecessor has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, PoisonError};
use std::thread;
use std::time::Duration;

use super::{DEFAULT_STREAMS, Locked, NON_BLOCKING, PER_THREAD, State, lock, on_device};
use crate::error::Result;
use crate::host;
use crate::work::{Op, Task, Until};

/// Notified whenever a work item is done.
static DONE: Condvar = Condvar::new();

std::thread_local! {
    /// The work item that the thread is executing, for which it must not wait.
    static OWN: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// A set of work items, by number.
pub(crate) type Works = BTreeSet<u64>;

/// The properties of a stream that determine the order of work.
#[derive(Clone, Copy, Debug)]
struct Lane {
    device: usize,
    stream: u64,
    blocking: bool,
}

impl Lane {
    fn is_null(self) -> bool {
        self.stream == 0
    }

    /// True if the work of the two streams must be executed in the order of submission.
    fn orders(self, other: Lane) -> bool {
        let through_null = self.is_null() && other.blocking || other.is_null() && self.blocking;
        self.device == other.device && (self.stream == other.stream || through_null)
    }
}

#[derive(Debug)]
struct Work {
    lane: Lane,
    /// The stream handle that the program used.
    stream: u64,
    /// `None` after a thread has taken it for execution.
    task: Option<Task>,
    /// The work items that must be done before this one.
    after: Works,
}

/// All pending work items, in the order of submission.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    next: u64,
    works: BTreeMap<u64, Work>,
}

impl Pending {
    /// Removes all work items. Called in a forked process, in which the threads that execute them do not exist.
    pub(super) fn forget(&mut self) {
        self.works.clear();
    }

    /// Removes a work item that is done; returns the items that can start because of that.
    fn end(&mut self, number: u64) -> Vec<u64> {
        self.works.remove(&number);
        let begins = |work: &mut Work| work.after.remove(&number) && work.after.is_empty();
        self.works.iter_mut().filter_map(|(number, work)| begins(work).then_some(*number)).collect()
    }

    /// A work item together with its direct and indirect successors.
    fn followers(&self, number: u64) -> Works {
        let mut found = Works::from([number]);
        for (other, work) in self.works.range(number..) {
            if !work.after.is_disjoint(&found) {
                found.insert(*other);
            }
        }
        found
    }
}

impl State {
    fn lane(&self, stream: u64) -> Result<Lane> {
        let device = self.stream_device(stream)?;
        let flags = self.streams.get(stream).map_or(0, |stream| stream.flags);
        let null = DEFAULT_STREAMS.contains(&stream) && stream != PER_THREAD;
        Ok(Lane { device, stream: if null { 0 } else { stream }, blocking: flags & NON_BLOCKING == 0 })
    }

    /// The pending work that must be done before the next work of a stream.
    pub(crate) fn before(&self, stream: u64) -> Result<Works> {
        if self.pending.works.is_empty() {
            return Ok(Works::new());
        }
        let lane = self.lane(stream)?;
        Ok(self.numbers(|work| work.lane.orders(lane)))
    }

    /// The pending work that records an event.
    pub(crate) fn recording(&self, event: u64) -> Result<Works> {
        let pending = self.event(event)?.pending;
        Ok(self.numbers(|_| true).into_iter().filter(|number| pending == Some(*number)).collect())
    }

    /// The pending work of a device.
    pub(crate) fn pending_on(&self, device: usize) -> Works {
        self.numbers(|work| work.lane.device == device)
    }

    /// The pending work items for which `wanted` returns true. Omits the item that this thread is executing and its successors, because a
    /// host callback must not wait for these.
    fn numbers(&self, wanted: impl Fn(&Work) -> bool) -> Works {
        let own = OWN.get().map(|own| self.pending.followers(own)).unwrap_or_default();
        let works = self.pending.works.iter().filter(|(number, work)| wanted(work) && !own.contains(number));
        works.map(|(number, _)| *number).collect()
    }

    /// True if a task has to wait for the host.
    fn waits(&self, task: &Task) -> bool {
        match task {
            Task::Op(Op::Call(_)) => true,
            Task::Until(until) => !self.holds(until),
            _ => false,
        }
    }

    /// True if the word in memory satisfies the condition for which a stream waits, or if the memory has been freed.
    fn holds(&self, until: &Until) -> bool {
        self.heap.own(until.at, until.bytes).is_err() || until.holds(&host::bytes(until.at, until.bytes))
    }

    /// Executes a task of a stream, or defers it if it has pending predecessors.
    pub(super) fn order(&mut self, stream: u64, task: Task) -> Result {
        let mut after = self.before(stream)?;
        if let Task::Op(Op::Wait(event)) = task {
            after.extend(self.recording(event).unwrap_or_default());
        }
        if after.is_empty() && !self.waits(&task) {
            return self.perform(&task, stream);
        }
        let lane = self.lane(stream)?;
        let number = self.pending.next;
        self.pending.next += 1;
        if let Task::Op(Op::Record(event)) = task
            && let Some(event) = self.events.get_mut(event)
        {
            (event.pending, event.captured) = (Some(number), None);
        }
        let ready = after.is_empty();
        let task = Some(self.held(task));
        self.pending.works.insert(number, Work { lane, stream, task, after });
        if ready {
            start(number);
        }
        Ok(())
    }

    /// Takes the task of a work item, with its stream and device; `None` if the item is done, or if another thread has already taken it.
    fn take(&mut self, number: u64) -> Option<(Task, u64, usize)> {
        let work = self.pending.works.get_mut(&number)?;
        Some((work.task.take()?, work.stream, work.lane.device))
    }

    /// Removes a work item that is done; returns the items that can start because of that.
    fn end(&mut self, number: u64) -> Vec<u64> {
        let recorded = self.events.values_mut().filter(|event| event.pending == Some(number));
        recorded.for_each(|event| event.pending = None);
        DONE.notify_all();
        self.pending.end(number)
    }
}

impl Locked {
    /// Waits until all of `works` are done.
    pub(crate) fn drained(mut self, works: Works) -> Locked {
        while works.iter().any(|work| self.pending.works.contains_key(work)) {
            self = Locked(DONE.wait(self.0).unwrap_or_else(PoisonError::into_inner));
        }
        self
    }
}

/// Executes a work item on another thread.
fn start(number: u64) {
    let made = thread::Builder::new().name("gcn-hip".to_owned()).spawn(move || run(number));
    if let Err(error) = made {
        eprintln!("gcn-hip: no thread for a function of the host, which may wait for this one: {error}");
        // The item cannot run on this thread, which has locked the runtime, and without threads the process cannot continue.
        std::process::abort();
    }
}

/// Executes a work item, and then the items that it makes ready.
fn run(first: u64) {
    let mut ready = vec![first];
    while let Some(number) = ready.pop() {
        let taken = lock().take(number);
        if let Some((task, stream, device)) = taken {
            OWN.set(Some(number));
            on_device(device, || perform(task, stream, device));
            OWN.set(None);
        }
        let mut state = lock();
        // This thread continues with the first item; each other item that waits for the host gets a separate thread.
        let begun = state.end(number);
        for next in begun.into_iter().rev() {
            let task = state.pending.works.get(&next).and_then(|work| work.task.as_ref());
            let waits = task.is_some_and(|task| state.waits(task));
            if waits { start(next) } else { ready.push(next) }
        }
    }
}

/// Executes a task whose predecessors are done. Its error has no caller to report to; only errors that the device stores are kept.
fn perform(task: Task, stream: u64, device: usize) {
    match task {
        Task::Op(Op::Call(call)) => call.call(),
        Task::Until(until) => {
            const SHORTEST: Duration = Duration::from_micros(10);
            const LONGEST: Duration = Duration::from_millis(1);
            let mut pause = SHORTEST;
            while !lock().holds(&until) {
                thread::sleep(pause);
                pause = LONGEST.min(pause * 2);
            }
        }
        task => {
            let mut state = lock();
            if state.wait(device).is_ok() {
                let _ = state.perform(&task, stream);
            }
        }
    }
}
