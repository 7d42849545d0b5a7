//! Extracts code objects from the files that contain them: bundles, compressed bundles, and host programs and
//! libraries of HIP.
//!
//! A HIP compiler puts the bundle of each source file into the section `.hip_fatbin` of the host's object;
//! the linker concatenates them (Clang documentation, *HIP Support*; Clang's `HIPUtility.cpp`). Each may be
//! compressed.

mod compressed;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _, elf};
use typed_arena::Arena;

pub use super::bundle::Entry;
use super::bundle::{self, COMPRESSED};
use super::file::fault;
use super::{ObjectError, ReadFault};

/// The section of a host's ELF file that holds the bundles.
const FAT_BINARY: &str = ".hip_fatbin";
/// Bundles begin at multiples of this. Compilers align to 4096, older ones less.
const ALIGN: usize = 8;
/// Most bytes that all compressed bundles of a file may unpack to.
const MOST_UNPACKED: u64 = 2 << 30;

/// True if the bytes are a bundle, compressed or not, or a host's ELF file with bundles in it.
///
/// ```
/// use gcn_emit::object::container;
///
/// assert!(container::is_container(b"__CLANG_OFFLOAD_BUNDLE__"));
/// assert!(!container::is_container(b"v_nop\n"));
/// ```
pub fn is_container(bytes: &[u8]) -> bool {
    bundle::is_bundle(bytes) || fat_binary(bytes).is_some()
}

/// The entries of all bundles of a file, in their order. What was compressed is unpacked into `arena`.
///
/// ```
/// use gcn_emit::object::{container, typed_arena::Arena};
///
/// let arena = Arena::new();
/// assert!(container::entries(b"__CLANG_OFFLOAD_BUNDLE__\0\0\0\0\0\0\0\0", &arena)?.is_empty());
/// # Ok::<(), gcn_emit::object::ObjectError>(())
/// ```
///
/// # Errors
/// [`ObjectError::Read`] with the offset in the file, or in what was unpacked, if the bytes are not a container,
/// or if a bundle of it is damaged or unpacks to more than 2 GiB.
pub fn entries<'d>(bytes: &'d [u8], arena: &'d Arena<Vec<u8>>) -> Result<Vec<Entry<'d>>, ObjectError> {
    let bundles = if bundle::is_bundle(bytes) {
        bytes
    } else {
        fat_binary(bytes).ok_or_else(|| fault(0, ReadFault::NotABundle))?
    };
    let mut list = Vec::new();
    let mut room = MOST_UNPACKED;
    let mut rest = bundles;
    while let Some(start) = next_bundle(rest) {
        rest = &rest[start..];
        let taken = if rest.starts_with(COMPRESSED) {
            let (unpacked, taken) = compressed::unpack(rest, room)?;
            room -= unpacked.len() as u64;
            list.extend(bundle::entries(arena.alloc(unpacked))?);
            taken
        } else {
            let entries = bundle::entries(rest)?;
            let end = bundle::end(rest, &entries);
            list.extend(entries);
            end
        };
        rest = rest.get(taken.max(ALIGN).next_multiple_of(ALIGN)..).unwrap_or_default();
    }
    Ok(list)
}

/// Where the next bundle begins.
fn next_bundle(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).step_by(ALIGN).find(|at| bytes.get(*at..).is_some_and(bundle::is_bundle))
}

/// The section of a host's ELF file with the bundles.
fn fat_binary(bytes: &[u8]) -> Option<&[u8]> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
    let machine = file.elf_header().e_machine.get(file.endian());
    let section = file.section_by_name(FAT_BINARY).filter(|_| machine != elf::EM_AMDGPU)?;
    section.data().ok().filter(|data| !data.is_empty())
}
