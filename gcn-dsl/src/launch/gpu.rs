//! The [`Backend`] of a GPU, through HIP.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gcn_isa::Target;

use super::backend::{Arriving, Backend, Handle, Step, own};
use super::hip::{
    HipBuffer, HipDevice, HipError, HipEvent, HipFunction, HipGraph, HipModule, HipStream, HostMemory,
    Incoming,
};
use super::{Grid, LaunchError, LaunchStats, Properties};
use crate::kernel::BuiltKernel;

/// The maximum number of code objects in the cache. When it is exceeded, code objects that nothing uses are unloaded.
const MODULES: usize = 64;

/// A HIP device, its allocated buffers by address, and its loaded code objects by their bytes.
pub(super) struct Gpu {
    device: HipDevice,
    buffers: Mutex<BTreeMap<u64, HipBuffer>>,
    modules: Mutex<HashMap<Box<[u8]>, Loaded>>,
}

/// A loaded code object, and the kernels of it that have been requested.
struct Loaded {
    module: HipModule,
    functions: BTreeMap<String, Arc<HipFunction>>,
}

impl Arriving for Incoming {
    fn wait(self: Box<Self>) -> Result<Vec<u8>, LaunchError> {
        Ok(Incoming::wait(*self)?)
    }
}

impl Gpu {
    /// The backend of a HIP device that is already open.
    pub fn new(device: HipDevice) -> Gpu {
        Gpu { device, buffers: Mutex::default(), modules: Mutex::default() }
    }

    /// The HIP device.
    pub fn device(&self) -> &HipDevice {
        &self.device
    }

    /// Registers a buffer that was allocated elsewhere; it must not overlap a registered buffer.
    pub fn adopt(&self, buffer: HipBuffer) -> Result<(), LaunchError> {
        let mut buffers = self.buffers();
        let (start, end) = (buffer.address(), buffer.address().saturating_add(buffer.len() as u64));
        let before = buffers.range(..end).next_back();
        if before.is_some_and(|(at, other)| at + other.len().max(1) as u64 > start) {
            let what = format!("{start:#x} is in a buffer that the device has already");
            return Err(LaunchError::Memory(what.into()));
        }
        buffers.insert(start, buffer);
        Ok(())
    }

    fn buffers(&self) -> MutexGuard<'_, BTreeMap<u64, HipBuffer>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `f` with the buffer that contains `address`, and the offset of the address in the buffer.
    fn with_buffer<R>(
        &self,
        address: u64,
        f: impl FnOnce(&HipBuffer, usize) -> Result<R, HipError>,
    ) -> Result<R, LaunchError> {
        let buffers = self.buffers();
        let (buffer, at) = holder(&buffers, address)?;
        Ok(f(buffer, at)?)
    }
}

fn unknown(address: u64) -> LaunchError {
    let what = format!("{address:#x} is in no buffer of this device; allocate it with the device");
    LaunchError::Memory(what.into())
}

/// The last buffer that begins at or before `address`, and the offset of the address in the buffer. The offset may be
/// beyond the buffer's end.
fn holder(buffers: &BTreeMap<u64, HipBuffer>, address: u64) -> Result<(&HipBuffer, usize), LaunchError> {
    let (start, buffer) = buffers.range(..=address).next_back().ok_or_else(|| unknown(address))?;
    Ok((buffer, (address - start) as usize))
}

fn stream(handle: &Handle) -> Result<&HipStream, LaunchError> {
    own(handle, "the stream")
}

fn event(handle: &Handle) -> Result<&HipEvent, LaunchError> {
    own(handle, "the event")
}

fn pinned(handle: &Handle) -> Result<Arc<HostMemory>, LaunchError> {
    Arc::clone(handle).downcast().map_err(|_| LaunchError::OtherDevice { what: "the page-locked memory" })
}

impl Gpu {
    /// Returns the kernel `name` of the code object `object`, which is loaded if it is not loaded yet.
    fn function(&self, object: &[u8], name: &str) -> Result<Handle, LaunchError> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if !modules.contains_key(object) {
            if modules.len() == MODULES {
                // Modules of kernels that are in use stay loaded, because each `HipFunction` keeps its module.
                modules.clear();
            }
            let module = self.device.load_module(object)?;
            modules.insert(object.into(), Loaded { module, functions: BTreeMap::new() });
        }
        let Some(loaded) = modules.get_mut(object) else {
            unreachable!("the module was there, or was put there")
        };
        if let Some(function) = loaded.functions.get(name) {
            return Ok(Arc::clone(function) as Handle);
        }
        let function = Arc::new(loaded.module.function(name)?);
        loaded.functions.insert(name.to_owned(), Arc::clone(&function));
        Ok(function)
    }
}

