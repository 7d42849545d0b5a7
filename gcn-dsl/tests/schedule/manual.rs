//! Manual schedules: results in the simulator (in which a missing wait is an error), the values of the waits, and the
//! necessity of each wait.

use gcn_dsl::BuiltKernel;
use gcn_dsl::kernel::InsertedKind;
use gcn_dsl::prelude::*;
use gcn_isa::Program;
use gcn_isa::check::{self, MemoryModel, Options};
use gcn_isa::counters::{Counter, WaitCnt};

use super::{options, places};

gcn_kernel! {
    /// Four loads at once, with a wait for each before its use.
    #[workgroup(64)]
    #[schedule(manual)]
    fn four_loads(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let a = x.load_async(i);
        let b = x.load_async(i + 64);
        let c = x.load_async(i + 128);
        let d = x.load_async(i + 192);
        let sum = wait(a) * 1.0;
        let sum = sum + wait(b) * 2.0;
        let sum = sum + wait(c) * 4.0;
        let sum = sum + wait(d) * 8.0;
        y[i] = sum;
    }
}

fn waits(program: &Program) -> Vec<(usize, WaitCnt)> {
    let wait = |(i, line): (usize, &gcn_isa::Line)| Some((i, WaitCnt::of(&line.inst)?));
    program.lines.iter().enumerate().filter_map(wait).collect()
}

fn written(kernel: &BuiltKernel) -> Vec<(usize, WaitCnt)> {
    let note = |i: usize| kernel.program().lines[i].note.as_deref().unwrap_or_default();
    waits(kernel.program()).into_iter().filter(|(i, _)| note(*i).starts_with("written wait")).collect()
}

/// Checks that the only waits are those that the kernel contains and those that kernel arguments need.
fn only_written_vm_waits(kernel: &BuiltKernel) {
    for inserted in kernel.waits().iter().filter(|i| i.kind == InsertedKind::Waitcnt) {
        for reason in &inserted.reasons {
            let producer = reason.producer.map(|p| kernel.program().lines[p].inst.desc.is_smem());
            assert_eq!(
                producer,
                Some(true),
                "{}: {reason}\n{}",
                kernel.target(),
                kernel.assembly(Comments::Explain)
            );
        }
    }
}

/// Checks that each written wait is the weakest that is sufficient: with one more operation outstanding, the checker
/// reports an error.
fn each_written_wait_is_needed(kernel: &BuiltKernel) {
    let options = Options { errata: false, memory_model: MemoryModel::Strict, ..Options::default() };
    assert!(check::check_with(kernel.program(), options).findings.is_empty());
    let all = written(kernel);
    assert!(!all.is_empty());
    for (line, wait) in all {
        for counter in wait.counters() {
            let mut weaker = kernel.program().clone();
            counter.set(wait, counter.of(wait) + 1).put_into(weaker.lines[line].inst_mut());
            let report = check::check_with(&weaker, options);
            assert!(
                !report.findings.is_empty(),
                "{}: {wait:?} at {line} is stronger than needed\n{}",
                kernel.target(),
                kernel.assembly(Comments::Explain)
            );
        }
    }
}

#[test]
fn loads_are_waited_for_one_by_one() {
    let x: Vec<f32> = (0..256).map(|i| i as f32).collect();
    for (target, wave) in places() {
        let kernel = four_loads.build_with(target, &options(wave)).unwrap();
        let values: Vec<u8> = written(&kernel).iter().map(|(_, w)| Counter::Vm.of(*w)).collect();
        assert_eq!(values, [3, 2, 1, 0], "{}", kernel.assembly(Comments::Explain));
        only_written_vm_waits(&kernel);
        each_written_wait_is_needed(&kernel);
        let mut y = vec![0.0f32; 64];
        Device::simulator(target).launch(&four_loads, &kernel, Grid::x(1), (&x, &mut y)).unwrap();
        for (i, y) in y.iter().enumerate() {
            let i = i as f32;
            assert_eq!(*y, i + (i + 64.0) * 2.0 + (i + 128.0) * 4.0 + (i + 192.0) * 8.0);
        }
    }
}

