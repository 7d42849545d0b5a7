//! Merges neighbouring loads and stores into wide ones.
//!
//! Within a run of instructions without control flow, accesses to one memory object whose byte offsets differ by known
//! constants become one access of up to 16 bytes (64 for scalar loads), if the common part of the offset is known to be
//! aligned to the whole. The alignment is what makes it right in every case: an aligned block does not wrap around at
//! 2^32, so that the bounds of a slice are checked dword by dword as before, and the blocks of two lanes are the same or apart,
//! so that lanes of one wave still write in the order that the program says.
//!
//! What may be moved over what:
//! - Loads of read-only memory (`&[T]`) over everything.
//! - Loads and stores of one object over accesses to another: a slice, an LDS array and a private array is an object of its
//!   own. Raw pointers may point to the same memory as each other, but not into a slice.
//! - Nothing else over barriers, atomics, fences and instructions that are named.

mod group;
mod kernarg;
mod run;
mod uniform;

pub(super) use run::{is_read_only, may_alias};

use super::align::Alignment;
use super::{Inst, Kernel, Region, Stmt};

/// Merges accesses of `kernel`. Values that nobody uses any more are left for [`super::dce`].
pub fn run(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    kernarg::merge(kernel, &mut body);
    // Uses the whole body.
    kernel.body = body;
    let mut alignment = Alignment::of(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    region(kernel, &mut alignment, &mut body, &mut 0);
    kernel.body = body;
}

/// `manual` counts the manual schedules that are open: in them every access stays what it is, where it is.
fn region(kernel: &mut Kernel, alignment: &mut Alignment, region_: &mut Region, manual: &mut u32) {
    let mut stmts = Vec::with_capacity(region_.stmts.len());
    let mut open = Vec::new();
    for mut stmt in std::mem::take(&mut region_.stmts) {
        if let Stmt::Inst(v) = stmt {
            let order = matches!(kernel.def(v).inst, Inst::Schedule(_));
            if order {
                run::merge(kernel, alignment, &mut open, &mut stmts);
                kernel.def(v).inst.count_manual(manual);
            }
            if order || *manual > 0 {
                stmts.push(stmt);
            } else {
                open.push(v);
            }
            continue;
        }
        run::merge(kernel, alignment, &mut open, &mut stmts);
        for inner in stmt.regions_mut() {
            region(kernel, alignment, inner, manual);
        }
        stmts.push(stmt);
    }
    run::merge(kernel, alignment, &mut open, &mut stmts);
    region_.stmts = stmts;
}