impl Backend for Gpu {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn properties(&self) -> Result<Properties, LaunchError> {
        Ok(self.device.properties()?)
    }

    fn occupancy(&self, loaded: &Handle, kernel: &BuiltKernel, dynamic_lds: u32) -> Result<u32, LaunchError> {
        let function: &HipFunction = own(loaded, "the loaded kernel")?;
        Ok(function.occupancy(kernel.signature().workgroup.iter().product(), dynamic_lds)?)
    }

    fn target(&self) -> Target {
        self.device.target()
    }

    fn alloc(&self, bytes: usize) -> Result<u64, LaunchError> {
        let buffer = self.device.alloc(bytes)?;
        let address = buffer.address();
        self.buffers().insert(address, buffer);
        Ok(address)
    }

    fn free(&self, address: u64) -> Result<(), LaunchError> {
        let freed = self.buffers().remove(&address);
        freed.map(drop).ok_or_else(|| unknown(address))
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), LaunchError> {
        self.with_buffer(address, |buffer, offset| buffer.write(offset, data))
    }

    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, LaunchError> {
        self.with_buffer(address, |buffer, offset| buffer.read_vec(offset, bytes))
    }

    fn load(&self, object: &[u8], kernel: &BuiltKernel) -> Result<Handle, LaunchError> {
        self.function(object, kernel.name())
    }

    #[cfg(feature = "objects")]
    fn load_object(&self, object: &[u8], name: &str) -> Result<Handle, LaunchError> {
        self.function(object, name)
    }

    #[cfg(feature = "objects")]
    fn launch_object(
        &self,
        loaded: &Handle,
        _: &str,
        (grid, workgroup): (Grid, [u32; 3]),
        kernarg: &[u8],
    ) -> Result<LaunchStats, LaunchError> {
        let function: &HipFunction = own(loaded, "the loaded kernel")?;
        self.device.launch_object(function, grid, workgroup, kernarg)?;
        self.device.synchronize()?;
        let workgroups = grid.workgroups.iter().map(|n| u64::from(*n)).product();
        Ok(LaunchStats { workgroups, ..LaunchStats::default() })
    }

    fn launch(
        &self,
        on: Option<&Handle>,
        loaded: &Handle,
        kernel: &BuiltKernel,
        grid: Grid,
        kernarg: &[u8],
    ) -> Result<LaunchStats, LaunchError> {
        let function: &HipFunction = own(loaded, "the loaded kernel")?;
        let queue = on.map(stream).transpose()?;
        self.device.launch_built(queue, function, kernel, grid, kernarg)?;
        if on.is_none() {
            self.device.synchronize()?;
        }
        let workgroups = grid.workgroups.iter().map(|n| u64::from(*n)).product();
        Ok(LaunchStats { workgroups, ..LaunchStats::default() })
    }

    fn stream(&self) -> Result<Handle, LaunchError> {
        Ok(Arc::new(self.device.stream()?))
    }

    fn synchronize(&self, on: &Handle) -> Result<(), LaunchError> {
        Ok(stream(on)?.synchronize()?)
    }

    fn write_on(&self, on: &Handle, address: u64, data: &[u8]) -> Result<(), LaunchError> {
        let on = stream(on)?;
        self.with_buffer(address, |buffer, at| on.write(buffer, at, data))
    }

    fn read_on(&self, on: &Handle, address: u64, bytes: usize) -> Result<Box<dyn Arriving>, LaunchError> {
        let on = stream(on)?;
        Ok(Box::new(self.with_buffer(address, |buffer, at| on.read(buffer, at, bytes))?))
    }

    fn fill_on(&self, on: &Handle, address: u64, byte: u8, bytes: usize) -> Result<(), LaunchError> {
        let on = stream(on)?;
        self.with_buffer(address, |buffer, at| on.fill(buffer, at, byte, bytes))
    }

