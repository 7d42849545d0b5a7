//! Descriptions of the conditions of rules.

use super::rule::{Condition, Dependency, Link, Overlap, Rule};
use super::view::{Kinds, Role};

/// The kinds with their names. A named union of kinds comes before its members.
const KINDS: [(Kinds, &str); 47] = [
    (Kinds::VECTOR, "any instruction on vector registers"),
    (Kinds::ANY_VALU, "vector ALU or matrix instruction"),
    (Kinds::MEMORY, "vector memory or LDS instruction"),
    (Kinds::DGEMM, "f64 matrix instruction"),
    (Kinds::VALU, "vector ALU instruction"),
    (Kinds::MATRIX, "matrix instruction"),
    (Kinds::XDL, "XDL matrix instruction (SMFMAC included)"),
    (Kinds::SGEMM, "f32 matrix instruction"),
    (Kinds::DGEMM4, "`v_mfma_f64_4x4x4`"),
    (Kinds::DGEMM16, "`v_mfma_f64_16x16x4`"),
    (Kinds::DL, "dot product"),
    (Kinds::TRANS, "transcendental instruction"),
    (Kinds::MOVED_RESULT, "vector ALU instruction that moves its result by SDWA or `op_sel`"),
    (Kinds::PACKED_HI, "packed math (VOP3P) with `op_sel_hi` set for source 0"),
    (Kinds::NARROW_CVT, "scaled conversion to fp8, bf8 or fp4"),
    (Kinds::STOCHASTIC_FP4, "scaled conversion to fp4 with stochastic rounding"),
    (Kinds::DPP, "DPP instruction"),
    (Kinds::READLANE, "`v_readlane` or `v_readfirstlane`"),
    (Kinds::WRITELANE, "`v_writelane`"),
    (Kinds::PERMLANE, "`v_permlane*_swap`"),
    (Kinds::DIV_FMAS, "`v_div_fmas`"),
    (Kinds::FMA64, "`v_fma_f64` or `v_fmac_f64`"),
    (Kinds::ACC_READ, "`v_accvgpr_read`"),
    (Kinds::ACC_WRITE, "`v_accvgpr_write`"),
    (Kinds::VMEM, "vector memory instruction"),
    (Kinds::DS, "LDS or GDS instruction"),
    (Kinds::SMEM, "scalar memory instruction"),
    (Kinds::SALU, "scalar ALU instruction"),
    (Kinds::WIDE_STORE, "store or atomic of more than 64 bits of data"),
    (Kinds::SGPR_OFFSET, "buffer instruction with a register as `soffset`"),
    (Kinds::M0_MESSAGE, "GDS or GWS instruction, `s_sendmsg` or `s_ttracedata`"),
    (Kinds::M0_LDS, "LDS add-TID, store from LDS, or FLAT, global or scratch load into LDS"),
    (Kinds::M0_BUFFER_LDS, "buffer load into LDS"),
    (Kinds::LDS_DMA, "load into LDS"),
    (Kinds::M0_MOVREL, "`s_movrel*`"),
    (Kinds::M0_DIRECT, "reader of `src_lds_direct`"),
    (Kinds::SETREG, "`s_setreg`"),
    (Kinds::GETREG, "`s_getreg`"),
    (Kinds::GETREG_MODE, "`s_getreg` of MODE"),
    (Kinds::GETREG_STATE, "`s_getreg` of the wave's status or exception flags"),
    (Kinds::ASYNC_ARRIVE, "`ds_atomic_async_barrier_arrive_b64`"),
    (Kinds::SETREG_VSKIP, "`s_setreg` of MODE that covers VSKIP"),
    (Kinds::SETREG_TRAPSTS, "`s_setreg` of TRAPSTS"),
    (Kinds::SETVSKIP, "`s_setvskip`"),
    (Kinds::RFE, "`s_rfe`"),
    (Kinds::LOADS, "memory instruction with a result in registers"),
    (Kinds::READS_VCC, "vector ALU instruction that reads VCC"),
];

/// The text for each role: what an instruction does to a register in that role.
const ROLES: [(Role, &str); 18] = [
    (Role::READS, "reads this register"),
    (Role::WRITES, "writes this register"),
    (Role::VSRC.union(Role::VDST), "reads or writes this register"),
    (Role::SRC_AB.union(Role::INDEX), "reads this register as source A or B, index or scale"),
    (Role::VDST, "writes this register"),
    (Role::VSRC, "reads this register"),
    (Role::SRC_AB, "reads this register as source A or B"),
    (Role::SRC_C, "reads this register as source C"),
    (Role::STORE_DATA, "reads this register as store data"),
    (Role::SDST, "writes this register"),
    (Role::SSRC, "reads this register"),
    (Role::LANE_SELECT, "reads this register as lane number"),
    (Role::ZERO_FLAG, "reads VCCZ or EXECZ"),
    (Role::PERMUTED, "reads this register as the source that DPP permutes"),
    (Role::UNPERMUTED, "reads this register as another source or as old value"),
    (Role::CARRY, "reads this register as carry-in"),
    (Role::MASK, "reads this register as mask"),
    (Role::REPLACED, "writes this register in every lane"),
];

