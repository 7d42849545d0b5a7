//! Code objects of other compilers, and launches of their kernels.
#![allow(unsafe_code, reason = "nothing checks what the code of others accesses")]

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use gcn_emit::metadata::{KernelArg, ValueKind};
use gcn_emit::object::{CodeObject, read_code_object};

use super::backend::{Backend, Handle};
use super::{Device, DeviceBuffer, DevicePtr, DeviceSlice, Grid, LaunchError, LaunchStats};
use crate::scalar::Scalar;

/// A code object of any compiler, loaded on a device, from [`Device::load_object`].
pub struct LoadedObject {
    backend: Arc<dyn Backend>,
    object: Vec<u8>,
    /// The explicit arguments of each kernel.
    kernels: Vec<(String, Vec<KernelArg>)>,
}

impl fmt::Debug for LoadedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kernels()).finish()
    }
}

/// A kernel of a code object, with the types of its arguments, from [`LoadedObject::kernel`].
pub struct ObjectKernel<A> {
    backend: Arc<dyn Backend>,
    handle: Handle,
    name: String,
    args: Vec<KernelArg>,
    types: PhantomData<fn(A)>,
}

impl<A> fmt::Debug for ObjectKernel<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObjectKernel").field(&self.name).finish()
    }
}

/// Types that can be passed to a kernel of a code object: numbers for arguments that are passed by value;
/// [`DevicePtr`], [`DeviceSlice`] and [`DeviceBuffer`] for pointers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not passed to a kernel of a code object",
    label = "neither a number nor memory of the device",
    note = "a number is passed by value; for a pointer, a `DevicePtr<T>`, or `&x` or `&mut x` of a `DeviceBuffer<T>` or `DeviceSlice<T>`"
)]
pub trait ObjectArg {
    /// True if the argument is a pointer.
    #[doc(hidden)]
    const IS_POINTER: bool;
    /// Size of the argument in the kernarg segment, in bytes.
    #[doc(hidden)]
    const BYTES: u32;
    /// Appends the bytes of the argument to `out`.
    #[doc(hidden)]
    fn put(self, out: &mut Vec<u8>);
}

impl<T: Scalar> ObjectArg for T {
    const IS_POINTER: bool = false;
    const BYTES: u32 = T::ELEM.bytes();
    fn put(self, out: &mut Vec<u8>) {
        self.write_bytes(out);
    }
}

impl<T> ObjectArg for DevicePtr<T> {
    const IS_POINTER: bool = true;
    const BYTES: u32 = 8;
    fn put(self, out: &mut Vec<u8>) {
        out.extend(self.address().to_le_bytes());
    }
}

macro_rules! memory {
    ($($of:ident)*) => {$(
        impl<T> ObjectArg for &$of<T> {
            const IS_POINTER: bool = true;
            const BYTES: u32 = 8;
            fn put(self, out: &mut Vec<u8>) {
                self.as_ptr().put(out);
            }
        }
        impl<T> ObjectArg for &mut $of<T> {
            const IS_POINTER: bool = true;
            const BYTES: u32 = 8;
            fn put(self, out: &mut Vec<u8>) {
                self.as_ptr().put(out);
            }
        }
    )*};
}
memory!(DeviceSlice DeviceBuffer);

/// Tuples of [`ObjectArg`]s.
pub trait ObjectArgs {
    /// For each argument: true if it is a pointer, and its size in bytes.
    #[doc(hidden)]
    const TYPES: &'static [(bool, u32)];
    /// The bytes of each argument.
    #[doc(hidden)]
    fn bytes(self) -> Vec<Vec<u8>>;
}

macro_rules! tuples {
    ($($arg:ident $member:tt)*) => { tuples!(@ [] $($arg $member)*); };
    (@ [$($arg:ident $member:tt)*]) => { tuples!(= $($arg $member)*); };
    (@ [$($arg:ident $member:tt)*] $next:ident $at:tt $($more:tt)*) => {
        tuples!(= $($arg $member)*);
        tuples!(@ [$($arg $member)* $next $at] $($more)*);
    };
    (= $($arg:ident $member:tt)*) => {
        impl<$($arg: ObjectArg),*> ObjectArgs for ($($arg,)*) {
            const TYPES: &'static [(bool, u32)] = &[$(($arg::IS_POINTER, $arg::BYTES)),*];
            fn bytes(self) -> Vec<Vec<u8>> {
                vec![$({
                    let mut bytes = Vec::new();
                    self.$member.put(&mut bytes);
                    bytes
                }),*]
            }
        }
    };
}
tuples! {
    A0 0 A1 1 A2 2 A3 3 A4 4 A5 5 A6 6 A7 7 A8 8 A9 9 A10 10 A11 11 A12 12 A13 13 A14 14 A15 15
    A16 16 A17 17 A18 18 A19 19 A20 20 A21 21 A22 22 A23 23
}

