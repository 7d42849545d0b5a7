//! Kernel launches.

use std::collections::BTreeSet;

use gcn_sim::Grid;

use super::{Code, Dim3, call, words};
use crate::error::{Error, Result};
use crate::host::{self, HostCall, Ptr};
use crate::state::{Configuration, lock, on_device, submit, thread};
use crate::work::{Launch, Op};

/// Tags in `extra`: `HIP_LAUNCH_PARAM_BUFFER_POINTER` and the two that follow.
const BUFFER: u64 = 1;
const SIZE: u64 = 2;
const END: u64 = 3;
/// The maximum size of the arguments in bytes.
const MOST: u64 = 1 << 16;

/// The sizes of a launch.
pub(super) struct Sizes {
    pub grid: Grid,
    pub workgroup: [u32; 3],
    pub dynamic_lds: usize,
}

/// A checked launch. The arguments are copied now, because HIP lets the caller change them after the call.
pub(super) fn prepare(
    function: u64,
    sizes: Sizes,
    parameters: Ptr,
    extra: Ptr,
    cooperative: bool,
) -> Result<Launch> {
    let arguments =
        if extra.is_null() { packed(function, parameters)? } else { declared(function, buffer(extra)?)? };
    let Sizes { grid, workgroup, dynamic_lds } = sizes;
    let dynamic_lds = u32::try_from(dynamic_lds).map_err(|_| Error::InvalidValue)?;
    let launch = Launch { function, grid, workgroup, dynamic_lds, arguments, cooperative };
    lock().check_launch(&launch)?;
    Ok(launch)
}

/// The arguments from an array of pointers, laid out as the metadata specifies.
fn packed(function: u64, parameters: Ptr) -> Result<Vec<u8>> {
    let state = lock();
    let function = state.functions.get(function).ok_or(Error::InvalidHandle)?;
    let mut bytes = Vec::new();
    for (number, argument) in function.program.args().enumerate() {
        if parameters.is_null() {
            return Err(Error::InvalidValue);
        }
        let at = host::pointer(parameters.plus(8 * number));
        let (start, size) = (argument.offset as usize, argument.size as usize);
        if at.is_null() || start.saturating_add(size) as u64 > MOST {
            return Err(Error::InvalidValue);
        }
        bytes.resize(bytes.len().max(start + size), 0);
        bytes[start..start + size].copy_from_slice(&host::bytes(at, size));
    }
    Ok(bytes)
}

/// The part of an argument buffer that the kernel declares: a structure of arguments may have padding at its end.
fn declared(function: u64, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    let state = lock();
    let function = state.functions.get(function).ok_or(Error::InvalidHandle)?;
    let end = function.program.args().map(|argument| (argument.offset + argument.size) as usize).max();
    bytes.truncate(end.unwrap_or(0));
    Ok(bytes)
}

/// The arguments from a buffer, as described by `extra`.
fn buffer(extra: Ptr) -> Result<Vec<u8>> {
    let (mut at, mut start, mut size) = (extra, None, None);
    loop {
        let tag = words(at, 1)?[0];
        // The end tag is not followed by a value.
        if tag == END {
            break;
        }
        let value = host::pointer(at.plus(8));
        match tag {
            BUFFER => start = Some(value),
            SIZE if !value.is_null() => size = Some(host::word(value)),
            _ => return Err(Error::InvalidValue),
        }
        at = at.plus(16);
    }
    let size = size.filter(|size| *size <= MOST).ok_or(Error::InvalidValue)? as usize;
    match start {
        Some(start) if !start.is_null() => Ok(host::bytes(start, size)),
        _ => Err(Error::InvalidValue),
    }
}

fn launch(symbol: u64, sizes: Sizes, parameters: Ptr, extra: Ptr, cooperative: bool, stream: u64) -> Code {
    call(|| start(symbol, sizes, parameters, extra, cooperative, stream))
}

fn start(symbol: u64, sizes: Sizes, parameters: Ptr, extra: Ptr, cooperative: bool, stream: u64) -> Result {
    let function = lock().kernel(symbol)?;
    submit(stream, Op::Launch(prepare(function, sizes, parameters, extra, cooperative)?))
}

/// A launch with an event recorded before it and one after it; 0 means no event.
fn timed(symbol: u64, sizes: Sizes, parameters: Ptr, extra: Ptr, stream: u64, events: [u64; 2]) -> Code {
    call(|| {
        let function = lock().kernel(symbol)?;
        let launch = prepare(function, sizes, parameters, extra, false)?;
        for event in events.into_iter().filter(|event| *event != 0) {
            lock().event(event)?;
        }
        let record = |event| if event == 0 { Ok(()) } else { submit(stream, Op::Record(event)) };
        record(events[0])?;
        submit(stream, Op::Launch(launch))?;
        record(events[1])
    })
}

