//! Copies and fills.

use super::{Code, Out, call, words};
use crate::error::{Error, Result};
use crate::host::Ptr;
use crate::state::{DEFAULT, DEVICE_TO_HOST, HOST_TO_DEVICE, HOST_TO_HOST, State, lock, submit};
use crate::work::{Extent, Op, Pitched};

/// The stream of an operation, and whether its function is synchronous (its name lacks "Async").
#[derive(Clone, Copy)]
struct Order {
    stream: u64,
    waits: bool,
}

impl Order {
    fn of(stream: u64) -> Order {
        Order { stream, waits: false }
    }
}

/// Runs a synchronous operation in the null stream. While a stream is capturing, this is an error.
fn at_once(act: impl FnOnce(Order) -> Code) -> Code {
    let code = super::with(State::check_no_capture);
    if code != 0 { code } else { act(Order { stream: 0, waits: true }) }
}

/// Submits an operation, and waits for it if HIP specifies that the function is synchronous for this operation.
fn give(op: Op, order: Order) -> Result {
    let s = lock();
    let waits = if order.waits { s.is_for_host(&op) } else { s.is_synchronous(&op) };
    let waits = waits && s.capture_of(order.stream)?.is_none();
    drop(s);
    submit(order.stream, op)?;
    if waits {
        let s = lock();
        let works = s.before(order.stream)?;
        s.drained(works).settle(Some(order.stream));
    }
    Ok(())
}

fn copy_box(to: Pitched, from: Pitched, extent: Extent, kind: u32, order: Order) -> Result {
    let op = lock().copy_op(to, from, extent, kind)?;
    give(op, order)
}

fn copy(to: Ptr, from: Ptr, bytes: usize, kind: u32, order: Order) -> Code {
    call(|| copy_box(Pitched::row(to), Pitched::row(from), Extent::row(bytes), kind, order))
}

pub(crate) extern "C" fn memcpy(to: Ptr, from: Ptr, bytes: usize, kind: u32) -> Code {
    at_once(|order| copy(to, from, bytes, kind, order))
}

pub(crate) extern "C" fn memcpy_async(to: Ptr, from: Ptr, bytes: usize, kind: u32, stream: u64) -> Code {
    copy(to, from, bytes, kind, Order::of(stream))
}

/// `hipMemcpyWithStream`: the host waits for the copy, as for `hipMemcpy`, but the copy runs in the given stream.
pub(crate) extern "C" fn memcpy_with_stream(
    to: Ptr,
    from: Ptr,
    bytes: usize,
    kind: u32,
    stream: u64,
) -> Code {
    copy(to, from, bytes, kind, Order { stream, waits: true })
}

/// `hipMemcpyHtoD` and similar functions. The direction in the name is ignored, because the pointers determine it.
pub(crate) extern "C" fn memcpy_by_pointers(to: Ptr, from: Ptr, bytes: usize) -> Code {
    at_once(|order| copy(to, from, bytes, DEFAULT, order))
}

pub(crate) extern "C" fn memcpy_by_pointers_async(to: Ptr, from: Ptr, bytes: usize, stream: u64) -> Code {
    copy(to, from, bytes, DEFAULT, Order::of(stream))
}

pub(crate) extern "C" fn memcpy_peer(
    to: Ptr,
    to_device: i32,
    from: Ptr,
    from_device: i32,
    bytes: usize,
) -> Code {
    at_once(|order| copy_peer(to, to_device, from, from_device, bytes, order))
}

pub(crate) extern "C" fn memcpy_peer_async(
    to: Ptr,
    to_device: i32,
    from: Ptr,
    from_device: i32,
    bytes: usize,
    stream: u64,
) -> Code {
    copy_peer(to, to_device, from, from_device, bytes, Order::of(stream))
}

fn copy_peer(to: Ptr, to_device: i32, from: Ptr, from_device: i32, bytes: usize, order: Order) -> Code {
    call(|| {
        for device in [to_device, from_device] {
            lock().model(usize::try_from(device).unwrap_or(usize::MAX))?;
        }
        copy_box(Pitched::row(to), Pitched::row(from), Extent::row(bytes), DEFAULT, order)
    })
}

