//! The [`Backend`] of the simulator.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gcn_isa::Target;
use gcn_sim::{Hooks, KernelState, Machine, Memory, Options, SimError, timed};

use super::backend::{Arriving, Backend, Handle, Step, own};
use super::debug::{Listener, Number, with_numbers};
use super::{Grid, LaunchError, LaunchStats, Properties};
use crate::kernel::BuiltKernel;

/// A clock that counts the cycles of the timed model.
pub(super) struct Clock {
    mhz: u32,
    config: timed::Config,
    /// The model's report on the last launch, until it is taken.
    report: Mutex<Option<timed::TimedReport>>,
}

impl Clock {
    /// A clock of `mhz` MHz for the timed model with `config`.
    pub fn new(mhz: u32, config: timed::Config) -> Box<Clock> {
        Box::new(Clock { mhz, config, report: Mutex::default() })
    }
}

/// A simulated GPU.
pub(super) struct Simulator {
    target: Target,
    memory: Mutex<Memory>,
    /// The clock; without one, kernels take no time.
    clock: Option<Box<Clock>>,
    options: Options,
}

/// A stream of the simulator. Work is executed when it is started, so the only state is the number of cycles that its
/// work has taken so far.
#[derive(Default)]
struct Queue {
    cycles: Mutex<u64>,
}