fn groups(grid: Dim3, block: Dim3, dynamic_lds: usize) -> Sizes {
    Sizes { grid: Grid::Workgroups(grid.into()), workgroup: block.into(), dynamic_lds }
}

pub(crate) extern "C" fn launch_kernel(
    symbol: u64,
    grid: Dim3,
    block: Dim3,
    arguments: Ptr,
    shared: usize,
    stream: u64,
) -> Code {
    launch(symbol, groups(grid, block, shared), arguments, NONE, false, stream)
}

pub(crate) extern "C" fn launch_cooperative_kernel(
    symbol: u64,
    grid: Dim3,
    block: Dim3,
    arguments: Ptr,
    shared: u32,
    stream: u64,
) -> Code {
    launch(symbol, groups(grid, block, shared as usize), arguments, NONE, true, stream)
}

#[allow(clippy::too_many_arguments, reason = "they are HIP's")]
pub(crate) extern "C" fn ext_launch_kernel(
    symbol: u64,
    grid: Dim3,
    block: Dim3,
    arguments: Ptr,
    shared: usize,
    stream: u64,
    start: u64,
    stop: u64,
    _flags: i32,
) -> Code {
    timed(symbol, groups(grid, block, shared), arguments, NONE, stream, [start, stop])
}

/// The null pointer, for a launch without `extra`.
const NONE: Ptr = Ptr::NULL;

#[allow(clippy::too_many_arguments, reason = "they are HIP's")]
pub(crate) extern "C" fn module_launch_kernel(
    function: u64,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    x: u32,
    y: u32,
    z: u32,
    shared: u32,
    stream: u64,
    parameters: Ptr,
    extra: Ptr,
) -> Code {
    let sizes = groups(Dim3 { x: grid_x, y: grid_y, z: grid_z }, Dim3 { x, y, z }, shared as usize);
    launch(function, sizes, parameters, extra, false, stream)
}

#[allow(clippy::too_many_arguments, reason = "they are HIP's")]
pub(crate) extern "C" fn module_launch_cooperative_kernel(
    function: u64,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    x: u32,
    y: u32,
    z: u32,
    shared: u32,
    stream: u64,
    parameters: Ptr,
) -> Code {
    let sizes = groups(Dim3 { x: grid_x, y: grid_y, z: grid_z }, Dim3 { x, y, z }, shared as usize);
    launch(function, sizes, parameters, NONE, true, stream)
}

/// As HIP's function specifies, the grid is counted in work-items, so the last workgroups may be partial.
#[allow(clippy::too_many_arguments, reason = "they are HIP's")]
pub(crate) extern "C" fn ext_module_launch_kernel(
    function: u64,
    global_x: u32,
    global_y: u32,
    global_z: u32,
    x: u32,
    y: u32,
    z: u32,
    shared: usize,
    stream: u64,
    parameters: Ptr,
    extra: Ptr,
    start: u64,
    stop: u64,
    _flags: u32,
) -> Code {
    let grid = Grid::Items([global_x, global_y, global_z]);
    let sizes = Sizes { grid, workgroup: [x, y, z], dynamic_lds: shared };
    timed(function, sizes, parameters, extra, stream, [start, stop])
}

/// The launch protocol of HIP versions before `<<<…>>>`: separate calls pass the sizes, each argument, and the kernel.
pub(crate) extern "C" fn configure_call(grid: Dim3, block: Dim3, shared: usize, stream: u64) -> Code {
    call(|| {
        let configuration = Configuration { grid: grid.into(), block: block.into(), shared, stream };
        thread(|t| {
            t.configurations.push(configuration);
            t.arguments.clear();
        });
        Ok(())
    })
}

pub(crate) extern "C" fn setup_argument(value: Ptr, size: usize, offset: usize) -> Code {
    call(|| {
        let end = offset.checked_add(size).filter(|end| *end as u64 <= MOST).ok_or(Error::InvalidValue)?;
        if value.is_null() && size > 0 {
            return Err(Error::InvalidValue);
        }
        thread(|t| {
            t.arguments.resize(t.arguments.len().max(end), 0);
            t.arguments[offset..end].copy_from_slice(&host::bytes(value, size));
        });
        Ok(())
    })
}

