//! An estimate of the clock, and so of the time in seconds. The model itself counts cycles and has no clock frequency.
//!
//! A device that is busy with matrix products lowers its clock to keep its power. `data/clocks.tsv` has what was measured:
//! the clock under such a load, and how busy the matrix cores were. Between the highest clock, for idle matrix cores, and
//! that one the estimate is linear in how busy they are. The truth depends on the data, on memory traffic, cooling and
//! time as well; of power itself no measurement over loads is public.

use gcn_isa::Target;
use serde::Serialize;

use super::report::TimedReport;
use super::stall::Pipe;

/// An estimated clock, and the time that it makes of a report's cycles.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ClockEstimate {
    /// The load whose measurement it rests on.
    pub load: &'static str,
    /// The clock.
    pub megahertz: f64,
    /// Cycles at that clock.
    pub seconds: f64,
    /// The same cycles at the highest clock.
    pub seconds_at_boost: f64,
    /// Where the measurement is from.
    pub source: &'static str,
}

/// There is no measurement to rest an estimate on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no clock of {target} was published for a load of `{load}`; there are measurements of {known}")]
pub struct NoMeasurement {
    target: &'static str,
    load: String,
    known: String,
}

/// A row of the table.
struct Row {
    target: &'static str,
    load: &'static str,
    boost: f64,
    loaded: f64,
    busy: f64,
    source: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    let text = include_str!("../../data/clocks.tsv");
    text.lines().skip(1).filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut fields = line.split('\t');
        let mut next = || fields.next();
        Some(Row {
            target: next()?,
            load: next()?,
            boost: next()?.parse().ok()?,
            loaded: next()?.parse().ok()?,
            busy: next()?.parse().ok()?,
            source: next()?,
        })
    })
}

/// Checks that there is a measurement of `load`, the element type of matrix products: `f16`, `bf16`, `fp8`.
///
/// # Errors
/// [`NoMeasurement`], which lists those that there are.
pub fn check_load(target: Target, load: &str) -> Result<(), NoMeasurement> {
    row(target.name(), load).map(drop)
}

fn row(target: &'static str, load: &str) -> Result<Row, NoMeasurement> {
    let known = || rows().map(|row| format!("{} {}", row.target, row.load)).collect::<Vec<_>>().join(", ");
    let found = rows().find(|row| row.target == target && row.load == load);
    found.ok_or_else(|| NoMeasurement { target, load: load.to_owned(), known: known() })
}

impl TimedReport {
    /// Estimates the clock from how busy the matrix cores are with a `load` as `bf16`, and so the time. It is an estimate from
    /// published measurements of one library on one device, not part of the model.
    ///
    /// # Errors
    /// [`NoMeasurement`] if none was published for the target and the load.
    pub fn estimate_clock(&self, load: &str) -> Result<ClockEstimate, NoMeasurement> {
        let row = row(self.target, load)?;
        let busy = self.pipe(Pipe::Matrix).map_or(0.0, |pipe| pipe.utilization);
        let megahertz = row.boost - (row.boost - row.loaded) * (busy / row.busy).min(1.0);
        let seconds = |megahertz: f64| self.cycles as f64 / (megahertz * 1e6);
        let (seconds, seconds_at_boost) = (seconds(megahertz), seconds(row.boost));
        Ok(ClockEstimate { load: row.load, megahertz, seconds, seconds_at_boost, source: row.source })
    }
}

impl ClockEstimate {
    /// A line of text that labels the clock as an estimate.
    pub fn text(&self) -> String {
        format!(
            "estimate for a load of {}, not part of the model: {:.0} MHz, {:.1} us ({:.1} us at the highest clock); {}\n",
            self.load,
            self.megahertz,
            1e6 * self.seconds,
            1e6 * self.seconds_at_boost,
            self.source
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Witness: the published throughputs. 304 CUs with 2048 operations of f16 and bf16 a clock, 4096 of fp8.
    #[test]
    fn how_busy_a_measured_load_was_follows_from_its_throughput() {
        let published = [("f16", 654.0, 2048.0), ("bf16", 708.0, 2048.0), ("fp8", 1273.0, 4096.0)];
        let mut found = 0;
        for row in rows() {
            let (_, tera, operations) = published.iter().find(|p| p.0 == row.load).unwrap();
            let peak = 304.0 * operations * row.loaded * 1e6;
            assert!((tera * 1e12 / peak - row.busy).abs() < 0.005, "{}", row.load);
            assert!(row.loaded < row.boost && row.source.contains(&format!("{tera} TFLOPS")), "{}", row.load);
            found += 1;
        }
        assert_eq!(found, include_str!("../../data/clocks.tsv").lines().count() - 3);
    }
}
