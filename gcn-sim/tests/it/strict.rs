//! Strict mode: programs with sufficient waits run; if one wait is weakened or removed, they fail with an error that names the rule.

use std::io::Read;

use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_isa::hazards::{self, Config, Grade, Need, Voice};
use gcn_sim::{Hazard, KernelState, Machine, Memory, Options, Sanitize, SimError};

use super::harness::{Kernel, assemble, state};

fn run(target: Target, body: &str, waves: u32) -> Result<(), Box<Hazard>> {
    run_by(Config::default(), target, body, waves)
}

/// As [`run`], with other rules than all.
fn run_by(rules: Config, target: Target, body: &str, waves: u32) -> Result<(), Box<Hazard>> {
    let options = Options { rules, ..Options::strict() };
    let text = format!(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n{body}\ns_endpgm"
    );
    let kernel = Kernel { target, state: KernelState { lds_bytes: 4096, ..state() }, text };
    let mut memory = Memory::new();
    let buffer = memory.alloc(0x4000);
    match kernel.run(&mut memory, [1, 1, 1], [64 * waves, 1, 1], &[buffer, buffer], &options) {
        Ok(_) => Ok(()),
        Err(SimError::Hazard(hazard)) => Err(hazard),
        Err(other) => panic!("{other}\n{body}"),
    }
}

/// Runs `good`. Then removes each of its waits in turn; the run must fail with the rule that is given after the wait: `wait ; rule`. Lines
/// without a `;` are never removed.
fn each_wait_counts(target: Target, waves: u32, good: &str) {
    let lines: Vec<(&str, Option<&str>)> = good
        .lines()
        .map(|line| {
            line.split_once(';').map_or((line.trim(), None), |(text, rule)| (text.trim(), Some(rule.trim())))
        })
        .collect();
    let program = |without: Option<usize>| -> String {
        let kept = lines.iter().enumerate().filter(|(i, _)| Some(*i) != without);
        kept.map(|(_, (text, _))| format!("{text}\n")).collect()
    };
    run(target, &program(None), waves).unwrap_or_else(|h| panic!("{h}\n{good}"));
    let mut checked = 0;
    for (i, (_, rule)) in lines.iter().enumerate() {
        let Some(rule) = rule else { continue };
        let hazard = run(target, &program(Some(i)), waves).expect_err(&format!("line {i} of\n{good}"));
        assert_eq!(&hazard.rule, rule, "{hazard}");
        checked += 1;
    }
    assert!(checked > 0);
}

#[test]
fn counters_of_each_kind() {
    for target in [Target::GFX90A, Target::GFX942] {
        each_wait_counts(
            target,
            1,
            "global_load_dword v2, v1, s[4:5]
             global_load_dword v3, v1, s[4:5] offset:256
             s_waitcnt vmcnt(1) ; waitcnt.raw
             v_add_u32 v4, v2, v1
             s_waitcnt vmcnt(0) ; waitcnt.raw
             global_store_dword v1, v3, s[4:5]
             ds_write_b32 v1, v4
             ds_read_b32 v5, v1
             ds_read_b32 v6, v1 offset:4
             s_waitcnt lgkmcnt(1) ; waitcnt.raw
             v_mov_b32 v7, v5
             s_waitcnt lgkmcnt(0) ; waitcnt.waw
             v_mov_b32 v6, 0
             s_load_dword s8, s[4:5], 0x0
             s_waitcnt lgkmcnt(0) ; waitcnt.raw
             s_add_u32 s8, s8, 1
             v_mov_b32 v10, s4
             v_mov_b32 v11, s5
             flat_load_dword v12, v[10:11]
             s_waitcnt vmcnt(0) lgkmcnt(0) ; waitcnt.raw
             v_mov_b32 v13, v12",
        );
        // A load into LDS is complete according to vmcnt.
        each_wait_counts(
            target,
            1,
            "s_mov_b32 m0, 0
             s_mov_b32 s6, 0x1000
             s_mov_b32 s7, 0
             s_nop 4
             buffer_load_dword v1, s[4:7], 0 offen lds
             s_waitcnt vmcnt(0) ; waitcnt.lds-dma
             ds_read_b32 v5, v1
             s_waitcnt lgkmcnt(0) ; waitcnt.raw
             v_mov_b32 v6, v5",
        );
    }
}

