//! Synchronisation between workgroups and within a workgroup, at every scope: with the memory model's sequences, and with clang's code.

use std::io::Read as _;

use gcn_isa::Target;
use gcn_isa::memory_model::{Mode, Operation, Ordering, Scope, Space, sequence};
use gcn_isa::target::WaveSize;
use gcn_sim::launch::{Arg, Buffer, Element, Program, Spec};
use gcn_sim::{FindingKind, KernelState, Machine, Memory, Options, Sanitize, run};

use super::{Case, ONE};
use crate::harness::{assemble, state};

const TARGETS: [Target; 4] = [Target::GFX908, Target::GFX90A, Target::GFX942, Target::GFX950];

/// The machine code of an operation on the flag at s[4:5] + v6.
fn code(target: Target, operation: Operation, ordering: Ordering, scope: Scope) -> String {
    let made = sequence(target, Mode::Normal, operation, ordering, scope, Space::Global).unwrap();
    let returns = if target.is_gfx940_family() { "sc0" } else { "glc" };
    let line = |line: &str| match line.split_once(' ').unwrap_or((line, "")) {
        ("store", bits) => format!("global_store_dword v6, v7, s[4:5] {bits}"),
        ("load", bits) => format!("global_load_dword v8, v6, s[4:5] {bits}"),
        ("atomic", bits) => format!("global_atomic_add v8, v6, v7, s[4:5] {returns} {bits}"),
        _ => line.to_owned(),
    };
    made.to_string().split("; ").map(line).collect::<Vec<_>>().join("\n")
}

/// The ways to release or to acquire: by the atomic itself, or by a fence next to a relaxed atomic.
fn ways(target: Target, scope: Scope, releases: bool) -> Vec<String> {
    let (access, ordering) =
        if releases { (Operation::Store, Ordering::Release) } else { (Operation::Load, Ordering::Acquire) };
    let fence = code(target, Operation::Fence, ordering, scope);
    let beside = |operation| {
        let relaxed = code(target, operation, Ordering::Relaxed, scope);
        if releases {
            format!("{fence}\n{relaxed}")
        } else {
            format!("{relaxed}\ns_waitcnt vmcnt(0)\n{fence}")
        }
    };
    let mut all = vec![beside(Operation::Rmw), beside(access)];
    for ordering in [ordering, Ordering::AcqRel, Ordering::SeqCst] {
        all.extend(
            [Operation::Rmw, access]
                .into_iter()
                .filter(|o| o.allows(ordering))
                .map(|o| code(target, o, ordering, scope)),
        );
    }
    all
}

/// A message: the first party writes data and sets a flag; the second reads the flag and the data. `who` is the number that distinguishes
/// the parties.
fn message(who: &str, release: &str, acquire: &str) -> String {
    format!(
        "v_mov_b32 v6, 0x800
         v_mov_b32 v7, 1
         v_mov_b32 v8, 0
         s_cmp_eq_u32 {who}, 0
         s_cbranch_scc0 reader
         global_store_dword v2, v1, s[4:5]
         s_mov_b64 exec, 1
         {release}
         s_endpgm
         reader:
         s_mov_b64 exec, 1
         {acquire}
         s_mov_b64 exec, -1
         global_load_dword v9, v2, s[4:5]"
    )
}

#[test]
fn the_memory_models_sequences_arrive_where_their_scope_reaches() {
    for target in TARGETS {
        let groups = Case { target, grid: 2, checks: Sanitize::RACES, ..ONE };
        let waves = Case { waves: 2, grid: 1, ..groups };
        // Only from gfx942 on do loads and stores of workgroup scope have bits of their own.
        let tells_all = target.is_gfx940_family();
        for scope in [Scope::Workgroup, Scope::Agent, Scope::System] {
            for release in ways(target, scope, true) {
                for acquire in ways(target, scope, false) {
                    let atomics = release.contains("atomic") && acquire.contains("atomic");
                    let near = message("s3", &release, &acquire);
                    if tells_all || atomics {
                        assert_eq!(waves.kinds(&near), [], "{target} {scope:?}\n{near}");
                    }
                    let far = message("s2", &release, &acquire);
                    let found = groups.kinds(&far);
                    if scope >= Scope::Agent {
                        assert_eq!(found, [], "{target} {scope:?}\n{far}");
                    } else {
                        assert!(!found.is_empty(), "{target}\n{far}");
                        let narrow = found.iter().all(|kind| *kind == FindingKind::NarrowScope);
                        assert!(narrow || !(tells_all || atomics), "{target} {found:?}\n{far}");
                    }
                }
            }
        }
    }
}

