//! The note that contains the metadata.

/// The owner of the note (guide, *Code Object V3 and Above Note Records*).
pub(super) const OWNER: &[u8] = b"AMDGPU";
/// `NT_AMDGPU_METADATA`.
pub(super) const NT_AMDGPU_METADATA: u32 = 32;
/// The alignment of a note and its parts.
pub(super) const ALIGN: usize = 4;

/// The contents of a `.note` section with the metadata.
pub(crate) fn metadata_note(msgpack: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(msgpack.len() + 24);
    for word in [OWNER.len() as u32 + 1, msgpack.len() as u32, NT_AMDGPU_METADATA] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(OWNER);
    out.push(0);
    pad(&mut out);
    out.extend_from_slice(msgpack);
    pad(&mut out);
    out
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
}

/// An error in a note section, with its byte offset.
pub(super) struct NoteFault {
    pub(super) at: usize,
    pub(super) what: &'static str,
}

/// The `MessagePack` of the first metadata note in a note section.
pub(super) fn find_metadata(section: &[u8]) -> Result<Option<&[u8]>, NoteFault> {
    let mut at = 0;
    while at < section.len() {
        let truncated = || NoteFault { at, what: "a note runs past the end of its section" };
        let word = |i: usize| -> Option<usize> {
            let bytes = section.get(at + 4 * i..at + 4 * i + 4)?;
            usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
        };
        let (Some(name_size), Some(desc_size), Some(kind)) = (word(0), word(1), word(2)) else {
            return Err(truncated());
        };
        let name_at = at + 12;
        let name =
            name_at.checked_add(name_size).and_then(|end| section.get(name_at..end)).ok_or_else(truncated)?;
        let desc_at = (name_at + name_size).next_multiple_of(ALIGN);
        let desc =
            desc_at.checked_add(desc_size).and_then(|end| section.get(desc_at..end)).ok_or_else(truncated)?;
        if kind == NT_AMDGPU_METADATA as usize && name.strip_suffix(b"\0") == Some(OWNER) {
            return Ok(Some(desc));
        }
        at = (desc_at + desc_size).next_multiple_of(ALIGN);
    }
    Ok(None)
}

/// Checks the notes of a section as far as readers examine them. The error consists of the offset and the problem.
#[cfg(feature = "tools")]
pub(crate) fn check_notes(section: &[u8]) -> Result<(), (usize, String)> {
    let found = find_metadata(section).map_err(|fault| (fault.at, fault.what.to_owned()))?;
    let Some(bytes) = found else { return Ok(()) };
    crate::metadata::Metadata::from_msgpack(bytes).map(|_| ()).map_err(|error| (0, error.to_string()))
}

/// The metadata in a note section, if there are any that can be parsed.
#[cfg(feature = "tools")]
pub(crate) fn metadata_in_note(section: &[u8]) -> Option<crate::metadata::Metadata> {
    crate::metadata::Metadata::from_msgpack(find_metadata(section).ok()??).ok()
}