/// A cautious rule requires a wait before the barrier. If only rules of higher grades are selected, what matters is which bytes another
/// wave accesses after the barrier.
#[test]
fn loads_into_lds_that_pass_a_barrier() {
    let body = |wait: &str, offset: u32| {
        format!(
            "v_readfirstlane_b32 s8, v0\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc0 other\ns_mov_b32 m0, 0\ns_nop 0\n\
             global_load_lds_dword v1, s[4:5]\n{wait}\ns_barrier\ns_endpgm\nother:\nv_and_b32 v2, 0xff, v1\ns_barrier\n\
             ds_read_b32 v3, v2 offset:{offset}\ns_waitcnt lgkmcnt(0)"
        )
    };
    let by = |grade, body: &str| {
        run_by(Config::at_least(grade), Target::GFX942, body, 2).map_err(|h| (h.rule, h.second.text))
    };
    for grade in Grade::ALL {
        assert_eq!(by(grade, &body("s_waitcnt vmcnt(0)", 0)), Ok(()));
    }
    let early = by(Grade::Documented, &body("", 0)).unwrap_err();
    assert_eq!((early.0.as_str(), early.1.as_str()), ("barrier.lds-dma", "ds_read_b32 v3, v2"));
    assert_eq!(by(Grade::Documented, &body("", 1024)), Ok(()));
    let cautious = by(Grade::Cautious, &body("", 1024)).unwrap_err();
    assert_eq!((cautious.0.as_str(), cautious.1.as_str()), ("barrier.lds-dma", "s_barrier"));
}

/// Waves that take turns meet at different `s_barrier` instructions, which release each other.
#[test]
fn waves_may_meet_at_different_barriers() {
    let ping_pong = "v_readfirstlane_b32 s8, v0\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc0 other\ns_barrier\nds_write_b32 v1, v1\n\
                     s_waitcnt lgkmcnt(0)\ns_barrier\ns_endpgm\nother:\ns_nop 0\ns_barrier\ns_nop 0\ns_barrier\nds_read_b32 v2, v1";
    run(Target::GFX942, ping_pong, 2).unwrap();
}

#[test]
fn weaker_waits_are_not_enough() {
    let two_loads = |wait: &str| {
        run(
            Target::GFX942,
            &format!(
                "global_load_dword v2, v1, s[4:5]\nglobal_load_dword v3, v1, s[4:5]\n{wait}\nv_mov_b32 v4, v2"
            ),
            1,
        )
    };
    assert!(two_loads("s_waitcnt vmcnt(1)").is_ok());
    let hazard = two_loads("s_waitcnt vmcnt(2)").unwrap_err();
    assert_eq!(
        (hazard.rule.as_str(), hazard.need.as_str(), hazard.register.as_deref()),
        ("waitcnt.raw", "vmcnt(1)", Some("v2"))
    );
    assert_eq!(
        hazard.to_string().split("; ").next().unwrap(),
        "hazard waitcnt.raw: `v_mov_b32_e32 v4, v2` at offset 0x24 (workgroup 0,0,0, wave 0) comes too early after `global_load_dword v2, v1, s[4:5]` at offset 0x10 (v2): needs vmcnt(1), has operations that may be outstanding: 2 on vmcnt, 0 on lgkmcnt"
    );
    // Scalar loads complete in any order, also relative to LDS operations.
    let mixed = |wait: &str| {
        run(
            Target::GFX942,
            &format!("ds_read_b32 v2, v1\ns_load_dword s8, s[4:5], 0x0\n{wait}\nv_mov_b32 v3, v2"),
            1,
        )
    };
    assert!(mixed("s_waitcnt lgkmcnt(1)").is_err() && mixed("s_waitcnt lgkmcnt(0)").is_ok());
    let scalar = |wait: &str| {
        run(
            Target::GFX90A,
            &format!("s_load_dword s8, s[4:5], 0x0\ns_load_dword s9, s[4:5], 0x4\n{wait}\ns_mov_b32 s10, s8"),
            1,
        )
    };
    assert!(scalar("s_waitcnt lgkmcnt(1)").is_err() && scalar("s_waitcnt lgkmcnt(0)").is_ok());
    // While a flat operation is outstanding, only a wait for 0 guarantees anything.
    let flat = |wait: &str| {
        let body = format!(
            "v_mov_b32 v10, s4\nv_mov_b32 v11, s5\nglobal_load_dword v2, v1, s[4:5]\nflat_load_dword v3, v[10:11]\n{wait}\nv_mov_b32 v4, v2"
        );
        run(Target::GFX942, &body, 1)
    };
    assert!(flat("s_waitcnt vmcnt(1)").is_err() && flat("s_waitcnt vmcnt(0)").is_ok());
}

