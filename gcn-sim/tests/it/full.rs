//! More operations than a counter can count: an instruction that would overflow a counter waits until there is room.
//!
//! The capacities (vmcnt 63, lgkmcnt 15) and the order are those of AMD's emulator (ROCm/rocm-systems, issue 11202 and pull request 10926).
//! The numbers of operations in the tests were derived from them by hand.

use std::io::Read as _;

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::InstructionSet;
use gcn_isa::hazards::{Config, Grade};
use gcn_isa::table::Class;
use gcn_isa::wait::{WaitOptions, insert_waits};
use gcn_isa::{Operand, Program, Target};
use gcn_sim::launch::{self, Arg, Buffer, Element, Number, Spec};
use gcn_sim::{KernelState, Machine, Memory, Options, SimError, run};
use gcn_test_support::Random;

use super::harness::state;

/// `full.c` compiled by clang 22 at -O2.
const OBJECTS: [&[u8]; 6] = [
    include_bytes!("../data/full-gfx900.co.gz"),
    include_bytes!("../data/full-gfx906.co.gz"),
    include_bytes!("../data/full-gfx908.co.gz"),
    include_bytes!("../data/full-gfx90a.co.gz"),
    include_bytes!("../data/full-gfx942.co.gz"),
    include_bytes!("../data/full-gfx950.co.gz"),
];

/// Runs a kernel of every object in every mode, and checks that each work-item has the result `expected`.
fn compiled(kernel: &str, next: impl Fn(Spec) -> Spec, expected: impl Fn(u32) -> u32) {
    for packed in OBJECTS {
        let mut object = Vec::new();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut object).unwrap();
        let program = launch::Program::load(&object, Some(kernel)).unwrap();
        let spec = Spec { rest_zero: true, ..Spec::new([1, 1, 1], [64, 1, 1]) };
        let spec = next(spec.next(Buffer::zeros(Element::U32, 64).shown()));
        for options in [Options::default(), Options::strict(), Options::faithful()] {
            let mut launch = program.prepare(&spec, ".".as_ref()).unwrap();
            let stats = launch.run(&options).unwrap_or_else(|e| panic!("{kernel}: {e}"));
            assert!(stats.stale.is_empty(), "{kernel}: {:?}", stats.stale);
            let bytes = launch.buffer_at(0).unwrap().bytes;
            let found = bytes.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap()));
            assert!(found.eq((0..64).map(&expected)), "{kernel}");
        }
    }
}

/// The result of the sum that all kernels of `full.c` compute.
fn folded(start: u32, values: impl IntoIterator<Item = u32>) -> u32 {
    values.into_iter().fold(start, |s, a| (s ^ a).wrapping_mul(5))
}

#[test]
fn what_clang_leaves_to_a_full_counter_is_right() {
    let value = |i: u32| i.wrapping_mul(2_654_435_761) >> 7;
    let input = || {
        let words = (0..64 * 70).flat_map(|i| value(i).to_le_bytes()).collect();
        Buffer::bytes(Element::U32, words)
    };
    let table = |i: u32| [11, 22, 33, 44].get(i as usize).copied().unwrap_or(0);
    let one = |spec: Spec| spec.next(Arg::Scalar(Element::I32, Number::Int(1)));
    compiled("flat", one, |_| folded(0, (1..19).map(table)));
    let shared = |i: u32| if i < 64 { 3 * i } else { 7 * (i - 64) };
    compiled("lds", |s| s.next(input()), |i| folded(value(i) + 1, (i..i + 20).map(shared)));
    compiled("loads", |s| s.next(input()), |i| folded(i + 1, (0..70).map(|j| value(i + 64 * j))));
}

/// Sets up addresses, and initialises LDS and memory.
const PROLOGUE: &str = "s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v2, s4, v1
    v_mov_b32_e32 v3, s5
    v_mul_u32_u24_e32 v4, 7, v0
    ds_write_b32 v1, v4
    ds_write_b32 v1, v2 offset:256
    global_store_dword v[2:3], v4, off
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_nop 15\n";

fn with_prologue(target: Target, body: &str) -> Program {
    parse_program(&format!("{PROLOGUE}{body}\ns_endpgm\n"), target, "test").unwrap_or_else(|e| panic!("{e}"))
}