/// The code for messages on RDNA.
struct Radeon {
    target: Target,
    mode: Mode,
}

impl Radeon {
    fn all() -> impl Iterator<Item = Radeon> {
        [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201]
            .into_iter()
            .flat_map(|target| [Mode::Normal, Mode::Wgp].map(|mode| Radeon { target, mode }))
    }

    /// Translates assembly text for GFX12, which has other instructions and names.
    fn text(&self, text: &str) -> String {
        let is_new = self.target >= Target::GFX1100;
        let dword = if is_new { "b32" } else { "dword" };
        let atomic = if is_new { "global_atomic_add_u32" } else { "global_atomic_add" };
        let returns = if self.target == Target::GFX1201 { "th:TH_ATOMIC_RETURN" } else { "glc" };
        text.replace("DWORD", dword).replace("ATOMIC_ADD", atomic).replace("RETURNS", returns)
    }

    fn sequence(&self, operation: Operation, ordering: Ordering, scope: Scope) -> String {
        let made = sequence(self.target, self.mode, operation, ordering, scope, Space::Global).unwrap();
        let line = |line: &str| match line.split_once(' ').unwrap_or((line, "")) {
            ("store", bits) => self.text(&format!("global_store_DWORD v6, v7, s[4:5] {bits}")),
            ("load", bits) => self.text(&format!("global_load_DWORD v8, v6, s[4:5] {bits}")),
            ("atomic", bits) => self.text(&format!("ATOMIC_ADD v8, v6, v7, s[4:5] RETURNS {bits}")),
            _ => line.to_owned(),
        };
        made.returning(true).to_string().split("; ").map(line).collect::<Vec<_>>().join("\n")
    }

    /// The findings if the first of two workgroups, or of two waves, sends data to the second.
    fn kinds(&self, groups: bool, release: &str, acquire: &str) -> Vec<FindingKind> {
        let wait = if self.target == Target::GFX1201 { "s_wait_kmcnt 0x0" } else { "s_waitcnt lgkmcnt(0)" };
        let load = if self.target >= Target::GFX1100 { "s_load_b64" } else { "s_load_dwordx2" };
        // From GFX12 on, the workgroup ID is in a different SGPR. The wave's number is derived from the work-item ID.
        let who = match (groups, self.target == Target::GFX1201) {
            (true, false) => "s_mov_b32 s8, s2",
            (true, true) => "s_mov_b32 s8, ttmp9",
            (false, _) => "v_lshrrev_b32 v3, 5, v0\nv_readfirstlane_b32 s8, v3",
        };
        let text = self.text(&format!(
            "{load} s[4:5], s[0:1], 0x0
             v_and_b32 v1, 31, v0
             v_lshlrev_b32 v2, 2, v1
             {who}
             v_mov_b32 v6, 0x800
             v_mov_b32 v7, 1
             {wait}
             s_cmp_eq_u32 s8, 0
             s_cbranch_scc0 reader
             global_store_DWORD v2, v1, s[4:5]
             s_mov_b32 exec_lo, 1
             {release}
             s_endpgm
             reader:
             s_mov_b32 exec_lo, 1
             {acquire}
             s_mov_b32 exec_lo, -1
             global_load_DWORD v9, v2, s[4:5]
             s_endpgm"
        ));
        let kernel = KernelState {
            vgprs: 16,
            wave_size: WaveSize::W32,
            workgroup_processors: self.mode == Mode::Wgp,
            ..state()
        };
        let machine = Machine::new(self.target, &assemble(self.target, &text), kernel).unwrap();
        let mut memory = Memory::new();
        let kernarg = memory.alloc(0x1000).to_le_bytes();
        let options = Case { checks: Sanitize::RACES, ..ONE }.options();
        let (grid, size) = if groups { (2, 32) } else { (1, 64) };
        let stats = run(&machine, &mut memory, [grid, 1, 1], [size, 1, 1], &kernarg, &options);
        stats.unwrap_or_else(|e| panic!("{e}\n{text}")).findings.iter().map(|f| f.kind).collect()
    }
}