impl Queue {
    /// Locks the number of cycles. A poisoned lock is accepted: a panic cannot leave the number in an invalid state.
    fn cycles(&self) -> MutexGuard<'_, u64> {
        self.cycles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event: the cycles of its stream when it was recorded.
struct Moment(u64);

/// A loaded kernel. It has no data, since a launch interprets the code of the [`BuiltKernel`].
struct Loaded;

/// The steps of a graph.
struct Steps(Vec<Step>);

/// Host memory that takes the place of page-locked memory.
struct Pinned(Mutex<Vec<u8>>);

impl Pinned {
    /// Locks the bytes. A poisoned lock is accepted: a panic cannot leave the bytes in an invalid state.
    fn of(memory: &Handle) -> Result<MutexGuard<'_, Vec<u8>>, LaunchError> {
        let Pinned(bytes) = own(memory, "the page-locked memory")?;
        Ok(bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A copy to the host that has already completed.
struct Arrived(Vec<u8>);

impl Arriving for Arrived {
    fn wait(self: Box<Self>) -> Result<Vec<u8>, LaunchError> {
        Ok(self.0)
    }
}

impl Simulator {
    /// A simulator without allocated memory. With a `clock` it runs in timed mode, otherwise according to `options`.
    pub fn new(target: Target, clock: Option<Box<Clock>>, options: Options) -> Simulator {
        Simulator { target, memory: Mutex::new(Memory::new()), clock, options }
    }

    /// Takes the timed model's report on the last launch.
    pub fn report(&self) -> Option<timed::TimedReport> {
        let report = &self.clock.as_ref()?.report;
        report.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Locks the memory. A poisoned lock is accepted: a run that panicked leaves plain bytes, which are valid.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The source locations of the instructions, by code offset.
fn lines(kernel: &BuiltKernel) -> BTreeMap<u32, String> {
    let located = kernel.code.offsets.iter().zip(&kernel.program().lines);
    located.filter_map(|(offset, line)| Some((*offset, line.loc?.to_string()))).collect()
}

/// The simulator's machine that executes a kernel.
fn machine(kernel: &BuiltKernel, grid: Grid) -> Result<Machine, LaunchError> {
    let failed = |error| explain(kernel, error, &[]);
    let target = kernel.target();
    let mut state =
        KernelState::from_descriptor(&kernel.descriptor(), target).map_err(|e| failed(e.into()))?;
    state.lds_bytes += grid.dynamic_lds;
    Ok(Machine::new(target, kernel.code(), state).map_err(failed)?.with_lines(lines(kernel)))
}

fn memory_error(error: gcn_sim::MemoryError) -> LaunchError {
    LaunchError::Memory(error.into())
}

/// Adds the source location to a trap, and the index and the length to a failed index check.
fn explain(kernel: &BuiltKernel, error: SimError, numbers: &[Number]) -> LaunchError {
    let name = kernel.name().to_owned();
    if let SimError::Trap { site, .. } = &error
        && let Some((location, message)) = kernel.debug.trap(site.offset)
    {
        let message = message.unwrap_or("`trap()` was reached");
        let message = with_numbers(message, numbers, site.workgroup, site.wave);
        return LaunchError::Trap {
            kernel: name,
            location: location.to_string(),
            message,
            workgroup: site.workgroup,
            wave: site.wave,
        };
    }
    LaunchError::Simulation { kernel: name, error: Box::new(error) }
}

impl Backend for Simulator {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn target(&self) -> Target {
        self.target
    }

    fn properties(&self) -> Result<Properties, LaunchError> {
        Ok(Properties {
            name: format!("simulator of {}", self.target),
            target: self.target,
            compute_units: u32::try_from(timed::multiprocessors(self.target)).unwrap_or(u32::MAX),
            lds_bytes: self.target.lds_per_cu(),
            memory_bytes: None,
            clock_mhz: self.clock.as_ref().map(|clock| clock.mhz),
        })
    }

    fn occupancy(&self, _: &Handle, kernel: &BuiltKernel, dynamic_lds: u32) -> Result<u32, LaunchError> {
        let size = kernel.signature().workgroup.iter().product();
        Ok(machine(kernel, Grid::x(1))?.workgroups_per_cu(size, dynamic_lds))
    }

    fn alloc(&self, bytes: usize) -> Result<u64, LaunchError> {
        self.memory().try_alloc(bytes).map_err(|error| LaunchError::Memory(error.into()))
    }

    fn free(&self, address: u64) -> Result<(), LaunchError> {
        self.memory().free(address).map_err(memory_error)
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), LaunchError> {
        self.memory().write(address, data).map_err(memory_error)
    }

    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, LaunchError> {
        self.memory().read(address, bytes).map_err(memory_error)
    }

    fn load(&self, _: &[u8], _: &BuiltKernel) -> Result<Handle, LaunchError> {
        Ok(Arc::new(Loaded))
    }

    fn launch(
        &self,
        stream: Option<&Handle>,
        _: &Handle,
        kernel: &BuiltKernel,
        grid: Grid,
        kernarg: &[u8],
    ) -> Result<LaunchStats, LaunchError> {
        let (listener, watched) = (Listener::default(), &kernel.debug.watched);
        let machine = listener.on(machine(kernel, grid)?, watched);
        let image = kernel.image();
        let (machine, placed) = match image.len() > kernel.code().len() {
            true => {
                let address = self.alloc(image.len())?;
                self.write(address, &image)?;
                (machine.at(address), Some(address))
            }
            false => (machine, None),
        };
        let ran = self.execute(&machine, kernel, grid, kernarg);
        placed.map_or(Ok(()), |address| self.free(address))?;
        // If the run failed, the values that were shown before the failure are especially useful, so print them before
        // returning the error.
        let (printed, numbers) = listener.take(watched);
        printed.iter().for_each(|p| eprintln!("{p}"));
        let Ran { wave_instructions, cycles } = ran.map_err(|error| explain(kernel, error, &numbers))?;
        if let Some(stream) = stream {
            *own::<Queue>(stream, "the stream")?.cycles() += cycles;
        }
        let workgroups = grid.workgroups.iter().map(|n| u64::from(*n)).product();
        Ok(LaunchStats { workgroups, wave_instructions, printed })
    }

    #[cfg(feature = "objects")]
    fn load_object(&self, object: &[u8], name: &str) -> Result<Handle, LaunchError> {
        let mut memory = self.memory();
        let mut placed = Ok(0);
        let base = |bytes| {
            placed = memory.try_alloc(bytes);
            placed.as_ref().copied().unwrap_or_default()
        };
        let object = gcn_sim::launch::Object::load(object, base).map_err(LaunchError::object)?;
        placed.map_err(|error| LaunchError::Memory(error.into()))?;
        memory.write(object.base(), object.image()).map_err(memory_error)?;
        Ok(Arc::new(object.program(Some(name)).map_err(LaunchError::object)?))
    }

    #[cfg(feature = "objects")]
    fn launch_object(
        &self,
        loaded: &Handle,
        name: &str,
        (grid, workgroup): (Grid, [u32; 3]),
        kernarg: &[u8],
    ) -> Result<LaunchStats, LaunchError> {
        use gcn_sim::launch::{Call, DYNAMIC_STACK, Error, Program, Provided};
        let program: &Program = own(loaded, "the loaded kernel")?;
        let Grid { workgroups, dynamic_lds, cooperative } = grid;
        let call = Call {
            grid: gcn_sim::Grid::Workgroups(workgroups),
            workgroup,
            dynamic_lds,
            stack: DYNAMIC_STACK,
            provided: Provided::default(),
        };
        let failed = |error| match error {
            Error::Sim { error, .. } => LaunchError::Simulation { kernel: name.to_owned(), error },
            other => LaunchError::object(other),
        };
        let memory = &mut self.memory();
        let wave_instructions = match &self.clock {
            Some(clock) => {
                let report = program.call_timed(memory, &call, kernarg, &clock.config).map_err(failed)?;
                let instructions = report.instructions;
                *clock.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
                instructions
            }
            None => {
                let options = Options { cooperative, ..self.options };
                let stats = program.call(memory, &call, kernarg, &options, &Hooks::default());
                stats.map_err(failed)?.wave_instructions
            }
        };
        let workgroups = workgroups.iter().map(|n| u64::from(*n)).product();
        Ok(LaunchStats { workgroups, wave_instructions, ..LaunchStats::default() })
    }

    fn stream(&self) -> Result<Handle, LaunchError> {
        Ok(Arc::new(Queue::default()))
    }

    fn synchronize(&self, _: &Handle) -> Result<(), LaunchError> {
        Ok(())
    }

    fn write_on(&self, _: &Handle, address: u64, data: &[u8]) -> Result<(), LaunchError> {
        self.write(address, data)
    }

    fn read_on(&self, _: &Handle, address: u64, bytes: usize) -> Result<Box<dyn Arriving>, LaunchError> {
        Ok(Box::new(Arrived(self.read(address, bytes)?)))
    }

    fn fill_on(&self, _: &Handle, address: u64, byte: u8, bytes: usize) -> Result<(), LaunchError> {
        self.write(address, &vec![byte; bytes])
    }

    fn copy_on(&self, _: &Handle, from: u64, to: u64, bytes: usize) -> Result<(), LaunchError> {
        let mut memory = self.memory();
        let data = memory.read(from, bytes).map_err(memory_error)?;
        memory.write(to, &data).map_err(memory_error)
    }

    fn copy_peer_on(
        &self,
        _: &Handle,
        (from, address): (&dyn Backend, u64),
        to: u64,
        bytes: usize,
    ) -> Result<(), LaunchError> {
        let other = LaunchError::OtherDevice { what: "the source of the copy" };
        let from: &Simulator = from.as_any().downcast_ref().ok_or(other)?;
        let data = from.read(address, bytes)?;
        self.write(to, &data)
    }

    fn access_peer(&self, peer: &dyn Backend) -> Result<bool, LaunchError> {
        Ok(peer.as_any().downcast_ref::<Simulator>().is_some_and(|peer| std::ptr::eq(peer, self)))
    }

    fn pinned(&self, bytes: usize) -> Result<Handle, LaunchError> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(bytes).map_err(|error| LaunchError::Memory(error.into()))?;
        memory.resize(bytes, 0);
        Ok(Arc::new(Pinned(Mutex::new(memory))))
    }

    fn pinned_bytes(&self, memory: &Handle) -> Result<Vec<u8>, LaunchError> {
        Ok(Pinned::of(memory)?.clone())
    }

    fn set_pinned(&self, memory: &Handle, data: &[u8]) -> Result<(), LaunchError> {
        *Pinned::of(memory)? = data.to_vec();
        Ok(())
    }

    fn write_pinned_on(&self, _: &Handle, address: u64, memory: &Handle) -> Result<(), LaunchError> {
        self.write(address, &Pinned::of(memory)?)
    }

    fn read_pinned_on(&self, _: &Handle, address: u64, memory: &Handle) -> Result<(), LaunchError> {
        let mut bytes = Pinned::of(memory)?;
        *bytes = self.read(address, bytes.len())?;
        Ok(())
    }

    fn graph(&self, steps: Vec<Step>) -> Result<Handle, LaunchError> {
        Ok(Arc::new(Steps(steps)))
    }

    fn replay(&self, stream: &Handle, graph: &Handle) -> Result<(), LaunchError> {
        let Steps(steps) = own(graph, "the graph")?;
        steps.iter().try_for_each(|step| match step {
            Step::Launch { loaded, kernel, grid, kernarg } => {
                self.launch(Some(stream), loaded, kernel, *grid, kernarg).map(drop)
            }
            Step::Copy { from, to, bytes } => self.copy_on(stream, *from, *to, *bytes),
            Step::Fill { address, byte, bytes } => self.fill_on(stream, *address, *byte, *bytes),
        })
    }

    fn record(&self, stream: &Handle) -> Result<Handle, LaunchError> {
        let moment = Moment(*own::<Queue>(stream, "the stream")?.cycles());
        Ok(Arc::new(moment))
    }

    fn wait(&self, stream: &Handle, event: &Handle) -> Result<(), LaunchError> {
        let Moment(earliest) = own(event, "the event")?;
        let mut cycles = own::<Queue>(stream, "the stream")?.cycles();
        *cycles = (*cycles).max(*earliest);
        Ok(())
    }

    fn is_done(&self, _: &Handle) -> Result<bool, LaunchError> {
        Ok(true)
    }

    fn wait_for(&self, _: &Handle) -> Result<(), LaunchError> {
        Ok(())
    }

    fn elapsed(&self, since: &Handle, until: &Handle) -> Result<Duration, LaunchError> {
        let Some(clock) = &self.clock else { return Err(LaunchError::NoClock) };
        let (Moment(since), Moment(until)) = (own(since, "the event")?, own(until, "the event")?);
        let cycles = until.checked_sub(*since).ok_or(LaunchError::EventOrder)?;
        Ok(Duration::from_secs_f64(cycles as f64 / (f64::from(clock.mhz) * 1e6)))
    }
}

/// The counts of a run.
struct Ran {
    wave_instructions: u64,
    /// Number of cycles; 0 without a clock.
    cycles: u64,
}

impl Simulator {
    fn execute(
        &self,
        machine: &Machine,
        kernel: &BuiltKernel,
        grid: Grid,
        kernarg: &[u8],
    ) -> Result<Ran, SimError> {
        let Grid { workgroups: grid, cooperative, .. } = grid;
        let options = Options { cooperative, ..self.options };
        let workgroup = kernel.signature().workgroup;
        let memory = &mut self.memory();
        if let Some(clock) = &self.clock {
            let report = timed::run(machine, memory, grid, workgroup, kernarg, &clock.config)?;
            let ran = Ran { wave_instructions: report.instructions, cycles: report.cycles };
            *clock.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
            return Ok(ran);
        }
        let stalled = |long: Duration| {
            eprintln!(
                "gcn-dsl: no workgroup of kernel `{}` has ended for {} s; if it hangs, a device of `Device::simulator_with` finds \
                 out where: `max_instructions` of its options stops a wave after that many, and `Sanitize::DEADLOCK` finds waves \
                 that wait in vain",
                kernel.name(),
                long.as_secs()
            );
        };
        let hooks = Hooks { stalled: Some(&stalled), ..Hooks::default() };
        let stats = gcn_sim::run_with(machine, memory, grid, workgroup, kernarg, &options, &hooks)?;
        Ok(Ran { wave_instructions: stats.wave_instructions, cycles: 0 })
    }
}
