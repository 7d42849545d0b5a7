//! Parameters that no program can measure, each with the reason.

use std::collections::BTreeMap;

use gcn_isa::Target;

use super::found::exists;

/// The reason why no experiment measures a parameter on a target; `None` if one does. `measured` contains the parameters that were
/// measured.
pub(super) fn unseen(target: Target, name: &str, measured: &BTreeMap<&str, &str>) -> Option<&'static str> {
    let absent = |cache: &str| measured.get(format!("{cache}.bytes").as_str()) == Some(&"0");
    Some(match name {
        "l2.reuse" | "mall.reuse" => "a property of a kernel and its grid, not of the GPU",
        "valu.lanes" if !target.has_workgroup_processors() => {
            "waves have one size: only its product with the cycles of each class of instructions shows"
        }
        "matrix.pass" | "issue.matrix-takes-valu"
            if !target.has_workgroup_processors() && !exists(target, super::units::SINGLE) =>
        {
            "the target has no matrix instruction"
        }
        "issue.dgemm-takes-valu" if !exists(target, super::units::DOUBLES) => {
            "the target has no matrix instruction of doubles"
        }
        "message.latency" if !exists(target, super::units::MESSAGE) => {
            "messages of the target have no answer, and others interrupt the host"
        }
        "memtime.latency" if !exists(target, "s_memtime s[16:17]\n") => "the target has no `s_memtime`",
        "smem.store-latency" if !exists(target, super::walk::STORE) => "the target has no scalar stores",
        "device.cus-per-l2" if !measured.contains_key(name) && measured.contains_key("l2.bandwidth") => {
            "an L2 gives as much as its compute units take, so that none has more without the others"
        }
        "gl1.ways" | "gl1.latency" if absent("gl1") => "there is no such cache",
        "mall.ways" | "mall.latency" | "mall.bandwidth" if absent("mall") => "there is no such cache",
        _ => return None,
    })
}
