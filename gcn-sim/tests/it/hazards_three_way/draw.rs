//! Generates random instructions from every row of the instruction table that a wave can execute anywhere.
//!
//! Data registers come from small pools, so that most instructions depend on their neighbours. Registers that contain addresses always keep
//! valid values: memory instructions use only these as addresses, and the only instructions that write them are the [`RESTORING`] ones,
//! which write the value that is already there. So a load may depend on an address that was just written, and still accesses allocated
//! memory.

use std::collections::BTreeMap;

use gcn_emit::encode::encode_inst;
use gcn_emit::text::parse_inst;
use gcn_isa::table::{self, Class, Format, ImplicitRegs, InstDesc};
use gcn_isa::{Inst, Operand, Target};
use gcn_test_support::Random;

use super::operands;

/// Writes to address registers, M0, EXEC and MODE that keep them valid, and instructions that the table's rows cannot generate.
const RESTORING: [&str; 46] = [
    "v_readfirstlane_b32 s8, v44",
    "v_readfirstlane_b32 s9, v45",
    "v_readlane_b32 s10, v46, 3",
    "v_readlane_b32 s12, v47, 0",
    "v_readfirstlane_b32 s13, v48",
    "v_readfirstlane_b32 s14, v49",
    "v_readlane_b32 s15, v50, 63",
    "v_readfirstlane_b32 m0, v51",
    "s_mov_b32 s8, s80",
    "s_mov_b64 s[8:9], s[80:81]",
    "s_mov_b32 s10, s82",
    "s_mov_b32 s11, s83",
    "s_mov_b64 s[12:13], s[84:85]",
    "s_mov_b64 s[14:15], s[86:87]",
    "s_mov_b32 m0, 0",
    "s_mov_b32 m0, s83",
    "s_load_dwordx2 s[8:9], s[0:1], 0x0",
    "s_load_dword s10, s[0:1], 0x8",
    "s_load_dwordx4 s[12:15], s[0:1], 0x10",
    "v_mov_b32_e32 v40, v52",
    "v_mov_b32_e32 v41, v53",
    "v_mov_b32_e32 v42, v54",
    "v_mov_b32_e32 v43, v55",
    "global_load_dwordx2 v[40:41], v57, s[80:81]",
    "global_load_dword v42, v58, s[80:81]",
    "s_mov_b64 exec, -1",
    "s_mov_b64 exec, -1",
    "s_mov_b64 exec, -1",
    "v_cmpx_eq_u32_e32 vcc, v52, v52",
    "v_cmpx_eq_u32_e64 s[16:17], v0, v0",
    "s_mov_b32 vcc_lo, s16",
    "s_mov_b64 vcc, s[18:19]",
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15",
    "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s83",
    "s_getreg_b32 s16, hwreg(HW_REG_MODE)",
    "s_getreg_b32 s17, hwreg(HW_REG_MODE, 4, 4)",
    "v_mov_b32_e32 v0, src_vccz",
    "v_mov_b32_e32 v1, src_execz",
    "v_readlane_b32 s16, v0, s17",
    "v_writelane_b32 v1, 5, s16",
    "v_writelane_b32 v1, s16, m0",
    "v_div_fmas_f32 v0, v1, v2, v3",
    "v_div_fmas_f64 v[0:1], v[2:3], v[4:5], v[6:7]",
    "s_nop 0",
    "s_nop 1",
    "s_nop 6",
];

/// The weight of each class in the random choice; classes that are not listed are never chosen.
const WEIGHTS: [(Class, usize); 46] = [
    (Class::Valu, 24),
    (Class::Trans, 4),
    (Class::ValuDot, 6),
    (Class::Cmp, 8),
    (Class::Cmpx, 4),
    (Class::Vnop, 1),
    (Class::Readlane, 6),
    (Class::Writelane, 3),
    (Class::Permlane, 4),
    (Class::AccvgprRead, 5),
    (Class::AccvgprWrite, 5),
    (Class::AccvgprMov, 2),
    (Class::MfmaXdl, 18),
    (Class::MfmaSgemm, 8),
    (Class::MfmaDgemm, 8),
    (Class::Smfmac, 6),
    (Class::Salu, 6),
    (Class::Movrel, 2),
    (Class::Barrier, 1),
    (Class::Sleep, 1),
    (Class::SmemLoad, 6),
    (Class::SmemStore, 2),
    (Class::SmemCache, 1),
    (Class::SmemTime, 1),
    (Class::LdsRead, 5),
    (Class::LdsWrite, 5),
    (Class::LdsAtomic, 2),
    (Class::LdsAtomicRet, 2),
    (Class::LdsPermute, 2),
    (Class::VmemLoad, 5),
    (Class::VmemLoadLds, 2),
    (Class::VmemStore, 5),
    (Class::VmemAtomic, 2),
    (Class::VmemAtomicRet, 2),
    (Class::CacheCtl, 1),
    (Class::FlatLoad, 3),
    (Class::FlatStore, 3),
    (Class::FlatAtomic, 1),
    (Class::FlatAtomicRet, 2),
    (Class::GlobalLoad, 5),
    (Class::GlobalLoadLds, 2),
    (Class::GlobalStore, 5),
    (Class::GlobalAtomic, 1),
    (Class::GlobalAtomicRet, 2),
    (Class::ScratchLoad, 2),
    (Class::ScratchStore, 2),
];

