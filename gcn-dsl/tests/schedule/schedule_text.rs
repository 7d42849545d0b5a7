//! `kernel.schedule()`: the complete text for a small kernel (`tests/data/schedule.txt`, which `GCN_BLESS=1` overwrites;
//! read the diff), and properties of the numbers in every text, each tested by independent means.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;
use gcn_emit::text::print_program;
use gcn_sim::timed::parameters;
use gcn_test_support::stored::assert_current;

const TARGETS: [Target; 3] = [Target::GFX90A, Target::GFX942, Target::GFX950];

gcn_kernel! {
    #[workgroup(64)]
    fn double(x: &mut [f32]) {
        let i = local_id().x;
        x[i] = x[i] * 2.0;
    }

    /// A lane number that the vector ALU computed.
    #[workgroup(64)]
    fn lane(x: &mut [u32]) {
        let i = local_id().x;
        let first = read_first_lane(i + 3);
        x[i] = read_lane(i * 5, first);
    }

    #[workgroup(64)]
    fn product(n: u32, x: &[f16], y: &mut [f32]) {
        let lane = lane_id();
        let mut acc = Acc::<f32, 32, 32>::zero();
        for t in 0..n {
            let a = FragA::<f16, 32, 8>::load(&x, lane * 4 + t * 512);
            let b = FragB::<f16, 8, 32>::load(&x, lane * 4 + t * 512 + 256);
            acc = mfma(a, b, acc);
        }
        y[lane] = acc.get(0);
    }
}

fn kernels(target: Target) -> [BuiltKernel; 3] {
    [
        double.build(target).unwrap().into_any(),
        lane.build(target).unwrap().into_any(),
        product.build(target).unwrap().into_any(),
    ]
}

/// The row of an instruction.
#[derive(Debug)]
struct Row<'t> {
    line: usize,
    cycle: u64,
    class: &'t str,
    inst: &'t str,
    remark: &'t str,
}

fn row(text: &str) -> Option<Row<'_>> {
    let (line, rest) = text.trim_start().split_once(' ')?;
    let (cycle, rest) = rest.trim_start().split_once(' ')?;
    let (class, rest) = rest.trim_start().split_once(' ')?;
    let (inst, remark) = rest.split_once(';').unwrap_or((rest, ""));
    Some(Row {
        line: line.parse().ok()?,
        cycle: cycle.parse().ok()?,
        class,
        inst: inst.trim(),
        remark: remark.trim(),
    })
}

/// The rows of each block.
fn blocks(text: &str) -> Vec<Vec<Row<'_>>> {
    text.split("\nblock ").skip(1).map(|block| block.lines().skip(1).filter_map(row).collect()).collect()
}

#[test]
fn the_whole_text() {
    let text = double.build(Target::GFX942).unwrap().schedule();
    assert_current(concat!(env!("CARGO_MANIFEST_DIR"), "/data/schedule.txt"), &text);
}

/// The rows are compared with the output of the printer of programs.
#[test]
fn every_instruction_is_there_once_and_in_order() {
    for kernel in TARGETS.into_iter().flat_map(kernels) {
        let printed = print_program(kernel.program(), Comments::None);
        let printed: Vec<&str> = printed.lines().filter_map(|l| l.strip_prefix('\t')).collect();
        let text = kernel.schedule();
        let rows: Vec<Row<'_>> = blocks(&text).into_iter().flatten().collect();
        assert_eq!(rows.iter().map(|r| r.inst).collect::<Vec<_>>(), printed, "{text}");
        assert!(rows.iter().enumerate().all(|(n, row)| row.line == n), "{text}");
    }
}

fn parameter(target: Target, name: &str) -> u64 {
    parameters(target).into_iter().find(|p| p.name == name).unwrap().value.parse().unwrap()
}

fn back(row: &Row<'_>) -> u64 {
    let text = row.remark.split("back at ").nth(1).unwrap_or_else(|| panic!("{row:?}"));
    text.split(';').next().unwrap().trim().parse().unwrap()
}

/// Loads take the time in the table of parameters, the wait ends with the later load, and the product follows.
#[test]
fn waits_end_when_what_they_name_is_back() {
    for target in TARGETS {
        let text = product.build(target).unwrap().schedule();
        let blocks = blocks(&text);
        let body =
            blocks.iter().find(|b| b.iter().any(|r| r.class == "mfma")).unwrap_or_else(|| panic!("{text}"));
        let loads: Vec<&Row<'_>> = body.iter().filter(|r| r.class == "vmem_read").collect();
        assert!(loads.iter().all(|l| back(l) == l.cycle + parameter(target, "l2.latency")), "{text}");
        let last = body.iter().rfind(|r| r.inst == "s_waitcnt vmcnt(0)").unwrap();
        assert_eq!(last.cycle, loads.iter().map(|l| back(l)).max().unwrap(), "{text}");
        assert!(last.remark.contains("vmcnt(0): v"), "{text}");
        let matrix = body.iter().find(|r| r.class == "mfma").unwrap();
        assert_eq!(matrix.cycle, last.cycle + 4, "{text}");
    }
}

/// `s_nop n` takes n + 1 slots of four cycles, and the numbers in the header are those of the report.
#[test]
fn idle_wait_states_take_their_slots() {
    let mut idle = 0;
    for kernel in TARGETS.into_iter().flat_map(kernels) {
        let text = kernel.schedule();
        let mut states = 0;
        for block in blocks(&text) {
            for pair in block.windows(2).filter(|p| p[0].class == "idle") {
                let n: u64 = pair[0].inst.strip_prefix("s_nop ").unwrap().parse().unwrap();
                assert_eq!(pair[1].cycle - pair[0].cycle, 4 * (n + 1), "{text}");
                states += n as usize + 1;
            }
        }
        assert_eq!(states, kernel.report().waits.states, "{text}");
        let head = format!("{} s_waitcnt and {states} idle wait states", kernel.report().waits.waitcnt);
        assert!(text.lines().next().unwrap().contains(&head), "{text}");
        idle += states;
    }
    assert!(idle > 0);
}

/// The user's source line is printed above its instructions.
#[test]
fn the_users_lines_are_named() {
    let source = include_str!("schedule_text.rs");
    let line = source.lines().position(|l| l.contains("x[i] = x[i] * 2.0;")).unwrap() + 1;
    let text = double.build(Target::GFX942).unwrap().schedule();
    let heading =
        text.lines().position(|l| l.contains(&format!("schedule_text.rs:{line} | x[i] = x[i] * 2.0;")));
    let arithmetic = text.lines().position(|l| l.contains("v_add_f32") || l.contains("v_mul_f32")).unwrap();
    assert!(heading.is_some_and(|h| h < arithmetic), "{text}");
}
