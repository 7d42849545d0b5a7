//! Launching: one typed call for the simulator and for a GPU.

mod debug;
mod kernarg;
mod kernel;
mod simulator;
mod timed;

#[cfg(feature = "hip")]
mod gpu;
#[cfg(feature = "hip")]
pub mod hip;

use std::fmt;

use gcn_isa::Target;

pub use crate::lang::DevicePtr;
pub use debug::Printed;
pub use kernarg::kernarg_bytes;
pub use kernel::Kernel;

use crate::kernel::{BuildError, BuiltKernel};
use crate::lang::{PackedArg, Packer};
use crate::scalar::{Elem, Number};

/// How many workgroups run, in each dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Workgroups in x, y and z.
    pub workgroups: [u32; 3],
    /// Bytes of LDS beyond the kernel's own, for [`LdsSlice::dynamic`](crate::lang::LdsSlice::dynamic).
    pub dynamic_lds: u32,
}

impl Grid {
    /// A grid of one dimension.
    pub const fn x(x: u32) -> Grid {
        Grid::xyz(x, 1, 1)
    }

    /// A grid of two dimensions.
    pub const fn xy(x: u32, y: u32) -> Grid {
        Grid::xyz(x, y, 1)
    }

    /// A grid of three dimensions.
    pub const fn xyz(x: u32, y: u32, z: u32) -> Grid {
        Grid { workgroups: [x, y, z], dynamic_lds: 0 }
    }

    /// The grid with so many bytes of LDS for each workgroup beyond the kernel's own arrays.
    #[must_use]
    pub const fn with_dynamic_lds(self, bytes: u32) -> Grid {
        Grid { dynamic_lds: bytes, ..self }
    }
}

/// What a launch did. A GPU does not count instructions; there they are 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LaunchStats {
    /// Workgroups run.
    pub workgroups: u64,
    /// Instructions executed, counted once for each wave.
    pub wave_instructions: u64,
    /// What `dbg!` showed, by workgroup, wave and time. The simulator has printed it to standard error as well.
    pub printed: Vec<Printed>,
}