/// A message arrives if both parties use the code for a scope that is wide enough, and does not if one of them uses the code for a narrower
/// scope.
#[test]
fn the_memory_models_sequences_of_rdna_arrive_where_their_scope_reaches() {
    for radeon in Radeon::all() {
        let Radeon { target, mode } = radeon;
        for (operation, groups, scope) in [Operation::Rmw, Operation::Store]
            .into_iter()
            .flat_map(|operation| [true, false].map(|groups| (operation, groups)))
            .flat_map(|(operation, groups)| {
                [Scope::Workgroup, Scope::Agent, Scope::System].map(|scope| (operation, groups, scope))
            })
        {
            let load = if operation == Operation::Store { Operation::Load } else { operation };
            let release = |ordering, scope| radeon.sequence(operation, ordering, scope);
            let acquire = |ordering, scope| radeon.sequence(load, ordering, scope);
            let needed = if groups { Scope::Agent } else { Scope::Workgroup };
            let found =
                radeon.kinds(groups, &release(Ordering::Release, scope), &acquire(Ordering::Acquire, scope));
            let place = format!("{target} {mode:?} {operation:?} {scope:?}, workgroups: {groups}");
            // At workgroup scope, a load without scope bits cannot be distinguished from a plain load.
            let is_plain = operation == Operation::Store && mode == Mode::Normal && scope == Scope::Workgroup;
            match scope >= needed {
                true if is_plain => {}
                true => assert_eq!(found, [], "{place}"),
                false => assert!(!found.is_empty(), "{place}"),
            }
            // Relaxed accesses of that scope order nothing.
            let relaxed =
                radeon.kinds(groups, &release(Ordering::Release, scope), &acquire(Ordering::Relaxed, scope));
            // On one compute unit, no cache has to be invalidated.
            if groups || mode == Mode::Wgp {
                assert!(!relaxed.is_empty(), "{place}, relaxed load");
            }
        }
    }
}

/// If the waves of a workgroup may run on two compute units, a barrier is not sufficient for global memory.
#[test]
fn barriers_order_global_memory_with_the_memory_models_fences() {
    for radeon in Radeon::all() {
        let fence = |ordering| radeon.sequence(Operation::Fence, ordering, Scope::Workgroup);
        let barrier = if radeon.target == Target::GFX1201 {
            "s_barrier_signal -1\ns_barrier_wait -1"
        } else {
            "s_barrier"
        };
        let (release, acquire) = (fence(Ordering::Release), fence(Ordering::Acquire));
        let kinds = |release: &str, acquire: &str| {
            radeon.kinds(false, &format!("{release}\n{barrier}"), &format!("{barrier}\n{acquire}"))
        };
        let place = format!("{} {:?}", radeon.target, radeon.mode);
        assert_eq!(kinds(&release, &acquire), [], "{place}");
        let narrow: &[FindingKind] = if radeon.mode == Mode::Wgp { &[FindingKind::NarrowScope] } else { &[] };
        assert_eq!(kinds("", &acquire), narrow, "{place}: nothing before");
        assert_eq!(kinds(&release, ""), narrow, "{place}: nothing after");
    }
}

#[test]
fn what_is_missing_is_named() {
    let groups = Case { grid: 2, checks: Sanitize::RACES, ..ONE };
    let target = Target::GFX942;
    let release = code(target, Operation::Rmw, Ordering::Release, Scope::Agent);
    let acquire = code(target, Operation::Rmw, Ordering::Acquire, Scope::Agent);
    let remedy = |release: &str, acquire: &str, text: &str| {
        let found = groups.run(&message("s2", release, acquire));
        let [finding] = &found[..] else { panic!("{found:#?}") };
        assert_eq!(finding.kind, FindingKind::NarrowScope, "{finding}");
        assert!(finding.remedy.contains(text), "{finding}");
        assert_eq!(finding.other.as_ref().unwrap().site.workgroup, [0, 0, 0]);
    };
    let before = "`buffer_wbl2 sc1; s_waitcnt vmcnt(0) lgkmcnt(0)` stands before the atomic";
    let behind = "`s_waitcnt vmcnt(0) lgkmcnt(0); buffer_inv sc1` stands after it";
    // Errors: no write-back, no wait for it, a write-back that is too early, and one of too narrow a scope.
    let atomic = "global_atomic_add v6, v7, s[4:5]";
    let wait = "s_waitcnt vmcnt(0)";
    for bad in [
        format!("{wait}\n{atomic}"),
        format!("buffer_wbl2 sc1\n{atomic}"),
        format!(
            "buffer_wbl2 sc1\n{wait}\ns_mov_b64 exec, -1\nglobal_store_dword v2, v1, s[4:5]\n{wait}\ns_mov_b64 exec, 1\n{atomic}"
        ),
        format!("buffer_wbl2 sc0\n{wait}\n{atomic}"),
    ] {
        remedy(&bad, &acquire, before);
    }
    // Errors: caches that are not invalidated, or only at workgroup scope.
    for bad in ["", "\nbuffer_inv sc0"] {
        remedy(&release, &format!("global_atomic_add v8, v6, v4, s[4:5] sc0\n{wait}{bad}"), behind);
    }
    // The scope of the flag's store is too narrow for the other workgroup.
    let narrow =
        release.replace("global_atomic_add v8, v6, v7, s[4:5] sc0", "global_store_dword v6, v7, s[4:5] sc0");
    let found = groups.run(&message("s2", &narrow, &acquire));
    assert!(found.iter().any(|f| f.remedy.contains("`load sc1`, `store sc1`, `atomic`")), "{found:#?}");
    assert!(found.iter().all(|f| f.kind == FindingKind::NarrowScope), "{found:#?}");
    // Data that are themselves stored and loaded with agent scope need neither a write-back nor an invalidation.
    let plain = message(
        "s2",
        &format!("{wait}\n{atomic}"),
        &format!("global_atomic_add v8, v6, v4, s[4:5] sc0\n{wait}"),
    );
    let direct =
        plain.replace("v2, v1, s[4:5]", "v2, v1, s[4:5] sc1").replace("v9, v2, s[4:5]", "v9, v2, s[4:5] sc1");
    assert_eq!(groups.kinds(&direct), []);
}

