//! Launches and copies that are prepared once and started together.

use std::fmt;
use std::sync::Arc;

use super::backend::{Backend, Handle, Step};
use super::buffer::{Allocation, DeviceSlice};
use super::kernarg::kernarg_of;
use super::{DevicePacker, Grid, Kernel, LaunchError, LoadedKernel, Passed};
use crate::lang::Stored;

/// A list of launches and copies, from [`Device::graph`](crate::Device::graph), from which a [`Graph`] is built.
///
/// Each step runs after the steps that were added before it. The memory of the steps' arguments stays allocated as long
/// as the graph exists.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     #[workgroup(64)]
///     fn add(n: u32, x: &mut [u32]) {
///         let i = global_id().x;
///         x[i] += n;
///     }
/// }
/// let device = Device::simulator(Target::GFX942);
/// let adding = device.load(&add.build(device.target())?)?;
/// let (mut x, mut y) = (device.zeroed::<u32>(64)?, device.zeroed::<u32>(64)?);
/// let mut steps = device.graph();
/// steps.launch(&adding, Grid::x(1), (1, &mut x))?;
/// steps.copy(&x, &mut y)?;
/// let graph = steps.build()?;
/// let stream = device.stream()?;
/// for _ in 0..3 {
///     stream.replay(&graph)?;
/// }
/// assert_eq!(y.to_vec()?, [3; 64]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GraphBuilder {
    backend: Arc<dyn Backend>,
    steps: Vec<Step>,
    used: Vec<(Arc<Allocation>, bool)>,
}

impl fmt::Debug for GraphBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphBuilder").field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}

impl GraphBuilder {
    pub(super) fn new(backend: &Arc<dyn Backend>) -> GraphBuilder {
        GraphBuilder { backend: Arc::clone(backend), steps: Vec::new(), used: Vec::new() }
    }

    fn same(&self, other: &Arc<dyn Backend>, what: &'static str) -> Result<(), LaunchError> {
        if Arc::ptr_eq(&self.backend, other) { Ok(()) } else { Err(LaunchError::OtherDevice { what }) }
    }

    /// Records that the graph uses this memory, which must be on the graph's device.
    fn uses(&mut self, memory: &Arc<Allocation>, written: bool) -> Result<(), LaunchError> {
        self.same(&memory.backend, "the buffer")?;
        match self.used.iter_mut().find(|(known, _)| Arc::ptr_eq(known, memory)) {
            Some((_, known)) => *known |= written,
            None => self.used.push((Arc::clone(memory), written)),
        }
        Ok(())
    }

    /// Adds a launch, with arguments as for [`Stream::launch`](crate::Stream::launch).
    ///
    /// # Errors
    /// A [`LaunchError`] if the grid or an argument is invalid or belongs to another device;
    /// [`LaunchError::CooperativeStep`] for a [cooperative](Grid::cooperative) grid.
    pub fn launch<'a, K: Kernel>(
        &mut self,
        kernel: &LoadedKernel<K>,
        grid: Grid,
        args: impl Passed<K::DeviceArgs<'a>>,
    ) -> Result<&mut GraphBuilder, LaunchError> {
        self.same(&kernel.backend, "the loaded kernel")?;
        let built = &kernel.built;
        grid.check(built)?;
        if grid.cooperative {
            return Err(LaunchError::CooperativeStep { kernel: built.name().to_owned() });
        }
        let (mut args, mut packer) = (args.passed(), DevicePacker::default());
        K::pack_device(&mut args, &mut packer);
        let kernarg = kernarg_of(built, &packer.args, &[])?;
        for (memory, written) in &packer.used {
            self.uses(memory, *written)?;
        }
        let (loaded, kernel) = (Handle::clone(&kernel.handle), Box::new(built.clone()));
        self.steps.push(Step::Launch { loaded, kernel, grid, kernarg });
        Ok(self)
    }

    /// Adds a copy from one range of the device's memory to another.
    ///
    /// # Errors
    /// [`LaunchError::Length`] if the lengths differ, [`LaunchError::OtherDevice`].
    pub fn copy<T: Stored>(
        &mut self,
        from: &DeviceSlice<T>,
        to: &mut DeviceSlice<T>,
    ) -> Result<&mut GraphBuilder, LaunchError> {
        to.check_len(from.len())?;
        self.uses(&from.memory, false)?;
        self.uses(&to.memory, true)?;
        self.steps.push(Step::Copy { from: from.address(), to: to.address(), bytes: from.bytes() });
        Ok(self)
    }

    /// Adds a step that sets all bytes to one value.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`].
    pub fn fill_bytes<T: Stored>(
        &mut self,
        slice: &mut DeviceSlice<T>,
        byte: u8,
    ) -> Result<&mut GraphBuilder, LaunchError> {
        self.uses(&slice.memory, true)?;
        self.steps.push(Step::Fill { address: slice.address(), byte, bytes: slice.bytes() });
        Ok(self)
    }

    /// Builds the graph of all steps.
    ///
    /// # Errors
    /// Any error that the device reports.
    pub fn build(self) -> Result<Graph, LaunchError> {
        let GraphBuilder { backend, steps, used } = self;
        Ok(Graph { handle: backend.graph(steps)?, backend, used })
    }
}

/// Prepared work, which [`Stream::replay`](crate::Stream::replay) starts.
pub struct Graph {
    // This field is declared first, so that it is dropped before the memory that it uses.
    pub(super) handle: Handle,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) used: Vec<(Arc<Allocation>, bool)>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").finish_non_exhaustive()
    }
}