impl Device {
    /// Loads a code object of any compiler, in the format of `hipModuleLoadData`: for example from `clang
    /// --offload-arch`, `hipcc --genco`, or [`BuiltKernel::code_object`](crate::BuiltKernel::code_object). It stays
    /// loaded as long as the device exists.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// # gcn_kernel! {
    /// #     #[workgroup(64)]
    /// #     fn scale(a: f32, x: *mut f32) {
    /// #         let p = x.add(global_id().x);
    /// #         unsafe { *p = a * *p };
    /// #     }
    /// # }
    /// # let bytes = scale.build(Target::GFX942)?.code_object().to_vec();
    /// // `bytes` has `__global__ void scale(float a, float *x)`, for gfx942.
    /// let device = Device::simulator(Target::GFX942);
    /// // SAFETY: `scale` accesses one element of `x` for each work-item.
    /// let object = unsafe { device.load_object(&bytes)? };
    /// let scaling = object.kernel::<(f32, DevicePtr<f32>)>("scale")?;
    /// let mut x = device.upload(&[1.0f32; 128])?;
    /// scaling.launch(Grid::x(2), [64, 1, 1], (3.0, x.as_mut_ptr()))?;
    /// assert_eq!(x.to_vec()?, [3.0; 128]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LaunchError::Object`] if the bytes are not a linked code object; [`LaunchError::WrongTarget`] if it is for
    /// another target.
    ///
    /// # Safety
    /// If a kernel is launched with arguments of the types that were given to [`LoadedObject::kernel`], it must access
    /// only memory that these arguments refer to. A simulator rejects other accesses; a GPU can reach host memory, too.
    pub unsafe fn load_object(&self, object: &[u8]) -> Result<LoadedObject, LaunchError> {
        let code = read_code_object(object).map_err(LaunchError::object)?;
        let CodeObject { target_id, is_relocatable, kernels, .. } = &code;
        if *is_relocatable {
            return Err(LaunchError::object(
                "it is not linked yet: link it with `gcn asm` or `ld.lld -shared`",
            ));
        }
        let device = self.backend().target();
        let fits = target_id.target.runs_on(device);
        if let (false, Some(kernel)) = (fits, kernels.first()) {
            let kernel = kernel.name.to_owned();
            return Err(LaunchError::WrongTarget { kernel, built: target_id.target, device });
        }
        let explicit = |args: &[KernelArg]| -> Vec<KernelArg> {
            args.iter().filter(|a| !a.value_kind.is_hidden()).cloned().collect()
        };
        let kernels = kernels
            .iter()
            .map(|k| (k.name.to_owned(), k.metadata.as_ref().map_or_else(Vec::new, |m| explicit(&m.args))));
        Ok(LoadedObject {
            backend: Arc::clone(self.backend()),
            kernels: kernels.collect(),
            object: object.to_vec(),
        })
    }
}

impl LoadedObject {
    /// The names of the kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|(name, _)| &**name)
    }

    /// The kernel of this name, with arguments of the types `A`. The types are compared with the kernel's metadata.
    ///
    /// # Errors
    /// [`LaunchError::NotInModule`], [`LaunchError::ArgumentCount`], [`LaunchError::ArgumentKind`], or any error that the device reports.
    pub fn kernel<A: ObjectArgs>(&self, name: &str) -> Result<ObjectKernel<A>, LaunchError> {
        let Some((_, args)) = self.kernels.iter().find(|(own, _)| own == name) else {
            let available = self.kernels().collect::<Vec<_>>().join(", ");
            return Err(LaunchError::NotInModule { kernel: name.to_owned(), available });
        };
        let kernel = || name.to_owned();
        if args.len() != A::TYPES.len() {
            let (expected, found) = (args.len(), A::TYPES.len());
            return Err(LaunchError::ArgumentCount { kernel: kernel(), what: "arguments", expected, found });
        }
        for (k, (arg, (is_pointer, bytes))) in args.iter().zip(A::TYPES).enumerate() {
            let pointer = arg.value_kind == ValueKind::GlobalBuffer || arg.address_space.is_some();
            let other = match *is_pointer {
                true => !pointer && arg.value_kind != ValueKind::ByValue,
                false => pointer,
            };
            if arg.size != *bytes || other {
                let argument = match &arg.name {
                    Some(name) => format!("`{name}`"),
                    None => format!("{} of {}", k + 1, args.len()),
                };
                let expected = match pointer {
                    true => "a pointer".to_owned(),
                    false => format!("a value, {} bytes long", arg.size),
                };
                let given = match *is_pointer {
                    true => "a pointer".to_owned(),
                    false => format!("a value, {bytes} bytes long"),
                };
                return Err(LaunchError::ObjectArgument { kernel: kernel(), argument, expected, given });
            }
        }
        let handle = self.backend.load_object(&self.object, name)?;
        let backend = Arc::clone(&self.backend);
        Ok(ObjectKernel { backend, handle, name: kernel(), args: args.clone(), types: PhantomData })
    }
}

impl<A: ObjectArgs> ObjectKernel<A> {
    /// Runs the kernel with workgroups of `workgroup` work-items after all work that was started before, and waits for
    /// it.
    ///
    /// # Errors
    /// [`LaunchError::EmptyGrid`] for a size of 0; any error that the device reports.
    pub fn launch(&self, grid: Grid, workgroup: [u32; 3], args: A) -> Result<LaunchStats, LaunchError> {
        let [x, y, z] = grid.workgroups;
        if grid.workgroups.contains(&0) || workgroup.contains(&0) {
            return Err(LaunchError::EmptyGrid { kernel: self.name.clone(), x, y, z });
        }
        let end = |arg: &KernelArg| arg.offset.saturating_add(arg.size) as usize;
        let mut kernarg = vec![0; self.args.iter().map(end).max().unwrap_or(0)];
        for (arg, bytes) in self.args.iter().zip(args.bytes()) {
            kernarg[arg.offset as usize..end(arg)].copy_from_slice(&bytes);
        }
        self.backend.launch_object(&self.handle, &self.name, (grid, workgroup), &kernarg)
    }
}