pub(crate) extern "C" fn memcpy_2d(
    to: Ptr,
    to_pitch: usize,
    from: Ptr,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: u32,
) -> Code {
    let extent = Extent { width, height, depth: 1 };
    at_once(|order| copy_2d([(to, to_pitch), (from, from_pitch)], extent, kind, order))
}

#[allow(clippy::too_many_arguments, reason = "they are HIP's")]
pub(crate) extern "C" fn memcpy_2d_async(
    to: Ptr,
    to_pitch: usize,
    from: Ptr,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: u32,
    stream: u64,
) -> Code {
    let extent = Extent { width, height, depth: 1 };
    copy_2d([(to, to_pitch), (from, from_pitch)], extent, kind, Order::of(stream))
}

/// A copy of rows. Each side is an address with its pitch; the first side is the destination.
fn copy_2d(sides: [(Ptr, usize); 2], extent: Extent, kind: u32, order: Order) -> Code {
    call(|| {
        if sides.iter().any(|(_, pitch)| extent.width > *pitch) {
            return Err(Error::InvalidPitchValue);
        }
        let [to, from] = sides.map(|(at, pitch)| Pitched { at, pitch, slice: 0 });
        copy_box(to, from, extent, kind, order)
    })
}

/// The number of 8-byte words that describe a side in `hip_Memcpy2D`: x, y, type, host, device, array and pitch. The extent follows both
/// sides.
const SIDE: usize = 7;
/// `hipMemoryTypeHost`; all other types except arrays have their pointer in the device field.
const HOST: u32 = 1;
const ARRAY: u32 = 10;

pub(crate) extern "C" fn memcpy_param_2d(parameters: Ptr) -> Code {
    at_once(|order| copy_param_2d(parameters, order))
}

pub(crate) extern "C" fn memcpy_param_2d_async(parameters: Ptr, stream: u64) -> Code {
    copy_param_2d(parameters, Order::of(stream))
}

fn copy_param_2d(parameters: Ptr, order: Order) -> Code {
    call(|| {
        let fields = words(parameters, 2 * SIDE + 2)?;
        let side = |start: usize| {
            let [x, y, kind, _, _, _, pitch] = std::array::from_fn(|n| fields[start + n]);
            let pointer_at = match kind as u32 {
                ARRAY if fields[start + 5] == 0 => return Err(Error::InvalidValue),
                ARRAY => return Err(Error::NotSupported),
                HOST => start + 3,
                _ => start + 4,
            };
            let at = crate::host::pointer(parameters.plus(8 * pointer_at));
            let offset = (y.wrapping_mul(pitch)).wrapping_add(x) as usize;
            Ok(Pitched { at: inside(at, offset)?, pitch: pitch as usize, slice: 0 })
        };
        let (from, to) = (side(0)?, side(SIDE)?);
        let extent = Extent { width: fields[14] as usize, height: fields[15] as usize, depth: 1 };
        copy_box(to, from, extent, DEFAULT, order)
    })
}

pub(crate) extern "C" fn memcpy_3d(parameters: Ptr) -> Code {
    at_once(|order| copy_3d(parameters, order))
}

pub(crate) extern "C" fn memcpy_3d_async(parameters: Ptr, stream: u64) -> Code {
    copy_3d(parameters, Order::of(stream))
}

fn copy_3d(parameters: Ptr, order: Order) -> Code {
    call(|| {
        let (to, from, extent, kind) = parameters_3d(parameters)?;
        copy_box(to, from, extent, kind, order)
    })
}

