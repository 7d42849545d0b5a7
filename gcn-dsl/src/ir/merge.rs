//! Merges neighbouring loads and stores into wide ones.
//!
//! In a run of instructions without control flow, accesses to one memory object whose byte offsets differ by known
//! constants become one access of up to 16 bytes (64 for scalar loads), if the common part of the offset is known to be
//! aligned to the size of the whole block. The alignment makes the merge correct in every case: an aligned block does
//! not wrap at 2^32, so the bounds of a slice are still checked dword by dword; and the blocks of two lanes are either
//! identical or disjoint, so the lanes of a wave still write in program order. Elements of 8 and 16 bits are merged
//! where they fill dwords (`narrow`). In a slice of structs or arrays whose size is not a power of two, the element is
//! the block: only an index beyond the end of every slice makes it wrap around, and the elements of two lanes are
//! identical or disjoint.
//!
//! Reordering:
//! - Loads from read-only memory (`&[T]`) may move across every instruction.
//! - Loads and stores of one object may move across accesses to another object. A slice, an LDS array and a private
//!   array are different objects. Raw pointers may point to the same memory as each other, but not into a slice.
//! - Loads and stores with the same base, of different bytes of an aligned block, may be reordered.
//! - No other access may move across barriers, atomics, fences or machine instructions that the kernel names.

mod alias;
mod edit;
mod group;
mod kernarg;
mod narrow;
mod run;
mod uniform;

pub(super) use alias::{is_read_only, may_alias};

use super::align::Alignment;
use super::{Inst, Kernel, Region, Stmt};

/// Merges accesses of `kernel`. Values that are unused afterwards are left for [`super::dce`].
pub fn run(kernel: &mut Kernel) {
    kernel.rewrite(kernarg::merge);
    let mut alignment = Alignment::of(kernel);
    kernel.rewrite(|kernel, body| region(kernel, &mut alignment, body, &mut 0, false));
}

/// `manual` counts the open manual schedules, in which every access stays as the user wrote it.
fn region(
    kernel: &mut Kernel,
    alignment: &mut Alignment,
    region_: &mut Region,
    manual: &mut u32,
    in_loop: bool,
) {
    let mut open = Vec::new();
    region_.rebuild(|mut stmt, out| {
        if let Stmt::Inst(v) = stmt {
            let order = matches!(kernel.def(v).inst, Inst::Schedule(_));
            if order {
                run::merge(kernel, alignment, &mut open, in_loop, out);
                kernel.def(v).inst.count_manual(manual);
            }
            if order || *manual > 0 {
                out.push(stmt);
            } else {
                open.push(v);
            }
            return;
        }
        run::merge(kernel, alignment, &mut open, in_loop, out);
        let in_loop = in_loop || stmt.repeats();
        for inner in stmt.regions_mut() {
            region(kernel, alignment, inner, manual, in_loop);
        }
        out.push(stmt);
    });
    run::merge(kernel, alignment, &mut open, in_loop, &mut region_.stmts);
}
