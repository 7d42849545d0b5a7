//! Tests each wait-state rule in strict and in faithful mode, on pairs of instructions for which LLVM's wait states were measured.
//!
//! The rules themselves select the pairs. The tests check that the simulator applies every rule: strict mode names it, and faithful mode
//! computes a different result than functional mode.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use gcn_emit::text::parse_inst;
use gcn_isa::Target;
use gcn_isa::hazards::{self, Config, RuleSet, View};
use gcn_sim::{KernelState, Machine, Memory, Options, Sanitize, SimError, Stats, run};

use super::harness::{assemble, state};

const PAIRS: [(Target, &[u8]); 6] = [
    (Target::GFX900, include_bytes!("../../../gcn-isa/tests/data/pairs-gfx900.tsv.gz")),
    (Target::GFX906, include_bytes!("../../../gcn-isa/tests/data/pairs-gfx906.tsv.gz")),
    (Target::GFX908, include_bytes!("../../../gcn-isa/tests/data/pairs-gfx908.tsv.gz")),
    (Target::GFX90A, include_bytes!("../../../gcn-isa/tests/data/pairs-gfx90a.tsv.gz")),
    (Target::GFX942, include_bytes!("../../../gcn-isa/tests/data/pairs-gfx942.tsv.gz")),
    (Target::GFX950, include_bytes!("../../../gcn-isa/tests/data/pairs-gfx950.tsv.gz")),
];

/// Additional instructions, for rules that no measured pair covers.
const MORE: [&str; 15] = [
    "s_setvskip 1, 0",
    "s_getreg_b32 s20, hwreg(HW_REG_MODE)",
    "v_accvgpr_write_b32 a4, v9",
    "v_accvgpr_write_b32 a4, v2",
    "v_mfma_f32_4x4x4f16 a[0:3], v[0:1], v[2:3], a[4:7]",
    "v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[4:19]",
    "v_dot2_f32_f16 v20, v21, v22, v23",
    "v_mov_b32_dpp v4, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
    "global_store_dwordx4 v250, v[4:7], s[88:89]",
    "v_mov_b32_e32 v4, v9",
    "v_mfma_f32_32x32x8_f16 v[16:31], v[0:1], v[2:3], v[32:47]",
    "v_mov_b32_e32 v33, v9",
    "v_mfma_f32_32x32x8f16 v[16:31], v[0:1], v[2:3], v[32:47]",
    "v_mfma_f32_32x32x2_f32 v[16:31], v0, v1, v[32:47]",
    "v_cvt_scalef32_sr_pk_fp4_f32 v4, v[0:1], v2, v3",
];

/// The maximum number of pairs that are tried for a rule.
const TRIES: usize = 80;

/// For each rule of the target, the pairs for which it is the strictest rule.
fn pairs_by_rule(target: Target, packed: &[u8]) -> BTreeMap<&'static str, Vec<(String, String)>> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let measured = text.lines().skip(1).flat_map(|line| line.split('\t').skip(1).take(2));
    let pool: BTreeSet<&str> = measured.chain(MORE).collect();
    let views: Vec<(&str, View)> = pool
        .into_iter()
        .filter_map(|text| Some((text, View::new(target, &parse_inst(text, target).ok()?))))
        .collect();
    let mut pairs: BTreeMap<&'static str, Vec<(String, String)>> = BTreeMap::new();
    for (first, a) in &views {
        for (second, b) in &views {
            if let Some(need) = a.required(b, Config::default()) {
                let list = pairs.entry(need.rule.id).or_default();
                let pair = ((*first).to_owned(), (*second).to_owned());
                // Pairs made for this test come first.
                let at = if MORE.contains(first) { 0 } else { list.len() };
                list.insert(at, pair);
            }
        }
    }
    pairs
}

/// The code around a pair, which initialises registers before it and stores them after it.
struct Frame {
    target: Target,
    prologue: Vec<u8>,
    epilogue: Vec<u8>,
}

