//! Workgroups that wait for each other: through memory, and through global wave sync.

use std::io::Read as _;

use gcn_isa::Target;
use gcn_isa::memory_model::{Mode, Operation, Ordering, Scope, Space, sequence};
use gcn_sim::launch::{Arg, Buffer, Element, Program, Spec};
use gcn_sim::timed::{self, Config};
use gcn_sim::{
    Finding, FindingKind, KernelState, LaunchError, Machine, Memory, Options, Sanitize, SimError, Stats, run,
};

use super::harness::{assemble, state};

const WORDS: usize = 0x400;

/// Sets s2 and v3 to the workgroup's number, s6 to the number of workgroups, and s[4:5] to the buffer. Only the first lane of each wave is
/// active, and all waves except the first jump to `done`.
const PROLOGUE: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_load_dword s6, s[0:1], 0x8
    v_lshrrev_b32 v1, 6, v0
    s_nop 4
    v_readfirstlane_b32 s3, v1
    s_mov_b64 exec, 1
    v_mov_b32 v1, 1
    v_mov_b32 v3, s2
    v_lshlrev_b32 v2, 2, v3
    s_waitcnt lgkmcnt(0)
    s_cmp_lg_u32 s3, 0
    s_cbranch_scc1 done\n";

struct Case {
    target: Target,
    groups: u32,
    lds: u32,
    options: Options,
}

impl Case {
    fn new(target: Target, options: Options) -> Case {
        Case { target, groups: 24, lds: 1024, options: Options { max_instructions: 1 << 22, ..options } }
    }

    fn machine(&self, body: &str) -> Machine {
        let state = KernelState { lds_bytes: self.lds, vgprs: 32, agprs: 32, sgprs: 32, ..state() };
        let code = assemble(
            self.target,
            &format!("{PROLOGUE}{body}\ndone:\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_barrier\ns_endpgm"),
        );
        Machine::new(self.target, &code, state).unwrap()
    }

    fn try_run(&self, body: &str) -> Result<(Vec<u32>, Stats), SimError> {
        let mut memory = Memory::new();
        let buffer = memory.alloc(4 * WORDS);
        let mut kernarg = buffer.to_le_bytes().to_vec();
        kernarg.extend(self.groups.to_le_bytes());
        let size = [128, 1, 1];
        let stats =
            run(&self.machine(body), &mut memory, [self.groups, 1, 1], size, &kernarg, &self.options)?;
        let bytes = memory.read(buffer, 4 * WORDS).unwrap();
        Ok((bytes.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect(), stats))
    }

    fn run(&self, body: &str) -> (Vec<u32>, Stats) {
        self.try_run(body).unwrap_or_else(|e| panic!("{}: {e}\n{body}", self.target))
    }
}

/// Options for runs that must all give the same result.
fn ways() -> Vec<Options> {
    let sanitized = |sanitize| Options { sanitize, findings: 8, ..Options::default() };
    vec![
        Options::default(),
        Options::strict(),
        Options::faithful(),
        Options { parallel: true, ..Options::default() },
        sanitized(Sanitize::all()),
        sanitized(Sanitize::DEADLOCK),
    ]
}

/// A fence of agent scope, with the waits that belong to it.
fn fence(target: Target, ordering: Ordering) -> String {
    let made =
        sequence(target, Mode::Normal, Operation::Fence, ordering, Scope::Agent, Space::Global).unwrap();
    format!("s_waitcnt vmcnt(0)\n{}", made.to_string().replace("; ", "\n"))
}

/// The cache bit of an atomic that has agent scope and returns a value.
fn returns(target: Target) -> &'static str {
    if target.is_gfx940_family() { "sc0" } else { "glc" }
}

/// Each workgroup waits for the next one, which starts later: word `g` becomes three times word `g + 1`, plus `g`. The flags are at 0x400.
fn chain(target: Target, in_the_loop: &str) -> String {
    let (release, acquire) = (fence(target, Ordering::Release), fence(target, Ordering::Acquire));
    let returns = returns(target);
    format!(
        "v_mov_b32 v4, 0
         v_mov_b32 v6, 0
         s_add_u32 s7, s2, 1
         s_cmp_eq_u32 s7, s6
         s_cbranch_scc1 last
         again:
         {in_the_loop}
         global_atomic_add v5, v2, v6, s[4:5] offset:0x404 {returns}
         s_waitcnt vmcnt(0)
         v_readfirstlane_b32 s8, v5
         s_cmp_eq_u32 s8, 0
         s_cbranch_scc1 again
         {acquire}
         global_load_dword v4, v2, s[4:5] offset:4
         s_waitcnt vmcnt(0)
         last:
         v_mul_lo_u32 v4, v4, 3
         v_add_u32 v4, v4, v3
         global_store_dword v2, v4, s[4:5]
         {release}
         global_atomic_add v2, v1, s[4:5] offset:0x400\n"
    )
    .replace("0x400", "1024")
    .replace("0x404", "1028")
}