pub(crate) extern "C" fn launch_by_ptr(symbol: u64) -> Code {
    call(|| {
        let (configuration, arguments) =
            thread(|t| (t.configurations.pop(), std::mem::take(&mut t.arguments)));
        let Configuration { grid, block, shared, stream } =
            configuration.ok_or(Error::MissingConfiguration)?;
        let function = lock().kernel(symbol)?;
        let dynamic_lds = u32::try_from(shared).map_err(|_| Error::InvalidValue)?;
        let grid = Grid::Workgroups(grid);
        let arguments = declared(function, arguments)?;
        let launch = Launch { function, grid, workgroup: block, dynamic_lds, arguments, cooperative: false };
        lock().check_launch(&launch)?;
        submit(stream, Op::Launch(launch))
    })
}

/// Launches one kernel with the same sizes on several devices, each in a separate stream. `hipLaunchParams` consists of function, grid,
/// block, arguments, LDS size and stream.
pub(crate) extern "C" fn ext_launch_multi_kernel_multi_device(list: Ptr, count: i32, flags: u32) -> Code {
    const WORDS: usize = 7;
    /// `hipCooperativeLaunchMultiDeviceNoPreSync` and `NoPostSync`: with these flags, devices need not wait for each other.
    const FLAGS: u32 = 3;
    call(|| {
        let most = lock().models.len();
        let count =
            usize::try_from(count).ok().filter(|n| (1..=most).contains(n)).ok_or(Error::InvalidValue)?;
        if flags & !FLAGS != 0 {
            return Err(Error::InvalidValue);
        }
        let (mut devices, mut first, mut launches) = (BTreeSet::new(), None, Vec::new());
        for at in (0..count).map(|n| list.plus(8 * WORDS * n)) {
            let fields = words(if list.is_null() { list } else { at }, WORDS)?;
            let [function, a, b, c, _, shared, stream] = fields[..] else { return Err(Error::InvalidValue) };
            if stream == 0 {
                return Err(Error::InvalidHandle);
            }
            let device = lock().stream_device(stream).map_err(|_| Error::InvalidValue)?;
            if !devices.insert(device)
                || *first.get_or_insert([function, a, b, c, shared]) != [function, a, b, c, shared]
            {
                return Err(Error::InvalidValue);
            }
            let [low, high] = [|word: u64| word as u32, |word: u64| (word >> 32) as u32];
            let grid = Dim3 { x: low(a), y: high(a), z: low(b) };
            let sizes = groups(grid, Dim3 { x: high(b), y: low(c), z: high(c) }, shared as usize);
            let function = on_device(device, || lock().kernel(function))?;
            launches.push((stream, prepare(function, sizes, host::pointer(at.plus(32)), NONE, false)?));
        }
        launches.into_iter().try_for_each(|(stream, launch)| submit(stream, Op::Launch(launch)))
    })
}

/// `hipLaunchConfig_t`: grid, block, LDS size, stream, attributes and their number.
pub(crate) extern "C" fn launch_kernel_ex(configuration: Ptr, symbol: u64, arguments: Ptr) -> Code {
    call(|| {
        let fields = words(configuration, 7)?;
        let dimension = |n: usize| (fields[n / 2] >> (32 * (n % 2))) as u32;
        let dim =
            |start: usize| Dim3 { x: dimension(start), y: dimension(start + 1), z: dimension(start + 2) };
        let sizes = groups(dim(0), dim(3), fields[3] as usize);
        let cooperative = is_cooperative(host::pointer(configuration.plus(40)), fields[6] as u32 as usize)?;
        start(symbol, sizes, arguments, NONE, cooperative, fields[4])
    })
}

/// True if any of the attributes, of 72 bytes each, requests a cooperative launch.
fn is_cooperative(list: Ptr, count: usize) -> Result<bool> {
    const COOPERATIVE: u32 = 2;
    const BYTES: usize = 72;
    let mut cooperative = false;
    for n in 0..count.min(64) {
        let attribute = words(list.plus(n * BYTES), 2)?;
        cooperative |= attribute[0] as u32 == COOPERATIVE && attribute[1] as u32 != 0;
    }
    Ok(cooperative)
}

pub(crate) extern "C" fn launch_host_func(
    stream: u64,
    function: Option<extern "C" fn(Ptr)>,
    data: Ptr,
) -> Code {
    call(|| submit(stream, Op::Call(HostCall::Plain(function.ok_or(Error::InvalidValue)?, data))))
}

pub(crate) extern "C" fn stream_add_callback(
    stream: u64,
    function: Option<extern "C" fn(u64, u32, Ptr)>,
    data: Ptr,
    flags: u32,
) -> Code {
    call(|| {
        let function = function.filter(|_| flags == 0).ok_or(Error::InvalidValue)?;
        submit(stream, Op::Call(HostCall::Stream(function, stream, data)))
    })
}
