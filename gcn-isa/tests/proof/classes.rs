//! A representative instruction for each class of instructions, and the alphabets of the wait-state rules. The alphabet of a rule has a
//! producer, its consumers, an instruction between them that changes the result if there is one, and `s_nop`s.

use std::collections::{BTreeSet, HashSet};

use gcn_emit::text::parse_inst;
use gcn_isa::hazards::{Link, Rule, RuleSet};
use gcn_isa::{Inst, Target};

use super::program::Letters;
use super::spec::{Between, Facts, Rules, Spec};

/// A representative instruction for each class that the rules distinguish. Results are written to the registers from v0, a0 and s4 on, and
/// read from there. Instructions that a target lacks are omitted for the target.
const CLASSES: &[&str] = &[
    "v_mov_b32_e32 v0, v20",
    "v_mov_b32_e32 v40, v0",
    "v_mov_b32_e32 v40, src_vccz",
    "v_mov_b32_e32 v40, src_execz",
    "v_mov_b32_e32 v40, src_lds_direct",
    "v_readfirstlane_b32 s4, v20",
    "v_readfirstlane_b32 vcc_hi, v20",
    "v_readlane_b32 s20, v20, s4",
    "v_readlane_b32 s20, v0, 1",
    "v_writelane_b32 v40, s4, 3",
    "v_cmp_eq_u32_e64 s[4:5], v20, v21",
    "v_cmp_eq_u32_e32 vcc, v20, v21",
    "v_cmpx_eq_u32_e32 vcc, v20, v21",
    "v_div_fmas_f32 v40, v21, v22, v23",
    "v_mul_f32_e32 v40, s4, v21",
    "v_cndmask_b32_e64 v40, v21, v22, s[4:5]",
    "v_cndmask_b32_e32 v40, v21, v22, vcc",
    "v_mov_b32_dpp v40, v0 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf",
    "v_add_f32_dpp v40, v21, v0 row_shr:1 row_mask:0xf bank_mask:0xf",
    "v_add_f32_dpp v0, v21, v22 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
    "v_add_f32_sdwa v0, v20, v21 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
    "v_pk_fma_f16 v0, v20, v21, v22",
    "v_exp_f32_e32 v0, v20",
    "v_cvt_scalef32_pk_fp8_f32 v0, v20, v21, v22",
    "v_cvt_scalef32_sr_pk_fp4_f16 v0, v20, v21, v22",
    "v_permlane16_swap_b32_e32 v0, v20",
    "v_dot2_f32_f16 v0, v20, v21, v22",
    "v_dot2_f32_f16 v40, v0, v21, v22",
    "v_dot4_i32_i8 v40, v0, v21, v22",
    "v_fma_f64 v[40:41], v[20:21], v[22:23], v[24:25]",
    "v_accvgpr_read_b32 v0, a20",
    "v_accvgpr_read_b32 v40, a0",
    "v_accvgpr_write_b32 a0, v20",
    "v_accvgpr_write_b32 a20, v0",
    // Matrix instructions of gfx908.
    "v_mfma_f32_4x4x1f32 a[0:3], v20, v21, a[0:3]",
    "v_mfma_f32_4x4x1f32 a[2:5], v20, v21, 0",
    "v_mfma_f32_4x4x1f32 a[20:23], v0, v21, a[0:3]",
    "v_mfma_f32_4x4x1f32 a[20:23], v20, v21, a[2:5]",
    "v_mfma_f32_4x4x1f32 a[20:23], a0, v21, a[20:23]",
    "v_mfma_f32_16x16x4f32 a[0:3], v20, v21, a[0:3]",
    // Matrix instructions from gfx90a on: an XDL one,
    "v_mfma_f32_4x4x4f16 v[0:3], v[20:21], v[22:23], v[0:3]",
    "v_mfma_f32_4x4x4f16 v[2:5], v[20:21], v[22:23], 0",
    "v_mfma_f32_4x4x4f16 v[40:43], v[20:21], v[22:23], v[0:3]",
    "v_mfma_f32_4x4x4f16 v[40:43], v[20:21], v[22:23], v[2:5]",
    "v_mfma_f32_4x4x4f16 v[40:43], v[0:1], v[22:23], v[40:43]",
    "v_mfma_i32_4x4x4i8 v[40:43], v20, v22, v[0:3]",
    "v_mfma_f32_16x16x16f16 v[0:3], v[20:21], v[22:23], 0",
    "v_mfma_f32_16x16x16f16 v[40:43], v[20:21], v[22:23], v[0:3]",
    // one with f32 operands,
    "v_mfma_f32_4x4x1f32 v[0:3], v20, v21, v[0:3]",
    "v_mfma_f32_4x4x1f32 v[40:43], v20, v21, v[0:3]",
    "v_mfma_f32_4x4x1f32 v[40:43], v20, v21, v[2:5]",
    "v_mfma_f32_16x16x4f32 v[0:3], v20, v21, 0",
    "v_mfma_f32_16x16x4f32 v[40:43], v20, v21, v[0:3]",
    // and one with f64 operands.
    "v_mfma_f64_4x4x4f64 v[0:1], v[20:21], v[22:23], 0",
    "v_mfma_f64_4x4x4f64 v[40:41], v[20:21], v[22:23], v[0:1]",
    "v_mfma_f64_4x4x4f64 v[40:41], v[0:1], v[22:23], 0",
    "v_mfma_f64_16x16x4f64 v[0:7], v[20:21], v[22:23], 0",
    "v_mfma_f64_16x16x4f64 v[40:47], v[20:21], v[22:23], v[2:9]",
    "global_load_dword v0, v[20:21], off",
    "global_load_dword v40, v[0:1], off",
    "global_load_dword v40, v20, s[4:5]",
    "global_store_dwordx4 v[20:21], v[0:3], off",
    "buffer_store_dwordx4 v[0:3], v20, s[8:11], s16 offen",
    "buffer_store_lds_dword s[8:11], 0 lds",
    "buffer_load_dword v20, s[8:11], 0 offen lds",
    "global_load_lds_dword v[0:1], off",
    "ds_read_b32 v40, v0",
    "ds_write_b32 v20, v0",
    "ds_read_addtid_b32 v40",
    "s_load_dword s4, s[20:21], 0x0",
    "s_load_dword s20, s[4:5], 0x0",
    "s_mov_b32 m0, s20",
    "s_mov_b32 s4, s20",
    "s_sendmsg sendmsg(MSG_INTERRUPT)",
    "s_movrels_b32 s20, s24",
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3",
    "s_setreg_b32 hwreg(HW_REG_MODE, 28, 1), s20",
    "s_getreg_b32 s20, hwreg(HW_REG_MODE)",
    "s_setvskip s20, s21",
];

