//! Extracts code objects from the files that contain them: bundles, compressed bundles, and host programs and
//! libraries of HIP.
//!
//! A HIP compiler stores the bundle of each source file in the section `.hip_fatbin` of the host's object, and the linker concatenates
//! these sections (Clang documentation, *HIP Support*; Clang's `HIPUtility.cpp`). Each bundle may be compressed.

mod compressed;

use std::borrow::Cow;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _, elf};

pub use super::bundle::Entry;
use super::bundle::{self, COMPRESSED};
use super::error::fault;
use super::{ObjectError, ReadFault};

/// The section of a host's ELF file that contains the bundles.
const FAT_BINARY: &str = ".hip_fatbin";
/// The alignment of bundles. Current compilers align them to 4096 bytes, older ones to less.
const ALIGN: usize = 8;
/// The maximum unpacked size of a compressed bundle, in bytes, because all of it is in memory at once.
const MOST_UNPACKED: u64 = 2 << 30;
/// The maximum total unpacked size of all compressed bundles of a file, in bytes, so that a small file cannot take much time.
const MOST_IN_ALL: u64 = 64 << 30;

/// True if the bytes are a bundle, compressed or not, or a host's ELF file that contains bundles.
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

/// A bundle of a container: a part of the file, or the unpacked form of a compressed part.
pub struct Bundle<'d> {
    bytes: Cow<'d, [u8]>,
}

impl Bundle<'_> {
    /// The bundle's entries, in order.
    ///
    /// # Errors
    /// The errors of [`bundle::entries`].
    pub fn entries(&self) -> Result<Vec<Entry<'_>>, ObjectError> {
        bundle::entries(&self.bytes)
    }
}

/// The bundles of a file, in order. A compressed bundle is unpacked when the iterator reaches it, so that only the bundles that the caller
/// keeps are in memory; libraries may have gigabytes of code.
///
/// ```
/// use gcn_emit::object::container;
///
/// for bundle in container::bundles(b"__CLANG_OFFLOAD_BUNDLE__\0\0\0\0\0\0\0\0")? {
///     assert!(bundle?.entries()?.is_empty());
/// }
/// # Ok::<(), gcn_emit::object::ObjectError>(())
/// ```
///
/// # Errors
/// [`ObjectError::Read`] if the bytes are not a container. If a bundle is damaged, or unpacks to more than 2 GiB, or all of them unpack to
/// more than 64 GiB, the iterator's last item is an error; its offset is relative to the bundle.
pub fn bundles(bytes: &[u8]) -> Result<Bundles<'_>, ObjectError> {
    let rest = if bundle::is_bundle(bytes) {
        bytes
    } else {
        fat_binary(bytes).ok_or_else(|| fault(0, ReadFault::NotABundle))?
    };
    Ok(Bundles { bytes: rest, at: 0, room: MOST_IN_ALL })
}

/// The bundles of a file: see [`bundles`].
pub struct Bundles<'d> {
    bytes: &'d [u8],
    /// The offset at which the search for the next bundle begins.
    at: usize,
    /// The number of bytes that may still be unpacked.
    room: u64,
}

impl<'d> Iterator for Bundles<'d> {
    type Item = Result<Bundle<'d>, ObjectError>;

    fn next(&mut self) -> Option<Self::Item> {
        let starts = (self.at..self.bytes.len()).step_by(ALIGN);
        let Some(rest) = starts.filter_map(|at| self.bytes.get(at..)).find(|rest| bundle::is_bundle(rest))
        else {
            self.at = self.bytes.len();
            return None;
        };
        let start = self.bytes.len() - rest.len();
        let next = self.take(rest);
        let taken = next.as_ref().map_or(rest.len(), |(_, taken)| (*taken).max(ALIGN));
        self.at = start.saturating_add(taken.next_multiple_of(ALIGN));
        Some(next.map(|(bundle, _)| bundle))
    }
}

impl<'d> Bundles<'d> {
    /// The bundle with which `rest` begins, and the number of bytes that it occupies.
    fn take(&mut self, rest: &'d [u8]) -> Result<(Bundle<'d>, usize), ObjectError> {
        if !rest.starts_with(COMPRESSED) {
            let end = bundle::end(rest, &bundle::entries(rest)?);
            return Ok((Bundle { bytes: Cow::Borrowed(&rest[..end]) }, end));
        }
        let (unpacked, taken) = compressed::unpack(rest, self.room.min(MOST_UNPACKED))?;
        self.room -= unpacked.len() as u64;
        Ok((Bundle { bytes: Cow::Owned(unpacked) }, taken))
    }
}

/// The section of a host's ELF file that contains the bundles; `None` if there is none.
fn fat_binary(bytes: &[u8]) -> Option<&[u8]> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
    let machine = file.elf_header().e_machine.get(file.endian());
    let section = file.section_by_name(FAT_BINARY).filter(|_| machine != elf::EM_AMDGPU)?;
    section.data().ok().filter(|data| !data.is_empty())
}