/// Reads `hipMemcpy3DParms`: an array, a position and a pitched pointer for each side, then the extent and the kind.
pub(super) fn parameters_3d(at: Ptr) -> Result<(Pitched, Pitched, Extent, u32)> {
    let fields = words(at, 20)?;
    let side = |start: usize| {
        let [array, x, y, z, _, pitch, _, height] = std::array::from_fn(|n| fields[start + n] as usize);
        if array != 0 {
            return Err(Error::NotSupported);
        }
        let slice = pitch.checked_mul(height).ok_or(Error::InvalidValue)?;
        let pointer = crate::host::pointer(at.plus(8 * (start + 4)));
        let offset = z.wrapping_mul(slice).wrapping_add(y.wrapping_mul(pitch)).wrapping_add(x);
        Ok(Pitched { at: inside(pointer, offset)?, pitch, slice })
    };
    let (from, to) = (side(0)?, side(8)?);
    let [width, height, depth] = std::array::from_fn(|n| fields[16 + n] as usize);
    Ok((to, from, Extent { width, height, depth }, fields[19] as u32))
}

/// The address `offset` bytes after a pointer; an error for a null pointer.
fn inside(at: Ptr, offset: usize) -> Result<Ptr> {
    if at.is_null() { Err(Error::InvalidValue) } else { Ok(at.plus(offset)) }
}

fn fill_box(to: Pitched, pattern: Vec<u8>, extent: Extent, order: Order) -> Result {
    let op = lock().fill_op(to, pattern, extent)?;
    give(op, order)
}

/// Fills `count` elements.
fn fill(to: Ptr, pattern: &[u8], count: usize, order: Order) -> Code {
    call(|| {
        let width = count.checked_mul(pattern.len()).ok_or(Error::InvalidValue)?;
        fill_box(Pitched::row(to), pattern.to_vec(), Extent::row(width), order)
    })
}

pub(crate) extern "C" fn memset(to: Ptr, value: i32, bytes: usize) -> Code {
    at_once(|order| fill(to, &[value as u8], bytes, order))
}

pub(crate) extern "C" fn memset_async(to: Ptr, value: i32, bytes: usize, stream: u64) -> Code {
    fill(to, &[value as u8], bytes, Order::of(stream))
}

pub(crate) extern "C" fn memset_d8(to: Ptr, value: u8, count: usize) -> Code {
    at_once(|order| fill(to, &[value], count, order))
}

pub(crate) extern "C" fn memset_d8_async(to: Ptr, value: u8, count: usize, stream: u64) -> Code {
    fill(to, &[value], count, Order::of(stream))
}

pub(crate) extern "C" fn memset_d16(to: Ptr, value: u16, count: usize) -> Code {
    at_once(|order| fill(to, &value.to_le_bytes(), count, order))
}

pub(crate) extern "C" fn memset_d16_async(to: Ptr, value: u16, count: usize, stream: u64) -> Code {
    fill(to, &value.to_le_bytes(), count, Order::of(stream))
}

pub(crate) extern "C" fn memset_d32(to: Ptr, value: u32, count: usize) -> Code {
    at_once(|order| fill(to, &value.to_le_bytes(), count, order))
}

pub(crate) extern "C" fn memset_d32_async(to: Ptr, value: u32, count: usize, stream: u64) -> Code {
    fill(to, &value.to_le_bytes(), count, Order::of(stream))
}

pub(crate) extern "C" fn memset_2d(to: Ptr, pitch: usize, value: i32, width: usize, height: usize) -> Code {
    at_once(|order| fill_2d(to, pitch, value, Extent { width, height, depth: 1 }, order))
}

pub(crate) extern "C" fn memset_2d_async(
    to: Ptr,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
    stream: u64,
) -> Code {
    fill_2d(to, pitch, value, Extent { width, height, depth: 1 }, Order::of(stream))
}

fn fill_2d(to: Ptr, pitch: usize, value: i32, extent: Extent, order: Order) -> Code {
    call(|| {
        // If the width exceeded the pitch, rows would overlap.
        if extent.width > pitch && extent.height > 1 {
            return Err(Error::InvalidValue);
        }
        fill_box(Pitched { at: to, pitch, slice: 0 }, vec![value as u8], extent, order)
    })
}

/// `hipPitchedPtr`, which C passes by value in memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct PitchedPtr {
    at: Ptr,
    pitch: usize,
    width: usize,
    height: usize,
}

