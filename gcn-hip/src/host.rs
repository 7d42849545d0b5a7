//! Memory that the host and kernels share: device addresses are addresses of this process.
//!
//! An allocation is a block of host memory that the simulator reads and writes through atomics, at the same address at which C code sees
//! it. So device, pinned and managed memory are all the same, and pointers are valid on both sides.
#![allow(unsafe_code, reason = "memory that C code reads and writes at the same time")]

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use gcn_sim::Memory;

/// An address in this process, from a C caller or from [`Host::alloc`]. Only those two create a `Ptr`. So code that has a `Ptr` may rely on
/// the precondition of every HIP function: the caller guarantees that the memory which the function uses exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct Ptr(usize);

impl Ptr {
    /// The null address.
    pub(crate) const NULL: Ptr = Ptr(0);

    /// The address of values that this library owns, for C code. It is valid as long as the values live.
    pub(crate) fn of<T>(values: &[T]) -> Ptr {
        Ptr(values.as_ptr() as usize)
    }

    pub(crate) fn address(self) -> u64 {
        self.0 as u64
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == 0
    }

    /// The address `bytes` bytes later.
    pub(crate) fn plus(self, bytes: usize) -> Ptr {
        Ptr(self.0.wrapping_add(bytes))
    }
}

/// The alignment of allocations, as in ROCm (`hipMalloc` returns whole pages).
pub(crate) const ALIGN: usize = 4096;
/// The number of bytes between allocations, so that an access past the end does not hit the next one.
const GUARD: usize = 4096;
/// The size of the address space for allocations: large enough that freed addresses are not reused for a long time. If the system does not
/// grant a reservation, half of the size is tried, and so on down to the minimum.
const MOST: usize = 1 << 44;
const LEAST: usize = 1 << 32;

/// A reserved region of the address space. Allocations are placed in it, so that other memory of the process never has the address of a
/// former allocation.
struct Region {
    start: usize,
    end: usize,
    /// The address at which the next search for free space starts.
    next: usize,
}

impl Region {
    /// Reserves the region. Pages take memory only when they are touched. If the reservation fails, every later allocation fails.
    fn new() -> Region {
        let mut bytes = MOST;
        while bytes >= LEAST {
            // SAFETY: an anonymous mapping at an address that the system chooses.
            let at = unsafe { mmap(0, bytes, READ_WRITE, ANONYMOUS, -1, 0) };
            if at != FAILED {
                return Region { start: at, end: at + bytes, next: at };
            }
            bytes /= 2;
        }
        Region { start: 0, end: 0, next: 0 }
    }

    /// Finds a free range of `bytes` bytes for an allocation; `taken` contains the allocated ranges. `None` if there is none.
    fn place(&mut self, bytes: usize, taken: &BTreeMap<u64, usize>) -> Option<usize> {
        let size = bytes.max(1).checked_next_multiple_of(ALIGN)?.checked_add(GUARD)?;
        let fits = |from: usize| {
            let mut at = from;
            for (base, bytes) in taken.range(from as u64..) {
                if at.checked_add(size)? <= *base as usize {
                    break;
                }
                at = *base as usize + bytes.next_multiple_of(ALIGN) + GUARD;
            }
            at.checked_add(size).filter(|end| *end <= self.end).map(|_| at)
        };
        let at = fits(self.next).or_else(|| fits(self.start))?;
        self.next = at + size;
        Some(at)
    }

    /// Returns memory to the system; the addresses stay reserved and read as zero.
    fn release(base: usize, bytes: usize) {
        // SAFETY: the pages belong to the region, and to an allocation that nothing refers to any more.
        unsafe { madvise(base, bytes.next_multiple_of(ALIGN), DONT_NEED) };
    }
}

unsafe extern "C" {
    fn mmap(at: usize, bytes: usize, protection: i32, flags: i32, file: i32, offset: i64) -> usize;
    fn madvise(at: usize, bytes: usize, advice: i32) -> i32;
    fn msync(at: usize, bytes: usize, flags: i32) -> i32;
}

/// Constants of Linux: `PROT_READ | PROT_WRITE`, `MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE`, `MAP_FAILED`, `MADV_DONTNEED`.
const READ_WRITE: i32 = 3;
const ANONYMOUS: i32 = 0x2 | 0x20 | 0x4000;
const FAILED: usize = usize::MAX;
const DONT_NEED: i32 = 4;

