//! Arranges the recording in rows: pipelines first, then waves.

use std::collections::{BTreeMap, BTreeSet};

use super::fold::Fold;
use crate::timed::{Busy, Event, Pipe, Stall, TimedReport};

/// A row of bars.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// The name, and a shorter name for narrow screens.
    pub name: String,
    pub short: String,
    /// True for a wave, false for a pipeline.
    pub wave: bool,
    /// The bars in the order of their starts, without overlaps.
    pub bars: Vec<Bar>,
}

/// An interval of time in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    pub start: u64,
    pub cycles: u64,
    pub class: Class,
    /// The instruction.
    pub at: u32,
    pub workgroup: u64,
    pub wave: u32,
    /// For a wait, the instruction for which it waits.
    pub by: Option<u32>,
    /// The cycle in which the memory operation completes.
    pub done: Option<u64>,
}

/// The meaning of the colour of a bar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Works(Pipe),
    Waits(Stall),
}

/// A barrier, drawn when the last wave of a workgroup arrives. `rows` are the first and the last row of its waves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub cycle: u64,
    pub rows: (usize, usize),
    pub workgroup: u64,
}

/// Identifies the row of a pipeline: CU, position in the order of rows, SIMD, pipeline.
type PipeKey = (u32, usize, Option<u8>, Pipe);
/// Identifies a row of a wave: CU, wave slot of the SIMD, SIMD.
type WaveKey = (u32, u8, u8);

/// The rows and barriers, except those that folds hide.
pub(super) fn rows(report: &TimedReport, folds: &[Fold]) -> (Vec<Row>, Vec<Line>) {
    let recording = &report.recording;
    let several = report.simulated_cus > 1;
    let hidden = |start: u64, cycles: u64| {
        let fold = folds.get(folds.partition_point(|fold| fold.from <= start).wrapping_sub(1));
        fold.is_some_and(|fold| start + cycles <= fold.to)
    };
    let mut pipes: BTreeMap<PipeKey, Vec<Bar>> = BTreeMap::new();
    for busy in recording.busy.iter().filter(|busy| !hidden(busy.start, busy.cycles)) {
        pipes.entry(pipe_key(busy)).or_default().push(pipe_bar(busy));
    }
    let mut waves: BTreeMap<WaveKey, Vec<Bar>> = BTreeMap::new();
    for event in recording.events.iter().filter(|event| !hidden(event.start, event.cycles)) {
        let bar = wave_bar(event, report);
        waves.entry((event.cu, event.lane, event.simd)).or_default().push(bar);
    }
    let mut rows: Vec<Row> = pipes.into_iter().map(|(key, bars)| pipe_row(key, bars, several)).collect();
    let first = rows.len();
    let mut cus: Vec<u32> = Vec::new();
    let mut waves: Vec<(WaveKey, Row)> =
        waves.into_iter().map(|(key, bars)| (key, wave_row(key, bars, several))).collect();
    // A row with only one wave is named and sorted by that wave.
    waves.sort_by_key(|((cu, lane, simd), row)| (*cu, only(&row.bars), *lane, *simd));
    for ((cu, ..), row) in waves {
        cus.push(cu);
        rows.push(row);
    }
    let lines = lines(report, folds, &rows, (first, &cus));
    rows.iter_mut().for_each(|row| row.bars.sort_by_key(|bar| bar.start));
    (rows, lines)
}

/// The only wave of a row; `None` if there are several.
fn only(bars: &[Bar]) -> Option<(u64, u32)> {
    let first = bars.first().map(|bar| (bar.workgroup, bar.wave))?;
    bars.iter().all(|bar| (bar.workgroup, bar.wave) == first).then_some(first)
}

fn pipe_key(busy: &Busy) -> PipeKey {
    let order = [Pipe::Matrix, Pipe::Valu, Pipe::Lds, Pipe::Tex, Pipe::Scalar, Pipe::Misc];
    let place = order.iter().position(|pipe| *pipe == busy.pipe).unwrap_or(order.len());
    (busy.cu, place, busy.simd, busy.pipe)
}

fn pipe_bar(busy: &Busy) -> Bar {
    let Busy { at, workgroup, wave, start, cycles, .. } = *busy;
    Bar { start, cycles, class: Class::Works(busy.pipe), at, workgroup, wave, by: None, done: None }
}

fn wave_bar(event: &Event, report: &TimedReport) -> Bar {
    let Event { at, workgroup, wave, start, cycles, by, done, .. } = *event;
    let pipe = report.by_instruction.get(at as usize).map_or(Pipe::Internal, |inst| inst.pipe);
    let class = event.stall.map_or(Class::Works(pipe), Class::Waits);
    Bar { start, cycles, class, at, workgroup, wave, by, done }
}

/// The name, prefixed with the CU if there are several.
fn named(several: bool, cu: u32, name: String, short: String) -> (String, String) {
    if several { (format!("CU {cu}, {name}"), format!("{cu}:{short}")) } else { (name, short) }
}

fn pipe_row((cu, _, simd, pipe): PipeKey, bars: Vec<Bar>, several: bool) -> Row {
    let (name, short) = match pipe {
        Pipe::Valu => ("VALU", "V"),
        Pipe::Matrix => ("matrix", "M"),
        Pipe::Lds => ("LDS banks", "LDS"),
        Pipe::Tex | Pipe::Flat => ("vector memory", "VMEM"),
        Pipe::Scalar => ("scalar", "SALU"),
        Pipe::Misc => ("branch", "BR"),
        Pipe::Internal => ("internal", "INT"),
    };
    let (name, short) = match simd {
        Some(simd) => (format!("{name}, SIMD {simd}"), format!("{short}{simd}")),
        None => (name.to_owned(), short.to_owned()),
    };
    let (name, short) = named(several, cu, name, short);
    Row { name, short, wave: false, bars }
}

fn wave_row((cu, lane, simd): WaveKey, bars: Vec<Bar>, several: bool) -> Row {
    let (name, short) = match only(&bars) {
        Some((workgroup, wave)) => {
            (format!("wg {workgroup} wave {wave}, SIMD {simd}"), format!("{workgroup}.{wave}"))
        }
        None => (format!("SIMD {simd}, place {lane}"), format!("S{simd}.{lane}")),
    };
    let (name, short) = named(several, cu, name, short);
    Row { name, short, wave: true, bars }
}

/// The barriers, each drawn across the rows of its workgroup. `first` is the row of the first wave, and `cus` are the CUs of the rows from
/// there on.
fn lines(report: &TimedReport, folds: &[Fold], rows: &[Row], (first, cus): (usize, &[u32])) -> Vec<Line> {
    let mut of: BTreeMap<(u32, u64), (usize, usize)> = BTreeMap::new();
    for (place, (row, cu)) in rows[first..].iter().zip(cus).enumerate() {
        let workgroups: BTreeSet<u64> = row.bars.iter().map(|bar| bar.workgroup).collect();
        for workgroup in workgroups {
            let span = of.entry((*cu, workgroup)).or_insert((first + place, first + place));
            span.1 = first + place;
        }
    }
    let hidden = |cycle: u64| folds.iter().any(|fold| (fold.from..fold.to).contains(&cycle));
    let shown = report.recording.barriers.iter().filter(|barrier| !hidden(barrier.cycle));
    shown
        .filter_map(|b| {
            let rows = *of.get(&(b.cu, b.workgroup))?;
            Some(Line { cycle: b.cycle, rows, workgroup: b.workgroup })
        })
        .collect()
}
