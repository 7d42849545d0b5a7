//! Streams and events of a device.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::backend::{Arriving, Backend, Handle};
use super::buffer::{DeviceSlice, from_bytes, to_bytes};
use super::kernarg::kernarg_of;
use super::queue::Queue;
use super::{
    DevicePacker, Graph, Grid, Kernel, LaunchError, LaunchStats, LoadedKernel, Passed, PinnedBuffer,
};
use crate::kernel::BuiltKernel;
use crate::lang::Stored;

/// A queue of work for a device. Launches and copies return at once, and run after earlier work of the same stream;
/// work of different streams may run at the same time. Data are in [`DeviceBuffer`](crate::DeviceBuffer)s; if several
/// streams use a buffer, conflicting uses run in the order in which they were started.
///
/// The simulator executes work when it is started, so the launch itself returns errors of the kernel. On a GPU a later
/// call may return them, [`Stream::synchronize`] at the latest.
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
/// let [one, two] = [device.stream()?, device.stream()?];
/// let mut x = device.zeroed(64)?;
/// one.launch(&adding, Grid::x(1), (1, &mut x))?;
/// two.launch(&adding, Grid::x(1), (2, &mut x))?; // after the first: both write `x`
/// let sums = two.download(&x)?;
/// assert_eq!(sums.wait()?, [3; 64]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    queue: Arc<Queue>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Stream {
    pub(super) fn new(backend: &Arc<dyn Backend>) -> Result<Stream, LaunchError> {
        Ok(Stream::of(backend, backend.stream()?))
    }

    pub(super) fn of(backend: &Arc<dyn Backend>, handle: Handle) -> Stream {
        Stream { queue: Arc::new(Queue { backend: Arc::clone(backend), handle }) }
    }

    #[cfg(feature = "hip")]
    pub(super) fn handle(&self) -> &Handle {
        &self.queue.handle
    }

    pub(super) fn backend(&self) -> &Arc<dyn Backend> {
        &self.queue.backend
    }

    /// Rejects an object of another device.
    fn same(&self, other: &Arc<dyn Backend>, what: &'static str) -> Result<(), LaunchError> {
        if Arc::ptr_eq(&self.queue.backend, other) { Ok(()) } else { Err(LaunchError::OtherDevice { what }) }
    }

    /// Makes the stream's next work wait for conflicting work of other streams on the slice.
    fn uses<T>(&self, slice: &DeviceSlice<T>, written: bool) -> Result<(), LaunchError> {
        self.same(&slice.memory.backend, "the buffer")?;
        slice.memory.used_by(&self.queue, written)
    }

    /// Starts a kernel. Pass `&buffer` for `&[T]` and `&mut buffer` for `&mut [T]`. On a GPU this is one HIP call,
    /// unless other streams use the buffers.
    ///
    /// # Errors
    /// A [`LaunchError`] if the grid or an argument is invalid, an argument belongs to another device, or the device
    /// reports an error.
    pub fn launch<'a, K: Kernel>(
        &self,
        kernel: &LoadedKernel<K>,
        grid: Grid,
        args: impl Passed<K::DeviceArgs<'a>>,
    ) -> Result<LaunchStats, LaunchError> {
        let mut args = args.passed();
        self.same(&kernel.backend, "the loaded kernel")?;
        let mut packer = DevicePacker::default();
        K::pack_device(&mut args, &mut packer);
        self.launch_packed(&kernel.built, &kernel.handle, grid, &packer)
    }

    /// The part of [`Stream::launch`] that is not generic, so that a user's crate does not compile it again for each
    /// kernel.
    fn launch_packed(
        &self,
        built: &BuiltKernel,
        handle: &Handle,
        grid: Grid,
        packer: &DevicePacker<'_>,
    ) -> Result<LaunchStats, LaunchError> {
        grid.check(built)?;
        let kernarg = kernarg_of(built, &packer.args, &[])?;
        for (memory, written) in &packer.used {
            self.same(&memory.backend, "the buffer")?;
            memory.used_by(&self.queue, *written)?;
        }
        self.queue.backend.launch(Some(&self.queue.handle), handle, built, grid, &kernarg)
    }

    /// Copies elements to the device. `data` is read before this returns.
    ///
    /// # Errors
    /// [`LaunchError::Length`], [`LaunchError::OtherDevice`], or any error that the device reports.
    pub fn upload<T: Stored>(&self, data: &[T], to: &mut DeviceSlice<T>) -> Result<(), LaunchError> {
        to.check_len(data.len())?;
        self.uses(to, true)?;
        self.queue.backend.write_on(&self.queue.handle, to.address(), &to_bytes(data))
    }

    /// Starts a copy of elements to the host. [`Download::wait`] returns the elements. Work that is started on the
    /// elements later does not affect the result.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`], or any error that the device reports.
    pub fn download<T: Stored>(&self, from: &DeviceSlice<T>) -> Result<Download<T>, LaunchError> {
        self.uses(from, false)?;
        let arriving = self.queue.backend.read_on(&self.queue.handle, from.address(), from.bytes())?;
        Ok(Download { arriving, element: PhantomData })
    }

    /// Copies elements from one range of the device's memory to another.
    ///
    /// # Errors
    /// [`LaunchError::Length`], [`LaunchError::OtherDevice`], or any error that the device reports.
    pub fn copy<T: Stored>(&self, from: &DeviceSlice<T>, to: &mut DeviceSlice<T>) -> Result<(), LaunchError> {
        to.check_len(from.len())?;
        self.uses(from, false)?;
        self.uses(to, true)?;
        self.queue.backend.copy_on(&self.queue.handle, from.address(), to.address(), from.bytes())
    }

    /// Copies elements from another device of the same kind to this one. If the two devices are directly connected, the
    /// data do not go through the host.
    ///
    /// # Errors
    /// [`LaunchError::Length`], [`LaunchError::OtherDevice`] if `to` is not on this stream's device or the devices are
    /// of different kinds, or any error that the devices report.
    pub fn copy_peer<T: Stored>(
        &self,
        from: &DeviceSlice<T>,
        to: &mut DeviceSlice<T>,
    ) -> Result<(), LaunchError> {
        to.check_len(from.len())?;
        from.memory.used_by(&self.queue, false)?;
        self.uses(to, true)?;
        let source = (&*from.memory.backend, from.address());
        self.queue.backend.copy_peer_on(&self.queue.handle, source, to.address(), from.bytes())
    }

    /// Sets all bytes to zero.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`], or any error that the device reports.
    pub fn zero<T: Stored>(&self, slice: &mut DeviceSlice<T>) -> Result<(), LaunchError> {
        self.fill_bytes(slice, 0)
    }

    /// Sets all bytes to one value.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`], or any error that the device reports.
    pub fn fill_bytes<T: Stored>(&self, slice: &mut DeviceSlice<T>, byte: u8) -> Result<(), LaunchError> {
        self.uses(slice, true)?;
        self.queue.backend.fill_on(&self.queue.handle, slice.address(), byte, slice.bytes())
    }

    /// Makes the stream's next copy wait for the last copy from or to the page-locked memory.
    fn uses_pinned<T>(&self, memory: &PinnedBuffer<T>) -> Result<(), LaunchError> {
        self.same(&memory.backend, "the page-locked memory")?;
        let last = memory.last.as_ref();
        last.map_or(Ok(()), |last| self.queue.backend.wait(&self.queue.handle, last))
    }

    /// Copies elements of page-locked memory to the device.
    ///
    /// # Errors
    /// [`LaunchError::Length`], [`LaunchError::OtherDevice`], or any error that the device reports.
    pub fn upload_pinned<T: Stored>(
        &self,
        from: &mut PinnedBuffer<T>,
        to: &mut DeviceSlice<T>,
    ) -> Result<(), LaunchError> {
        to.check_len(from.len())?;
        self.uses_pinned(from)?;
        self.uses(to, true)?;
        self.queue.backend.write_pinned_on(&self.queue.handle, to.address(), &from.memory)?;
        from.last = Some(self.queue.backend.record(&self.queue.handle)?);
        Ok(())
    }

    /// Copies elements of the device to page-locked memory, whose `to_vec` waits for the copy.
    ///
    /// # Errors
    /// [`LaunchError::Length`], [`LaunchError::OtherDevice`], or any error that the device reports.
    pub fn download_pinned<T: Stored>(
        &self,
        from: &DeviceSlice<T>,
        to: &mut PinnedBuffer<T>,
    ) -> Result<(), LaunchError> {
        if from.len() != to.len() {
            return Err(LaunchError::Length { from: from.len(), to: to.len() });
        }
        self.uses_pinned(to)?;
        self.uses(from, false)?;
        self.queue.backend.read_pinned_on(&self.queue.handle, from.address(), &to.memory)?;
        to.last = Some(self.queue.backend.record(&self.queue.handle)?);
        Ok(())
    }

    /// Starts the steps of a graph. On a GPU this is one HIP call, unless other streams use the memory.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`], or any error that the device reports.
    pub fn replay(&self, graph: &Graph) -> Result<(), LaunchError> {
        self.same(&graph.backend, "the graph")?;
        for (memory, written) in &graph.used {
            memory.used_by(&self.queue, *written)?;
        }
        self.queue.backend.replay(&self.queue.handle, &graph.handle)
    }

    /// Records an event, which happens when all work that was started on the stream so far has completed.
    ///
    /// # Errors
    /// Any error that the device reports.
    pub fn record(&self) -> Result<Event, LaunchError> {
        let backend = Arc::clone(&self.queue.backend);
        let handle = backend.record(&self.queue.handle)?;
        Ok(Event { backend, handle })
    }

    /// Makes all work that is started on this stream from now on wait for the event. The host does not wait.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`], or any error that the device reports.
    pub fn wait(&self, event: &Event) -> Result<(), LaunchError> {
        self.same(&event.backend, "the event")?;
        self.queue.backend.wait(&self.queue.handle, &event.handle)
    }

    /// Waits until all work that was started on the stream has completed.
    ///
    /// # Errors
    /// Any error that the device reports, including faults of kernels.
    pub fn synchronize(&self) -> Result<(), LaunchError> {
        self.queue.synchronize()
    }
}