/// The contents of memory after a program, and the number of stale accesses.
fn result(program: &Program, options: &Options) -> Result<(Vec<u8>, usize), SimError> {
    let code = encode_program(program).unwrap();
    let kernel = KernelState { vgprs: 128, lds_bytes: 4096, ..state() };
    let machine = Machine::new(program.target, &code.bytes, kernel).unwrap();
    let mut memory = Memory::new();
    let buffer = memory.alloc(0x4000);
    let arguments: Vec<u8> = [buffer, buffer].into_iter().flat_map(u64::to_le_bytes).collect();
    let stats = run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &arguments, options)?;
    Ok((memory.read(buffer, 0x4000).unwrap(), stats.stale.len()))
}

/// The rule that strict mode reports; `None` if the program runs. Checks that faithful mode has the result of functional mode if and only
/// if the program runs.
fn judged(target: Target, body: &str) -> Option<String> {
    let program = with_prologue(target, body);
    let (functional, _) = result(&program, &Options::default()).unwrap();
    let (faithful, stale) = result(&program, &Options::faithful()).unwrap();
    let strict = result(&program, &Options::strict());
    assert_eq!((stale == 0, functional == faithful), (strict.is_ok(), strict.is_ok()), "{body}");
    match strict {
        Ok(_) => None,
        Err(SimError::Hazard(hazard)) => Some(hazard.rule.clone()),
        Err(other) => panic!("{other}\n{body}"),
    }
}

/// Judges a program of `first`, then `count` copies of `later`, then `last`, which stores a value that depends on v5.
fn judge(first: &str, later: &str, count: usize, last: &str) -> Option<String> {
    let later = format!("{later}\n").repeat(count);
    let body = format!(
        "{first}\n{later}{last}\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v[2:3], v6, off offset:512"
    );
    let [first, rest @ ..] = &Target::REPRESENTATIVES.map(|t| judged(t, &body))[..] else {
        panic!("there are targets")
    };
    assert!(rest.iter().all(|r| r == first), "{first:?} {rest:?}");
    first.clone()
}

const LDS: &str = "v_mov_b32_e32 v5, 0\nds_read_b32 v5, v1";
const LOAD: &str = "v_mov_b32_e32 v5, 0\nglobal_load_dword v5, v[2:3], off";
const USE: &str = "v_mov_b32_e32 v6, v5";

#[test]
fn the_oldest_operation_makes_room() {
    let raw = Some("waitcnt.raw".to_owned());
    let writes = |count| judge(LDS, "ds_write_b32 v1, v4 offset:512", count, USE);
    assert_eq!([13, 14, 15, 16, 30].map(writes), [raw.clone(), raw.clone(), None, None, None]);
    let stores = |count| judge(LOAD, "global_store_dword v[2:3], v4, off offset:256", count, USE);
    assert_eq!([62, 63, 64].map(stores), [raw.clone(), None, None]);
    // An instruction that waits for room reads its operands when it issues.
    let address = |count| judge(LDS, "ds_write_b32 v1, v4 offset:512", count, "ds_read_b32 v6, v5 offset:64");
    assert_eq!([13, 14].map(address), [raw.clone(), None]);
    // A scalar load of more than a dword counts twice.
    let scalar = |count| {
        judge(
            LDS,
            "ds_write_b32 v1, v4 offset:512",
            count,
            &format!("s_load_dwordx2 s[8:9], s[4:5], 0x0\n{USE}"),
        )
    };
    assert_eq!([12, 13].map(scalar), [raw.clone(), None]);
    // Operations on the other counter, and operations without order.
    assert_eq!(judge(LDS, "global_store_dword v[2:3], v4, off offset:256", 80, USE), raw);
    assert_eq!(judge(LOAD, "ds_write_b32 v1, v4 offset:512", 80, USE), raw);
    let loads = "s_load_dword s8, s[4:5], 0x4";
    let scalars = judge("s_mov_b32 s9, 0\ns_load_dword s9, s[4:5], 0x8", loads, 1, "v_mov_b32_e32 v6, s9");
    assert_eq!(scalars, raw);
    assert_eq!(judge(LDS, "s_dcache_inv", 40, USE), raw);
}

/// A FLAT load from memory completes according to vmcnt, and one from LDS according to lgkmcnt.
#[test]
fn flat_operations_return_by_the_counter_of_their_memory() {
    let raw = Some("waitcnt.raw".to_owned());
    let memory = |wait: &str| judge("v_mov_b32_e32 v5, 0\nflat_load_dword v5, v[2:3]", wait, 1, USE);
    assert_eq!(["s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)"].map(memory), [None, raw.clone()]);
    let lds = |wait: &str| {
        let aperture =
            "s_mov_b64 s[10:11], src_shared_base\nv_mov_b32_e32 v7, s11\nv_mov_b32_e32 v6, v1\ns_nop 4";
        judge(
            &format!("{aperture}\nv_mov_b32_e32 v5, 0\nflat_load_dword v5, v[6:7]"),
            wait,
            1,
            "v_mov_b32_e32 v6, v5",
        )
    };
    assert_eq!(["s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)"].map(lds), [raw, None]);
}

