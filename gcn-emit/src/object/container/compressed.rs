//! Compressed bundles: a header, then a bundle as one zlib stream or one Zstandard frame (Clang's
//! `OffloadBundler.h`).
//!
//! The magic text is followed by: the version of the header and the compression method (2 bytes each); from version 2 on, the total size;
//! in all versions, the unpacked size (sizes have 4 bytes, from version 3 on 8 bytes); and 8 bytes of an MD5 hash.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

use super::super::bundle::COMPRESSED;
use super::super::error::fault;
use super::super::{ObjectError, ReadFault};

/// The values of the method (`llvm::compression::Format`).
const ZLIB: u64 = 0;
const ZSTD: u64 = 1;
/// The size of the hash in bytes.
const HASH: usize = 8;

/// The fields of a header.
struct Header {
    method: u64,
    /// The size of header and data in bytes; `None` if the header does not contain it.
    whole: Option<u64>,
    unpacked: u64,
    /// The size of the header in bytes.
    bytes: usize,
}

fn header(bytes: &[u8]) -> Result<Header, ObjectError> {
    let mut at = COMPRESSED.len();
    let mut number = |size: usize| -> Result<u64, ObjectError> {
        let field = bytes.get(at..at + size);
        let what = "the header of a compressed bundle";
        let cut = ReadFault::Truncated { what, bytes: size as u64, end: bytes.len() as u64 };
        let field = field.ok_or_else(|| fault(at as u64, cut))?;
        at += size;
        Ok(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    let (version, method) = (number(2)?, number(2)?);
    let size = match version {
        1 | 2 => 4,
        3 => 8,
        _ => return Err(fault(COMPRESSED.len() as u64, ReadFault::CompressedVersion { version })),
    };
    let whole = if version == 1 { None } else { Some(number(size)?) };
    let unpacked = number(size)?;
    Ok(Header { method, whole, unpacked, bytes: at + HASH })
}

/// Unpacks the compressed bundle with which `bytes` begin; an error if its unpacked size exceeds `room` bytes. Also returns the number of
/// bytes that the compressed bundle occupies.
pub(super) fn unpack(bytes: &[u8], room: u64) -> Result<(Vec<u8>, usize), ObjectError> {
    let header = header(bytes)?;
    if header.unpacked > room {
        let (size, most) = (header.unpacked, room);
        return Err(fault(0, ReadFault::TooLargeUnpacked { size, most }));
    }
    let end = header.whole.map_or(Some(bytes.len()), |whole| usize::try_from(whole).ok());
    let data = end.and_then(|end| bytes.get(header.bytes..end)).ok_or_else(|| {
        let what = "a compressed bundle";
        let bytes_asked = header.whole.unwrap_or(header.bytes as u64);
        fault(0, ReadFault::Truncated { what, bytes: bytes_asked, end: bytes.len() as u64 })
    })?;
    let damaged = |problem: String| fault(header.bytes as u64, ReadFault::Unpack { problem });
    let mut left = data;
    let unpacked = match header.method {
        ZLIB => read(flate2::bufread::ZlibDecoder::new(&mut left), header.unpacked),
        ZSTD => StreamingDecoder::new_with_max_window_size(&mut left, header.unpacked.max(1 << 20))
            .map_err(|error| error.to_string())
            .and_then(|decoder| read(decoder, header.unpacked)),
        method => return Err(fault(6, ReadFault::CompressedMethod { method })),
    };
    let unpacked = unpacked.map_err(damaged)?;
    Ok((unpacked, header.whole.map_or(bytes.len() - left.len(), |_| header.bytes + data.len())))
}

/// Reads exactly `size` bytes; an error if there are fewer or more.
fn read(source: impl Read, size: u64) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    // Attempts to read one byte more than expected, to find out whether there are more.
    source.take(size + 1).read_to_end(&mut unpacked).map_err(|error| error.to_string())?;
    if unpacked.len() as u64 == size {
        Ok(unpacked)
    } else {
        Err(format!("it does not have the {size} bytes that its header says"))
    }
}