impl Frame {
    fn new(target: Target) -> Frame {
        let mut before = String::from("s_load_dwordx2 s[90:91], s[0:1], 0x0\nv_lshlrev_b32 v250, 2, v0\n");
        for v in (0..64).rev() {
            before += &format!("v_add_u32 v{v}, {}, v0\nv_cvt_f32_u32 v{v}, v{v}\n", 3 * v + 1);
            if target.has_agprs() {
                before += &format!("s_nop 3\nv_accvgpr_write_b32 a{v}, v{v}\n");
            }
        }
        for s in 4..48 {
            before += &format!("s_mov_b32 s{s}, {:#x}\n", 0x0101_0101u32 * s);
        }
        before += "s_waitcnt 0\ns_add_u32 s88, s90, 0xa000\ns_addc_u32 s89, s91, 0\ns_mov_b32 m0, 3\ns_mov_b64 vcc, 0x5555\ns_waitcnt 0\ns_nop 15\ns_nop 15\n";
        let mut after = String::from(
            "s_nop 0\ns_setvskip 0, 0\ns_nop 15\ns_nop 15\ns_waitcnt 0\ns_mov_b64 s[92:93], exec\ns_mov_b64 exec, -1\ns_getreg_b32 s94, hwreg(HW_REG_MODE)\n",
        );
        let mut store = |prepare: &str, register: &str| {
            after += prepare;
            after += &format!(
                "global_store_dword v250, {register}, s[90:91]\nv_add_u32 v250, 0x100, v250\ns_nop 4\n"
            );
        };
        (0..64).for_each(|v| store("", &format!("v{v}")));
        for s in (4..48)
            .map(|s| format!("s{s}"))
            .chain(["vcc_lo", "vcc_hi", "s92", "s93", "s94"].map(String::from))
        {
            store(&format!("v_mov_b32 v251, {s}\n"), "v251");
        }
        for a in 0..if target.has_agprs() { 32 } else { 0 } {
            store(&format!("s_nop 3\nv_accvgpr_read_b32 v251, a{a}\ns_nop 3\n"), "v251");
        }
        after += "s_endpgm";
        let [prologue, epilogue] = [before, after].map(|text| assemble(target, &text));
        Frame { target, prologue, epilogue }
    }

    fn machine(&self, first: &str, second: &str) -> Option<Machine> {
        let pair = assemble(self.target, &format!("{first}\n{second}"));
        let code = [&self.prologue[..], &pair, &self.epilogue].concat();
        let state = KernelState {
            vgprs: 256,
            agprs: if self.target.has_agprs() { 256 } else { 0 },
            lds_bytes: 4096,
            private_bytes: 4096,
            ..state()
        };
        Machine::new(self.target, &code, state).ok()
    }

    /// The contents of memory after the pair, and the accesses that came too early.
    fn result(&self, machine: &Machine, options: Options) -> Result<(Vec<u8>, Stats), SimError> {
        let mut memory = Memory::new();
        let buffer = memory.alloc(0x1_0000);
        let options = Options { max_instructions: 10_000, ..options };
        let stats = run(machine, &mut memory, [1, 1, 1], [64, 1, 1], &buffer.to_le_bytes(), &options)?;
        Ok((memory.read(buffer, 0x1_0000)?, stats))
    }
}

/// True for rules that apply only with XNACK replay, or exist only for comparison with LLVM.
fn is_out_of_reach(rule: &hazards::Rule) -> bool {
    rule.xnack || !RuleSet::Safe.contains(rule)
}

/// Rules that strict mode does not cover, with the reason.
const NOT_IN_STRICT: &[(&str, &str)] = &[
    ("llvm.gfx908.accvgpr-between", "needs three instructions: strict::rules_over_three_instructions"),
    ("llvm.dgemm.between", "needs three instructions: strict::rules_over_three_instructions"),
    ("rocroller.18.mask", "llvm.18.mask asks for more of the same pairs"),
    ("cdna3.119.write", "on gfx950 cdna3.119.write.gfx950 asks for more of the same pairs"),
    ("cdna3.120", "on gfx950 cdna3.120.gfx950 asks for more of the same pairs"),
];