#[test]
fn workgroups_may_wait_for_later_ones() {
    for target in Target::REPRESENTATIVES {
        let mut expected = [0u32; 25];
        for g in (0..24).rev() {
            expected[g] = 3u32.wrapping_mul(expected[g + 1]).wrapping_add(g as u32);
        }
        for (options, in_the_loop) in ways().into_iter().flat_map(|o| [(o, "s_sleep 1"), (o, "s_nop 0")]) {
            let (words, stats) = Case::new(target, options).run(&chain(target, in_the_loop));
            assert_eq!(words[..24], expected[..24], "{target} {options:?}");
            assert!(stats.findings.is_empty(), "{target}: {}", stats.findings[0]);
            assert!(stats.stale.is_empty(), "{target}");
        }
    }
}

/// A wave must not be considered to hang if it polls so many words that it is never in the same state twice within a turn, nor if its
/// workgroup meets at a barrier in each round.
#[test]
fn workgroups_make_progress_beside_loops_that_poll_for_long() {
    let long = "s_movk_i32 s9, 0x4000\ninner:\ns_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\ns_cbranch_scc1 inner\ns_add_u32 s10, s10, 1";
    let options = Options { max_instructions: u64::MAX, ..Options::default() };
    for options in [options, Options { parallel: true, ..options }] {
        let mut case = Case::new(Target::GFX90A, options);
        case.options.max_instructions = 1 << 28;
        let (words, _) = case.run(&chain(Target::GFX90A, long));
        assert_eq!(words[23], 23);
        assert_eq!(words[0], (0..24).rev().fold(0u32, |sum, g| sum.wrapping_mul(3).wrapping_add(g)));
    }
}

#[test]
fn a_workgroup_that_nobody_releases_is_a_deadlock() {
    // The flag of the last workgroup is never set.
    let case = |groups, lds| Case {
        groups,
        lds,
        ..Case::new(Target::GFX90A, Options { sanitize: Sanitize::DEADLOCK, ..Options::default() })
    };
    let body = chain(Target::GFX90A, "s_nop 0");
    // Another workgroup may be waiting for an atomic, even for one that adds 0.
    let body = body.replace("global_atomic_add v5, v2, v6, s[4:5]", "global_load_dword v5, v2, s[4:5]");
    let without = body.replace("s_cbranch_scc1 last", "s_nop 0");
    let error = case(3, 1024).try_run(&without).unwrap_err();
    assert!(matches!(&error, SimError::Finding(f) if f.kind == FindingKind::Deadlock), "{error}");
    // A die of an MI250X has 110 compute units; each can run one workgroup that uses all of its LDS.
    assert!(case(110, 0x1_0000).try_run(&body).is_ok());
    let error = case(111, 0x1_0000).try_run(&body).unwrap_err();
    assert!(matches!(&error, SimError::Finding(f) if f.kind == FindingKind::Deadlock), "{error}");
    let cooperative = |groups| {
        let mut case = case(groups, 0x1_0000);
        case.options.cooperative = true;
        case.try_run(&body).map(|_| ())
    };
    assert_eq!(cooperative(110), Ok(()));
    let too_many = LaunchError::Cooperative { asked: 111, most: 110, target: Target::GFX90A };
    assert_eq!(cooperative(111), Err(SimError::Launch(too_many)));
}

/// Five rounds, in each of which a workgroup adds up its neighbours' values from the previous round; `meet` is the code between rounds.
/// Each round has 0x80 bytes of memory.
fn neighbours(target: Target, meet: &str) -> String {
    let (release, acquire) = (fence(target, Ordering::Release), fence(target, Ordering::Acquire));
    let round = |n: usize| {
        let (from, to) = (128 * n, 128 * (n + 1));
        format!(
            "{release}
             {meet}
             {acquire}
             global_load_dword v6, v8, s[4:5] offset:{from}
             global_load_dword v7, v9, s[4:5] offset:{from}
             s_waitcnt vmcnt(0)
             v_add3_u32 v6, v6, v7, v3
             global_store_dword v2, v6, s[4:5] offset:{to}\n"
        )
    };
    let rounds: String = (0..5).map(round).collect();
    format!(
        "s_mov_b32 m0, 0x30000
         s_sub_u32 s9, s6, 1
         v_mov_b32 v10, s9
         s_add_u32 s7, s2, 1
         s_cmp_eq_u32 s7, s6
         s_cselect_b32 s7, 0, s7
         s_cmp_eq_u32 s2, 0
         s_cselect_b32 s8, s6, s2
         s_sub_u32 s8, s8, 1
         v_mov_b32 v8, s7
         v_mov_b32 v9, s8
         v_lshlrev_b32 v8, 2, v8
         v_lshlrev_b32 v9, 2, v9
         v_add_u32 v4, 1, v3
         global_store_dword v2, v4, s[4:5]
         {rounds}"
    )
}

