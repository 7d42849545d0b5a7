//! Selects trips of loops to leave out.
//!
//! All rows share the time axis, so a fold is an interval of time. At any time one wave is the reference: first the wave that starts first;
//! after its end, the next one to start. A trip of a loop starts at the target of a backward jump. A run of trips lasts as long as the wave
//! stays between the loop's first and last instruction. Loops nested in trips that are shown are folded as well.

use std::collections::BTreeMap;

use crate::timed::Event;

/// Consecutive trips that are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fold {
    pub from: u64,
    pub to: u64,
    pub trips: u64,
    /// The first instruction of the loop.
    pub header: u32,
}

/// The instructions that one wave issued, in order: cycle and instruction index.
type Issues = Vec<(u64, u32)>;

/// The folds of a recording, in order and without overlaps. At both ends of each run, `keep` trips are shown.
pub(super) fn folds(events: &[Event], keep: usize) -> Vec<Fold> {
    let mut waves: BTreeMap<(u32, u64, u32), Issues> = BTreeMap::new();
    for event in events.iter().filter(|event| event.stall.is_none()) {
        let wave = waves.entry((event.cu, event.workgroup, event.wave)).or_default();
        wave.push((event.start, event.at));
    }
    let mut waves: Vec<Issues> = waves.into_values().collect();
    waves.sort_by_key(|issues| issues.first().copied());
    let (mut folds, mut end) = (Vec::new(), 0);
    for issues in waves {
        let (Some((first, _)), Some((last, _))) = (issues.first(), issues.last()) else { continue };
        if *first >= end {
            end = *last;
            loops(&issues).into_iter().for_each(|bounds| runs(&issues, bounds, keep, &mut folds));
        }
    }
    apart(folds)
}

/// The first and the last instruction of each loop.
fn loops(issues: &Issues) -> BTreeMap<u32, u32> {
    let mut loops: BTreeMap<u32, u32> = BTreeMap::new();
    for pair in issues.windows(2) {
        let ((_, from), (_, to)) = (pair[0], pair[1]);
        if to <= from {
            let last = loops.entry(to).or_insert(from);
            *last = (*last).max(from);
        }
    }
    loops
}

/// Folds the middle of each run of trips of one loop.
fn runs(issues: &Issues, (header, last): (u32, u32), keep: usize, folds: &mut Vec<Fold>) {
    let mut starts: Vec<u64> = Vec::new();
    let mut close = |starts: &mut Vec<u64>| {
        let trips = starts.len().saturating_sub(keep.saturating_mul(2));
        // Folding a single trip would save nothing, because the fold has to be drawn as well.
        if trips >= 2 {
            let (from, to) = (starts[keep], starts[starts.len() - keep]);
            folds.push(Fold { from, to, trips: trips as u64, header });
        }
        starts.clear();
    };
    for (cycle, at) in issues {
        if !(header..=last).contains(at) {
            close(&mut starts);
        } else if *at == header {
            starts.push(*cycle);
        }
    }
    close(&mut starts);
}

/// Sorts the folds and merges overlapping ones. The longest of the merged folds describes the omitted part.
fn apart(mut folds: Vec<Fold>) -> Vec<Fold> {
    folds.sort_by_key(|fold| (fold.from, std::cmp::Reverse(fold.to)));
    let mut apart: Vec<Fold> = Vec::new();
    for fold in folds {
        match apart.last_mut() {
            Some(last) if fold.from < last.to => {
                let longest = if fold.to - fold.from > last.to - last.from { fold } else { *last };
                *last = Fold { from: last.from, to: last.to.max(fold.to), ..longest };
            }
            _ => apart.push(fold),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events in which the given instructions issue, one every four cycles.
    fn events(numbers: &[u32]) -> Vec<Event> {
        let event = |(i, at): (usize, &u32)| Event {
            cu: 0,
            simd: 0,
            lane: 0,
            workgroup: 0,
            wave: 0,
            at: *at,
            start: i as u64 * 4,
            cycles: 4,
            stall: None,
            by: None,
            done: None,
        };
        numbers.iter().enumerate().map(event).collect()
    }

    #[test]
    fn the_middle_of_a_run_is_folded() {
        // Instruction 0, then ten trips of the loop 1 2, then instruction 3.
        let numbers: Vec<u32> = [0].into_iter().chain([1, 2].repeat(10)).chain([3]).collect();
        let fold = |keep| folds(&events(&numbers), keep);
        assert_eq!(fold(2), [Fold { from: 4 + 16, to: 4 + 64, trips: 6, header: 1 }]);
        assert_eq!(fold(4), [Fold { from: 4 + 32, to: 4 + 48, trips: 2, header: 1 }]);
        assert_eq!(fold(5), []);
        assert_eq!(fold(usize::MAX), []);
    }

    #[test]
    fn inner_loops_are_folded_where_the_outer_loop_stays() {
        // Six trips of an outer loop, each 0, then eight trips of 1 2, then 3: the outer fold covers trips 1 to 4, and the inner folds are
        // in trips 0 and 5.
        let trip: Vec<u32> = [0].into_iter().chain([1, 2].repeat(8)).chain([3]).collect();
        let found = folds(&events(&trip.repeat(6)), 1);
        let of = |fold: &Fold| (fold.header, fold.trips, fold.from / 4, fold.to / 4);
        assert_eq!(
            found.iter().map(of).collect::<Vec<_>>(),
            [(1, 6, 3, 15), (0, 4, 18, 90), (1, 6, 93, 105)]
        );
    }
}