gcn_kernel! {
    /// Loads stay outstanding during a loop that also loads. The trip count is unknown.
    #[workgroup(64)]
    #[schedule(manual)]
    fn over_a_loop(trips: u32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let first = x.load_async(i);
        let second = x.load_async(i + 64);
        let mut sum: V<f32> = 0.0;
        for t in 0..trips {
            let element = x.load_async(i + t * 64);
            sum += wait(element);
        }
        let first = wait(first);
        sum += first;
        y[i] = sum + wait(second);
    }

    /// One operation of each kind, inside and outside a branch.
    #[workgroup(64)]
    fn kinds(n: u32, x: &[f32], y: &mut [f32]) {
        let tile = Lds::<f32, 64>::new();
        let i = local_id().x;
        #[schedule(manual)]
        {
            let (a, scale) = (x.load_async(i), x.uniform_async(1));
            let put = tile.store_async(i, wait(a));
            let scale = wait(scale);
            wait(put);
            if i < n {
                let (left, right) = wait((tile.load_async(i), tile.load_async(i ^ 1)));
                let stored = y.store_async(i, (left + right) * scale);
                wait(stored);
            }
        }
    }

    /// A wait for everything on a counter; an instruction that is called by its name.
    #[workgroup(64)]
    #[schedule(manual)]
    fn all_at_once(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let (a, b) = (x.load_async(i), issue::<Loads, _>(|| x[i + 64]));
        let done = wait_all::<Loads>();
        y[i] = a.after(&done) - b.after(&done);
    }
}

#[test]
fn the_weakest_wait_behind_a_loop() {
    let x: Vec<f32> = (0..640).map(|i| (i % 97) as f32).collect();
    for (target, wave) in places() {
        let kernel = over_a_loop.build_with(target, &options(wave)).unwrap();
        only_written_vm_waits(&kernel);
        // Without a trip, one younger operation is outstanding; in a trip, none.
        let values: Vec<u8> = written(&kernel).iter().map(|(_, w)| Counter::Vm.of(*w)).collect();
        assert_eq!(values, [0, 1, 0], "{}", kernel.assembly(Comments::Explain));
        for trips in [0u32, 1, 5] {
            let mut y = vec![0.0f32; 64];
            let device = Device::simulator(target);
            device.launch(&over_a_loop, &kernel, Grid::x(1), (trips, &x, &mut y)).unwrap();
            for i in 0..64usize {
                let sum: f32 = (0..trips as usize).map(|t| x[i + t * 64]).sum();
                assert_eq!(y[i], sum + x[i] + x[i + 64]);
            }
        }
    }
}

#[test]
fn every_kind_of_operation() {
    let x: Vec<f32> = (0..128).map(|i| i as f32 + 3.0).collect();
    for (target, wave) in places() {
        let kernel = kinds.build_with(target, &options(wave)).unwrap();
        for n in [0u32, 17, 64] {
            let mut y = vec![-1.0f32; 64];
            Device::simulator(target).launch(&kinds, &kernel, Grid::x(1), (n, &x, &mut y)).unwrap();
            for i in 0..64usize {
                let want = if i < n as usize { (x[i] + x[i ^ 1]) * x[1] } else { -1.0 };
                assert_eq!(y[i], want, "{target} {n} {i}\n{}", kernel.assembly(Comments::Explain));
            }
        }
        let mut y = vec![0.0f32; 64];
        let kernel = all_at_once.build_with(target, &options(wave)).unwrap();
        Device::simulator(target).launch(&all_at_once, &kernel, Grid::x(1), (&x, &mut y)).unwrap();
        assert!(y.iter().all(|y| *y == -64.0));
    }
}