#[test]
fn overwriting_pending_results() {
    let waw = |second: &str| run(Target::GFX942, &format!("global_load_dword v2, v1, s[4:5]\n{second}"), 1);
    assert!(waw("global_load_dword v2, v1, s[4:5] offset:4").is_ok(), "vector memory returns in order");
    assert!(waw("global_load_short_d16_hi v2, v1, s[4:5] offset:4").is_ok());
    assert_eq!(waw("ds_read_b32 v2, v1").unwrap_err().rule, "waitcnt.waw");
    assert_eq!(waw("v_mov_b32 v2, 0").unwrap_err().rule, "waitcnt.waw");
    assert!(waw("v_accvgpr_write_b32 a2, 0").is_ok(), "a2 is not v2");
    // Addresses and stored data are read when the operation is issued.
    assert!(waw("v_mov_b32 v1, 0\ns_mov_b64 s[4:5], 0").is_ok());
    assert!(run(Target::GFX942, "global_store_dword v1, v0, s[4:5]\nv_mov_b32 v0, 0", 1).is_ok());
}

#[test]
fn lds_writes_are_waited_for_before_a_barrier() {
    for target in [Target::GFX90A, Target::GFX942] {
        each_wait_counts(
            target,
            2,
            "ds_write_b32 v1, v0
             s_waitcnt lgkmcnt(0) ; barrier.lds
             s_barrier
             ds_read_b32 v2, v1
             s_waitcnt lgkmcnt(0) ; waitcnt.raw
             v_mov_b32 v3, v2",
        );
        assert!(run(target, "ds_write_b32 v1, v0\ns_barrier", 1).is_ok(), "a wave alone keeps its own order");
    }
}

/// Each wave reads, after a barrier, the half that the other wave has written before it. By the memory model, a release before a
/// workgroup's barrier waits for LDS (LLVM AMDGPU guide; clang emits the wait in each such program).
const EXCHANGE: &str = "v_xor_b32 v2, 0x100, v1
             ds_write_b32 v1, v0
             s_waitcnt lgkmcnt(0) ; barrier.lds
             s_barrier
             ds_read_b32 v3, v2
             s_waitcnt lgkmcnt(0)
             global_store_dword v1, v3, s[4:5]";

