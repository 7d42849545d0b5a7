//! Typed memory of a device.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Deref, DerefMut, RangeBounds};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::backend::Backend;
use super::queue::Queue;
use super::{DevicePtr, LaunchError};
use crate::lang::{Stored, taken};

/// A range of device memory, and the streams that may still use it. The memory is freed when the last reference to this
/// value is dropped.
pub(super) struct Allocation {
    pub backend: Arc<dyn Backend>,
    pub address: u64,
    uses: Mutex<Uses>,
}

/// The streams that have used the memory since the host last waited for them.
#[derive(Default)]
struct Uses {
    writer: Option<Arc<Queue>>,
    readers: Vec<Arc<Queue>>,
}

impl Allocation {
    /// Allocates at least `bytes` bytes.
    pub fn new(backend: &Arc<dyn Backend>, bytes: usize) -> Result<Allocation, LaunchError> {
        // An empty slice must also have an address of its own.
        let address = backend.alloc(bytes.max(4))?;
        Ok(Allocation { backend: Arc::clone(backend), address, uses: Mutex::default() })
    }

    /// Device memory that has already been allocated at `address`.
    #[cfg(feature = "hip")]
    fn of(backend: &Arc<dyn Backend>, address: u64) -> Allocation {
        Allocation { backend: Arc::clone(backend), address, uses: Mutex::default() }
    }

    /// Locks the list of uses. A poisoned lock is accepted: a panic cannot leave the lists in an invalid state.
    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the next work of `queue` wait for conflicting work of other streams. If the memory is `written`, all uses
    /// of it conflict; otherwise only writes do.
    pub fn used_by(&self, queue: &Arc<Queue>, written: bool) -> Result<(), LaunchError> {
        let mut uses = self.uses();
        // A stream that is already registered as a reader waits for the last writer already.
        if !written && uses.readers.iter().any(|reader| Arc::ptr_eq(reader, queue)) {
            return Ok(());
        }
        let other = |q: &&Arc<Queue>| !Arc::ptr_eq(q, queue);
        for earlier in uses.writer.iter().filter(other) {
            queue.wait_for_all_of(earlier)?;
        }
        if written {
            for earlier in uses.readers.iter().filter(other) {
                queue.wait_for_all_of(earlier)?;
            }
            *uses = Uses { writer: Some(Arc::clone(queue)), readers: Vec::new() };
        } else {
            uses.readers.push(Arc::clone(queue));
        }
        Ok(())
    }

    /// Waits for the streams that write the memory and, if `for_readers` is true (because the host is about to write
    /// it), for those that read it.
    fn wait(&self, for_readers: bool) -> Result<(), LaunchError> {
        let mut uses = self.uses();
        uses.writer.as_ref().map_or(Ok(()), |writer| writer.synchronize())?;
        uses.writer = None;
        if for_readers {
            uses.readers.iter().try_for_each(|reader| reader.synchronize())?;
            uses.readers.clear();
        }
        Ok(())
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // An error cannot be reported here. The owner of a failed stream gets the same error, and the memory of a lost
        // device is lost with it.
        let _ = self.wait(true);
        let _ = self.backend.free(self.address);
    }
}

/// A range of elements in device memory, for a kernel's `&[T]` and `&mut [T]` arguments: all of a [`DeviceBuffer`] or a
/// part of one.
pub struct DeviceSlice<T> {
    pub(super) memory: Arc<Allocation>,
    /// Byte offset of the range in the allocation.
    start: usize,
    len: usize,
    bytes: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for DeviceSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceSlice { memory, start, len, .. } = self;
        f.debug_struct("DeviceSlice")
            .field("address", &format_args!("{:#x}", memory.address))
            .field("start", start)
            .field("len", len)
            .finish()
    }
}

/// The size in bytes of `len` elements.
pub(super) fn bytes_of<T: Stored>(len: usize) -> Result<usize, LaunchError> {
    let too_many = || {
        LaunchError::Memory(format!("{len} elements of {} bytes exceed the address space", T::BYTES).into())
    };
    len.checked_mul(T::BYTES as usize).ok_or_else(too_many)
}

/// Converts elements to their bytes in memory.
pub(super) fn to_bytes<T: Stored>(data: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(data.len() * T::BYTES as usize);
    data.iter().for_each(|x| x.append(&mut bytes));
    bytes
}