/// The counters, by their names in the ISA documents: RDNA 1 to 3 count stores separately, RDNA 4 counts every kind
/// separately.
#[test]
fn each_kind_waits_on_its_own_counter() {
    let on = |target| {
        let kernel = kinds.build(target).unwrap();
        let lines =
            written(&kernel).into_iter().map(|(line, _)| kernel.program().lines[line].inst.desc.mnemonic);
        let mut names: Vec<&str> = lines.collect();
        names.dedup();
        names
    };
    assert_eq!(on(Target::GFX942), ["s_waitcnt"]);
    assert_eq!(on(Target::GFX1030), ["s_waitcnt", "s_waitcnt_vscnt"]);
    assert_eq!(on(Target::GFX1100), ["s_waitcnt", "s_waitcnt_vscnt"]);
    let each = ["s_wait_loadcnt", "s_wait_kmcnt", "s_wait_dscnt", "s_wait_storecnt"];
    assert_eq!(on(Target::GFX1201), each);
}

/// In a manual block, the instructions stay in the written order.
#[test]
fn the_written_order_stays() {
    for (target, wave) in places() {
        let kernel = four_loads.build_with(target, &options(wave)).unwrap();
        let names: Vec<&str> = kernel.program().lines.iter().map(|l| l.inst.desc.mnemonic).collect();
        let loads: Vec<usize> = (0..names.len()).filter(|i| names[*i].starts_with("buffer_load")).collect();
        let first_use = names.iter().position(|n| {
            n.starts_with("v_mul")
                || n.starts_with("v_fma")
                || n.starts_with("v_add_f32")
                || n.starts_with("v_dual")
        });
        assert_eq!(loads.len(), 4);
        assert!(loads.iter().all(|l| Some(*l) < first_use), "{names:?}");
    }
}

/// If any written wait is removed, the strict simulator or the checker reports an error.
#[test]
fn taking_a_wait_away_breaks() {
    let x: Vec<f32> = (0..256).map(|i| i as f32).collect();
    for (target, wave) in places() {
        let kernel = four_loads.build_with(target, &options(wave)).unwrap();
        for (line, _) in written(&kernel) {
            let mut program = kernel.program().clone();
            WaitCnt::NONE.put_into(program.lines[line].inst_mut());
            let broken = kernel.with_program(program).unwrap();
            let mut y = vec![0.0f32; 64];
            let run = Device::simulator(target).launch(&four_loads, &broken, Grid::x(1), (&x, &mut y));
            assert!(run.is_err(), "{target}: nobody misses the wait at line {line}");
        }
    }
}

gcn_kernel! {
    #[allow(unused_variables, reason = "what is loaded in vain is what the test is about")]
    #[workgroup(64)]
    fn dropped(x: &[f32], y: &mut [f32]) {
        #[schedule(manual)]
        {
            let element = x.load_async(0);
        }
    }

    #[workgroup(64)]
    #[schedule(manual)]
    fn started_later(x: &[f32], y: &mut [f32]) {
        let done = wait_all::<Loads>();
        y[0] = x.load_async(0).after(&done);
    }

    #[workgroup(64)]
    #[schedule(manual)]
    fn wrong_counter(x: &[f32], y: &mut [f32]) {
        let element = issue::<LdsAccesses, _>(|| x[local_id().x]);
        y[0] = wait(element);
    }
}

#[test]
fn what_types_cannot_say_names_the_line() {
    let fails = |error: gcn_dsl::BuildError, what: &str| {
        let text = error.to_string();
        assert!(text.contains(what) && text.contains("manual.rs:"), "{text}");
    };
    fails(dropped.build(Target::GFX942).unwrap_err(), "nobody waits");
    fails(started_later.build(Target::GFX942).unwrap_err(), "started after the `wait_all`");
    fails(wrong_counter.build(Target::GFX942).unwrap_err(), "starts nothing on lgkmcnt");
    fails(wrong_counter.build(Target::GFX1201).unwrap_err(), "starts nothing on dscnt; it counts on loadcnt");
}
