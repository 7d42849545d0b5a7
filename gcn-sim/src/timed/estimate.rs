//! Estimates the clock frequency, and from it the time in seconds. The model itself only counts cycles.
//!
//! A device that is busy with matrix products lowers its clock to limit its power. `data/clocks.tsv` contains measurements: the clock under
//! such a load, and the utilization of the matrix cores. The estimate interpolates linearly in the utilization, between the maximum clock
//! for idle matrix cores and the measured clock. In reality the clock also depends on the data, memory traffic, cooling and duration; no
//! measurement of power over different loads is public.

use gcn_isa::Target;
use serde::Serialize;

use super::report::TimedReport;
use super::stall::Pipe;

/// An estimated clock, and the resulting time of a report's cycles.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ClockEstimate {
    /// The load on whose measurement the estimate is based.
    pub load: &'static str,
    /// The clock in MHz.
    pub megahertz: f64,
    /// The time in seconds at that clock.
    pub seconds: f64,
    /// The time in seconds at the maximum clock.
    pub seconds_at_boost: f64,
    /// The source of the measurement.
    pub source: &'static str,
}

/// There is no measurement on which an estimate could be based.
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

/// Checks that there is a measurement for the workload `load`, named after the element type of its matrix products: `f16`, `bf16`, `fp8`.
///
/// # Errors
/// [`NoMeasurement`], which lists the loads with measurements.
pub fn check_load(target: Target, load: &str) -> Result<(), NoMeasurement> {
    row(target.name(), load).map(drop)
}

fn row(target: &'static str, load: &str) -> Result<Row, NoMeasurement> {
    let known = || rows().map(|row| format!("{} {}", row.target, row.load)).collect::<Vec<_>>().join(", ");
    let found = rows().find(|row| row.target == target && row.load == load);
    found.ok_or_else(|| NoMeasurement { target, load: load.to_owned(), known: known() })
}

impl TimedReport {
    /// Estimates the clock, and from it the time, from the utilization of the matrix cores under a `load` such as `bf16`. The estimate
    /// relies on published measurements of one library on one device, and is not part of the model.
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
    /// A line of text that states the clock and says that it is an estimate.
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

    /// The expected utilization follows from the published throughputs: 304 CUs with 2048 operations per clock for f16 and bf16, 4096 for
    /// fp8.
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
