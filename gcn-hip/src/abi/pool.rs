//! Stream-ordered memory and its pools.

use super::memory::Place;
use super::{Code, Out, with, words};
use crate::error::{Error, Result};
use crate::heap::Kind;
use crate::host::{self, Ptr};
use crate::state::{State, current_device};

fn allocate(s: &mut State, place: Place, bytes: usize, pool: u64, stream: u64) -> Result {
    place.check()?;
    s.check_stream(stream).map_err(|_| Error::InvalidHandle)?;
    let found = s.pools.get(pool)?;
    if found.most != 0 && found.used.saturating_add(bytes as u64) > found.most {
        return Err(Error::OutOfMemory);
    }
    let at = s.allocate(Kind::Device, bytes, 0)?;
    at.into_iter().for_each(|at| s.pools.allocated(pool, at, bytes));
    place.set(at)
}

pub(crate) extern "C" fn malloc_async(place: Place, bytes: usize, stream: u64) -> Code {
    with(|s| {
        let pool = s.pools.current_of(current_device());
        allocate(s, place, bytes, pool, stream)
    })
}

pub(crate) extern "C" fn malloc_from_pool_async(place: Place, bytes: usize, pool: u64, stream: u64) -> Code {
    with(|s| allocate(s, place, bytes, pool, stream))
}

/// Checks that a device exists and returns its number.
fn device_of(s: &State, device: i32) -> Result<usize> {
    let device = usize::try_from(device).unwrap_or(usize::MAX);
    s.model(device).map(|_| device)
}

pub(crate) extern "C" fn device_get_default_mem_pool(pool: Out<u64>, device: i32) -> Code {
    with(|s| {
        pool.check()?;
        let device = device_of(s, device)?;
        pool.set(s.pools.default_of(device))
    })
}

pub(crate) extern "C" fn device_get_mem_pool(pool: Out<u64>, device: i32) -> Code {
    with(|s| {
        pool.check()?;
        // As in ROCm, any invalid device number gives this error.
        let device = device_of(s, device).map_err(|_| Error::InvalidValue)?;
        pool.set(s.pools.current_of(device))
    })
}

pub(crate) extern "C" fn device_set_mem_pool(device: i32, pool: u64) -> Code {
    with(|s| {
        let device = device_of(s, device).map_err(|_| Error::InvalidValue)?;
        // A pool can only be set for its own device.
        if s.pools.get(pool)?.device != device {
            return Err(Error::InvalidDevice);
        }
        s.pools.set_current(device, pool)
    })
}

/// `hipMemAllocationTypePinned`.
const PINNED: u32 = 1;
/// `hipMemLocationTypeDevice`.
const ON_DEVICE: u32 = 1;

pub(crate) extern "C" fn mem_pool_create(pool: Out<u64>, properties: Ptr) -> Code {
    with(|s| {
        pool.check()?;
        // The 8-byte words of `hipMemPoolProps`: allocation type and handle types; location type and device; Windows attributes; maximum
        // size.
        let fields = words(properties, 4)?;
        if fields[0] as u32 != PINNED || fields[1] as u32 != ON_DEVICE {
            return Err(Error::InvalidValue);
        }
        let device = device_of(s, (fields[1] >> 32) as i32).map_err(|_| Error::InvalidValue)?;
        pool.set(s.pools.create(device, fields[3]))
    })
}

pub(crate) extern "C" fn mem_pool_destroy(pool: u64) -> Code {
    with(|s| s.pools.destroy(pool))
}

/// `hipMemPoolAttr`: the release threshold; reserved and used bytes, each followed by its maximum so far. The attributes before these are
/// reuse policies.
const THRESHOLD: u32 = 4;
const RESERVED_HIGH: u32 = 6;
const USED_HIGH: u32 = 8;

pub(crate) extern "C" fn mem_pool_set_attribute(pool: u64, attribute: u32, value: Ptr) -> Code {
    with(|s| {
        let pool = s.pools.get(pool)?;
        if value.is_null() {
            return Err(Error::InvalidValue);
        }
        match attribute {
            1..THRESHOLD => pool.reuse[attribute as usize - 1] = host::word32(value),
            THRESHOLD => pool.threshold = host::word(value),
            // Writing 0 resets the maxima to the amount in use now; other values are invalid.
            RESERVED_HIGH | USED_HIGH if host::word(value) == 0 => pool.high = pool.used,
            _ => return Err(Error::InvalidValue),
        }
        Ok(())
    })
}

pub(crate) extern "C" fn mem_pool_get_attribute(pool: u64, attribute: u32, value: Ptr) -> Code {
    with(|s| {
        let pool = s.pools.get(pool)?;
        if value.is_null() {
            return Err(Error::InvalidValue);
        }
        match attribute {
            1..THRESHOLD => host::put(value, &pool.reuse[attribute as usize - 1].to_le_bytes()),
            THRESHOLD => host::put(value, &pool.threshold.to_le_bytes()),
            RESERVED_HIGH | USED_HIGH => host::put(value, &pool.high.to_le_bytes()),
            5 | 7 => host::put(value, &pool.used.to_le_bytes()),
            _ => return Err(Error::InvalidValue),
        }
        Ok(())
    })
}

pub(crate) extern "C" fn mem_pool_trim_to(pool: u64, _bytes: usize) -> Code {
    with(|s| s.pools.get(pool).map(|_| ()))
}

/// `hipMemPoolSetAccess`: has no effect, because all devices can access all memory. The request is checked: location type, device, and
/// access, of 32 bits each.
pub(crate) extern "C" fn mem_pool_set_access(pool: u64, list: Ptr, count: usize) -> Code {
    const BYTES: usize = 12;
    with(|s| {
        let own = s.pools.get(pool)?.device;
        if list.is_null() && count > 0 || count > s.models.len() {
            return Err(Error::InvalidValue);
        }
        for at in (0..count).map(|n| list.plus(BYTES * n)) {
            let [kind, device, access] = [0, 4, 8].map(|field| host::word32(at.plus(field)));
            if kind != ON_DEVICE || access > READ_WRITE {
                return Err(Error::InvalidValue);
            }
            // Access of a pool's own device cannot be revoked.
            if device_of(s, device as i32)? == own && access == 0 {
                return Err(Error::InvalidDevice);
            }
        }
        Ok(())
    })
}

/// `hipMemAccessFlagsProtReadWrite`.
const READ_WRITE: u32 = 3;

pub(crate) extern "C" fn mem_pool_get_access(flags: Out<u32>, pool: u64, location: Ptr) -> Code {
    with(|s| {
        s.pools.get(pool)?;
        let place = words(location, 1)?[0];
        if place as u32 != ON_DEVICE {
            return Err(Error::InvalidValue);
        }
        device_of(s, (place >> 32) as i32).map_err(|_| Error::InvalidValue)?;
        flags.set(READ_WRITE)
    })
}