fn neighbours_expected(groups: usize) -> Vec<u32> {
    let mut now: Vec<u32> = (1..=groups as u32).collect();
    for _ in 0..5 {
        now =
            (0..groups).map(|g| now[(g + 1) % groups] + now[(g + groups - 1) % groups] + g as u32).collect();
    }
    now
}

/// M0 plus the offset select resource 61 + 3 modulo 64 = 0, which a cooperative launch initialises.
const MEET: &str = "ds_gws_barrier v10 offset:61 gds\ns_waitcnt lgkmcnt(0) expcnt(0)";

#[test]
fn a_cooperative_grid_meets_at_global_wave_sync() {
    for target in Target::REPRESENTATIVES {
        for options in ways() {
            let options = Options { cooperative: true, ..options };
            let (words, stats) = Case::new(target, options).run(&neighbours(target, MEET));
            assert_eq!(words[160..184], neighbours_expected(24), "{target} {options:?}");
            assert!(stats.findings.is_empty(), "{target}: {}", stats.findings[0]);
        }
    }
}

#[test]
fn what_orders_workgroups_at_global_wave_sync_is_known_to_the_race_sanitizer() {
    for target in [Target::GFX90A, Target::GFX942] {
        let options =
            Options { cooperative: true, sanitize: Sanitize::RACES, findings: 8, ..Options::default() };
        let case = Case::new(target, options);
        let kinds = |body: &str| case.run(body).1.findings.iter().map(|f| f.kind).collect::<Vec<_>>();
        let body = neighbours(target, MEET);
        assert_eq!(kinds(&body), []);
        let alone = kinds(&body.replace(MEET, ""));
        assert!(!alone.is_empty() && alone.iter().all(|k| *k == FindingKind::GlobalRace), "{alone:?}");
        let acquire = fence(target, Ordering::Acquire);
        let narrow = body.replace(&format!("{MEET}\n             {acquire}"), MEET);
        let narrow = case.run(&narrow).1.findings;
        // The remedy names the instruction by which the waves synchronise.
        let is_told =
            |f: &Finding| f.kind == FindingKind::NarrowScope && f.remedy.contains("`ds_gws_barrier`");
        assert!(!narrow.is_empty() && narrow.iter().all(is_told), "{narrow:?}");
    }
}

#[test]
fn a_resource_lets_through_whom_its_counter_says() {
    // If the runtime does not initialise the resource, the first barrier expects 0 other waves.
    let case = Case::new(Target::GFX942, Options::default());
    let body = "v_mov_b32 v10, 3
        s_mov_b32 m0, 0
        ds_gws_barrier v10 gds
        s_waitcnt lgkmcnt(0) expcnt(0)
        global_store_dword v2, v1, s[4:5]";
    // One workgroup passes first, then groups of four: 21 pass, 3 do not.
    let error = case.try_run(body).unwrap_err();
    let SimError::Deadlock { workgroup, waves } = &error else { panic!("{error}") };
    assert!(waves[0].contains("ds_gws_barrier") && waves[1].contains("s_barrier"), "{waves:?}");
    // Workgroups 0 to 20 passed in groups; workgroup 21 is the first of the three that wait for a fourth.
    assert_eq!(workgroup[0], 21);
    let (words, _) = Case { groups: 21, ..case }.run(body);
    assert_eq!(words[..22], [vec![1; 21], vec![0]].concat());
}

#[test]
fn a_semaphore_gives_as_many_as_it_has() {
    for (release, passes) in [
        // v7 contains 5 in the first workgroup.
        ("ds_gws_sema_br v10 offset:7 gds", 5),
        ("ds_gws_sema_v offset:7 gds\nds_gws_sema_v offset:7 gds", 2),
        ("ds_gws_init v10 offset:7 gds", 5),
        // No workgroup waits yet.
        ("ds_gws_sema_release_all offset:7 gds", 0),
    ] {
        let body = format!(
            "v_mov_b32 v10, 5
             s_mov_b32 m0, 0
             s_cmp_eq_u32 s2, 0
             s_cbranch_scc0 other
             {release}
             s_branch done
             other:
             ds_gws_sema_p offset:7 gds
             s_waitcnt lgkmcnt(0) expcnt(0)
             global_store_dword v2, v1, s[4:5]"
        );
        let case = |groups| Case { groups, ..Case::new(Target::GFX908, Options::default()) };
        let (words, _) = case(1 + passes).run(&body);
        assert_eq!(words.iter().sum::<u32>(), passes, "{release}");
        let error = case(2 + passes).try_run(&body).unwrap_err();
        assert!(matches!(error, SimError::Deadlock { .. }), "{release}: {error}");
    }
    // The last workgroup releases all that wait.
    let body = "s_mov_b32 m0, 0
        s_sub_u32 s7, s6, 1
        s_cmp_eq_u32 s2, s7
        s_cbranch_scc0 other
        ds_gws_sema_release_all offset:7 gds
        s_branch done
        other:
        ds_gws_sema_p offset:7 gds
        s_waitcnt lgkmcnt(0) expcnt(0)
        global_store_dword v2, v1, s[4:5]";
    let (words, _) = Case::new(Target::GFX942, Options::default()).run(body);
    assert_eq!(words.iter().sum::<u32>(), 23);
}

