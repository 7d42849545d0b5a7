//! Intervals over the ranges of assumed parameters.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gcn_sim::timed::{self, Ranges, Sensitivity, TimedReport};

use super::Case;

const TRIPS: u64 = 100;

/// A loop of scalar code. Each trip except the last ends with a taken branch.
fn scalar_loop() -> Case {
    Case::new(format!(
        "s_mov_b32 s4, {TRIPS}\nloop:\ns_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 loop\ns_endpgm"
    ))
}

fn ranges(case: &Case) -> (TimedReport, Ranges, usize) {
    let (report, runs) = (case.run(), AtomicUsize::new(0));
    let run = |config: &timed::Config| {
        runs.fetch_add(1, Relaxed);
        Ok::<_, ()>(
            Case { config: config.clone(), text: case.text.clone(), state: case.state.clone(), ..*case }
                .run(),
        )
    };
    let ranges = timed::ranges(&report, &case.config, run).unwrap();
    (report, ranges, runs.into_inner())
}

fn of<'r>(ranges: &'r Ranges, name: &str) -> &'r Sensitivity {
    ranges.parameters.iter().find(|p| p.name == name).unwrap_or_else(|| panic!("{name} is not varied"))
}

/// Each taken branch costs as many cycles as the parameter says; nothing else depends on the parameter.
#[test]
fn a_parameter_moves_the_result_as_often_as_it_counts() {
    let (report, ranges, runs) = ranges(&scalar_loop());
    let taken = of(&ranges, "branch.taken");
    let [low, high] = [0, 1].map(|i| taken.range[i].parse::<u64>().unwrap());
    assert_eq!(taken.cycles[1] - taken.cycles[0], (TRIPS - 1) * (high - low));
    // One run for each end of each parameter's range, and two runs with all parameters at their ends.
    assert_eq!(runs, 2 * ranges.parameters.len() + 2);
    let cycles = ranges.cycles;
    assert_eq!(cycles.value, report.cycles);
    assert!(cycles.low <= taken.cycles[0] && cycles.high >= taken.cycles[1], "{cycles:?}");
    assert_eq!(of(&ranges, "lds.queue").cycles, [report.cycles; 2]);
    assert!(ranges.text().contains("branch.taken = 16"), "{}", ranges.text());
}

/// Parameters that the caller sets, and parameters that have a source, are not varied.
#[test]
fn what_is_known_stays() {
    let (_, ranges, _) = ranges(&scalar_loop().set("branch.taken=20"));
    let names: Vec<&str> = ranges.parameters.iter().map(|p| p.name.as_str()).collect();
    assert!(!names.contains(&"branch.taken") && !names.contains(&"matrix.pass"), "{names:?}");
    assert!(names.contains(&"l2.latency"), "{names:?}");
}
