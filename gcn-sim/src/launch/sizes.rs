//! Determines the sizes of a launch from the spec, and checks that the kernel supports them.

use super::program::Program;
use super::{DYNAMIC_STACK, Error, Spec};
use crate::core::error::SimError;
use crate::core::grid::{Geometry, Grid};

/// The sizes of the launch, which the kernel must support.
pub(super) fn geometry(program: &Program, spec: &Spec) -> Result<Geometry, Error> {
    let grid = match (spec.grid, spec.global) {
        (Some(groups), None) => Grid::Workgroups(groups),
        (None, Some(items)) => Grid::Items(items),
        (None, None) => {
            let remedy = "write `\"grid\": [X, Y, Z]`, in workgroups, or `\"global\"`, in work-items";
            return Err(Error::spec("there is no grid", remedy));
        }
        (Some(_), Some(_)) => return Err(Error::spec("there are both `grid` and `global`", "leave one out")),
    };
    let geometry = Geometry::new(grid, workgroup(program, spec)?, program.machine().state().wave_size)
        .map_err(SimError::from)?;
    // A kernel compiled for uniform workgroups ignores the remainders (LLVM AMDGPU guide, `.uniform_work_group_size`).
    let uniform = program.metadata().and_then(|m| m.uniform_work_group_size) == Some(1);
    if uniform && geometry.remainder() != [0; 3] {
        let Geometry { items, size, .. } = geometry;
        let problem = format!("{items:?} work-items are not a multiple of the workgroup's {size:?}");
        return Err(Error::spec(
            problem,
            "the kernel is compiled for full workgroups only (HIP, or `-cl-uniform-work-group-size`)",
        ));
    }
    Ok(geometry)
}

/// The workgroup size in the spec, which must agree with the size that the kernel requires. Without one in the spec, the required size.
fn workgroup(program: &Program, spec: &Spec) -> Result<[u32; 3], Error> {
    let metadata = program.metadata();
    let required = metadata.and_then(|m| m.reqd_workgroup_size);
    let wanted = match (spec.workgroup, required) {
        (Some(wanted), Some(required)) if wanted != required => {
            let problem = format!("the workgroup is {wanted:?}, the kernel requires {required:?}");
            return Err(Error::spec(problem, "leave it out"));
        }
        (wanted, required) => wanted.or(required),
    };
    let most = metadata.map_or(gcn_emit::kernel::MAX_WORKGROUP, |m| m.max_flat_workgroup_size);
    let remedy = format!("write `\"workgroup\": [X, Y, Z]` of at most {most} work-items");
    let wanted = wanted.ok_or_else(|| Error::spec("there is no workgroup size", remedy.clone()))?;
    let items = wanted.iter().try_fold(1u32, |n, d| n.checked_mul(*d)).unwrap_or(u32::MAX);
    if most > 0 && items > most {
        let problem = format!("a workgroup of {items} work-items is more than the kernel is compiled for");
        return Err(Error::spec(problem, remedy));
    }
    Ok(wanted)
}

/// The scratch size of a work-item in bytes.
pub(super) fn scratch(program: &Program, spec: &Spec) -> u32 {
    let fixed = program.machine().state().private_bytes;
    spec.scratch.unwrap_or(fixed.saturating_add(if program.has_dynamic_stack() { DYNAMIC_STACK } else { 0 }))
}
