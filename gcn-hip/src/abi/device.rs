//! Devices, contexts, and peers.

use super::{Code, Out, call, text, with};
use crate::error::{Error, Result};
use crate::host::{self, Ptr};
use crate::state::{State, current_device, lock, thread};

fn index(device: i32) -> usize {
    usize::try_from(device).unwrap_or(usize::MAX)
}

pub(crate) extern "C" fn get_device_count(count: Out<i32>) -> Code {
    with(|s| {
        count.check()?;
        count.set(s.models.len() as i32)?;
        if s.models.is_empty() { Err(Error::NoDevice) } else { Ok(()) }
    })
}

pub(crate) extern "C" fn get_device(device: Out<i32>) -> Code {
    with(|s| {
        s.model(0)?;
        device.set(current_device() as i32)
    })
}

pub(crate) extern "C" fn set_device(device: i32) -> Code {
    with(|s| {
        s.model(index(device))?;
        thread(|t| t.device = index(device));
        Ok(())
    })
}

pub(crate) extern "C" fn device_get(handle: Out<i32>, device: i32) -> Code {
    with(|s| {
        s.model(index(device))?;
        handle.set(device)
    })
}

pub(crate) extern "C" fn device_synchronize() -> Code {
    call(|| {
        let s = lock();
        s.model(current_device())?;
        let capturing = s.streams.iter().any(|(_, stream)| stream.capture.is_some());
        if capturing {
            return Err(Error::StreamCaptureUnsupported);
        }
        let works = s.pending_on(current_device());
        let mut s = s.drained(works);
        s.settle(None);
        s.wait(current_device())
    })
}

pub(crate) extern "C" fn device_reset() -> Code {
    call(|| {
        let s = lock();
        s.model(current_device())?;
        let works = s.pending_on(current_device());
        s.drained(works).reset(current_device());
        Ok(())
    })
}

pub(crate) extern "C" fn get_device_properties(properties: Out<u8>, device: i32) -> Code {
    with(|s| {
        let place = properties.place()?;
        host::put(place, &s.model(index(device))?.properties());
        Ok(())
    })
}

pub(crate) extern "C" fn device_get_attribute(value: Out<i32>, attribute: u32, device: i32) -> Code {
    with(|s| {
        value.check()?;
        let found = s.model(index(device))?.attribute(attribute).ok_or(Error::InvalidValue)?;
        value.set(found)
    })
}

pub(crate) extern "C" fn device_get_name(name: Ptr, length: i32, device: i32) -> Code {
    with(|s| {
        let model = s.model(index(device))?;
        put_text(name, length, model.name)
    })
}

/// Writes a text with its terminating zero, truncated to the available space.
fn put_text(place: Ptr, length: i32, text: &str) -> Result {
    let room =
        usize::try_from(length).ok().filter(|n| *n > 0 && !place.is_null()).ok_or(Error::InvalidValue)?;
    let mut bytes = text.as_bytes()[..text.len().min(room - 1)].to_vec();
    bytes.push(0);
    host::put(place, &bytes);
    Ok(())
}

pub(crate) extern "C" fn device_get_uuid(uuid: Out<u8>, device: i32) -> Code {
    with(|s| {
        let place = uuid.place()?;
        host::put(place, &s.model(index(device))?.properties()[256..272]);
        Ok(())
    })
}

/// The size of a text such as `0000:01:00.0` with its terminating zero.
const BUS_ID: i32 = 13;

pub(crate) extern "C" fn device_get_pci_bus_id(id: Ptr, length: i32, device: i32) -> Code {
    with(|s| {
        let bus = s.model(index(device))?.number + 1;
        if length < BUS_ID {
            return Err(Error::InvalidValue);
        }
        put_text(id, length, &format!("0000:{bus:02x}:00.0"))
    })
}

pub(crate) extern "C" fn device_get_by_pci_bus_id(device: Out<i32>, id: Ptr) -> Code {
    with(|s| {
        device.check()?;
        let id = text(id)?;
        let bus = id.split(':').nth(1).and_then(|bus| usize::from_str_radix(bus, 16).ok());
        let found = s.models.iter().position(|m| Some(m.number + 1) == bus).ok_or(Error::InvalidValue)?;
        device.set(found as i32)
    })
}

pub(crate) extern "C" fn device_total_mem(bytes: Out<usize>, device: i32) -> Code {
    with(|s| bytes.set(s.model(index(device))?.memory as usize))
}

pub(crate) extern "C" fn device_compute_capability(major: Out<i32>, minor: Out<i32>, device: i32) -> Code {
    with(|s| {
        let model = s.model(index(device))?;
        major.set(model.major() as i32)?;
        minor.set(model.minor() as i32)
    })
}

