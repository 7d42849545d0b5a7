//! The sensitivity of a result to parameters that nobody has published.

use rayon::prelude::*;
use serde::Serialize;

use super::config::Config;
use super::report::TimedReport;
use super::stall::Pipe;
use crate::core::params::{Grade, Params};

/// The range of a result over the ranges of the assumed parameters.
///
/// Each parameter is set to both ends of its range, the others as they are; then all of them to the ends that made the run
/// shorter, and to those that made it longer. The intervals hold the results of all these runs. Parameters that the caller
/// has set stay. A run with values within the ranges can still lie outside where parameters work against each other.
#[derive(Clone, Debug, Serialize)]
pub struct Ranges {
    /// Cycles of the device.
    pub cycles: Interval,
    /// The share of the cycles in which each pipeline was busy, from 0 to 1.
    pub pipes: Vec<PipeInterval>,
    /// The parameters, the one with the largest effect first.
    pub parameters: Vec<Sensitivity>,
}

/// A result with the table's values, its least and its greatest value.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Interval<T = u64> {
    /// With the table's values.
    pub value: T,
    /// The least.
    pub low: T,
    /// The greatest.
    pub high: T,
}

/// How busy a pipeline was.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PipeInterval {
    /// The pipeline.
    pub pipe: Pipe,
    /// Its utilization.
    pub utilization: Interval<f64>,
}

/// The effect of one parameter.
#[derive(Clone, Debug, Serialize)]
pub struct Sensitivity {
    /// Its name.
    pub name: String,
    /// Its value in the table.
    pub value: String,
    /// The ends of its range.
    pub range: [String; 2],
    /// The cycles of the run with each of them.
    pub cycles: [u64; 2],
}

impl Sensitivity {
    /// The setting with the fewer cycles, or with the more.
    fn end(&self, longer: bool) -> (String, String) {
        let high = (self.cycles[1] > self.cycles[0]) == longer;
        (self.name.clone(), self.range[usize::from(high)].clone())
    }

    /// By how many cycles it moves the result.
    fn effect(&self) -> u64 {
        self.cycles[0].abs_diff(self.cycles[1])
    }
}

/// Runs a kernel with `run` over the ranges of the assumed parameters, on several threads. `report` is that of the run with
/// `config` itself.
///
/// # Errors
/// The first of `run`.
pub fn ranges<E: Send>(
    report: &TimedReport,
    config: &Config,
    run: impl Fn(&Config) -> Result<TimedReport, E> + Sync,
) -> Result<Ranges, E> {
    let Some(target) = gcn_isa::Target::with_instructions().find(|target| target.name() == report.target)
    else {
        return Ok(summary(report, &[], Vec::new()));
    };
    let with = |overrides: &[(String, String)]| {
        let mut config = Config { timeline: 0, wave_reports: 0, complete: false, ..config.clone() };
        config.overrides.extend_from_slice(overrides);
        run(&config)
    };
    let parameters = Params::new(target, &config.overrides).into_parameters();
    let assumed = parameters.into_iter().filter(|parameter| parameter.grade == Grade::Assumed);
    let assumed: Vec<_> = assumed.filter_map(|p| Some((p.range?, p.name, p.value))).collect();
    let one = |(range, name, value): (&[String; 2], &String, &String)| -> Result<_, E> {
        let end = |end: &String| with(&[(name.clone(), end.clone())]);
        let ends = [end(&range[0])?, end(&range[1])?];
        let cycles = [ends[0].cycles, ends[1].cycles];
        let (name, value, range) = (name.clone(), value.clone(), range.clone());
        Ok((Sensitivity { name, value, range, cycles }, ends))
    };
    let each = assumed.par_iter().map(|(range, name, value)| one((range, name, value)));
    let (mut parameters, ends): (Vec<Sensitivity>, Vec<[TimedReport; 2]>) =
        each.collect::<Result<Vec<_>, E>>()?.into_iter().unzip();
    let corner = |longer| {
        let moved = parameters.iter().filter(|p| p.effect() > 0);
        with(&moved.map(|parameter| parameter.end(longer)).collect::<Vec<_>>())
    };
    let (shorter, longer) = rayon::join(|| corner(false), || corner(true));
    let reports: Vec<TimedReport> = ends.into_iter().flatten().chain([shorter?, longer?]).collect();
    parameters.sort_by_key(|p| std::cmp::Reverse(p.effect()));
    Ok(summary(report, &reports, parameters))
}

fn summary(report: &TimedReport, others: &[TimedReport], parameters: Vec<Sensitivity>) -> Ranges {
    let all = || others.iter().chain([report]);
    let cycles = || all().map(|report| report.cycles);
    let (low, high) = (cycles().min().unwrap_or(0), cycles().max().unwrap_or(0));
    let pipe = |pipe: Pipe| {
        let of = |report: &TimedReport| report.pipe(pipe).map_or(0.0, |p| p.utilization);
        let (low, high) = (all().map(of).fold(f64::INFINITY, f64::min), all().map(of).fold(0.0, f64::max));
        PipeInterval { pipe, utilization: Interval { value: of(report), low, high } }
    };
    Ranges {
        cycles: Interval { value: report.cycles, low, high },
        pipes: report.pipes.iter().filter(|p| p.issued > 0).map(|p| pipe(p.pipe)).collect(),
        parameters,
    }
}

impl Ranges {
    /// The intervals, and the parameters that move the result, as text.
    pub fn text(&self) -> String {
        let Interval { value, low, high } = self.cycles;
        let mut out =
            format!("over the ranges of the assumed parameters: {low} to {high} cycles ({value})\n");
        for PipeInterval { pipe, utilization: u } in &self.pipes {
            let [low, high, value] = [u.low, u.high, u.value].map(|share| 100.0 * share);
            out += &format!("  {pipe} busy {low:.1}% to {high:.1}% ({value:.1}%)\n");
        }
        for p in self.parameters.iter().filter(|p| p.effect() > 0) {
            let ([from, to], [first, second]) = (&p.range, p.cycles);
            out += &format!("  {} = {}: {first} cycles with {from}, {second} with {to}\n", p.name, p.value);
        }
        let still = self.parameters.iter().filter(|p| p.effect() == 0).count();
        out + &format!("  {still} others change nothing\n")
    }
}