/// A point in the work of a stream, from [`Stream::record`].
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
/// // A clock of 2100 MHz, as the MI300X has at most.
/// let device = Device::timed_simulator(Target::GFX942, 2100);
/// let stream = device.stream()?;
/// let mut x = device.zeroed(64)?;
/// let start = stream.record()?;
/// add.launch(&stream, Grid::x(1), (1, &mut x))?;
/// let end = stream.record()?;
/// assert!(!end.elapsed_since(&start)?.is_zero());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Event {
    backend: Arc<dyn Backend>,
    handle: Handle,
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").finish_non_exhaustive()
    }
}

impl Event {
    /// True if the event has happened: all work before it has completed.
    ///
    /// # Errors
    /// Any error that the device reports.
    pub fn is_done(&self) -> Result<bool, LaunchError> {
        self.backend.is_done(&self.handle)
    }

    /// Waits until the event has happened.
    ///
    /// # Errors
    /// Any error that the device reports.
    pub fn synchronize(&self) -> Result<(), LaunchError> {
        self.backend.wait_for(&self.handle)
    }

    /// The time from the event `since` to this one. Waits for both.
    ///
    /// On a GPU the device measures the time. On [`Device::timed_simulator`](crate::Device::timed_simulator) the time
    /// is the number of cycles that the model of the compute unit counts for the kernels between the two events, at the
    /// given clock: copies take no time, and kernels of different streams do not slow each other down.
    ///
    /// # Errors
    /// [`LaunchError::NoClock`] on simulators without a clock, [`LaunchError::EventOrder`],
    /// [`LaunchError::OtherDevice`], or any error that the device reports.
    pub fn elapsed_since(&self, since: &Event) -> Result<Duration, LaunchError> {
        if !Arc::ptr_eq(&self.backend, &since.backend) {
            return Err(LaunchError::OtherDevice { what: "the event" });
        }
        self.backend.elapsed(&since.handle, &self.handle)
    }
}

/// A copy to the host that has been started, from [`Stream::download`]. Dropping it without waiting discards the
/// elements.
#[must_use = "the elements come from `wait`"]
pub struct Download<T> {
    arriving: Box<dyn Arriving>,
    element: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Download<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download").finish_non_exhaustive()
    }
}

impl<T: Stored> Download<T> {
    /// Waits for the elements.
    ///
    /// # Errors
    /// Any error that the device reports.
    pub fn wait(self) -> Result<Vec<T>, LaunchError> {
        from_bytes(&self.arriving.wait()?)
    }
}
