//! `Kernel::timed` and `Kernel::timeline`.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::timed::{Config, Stall};
use gcn_isa::table::Class;

gcn_kernel! {
    #[workgroup(128)]
    fn sums(trips: u32, x: &mut [f32]) {
        let i = local_id().x;
        let mut sum = 0.0;
        for k in 0..trips {
            sum += x[k * 128 + i];
            barrier();
        }
        x[i] = sum;
    }
}

fn input() -> Vec<f32> {
    (0..16 * 128u16).map(f32::from).collect()
}

/// The timed run computes the correct result, and its waves wait for the loads.
#[test]
fn timed_runs_give_results_and_a_report() {
    let mut x = input();
    let report = sums.timed(Target::GFX942, Grid::x(1), (16, &mut x), &Config::one_cu()).unwrap();
    let expected: Vec<f32> = (0..128).map(|i| (0..16).map(|k| (k * 128 + i) as f32).sum()).collect();
    assert_eq!(x[..128], expected);
    assert!(report.waves == 2 && report.stalls.get(Stall::Waitcnt) > 0, "{}", report.summary());
}

/// The page contains the kernel's name and line, a fold, and the compiler's comment on each wait.
#[test]
fn the_timeline_has_the_reasons_of_waits() {
    let built = sums.build(Target::GFX942).unwrap();
    let timeline = sums.timeline(Target::GFX942, Grid::x(1), (16, &mut input())).unwrap();
    let (page, picture) = (timeline.html(), timeline.svg());
    assert!(page.contains("<h1>sums</h1>") && page.contains("schedule/timeline.rs:1"), "{page}");
    assert!(page.contains("12 trips of the loop") && picture.contains("12 trips</text>"));
    let waits = built.program().lines.iter().filter(|line| line.inst.desc.class == Class::Waitcnt);
    let notes: Vec<String> =
        waits.filter_map(|line| Some(line.note.as_deref()?.replace('\n', " "))).collect();
    assert!(!notes.is_empty());
    for note in notes {
        let json = note.replace('\\', "\\\\").replace('"', "\\\"").replace('<', "\\u003c");
        assert!(page.contains(&json), "{note}");
    }
}