pub(crate) extern "C" fn mem_get_info(free: Out<usize>, total: Out<usize>) -> Code {
    with(|s| {
        let model = s.model(current_device())?;
        free.check()?;
        total.set(model.memory as usize)?;
        free.set(s.heap.free_bytes() as usize)
    })
}

/// `hipLimitMallocHeapSize`, the last limit of `hipLimit_t` (stack, `printf` buffer, `malloc` heap).
const MALLOC_HEAP: u32 = 2;

pub(crate) extern "C" fn device_get_limit(value: Out<usize>, limit: u32) -> Code {
    with(|s| {
        if limit == MALLOC_HEAP {
            return value.set(s.malloc_heap);
        }
        value.set(*s.limits.get(limit as usize).ok_or(Error::UnsupportedLimit)?)
    })
}

/// The heap's size cannot be changed once kernels have started to use the heap. The stack and the `printf` buffer always have the size that
/// they need, whatever is requested.
pub(crate) extern "C" fn device_set_limit(limit: u32, value: usize) -> Code {
    with(|s| {
        if limit == MALLOC_HEAP {
            s.malloc_heap = value;
            return Ok(());
        }
        *s.limits.get_mut(limit as usize).ok_or(Error::UnsupportedLimit)? = value;
        Ok(())
    })
}

/// The last values of `hipFuncCache_t` and of `hipSharedMemConfig`.
pub(super) const LAST_CACHE: u32 = 3;
pub(super) const LAST_BANKS: u32 = 2;

/// Checks that a setting is in `0..=last`. It has no effect, because caches and banks cannot be configured.
pub(super) fn one_of(setting: u32, last: u32) -> Result {
    if setting <= last { Ok(()) } else { Err(Error::InvalidValue) }
}

fn set(setting: u32, last: u32) -> Code {
    with(|s| {
        s.model(current_device())?;
        one_of(setting, last)
    })
}

fn get(value: Out<u32>, setting: u32) -> Code {
    with(|s| {
        s.model(current_device())?;
        value.set(setting)
    })
}

pub(crate) extern "C" fn set_cache_config(preference: u32) -> Code {
    set(preference, LAST_CACHE)
}

/// `hipFuncCachePreferNone`.
pub(crate) extern "C" fn get_cache_config(value: Out<u32>) -> Code {
    get(value, 0)
}

pub(crate) extern "C" fn set_shared_mem_config(banks: u32) -> Code {
    set(banks, LAST_BANKS)
}

/// `hipSharedMemBankSizeFourByte`.
pub(crate) extern "C" fn get_shared_mem_config(value: Out<u32>) -> Code {
    get(value, 1)
}

/// `hipSetValidDevices`: ignored, since all devices are valid in their default order.
pub(crate) extern "C" fn set_valid_devices() -> Code {
    with(|s| s.model(current_device()).map(|_| ()))
}

/// The bits that select how a host thread waits (spinning, yielding or blocking), of which at most one may be set.
const SCHEDULE: u32 = 7;
/// `hipDeviceMapHost` and `hipDeviceLmemResizeToMax`, which are always in effect.
const ALWAYS: u32 = 0x8 | 0x10;

/// The way of waiting is stored only so that it can be queried, because waiting takes no time here.
pub(crate) extern "C" fn set_device_flags(flags: u32) -> Code {
    with(|s| {
        let device = current_device();
        s.model(device)?;
        let schedule = flags & SCHEDULE;
        if flags & !(SCHEDULE | ALWAYS) != 0 || schedule.count_ones() > 1 {
            return Err(Error::InvalidValue);
        }
        s.schedules.insert(device, schedule);
        Ok(())
    })
}

pub(crate) extern "C" fn get_device_flags(flags: Out<u32>) -> Code {
    with(|s| {
        let device = current_device();
        s.model(device)?;
        flags.set(s.schedules.get(&device).copied().unwrap_or_default())
    })
}

/// All devices are directly linked to each other (`HSA_AMD_LINK_INFO_TYPE_XGMI`).
pub(crate) extern "C" fn ext_get_link_type_and_hop_count(
    from: i32,
    to: i32,
    kind: Out<u32>,
    hops: Out<u32>,
) -> Code {
    const XGMI: u32 = 4;
    with(|s| {
        kind.check()?;
        hops.check()?;
        if from == to || from < 0 || to < 0 {
            return Err(Error::InvalidValue);
        }
        pair(s, index(from), index(to))?;
        kind.set(XGMI)?;
        hops.set(1)
    })
}

pub(crate) extern "C" fn device_get_stream_priority_range(least: Out<i32>, greatest: Out<i32>) -> Code {
    call(|| {
        least.set_if(super::stream::LEAST);
        greatest.set_if(super::stream::GREATEST);
        Ok(())
    })
}