/// True if memory is mapped at all addresses of a range.
pub(crate) fn is_mapped(at: Ptr, bytes: usize) -> bool {
    /// `MS_ASYNC` of Linux: the call has no effect, but fails if anything is not mapped.
    const ASYNC: i32 = 1;
    let start = at.0 & !(ALIGN - 1);
    let Some(end) = at.0.checked_add(bytes) else { return false };
    // SAFETY: the call reads and writes no memory of the process.
    unsafe { msync(start, end - start, ASYNC) == 0 }
}

/// The words that contain a range of bytes, as the simulator requires: whole, aligned words of eight bytes, which never cross a page
/// boundary.
///
/// # Safety
/// The memory must remain valid until it is removed from the [`Memory`] to which the slice is passed.
unsafe fn words(base: usize, bytes: usize) -> &'static [AtomicU64] {
    let start = base & !7;
    // SAFETY: guaranteed by the caller. `start` is aligned to words, and the bytes before and after the range are on the same pages as the
    // range. C code that writes to the range concurrently causes a race, as it would with a real device.
    unsafe { std::slice::from_raw_parts(start as *const AtomicU64, (base - start + bytes).div_ceil(8)) }
}

/// The simulator's memory, and the part of the address space that it shares with the host.
pub(crate) struct Host {
    memory: Memory,
    region: Region,
    /// True if kernels may not access the part of an allocation's last page after the end of the allocation.
    exact: bool,
    /// The sizes of the allocations in the region, by address.
    taken: BTreeMap<u64, usize>,
}

impl Host {
    pub(crate) fn new(exact: bool) -> Host {
        Host { memory: Memory::new(), region: Region::new(), exact, taken: BTreeMap::new() }
    }

    pub(crate) fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// True if any part of a range is in the region for allocations.
    pub(crate) fn reserves(&self, at: Ptr, bytes: usize) -> bool {
        at.0 < self.region.end && self.region.start < at.0.saturating_add(bytes)
    }

    /// Allocates zeroed bytes that kernels and host code may use; `None` if there is not enough space.
    pub(crate) fn alloc(&mut self, bytes: usize) -> Option<Ptr> {
        let base = self.region.place(bytes, &self.taken)?;
        // Unless `exact`, kernels may access the last page up to its end, as on hardware.
        let reach = if self.exact { bytes } else { bytes.max(1).next_multiple_of(ALIGN) };
        // SAFETY: the region exists as long as the process, and nothing else uses these addresses.
        let words = unsafe { words(base, reach) };
        self.memory.share(base as u64, words, reach).ok()?;
        self.taken.insert(base as u64, bytes);
        Some(Ptr(base))
    }

    /// Makes memory that the C caller owns accessible to kernels, until [`Host::free`] is called for it. Returns false if a part of it is
    /// already accessible.
    pub(crate) fn register(&mut self, at: Ptr, bytes: usize) -> bool {
        let base = at.0 & !3;
        let Some(end) = at.0.checked_add(bytes) else { return false };
        // SAFETY: the caller of `hipHostRegister` guarantees that the memory exists until it is unregistered.
        let words = unsafe { words(base, end - base) };
        self.memory.share(base as u64, words, end - base).is_ok()
    }

    /// Removes an allocation or registered memory from the kernels' memory, and frees it if it was allocated here.
    pub(crate) fn free(&mut self, at: Ptr) {
        let base = at.address() & !3;
        // An error means that the memory has already been removed.
        let _ = self.memory.free(base);
        if let Some(bytes) = self.taken.remove(&base) {
            Region::release(base as usize, bytes);
        }
    }

    /// Copies between any two addresses; the ranges may overlap.
    pub(crate) fn copy(&self, to: Ptr, from: Ptr, bytes: usize) {
        // SAFETY: the caller of the HIP function guarantees that both ranges exist.
        unsafe { std::ptr::copy(from.0 as *const u8, to.0 as *mut u8, bytes) }
        self.memory.mark_written(to.address(), bytes);
    }