/// Operations that load registers 10 to 41, each with an instruction that uses the result.
const OPERATIONS: [(&str, &str); 7] = [
    ("ds_read_b32 v{}, v1", "v_add_u32_e32 v6, v6, v{}"),
    ("ds_read_b32 v{}, v1 offset:256", "v_xor_b32_e32 v6, v6, v{}"),
    ("ds_write_b32 v1, v4 offset:512", "v_nop"),
    ("global_load_dword v{}, v[2:3], off", "v_add_u32_e32 v6, v6, v{}"),
    ("global_load_dword v{}, v[2:3], off offset:4", "v_mov_b32_e32 v{}, 3"),
    ("global_store_dword v[2:3], v4, off offset:256", "v_nop"),
    ("s_load_dword s{}, s[4:5], 0x0", "v_add_u32_e32 v6, s{}, v6"),
];

fn crowded(random: &mut Random, target: Target, operations: &[(&str, &str)]) -> Program {
    let kinds: Vec<(&str, &str)> = (0..1 + random.below(3)).map(|_| *random.pick(operations)).collect();
    let mut body = "v_mov_b32_e32 v6, 0\n".to_owned();
    for register in 10..42 {
        body += &format!("v_mov_b32_e32 v{register}, 1\ns_mov_b32 s{register}, 2\n");
    }
    for _ in 0..60 + random.below(120) {
        let (operation, user) = *random.pick(&kinds);
        let line = if random.below(20) == 0 { user } else { operation };
        body += &line.replace("{}", &(10 + random.below(32)).to_string());
        body += "\n";
    }
    with_prologue(target, &(body + "global_store_dword v[2:3], v6, off offset:512"))
}

/// For each `s_waitcnt` with a value that can be increased by one, the program with that value increased.
fn weakened(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for line in PROLOGUE.lines().count()..program.lines.len() {
        let inst = &program.lines[line].inst;
        let (Class::Waitcnt, Some(Operand::Imm(imm))) = (inst.desc.class, inst.operands.first()) else {
            continue;
        };
        let wait = gcn_isa::counters::WaitCnt::of_immediate(InstructionSet::GFX900, *imm as u16);
        for counter in gcn_isa::counters::Counter::ALL {
            if counter.is_in(wait) {
                let mut less = program.clone();
                let weaker = counter.set(wait, counter.of(wait) + 1);
                weaker.put_into(less.lines[line].inst_mut());
                all.push(less);
            }
        }
    }
    all
}

/// Programs whose waits do not rely on full counters, and programs whose waits do. Strict mode reports nothing, and faithful mode agrees
/// with functional mode. In the second kind, strict mode needs every wait.
#[test]
fn crowded_programs_with_waits_run_and_need_those_that_rely_on_full_counters() {
    let mut needed = 0;
    for seed in 0..24 {
        let target = Target::REPRESENTATIVES[seed as usize % Target::REPRESENTATIVES.len()];
        for at_least in [Grade::Cautious, Grade::Documented] {
            // Compilers that rely on full counters also rely on the order within a type; strict mode does not if there are scalar loads.
            let scalar = usize::from(at_least == Grade::Cautious);
            let operations = &OPERATIONS[..OPERATIONS.len() - 1 + scalar];
            let mut program = crowded(&mut Random::new(seed), target, operations);
            let rules = Config::at_least(at_least);
            insert_waits(&mut program, &WaitOptions { rules, ..WaitOptions::default() });
            let name = format!("seed {seed} {target} {at_least}");
            let (functional, _) = result(&program, &Options::default()).unwrap();
            result(&program, &Options::strict()).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(result(&program, &Options::faithful()).unwrap(), (functional, 0), "{name}");
            if at_least == Grade::Documented {
                for less in weakened(&program) {
                    let found = result(&less, &Options::strict());
                    assert!(matches!(found, Err(SimError::Hazard(_))), "{name}");
                    needed += 1;
                }
            }
        }
    }
    assert!(needed > 60, "{needed}");
}
