//! Reads a file of samples in either format.

use super::samples::Sample;
use super::{csv, json};
use crate::failure::Failure;
use crate::file;

/// Reads a file of samples, CSV or JSON, gzipped or not.
pub fn read(path: &str) -> Result<Vec<Sample>, Failure> {
    let name = file::shown(path);
    let text = String::from_utf8(file::read_unpacked(path)?).map_err(|_| {
        Failure::input(format!("{name}: samples are text in UTF-8, CSV or JSON of rocprofv3"))
    })?;
    let first = text.trim_start().bytes().next();
    let samples = if matches!(first, Some(b'{' | b'[')) { json::read(&text) } else { csv::read(&text) };
    let samples = samples.map_err(|problem| Failure::input(format!("{name}: {problem}")))?;
    if samples.is_empty() {
        return Err(Failure::input(format!(
            "{name}: there is no sample in it; a shorter sampling interval gives more"
        )));
    }
    Ok(samples)
}
