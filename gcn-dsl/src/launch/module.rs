//! Code objects of several kernels, and loaded kernels.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use gcn_emit::object::{ObjectError, write_code_object};
use gcn_emit::text::Comments;

use super::backend::{Backend, Handle};
use super::{Kernel, LaunchError};
use crate::kernel::{AnyKernel, BuiltKernel, Form};

/// Several kernels in one code object, which is loaded once.
///
/// ```
/// use gcn_dsl::Module;
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     #[workgroup(64)]
///     fn fill(n: u32, x: &mut [u32]) { x[global_id().x] = n; }
///     #[workgroup(64)]
///     fn add(n: u32, x: &mut [u32]) { let i = global_id().x; x[i] += n; }
/// }
/// let device = Device::simulator(Target::GFX942);
/// let (filling, adding) = (fill.build(device.target())?, add.build(device.target())?);
/// let module = Module::new(&[&filling, &adding])?;
/// std::fs::write(std::env::temp_dir().join("fill_and_add.hsaco"), module.code_object())?;
///
/// let loaded = device.load_module(&module)?;
/// let (filling, adding) = (loaded.kernel(&filling)?, loaded.kernel(&adding)?);
/// let stream = device.stream()?;
/// let mut x = device.zeroed(64)?;
/// stream.launch(&filling, Grid::x(1), (40, &mut x))?;
/// stream.launch(&adding, Grid::x(1), (2, &mut x))?;
/// assert_eq!(x.to_vec()?, [42; 64]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Module {
    kernels: Vec<BuiltKernel>,
    object: Vec<u8>,
}

impl Module {
    /// Writes the code object of these kernels.
    ///
    /// # Errors
    /// An [`ObjectError`] if there are no kernels, they are for different targets or XNACK settings, or two have the
    /// same name.
    pub fn new(kernels: &[&BuiltKernel]) -> Result<Module, ObjectError> {
        let kernels: Vec<BuiltKernel> = kernels.iter().copied().cloned().collect();
        let specs: Vec<_> = kernels.iter().map(|k| k.spec().clone()).collect();
        Ok(Module { object: write_code_object(&specs)?, kernels })
    }

    /// The kernels.
    pub fn kernels(&self) -> &[BuiltKernel] {
        &self.kernels
    }

    /// The code object for `hipModuleLoad` or `hipModuleLoadData`, which contains each kernel under its name.
    pub fn code_object(&self) -> &[u8] {
        &self.object
    }

    /// The module as an assembly file.
    pub fn assembly(&self, comments: Comments) -> String {
        let specs: Vec<_> = self.kernels.iter().map(|k| k.spec().clone()).collect();
        gcn_emit::asm_file::assembly_file(&specs, comments)
    }
}

/// A module that is loaded on a device, from [`Device::load_module`](crate::Device::load_module).
pub struct LoadedModule {
    backend: Arc<dyn Backend>,
    kernels: Vec<(BuiltKernel, Handle)>,
}

impl fmt::Debug for LoadedModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kernels.iter().map(|(k, _)| k.name())).finish()
    }
}

impl LoadedModule {
    pub(super) fn new(backend: &Arc<dyn Backend>, module: &Module) -> Result<LoadedModule, LaunchError> {
        let load = |kernel: &BuiltKernel| Ok((kernel.clone(), backend.load(&module.object, kernel)?));
        let kernels = module.kernels.iter().map(load).collect::<Result<_, LaunchError>>()?;
        Ok(LoadedModule { backend: Arc::clone(backend), kernels })
    }

    /// The loaded kernel that corresponds to `kernel`, ready to be launched.
    ///
    /// # Errors
    /// [`LaunchError::NotInModule`] if the module has no kernel of this name with the same code.
    pub fn kernel<K: Kernel>(&self, kernel: &BuiltKernel<K>) -> Result<LoadedKernel<K>, LaunchError> {
        let same = |(own, _): &&(BuiltKernel, Handle)| {
            own.name() == kernel.name() && own.code() == kernel.code() && own.spec() == kernel.spec()
        };
        let Some((built, handle)) = self.kernels.iter().find(same) else {
            let available = self.kernels.iter().map(|(k, _)| k.name()).collect::<Vec<_>>().join(", ");
            return Err(LaunchError::NotInModule { kernel: kernel.name().to_owned(), available });
        };
        Ok(LoadedKernel::new(&self.backend, built, Handle::clone(handle)))
    }
}

/// A kernel that is loaded on a device, ready to be launched on the device's streams, from
/// [`Device::load`](crate::Device::load) or [`LoadedModule::kernel`].
pub struct LoadedKernel<K> {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) built: BuiltKernel,
    pub(super) handle: Handle,
    kernel: PhantomData<fn() -> K>,
}

impl<K> Clone for LoadedKernel<K> {
    fn clone(&self) -> Self {
        LoadedKernel::new(&self.backend, &self.built, Handle::clone(&self.handle))
    }
}

impl<K> fmt::Debug for LoadedKernel<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoadedKernel").field(&self.built.name()).finish()
    }
}

impl<K> LoadedKernel<K> {
    pub(super) fn new(backend: &Arc<dyn Backend>, built: &BuiltKernel, handle: Handle) -> LoadedKernel<K> {
        LoadedKernel { backend: Arc::clone(backend), built: built.clone(), handle, kernel: PhantomData }
    }

    /// The number of workgroups of the kernel that fit on a compute unit (on RDNA a workgroup processor) at a time, if
    /// each has `dynamic_lds` bytes of LDS in addition to the kernel's own. This number times
    /// [`Properties::compute_units`](crate::Properties::compute_units) is the maximum for a
    /// [cooperative](crate::Grid::cooperative) launch.
    ///
    /// # Errors
    /// Any error that the device reports.
    pub fn workgroups_per_cu(&self, dynamic_lds: u32) -> Result<u32, LaunchError> {
        self.backend.occupancy(&self.handle, &self.built, dynamic_lds)
    }
}

impl<K: Kernel> Form for K {
    type Inner = BuiltKernel;
}

impl<K: Kernel> BuiltKernel<K> {
    pub(crate) fn of(built: BuiltKernel) -> BuiltKernel<K> {
        BuiltKernel { inner: built }
    }

    /// The built kernel without the kernel's type.
    pub fn into_any(self) -> BuiltKernel {
        self.inner
    }
}

/// Type parameters of a [`BuiltKernel`] that may be launched as kernel `K`: `K` itself, and [`AnyKernel`], for which
/// the kernel is compared at the launch.
#[diagnostic::on_unimplemented(
    message = "code of the kernel `{Self}` cannot be launched as `{K}`",
    label = "this is the code of `{Self}`",
    note = "build the kernel that is launched, with its own `build(target)`"
)]
pub trait CodeOf<K: Kernel>: Form {
    /// The built kernel without the kernel's type.
    #[doc(hidden)]
    fn any(built: &BuiltKernel<Self>) -> &BuiltKernel
    where
        Self: Sized;
}

impl<K: Kernel> CodeOf<K> for K {
    fn any(built: &BuiltKernel<K>) -> &BuiltKernel {
        built
    }
}

impl<K: Kernel> CodeOf<K> for AnyKernel {
    fn any(built: &BuiltKernel) -> &BuiltKernel {
        built
    }
}
