//! Submits and executes work.

use std::sync::Arc;
use std::time::Instant;

use gcn_emit::metadata::ValueKind;
use gcn_sim::launch::{Call, Error as LoadError, Program, Provided};
use gcn_sim::{Finding, FindingKind, Grid, Hooks, LaunchError, Memory, Options, SimError, timed};

use super::{DEVICE, State, lock};
use crate::device::{Model, max_grid};
use crate::error::{Error, Result};
use crate::heap::Kind;
use crate::host::{self, Ptr};
use crate::hostcall::Hostcall;
use crate::report::{self, Record};
use crate::work::{Launch, Op, Task};

/// The scratch size of a work-item in bytes if the compiler does not know the stack depth. It exceeds the default of `hipLimitStackSize`,
/// because a stack overflow would not be detected.
const STACK: u32 = 16 << 10;

/// The size of the address range for `malloc` in kernels, unless a program sets a higher `hipLimitMallocHeapSize`.
const MALLOC: usize = 1 << 30;

/// The size of `struct mg_info` of the device libraries (`ockl/src/cg.cl`) in bytes.
const MEETING: usize = 48;

/// The contents of `struct mg_info` for a launch on one device: the numbers of grids, work-items and workgroups. The other fields are
/// initially 0.
fn meeting_of(grid: Grid, workgroup: [u32; 3]) -> [u8; MEETING] {
    let items: u64 = workgroup.iter().map(|n| u64::from(*n)).product();
    let groups: u64 = match grid {
        Grid::Workgroups(groups) => groups.iter().map(|n| u64::from(*n)).product(),
        Grid::Items(all) => all.iter().zip(workgroup).map(|(n, size)| u64::from(n.div_ceil(size))).product(),
    };
    let mut out = [0; MEETING];
    out[12..16].copy_from_slice(&1u32.to_le_bytes());
    out[24..32].copy_from_slice(&(groups * items).to_le_bytes());
    out[40..44].copy_from_slice(&(groups as u32).to_le_bytes());
    out
}

/// Submits an operation to a stream. If the stream is capturing, the operation is added to the graph; otherwise it is executed at once, or
/// deferred until its predecessors are done.
pub(crate) fn submit(stream: u64, op: Op) -> Result {
    let mut state = lock();
    state.check_stream(stream)?;
    if state.capture(stream, &op)? {
        return Ok(());
    }
    let device = state.stream_device(stream)?;
    state.wait(device)?;
    match op {
        Op::Graph(instance) => {
            let ops = state.begin(instance, stream)?;
            ops.into_iter().try_for_each(|op| state.order(stream, Task::Op(op)))
        }
        op => state.order(stream, Task::Op(op)),
    }
}

/// As [`submit`], for a task that cannot be captured in a graph.
pub(crate) fn submit_task(stream: u64, task: Task) -> Result {
    let mut state = lock();
    if state.capture_of(stream)?.is_some() {
        return Err(Error::StreamCaptureUnsupported);
    }
    state.wait(state.stream_device(stream)?)?;
    state.order(stream, task)
}

/// Adds the error that stopped a kernel to the record of its launch, and returns the error code.
fn stopped(record: &mut Record<'_>, error: &LoadError) -> Error {
    record.error = Some(error.to_string());
    State::code_of(error)
}

impl State {
    /// Executes a task whose predecessors are done.
    pub(super) fn perform(&mut self, task: &Task, stream: u64) -> Result {
        match task {
            Task::Op(op) => return self.operate(op, stream),
            Task::Release(at) => return self.free(*at, DEVICE),
            Task::Store { to, bytes, extent } => {
                for (row, bytes) in to.rows(*extent).zip(bytes.chunks(extent.width)) {
                    self.heap.host.copy(row, Ptr::of(bytes), bytes.len());
                }
            }
            Task::Until(_) => {}
        }
        Ok(())
    }

    fn operate(&mut self, op: &Op, stream: u64) -> Result {
        match op {
            Op::Copy { to, from, extent, .. } => {
                for (to, from) in to.rows(*extent).zip(from.rows(*extent)) {
                    self.heap.host.copy(to, from, extent.width);
                }
                Ok(())
            }
            Op::Fill { to, pattern, extent } => {
                let rows = to.rows(*extent);
                rows.for_each(|row| self.heap.host.fill(row, pattern, extent.width / pattern.len()));
                Ok(())
            }
            Op::Launch(launch) => {
                let slept = self.launch(launch)?;
                self.occupy(stream, slept)
            }
            Op::Record(event) => self.record(*event, stream),
            Op::Alloc(memory) => {
                self.use_reserved(memory);
                Ok(())
            }
            Op::Free(at) => self.free_reserved(*at),
            Op::Nothing | Op::Wait(_) | Op::Call(_) | Op::Graph(_) => Ok(()),
        }
    }

