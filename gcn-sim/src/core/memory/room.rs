//! Whether the host has room for what is simulated.
//!
//! An allocation of Linux succeeds long before there is memory for it, and the process that touches it then is killed.
//! Large allocations are therefore compared with the memory that the system reports as free.

/// There is no room for what is asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{asked} bytes are asked for, which this machine does not have{}; make the buffers smaller", Free(.available))]
pub struct AllocError {
    /// Bytes asked for.
    pub asked: u64,
    /// Free bytes, if the system reports them.
    pub available: Option<u64>,
}

struct Free<'a>(&'a Option<u64>);

impl std::fmt::Display for Free<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |free| write!(f, " (free are {free})"))
    }
}

/// Smaller allocations are not compared.
const LARGE: u64 = 1 << 20;

/// Whether `bytes` more may be used.
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

/// A vector with room for so many elements.
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

/// Free memory as Linux estimates it (`proc_meminfo(5)`, `MemAvailable`).
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
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