/// Why a launch did not happen or did not end well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The kernel does not build for the device's target.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A dimension of the grid is zero.
    #[error(
        "kernel `{kernel}`: a grid of {x} x {y} x {z} workgroups is empty; every dimension must be at least 1"
    )]
    EmptyGrid {
        /// Kernel.
        kernel: String,
        /// Workgroups in x.
        x: u32,
        /// Workgroups in y.
        y: u32,
        /// Workgroups in z.
        z: u32,
    },
    /// More work-items than a dispatch packet can say.
    #[error(
        "kernel `{kernel}`: {workgroups} workgroups of {size} work-items in dimension {dimension} exceed 2^32 - 1 \
         work-items; split the launch"
    )]
    GridTooLarge {
        /// Kernel.
        kernel: String,
        /// Workgroups in the dimension.
        workgroups: u32,
        /// Work-items of a workgroup in the dimension.
        size: u32,
        /// 0 for x, 1 for y, 2 for z.
        dimension: usize,
    },
    /// The kernel's LDS arrays and the launch's do not fit together.
    #[error(
        "kernel `{kernel}`: {own} bytes of its own LDS arrays and {dynamic} bytes that the launch adds exceed the {limit} \
         bytes of a workgroup; ask for less with `Grid::with_dynamic_lds`"
    )]
    Lds {
        /// Kernel.
        kernel: String,
        /// Bytes of the kernel's arrays.
        own: u32,
        /// Bytes that the launch adds.
        dynamic: u32,
        /// Bytes there are.
        limit: u32,
    },
    /// A slice does not fit a buffer resource.
    #[error(
        "kernel `{kernel}`, argument `{argument}`: {bytes} bytes do not fit a buffer resource (at most 2^32 - 1); pass a \
         raw pointer or split the data"
    )]
    SliceTooLong {
        /// Kernel.
        kernel: String,
        /// Argument.
        argument: &'static str,
        /// Bytes.
        bytes: u64,
    },
    /// The code is another kernel's than the one that is launched.
    #[error(
        "kernel `{kernel}` cannot be launched with the code of `{built}`: build it, `{kernel}.build(target)`"
    )]
    OtherKernel {
        /// The kernel.
        kernel: String,
        /// The one that was built.
        built: String,
    },
    /// A slice that the kernel takes to end with a whole dword does not.
    #[error(
        "kernel `{kernel}`, argument `{argument}`: {len} elements of `{elem}` do not end with a whole dword, as matrix loads and \
         stores and `assume_whole_dwords` ask for; make the length a multiple of {multiple}"
    )]
    PartialDword {
        /// Kernel.
        kernel: String,
        /// Argument.
        argument: &'static str,
        /// Elements of the slice.
        len: usize,
        /// Their type.
        elem: Elem,
        /// Elements of a dword.
        multiple: u32,
    },
    /// What a `&mut [T]` argument reaches, another argument reaches as well.
    #[error(
        "kernel `{kernel}`: the memory of `{mutable}`, a `&mut` slice, overlaps that of `{other}`; pass raw pointers if that \
         is meant"
    )]
    Overlap {
        /// Kernel.
        kernel: String,
        /// The `&mut` slice.
        mutable: &'static str,
        /// The other slice.
        other: &'static str,
    },
    /// Wrong number of arguments or addresses for the signature.
    #[error("kernel `{kernel}` takes {expected} {what}, {found} given; see its signature")]
    ArgumentCount {
        /// Kernel.
        kernel: String,
        /// `arguments` or `slice addresses`.
        what: &'static str,
        /// How many the signature has.
        expected: usize,
        /// How many came.
        found: usize,
    },
    /// An argument is of another kind or width than the signature says.
    #[error("kernel `{kernel}`, argument `{argument}`: expected {expected}")]
    ArgumentKind {
        /// Kernel.
        kernel: String,
        /// Argument.
        argument: &'static str,
        /// What the signature says.
        expected: String,
    },
    /// The compiled kernel is for another target than the device.
    #[error(
        "kernel `{kernel}` was built for {built}, the device is a {device}; build it for `device.target()`"
    )]
    WrongTarget {
        /// Kernel.
        kernel: String,
        /// Target of the code object.
        built: Target,
        /// Target of the device.
        device: Target,
    },
    /// Device memory: an address or a range that is not allocated.
    #[error("device memory: {0}")]
    Memory(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The simulator stopped the run.
    #[error("kernel `{kernel}`: {error}")]
    Simulation {
        /// Kernel.
        kernel: String,
        /// Why.
        #[source]
        error: Box<gcn_sim::SimError>,
    },
    /// The simulated kernel met `trap()`, or a `debug_assert!` that does not hold.
    #[error("kernel `{kernel}`: {location}: {message} (workgroup {workgroup:?}, wave {wave}: trap)")]
    Trap {
        /// Kernel.
        kernel: String,
        /// The user's source position.
        location: String,
        /// What was asserted.
        message: String,
        /// Workgroup in the grid.
        workgroup: [u32; 3],
        /// Wave in the workgroup.
        wave: u32,
    },
    /// HIP refused.
    #[cfg(feature = "hip")]
    #[error(transparent)]
    Hip(#[from] hip::HipError),
}

/// What a device can do; one implementation for the simulator, one for HIP.
trait Backend: Send + Sync {
    fn alloc(&self, bytes: usize) -> Result<u64, LaunchError>;
    fn free(&self, address: u64) -> Result<(), LaunchError>;
    fn write(&self, address: u64, data: &[u8]) -> Result<(), LaunchError>;
    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, LaunchError>;
    fn run(&self, kernel: &BuiltKernel, grid: Grid, kernarg: &[u8]) -> Result<LaunchStats, LaunchError>;
}

/// Something that runs kernels: the simulator, or a GPU through HIP. Threads may share it.
pub struct Device {
    target: Target,
    backend: Box<dyn Backend>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Device {
    /// The simulator of `target`, in strict mode: a read that comes before its wait is an error.
    pub fn simulator(target: Target) -> Device {
        Device::simulator_with(target, gcn_sim::Options { parallel: true, ..gcn_sim::Options::strict() })
    }

    /// The simulator of `target` without hazard checks: faster, and blind to missing waits.
    pub fn fast_simulator(target: Target) -> Device {
        Device::simulator_with(target, gcn_sim::Options { parallel: true, ..gcn_sim::Options::default() })
    }

    /// The simulator of `target` with options of your own: faithful mode, in which a read that comes too early gets what the
    /// register held before, or sanitizers that look for data races, uninitialised memory and registers and more. What they
    /// find names the line of the kernel.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// use gcn_dsl::sim::{Options, Sanitize};
    /// gcn_kernel! {
    ///     #[workgroup(128)]
    ///     fn neighbours(x: &mut [u32]) {
    ///         let block = Lds::<u32, 128>::new();
    ///         let i = local_id().x;
    ///         block[i] = x[i];
    ///         x[i] = block[127 - i]; // the barrier is missing
    ///     }
    /// }
    /// let options = Options { sanitize: Sanitize::RACES, ..Options::strict() };
    /// let device = Device::simulator_with(Target::GFX942, options);
    /// let error = neighbours.launch(&device, Grid::x(1), (&mut [0; 128],)).unwrap_err();
    /// let report = error.to_string();
    /// assert!(report.contains("race"), "{report}");
    /// ```
    pub fn simulator_with(target: Target, options: gcn_sim::Options) -> Device {
        Device { target, backend: Box::new(simulator::Simulator::new(options)) }
    }

    /// The GPU with this ordinal, through `libamdhip64.so`, which is loaded now.
    ///
    /// # Errors
    /// [`LaunchError::Hip`] if the library or the device is not there, or the device is none of the supported targets.
    #[cfg(feature = "hip")]
    pub fn hip(ordinal: u32) -> Result<Device, LaunchError> {
        let gpu = gpu::Gpu::open(ordinal)?;
        Ok(Device { target: gpu.target(), backend: Box::new(gpu) })
    }

    /// The device's target.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Allocates `len` elements; their contents are undefined.
    ///
    /// # Errors
    /// [`LaunchError`] if there is no memory for them.
    pub fn alloc<T: Number>(&self, len: usize) -> Result<DevicePtr<T>, LaunchError> {
        self.backend.alloc(bytes_of::<T>(len)?).map(DevicePtr::from_address)
    }

    /// Frees what [`Device::alloc`] gave.
    ///
    /// # Errors
    /// [`LaunchError`] if it did not.
    pub fn free<T>(&self, pointer: DevicePtr<T>) -> Result<(), LaunchError> {
        self.backend.free(pointer.address())
    }

    /// Copies elements to the device.
    ///
    /// # Errors
    /// [`LaunchError`] if the range is not allocated.
    pub fn write<T: Number>(&self, pointer: DevicePtr<T>, data: &[T]) -> Result<(), LaunchError> {
        let mut bytes = Vec::new();
        data.iter().for_each(|x| x.write_bytes(&mut bytes));
        self.backend.write(pointer.address(), &bytes)
    }

    /// Copies `len` elements from the device.
    ///
    /// # Errors
    /// [`LaunchError`] if the range is not allocated.
    pub fn read<T: Number>(&self, pointer: DevicePtr<T>, len: usize) -> Result<Vec<T>, LaunchError> {
        let size = T::ELEM.bytes() as usize;
        let bytes = self.backend.read(pointer.address(), bytes_of::<T>(len)?)?;
        Ok(bytes.chunks_exact(size).map(T::read_bytes).collect())
    }

    /// Runs a kernel that was built before and waits for it: slices are copied to the device, `&mut` slices copied back.
    ///
    /// # Errors
    /// A [`LaunchError`]. Host slices are changed only by a run that succeeded.
    pub fn launch<K: Kernel>(
        &self,
        kernel: &K,
        built: &BuiltKernel,
        grid: Grid,
        mut args: K::Args<'_>,
    ) -> Result<LaunchStats, LaunchError> {
        let signature = kernel.signature();
        if (&signature.name, &signature.args) != (&built.signature().name, &built.signature().args) {
            return Err(LaunchError::OtherKernel { kernel: signature.name, built: built.name().to_owned() });
        }
        self.check(built, grid)?;
        let mut packer = Packer::default();
        K::pack(&mut args, &mut packer);
        refuse_partial_dwords(built, &packer.args)?;
        let mut buffers = Buffers { device: self, addresses: Vec::new() };
        for arg in &packer.args {
            if let PackedArg::Slice { bytes, .. } = arg {
                buffers.upload(bytes)?;
            }
        }
        let kernarg = kernarg_bytes(built.signature(), &packer.args, &buffers.addresses)?;
        let stats = self.backend.run(built, grid, &kernarg)?;
        buffers.download(packer)?;
        Ok(stats)
    }

    fn check(&self, built: &BuiltKernel, grid: Grid) -> Result<(), LaunchError> {
        let kernel = || built.name().to_owned();
        if built.target() != self.target {
            return Err(LaunchError::WrongTarget {
                kernel: kernel(),
                built: built.target(),
                device: self.target,
            });
        }
        let [x, y, z] = grid.workgroups;
        if x == 0 || y == 0 || z == 0 {
            return Err(LaunchError::EmptyGrid { kernel: kernel(), x, y, z });
        }
        let (own, dynamic, limit) = (built.lds_start(), grid.dynamic_lds, self.target.lds_per_cu());
        if dynamic > 0 && own.checked_add(dynamic).is_none_or(|all| all > limit) {
            return Err(LaunchError::Lds { kernel: kernel(), own, dynamic, limit });
        }
        for (dimension, (&workgroups, &size)) in
            grid.workgroups.iter().zip(&built.signature().workgroup).enumerate()
        {
            if workgroups.checked_mul(size).is_none() {
                return Err(LaunchError::GridTooLarge { kernel: kernel(), workgroups, size, dimension });
            }
        }
        Ok(())
    }
}

/// Checks the lengths of slices that the kernel takes to end with a whole dword.
fn refuse_partial_dwords(built: &BuiltKernel, args: &[PackedArg<'_>]) -> Result<(), LaunchError> {
    let whole = built.ir.whole_dword_arguments();
    for (declared, arg) in built.signature().args.iter().zip(args) {
        if let PackedArg::Slice { bytes, len, .. } = arg
            && !bytes.len().is_multiple_of(4)
            && whole.contains(&declared.offset)
        {
            return Err(LaunchError::PartialDword {
                kernel: built.name().to_owned(),
                argument: declared.name,
                len: *len,
                elem: declared.elem,
                multiple: 4 / declared.elem.bytes(),
            });
        }
    }
    Ok(())
}

/// Bytes of this number of elements.
fn bytes_of<T: Number>(len: usize) -> Result<usize, LaunchError> {
    let size = T::ELEM.bytes() as usize;
    let too_many = || format!("{len} elements of {size} bytes are more than there are addresses");
    len.checked_mul(size).ok_or_else(|| LaunchError::Memory(too_many().into()))
}

/// Device copies of slice arguments, freed at the end whatever happens.
struct Buffers<'d> {
    device: &'d Device,
    addresses: Vec<u64>,
}

impl Buffers<'_> {
    fn upload(&mut self, bytes: &[u8]) -> Result<(), LaunchError> {
        // An empty slice still needs an address.
        let address = self.device.backend.alloc(bytes.len().max(4))?;
        self.addresses.push(address);
        self.device.backend.write(address, bytes)
    }

    fn download(&self, packer: Packer<'_>) -> Result<(), LaunchError> {
        let mut addresses = self.addresses.iter();
        for arg in packer.args {
            if let PackedArg::Slice { bytes, write_back, .. } = arg
                && let Some(address) = addresses.next()
                && let Some(write_back) = write_back
            {
                write_back(&self.device.backend.read(*address, bytes.len())?);
            }
        }
        Ok(())
    }
}

impl Drop for Buffers<'_> {
    fn drop(&mut self) {
        for address in &self.addresses {
            // Freeing what this value allocated fails only if the device is gone, and then there is nothing to free.
            let _ = self.device.backend.free(*address);
        }
    }
}
