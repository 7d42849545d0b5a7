//! The runtime: the state on which all HIP functions operate, protected by one lock.
//!
//! Work is normally executed on the submitting thread, at the time when it is submitted. Only work that has to wait for the host, and work
//! that streams order after it, is deferred. A launch uses all cores.

mod binaries;
mod capture;
mod copies;
mod events;
mod graphs;
mod launches;
mod memory;
mod pending;
mod pools;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gcn_isa::Target;

use crate::device::{self, Model};
use crate::error::{Error, Result};
use crate::graph::Graphs;
use crate::heap::Heap;
use crate::host::{self, Ptr};
use crate::hostcall::Hostcall;
use crate::module::{FatBinary, Function, Module, Symbol};
use crate::registry::Registry;
use crate::settings::Settings;
use pending::Pending;

pub(crate) use capture::Joined;
pub(crate) use copies::{DEFAULT, DEVICE_TO_HOST, HOST_TO_DEVICE, HOST_TO_HOST};
pub(crate) use events::{Event, NON_BLOCKING, gone};
pub(crate) use graphs::Object;
pub(crate) use launches::{submit, submit_task};
pub(crate) use memory::{Advice, Advices, DEVICE, NO_DEVICE, PINNED};
pub(crate) use pools::Pools;

/// The target if neither the environment nor the program selects one.
const USUAL: Target = Target::GFX942;

/// The initial `hipLimitMallocHeapSize`, as in ROCclr (`HIP_INITIAL_DM_SIZE`).
const MALLOC_HEAP: usize = 8 << 20;

/// A stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub device: usize,
    pub flags: u32,
    pub priority: i32,
    /// The time until which the stream appears busy. A kernel that sleeps for a certain time completes at once, but its stream appears busy
    /// for that long.
    pub busy: f64,
    /// The graph into which the stream is capturing, if any.
    pub capture: Option<Joined>,
}

/// Handles of streams that always exist: the null stream, the legacy name of the null stream, and the per-thread stream.
pub(crate) const DEFAULT_STREAMS: [u64; 3] = [0, 1, PER_THREAD];
/// `hipStreamPerThread`, the only default stream that can capture.
const PER_THREAD: u64 = 2;

/// The state of the runtime.
pub(crate) struct State {
    pub settings: Settings,
    /// The visible devices.
    pub models: Vec<Model>,
    pub heap: Heap,
    pub modules: Registry<Module>,
    pub functions: Registry<Function>,
    pub binaries: Registry<FatBinary>,
    /// Kernels and variables by host address.
    pub kernels: HashMap<u64, Symbol>,
    pub variables: HashMap<u64, Symbol>,
    pub streams: Registry<Stream>,
    pub events: Registry<Event>,
    pub graphs: Graphs,
    /// User objects that graphs may refer to.
    pub objects: Registry<Object>,
    /// The addresses of memory reserved by graphs.
    pub reserved: BTreeSet<Ptr>,
    /// Device allocations for which the host waits after copies and fills.
    pub waiting: BTreeSet<Ptr>,
    pub pools: Pools,
    /// Advice about managed memory.
    pub advice: Advices,
    /// The pairs of devices (from, to) for which peer access is enabled.
    pub peers: HashSet<(usize, usize)>,
    /// For each device, the error that stopped a kernel on it. Until the device is reset, every use of it fails with this error.
    pub faults: HashMap<usize, Error>,
    /// The channels through which kernels make requests to the host, by device.
    hostcalls: HashMap<usize, Hostcall>,
    /// The data through which the workgroups of a cooperative launch synchronise, by device.
    meetings: HashMap<usize, Ptr>,
    /// `hipLimitMallocHeapSize`.
    pub malloc_heap: usize,
    /// How host threads should wait for a device (`hipSetDeviceFlags`).
    pub schedules: HashMap<usize, u32>,
    /// `hipLimitStackSize` and `hipLimitPrintfFifoSize`.
    pub limits: [usize; 2],
    launches: u64,
    /// The ID of the process that created this state.
    process: u32,
    started: Instant,
    /// The time in seconds according to the timing model.
    simulated: f64,
    /// The host time in seconds that has been spent in kernels.
    simulating: f64,
    /// The part of `simulating` during which the kernels would have slept on hardware as well.
    overlapped: f64,
    /// Work that has not been executed yet.
    pending: Pending,
    /// For each device, the time until which its null stream appears busy.
    busy: HashMap<usize, f64>,
}

impl State {
    fn new(first: Option<&[u8]>) -> State {
        let variable = |name: &str| std::env::var(name).ok();
        let settings = Settings::read(variable).unwrap_or_else(|errors| {
            eprint!("gcn-hip: the settings are wrong, so that there is no device:\n{errors}");
            let none = |name: &str| (name == "HIP_VISIBLE_DEVICES").then(String::new);
            // Cannot fail, because no variable is set.
            Settings::read(none).unwrap_or_else(|_| unreachable!("defaults are right"))
        });
        let compiled = || first.and_then(|image| crate::module::targets(image).first().map(|id| id.target));
        let target = settings.target.or_else(compiled).unwrap_or(USUAL);
        settings.parent.into_iter().for_each(host::ends_with);
        let memory = device::host_memory();
        let models: Vec<_> = settings.visible.iter().map(|n| Model::of(target, *n, memory)).collect();
        let capacity = models.first().map_or(0, |m| m.memory);
        let heap = Heap::new(capacity, settings.options.sanitize);
        let mut streams = Registry::new(2);
        streams.insert(PER_THREAD, Stream::default());
        State {
            settings,
            models,
            heap,
            modules: Registry::new(0),
            functions: Registry::new(1),
            binaries: Registry::new(7),
            kernels: HashMap::new(),
            variables: HashMap::new(),
            streams,
            events: Registry::new(3),
            graphs: Graphs::new(),
            objects: Registry::new(9),
            reserved: BTreeSet::new(),
            waiting: BTreeSet::new(),
            pools: Pools::new(),
            advice: Advices::default(),
            peers: HashSet::new(),
            faults: HashMap::new(),
            hostcalls: HashMap::new(),
            meetings: HashMap::new(),
            malloc_heap: MALLOC_HEAP,
            schedules: HashMap::new(),
            limits: [16 << 10, 4 << 20],
            launches: 0,
            process: std::process::id(),
            started: Instant::now(),
            simulated: 0.0,
            simulating: 0.0,
            overlapped: 0.0,
            pending: Pending::default(),
            busy: HashMap::new(),
        }
    }