/// The weight of [`RESTORING`] instructions, on the scale of [`WEIGHTS`].
const RESTORING_WEIGHT: usize = 45;

/// A group of rows that hazard rules treat alike, approximately.
type Group = (Format, bool, u8, bool);

/// The instructions of a target that can be generated.
pub struct Palette {
    target: Target,
    classes: Vec<(usize, Vec<Vec<&'static InstDesc>>)>,
    restoring: Vec<Inst>,
    total: usize,
}

impl Palette {
    /// The rows of `target` from which an instruction that `accepts` permits can be generated.
    pub fn new(target: Target, accepts: impl Fn(&Inst) -> bool) -> Palette {
        let mut rng = Random::new(target as u64);
        let usable = |desc: &&'static InstDesc| {
            desc.targets.contains(target)
                && !touches_control(desc)
                && draw(&mut rng, desc, target).is_some_and(|inst| accepts(&inst))
        };
        let mut rows: BTreeMap<&str, BTreeMap<String, Vec<&'static InstDesc>>> = BTreeMap::new();
        for desc in table::rows().iter().filter(usable) {
            let group = format!("{:?}", group(desc));
            rows.entry(desc.class.name()).or_default().entry(group).or_default().push(desc);
        }
        let classes: Vec<_> = WEIGHTS
            .iter()
            .filter_map(|(class, weight)| Some((*weight, rows.remove(class.name())?.into_values().collect())))
            .collect();
        let restoring = RESTORING.iter().filter_map(|text| parse_inst(text, target).ok()).collect();
        let total = classes.iter().map(|c| c.0).sum::<usize>() + RESTORING_WEIGHT;
        Palette { target, classes, restoring, total }
    }

    /// The number of rows that can be chosen.
    pub fn rows(&self) -> usize {
        self.classes.iter().flat_map(|c| &c.1).map(Vec::len).sum()
    }

    /// The next random instruction.
    pub fn next(&self, rng: &mut Random) -> Inst {
        loop {
            let mut at = rng.below(self.total);
            let class = self.classes.iter().find(|(weight, _)| {
                let found = at < *weight;
                at = at.saturating_sub(*weight);
                found
            });
            let Some((_, groups)) = class else { return rng.pick(&self.restoring).clone() };
            let group = rng.pick(groups);
            let desc = *rng.pick(group);
            if let Some(inst) = draw(rng, desc, self.target) {
                return inst;
            }
        }
    }
}

fn group(desc: &InstDesc) -> Group {
    let scalar = desc.operands.iter().any(|o| o.name == "sdst");
    (desc.format, scalar, desc.implicit_reads.bits(), desc.keeps_other_half())
}

/// True for rows that would change control flow or settings that the tests keep constant.
fn touches_control(desc: &InstDesc) -> bool {
    let written = desc.implicit_writes;
    let exec_by_scalar = desc.is_salu() && written.contains(ImplicitRegs::EXEC);
    written.contains(ImplicitRegs::SCC) || exec_by_scalar || desc.mnemonic == "s_getpc_b64"
}

/// A random instruction of this row; `None` if no attempt gave a legal one.
fn draw(rng: &mut Random, desc: &'static InstDesc, target: Target) -> Option<Inst> {
    (0..12).map(|_| attempt(rng, desc, target)).find(|inst| encode_inst(inst, target).is_ok())
}

fn attempt(rng: &mut Random, desc: &'static InstDesc, target: Target) -> Inst {
    let agprs = target.has_agprs() && rng.below(3) == 0;
    let mut inst = Inst::new(desc, []);
    operands::modifiers(rng, &mut inst);
    for slot in desc.operands {
        let operand = operands::operand(rng, &inst, slot, agprs);
        inst.operands.push(operand);
    }
    // Matrix instructions usually accumulate in place, so do that often.
    if desc.is_matrix()
        && let (Some(d), Some(c)) = (desc.operand_index("vdst"), desc.operand_index("src2"))
        && rng.below(2) == 0
        && let (Operand::Reg(sum), Operand::Reg(_)) = (inst.operands[d], inst.operands[c])
    {
        inst.operands[c] = sum.into();
    }
    inst
}