#[test]
fn a_write_that_another_wave_meets_after_a_barrier_is_an_error_of_every_grade() {
    let without: String = EXCHANGE.lines().filter(|l| !l.contains(';')).map(|l| format!("{l}\n")).collect();
    let with = EXCHANGE.replace("; barrier.lds", "");
    let by = |grade, body: &str| {
        [Target::GFX90A, Target::GFX942, Target::GFX950].map(|target| {
            run_by(Config::at_least(grade), target, body, 2).map_err(|h| (h.rule, h.second.text)).err()
        })
    };
    let late = |text: &str| [0; 3].map(|_| Some(("barrier.lds".to_owned(), text.to_owned())));
    let fine = [None, None, None];
    for grade in [Grade::Certain, Grade::Documented] {
        assert_eq!(by(grade, &with), fine);
        assert_eq!(by(grade, &without), late("ds_read_b32 v3, v2"));
        // A second barrier without a wait before it does not hide the error.
        let twice = without.replace("s_barrier", "s_barrier\ns_barrier");
        assert_eq!(by(grade, &twice), late("ds_read_b32 v3, v2"));
        let waited = without.replace("s_barrier", "s_barrier\ns_waitcnt lgkmcnt(0)\ns_barrier");
        assert_eq!(by(grade, &waited), fine, "it is done at the barrier before the read");
        for (write, late_too) in [
            ("ds_add_u32 v1, v0", true),
            ("ds_add_rtn_u32 v5, v1, v0", true),
            ("ds_write_b64 v1, v[0:1] offset:2040", false),
            ("ds_write_b8 v1, v0 offset:3", true),
        ] {
            let other = without.replace("ds_write_b32 v1, v0", write);
            let expected = if late_too { late("ds_read_b32 v3, v2") } else { fine.clone() };
            assert_eq!(by(grade, &other), expected, "{write}");
        }
        let overwritten = without.replace("ds_read_b32 v3, v2", "v_mov_b32 v3, 0\nds_write_b32 v2, v3");
        assert_eq!(by(grade, &overwritten), late("ds_write_b32 v2, v3"));
        let atomics = "v_xor_b32 v2, 0x100, v1\nds_add_u32 v1, v0\ns_barrier\nds_add_u32 v2, v0";
        assert_eq!(by(grade, atomics), fine, "atomics have no order that matters");
        assert!(run_by(Config::at_least(grade), Target::GFX942, &without, 1).is_ok(), "a wave alone");
    }
}