    /// Fills a range with a pattern.
    pub(crate) fn fill(&self, to: Ptr, pattern: &[u8], count: usize) {
        if let [byte] = *pattern {
            // SAFETY: the caller of the HIP function guarantees that the range exists.
            unsafe { std::ptr::write_bytes(to.0 as *mut u8, byte, count) }
        } else {
            for index in 0..count {
                let at = to.plus(index * pattern.len());
                // SAFETY: as above, for `count` patterns.
                unsafe { std::ptr::copy_nonoverlapping(pattern.as_ptr(), at.0 as *mut u8, pattern.len()) }
            }
        }
        self.memory.mark_written(to.address(), count * pattern.len());
    }
}

/// A callback of the program, with its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostCall {
    /// `hipHostFn_t`.
    Plain(extern "C" fn(Ptr), Ptr),
    /// `hipStreamCallback_t`, with the stream.
    Stream(extern "C" fn(u64, u32, Ptr), u64, Ptr),
}

impl HostCall {
    /// Calls the callback. The runtime must not be locked, because the callback may use it.
    pub(crate) fn call(self) {
        match self {
            HostCall::Plain(function, data) => function(data),
            HostCall::Stream(function, stream, data) => function(stream, 0, data),
        }
    }
}

/// Copies bytes from an address.
pub(crate) fn bytes(at: Ptr, count: usize) -> Vec<u8> {
    let mut out = vec![0; count];
    // SAFETY: the caller of the HIP function guarantees that the bytes exist.
    unsafe { std::ptr::copy_nonoverlapping(at.0 as *const u8, out.as_mut_ptr(), count) }
    out
}

/// Writes bytes to an address.
pub(crate) fn put(at: Ptr, from: &[u8]) {
    // SAFETY: the caller of the HIP function guarantees that there is space for them.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), at.0 as *mut u8, from.len()) }
}

/// Bytes that exist as long as the process, or the library that contains them: the images of fat binaries.
pub(crate) fn image(at: Ptr, count: usize) -> &'static [u8] {
    // SAFETY: clang's start-up code passes static data of the program, and unregisters the image before that data disappears.
    unsafe { std::slice::from_raw_parts(at.0 as *const u8, count) }
}

