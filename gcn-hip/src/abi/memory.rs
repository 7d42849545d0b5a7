//! Allocates and frees memory.

use super::{Code, Out, Plain, call, with};
use crate::error::{Error, Result};
use crate::heap::Kind;
use crate::host::{self, Ptr};
use crate::state::{DEVICE, Locked, PINNED, current_device, lock, submit_task};
use crate::work::Task;

pub(super) type Place = Out<Option<Ptr>>;

fn allocate(place: Place, kind: Kind, bytes: usize, flags: u32) -> Code {
    with(|s| {
        place.check()?;
        place.set(None)?;
        s.check_uncaptured()?;
        let at = s.allocate(kind, bytes, flags)?;
        place.set(at)
    })
}

pub(crate) extern "C" fn malloc(place: Place, bytes: usize) -> Code {
    allocate(place, Kind::Device, bytes, 0)
}

/// `hipExtMallocWithFlags`: fine-grained memory and signal memory are treated as ordinary memory.
pub(crate) extern "C" fn ext_malloc_with_flags(place: Place, bytes: usize, flags: u32) -> Code {
    // Signal memory (`hipMallocSignalMemory`) is a single 8-byte word.
    if !matches!(flags, 0..=4) || flags == SIGNAL && bytes != 8 {
        return call(|| Err(Error::InvalidValue));
    }
    allocate(place, Kind::Device, bytes, flags)
}

/// `hipMallocSignalMemory`.
const SIGNAL: u32 = 2;

/// The flags of `hipMallocManaged`.
const ATTACH_GLOBAL: u32 = 1;
const ATTACH_HOST: u32 = 2;

pub(crate) extern "C" fn malloc_managed(place: Place, bytes: usize, flags: u32) -> Code {
    if !matches!(flags, ATTACH_GLOBAL | ATTACH_HOST) || bytes == 0 {
        return call(|| Err(Error::InvalidValue));
    }
    allocate(place, Kind::Managed, bytes, flags)
}

/// Flags of `hipHostMalloc`: portable, mapped, write-combined, NUMA, coherent and non-coherent.
const HOST_FLAGS: u32 = 0x1 | 0x2 | 0x4 | 0x2000_0000 | COHERENCE;
/// The flags for coherent and for non-coherent memory, which exclude each other.
const COHERENCE: u32 = 0xc000_0000;

pub(crate) extern "C" fn host_malloc(place: Place, bytes: usize, flags: u32) -> Code {
    if flags & !HOST_FLAGS != 0 || flags & COHERENCE == COHERENCE {
        return call(|| Err(Error::InvalidValue));
    }
    allocate(place, Kind::Pinned, bytes, flags)
}

pub(crate) extern "C" fn malloc_host(place: Place, bytes: usize) -> Code {
    allocate(place, Kind::Pinned, bytes, 0)
}

pub(crate) extern "C" fn malloc_pitch(place: Place, pitch: Out<usize>, width: usize, height: usize) -> Code {
    with(|s| {
        place.check()?;
        pitch.check()?;
        s.check_uncaptured()?;
        let (at, found) = s.allocate_rows(width, height)?;
        pitch.set(found)?;
        place.set(at)
    })
}

pub(crate) extern "C" fn mem_alloc_pitch(
    place: Place,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    element: u32,
) -> Code {
    if !matches!(element, 4 | 8 | 16) || width == 0 || height == 0 {
        return call(|| Err(Error::InvalidValue));
    }
    malloc_pitch(place, pitch, width, height)
}

/// `hipExtent`, which C passes by value in memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

pub(crate) extern "C" fn malloc_3d(place: Out<u8>, extent: Extent) -> Code {
    with(|s| {
        let structure = place.place()?;
        let rows = extent.height.checked_mul(extent.depth).ok_or(Error::InvalidValue)?;
        let (at, pitch) = s.allocate_rows(extent.width, rows)?;
        let fields = [at.map_or(0, Ptr::address) as usize, pitch, extent.width, extent.height];
        fields.iter().enumerate().for_each(|(n, field)| host::put(structure.plus(8 * n), &field.to_bytes()));
        Ok(())
    })
}

