//! The contents of a picture, independent of its width.

use super::Timeline;
use super::fold::{self, Fold};
use super::rows::{Class, Line, Row, rows};
use super::rules;
use crate::timed::{Pipe, Stall};

/// The maximum number of bars of a page, and of a still picture. They keep the files at a few megabytes.
pub(super) const PAGE_BARS: usize = 80_000;
pub(super) const PICTURE_BARS: usize = 20_000;

/// Rows of bars over an axis of cycles. Folds, which leave out trips of loops, are shortened on the axis.
#[derive(Debug)]
pub(super) struct Chart<'t> {
    pub timeline: &'t Timeline,
    pub rows: Vec<Row>,
    pub lines: Vec<Line>,
    pub folds: Vec<Fold>,
    /// The first cycle of the axis.
    pub start: u64,
    pub end: u64,
    /// The length of a fold on the axis, in cycles.
    pub gap: u64,
    /// Remarks about omitted parts, with the reasons.
    pub remarks: Vec<String>,
}

impl<'t> Chart<'t> {
    pub(super) fn of(timeline: &'t Timeline, most: usize) -> Chart<'t> {
        let report = &timeline.report;
        let folds = fold::folds(&report.recording.events, timeline.trips);
        let (rows, lines) = rows(report, &folds);
        let mut chart =
            Chart { timeline, rows, lines, folds, start: 0, end: report.cycles, gap: 1, remarks: Vec::new() };
        chart.note_the_end_of_the_recording();
        chart.window();
        chart.cap(most);
        let folded = chart.folds.iter().map(|fold| fold.to.min(chart.end) - fold.from.max(chart.start));
        let shown = (chart.end - chart.start).saturating_sub(folded.sum());
        chart.gap = (shown / 40).max(4);
        chart
    }

    fn note_the_end_of_the_recording(&mut self) {
        let report = &self.timeline.report;
        if report.recording.events.is_empty() {
            self.remarks.push("Nothing was recorded: the run had no timeline.".to_owned());
        } else if report.events_dropped > 0 {
            self.end = report.recording.events.last().map_or(0, |event| event.start).max(1);
            self.remarks.push(format!(
                "The recording was full in cycle {} of {}; a smaller grid or shorter loops fit.",
                self.end, report.cycles
            ));
            // The new end of the axis may be within a fold.
            let end = self.end;
            self.folds.retain(|fold| fold.to <= end);
        }
    }

    /// Removes all bars outside of the requested cycles. Bars that cross the limits are kept and drawn in part.
    fn window(&mut self) {
        let asked = &self.timeline.cycles;
        self.start = asked.start.min(self.end.saturating_sub(1));
        self.end = asked.end.clamp(self.start + 1, self.end.max(self.start + 1));
        let (start, end) = (self.start, self.end);
        self.rows
            .iter_mut()
            .for_each(|row| row.bars.retain(|bar| bar.start < end && bar.start + bar.cycles > start));
        self.lines.retain(|line| (start..end).contains(&line.cycle));
        self.folds.retain(|fold| fold.from < end && fold.to > start);
    }

    /// Shortens the axis if there would be more than `most` bars.
    fn cap(&mut self, most: usize) {
        let mut starts: Vec<u64> =
            self.rows.iter().flat_map(|row| row.bars.iter().map(|bar| bar.start)).collect();
        if starts.len() <= most {
            return;
        }
        let (_, end, _) = starts.select_nth_unstable(most);
        let end = (*end).max(1);
        self.remarks.push(format!(
            "Shown are the cycles before {end}, about {most} bars of {}; a smaller grid or fewer trips show the rest.",
            starts.len()
        ));
        self.end = end;
        self.rows.iter_mut().for_each(|row| row.bars.retain(|bar| bar.start < end));
        self.lines.retain(|line| line.cycle < end);
        self.folds.retain(|fold| fold.to <= end);
    }

    /// The position of a cycle on the axis, on which folds are shortened.
    pub(super) fn place(&self, cycle: u64) -> f64 {
        let mut hidden = 0.0;
        for fold in self.folds.iter().take_while(|fold| fold.from < cycle) {
            let (length, gap) = ((fold.to - fold.from) as f64, self.gap as f64);
            let inside = (cycle.min(fold.to) - fold.from) as f64;
            hidden += inside * (1.0 - gap / length);
        }
        cycle as f64 - hidden
    }

    /// All classes of bars, pipelines first.
    pub(super) fn classes(&self) -> Vec<Class> {
        let bars = || self.rows.iter().flat_map(|row| &row.bars);
        let works = Pipe::ALL.map(Class::Works);
        let waits = Stall::ALL.map(Class::Waits);
        works.into_iter().chain(waits).filter(|class| bars().any(|bar| bar.class == *class)).collect()
    }

    /// The text of an instruction.
    pub(super) fn text(&self, at: u32) -> &str {
        let inst = self.timeline.report.by_instruction.get(at as usize);
        inst.map_or("(end of the code)", |inst| &inst.text)
    }

    /// The remark on an instruction, if there is one.
    pub(super) fn note(&self, at: u32) -> Option<&str> {
        let inst = self.timeline.report.by_instruction.get(at as usize)?;
        self.timeline.notes.get(&inst.offset).map(String::as_str)
    }

    /// A description of the part that a fold leaves out.
    pub(super) fn fold_text(&self, fold: &Fold) -> String {
        let length = fold.to - fold.from;
        format!(
            "{} trips of the loop at `{}` are folded: cycles {} to {}, {:.1} each",
            fold.trips,
            self.text(fold.header),
            fold.from,
            fold.to,
            length as f64 / fold.trips as f64
        )
    }

    /// The report's summary.
    pub(super) fn summary(&self) -> String {
        self.timeline.report.summary()
    }
}

impl Class {
    /// The name of the CSS class.
    pub(super) fn style(self) -> String {
        match self {
            Class::Works(pipe) => format!("p-{}", pipe.name().to_lowercase()),
            Class::Waits(stall) => format!("s-{}", stall.name().to_lowercase().replace('_', "-")),
        }
    }

    /// The displayed name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Class::Works(pipe) => pipe.name(),
            Class::Waits(stall) => stall.name(),
        }
    }

    /// The reason why a wave waits; empty for a bar that represents work.
    pub(super) fn rule(self, timeline: &Timeline) -> String {
        match self {
            Class::Works(_) => String::new(),
            Class::Waits(stall) => rules::rule(&timeline.report, stall),
        }
    }
}