/// Kernels of `scopes.hip`.
struct Compiled {
    target: Target,
    object: Vec<u8>,
}

impl Compiled {
    fn all() -> [Compiled; 2] {
        let read = |target, packed: &[u8]| {
            let mut object = Vec::new();
            flate2::read::GzDecoder::new(packed).read_to_end(&mut object).unwrap();
            Compiled { target, object }
        };
        [
            read(Target::GFX90A, include_bytes!("../../data/scopes-gfx90a.co.gz")),
            read(Target::GFX942, include_bytes!("../../data/scopes-gfx942.co.gz")),
        ]
    }

    /// The findings of a kernel between two workgroups, or between two waves of one.
    fn run(&self, kernel: &str, size: u32, waves: bool) -> Vec<gcn_sim::Finding> {
        let grid = if waves { 1 } else { 2 };
        let size = if waves { 2 * size } else { size };
        let spec = Spec::new([grid, 1, 1], [size, 1, 1])
            .next(Buffer::zeros(Element::I32, 256))
            .next(Buffer::zeros(Element::I32, 1))
            .next(Buffer::zeros(Element::I32, 256).shown());
        let who = Arg::Bytes(vec![waves.into()]);
        let spec = if kernel == "threadfence" { spec } else { spec.next(who) };
        let mut launch =
            Program::load(&self.object, Some(kernel)).unwrap().prepare(&spec, ".".as_ref()).unwrap();
        let options = Options { sanitize: Sanitize::RACES, findings: 10, ..Options::default() };
        let stats = launch.run(&options).unwrap();
        // Checks that the message was received, so that there was something to order.
        let out = launch.buffer_at(2).unwrap().bytes;
        assert_eq!(u32::from_le_bytes(out[252..256].try_into().unwrap()), 64, "{} {kernel}", self.target);
        stats.findings
    }
}

#[test]
fn clangs_atomics_and_fences_arrive_where_their_scope_reaches() {
    for compiled in Compiled::all() {
        let target = compiled.target;
        for form in ["store", "add", "fence"] {
            let tells_all = target.is_gfx940_family() || form != "store";
            for scope in ["agent", "system"] {
                let kernel = format!("{form}_{scope}");
                let found = compiled.run(&kernel, 64, false);
                assert!(found.is_empty(), "{target} {kernel}: {}", found[0]);
                let found = compiled.run(&kernel, 64, true);
                assert!(found.is_empty(), "{target} {kernel}, waves: {}", found[0]);
            }
            let kernel = format!("{form}_workgroup");
            let found = compiled.run(&kernel, 64, false);
            assert!(!found.is_empty(), "{target} {kernel}");
            if tells_all {
                assert!(
                    found.iter().all(|f| f.kind == FindingKind::NarrowScope),
                    "{target} {kernel}: {found:#?}"
                );
                let near = compiled.run(&kernel, 64, true);
                assert!(near.is_empty(), "{target} {kernel}, waves: {}", near[0]);
            }
        }
        let mixed = compiled.run("mixed", 64, false);
        assert!(mixed.iter().any(|f| f.kind == FindingKind::NarrowScope), "{target}: {mixed:#?}");
        let found = compiled.run("threadfence", 256, false);
        assert!(found.is_empty(), "{target}: {}", found[0]);
    }
}