#[test]
fn strict_mode_acts_on_every_rule_of_every_target() {
    let (mut acted, mut missing) = (0, Vec::new());
    for (target, packed) in PAIRS {
        let (pairs, frame) = (pairs_by_rule(target, packed), Frame::new(target));
        for rule in hazards::rules(target).filter(|r| !is_out_of_reach(r)) {
            let named = pairs.get(rule.id).into_iter().flatten().take(TRIES).any(|(first, second)| {
                let Some(machine) = frame.machine(first, second) else { return false };
                let options = Options { sanitize: Sanitize::ACCESSES, findings: 100, ..Options::strict() };
                matches!(frame.result(&machine, options), Err(SimError::Hazard(h)) if h.rule == rule.id)
            });
            if named {
                acted += 1;
            } else if !NOT_IN_STRICT.iter().any(|(id, _)| *id == rule.id) {
                missing.push((target.name(), rule.id));
            }
        }
    }
    println!("strict mode acts on {acted} rules, counted by target");
    assert!(missing.is_empty() && acted > 220, "{acted}: {missing:?}");
}

/// Rules whose violation faithful mode reports without a different result, with the reason.
const NO_OTHER_VALUE: &[(&str, &str)] = &[
    ("llvm.gfx908.accvgpr-between", "needs three instructions: strict::rules_over_three_instructions"),
    ("llvm.dgemm.between", "needs three instructions: strict::rules_over_three_instructions"),
    ("rocroller.18.mask", "llvm.18.mask asks for more of the same pairs"),
    ("cdna3.119.write", "on gfx950 cdna3.119.write.gfx950 asks for more of the same pairs"),
    ("cdna3.120", "on gfx950 cdna3.120.gfx950 asks for more of the same pairs"),
    ("cdna3.15", "a return from a trap, and there are no traps"),
    ("cdna3.11", "M0 of messages and GDS, neither of which does anything here"),
    ("mi100.16.lds-direct", "a source of graphics programs, which the simulator refuses"),
    ("llvm.12.old", "the old value is by definition not used"),
    ("llvm.18.vcc", "the half that is read is not the one that was written"),
    ("llvm.cmpx-mfma", "matrix instructions do not look at EXEC here"),
    ("llvm.cmpx-permlane", "v_permlane_swap does not look at EXEC here"),
    ("llvm.dgemm-fma64", "structural: no source says what goes wrong"),
];

#[test]
fn faithful_mode_computes_something_else_for_every_rule() {
    let (mut different, mut missing) = (0, Vec::new());
    for (target, packed) in PAIRS {
        let (pairs, frame) = (pairs_by_rule(target, packed), Frame::new(target));
        for rule in hazards::rules(target).filter(|r| !is_out_of_reach(r)) {
            let checked = Options { sanitize: Sanitize::ACCESSES, findings: 10_000, ..Options::default() };
            let differs = pairs.get(rule.id).into_iter().flatten().take(TRIES).any(|(first, second)| {
                let Some(machine) = frame.machine(first, second) else { return false };
                let functional = frame.result(&machine, checked);
                let faithful = frame.result(&machine, Options { mode: gcn_sim::Mode::Faithful, ..checked });
                let (Ok((a, before)), Ok((b, after))) = (functional, faithful) else { return false };
                let counted = after.stale.iter().any(|s| s.hazard.rule == rule.id);
                assert!(counted, "{target} {}: {first} | {second}: {:?}", rule.id, after.stale);
                a != b || before.findings != after.findings
            });
            if differs {
                different += 1;
            } else if !NO_OTHER_VALUE.iter().any(|(id, _)| *id == rule.id) {
                missing.push((target.name(), rule.id));
            }
        }
    }
    println!("another result for {different} rules, counted by target");
    assert!(missing.is_empty(), "{different}: {missing:?}");
}
