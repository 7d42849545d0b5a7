//! Graphs of HIP.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::api::{Api, FillNode, KernelNode};
use super::{Context, HipBuffer, HipError, HipFunction, HipStream, Sizes};

/// `hipMemcpyDeviceToDevice`.
const ON_DEVICE: i32 = 3;

/// A graph under construction, whose nodes run one after the other.
pub(in super::super) struct HipGraphBuilder {
    context: Context,
    /// The handle from `hipGraphCreate`, owned by this value.
    graph: *mut c_void,
    last: Option<*mut c_void>,
    functions: Vec<Arc<HipFunction>>,
}

/// A graph that is ready to be launched. It keeps its kernels loaded.
pub(in super::super) struct HipGraph {
    context: Context,
    /// The handle from `hipGraphInstantiate`, owned by this value.
    instance: *mut c_void,
    functions: Vec<Arc<HipFunction>>,
    started: AtomicBool,
}

// SAFETY: the handle is never dereferenced here; HIP's functions may be called from any thread.
unsafe impl Send for HipGraph {}
// SAFETY: as above; an instance is never changed.
unsafe impl Sync for HipGraph {}

impl HipGraphBuilder {
    pub(super) fn new(context: Context) -> Result<HipGraphBuilder, HipError> {
        let mut graph = ptr::null_mut();
        {
            let api = context.current()?;
            let create = Api::newer(&api.functions.hipGraphCreate)?;
            // SAFETY: `graph` may be written.
            api.check("hipGraphCreate", unsafe { create(&raw mut graph, 0) })?;
        }
        Ok(HipGraphBuilder { context, graph, last: None, functions: Vec::new() })
    }

    /// Adds a node with `add`, which receives the address for the node's handle, the graph, and the nodes that precede
    /// it.
    fn add(
        &mut self,
        name: &'static str,
        add: impl FnOnce(*mut *mut c_void, *mut c_void, *const *mut c_void, usize) -> i32,
    ) -> Result<(), HipError> {
        let mut node = ptr::null_mut();
        let after = self.last.as_slice();
        let code = add(&raw mut node, self.graph, after.as_ptr(), after.len());
        self.context.api.check(name, code)?;
        self.last = Some(node);
        Ok(())
    }

    /// Adds a kernel launch.
    ///
    /// # Safety
    /// For every launch of the graph, the caller guarantees what [`HipDevice::launch`](super::HipDevice::launch) requires.
    pub(super) unsafe fn launch(
        &mut self,
        function: &Arc<HipFunction>,
        sizes: Sizes,
        kernarg: &[u8],
    ) -> Result<(), HipError> {
        let mut arguments = function.places(kernarg)?;
        let node = KernelNode {
            workgroup: sizes.workgroup,
            extra: ptr::null_mut(),
            function: function.handle(),
            grid: sizes.groups,
            arguments: arguments.as_mut_ptr(),
            dynamic_lds: sizes.dynamic_lds,
        };
        let add = Api::newer(&self.context.api.functions.hipGraphAddKernelNode)?;
        // SAFETY: all addresses are valid, and HIP copies the arguments before it returns; the caller guarantees that
        // the arguments are valid.
        self.add("hipGraphAddKernelNode", |place, graph, after, count| unsafe {
            add(place, graph, after, count, &raw const node)
        })?;
        self.functions.push(Arc::clone(function));
        Ok(())
    }

    /// Adds a copy between two ranges of buffers.
    pub fn copy(
        &mut self,
        (from, from_at): (&HipBuffer, usize),
        (to, to_at): (&HipBuffer, usize),
        bytes: usize,
    ) -> Result<(), HipError> {
        let (from, to) = (from.range(from_at, bytes)?, to.range(to_at, bytes)?);
        let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
        let add = Api::newer(&self.context.api.functions.hipGraphAddMemcpyNode1D)?;
        // SAFETY: both ranges are within their buffers, which live as long as the graph.
        self.add("hipGraphAddMemcpyNode1D", |place, graph, after, count| unsafe {
            add(place, graph, after, count, to, from, bytes, ON_DEVICE)
        })
    }

    /// Adds a step that sets bytes of a buffer to one value.
    pub fn fill(&mut self, buffer: &HipBuffer, at: usize, byte: u8, bytes: usize) -> Result<(), HipError> {
        let Some(to) = buffer.range(at, bytes)? else { return Ok(()) };
        let node =
            FillNode { to, element_bytes: 1, height: 1, pitch: bytes, value: byte.into(), width: bytes };
        let add = Api::newer(&self.context.api.functions.hipGraphAddMemsetNode)?;
        // SAFETY: the range is within the buffer, which lives as long as the graph.
        self.add("hipGraphAddMemsetNode", |place, graph, after, count| unsafe {
            add(place, graph, after, count, &raw const node)
        })
    }

    /// Instantiates the graph.
    pub fn build(mut self) -> Result<HipGraph, HipError> {
        let (context, functions) = (self.context.clone(), std::mem::take(&mut self.functions));
        let mut instance = ptr::null_mut();
        {
            let api = context.current()?;
            let instantiate = Api::newer(&api.functions.hipGraphInstantiate)?;
            let none = ptr::null_mut();
            // SAFETY: `instance` may be written; the graph was created and not destroyed; no log is requested.
            let code = unsafe { instantiate(&raw mut instance, self.graph, none, ptr::null_mut(), 0) };
            api.check("hipGraphInstantiate", code)?;
        }
        Ok(HipGraph { context, instance, functions, started: AtomicBool::new(false) })
    }
}

impl Drop for HipGraphBuilder {
    fn drop(&mut self) {
        if let Ok(destroy) = Api::newer(&self.context.api.functions.hipGraphDestroy) {
            // SAFETY: the handle is from hipGraphCreate and this value is its only owner. Instances do not need it.
            unsafe { destroy(self.graph) };
        }
    }
}

impl HipGraph {
    /// Starts the graph's work on a stream of its device.
    pub fn launch(&self, stream: &HipStream) -> Result<(), HipError> {
        if !stream.context().is(&self.context) {
            return Err(HipError::OtherDevice { kernel: "the graph".to_owned() });
        }
        let launch = Api::newer(&self.context.api.functions.hipGraphLaunch)?;
        self.started.store(true, Ordering::Release);
        self.functions.iter().for_each(|function| function.started());
        // SAFETY: the instance and the stream were created and not destroyed.
        let code = unsafe { launch(self.instance, stream.handle()) };
        self.context.api.check("hipGraphLaunch", code)
    }
}

impl Drop for HipGraph {
    fn drop(&mut self) {
        let Ok(api) = self.context.current() else { return };
        if *self.started.get_mut() && api.synchronize().is_err() {
            // If the device no longer responds, it may still be executing the graph, so the instance is leaked.
            return;
        }
        if let Ok(destroy) = Api::newer(&api.functions.hipGraphExecDestroy) {
            // SAFETY: the handle is from hipGraphInstantiate and this value is its only owner.
            unsafe { destroy(self.instance) };
        }
    }
}