/// In threadgroup split mode, in which waves may be on several compute units, the same holds for memory (memory model, release and acquire
/// at workgroup scope; clang emits the wait and the invalidation with `-mtgsplit`).
#[test]
fn a_store_that_another_wave_meets_after_a_barrier_of_a_split_workgroup() {
    let exchange = |wait: &str| {
        format!(
            "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\nv_xor_b32 v2, 0x100, v1
             global_store_dword v1, v0, s[4:5] offset:1024
             {wait}
             s_barrier
             buffer_inv sc0
             global_load_dword v3, v2, s[4:5] offset:1024
             s_waitcnt vmcnt(0)
             global_store_dword v1, v3, s[4:5]
             s_endpgm"
        )
    };
    let run = |split: bool, wait: &str, options: &Options| {
        let state = KernelState { tg_split: split, ..state() };
        let kernel = Kernel { target: Target::GFX942, state, text: exchange(wait) };
        let mut memory = Memory::new();
        let buffer = memory.alloc(0x4000);
        let outcome = kernel.run(&mut memory, [1, 1, 1], [128, 1, 1], &[buffer, buffer], options);
        let values: Vec<u32> = memory
            .read(buffer, 512)
            .unwrap()
            .chunks(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect();
        (outcome, values)
    };
    let right: Vec<u32> = (0..128).map(|i| i ^ 64).collect();
    for (split, wait) in [(false, ""), (true, "s_waitcnt vmcnt(0)"), (true, "")] {
        let is_late = split && wait.is_empty();
        for grade in [Grade::Cautious, Grade::Documented, Grade::Certain] {
            let options = Options { rules: Config::at_least(grade), ..Options::strict() };
            match run(split, wait, &options) {
                (Err(SimError::Hazard(hazard)), _) => {
                    assert!(is_late && hazard.rule == "barrier.store", "{hazard}");
                    assert_eq!(hazard.second.text == "s_barrier", grade == Grade::Cautious);
                }
                (outcome, values) => {
                    assert!(!is_late, "nothing found");
                    outcome.unwrap();
                    assert_eq!(values, right);
                }
            }
        }
        let (outcome, values) =
            run(split, wait, &Options { mode: gcn_sim::Mode::Faithful, ..Options::default() });
        let stale: Vec<String> = outcome.unwrap().stale.into_iter().map(|s| s.hazard.rule).collect();
        // The first wave reads the old contents, because the second wave's store has not arrived.
        let expected =
            if is_late { (0..128).map(|i| if i < 64 { 0 } else { i ^ 64 }).collect() } else { right.clone() };
        assert_eq!((values, stale.iter().any(|rule| rule == "barrier.store")), (expected, is_late));
        let options = Options { sanitize: Sanitize::RACES, findings: 8, ..Options::default() };
        let races = run(split, wait, &options).0.unwrap().findings.len();
        assert_eq!(races > 0, is_late);
    }
}

#[test]
fn in_faithful_mode_a_write_that_is_late_is_listed() {
    let kept = |wait: bool| -> String {
        let kept = EXCHANGE.lines().filter(|l| wait || !l.contains(';'));
        kept.map(|l| format!("{}\n", l.split(';').next().unwrap_or(l))).collect()
    };
    let right: Vec<u32> = (0..128).map(|i| i ^ 64).collect();
    assert_eq!(faithful(&kept(true)), (right.clone(), vec![]));
    // The first wave reads the old contents, because the second wave's write has not arrived.
    let late = (0..128).map(|i| if i < 64 { 0 } else { i ^ 64 }).collect();
    // With the cautious rules, the barrier is also reported.
    assert_eq!(faithful(&kept(false)), (late, vec!["barrier.lds".to_owned(); 2]));
    // At workgroup scope, global memory needs no wait, because the waves of a workgroup share a compute unit (memory model, release and
    // acquire at workgroup scope without TgSplit).
    let global = "v_xor_b32 v2, 0x100, v1
        global_store_dword v1, v0, s[4:5] offset:1024
        s_barrier
        global_load_dword v3, v2, s[4:5] offset:1024
        s_waitcnt vmcnt(0)
        global_store_dword v1, v3, s[4:5]";
    assert_eq!(faithful(global), (right.clone(), vec![]));
    // A flat store to LDS is complete according to lgkmcnt.
    let flat = "v_xor_b32 v2, 0x100, v1
        v_mov_b32 v4, v1
        s_mov_b64 s[8:9], src_shared_base
        v_mov_b32 v5, s9
        flat_store_dword v[4:5], v0
        s_waitcnt lgkmcnt(0)
        s_barrier
        ds_read_b32 v3, v2
        s_waitcnt vmcnt(0) lgkmcnt(0)
        global_store_dword v1, v3, s[4:5]";
    assert_eq!(faithful(flat), (right, vec![]));
}

/// Each wave reads the other wave's half, and writes its own half after the barrier: LDS operations of different waves have no order by
/// themselves (LLVM AMDGPU guide, memory model).
const SWAP: &str = "v_xor_b32 v2, 0x100, v1
             ds_write_b32 v1, v0
             s_waitcnt lgkmcnt(0)
             s_barrier
             ds_read_b32 v3, v2
             s_waitcnt lgkmcnt(0) ; barrier.lds-read
             s_barrier
             ds_write_b32 v1, v1
             s_waitcnt lgkmcnt(0)
             global_store_dword v1, v3, s[4:5]";

#[test]
fn lds_reads_are_waited_for_before_a_barrier_behind_which_others_write_there() {
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        each_wait_counts(target, 2, SWAP);
        let without: String = SWAP.lines().filter(|l| !l.contains(';')).map(|l| format!("{l}\n")).collect();
        assert!(run(target, &without, 1).is_ok(), "a wave alone keeps its own order");
        let elsewhere = without.replace("ds_write_b32 v1, v1", "ds_write_b32 v1, v1 offset:512");
        assert!(run(target, &elsewhere, 2).is_ok(), "another buffer");
        let next =
            without.replace("ds_write_b32 v1, v1", "s_waitcnt lgkmcnt(0)\ns_barrier\nds_write_b32 v1, v1");
        assert!(run(target, &next, 2).is_ok(), "the read is done at the barrier before the write");
    }
}