/// Converts bytes in memory to elements.
///
/// # Errors
/// [`LaunchError::UnknownVariant`] if an element is an enum and its number in memory is not that of a variant.
pub(super) fn from_bytes<T: Stored>(bytes: &[u8]) -> Result<Vec<T>, LaunchError> {
    let mut all = Vec::with_capacity(bytes.len() / (T::BYTES as usize).max(1));
    taken(bytes, |x| all.push(x))?;
    Ok(all)
}

impl<T> DeviceSlice<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn address(&self) -> u64 {
        self.memory.address + self.start as u64
    }

    /// The address of the first element, for kernels that take raw pointers. The work of such kernels on this memory is
    /// not ordered with that of other streams, and the pointer does not keep the memory allocated.
    pub fn as_ptr(&self) -> DevicePtr<T> {
        DevicePtr::from_address(self.address())
    }

    /// The same address, for a kernel that takes `*mut T`: on the host, both kinds of pointers have the type
    /// [`DevicePtr`].
    pub fn as_mut_ptr(&mut self) -> DevicePtr<T> {
        self.as_ptr()
    }
}

impl<T: Stored> DeviceSlice<T> {
    /// Copies the elements to the host, after all work on them that was started before.
    ///
    /// # Errors
    /// The [`LaunchError`] of a stream that wrote the elements, if its work failed.
    pub fn to_vec(&self) -> Result<Vec<T>, LaunchError> {
        self.memory.wait(false)?;
        let bytes = self.memory.backend.read(self.address(), self.bytes())?;
        from_bytes(&bytes)
    }

    /// Copies elements from the host, after all work on these elements that was started before.
    ///
    /// # Errors
    /// [`LaunchError::Length`] if `data` has another length, or the error of a stream that used the elements, if its
    /// work failed.
    pub fn copy_from_slice(&mut self, data: &[T]) -> Result<(), LaunchError> {
        self.check_len(data.len())?;
        self.memory.wait(true)?;
        self.memory.backend.write(self.address(), &to_bytes(data))
    }

    /// Rejects a copy from or to a different number of elements.
    pub(super) fn check_len(&self, from: usize) -> Result<(), LaunchError> {
        if from == self.len { Ok(()) } else { Err(LaunchError::Length { from, to: self.len }) }
    }

    /// A view of the elements in `range`, like `&x[range]` of a slice. If it is a kernel argument, it must begin at a
    /// multiple of 4 bytes.
    ///
    /// # Errors
    /// [`LaunchError::Range`] if the range is not within this slice.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceView<'_, T>, LaunchError> {
        Ok(DeviceView { slice: self.part(&range)?, parent: PhantomData })
    }

    /// A writable view of the elements in `range`, like `&mut x[range]` of a slice.
    ///
    /// # Errors
    /// [`LaunchError::Range`] if the range is not within this slice.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceViewMut<'_, T>, LaunchError> {
        Ok(DeviceViewMut { slice: self.part(&range)?, parent: PhantomData })
    }

    /// Writable views of the first `mid` elements and of the rest.
    ///
    /// # Errors
    /// [`LaunchError::Range`] if there are fewer than `mid` elements.
    pub fn split_at_mut(
        &mut self,
        mid: usize,
    ) -> Result<(DeviceViewMut<'_, T>, DeviceViewMut<'_, T>), LaunchError> {
        let view = |slice| DeviceViewMut { slice, parent: PhantomData };
        Ok((view(self.part(&(..mid))?), view(self.part(&(mid..))?)))
    }

    fn part(&self, range: &impl RangeBounds<usize>) -> Result<DeviceSlice<T>, LaunchError> {
        let start = match range.start_bound() {
            Bound::Included(n) => *n,
            Bound::Excluded(n) => n.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(n) => n.saturating_add(1),
            Bound::Excluded(n) => *n,
            Bound::Unbounded => self.len,
        };
        if start > end || end > self.len {
            return Err(LaunchError::Range { start, end, len: self.len });
        }
        let (memory, size) = (Arc::clone(&self.memory), T::BYTES as usize);
        let (start, len) = (self.start + start * size, end - start);
        Ok(DeviceSlice { memory, start, len, bytes: len * size, element: PhantomData })
    }
}