    /// Checks a launch as far as HIP does before it is submitted.
    pub(crate) fn check_launch(&self, launch: &Launch) -> Result {
        let function = self.functions.get(launch.function).ok_or(Error::InvalidHandle)?;
        let (Grid::Workgroups(size) | Grid::Items(size)) = launch.grid;
        let items = launch.workgroup.iter().try_fold(1u32, |n, d| n.checked_mul(*d)).unwrap_or(u32::MAX);
        // The number of work-items in a dimension must fit in 32 bits.
        let too_many = size.iter().zip(launch.workgroup).enumerate().any(|(dimension, (&size, block))| {
            let (groups, items) = match launch.grid {
                Grid::Workgroups(_) => (u64::from(size), u64::from(size) * u64::from(block)),
                Grid::Items(_) => (u64::from(size).div_ceil(u64::from(block.max(1))), u64::from(size)),
            };
            groups > max_grid(dimension) || items > u64::from(u32::MAX)
        });
        if size.contains(&0) || items == 0 || items > 1024 || too_many {
            return Err(Error::InvalidConfiguration);
        }
        let program = &function.program;
        let most = program.metadata().map_or(1024, |m| m.max_flat_workgroup_size);
        if items > most {
            eprintln!(
                "gcn-hip: kernel `{}` is compiled for workgroups of at most {most} work-items, the launch has {items}; set \
                 __launch_bounds__ or launch smaller ones",
                function.name
            );
            return Err(Error::LaunchFailure);
        }
        let state = program.machine().state();
        let lds = u64::from(state.lds_bytes) + u64::from(launch.dynamic_lds);
        if lds > u64::from(program.machine().target().lds_per_cu()) {
            return Err(Error::InvalidValue);
        }
        Ok(())
    }

    /// Runs a kernel; returns the time in seconds that it has slept.
    fn launch(&mut self, launch: &Launch) -> Result<f64> {
        self.check_launch(launch)?;
        let function = self.functions.get(launch.function).ok_or(Error::InvalidHandle)?;
        let (program, name, device) = (Arc::clone(&function.program), function.name.clone(), function.device);
        let number = self.launches;
        self.launches += 1;
        let start = Instant::now();
        let (Grid::Workgroups(grid) | Grid::Items(grid)) = launch.grid;
        let mut record = Record {
            launch: number,
            kernel: &name,
            device,
            grid,
            workgroup: launch.workgroup,
            waves: 0,
            wave_instructions: 0,
            seconds: 0.0,
            cycles: None,
            error: None,
            findings: Vec::new(),
            faults: false,
        };
        let outcome = self.run(&program, launch, device, &mut record);
        record.seconds = start.elapsed().as_secs_f64();
        self.simulating += record.seconds;
        // The time for which a kernel sleeps counts as the kernel's time, not as the host's.
        self.overlapped += outcome.as_ref().map_or(0.0, |slept| slept.min(record.seconds));
        let result = outcome;
        record.complain(self.settings.findings.as_deref());
        if self.settings.trace {
            let Record { waves, wave_instructions, seconds, .. } = record;
            eprintln!(
                "gcn-hip: launch {number}: {name} {grid:?} {:?}: {waves} waves, {wave_instructions} instructions, {seconds:.6} s",
                launch.workgroup
            );
        }
        if let Some(path) = &self.settings.report {
            record.append(path);
        }
        if let Err(code) = result {
            if self.settings.abort {
                std::process::abort();
            }
            if !matches!(code, Error::CooperativeLaunchTooLarge | Error::InvalidConfiguration) {
                self.faults.insert(device, code);
            }
        }
        result
    }