/// The 128 words after two waves have run in faithful mode, and the violated rules.
fn faithful(body: &str) -> (Vec<u32>, Vec<String>) {
    let text = format!(
        "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n{body}\ns_endpgm"
    );
    let kernel = Kernel { target: Target::GFX942, state: KernelState { lds_bytes: 4096, ..state() }, text };
    let mut memory = Memory::new();
    let buffer = memory.alloc(0x4000);
    let options = Options { mode: gcn_sim::Mode::Faithful, ..Options::default() };
    let stats = kernel.run(&mut memory, [1, 1, 1], [128, 1, 1], &[buffer, buffer], &options).unwrap();
    let bytes = memory.read(buffer, 512).unwrap();
    let words = bytes.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    (words, stats.stale.into_iter().map(|s| s.hazard.rule).collect())
}

#[test]
fn in_faithful_mode_a_late_read_sees_what_comes_after_the_barrier() {
    let lines = |wait: bool| -> String {
        let kept = SWAP.lines().filter(|l| wait || !l.contains(';'));
        kept.map(|l| format!("{}\n", l.split(';').next().unwrap_or(l))).collect()
    };
    // Item i has the number of an item of the other wave.
    let right: Vec<u32> = (0..128).map(|i| i ^ 64).collect();
    assert_eq!(faithful(&lines(true)), (right.clone(), vec![]));
    let elsewhere = lines(false).replace("ds_write_b32 v1, v1", "ds_write_b32 v1, v1 offset:512");
    assert_eq!(faithful(&elsewhere), (right, vec![]));
    // The first wave continues first. The second reads what the first has written, which is four times its number.
    let late = (0..128).map(|i| if i < 64 { i ^ 64 } else { 4 * (i ^ 64) }).collect();
    assert_eq!(faithful(&lines(false)), (late, vec!["barrier.lds-read".to_owned()]));
}

#[test]
fn in_faithful_mode_a_wave_with_late_reads_goes_on_last() {
    let roles = "v_readfirstlane_b32 s8, v0
        s_cmp_lg_u32 s8, 0
        v_xor_b32 v2, 0x100, v1
        ds_write_b32 v1, v0
        s_waitcnt lgkmcnt(0)
        s_barrier
        s_cbranch_scc1 second
        ds_read_b32 v3, v2
        s_barrier
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v3, s[4:5]
        s_endpgm
        second:
        s_barrier
        ds_write_b32 v1, v1
        s_waitcnt lgkmcnt(0)";
    let (words, rules) = faithful(roles);
    assert_eq!(rules, ["barrier.lds-read"]);
    assert_eq!(words[..64], (0..64).map(|i| 4 * (i ^ 64)).collect::<Vec<u32>>());
}

/// The result of running two instructions with some wait states between them.
enum Pair {
    /// No wait-state rule is violated.
    Fine,
    /// A rule requires this many wait states.
    Short(String),
    /// The first instruction cannot run on zeroed registers (it accesses a null pointer, or is not simulated).
    CannotRun,
}

fn pair(target: Target, first: &str, second: &str, states: u32) -> Pair {
    let mut idle = String::new();
    for chunk in (0..states).step_by(16) {
        idle += &format!("s_nop {}\n", (states - chunk).min(16) - 1);
    }
    // No lane is active, so memory instructions access no address. A nop after the pair gives branches a target.
    let text = format!("s_mov_b64 exec, 0\ns_nop 15\ns_nop 15\n{first}\n{idle}{second}\ns_nop 0\ns_endpgm");
    let code = assemble(target, &text);
    let Ok(machine) = Machine::new(target, &code, state()) else { return Pair::CannotRun };
    let offsets: Vec<u32> = machine.instructions().map(|(offset, _)| offset).collect();
    let second_at = offsets[offsets.len() - 3];
    let error =
        gcn_sim::run(&machine, &mut Memory::new(), [1, 1, 1], [64, 1, 1], &[], &Options::strict()).err();
    match error {
        Some(SimError::Hazard(h)) if h.rule.starts_with("waitcnt") => Pair::CannotRun,
        Some(SimError::Hazard(h)) => Pair::Short(h.need),
        Some(SimError::OutOfBounds(oob)) if oob.site.offset != second_at => Pair::CannotRun,
        Some(SimError::Unsupported { offset, .. }) if offset != second_at => Pair::CannotRun,
        _ => Pair::Fine,
    }
}