/// The representatives for RDNA, in the spelling of each instruction set and each wave size.
pub const RDNA_CLASSES: &[&str] = &[
    "v_mov_b32_e32 v0, v20",
    "v_mov_b32_e32 v40, v0",
    "v_add_f32_e32 v41, v0, v1",
    "v_add_f32_e32 v1, v20, v21",
    "v_fma_f16 v0.l, v20.l, v21.l, v22.l",
    "v_exp_f32_e32 v0, v20",
    "v_exp_f32_e32 v42, v21",
    "v_fma_f64 v[40:41], v[0:1], v[22:23], v[24:25]",
    "v_nop",
    "v_mov_b32_e32 v40, s4",
    "v_mov_b32_e32 v40, s5",
    "v_mov_b32_e32 v40, s16",
    "v_mov_b32_e32 v40, vcc_lo",
    "v_readfirstlane_b32 s4, v20",
    "v_readfirstlane_b32 s5, v20",
    "v_readlane_b32 vcc_lo, v20, 1",
    "v_cndmask_b32_e64 v40, v21, v22, s4",
    "v_cndmask_b32_e64 v40, v21, v22, s[4:5]",
    "v_cndmask_b32_e32 v40, v21, v22, vcc",
    "v_cndmask_b32_e32 v40, v21, v22, vcc_lo",
    "v_add_co_ci_u32_e64 v40, s[4:5], v21, v22, s[4:5]",
    "v_cmp_eq_u32_e64 s4, v20, v21",
    "v_cmp_eq_u32_e64 s[4:5], v20, v21",
    "v_cmp_eq_u32_e32 vcc, v20, v21",
    "v_cmp_eq_u32_e32 vcc_lo, v20, v21",
    "v_cmpx_eq_u32_e32 v20, v21",
    "v_permlane16_b32 v40, v0, s16, s17",
    "v_wmma_f32_16x16x16_f16 v[0:7], v[16:23], v[24:31], v[0:7]",
    "v_wmma_f32_16x16x16_f16 v[40:47], v[0:7], v[24:31], v[40:47]",
    "v_wmma_f32_16x16x16_f16 v[0:3], v[16:23], v[24:31], v[0:3]",
    "v_wmma_f32_16x16x16_f16 v[40:43], v[0:7], v[24:31], v[40:43]",
    "v_wmma_f32_16x16x16_f16 v[0:7], v[16:19], v[24:27], v[0:7]",
    "v_wmma_f32_16x16x16_f16 v[40:47], v[0:3], v[24:27], v[40:47]",
    "v_wmma_f32_16x16x16_f16 v[0:3], v[16:17], v[24:25], v[0:3]",
    "v_wmma_f32_16x16x16_f16 v[40:43], v[0:1], v[24:25], v[40:43]",
    "s_mov_b32 s4, s20",
    "s_mov_b32 s20, s4",
    "s_mov_b32 s21, s5",
    "s_mov_b32 s22, s16",
    "s_mov_b64 s[4:5], s[20:21]",
    "s_mov_b32 vcc_lo, s20",
    "s_mov_b32 s20, vcc_lo",
    "s_mov_b32 exec_lo, s20",
    "s_mov_b64 exec, s[20:21]",
    "s_and_saveexec_b32 s20, s16",
    "s_and_saveexec_b64 s[20:21], s[16:17]",
    "s_mov_b32 s24, 0",
    "s_mov_b32 null, 0",
    "s_nop 0",
    "s_denorm_mode 5",
    "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
    "s_load_dword s4, s[20:21], null",
    "s_load_b32 s4, s[20:21], null",
    "s_load_dword s20, s[4:5], null",
    "s_load_b32 s20, s[4:5], null",
    "global_load_dword v0, v20, s[4:5]",
    "global_load_b32 v0, v20, s[4:5]",
    "global_store_dword v20, v0, s[4:5]",
    "global_store_b32 v20, v0, s[4:5]",
    "global_atomic_fmin v[20:21], v22, off",
    "buffer_load_dword v40, v20, s[8:11], 0 offen",
    "buffer_load_b32 v40, v20, s[8:11], 0 offen",
    "buffer_load_b32 v40, v20, s[8:11], null offen",
    "ds_read_b32 v40, v0",
    "ds_load_b32 v40, v0",
    "ds_read_addtid_b32 v40",
    "s_mov_b32 m0, s20",
    "lds_direct_load v0 wait_vdst:15",
    "ds_direct_load v0 wait_va_vdst:15 wait_vm_vsrc:1",
    "s_waitcnt vmcnt(0)",
    "s_waitcnt lgkmcnt(0)",
    "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)",
    "s_waitcnt_vscnt null, 0x0",
    "s_wait_loadcnt 0x0",
    "s_wait_storecnt 0x0",
    "s_wait_dscnt 0x0",
    "s_wait_kmcnt 0x0",
    "s_waitcnt_depctr depctr_sa_sdst(0)",
    "s_waitcnt_depctr depctr_va_sdst(0)",
    "s_waitcnt_depctr depctr_va_vcc(0)",
    "s_waitcnt_depctr depctr_va_vdst(0)",
    "s_waitcnt_depctr depctr_vm_vsrc(0)",
    "s_wait_alu depctr_sa_sdst(0)",
    "s_wait_alu depctr_va_sdst(0)",
    "s_wait_alu depctr_va_vcc(0)",
    "s_wait_alu depctr_va_vdst(0)",
    "s_wait_alu depctr_vm_vsrc(0)",
];