#[test]
fn resources_outlive_a_launch_as_the_runtime_counts_on() {
    let case = Case { groups: 4, ..Case::new(Target::GFX942, Options::default()) };
    let init = case.machine("v_mov_b32 v10, 3\ns_mov_b32 m0, 0\nds_gws_init v10 gds\ns_waitcnt lgkmcnt(0)");
    let meet = case.machine(
        "v_mov_b32 v10, 3
         s_mov_b32 m0, 0
         global_store_dword v2, v1, s[4:5]
         ds_gws_barrier v10 gds
         s_waitcnt lgkmcnt(0) expcnt(0)
         ds_gws_barrier v10 gds
         s_waitcnt lgkmcnt(0) expcnt(0)",
    );
    let mut memory = Memory::new();
    let buffer = memory.alloc(4 * WORDS);
    let mut kernarg = buffer.to_le_bytes().to_vec();
    kernarg.extend(4u32.to_le_bytes());
    let mut go = |machine, groups| {
        run(machine, &mut memory, [groups, 1, 1], [64, 1, 1], &kernarg, &Options::default()).map(|_| ())
    };
    assert_eq!(go(&init, 1), Ok(()));
    assert_eq!(go(&meet, 4), Ok(()));
    // The counter is 3 again.
    assert_eq!(go(&meet, 4), Ok(()));
    assert!(matches!(go(&meet, 3), Err(SimError::Deadlock { .. })));
}

#[test]
fn timed_mode_says_that_it_has_not_all_of_the_grid() {
    let case = Case::new(Target::GFX942, Options::default());
    let machine = case.machine("s_mov_b32 m0, 0\nds_gws_sema_p gds");
    let mut memory = Memory::new();
    let buffer = memory.alloc(4 * WORDS);
    let mut kernarg = buffer.to_le_bytes().to_vec();
    kernarg.extend(4u32.to_le_bytes());
    let result = timed::run(&machine, &mut memory, [4, 1, 1], [64, 1, 1], &kernarg, &Config::default());
    let error = result.unwrap_err().to_string();
    assert!(error.contains("ds_gws_sema_p") && error.contains("run it without timing"), "{error}");
}

#[test]
fn clangs_workgroups_meet() {
    let objects: [(&str, &[u8]); 4] = [
        ("gfx90a -O0", include_bytes!("../data/together-gfx90a-O0.co.gz")),
        ("gfx90a -O2", include_bytes!("../data/together-gfx90a-O2.co.gz")),
        ("gfx942 -O0", include_bytes!("../data/together-gfx942-O0.co.gz")),
        ("gfx942 -O2", include_bytes!("../data/together-gfx942-O2.co.gz")),
    ];
    for (name, packed) in objects {
        let mut object = Vec::new();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut object).unwrap();
        for options in ways() {
            for kernel in ["resource", "counter"] {
                let first: Vec<u8> = (1..=24u32).flat_map(u32::to_le_bytes).collect();
                let spec = Spec::new([24, 1, 1], [128, 1, 1])
                    .next(Buffer::bytes(Element::U32, [first, vec![0; 4 * 5 * 24]].concat()).shown())
                    .next(Arg::Bytes(5u32.to_le_bytes().to_vec()));
                let spec = match kernel {
                    "counter" => spec.next(Buffer::zeros(Element::U32, 1)),
                    _ => spec,
                };
                let program = Program::load(&object, Some(kernel)).unwrap();
                let mut launch = program.prepare(&spec, ".".as_ref()).unwrap();
                let options = Options { cooperative: true, ..options };
                let stats = launch.run(&options).unwrap_or_else(|e| panic!("{name}, {kernel}: {e}"));
                let bytes = launch.buffer_at(0).unwrap().bytes;
                let words: Vec<u32> =
                    bytes.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
                assert_eq!(words[120..], neighbours_expected(24), "{name}, {kernel} {options:?}");
                assert!(stats.findings.is_empty(), "{name}, {kernel}: {}", stats.findings[0]);
            }
        }
    }
}
