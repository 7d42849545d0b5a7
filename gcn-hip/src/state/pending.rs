//! Work that is not done when it is submitted: what waits for the host, and what its stream orders after that.
//!
//! Functions of the host and waits for a value are done on threads of their own, since the thread that
//! submits them may be the one that they wait for. Their successors are done by the thread on which the last
//! of them has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, PoisonError};
use std::thread;
use std::time::Duration;

use super::{DEFAULT_STREAMS, Locked, NON_BLOCKING, PER_THREAD, State, lock, on_device};
use crate::error::Result;
use crate::host;
use crate::work::{Op, Task, Until};

/// Somebody may wait for work: some has been done.
static DONE: Condvar = Condvar::new();

std::thread_local! {
    /// The work that the thread does, which it must not wait for.
    static OWN: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// Numbers of pending work.
pub(crate) type Works = BTreeSet<u64>;

/// A stream, as far as it orders work.
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

    /// True if work of one stream and work of the other are done in the order in which they were submitted.
    fn orders(self, other: Lane) -> bool {
        let through_null = self.is_null() && other.blocking || other.is_null() && self.blocking;
        self.device == other.device && (self.stream == other.stream || through_null)
    }
}

#[derive(Debug)]
struct Work {
    lane: Lane,
    /// The handle that the program used.
    stream: u64,
    /// Taken by the thread that does it.
    task: Option<Task>,
    /// The operations that have to be done before.
    after: Works,
}

/// All pending work, in the order in which it was submitted.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    next: u64,
    works: BTreeMap<u64, Work>,
}

impl Pending {
    /// Forgets everything: the threads that do it are not in this process.
    pub(super) fn forget(&mut self) {
        self.works.clear();
    }

    /// The works that begin when this one has ended.
    fn end(&mut self, number: u64) -> Vec<u64> {
        self.works.remove(&number);
        let begins = |work: &mut Work| work.after.remove(&number) && work.after.is_empty();
        self.works.iter_mut().filter_map(|(number, work)| begins(work).then_some(*number)).collect()
    }

    /// The direct and indirect successors of an operation.
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

    /// The pending work after which the next work of a stream is done.
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

    /// A function of the host waits neither for itself nor for its successors: its own requests are done
    /// before it returns.
    fn numbers(&self, wanted: impl Fn(&Work) -> bool) -> Works {
        let own = OWN.get().map(|own| self.pending.followers(own)).unwrap_or_default();
        let works = self.pending.works.iter().filter(|(number, work)| wanted(work) && !own.contains(number));
        works.map(|(number, _)| *number).collect()
    }

    /// True if a task waits for the host.
    fn waits(&self, task: &Task) -> bool {
        match task {
            Task::Op(Op::Call(_)) => true,
            Task::Until(until) => !self.holds(until),
            _ => false,
        }
    }

    /// True if memory has the value that a stream waits for. Nobody waits for memory that is gone.
    fn holds(&self, until: &Until) -> bool {
        self.heap.own(until.at, until.bytes).is_err() || until.holds(&host::bytes(until.at, until.bytes))
    }

    /// Does a task of a stream, or leaves it to be done when its time has come.
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

    /// Takes the task of a work, with its stream and device.
    fn take(&mut self, number: u64) -> Option<(Task, u64, usize)> {
        let work = self.pending.works.get_mut(&number)?;
        Some((work.task.take()?, work.stream, work.lane.device))
    }

    /// Ends a work; gives those that begin then.
    fn end(&mut self, number: u64) -> Vec<u64> {
        let recorded = self.events.values_mut().filter(|event| event.pending == Some(number));
        recorded.for_each(|event| event.pending = None);
        DONE.notify_all();
        self.pending.end(number)
    }
}

impl Locked {
    /// Waits until works have been done.
    pub(crate) fn drained(mut self, works: Works) -> Locked {
        while works.iter().any(|work| self.pending.works.contains_key(work)) {
            self = Locked(DONE.wait(self.0).unwrap_or_else(PoisonError::into_inner));
        }
        self
    }
}

/// Does a work on another thread.
fn start(number: u64) {
    let made = thread::Builder::new().name("gcn-hip".to_owned()).spawn(move || run(number));
    if let Err(error) = made {
        eprintln!("gcn-hip: no thread for a function of the host, which may wait for this one: {error}");
        // Not here, where the runtime is locked; the process will not get far without threads anyway.
        std::process::abort();
    }
}

/// Does a work and what then can be done.
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
        // The earliest first; all others that wait for the host have threads of their own.
        let begun = state.end(number);
        for next in begun.into_iter().rev() {
            let task = state.pending.works.get(&next).and_then(|work| work.task.as_ref());
            let waits = task.is_some_and(|task| state.waits(task));
            if waits { start(next) } else { ready.push(next) }
        }
    }
}

/// Does a task whose time has come. Nobody is told of an error that the device does not keep.
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