/// The rule whose instruction is a return from an exception. This instruction leaves the program, so no program of a scope can contain it.
const NOT_IN_A_SCOPE: [&str; 1] = ["cdna3.15"];

/// The representatives that exist on `target`.
pub fn classes(target: Target) -> Vec<Inst> {
    CLASSES.iter().filter_map(|text| parse_inst(text, target).ok()).collect()
}

fn nop(target: Target, states: u8) -> Inst {
    parse_inst(&format!("s_nop {}", states - 1), target).expect("every target has s_nop")
}

/// An alphabet and its specification.
pub struct Family {
    pub name: String,
    pub letters: Letters,
    pub spec: Spec,
    pub xnack: bool,
    /// The number of letters, counted from the first, that are enough for large scopes: a producer, a consumer, `s_nop 0`, and an
    /// instruction between them.
    core: usize,
}

impl Family {
    fn new(name: String, target: Target, body: Vec<Inst>, xnack: bool) -> Family {
        let core = body.len();
        let letters = Letters::new(target, body);
        let put_in = [nop(target, 1)];
        let facts = letters.all().map(|i| &**i).chain(&put_in).map(|i| Facts::of(target, i)).collect();
        Family { name, letters, spec: Spec::new(Rules::of(target, xnack), facts), xnack, core }
    }

    /// Everything that the analyses can observe about the alphabet: the requirement of each pair, both when adjacent and with each third
    /// instruction between them, and the wait states of each instruction. Alphabets with the same signature behave identically.
    pub fn signature(&self) -> Vec<u8> {
        let letters = 0..self.letters.body.len();
        let mut signature = vec![self.xnack.into(), letters.len() as u8];
        for (a, b) in letters.clone().flat_map(|a| letters.clone().map(move |b| (a, b))) {
            signature.push(self.spec.need(a, b, Between::default()));
            let after = |c: usize| {
                let facts = &self.spec.facts;
                self.spec.need(a, b, self.spec.rules.pass(Between::default(), &facts[a], &facts[c]))
            };
            signature.extend(letters.clone().map(after));
        }
        signature.extend(self.letters.body.iter().map(|i| super::judge::wait_states(i) as u8));
        signature
    }