/// The wait states that only rocRoller requires and the rule table does not contain (`gcn-isa/tests/it/hazards/rocroller.rs`).
fn of_rocroller(target: Target, first: &str, second: &str) -> u32 {
    let Ok(program) = parse_program(&format!("{first}\n{second}\ns_endpgm"), target, "pair") else {
        return 0;
    };
    let needs = hazards::required_all(target, &program.lines[0].inst, &program.lines[1].inst);
    let alone = |n: &&Need| n.rule.id.starts_with("rocroller.") && n.rule.evidence.llvm == Voice::Less;
    needs.iter().filter(alone).map(|n| n.states.into()).max().unwrap_or(0)
}

/// Tests every measured wait-state rule of both targets: with enough wait states the pair runs; with one less, a hazard that states the
/// number is reported.
#[test]
fn every_measured_rule_is_enforced_to_the_state() {
    let mut text = String::new();
    let packed = &include_bytes!("../data/wait-states.tsv.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let (mut enforced, mut free, mut skipped) = (0, 0, Vec::new());
    for line in text.lines().skip(1) {
        let [rule, target, safe, first, second] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        // With XNACK replay off, memory clauses need no wait states. Case 14 is about reads of VCC by its SGPR number, for which these
        // targets have no encoding.
        if rule.starts_with("xnack") || rule == "case-14" {
            continue;
        }
        let target: Target = target.parse().unwrap();
        let safe = safe.parse::<u32>().unwrap().max(of_rocroller(target, first, second));
        match pair(target, first, second, safe) {
            Pair::Fine => {}
            Pair::Short(need) => panic!("{line}: {need}"),
            Pair::CannotRun => {
                skipped.push(rule);
                continue;
            }
        }
        if safe == 0 {
            free += 1;
            continue;
        }
        match pair(target, first, second, safe - 1) {
            Pair::Short(need) => assert_eq!(need, format!("{safe} wait states"), "{line}"),
            _ => panic!("{line}: {} states pass", safe - 1),
        }
        enforced += 1;
    }
    assert_eq!((enforced, free, skipped.len()), (466, 106, 2), "{skipped:?}");
}

/// LLVM 22 puts one wait state before the last instruction of the first two triples; it puts none if another instruction is in between, or
/// if the first is not a vector instruction (`gcn-isa/tests/data/drawn-triples-*.tsv.gz`).
#[test]
fn rules_over_three_instructions() {
    let broken = |target, body: &str| run(target, body, 1).err().map(|h| (h.rule.clone(), h.need.clone()));
    let dgemm = |between: &str| {
        let body = format!(
            "v_mov_b32 v2, v3\n{between}v_mfma_f64_4x4x4f64 v[20:21], v[22:23], v[24:25], 0\nds_write_b32 v1, v2"
        );
        broken(Target::GFX90A, &body)
    };
    assert_eq!(dgemm("").map(|b| b.0).as_deref(), Some("llvm.dgemm.between"));
    assert_eq!(dgemm("v_nop\n"), None);
    let moved = |between: &str| {
        let body = format!("v_mov_b32 v2, v3\n{between}v_accvgpr_write_b32 a0, v4\nds_write_b32 v1, v2");
        broken(Target::GFX908, &body)
    };
    assert_eq!(moved("").map(|b| b.0).as_deref(), Some("llvm.gfx908.accvgpr-between"));
    assert_eq!(moved("v_nop\n"), None);
}

#[test]
fn matrix_results_need_their_passes() {
    each_wait_counts(
        Target::GFX942,
        1,
        "v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], v[4:5], v[16:31]
         s_nop 10 ; cdna3.105
         v_mfma_f32_32x32x8_f16 v[32:47], v[16:17], v[4:5], v[32:47]
         s_nop 10 ; cdna3.106
         v_add_f32 v2, v32, v32",
    );
}
