//! Advice about managed memory. It has no effect, because managed memory is accessible everywhere, but can be queried.

use super::{Code, Plain, with, words};
use crate::error::{Error, Result};
use crate::heap::Kind;
use crate::host::{self, Ptr};
use crate::state::{Advice, NO_DEVICE, State};

/// The pages that a range of a managed allocation touches: the start of the first and the end of the last.
fn managed(s: &State, at: Ptr, bytes: usize) -> Result<(u64, u64)> {
    let found = s.heap.own(at, bytes)?;
    if bytes == 0 || found.kind != Kind::Managed {
        return Err(Error::InvalidValue);
    }
    let page = host::ALIGN as u64;
    Ok((at.address() & !(page - 1), (at.address() + bytes as u64).next_multiple_of(page)))
}

/// Checks a device number, which may also be `hipCpuDeviceId`, or `hipInvalidDeviceId` if it does not matter.
fn check_device(s: &State, device: i32) -> Result {
    if (NO_DEVICE..0).contains(&device) {
        return Ok(());
    }
    s.model(usize::try_from(device).unwrap_or(usize::MAX)).map(|_| ())
}

fn change(s: &mut State, at: Ptr, bytes: usize, change: impl Fn(&mut Advice)) -> Result {
    let (from, to) = managed(s, at, bytes)?;
    s.advice.change(from, to, change);
    Ok(())
}

pub(crate) extern "C" fn mem_prefetch_async(at: Ptr, bytes: usize, device: i32, stream: u64) -> Code {
    with(|s| {
        s.check_stream(stream)?;
        check_device(s, device)?;
        if device == NO_DEVICE {
            return Err(Error::InvalidDevice);
        }
        change(s, at, bytes, |advice| advice.prefetched = device)
    })
}

/// `hipMemoryAdvise`: each kind of advice has a value that sets it and one that unsets it.
pub(crate) extern "C" fn mem_advise(at: Ptr, bytes: usize, advice: u32, device: i32) -> Code {
    /// The kinds of advice that concern a device: preferred location and accessing devices.
    const OF_DEVICE: [u32; 3] = [3, 5, 6];
    with(|s| {
        // 100 and 101 are AMD's advice about coarse-grained memory.
        if !matches!(advice, 1..=6 | 100 | 101) {
            return Err(Error::InvalidValue);
        }
        if OF_DEVICE.contains(&advice) {
            check_device(s, device)?;
        }
        change(s, at, bytes, |known| match advice {
            1 | 2 => known.read_mostly = advice == 1,
            3 => known.preferred = device,
            4 => known.preferred = NO_DEVICE,
            5 if !known.accessed_by.contains(&device) => known.accessed_by.push(device),
            6 => known.accessed_by.retain(|other| *other != device),
            _ => {}
        })
    })
}

/// The value of a `hipMemRangeAttribute`, in the number of bytes that the caller has allocated.
fn answer(advice: &Advice, attribute: u32, bytes: usize) -> Result<Vec<u8>> {
    /// `hipMemRangeAttributeCoherencyMode`: `hipMemRangeCoherencyModeFineGrain` is 0.
    const COHERENCY: u32 = 100;
    const ACCESSED_BY: u32 = 3;
    let number = match attribute {
        1 => i32::from(advice.read_mostly),
        2 => advice.preferred,
        ACCESSED_BY => {
            let devices = advice.accessed_by.iter().copied().chain(std::iter::repeat(NO_DEVICE));
            return if bytes > 0 && bytes.is_multiple_of(4) {
                Ok(devices.take(bytes / 4).flat_map(i32::to_le_bytes).collect())
            } else {
                Err(Error::InvalidValue)
            };
        }
        4 => advice.prefetched,
        COHERENCY => 0,
        _ => return Err(Error::InvalidValue),
    };
    if bytes == 4 { Ok(number.to_bytes()) } else { Err(Error::InvalidValue) }
}

pub(crate) extern "C" fn mem_range_get_attribute(
    data: Ptr,
    bytes: usize,
    attribute: u32,
    at: Ptr,
    count: usize,
) -> Code {
    with(|s| range_attribute(s, data, bytes, attribute, at, count))
}

fn range_attribute(s: &State, data: Ptr, bytes: usize, attribute: u32, at: Ptr, count: usize) -> Result {
    /// More than the possible number of devices.
    const MOST: usize = 4096;
    let (from, to) = managed(s, at, count)?;
    if data.is_null() || bytes > MOST {
        return Err(Error::InvalidValue);
    }
    host::put(data, &answer(&s.advice.of(from, to), attribute, bytes)?);
    Ok(())
}

/// As [`mem_range_get_attribute`], for several attributes: arrays of pointers, of their sizes, and of attributes.
pub(crate) extern "C" fn mem_range_get_attributes(
    data: Ptr,
    bytes: Ptr,
    attributes: Ptr,
    number: usize,
    at: Ptr,
    count: usize,
) -> Code {
    /// The number of existing attributes.
    const MOST: usize = 5;
    with(|s| {
        if number == 0 || number > MOST || attributes.is_null() {
            return Err(Error::InvalidValue);
        }
        words(data, number)?;
        for (n, size) in words(bytes, number)?.into_iter().enumerate() {
            let attribute = host::bytes(attributes.plus(4 * n), 4);
            let attribute = attribute.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            range_attribute(s, host::pointer(data.plus(8 * n)), size as usize, attribute, at, count)?;
        }
        Ok(())
    })
}