/// Describes the instructions that satisfy a condition.
pub(super) fn condition(condition: Condition) -> String {
    // Some names contain "or".
    let any = kinds(condition.any).join(", or ");
    if condition.none.is_empty() {
        return any;
    }
    format!("{any} (except {})", kinds(condition.none).join(" and "))
}

/// The names of kinds.
fn kinds(kinds: Kinds) -> Vec<&'static str> {
    let mut left = kinds;
    let mut names = Vec::new();
    for (kind, name) in KINDS {
        if left.contains(kind) {
            left.remove(kind);
            names.push(name);
        }
    }
    names
}

/// Describes what the first and the second instruction must do for a link to apply.
pub(super) fn link(link: Link) -> (String, String) {
    match link {
        Link::Registers { first, second, .. } => (register(first).to_owned(), role(second)),
        Link::Crossing { second, by } => {
            let between = format!("writes a VGPR or AGPR and is followed by {}", kinds(by).join(" or "));
            (between, role(second))
        }
        Link::Writes(reg) => (format!("writes {reg}"), String::new()),
        Link::Hwreg => {
            ("accesses a hardware register".to_owned(), "accesses the same hardware register".to_owned())
        }
        Link::Clause { .. } => (String::new(), "joins the clause of the first".to_owned()),
        Link::Always => (String::new(), String::new()),
    }
}

/// Describes what the first instruction does to a register that links two instructions.
fn register(first: Role) -> &'static str {
    match first {
        Role::VDST => "writes a VGPR or AGPR",
        Role::SDST => "writes an SGPR, VCC or EXEC",
        Role::SRC_C => "reads a VGPR or AGPR as source C",
        Role::STORE_DATA => "reads a VGPR or AGPR as store data",
        _ => "uses a register",
    }
}

fn role(second: Role) -> String {
    let mut left = second;
    let mut names = Vec::new();
    for (role, name) in ROLES {
        if left.contains(role) {
            left.remove(role);
            names.push(name);
        }
    }
    if left.contains(Role::CONSTANT) {
        names.push("reads this register, but not as carry-in or mask");
    }
    names.join(" or ")
}

/// Describes the required overlap of the two instructions' registers. For a link without registers, describes what connects the
/// instructions.
pub(super) fn overlap(link: Link) -> String {
    match link {
        Link::Registers { overlap, .. } => overlap.to_string(),
        Link::Crossing { .. } => Overlap::Any.to_string(),
        Link::Writes(reg) if reg.len > 1 => format!("any part of {reg}"),
        Link::Writes(reg) => reg.to_string(),
        Link::Hwreg => "same hardware register, any bits".to_owned(),
        Link::Clause { window } => {
            format!(
                "one instruction of the clause writes what another reads, or a store follows a load; at most {window} instructions apart"
            )
        }
        Link::Always => "independent of registers".to_owned(),
    }
}

/// A rule's dependency and its usual abbreviation. Names two dependencies if the second instruction may read or write what the first writes.
pub(super) fn dependency(rule: &Rule) -> String {
    let dependency = rule.dependency();
    let writes_too = match rule.link {
        Link::Registers { second, .. } => second.intersects(Role::VDST.union(Role::SDST)),
        _ => false,
    };
    match dependency {
        Dependency::Raw if writes_too => format!("{dependency} (RAW) or {} (WAW)", Dependency::Waw),
        Dependency::Raw => format!("{dependency} (RAW)"),
        Dependency::Waw => format!("{dependency} (WAW)"),
        Dependency::War => format!("{dependency} (WAR)"),
        Dependency::Replay | Dependency::Structural => dependency.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_and_role_has_words() {
        for rule in super::super::all() {
            for side in [rule.first, rule.second] {
                for kinds_of in [side.any, side.none] {
                    let named = KINDS
                        .iter()
                        .filter(|k| kinds_of.contains(k.0))
                        .fold(Kinds::empty(), |all, k| all | k.0);
                    assert_eq!(named, kinds_of, "{}", rule.id);
                }
                assert!(!condition(side).is_empty(), "{}", rule.id);
            }
            if let Link::Registers { first, second, .. } = rule.link {
                assert_ne!(register(first), "uses a register", "{}", rule.id);
                assert!(!role(second).is_empty(), "{}", rule.id);
            }
        }
    }
}