/// `hipChooseDevice`: returns device 0, because all devices are alike.
pub(crate) extern "C" fn choose_device(device: Out<i32>, properties: Ptr) -> Code {
    with(|s| {
        s.model(0)?;
        if properties.is_null() {
            return Err(Error::InvalidValue);
        }
        device.set(0)
    })
}

fn pair(s: &State, from: usize, to: usize) -> Result<(usize, usize)> {
    s.model(from)?;
    s.model(to)?;
    Ok((from, to))
}

pub(crate) extern "C" fn device_can_access_peer(can: Out<i32>, device: i32, peer: i32) -> Code {
    with(|s| {
        can.check()?;
        let (from, to) = pair(s, index(device), index(peer))?;
        can.set(i32::from(from != to))
    })
}

pub(crate) extern "C" fn device_enable_peer_access(peer: i32, flags: u32) -> Code {
    with(|s| {
        let pair = pair(s, current_device(), index(peer))?;
        match (flags, pair.0 == pair.1) {
            (0, false) if s.peers.insert(pair) => Ok(()),
            (0, false) => Err(Error::PeerAccessAlreadyEnabled),
            (0, true) => Err(Error::InvalidDevice),
            _ => Err(Error::InvalidValue),
        }
    })
}

pub(crate) extern "C" fn device_disable_peer_access(peer: i32) -> Code {
    with(|s| {
        let pair = pair(s, current_device(), index(peer))?;
        if s.peers.remove(&pair) { Ok(()) } else { Err(Error::PeerAccessNotEnabled) }
    })
}

pub(crate) extern "C" fn device_get_p2p_attribute(
    value: Out<i32>,
    attribute: u32,
    from: i32,
    to: i32,
) -> Code {
    with(|s| {
        value.check()?;
        let (from, to) = pair(s, index(from), index(to))?;
        if from == to || attribute > 3 {
            return Err(Error::InvalidValue);
        }
        // Performance rank, access, native atomics, and access to arrays (not supported).
        value.set([0, 1, 1, 0][attribute as usize])
    })
}

/// A context is a device; its handle is the device number plus one.
fn context(device: usize) -> u64 {
    device as u64 + 1
}

pub(crate) extern "C" fn ctx_create(handle: Out<u64>, _flags: u32, device: i32) -> Code {
    with(|s| {
        handle.check()?;
        s.model(index(device))?;
        thread(|t| {
            t.contexts.push(t.device);
            t.device = index(device);
        });
        handle.set(context(index(device)))
    })
}

pub(crate) extern "C" fn ctx_destroy(handle: u64) -> Code {
    ctx_set_or_check(handle, false)
}

pub(crate) extern "C" fn ctx_set_current(handle: u64) -> Code {
    ctx_set_or_check(handle, true)
}

fn ctx_set_or_check(handle: u64, set: bool) -> Code {
    with(|s| {
        let device = handle.checked_sub(1).ok_or(Error::InvalidValue)? as usize;
        s.model(device).map_err(|_| Error::InvalidContext)?;
        if set {
            thread(|t| t.device = device);
        }
        Ok(())
    })
}

pub(crate) extern "C" fn ctx_get_current(handle: Out<u64>) -> Code {
    with(|s| {
        s.model(0)?;
        handle.set(context(current_device()))
    })
}

pub(crate) extern "C" fn ctx_push_current(handle: u64) -> Code {
    let before = current_device();
    let code = ctx_set_current(handle);
    if code == 0 {
        thread(|t| t.contexts.push(before));
    }
    code
}

pub(crate) extern "C" fn ctx_pop_current(handle: Out<u64>) -> Code {
    call(|| {
        let current = current_device();
        let before = thread(|t| t.contexts.pop()).ok_or(Error::InvalidContext)?;
        handle.set_if(context(current));
        thread(|t| t.device = before);
        Ok(())
    })
}

pub(crate) extern "C" fn device_primary_ctx_retain(handle: Out<u64>, device: i32) -> Code {
    with(|s| {
        s.model(index(device))?;
        handle.set(context(index(device)))
    })
}

pub(crate) extern "C" fn device_primary_ctx_release(device: i32) -> Code {
    with(|s| s.model(index(device)).map(|_| ()))
}

pub(crate) extern "C" fn device_primary_ctx_get_state(
    device: i32,
    flags: Out<u32>,
    active: Out<i32>,
) -> Code {
    with(|s| {
        s.model(index(device))?;
        flags.set(0)?;
        active.set(1)
    })
}

/// `hipGetStreamDeviceId`, which returns a device number instead of an error code.
pub(crate) extern "C" fn get_stream_device_id(stream: u64) -> i32 {
    lock().stream_device(stream).map_or(-1, |device| device as i32)
}
