//! Checks that the host has enough memory for simulated memory.
//!
//! On Linux, an allocation succeeds even if there is not enough memory, and the process is killed when it touches the pages. So large
//! allocations are first compared with the available memory that the system reports.

use std::sync::atomic::AtomicU64;

use zerocopy::FromZeros;

/// The host does not have enough memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{asked} bytes are asked for, which this machine does not have{}; make the buffers smaller", Free(.available))]
pub struct AllocError {
    /// The requested number of bytes.
    pub asked: u64,
    /// The available number of bytes, if the system reports it.
    pub available: Option<u64>,
}

struct Free<'a>(&'a Option<u64>);

impl std::fmt::Display for Free<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |free| write!(f, " (free are {free})"))
    }
}

/// Smaller allocations are not checked.
const LARGE: u64 = 1 << 20;

/// Checks that `bytes` more bytes may be allocated.
pub(crate) fn check(bytes: u64) -> Result<(), AllocError> {
    if bytes < LARGE {
        return Ok(());
    }
    let available = available();
    match available {
        Some(free) if free < bytes => Err(AllocError { asked: bytes, available }),
        _ => Ok(()),
    }
}

/// A vector with capacity for `count` elements.
pub(crate) fn vector<T>(count: u64) -> Result<Vec<T>, AllocError> {
    let bytes = count.saturating_mul(size_of::<T>() as u64);
    check(bytes)?;
    let mut list = Vec::new();
    let reserved = usize::try_from(count).ok().map(|count| list.try_reserve_exact(count));
    if reserved.is_some_and(|r| r.is_ok()) {
        Ok(list)
    } else {
        Err(AllocError { asked: bytes, available: None })
    }
}

/// The available memory according to Linux (`proc_meminfo(5)`, `MemAvailable`); `None` on other systems.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// `count` zeros. The pages of a large list are committed only when they are written.
pub(crate) fn zeros(count: u64) -> Result<Box<[AtomicU64]>, AllocError> {
    let bytes = count.saturating_mul(size_of::<AtomicU64>() as u64);
    check(bytes)?;
    let list = usize::try_from(count).ok().map(<[AtomicU64]>::new_box_zeroed_with_elems);
    list.and_then(Result::ok).ok_or(AllocError { asked: bytes, available: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused() {
        for bytes in [u64::MAX, 1 << 60] {
            let error = vector::<u8>(bytes).unwrap_err();
            assert_eq!(error.asked, bytes);
            assert!(error.to_string().contains("make the buffers smaller"), "{error}");
        }
        assert_eq!(vector::<u32>(1000).map(|list| list.capacity() >= 1000), Ok(true));
        assert!(vector::<u64>(u64::MAX).is_err());
    }
}