pub(crate) extern "C" fn free(at: Ptr) -> Code {
    call(|| {
        let mut s = idle_for(at)?;
        let freed = s.free(at, DEVICE);
        freed.and_then(|()| s.wait(current_device()))
    })
}

pub(crate) extern "C" fn host_free(at: Ptr) -> Code {
    call(|| idle_for(at)?.free(at, PINNED))
}

/// Waits until the device that has the memory at `at` is idle, because its work may use that memory, and returns the locked runtime.
fn idle_for(at: Ptr) -> Result<Locked> {
    let mut s = lock();
    s.model(current_device())?;
    s.check_uncaptured()?;
    let device = s.heap.find(at).map_or(current_device(), |found| found.device);
    let works = s.pending_on(device);
    Ok(s.drained(works))
}

pub(crate) extern "C" fn free_async(at: Ptr, stream: u64) -> Code {
    call(|| {
        let s = lock();
        s.check_stream(stream).map_err(|_| Error::InvalidHandle)?;
        // Pending work of the stream may still use the memory, so the memory is freed after that work.
        let held = !s.before(stream)?.is_empty() && s.capture_of(stream)?.is_none();
        let later = held && s.heap.allocation(at.address()).is_some();
        drop(s);
        match at {
            Ptr::NULL => Err(Error::InvalidValue),
            at if later => submit_task(stream, Task::Release(at)),
            at => lock().free(at, DEVICE),
        }
    })
}

/// Flags of `hipHostRegister`: portable, mapped, memory of a device, read-only, uncached.
const REGISTER_FLAGS: u32 = 0x1 | 0x2 | 0x4 | 0x8 | 0x8000_0000;

pub(crate) extern "C" fn host_register(at: Ptr, bytes: usize, flags: u32) -> Code {
    with(|s| {
        let device = current_device();
        s.model(device)?;
        if flags & !REGISTER_FLAGS != 0 {
            return Err(Error::InvalidValue);
        }
        s.heap.register(at, bytes, device, flags)
    })
}

pub(crate) extern "C" fn host_unregister(at: Ptr) -> Code {
    call(|| {
        let s = lock();
        let works = s.heap.find(at).map(|found| s.pending_on(found.device)).unwrap_or_default();
        let mut s = s.drained(works);
        let otherwise = if at.is_null() { Error::InvalidValue } else { Error::HostMemoryNotRegistered };
        s.heap.free(at, &[Kind::Registered], otherwise)
    })
}

pub(crate) extern "C" fn host_get_device_pointer(place: Place, at: Ptr, flags: u32) -> Code {
    with(|s| {
        place.check()?;
        let found = s.heap.find(at).filter(|a| a.kind.is_host() || a.kind == Kind::Managed);
        if flags != 0 || found.is_none() {
            return Err(Error::InvalidValue);
        }
        place.set(Some(at))
    })
}

pub(crate) extern "C" fn host_get_flags(flags: Out<u32>, at: Ptr) -> Code {
    with(|s| {
        let found = s.heap.find(at).filter(|a| a.kind.is_host()).ok_or(Error::InvalidValue)?;
        flags.set(found.flags)
    })
}

pub(crate) extern "C" fn stream_attach_mem_async(stream: u64, at: Ptr, bytes: usize, flags: u32) -> Code {
    /// `hipMemAttachSingle`.
    const ATTACH_SINGLE: u32 = 4;
    with(|s| {
        s.check_stream(stream)?;
        let found = s.heap.own(at, bytes)?;
        // The range must be the whole allocation.
        let whole = bytes == 0 || at == found.base && bytes == found.bytes;
        // Memory cannot be attached to the null stream with `hipMemAttachSingle`.
        let one = matches!(flags, ATTACH_GLOBAL | ATTACH_HOST) || flags == ATTACH_SINGLE && stream != 0;
        if found.kind == Kind::Managed && whole && one { Ok(()) } else { Err(Error::InvalidValue) }
    })
}
