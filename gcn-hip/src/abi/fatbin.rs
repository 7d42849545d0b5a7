//! Functions that clang's start-up code and its kernel stubs call.

use super::{Code, Dim3, Out, call, text};
use crate::error::{Error, Result};
use crate::heap::Kind;
use crate::host::{self, Ptr};
use crate::module::{Managed, Symbol};
use crate::state::{Configuration, lock, lock_for, thread};

/// `__CudaFatBinaryWrapper`: a magic number, a version, the bundle.
const MAGIC: u32 = 0x4849_5046;

/// Returns the handle of the binary, as a pointer.
pub(crate) extern "C" fn register_fat_binary(wrapper: Ptr) -> u64 {
    let mut handle = 0;
    call(|| {
        let magic = host::word(wrapper) as u32;
        if magic != MAGIC {
            eprintln!("gcn-hip: a fat binary with the magic number {magic:#x} is not HIP's");
            return Err(Error::InvalidImage);
        }
        let image = image(host::pointer(wrapper.plus(8)))?;
        handle = lock_for(Some(image)).add_binary(image);
        Ok(())
    });
    handle
}

pub(crate) extern "C" fn unregister_fat_binary(binary: u64) {
    call(|| {
        lock().remove_binary(binary);
        Ok(())
    });
}

#[allow(clippy::too_many_arguments, reason = "they are clang's")]
pub(crate) extern "C" fn register_function(
    binary: u64,
    stub: u64,
    _device_function: Ptr,
    name: Ptr,
    _thread_limit: u32,
    _thread: Ptr,
    _block: Ptr,
    _block_dim: Ptr,
    _grid_dim: Ptr,
    _size: Ptr,
) {
    call(|| {
        let name = text(name)?;
        lock().kernels.insert(stub, Symbol { binary, name });
        Ok(())
    });
}

#[allow(clippy::too_many_arguments, reason = "they are clang's")]
pub(crate) extern "C" fn register_var(
    binary: u64,
    variable: u64,
    _host_name: Ptr,
    name: Ptr,
    _external: i32,
    _size: usize,
    _constant: i32,
    _global: i32,
) {
    call(|| {
        let name = text(name)?;
        lock().variables.insert(variable, Symbol { binary, name });
        Ok(())
    });
}

pub(crate) extern "C" fn register_managed_var(
    binary: u64,
    place: Out<Option<Ptr>>,
    initial: Ptr,
    name: Ptr,
    size: usize,
    _alignment: u32,
) {
    call(|| {
        let name = text(name)?;
        let mut state = lock();
        let at = state.heap.alloc(Kind::Managed, 0, size, 1)?;
        state.heap.host.copy(at, initial, size);
        place.set(Some(at))?;
        let variable = place.place()?.address();
        state.variables.insert(variable, Symbol { binary, name: name.clone() });
        if let Some(binary) = state.binaries.get_mut(binary) {
            binary.managed.push(Managed { name, at });
        }
        Ok(())
    });
}

/// `__hipRegisterSurface` and `__hipRegisterTexture`: accepted, although images are not supported; using one is an error.
pub(crate) extern "C" fn register_image() {}

pub(crate) extern "C" fn push_call_configuration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: u64,
) -> Code {
    let configuration = Configuration { grid: grid.into(), block: block.into(), shared, stream };
    thread(|t| t.configurations.push(configuration));
    0
}

pub(crate) extern "C" fn pop_call_configuration(
    grid: Out<u32>,
    block: Out<u32>,
    shared: Out<usize>,
    stream: Out<u64>,
) -> Code {
    call(|| {
        let c = thread(|t| t.configurations.pop()).ok_or(Error::MissingConfiguration)?;
        for dimension in 0..3 {
            grid.at(dimension).set(c.grid[dimension])?;
            block.at(dimension).set(c.block[dimension])?;
        }
        shared.set(c.shared)?;
        stream.set(c.stream)
    })
}

/// The bytes of a bundle or code object in memory, whose size is known only from its own header.
pub(super) fn image(at: Ptr) -> Result<&'static [u8]> {
    const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
    /// The maximum number of entries of a bundle, in order to detect damaged ones.
    const ENTRIES: u64 = 1 << 12;
    if at.is_null() {
        return Err(Error::InvalidValue);
    }
    let start = host::bytes(at, 4);
    let size = if start == b"\x7fELF" {
        elf_size(at)
    } else if start == b"CCOB" {
        compressed_size(at)
    } else if host::bytes(at, BUNDLE.len()) == BUNDLE {
        let count = host::word(at.plus(BUNDLE.len()));
        let (mut entry, mut end) = (at.plus(BUNDLE.len() + 8), 0);
        if count > ENTRIES {
            return Err(Error::InvalidImage);
        }
        for _ in 0..count {
            let [offset, size, name] = [0, 8, 16].map(|field| host::word(entry.plus(field)) as usize);
            entry = entry.plus(24 + name);
            end = end.max(offset.saturating_add(size));
        }
        Some(end.max((entry.address() - at.address()) as usize))
    } else {
        None
    };
    let size = size.filter(|size| *size <= isize::MAX as usize).ok_or(Error::InvalidImage)?;
    Ok(host::image(at, size))
}

/// The size of an ELF file: the end of its section headers, sections and segments, whichever is last. `None` if the data are not an ELF
/// file for an AMD GPU.
fn elf_size(at: Ptr) -> Option<usize> {
    /// `EM_AMDGPU`; the sizes of headers in 64-bit files; the largest offset at which LLD places the program headers.
    const AMDGPU: usize = 224;
    const HEADERS: [usize; 2] = [56, 64];
    const NEAR: usize = 4096;
    let half = |offset: usize| (host::word(at.plus(offset)) & 0xffff) as usize;
    let (segments, sections) = (host::word(at.plus(32)) as usize, host::word(at.plus(40)) as usize);
    let (segment_size, segment_count) = (half(54), half(56));
    let (section_size, section_count) = (half(58), half(60));
    // The size can be computed only if the headers are those of an ELF file for an AMD GPU; other data may not even have as many bytes.
    let is_one = half(18) == AMDGPU && segments <= NEAR;
    if !is_one || segment_size != HEADERS[0] || ![0, HEADERS[1]].contains(&section_size) {
        return None;
    }
    let mut end = sections.checked_add(section_size * section_count)?;
    for n in 0..segment_count {
        let header = at.plus(segments.checked_add(n * segment_size)?);
        let (offset, size) = (host::word(header.plus(8)) as usize, host::word(header.plus(32)) as usize);
        end = end.max(offset.checked_add(size)?);
    }
    Some(end)
}

/// The size in the header of a compressed bundle, which exists from version 2 on (Clang documentation, *Compressed bundles*); `None` if
/// there is none.
fn compressed_size(at: Ptr) -> Option<usize> {
    let version = host::word(at) >> 32 & 0xffff;
    match version {
        2 => Some((host::word(at.plus(8)) & 0xffff_ffff) as usize),
        3 => usize::try_from(host::word(at.plus(8))).ok(),
        _ => None,
    }
}