    /// The alphabet without the second consumer and without the longer `s_nop`.
    pub fn core(&self) -> Family {
        let body = self.letters.body[..self.core].iter().map(|i| (**i).clone()).collect();
        Family::new(self.name.clone(), self.letters.on.target, body, self.xnack)
    }
}

/// One alphabet with all representatives of `target`.
pub fn everything(target: Target) -> Family {
    Family::new(format!("{target}:everything"), target, classes(target), false)
}

/// The alphabet of each rule of `target`, and an alphabet of memory clauses. The second value lists the rules that apply to no
/// representatives.
pub fn families(target: Target) -> (Vec<Family>, Vec<&'static str>) {
    let all = everything(target);
    let mut families = vec![clauses(target)];
    let mut missing = Vec::new();
    let counts = |r: &&Rule| RuleSet::Safe.contains(*r) && !matches!(r.link, Link::Clause { .. });
    for rule in gcn_isa::hazards::rules(target).filter(counts) {
        match family(&all, target, rule) {
            Some(family) => families.push(family),
            None if NOT_IN_A_SCOPE.contains(&rule.id) => {}
            None => missing.push(rule.id),
        }
    }
    (families, missing)
}

fn family(all: &Family, target: Target, rule: &'static Rule) -> Option<Family> {
    let classes = 0..all.letters.body.len();
    let facts = &all.spec.facts;
    let after = |a: usize, x: Option<usize>| {
        x.map_or(Between::default(), |x| all.spec.rules.pass(Between::default(), &facts[a], &facts[x]))
    };
    let betweens: Vec<Option<usize>> = match rule.link {
        Link::Crossing { by, .. } => {
            classes.clone().filter(|x| facts[*x].kinds.intersects(by)).map(Some).collect()
        }
        _ => vec![None],
    };
    let pairs = classes.clone().flat_map(|a| classes.clone().map(move |b| (a, b)));
    let found = pairs.flat_map(|(a, b)| betweens.iter().map(move |x| (a, b, *x))).filter_map(|(a, b, x)| {
        let bound = all.spec.rules.binding(&facts[a], &facts[b], after(a, x)).find(|r| r.0 == rule)?;
        (bound.1 > 0).then_some((a, b, x, bound.1))
    });
    // Prefer representatives for which no other rule requires more wait states.
    let slack = |f: &(usize, usize, Option<usize>, u8)| all.spec.need(f.0, f.1, after(f.0, f.2)) - f.3;
    let (a, b, x, need) = found.min_by_key(slack)?;
    let whole = all.spec.need(a, b, after(a, x));
    let second = classes.clone().find(|c| ![0, whole].contains(&all.spec.need(a, *c, Between::default())));
    let changes = |c: &usize| {
        *c != a && all.spec.need(a, b, after(a, Some(*c))) != all.spec.need(a, b, Between::default())
    };
    let between = x.or_else(|| classes.clone().find(changes));
    let inst = |i: usize| (*all.letters.body[i]).clone();
    let mut body = vec![inst(a), inst(b), nop(target, 1)];
    body.extend(between.map(inst));
    let core = body.len();
    body.extend(second.filter(|s| *s != b).map(inst));
    body.extend((need >= 3).then(|| nop(target, need - 1)));
    Some(Family { core, ..Family::new(format!("{target}:{}", rule.id), target, body, false) })
}

/// An alphabet of scalar and vector memory instructions, some of which must not be in the same clause.
fn clauses(target: Target) -> Family {
    let texts = [
        "global_load_dword v0, v[20:21], off",
        "global_load_dword v20, v[24:25], off",
        "s_nop 0",
        "global_store_dword v[26:27], v28, off",
        "s_load_dword s4, s[20:21], 0x0",
        "s_load_dword s20, s[8:9], 0x0",
    ];
    let body = texts.iter().map(|t| parse_inst(t, target).expect("every target loads")).collect();
    Family { core: 4, ..Family::new(format!("{target}:xnack.clause"), target, body, true) }
}

/// The alphabets of all rules of all targets.
pub fn all_families() -> Vec<Family> {
    Target::REPRESENTATIVES.into_iter().flat_map(|t| families(t).0).collect()
}

/// The first alphabet of each group with equal signatures.
pub fn distinct(families: Vec<Family>) -> Vec<Family> {
    let mut known = HashSet::new();
    families.into_iter().filter(|f| known.insert(f.signature())).collect()
}

#[test]
fn every_rule_binds_some_representatives() {
    for target in Target::REPRESENTATIVES {
        assert_eq!(families(target).1, [""; 0], "{target}");
    }
    let parsed: BTreeSet<String> =
        Target::REPRESENTATIVES.into_iter().flat_map(classes).map(|i| format!("{i:?}")).collect();
    assert!(parsed.len() >= CLASSES.len(), "some text is read on no target");
}