    fn copy_peer_on(
        &self,
        on: &Handle,
        (from, address): (&dyn Backend, u64),
        to: u64,
        bytes: usize,
    ) -> Result<(), LaunchError> {
        let other = LaunchError::OtherDevice { what: "the source of the copy" };
        let from: &Gpu = from.as_any().downcast_ref().ok_or(other)?;
        let on = stream(on)?;
        if std::ptr::eq(from, self) {
            let buffers = self.buffers();
            return Ok(on.copy_between(holder(&buffers, address)?, holder(&buffers, to)?, bytes)?);
        }
        // The caller borrows the owners of both buffers, so the buffers stay allocated. Only one lock is held at a
        // time, so that copies in opposite directions cannot deadlock.
        let source = from.with_buffer(address, |buffer, at| buffer.share(at, bytes))?;
        self.with_buffer(to, |buffer, at| on.copy_peer(&source, (buffer, at), bytes))
    }

    fn access_peer(&self, peer: &dyn Backend) -> Result<bool, LaunchError> {
        match peer.as_any().downcast_ref::<Gpu>() {
            Some(peer) => Ok(self.device.access_peer(&peer.device)?),
            None => Ok(false),
        }
    }

    fn pinned(&self, bytes: usize) -> Result<Handle, LaunchError> {
        Ok(Arc::new(self.device.pinned(bytes)?))
    }

    fn pinned_bytes(&self, memory: &Handle) -> Result<Vec<u8>, LaunchError> {
        Ok(pinned(memory)?.to_vec())
    }

    fn set_pinned(&self, memory: &Handle, data: &[u8]) -> Result<(), LaunchError> {
        pinned(memory)?.set(data);
        Ok(())
    }

    fn write_pinned_on(&self, on: &Handle, address: u64, memory: &Handle) -> Result<(), LaunchError> {
        let (on, memory) = (stream(on)?, pinned(memory)?);
        self.with_buffer(address, |buffer, at| on.write_from(buffer, at, &memory))
    }

    fn read_pinned_on(&self, on: &Handle, address: u64, memory: &Handle) -> Result<(), LaunchError> {
        let (on, memory) = (stream(on)?, pinned(memory)?);
        self.with_buffer(address, |buffer, at| on.read_to(buffer, at, &memory))
    }

    fn graph(&self, steps: Vec<Step>) -> Result<Handle, LaunchError> {
        let mut graph = self.device.graph()?;
        let buffers = self.buffers();
        for step in steps {
            match step {
                Step::Launch { loaded, kernel, grid, kernarg } => {
                    let function = loaded.downcast::<HipFunction>();
                    let other = |_| LaunchError::OtherDevice { what: "the loaded kernel" };
                    HipDevice::add_built(&mut graph, &function.map_err(other)?, &kernel, grid, &kernarg)?;
                }
                Step::Copy { from, to, bytes } => {
                    graph.copy(holder(&buffers, from)?, holder(&buffers, to)?, bytes)?;
                }
                Step::Fill { address, byte, bytes } => {
                    let (buffer, at) = holder(&buffers, address)?;
                    graph.fill(buffer, at, byte, bytes)?;
                }
            }
        }
        Ok(Arc::new(graph.build()?))
    }

    fn replay(&self, on: &Handle, graph: &Handle) -> Result<(), LaunchError> {
        Ok(own::<HipGraph>(graph, "the graph")?.launch(stream(on)?)?)
    }

    fn copy_on(&self, on: &Handle, from: u64, to: u64, bytes: usize) -> Result<(), LaunchError> {
        let buffers = self.buffers();
        let (from, to) = (holder(&buffers, from)?, holder(&buffers, to)?);
        Ok(stream(on)?.copy_between(from, to, bytes)?)
    }

    fn record(&self, on: &Handle) -> Result<Handle, LaunchError> {
        Ok(Arc::new(stream(on)?.record()?))
    }

    fn wait(&self, on: &Handle, after: &Handle) -> Result<(), LaunchError> {
        Ok(stream(on)?.wait(event(after)?)?)
    }

    fn is_done(&self, handle: &Handle) -> Result<bool, LaunchError> {
        Ok(event(handle)?.is_done()?)
    }

    fn wait_for(&self, handle: &Handle) -> Result<(), LaunchError> {
        Ok(event(handle)?.synchronize()?)
    }

    fn elapsed(&self, since: &Handle, until: &Handle) -> Result<Duration, LaunchError> {
        event(since)?.elapsed(event(until)?)?.ok_or(LaunchError::EventOrder)
    }
}