pub(crate) extern "C" fn memset_3d(to: PitchedPtr, value: i32, extent: super::memory::Extent) -> Code {
    at_once(|order| fill_3d(to, value, extent, order))
}

pub(crate) extern "C" fn memset_3d_async(
    to: PitchedPtr,
    value: i32,
    extent: super::memory::Extent,
    stream: u64,
) -> Code {
    fill_3d(to, value, extent, Order::of(stream))
}

fn fill_3d(to: PitchedPtr, value: i32, extent: super::memory::Extent, order: Order) -> Code {
    call(|| {
        let slice = to.pitch.checked_mul(to.height).ok_or(Error::InvalidValue)?;
        let super::memory::Extent { width, height, depth } = extent;
        let extent = Extent { width, height, depth };
        let rows = if to.width == 0 { to.pitch } else { to.pitch.max(to.width) };
        fill_box(Pitched { at: to.at, pitch: rows, slice }, vec![value as u8], extent, order)
    })
}

/// The part of a variable that a copy accesses.
pub(super) fn symbol(symbol: u64, bytes: usize, offset: usize) -> Result<Ptr> {
    let (at, size) = lock().variable(symbol)?;
    let end = offset.checked_add(bytes).ok_or(Error::InvalidValue)?;
    if end > size { Err(Error::InvalidValue) } else { Ok(at.plus(offset)) }
}

/// Returns an error for copy directions that are impossible for a variable, which is on the device.
fn leaves(kind: u32, wrong: [u32; 2]) -> Result {
    if wrong.contains(&kind) { Err(Error::InvalidMemcpyDirection) } else { Ok(()) }
}

pub(crate) extern "C" fn memcpy_to_symbol(
    to: u64,
    from: Ptr,
    bytes: usize,
    offset: usize,
    kind: u32,
) -> Code {
    at_once(|order| copy_to_symbol(to, from, bytes, offset, kind, order))
}

pub(crate) extern "C" fn memcpy_to_symbol_async(
    to: u64,
    from: Ptr,
    bytes: usize,
    offset: usize,
    kind: u32,
    stream: u64,
) -> Code {
    copy_to_symbol(to, from, bytes, offset, kind, Order::of(stream))
}

fn copy_to_symbol(to: u64, from: Ptr, bytes: usize, offset: usize, kind: u32, order: Order) -> Code {
    call(|| {
        leaves(kind, [HOST_TO_HOST, DEVICE_TO_HOST])?;
        let to = symbol(to, bytes, offset)?;
        copy_box(Pitched::row(to), Pitched::row(from), Extent::row(bytes), kind, order)
    })
}

pub(crate) extern "C" fn memcpy_from_symbol(
    to: Ptr,
    from: u64,
    bytes: usize,
    offset: usize,
    kind: u32,
) -> Code {
    at_once(|order| copy_from_symbol(to, from, bytes, offset, kind, order))
}

pub(crate) extern "C" fn memcpy_from_symbol_async(
    to: Ptr,
    from: u64,
    bytes: usize,
    offset: usize,
    kind: u32,
    stream: u64,
) -> Code {
    copy_from_symbol(to, from, bytes, offset, kind, Order::of(stream))
}

fn copy_from_symbol(to: Ptr, from: u64, bytes: usize, offset: usize, kind: u32, order: Order) -> Code {
    call(|| {
        leaves(kind, [HOST_TO_HOST, HOST_TO_DEVICE])?;
        let from = symbol(from, bytes, offset)?;
        copy_box(Pitched::row(to), Pitched::row(from), Extent::row(bytes), kind, order)
    })
}

pub(crate) extern "C" fn get_symbol_address(place: Out<Option<Ptr>>, symbol: u64) -> Code {
    call(|| {
        place.check()?;
        let (at, _) = lock().variable(symbol)?;
        place.set(Some(at))
    })
}

pub(crate) extern "C" fn get_symbol_size(place: Out<usize>, symbol: u64) -> Code {
    call(|| {
        place.check()?;
        let (_, size) = lock().variable(symbol)?;
        place.set(size)
    })
}