    fn run(
        &mut self,
        program: &Arc<Program>,
        launch: &Launch,
        device: usize,
        record: &mut Record<'_>,
    ) -> Result<f64> {
        let asks = program.asks_for(ValueKind::HiddenHostcallBuffer);
        if asks && !self.hostcalls.contains_key(&device) {
            let hostcall = Hostcall::new(&mut self.heap, device);
            self.hostcalls.extend(hostcall.map(|hostcall| (device, hostcall)));
        }
        let mut hostcall = self.hostcalls.get_mut(&device).filter(|_| asks);
        let mut heap = 0;
        if let Some(hostcall) = hostcall.as_mut().filter(|_| program.asks_for(ValueKind::HiddenHeapV1)) {
            let most = self.malloc_heap.max(usize::min(MALLOC, self.heap.free_bytes() as usize / 2));
            heap = hostcall.heap(&mut self.heap, device, most);
        }
        let hostcall = hostcall.map(|hostcall| &*hostcall);
        let Launch { grid, workgroup, dynamic_lds, .. } = *launch;
        if launch.cooperative && !self.meetings.contains_key(&device) {
            let meeting = self.heap.alloc(Kind::Pinned, device, MEETING, 0);
            self.meetings.extend(meeting.map(|at| (device, at)));
        }
        let meeting = self.meetings.get(&device).filter(|_| launch.cooperative).copied();
        if let Some(at) = meeting {
            host::put(at, &meeting_of(grid, workgroup));
        }
        let provided = Provided {
            hostcall_buffer: hostcall.map_or(0, Hostcall::address),
            multigrid_sync: meeting.map_or(0, Ptr::address),
            heap,
        };
        let call = Call { grid, workgroup, dynamic_lds, stack: STACK, provided };
        let memory = self.heap.host.memory();
        let program = Program::clone(program).with_matrix(self.settings.matrix);
        if self.settings.timed && !asks {
            let mut config = timed::Config {
                max_instructions: self.settings.options.max_instructions,
                wave_reports: 0,
                ..timed::Config::default()
            };
            if let (Some(table), Some(model)) = (&self.settings.params, self.models.get(device)) {
                // Cannot fail: the table was already read when the library was loaded.
                config.read(table, model.target).map_err(|_| Error::InvalidValue)?;
            }
            let report = program
                .call_timed(memory, &call, &launch.arguments, &config)
                .map_err(|e| stopped(record, &e))?;
            (record.waves, record.wave_instructions) = (report.waves, report.instructions);
            record.cycles = Some(report.cycles);
            self.simulated += report.cycles as f64 / self.models.get(device).map_or(1e9, Model::clock);
            return Ok(0.0);
        }
        // A forked child has none of the threads of the pool.
        let forked = std::process::id() != self.process;
        let parallel = self.settings.options.parallel && !forked && !program.machine().depends_on_order();
        let options = Options { cooperative: launch.cooperative, parallel, ..self.settings.options };
        let (kernel, number) = (record.kernel, record.launch);
        let stalled = |long| report::stalls(kernel, number, long);
        let service = |memory: &Memory| {
            if let Some(hostcall) = hostcall {
                hostcall.serve(memory);
            }
        };
        let hooks = Hooks { service: Some(&service), stalled: Some(&stalled), ..Hooks::default() };
        let stats = program.call(memory, &call, &launch.arguments, &options, &hooks);
        // Output that a kernel printed before it failed is kept.
        if let Some(hostcall) = hostcall {
            hostcall.serve(memory);
            hostcall.flush();
        }
        let stats = stats.map_err(|e| stopped(record, &e))?;
        record.take(&stats);
        // If a sanitizer's finding would have stopped the kernel without sanitizers as well, return the same error as without them.
        match stats.findings.iter().find_map(Self::code_of_finding) {
            Some(code) => {
                record.error = Some("it did what ends a kernel".to_owned());
                Err(code)
            }
            None => Ok(stats.slept as f64 / self.models.get(device).map_or(1e9, Model::clock)),
        }
    }

    /// The error code for a sanitizer's finding, if it would have stopped the kernel without sanitizers as well. Without sanitizers, the
    /// accessible part of an allocation extends to the end of its last page.
    fn code_of_finding(finding: &Finding) -> Option<Error> {
        let beyond = || {
            let (access, range) = finding.party.access.as_ref().zip(finding.allocation)?;
            let end = range.base.saturating_add(range.bytes).next_multiple_of(host::ALIGN as u64);
            Some(access.address < range.base || access.address + u64::from(access.bytes) > end)
        };
        match finding.kind {
            FindingKind::OutOfBounds if beyond().unwrap_or(true) => Some(Error::IllegalAddress),
            FindingKind::UseAfterFree | FindingKind::Misaligned => Some(Error::IllegalAddress),
            _ => None,
        }
    }

    /// The error code for the error that stopped a kernel.
    fn code_of(error: &LoadError) -> Error {
        match error {
            LoadError::Sim { error, .. } => match **error {
                SimError::Launch(LaunchError::Cooperative { .. }) => Error::CooperativeLaunchTooLarge,
                SimError::Launch(_) => Error::InvalidConfiguration,
                SimError::OutOfBounds(_) | SimError::Misaligned { .. } | SimError::Memory(_) => {
                    Error::IllegalAddress
                }
                SimError::InstructionLimit { .. } | SimError::Deadlock { .. } => Error::LaunchTimeOut,
                SimError::Alloc(_) => Error::OutOfMemory,
                _ => Error::LaunchFailure,
            },
            LoadError::Spec { .. } => Error::InvalidConfiguration,
            _ => Error::LaunchFailure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected offsets are those in `struct mg_info`: `num_grids` 12, `all_sum` 24, `num_wg` 40.
    #[test]
    fn workgroups_of_a_cooperative_launch_are_counted() {
        for grid in [Grid::Workgroups([3, 2, 1]), Grid::Items([129, 2, 1])] {
            let meeting = meeting_of(grid, [64, 1, 1]);
            let mut expected = [0; MEETING];
            (expected[12], expected[24], expected[25], expected[40]) = (1, 0x80, 1, 6);
            assert_eq!(meeting, expected, "{grid:?}");
        }
    }
}