/// Reads a little-endian 64-bit word.
pub(crate) fn word(at: Ptr) -> u64 {
    bytes(at, 8).iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Reads a little-endian 32-bit word.
pub(crate) fn word32(at: Ptr) -> u32 {
    bytes(at, 4).iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// Stores a 32-bit word, for which a kernel is waiting, with release ordering; the address must be a multiple of 4.
pub(crate) fn put_word(at: Ptr, value: u32) {
    use std::sync::atomic::Ordering::{Relaxed, Release};
    let (word, shift) = (at.0 & !7, 8 * (at.0 & 7));
    // SAFETY: the address is in one of the runtime's buffers and aligned to words; kernels access the buffer through the same atomics.
    let word = unsafe { &*(word as *const AtomicU64) };
    let put = |old: u64| Some(old & !(u64::from(u32::MAX) << shift) | u64::from(value) << shift);
    // The closure always returns `Some`, so the update cannot fail.
    let _ = word.fetch_update(Release, Relaxed, put);
}

unsafe extern "C" {
    fn getppid() -> i32;
    fn prctl(option: i32, ...) -> i32;
    fn raise(signal: i32) -> i32;
}

/// Asks the system to end this process when its parent `parent` ends: a kernel that keeps running after `gcn run` has ended would go
/// unnoticed.
pub(crate) fn ends_with(parent: u32) {
    const PR_SET_PDEATHSIG: i32 = 1;
    const SIGTERM: i32 = 15;
    const ENDED: u32 = 1;
    // SAFETY: these functions of the C library access no memory.
    unsafe {
        let found = getppid() as u32;
        if found == parent {
            prctl(PR_SET_PDEATHSIG, SIGTERM as std::ffi::c_ulong);
        }
        // The parent may have ended before the request was made.
        if found == parent && getppid() as u32 == ENDED && parent != ENDED {
            raise(SIGTERM);
        }
    }
}

unsafe extern "C" {
    fn pthread_atfork(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> i32;
}

/// Registers three functions that the C library calls when a thread forks the process: before the fork, and after it in the parent and in
/// the child.
pub(crate) fn around_fork(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: the functions exist as long as the process, and the C library stores what it needs. If there is not enough memory, the
    // registration fails, and a forked child must not use the runtime.
    unsafe { pthread_atfork(before, parent, child) };
}

unsafe extern "C" {
    fn fwrite(data: *const u8, size: usize, count: usize, stream: *mut std::ffi::c_void) -> usize;
    fn fflush(stream: *mut std::ffi::c_void) -> i32;
    static stdout: *mut std::ffi::c_void;
}

/// Prints through the C library's `stdout`, so that the output of the program and of kernels is in the right order.
pub(crate) fn print(text: &[u8]) {
    // SAFETY: `stdout` is a stream of the C library, and the length is that of `text`.
    unsafe { fwrite(text.as_ptr(), 1, text.len(), stdout) };
}

/// Flushes `stdout`.
pub(crate) fn flush_stdout() {
    // SAFETY: `stdout` is a stream of the C library.
    unsafe { fflush(stdout) };
}

unsafe extern "C" {
    /// The rows of `data/functions.tsv`, which `exports` defines in assembly: the addresses of the name and of the function, the version,
    /// and the tracer's number.
    static gcn_functions: [[usize; 4]; include!(concat!(env!("OUT_DIR"), "/count.rs"))];
}

/// A function of the library.
pub(crate) struct Function {
    pub name: &'static str,
    pub address: usize,
    /// The version of HIP that introduced it: 402 for 4.2.
    pub version: usize,
    /// The function's number in AMD's tracer, or 0 if it has none.
    pub traced: usize,
}

/// The name of the function with this number for AMD's tracer, as a C string; "unknown" if there is none.
pub(crate) fn traced_name(number: usize) -> *const std::ffi::c_char {
    let found = functions().find(|function| function.traced == number && number != 0);
    // In the assembly, each name is terminated by a zero.
    found.map_or(c"unknown".as_ptr(), |function| function.name.as_ptr().cast())
}

/// The functions of the library. A name with several versions occurs once for each version.
pub(crate) fn functions() -> impl Iterator<Item = Function> {
    // SAFETY: the assembly defines the table with this many rows, and nothing writes to it.
    let table = unsafe { &gcn_functions };
    table.iter().map(|&[name, address, version, traced]| {
        // SAFETY: the assembly stores the address of a zero-terminated string there.
        let name = unsafe { std::ffi::CStr::from_ptr(name as *const std::ffi::c_char) };
        Function { name: name.to_str().unwrap_or_default(), address, version, traced }
    })
}

/// The function whose address the caller has stored at `at`; `None` if it is null.
pub(crate) fn function(at: Ptr) -> Option<extern "C" fn(Ptr)> {
    // SAFETY: the caller of the HIP function guarantees that the value is a pointer to a function of this type, or null, which becomes
    // `None`.
    unsafe { std::mem::transmute::<usize, Option<extern "C" fn(Ptr)>>(word(at) as usize) }
}

/// The pointer at an address.
pub(crate) fn pointer(at: Ptr) -> Ptr {
    Ptr(word(at) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_kernels_see_the_same_bytes() {
        let mut host = Host::new(true);
        let a = host.alloc(10).unwrap();
        assert!(a.address().is_multiple_of(4096));
        put(a.plus(4), &[1, 2, 3]);
        assert_eq!(host.memory().read(a.address(), 8).unwrap(), [0, 0, 0, 0, 1, 2, 3, 0]);
        assert!(host.memory().read(a.address(), 11).is_err());
        host.memory().write(a.address(), &[9; 4]).unwrap();
        host.copy(a.plus(5), a, 2);
        assert_eq!(bytes(a, 8), [9, 9, 9, 9, 1, 9, 9, 0]);
        host.fill(a, &[1, 2], 2);
        assert_eq!(word(a), 0x0009_0901_0201_0201);
        host.free(a);
        assert!(host.memory().read(a.address(), 1).is_err());
        assert!(host.alloc(usize::MAX - 5000).is_none() && host.alloc(isize::MAX as usize).is_none());
    }

    #[test]
    fn memory_of_the_caller_can_be_shared() {
        let mut host = Host::new(true);
        let mut own = [1u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let at = Ptr(own.as_mut_ptr() as usize + 1);
        assert!(host.register(at, 6) && !host.register(at, 6));
        host.memory().write(at.address() + 1, &[77]).unwrap();
        host.free(at);
        assert!(host.memory().read(at.address(), 1).is_err());
        assert_eq!(own[2], 77);
    }
}
