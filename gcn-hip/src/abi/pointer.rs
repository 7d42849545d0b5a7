//! Attributes of pointers.

use super::{Code, Out, Plain, with};
use crate::error::{Error, Result};
use crate::heap::{Allocation, Kind};
use crate::host::{self, Ptr};
use crate::state::State;

/// `hipChannelFormatDesc`, which C returns in memory: the bits of each component, and their kind.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Channel {
    bits: [i32; 4],
    kind: u32,
}

pub(crate) extern "C" fn create_channel_desc(x: i32, y: i32, z: i32, w: i32, kind: u32) -> Channel {
    Channel { bits: [x, y, z, w], kind }
}

/// `hipMemoryType`.
fn memory_type(kind: Kind) -> u32 {
    match kind {
        Kind::Pinned | Kind::Registered => 1,
        Kind::Device | Kind::Image => 2,
        Kind::Managed => 3,
    }
}

pub(crate) extern "C" fn pointer_get_attributes(attributes: Out<u8>, at: Ptr) -> Code {
    with(|s| {
        let place = attributes.place()?;
        // Writes `hipPointerAttribute_t`, in this order: memory type and device; device and host pointer; managed flag and allocation
        // flags.
        let put = |kind: u32, device: i32, pointers: [u64; 2], last: [u32; 2]| {
            let mut bytes = [kind.to_bytes(), device.to_bytes()].concat();
            pointers.iter().for_each(|p| bytes.extend(p.to_le_bytes()));
            last.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
            host::put(place, &bytes);
        };
        if at.is_null() {
            return Err(Error::InvalidValue);
        }
        match s.heap.find(at) {
            Some(a) => {
                let on_host = if a.kind == Kind::Device || a.kind == Kind::Image { 0 } else { at.address() };
                let managed = u32::from(a.kind == Kind::Managed);
                put(memory_type(a.kind), a.device as i32, [at.address(), on_host], [managed, a.flags]);
            }
            // Since HIP 6, memory that the runtime does not know is not an error.
            None => put(0, -2, [0, 0], [0, 0]),
        }
        Ok(())
    })
}

/// `hipPointer_attribute`.
pub(crate) extern "C" fn pointer_get_attribute(value: Ptr, attribute: u32, at: Ptr) -> Code {
    with(|s| {
        if value.is_null() {
            return Err(Error::InvalidValue);
        }
        let bytes = attribute_of(s, attribute, at)?;
        host::put(value, &bytes);
        Ok(())
    })
}

/// `hipDrvPointerGetAttributes`: writes each requested attribute to a separate address. For an attribute that the pointer does not have,
/// nothing is written.
pub(crate) extern "C" fn drv_pointer_get_attributes(
    count: u32,
    attributes: Ptr,
    places: Ptr,
    at: Ptr,
) -> Code {
    with(|s| {
        if count == 0 || attributes.is_null() || places.is_null() || at.is_null() {
            return Err(Error::InvalidValue);
        }
        for n in 0..count as usize {
            let place = host::pointer(places.plus(8 * n));
            if let Ok(bytes) = attribute_of(s, host::word32(attributes.plus(4 * n)), at)
                && !place.is_null()
            {
                host::put(place, &bytes);
            }
        }
        Ok(())
    })
}

/// `hipPointerSetAttribute`: sets whether the host also waits for synchronous copies that involve only the device.
pub(crate) extern "C" fn pointer_set_attribute(value: Ptr, attribute: u32, at: Ptr) -> Code {
    /// `HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS`.
    const WAITS: u32 = 6;
    with(|s| {
        if value.is_null() || attribute != WAITS || at.is_null() {
            return Err(Error::InvalidValue);
        }
        let found = s.heap.find(at).filter(|a| a.kind.is_device()).ok_or(Error::InvalidDevicePointer)?;
        let base = found.base;
        if host::word32(value) != 0 {
            s.waiting.insert(base);
        } else {
            s.waiting.remove(&base);
        }
        Ok(())
    })
}

fn attribute_of(s: &State, attribute: u32, at: Ptr) -> Result<Vec<u8>> {
    let Allocation { base, bytes, kind, device, .. } = *s.heap.find(at).ok_or(Error::InvalidValue)?;
    Ok(match attribute {
        1 => (device as u64 + 1).to_le_bytes().to_vec(),
        2 => memory_type(kind).to_bytes(),
        3 => at.to_bytes(),
        4 if kind.is_host() || kind == Kind::Managed => at.to_bytes(),
        7 => base.address().to_le_bytes().to_vec(),
        8 => u32::from(kind == Kind::Managed).to_bytes(),
        9 => (device as u32).to_bytes(),
        11 => base.to_bytes(),
        // ROCm writes 32 bits, whatever size the caller specifies.
        12 => (bytes as u32).to_bytes(),
        13 => 1u32.to_bytes(),
        4..=17 => return Err(Error::InvalidValue),
        _ => return Err(Error::InvalidValue),
    })
}

pub(crate) extern "C" fn mem_get_address_range(base: Out<Ptr>, size: Out<usize>, at: Ptr) -> Code {
    with(|s| {
        let found =
            s.heap.find(at).filter(|a| a.kind.is_device() || a.kind.is_host()).ok_or(Error::NotFound)?;
        base.set_if(found.base);
        size.set_if(found.bytes);
        Ok(())
    })
}

pub(crate) extern "C" fn mem_ptr_get_info(at: Ptr, size: Out<usize>) -> Code {
    with(|s| {
        size.check()?;
        size.set(s.heap.own(at, 0)?.bytes)
    })
}