/// An allocation of elements in device memory, which is freed when the buffer is dropped. Kernels that are launched on
/// a [`Stream`](crate::Stream) of the device take `&buffer` for `&[T]` and `&mut buffer` for `&mut [T]`, so that data
/// can stay on the device from one kernel to the next. `T` is a number, an array of numbers, or a `#[device] #[repr(C)]
/// struct`.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     #[workgroup(256)]
///     fn square(x: &[f32], y: &mut [f32]) {
///         let i = global_id().x;
///         if i < y.len() {
///             y[i] = x[i] * x[i];
///         }
///     }
/// }
/// let device = Device::simulator(Target::GFX942);
/// let stream = device.stream()?;
/// let mut x = device.upload(&[1.0f32, 2.0, 3.0])?;
/// let mut y = device.zeroed::<f32>(3)?;
/// square.launch(&stream, Grid::x(1), (&x, &mut y))?;
/// square.launch(&stream, Grid::x(1), (&y, &mut x))?;
/// assert_eq!(x.to_vec()?, [1.0, 16.0, 81.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// If a stream still uses a buffer, dropping the buffer waits for that stream, and so do reads and writes from the
/// host. Work of one stream on a buffer runs after earlier work of other streams on the same buffer, unless both only
/// read it.
pub struct DeviceBuffer<T> {
    all: DeviceSlice<T>,
}

impl<T: Stored> DeviceBuffer<T> {
    /// Allocates room for `len` elements.
    pub(super) fn new(backend: &Arc<dyn Backend>, len: usize) -> Result<DeviceBuffer<T>, LaunchError> {
        let bytes = bytes_of::<T>(len)?;
        let memory = Arc::new(Allocation::new(backend, bytes)?);
        Ok(DeviceBuffer { all: DeviceSlice { memory, start: 0, len, bytes, element: PhantomData } })
    }

    /// A buffer over memory that was allocated elsewhere and that the backend has already registered.
    #[cfg(feature = "hip")]
    pub(super) fn adopted(
        backend: &Arc<dyn Backend>,
        address: u64,
        len: usize,
        bytes: usize,
    ) -> DeviceBuffer<T> {
        let memory = Arc::new(Allocation::of(backend, address));
        DeviceBuffer { all: DeviceSlice { memory, start: 0, len, bytes, element: PhantomData } }
    }
}

impl<T> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)
    }
}

impl<T> Deref for DeviceBuffer<T> {
    type Target = DeviceSlice<T>;
    fn deref(&self) -> &DeviceSlice<T> {
        &self.all
    }
}

impl<T> DerefMut for DeviceBuffer<T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.all
    }
}

/// A part of a buffer, from [`DeviceSlice::slice`].
#[derive(Debug)]
pub struct DeviceView<'a, T> {
    slice: DeviceSlice<T>,
    parent: PhantomData<&'a T>,
}

impl<T> Deref for DeviceView<'_, T> {
    type Target = DeviceSlice<T>;
    fn deref(&self) -> &DeviceSlice<T> {
        &self.slice
    }
}

/// A writable part of a buffer, from [`DeviceSlice::slice_mut`].
#[derive(Debug)]
pub struct DeviceViewMut<'a, T> {
    slice: DeviceSlice<T>,
    parent: PhantomData<&'a mut T>,
}

impl<T> Deref for DeviceViewMut<'_, T> {
    type Target = DeviceSlice<T>;
    fn deref(&self) -> &DeviceSlice<T> {
        &self.slice
    }
}

impl<T> DerefMut for DeviceViewMut<'_, T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.slice
    }
}

impl<T> AsRef<DeviceSlice<T>> for DeviceSlice<T> {
    fn as_ref(&self) -> &DeviceSlice<T> {
        self
    }
}

impl<T> AsMut<DeviceSlice<T>> for DeviceSlice<T> {
    fn as_mut(&mut self) -> &mut DeviceSlice<T> {
        self
    }
}

impl<T> AsRef<DeviceSlice<T>> for DeviceBuffer<T> {
    fn as_ref(&self) -> &DeviceSlice<T> {
        self
    }
}

impl<T> AsMut<DeviceSlice<T>> for DeviceBuffer<T> {
    fn as_mut(&mut self) -> &mut DeviceSlice<T> {
        self
    }
}

impl<T> AsRef<DeviceSlice<T>> for DeviceView<'_, T> {
    fn as_ref(&self) -> &DeviceSlice<T> {
        self
    }
}

impl<T> AsRef<DeviceSlice<T>> for DeviceViewMut<'_, T> {
    fn as_ref(&self) -> &DeviceSlice<T> {
        self
    }
}

impl<T> AsMut<DeviceSlice<T>> for DeviceViewMut<'_, T> {
    fn as_mut(&mut self) -> &mut DeviceSlice<T> {
        self
    }
}
