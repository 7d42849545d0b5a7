//! Determines the sensitivity of a result to parameters without a public value.

use rayon::prelude::*;
use serde::Serialize;

use super::config::Config;
use super::report::TimedReport;
use super::stall::Pipe;
use crate::core::params::{Grade, Params};

/// The ranges of results over the ranges of the assumed parameters.
///
/// First, each parameter is set to both ends of its range, one parameter at a time. Then all parameters are set together, to the ends that
/// made the run shorter, and to the ends that made it longer. The intervals cover the results of all these runs. Parameters that the caller
/// has set are not varied. With other values in the ranges, a result can still lie outside of the intervals, if the effects of parameters
/// cancel each other.
#[derive(Clone, Debug, Serialize)]
pub struct Ranges {
    /// The cycles of the device.
    pub cycles: Interval,
    /// The utilization of each pipeline, from 0 to 1.
    pub pipes: Vec<PipeInterval>,
    /// The parameters, in descending order of effect.
    pub parameters: Vec<Sensitivity>,
}

/// A result with the table's values, and its minimum and maximum.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Interval<T = u64> {
    /// The result with the table's values.
    pub value: T,
    /// The minimum.
    pub low: T,
    /// The maximum.
    pub high: T,
}

/// The utilization of a pipeline.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PipeInterval {
    /// The pipeline.
    pub pipe: Pipe,
    /// The share of cycles in which it is busy.
    pub utilization: Interval<f64>,
}

/// The effect of one parameter.
#[derive(Clone, Debug, Serialize)]
pub struct Sensitivity {
    /// The parameter's name.
    pub name: String,
    /// The value in the table.
    pub value: String,
    /// The ends of the range.
    pub range: [String; 2],
    /// The cycles with each end of the range.
    pub cycles: [u64; 2],
}

impl Sensitivity {
    /// The setting with more cycles if `longer` is true, otherwise the one with fewer cycles.
    fn end(&self, longer: bool) -> (String, String) {
        let high = (self.cycles[1] > self.cycles[0]) == longer;
        (self.name.clone(), self.range[usize::from(high)].clone())
    }

    /// The number of cycles by which the parameter changes the result.
    fn effect(&self) -> u64 {
        self.cycles[0].abs_diff(self.cycles[1])
    }
}

/// Runs a kernel with `run` over the ranges of the assumed parameters, on several threads. `report` is the result for `config` itself.
///
/// # Errors
/// The first error of `run`.
pub fn ranges<E: Send>(
    report: &TimedReport,
    config: &Config,
    run: impl Fn(&Config) -> Result<TimedReport, E> + Sync,
) -> Result<Ranges, E> {
    let Some(target) = gcn_isa::Target::KNOWN.into_iter().find(|target| target.name() == report.target)
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
    /// The intervals, and the parameters that affect the result, as text.
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
