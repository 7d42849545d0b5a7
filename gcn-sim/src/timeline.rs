//! Draws a timed run: pipelines and waves are rows, instructions and waits are bars over cycles.
//!
//! A [`Timeline`] consists of a report with its recorded events, and the part of the report to show. `rows` arranges the events in rows of
//! bars, `fold` selects trips of loops to leave out, and `rules` explains why a wave waits. `page` and `svg` both draw a `Chart`.

mod chart;
mod fold;
mod page;
mod rows;
mod rules;
mod svg;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::timed::TimedReport;

/// A timed run as a picture.
///
/// ```
/// use gcn_isa::Target;
/// use gcn_sim::timed::{self, Config};
/// use gcn_sim::timeline::{self, Timeline};
/// use gcn_sim::{KernelState, Machine, Memory};
///
/// // s_nop 3; s_endpgm
/// let text: Vec<u8> = [0xbf800003u32, 0xbf810000].iter().flat_map(|word| word.to_le_bytes()).collect();
/// let machine = Machine::new(Target::GFX942, &text, KernelState::default())?;
/// let config = Config { timeline: timeline::EVENTS, ..Config::default() };
/// let report = timed::run(&machine, &mut Memory::new(), [1, 1, 1], [64, 1, 1], &[], &config)?;
/// let page = Timeline::new(report).titled("nop").html();
/// assert!(page.starts_with("<!doctype html>") && page.contains("s_nop 3"));
/// # Ok::<(), gcn_sim::SimError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timeline {
    report: TimedReport,
    title: String,
    trips: usize,
    notes: BTreeMap<u32, String>,
    cycles: Range<u64>,
    width: Option<u32>,
}

/// A suitable maximum number of events to record for a picture, for [`Config::timeline`](crate::timed::Config::timeline).
pub const EVENTS: usize = 2_000_000;

/// The number of trips of a loop to show at its start and at its end.
const TRIPS: usize = 2;

impl Timeline {
    /// The timeline of a run, which must have been recorded with [`Config::timeline`](crate::timed::Config::timeline) greater than 0.
    pub fn new(report: TimedReport) -> Timeline {
        Timeline {
            report,
            title: "kernel".to_owned(),
            trips: TRIPS,
            notes: BTreeMap::new(),
            cycles: 0..u64::MAX,
            width: None,
        }
    }

    /// Sets a title, for example the kernel's name.
    #[must_use]
    pub fn titled(self, title: impl Into<String>) -> Timeline {
        Timeline { title: title.into(), ..self }
    }

    /// Sets the number of trips to show at the start and at the end of each loop (2 by default). The trips in between are folded.
    /// `usize::MAX` folds nothing.
    #[must_use]
    pub fn with_trips(self, trips: usize) -> Timeline {
        Timeline { trips: trips.max(1), ..self }
    }

    /// Adds remarks to instructions, by their byte offsets in the code, for example the hazard rules that require a wait.
    #[must_use]
    pub fn with_notes(self, notes: BTreeMap<u32, String>) -> Timeline {
        Timeline { notes, ..self }
    }

    /// Restricts the timeline to these cycles, for example a trip of a loop in its steady state. An empty range, or one after the end of
    /// the run, shows one cycle.
    #[must_use]
    pub fn within(self, cycles: Range<u64>) -> Timeline {
        Timeline { cycles, ..self }
    }

    /// Sets the width of the still picture in pixels (at least 400); by default it is proportional to the number of cycles.
    #[must_use]
    pub fn with_width(self, pixels: u32) -> Timeline {
        Timeline { width: Some(pixels.max(400)), ..self }
    }

    /// The report of the run.
    pub fn report(&self) -> &TimedReport {
        &self.report
    }

    /// A self-contained HTML page. It can be zoomed with the wheel and keys, and describes each bar with the reason for it.
    pub fn html(&self) -> String {
        page::html(&chart::Chart::of(self, chart::PAGE_BARS))
    }

    /// A still picture of the whole run.
    pub fn svg(&self) -> String {
        svg::draw(&chart::Chart::of(self, chart::PICTURE_BARS))
    }
}

/// Escapes text for XML and HTML, inside and outside of attributes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML allows no other control characters.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn markup_is_escaped() {
        assert_eq!(super::escape("<a b=\"c\">&'\u{1}"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\u{fffd}");
    }
}
