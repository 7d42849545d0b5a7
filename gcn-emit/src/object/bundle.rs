//! Clang offload bundles: several code objects, each for a different target, in one file.
//!
//! Layout (Clang documentation, *Clang Offload Bundler*, *Bundled Binary File Layout*): a magic text, the number of
//! entries, offset, size and name of each entry, then the code objects. Names are `<kind>-<triple>-<target id>`, such
//! as `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+`.

use super::error::fault;
use super::{ObjectError, ReadFault};
use crate::target_id::TargetId;

const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// The magic text of a compressed bundle.
pub(super) const COMPRESSED: &[u8] = b"CCOB";
/// The size of an entry in bytes, without its name.
const ENTRY: usize = 24;

/// An entry of a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry<'d> {
    /// The name: kind of offloading, target triple, target ID.
    pub name: &'d str,
    /// The target of the code object; `None` for the host and for unsupported targets.
    pub target_id: Option<TargetId>,
    /// The offset of the code object in the file.
    pub offset: u64,
    /// The code object.
    pub bytes: &'d [u8],
}

/// True if the bytes begin like a bundle, compressed or not.
pub fn is_bundle(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || bytes.starts_with(COMPRESSED)
}

/// Lists the entries of a bundle.
///
/// ```
/// use gcn_emit::object::bundle;
///
/// let mut file = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
/// let name = b"hipv4-amdgcn-amd-amdhsa--gfx942";
/// for number in [1, 24 + 8 + 24 + name.len() as u64, 4, name.len() as u64] {
///     file.extend(number.to_le_bytes());
/// }
/// file.extend(name);
/// file.extend(b"\x7fELF");
/// let entries = bundle::entries(&file)?;
/// assert_eq!(entries[0].target_id, Some("gfx942".parse()?));
/// assert_eq!(entries[0].bytes, b"\x7fELF");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ObjectError::Read`] if the bytes are not a bundle, if the bundle is compressed, or if an entry lies outside of the bundle.
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, ObjectError> {
    if bytes.starts_with(COMPRESSED) {
        return Err(fault(0, ReadFault::CompressedBundle));
    }
    if !bytes.starts_with(MAGIC) {
        return Err(fault(0, ReadFault::NotABundle));
    }
    let mut at = MAGIC.len();
    let count = number(bytes, &mut at)?;
    // There cannot be more entries than fit in the bytes.
    let room = (bytes.len() - at) / ENTRY;
    if count > room as u64 {
        let what = "the list of entries";
        let size = count.saturating_mul(ENTRY as u64);
        return Err(fault(at as u64, ReadFault::Truncated { what, bytes: size, end: bytes.len() as u64 }));
    }
    let mut list = Vec::new();
    // The total size of all entries may not exceed that of the file, so that overlapping entries cannot make a small file take much time.
    let mut room = bytes.len() as u64;
    for _ in 0..count {
        let start = at as u64;
        let entry = entry(bytes, &mut at)?;
        let left = room.checked_sub(entry.bytes.len() as u64);
        room = left.ok_or_else(|| fault(start, ReadFault::EntriesOverlap))?;
        list.push(entry);
    }
    Ok(list)
}

/// The size in bytes of a bundle with these entries.
#[cfg(feature = "containers")]
pub(super) fn end(bytes: &[u8], entries: &[Entry<'_>]) -> usize {
    let header = MAGIC.len() + 8 + entries.iter().map(|e| ENTRY + e.name.len()).sum::<usize>();
    let ends = entries.iter().map(|e| usize::try_from(e.offset).unwrap_or(bytes.len()) + e.bytes.len());
    ends.max().unwrap_or(0).max(header).min(bytes.len())
}

/// The code object for `wanted` in a bundle: among those that run on that target, the one with the most feature settings.
///
/// # Errors
/// The errors of [`entries`], and [`ReadFault::NotInBundle`] with a list of the bundle's entries.
pub fn extract(bytes: &[u8], wanted: TargetId) -> Result<Entry<'_>, ObjectError> {
    let all = entries(bytes)?;
    let settings = |e: &&Entry<'_>| {
        let set = |feature| feature != crate::target_id::Feature::Any;
        e.target_id.map_or(0, |id| u8::from(set(id.xnack)) + u8::from(set(id.sramecc)))
    };
    let fits = |e: &&Entry<'_>| e.target_id.is_some_and(|id| id == wanted || id.runs_on(wanted));
    all.iter().filter(fits).max_by_key(settings).copied().ok_or_else(|| {
        let names: Vec<_> = all.iter().take(32).map(|e| e.name).collect();
        fault(MAGIC.len() as u64, ReadFault::NotInBundle { wanted, there: names.join(", ") })
    })
}

fn entry<'d>(bytes: &'d [u8], at: &mut usize) -> Result<Entry<'d>, ObjectError> {
    let start = *at as u64;
    let (offset, size) = (number(bytes, at)?, number(bytes, at)?);
    let length = number(bytes, at)?;
    let truncated =
        |at, what, size| fault(at, ReadFault::Truncated { what, bytes: size, end: bytes.len() as u64 });
    let range = |from: u64, size: u64| {
        let end = from.checked_add(size)?;
        bytes.get(usize::try_from(from).ok()?..usize::try_from(end).ok()?)
    };
    let name_at = *at as u64;
    let name = range(name_at, length).ok_or_else(|| truncated(name_at, "the name of an entry", length))?;
    *at += name.len();
    let name = std::str::from_utf8(name).map_err(|_| {
        fault(name_at, ReadFault::Note("the name of an entry is not UTF-8; is the file damaged?"))
    })?;
    let content = range(offset, size).ok_or_else(|| truncated(start, "a code object of the bundle", size))?;
    Ok(Entry { name, target_id: target_id(name), offset, bytes: content })
}

fn number(bytes: &[u8], at: &mut usize) -> Result<u64, ObjectError> {
    let end = bytes.len() as u64;
    let what = "a number of the bundle's list";
    let chunk = bytes.get(*at..).and_then(|rest| rest.first_chunk::<8>());
    let chunk = chunk.ok_or_else(|| fault(*at as u64, ReadFault::Truncated { what, bytes: 8, end }))?;
    *at += 8;
    Ok(u64::from_le_bytes(*chunk))
}

/// The target ID in the name of an entry, after the kind of offloading; `None` if there is none or it is not supported.
fn target_id(name: &str) -> Option<TargetId> {
    name.split_once('-')?.1.parse().ok()
}