    /// The device with this number.
    pub(crate) fn model(&self, device: usize) -> Result<&Model> {
        let none = if self.models.is_empty() { Error::NoDevice } else { Error::InvalidDevice };
        self.models.get(device).ok_or(none)
    }

    /// The device of a stream, if the stream exists.
    pub(crate) fn stream_device(&self, stream: u64) -> Result<usize> {
        if DEFAULT_STREAMS.contains(&stream) {
            return Ok(current_device());
        }
        self.streams.get(stream).map(|s| s.device).ok_or(gone(stream))
    }

    /// The result of waiting for a device: success, because all work has been executed already, unless a kernel failed.
    pub(crate) fn wait(&self, device: usize) -> Result {
        self.faults.get(&device).map_or(Ok(()), |error| Err(*error))
    }

    /// The time in seconds since the start: of the host or, in timed mode, of the timing model.
    pub(crate) fn now(&self) -> f64 {
        if self.settings.timed {
            self.simulated
        } else {
            self.started.elapsed().as_secs_f64() - self.overlapped
        }
    }

    /// The time of a program whose kernels take no time except the time for which they sleep.
    pub(crate) fn idle_time(&self) -> f64 {
        if self.settings.timed {
            self.simulated
        } else {
            self.started.elapsed().as_secs_f64() - self.simulating
        }
    }
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// The locked runtime.
pub(crate) struct Locked(MutexGuard<'static, Option<State>>);

impl std::ops::Deref for Locked {
    type Target = State;

    fn deref(&self) -> &State {
        self.0.as_ref().unwrap_or_else(|| unreachable!("`lock` makes it"))
    }
}

impl std::ops::DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut State {
        self.0.as_mut().unwrap_or_else(|| unreachable!("`lock` makes it"))
    }
}

/// Locks the runtime, which is created on first use.
pub(crate) fn lock() -> Locked {
    lock_for(None)
}

/// As [`lock`], but if no variable selects the device's target, uses the target for which `image`, a fat binary of the program, was
/// compiled.
pub(crate) fn lock_for(image: Option<&[u8]>) -> Locked {
    // After a panic, which has been reported, the state is still consistent.
    let mut guard = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    guard.get_or_insert_with(|| {
        host::around_fork(before_fork, after_fork, after_fork_in_child);
        State::new(image)
    });
    Locked(guard)
}

thread_local! {
    /// The lock that this thread holds while it forks the process. If another thread held the lock during the fork, it would never be
    /// released in the child, where that thread does not exist.
    static FORKING: RefCell<Option<Locked>> = const { RefCell::new(None) };
}

extern "C" fn before_fork() {
    let locked = Locked(STATE.lock().unwrap_or_else(PoisonError::into_inner));
    // An error means that the thread is ending; then the child gets the state without the lock being held.
    let _ = FORKING.try_with(|place| place.borrow_mut().replace(locked));
}

extern "C" fn after_fork() {
    let _ = FORKING.try_with(|place| place.borrow_mut().take());
}

extern "C" fn after_fork_in_child() {
    let _ = FORKING.try_with(|place| {
        let mut locked = place.borrow_mut().take();
        locked.iter_mut().for_each(|state| state.pending.forget());
    });
}

/// The launch configuration that `<<<…>>>` passes to the kernel's stub.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Configuration {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: usize,
    pub stream: u64,
}

/// The state of a host thread.
#[derive(Default)]
pub(crate) struct Thread {
    pub device: usize,
    /// The last error, for `hipGetLastError`.
    pub last: u32,
    pub configurations: Vec<Configuration>,
    /// The arguments set by `hipSetupArgument` for the last configuration.
    pub arguments: Vec<u8>,
    /// The stack of contexts, which are devices.
    pub contexts: Vec<usize>,
    pub capture_mode: u32,
}

thread_local! {
    static THREAD: RefCell<Thread> = RefCell::default();
}

/// Calls `f` with the thread's state. When a thread ends, its state is dropped before destructors of the program run, and these may still
/// use the runtime; they get a fresh state.
pub(crate) fn thread<T>(f: impl FnOnce(&mut Thread) -> T) -> T {
    let mut f = Some(f);
    let mut once = |t: &mut Thread| f.take().map(|f| f(t));
    let done = THREAD.try_with(|thread| once(&mut thread.borrow_mut())).ok().flatten();
    done.or_else(|| once(&mut Thread::default())).unwrap_or_else(|| unreachable!("one of the two calls it"))
}

/// Calls `act` as if the thread had selected the device.
pub(crate) fn on_device<T>(device: usize, act: impl FnOnce() -> T) -> T {
    let before = thread(|t| std::mem::replace(&mut t.device, device));
    let done = act();
    thread(|t| t.device = before);
    done
}

/// The device that the thread has selected.
pub(crate) fn current_device() -> usize {
    thread(|t| t.device)
}
