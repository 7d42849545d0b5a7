//! Scalar stores: the register that contains their offset, and whether the scalar cache is written back.

use gcn_isa::Operand;
use gcn_isa::cfg::is_call;
use gcn_isa::program::Line;
use gcn_isa::reg::M0;
use gcn_isa::table::{Behaviours, Class};

use super::Lints;
use super::kernel::{Kernel, Reached};
use super::rules::{SCALAR_STORE_OFFSET, SCALAR_WRITE_BACK};

pub(super) fn check(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    offsets(kernel, lints);
    write_back(kernel, lints);
}

fn offsets(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    let writes =
        |l: &Line| matches!(l.inst.desc.class, Class::SmemStore | Class::SmemAtomic | Class::SmemAtomicRet);
    let other = |l: &Line| l.inst.operand("soffset").and_then(Operand::reg).filter(|r| *r != M0);
    let found = kernel.lines().filter(|(_, l)| writes(l)).find_map(|(line, l)| Some((line, l, other(l)?)));
    let Some((line, l, reg)) = found else { return };
    let message = format!("the offset of `{}` stands in {reg}", l.inst.desc.printed);
    lints.add(&SCALAR_STORE_OFFSET, kernel.place(line), message, "move it to m0, or use a constant");
}

/// Checks that scalar stores are written back. They are performed in the scalar cache, so others see them only after `s_dcache_wb`.
fn write_back(kernel: &Kernel<'_>, lints: &mut Lints<'_>) {
    let Some(code) = kernel.code.as_ref() else { return };
    let Some(store) = unwritten_at_end(code) else { return };
    let message = "the kernel may end before what this writes has left the scalar cache".to_owned();
    lints.add(&SCALAR_WRITE_BACK, kernel.place(store), message, "put `s_dcache_wb` before `s_endpgm`");
}

/// A scalar store that is followed by a path to the end of the program without a write-back; `None` if there is none.
fn unwritten_at_end(code: &Reached<'_>) -> Option<usize> {
    if !code.blocks.iter().any(|b| code.lines(*b).any(|(_, l)| l.inst.desc.class == Class::SmemStore)) {
        return None;
    }
    // For each block, the first store that may be in the cache at its start.
    let mut before: Vec<Option<usize>> = vec![None; code.cfg.blocks.len()];
    let mut visited = vec![false; code.cfg.blocks.len()];
    let mut open = code.entries.clone();
    while let Some(block) = open.pop() {
        if let Some(flag) = visited.get_mut(block) {
            *flag = true;
        }
        let mut dirty = before.get(block).copied().flatten();
        for (line, l) in code.lines(block) {
            match l.inst.desc.class {
                Class::SmemStore => dirty = dirty.or(Some(line)),
                Class::SmemCache if l.inst.desc.does(Behaviours::WRITES_BACK) => dirty = None,
                Class::Endpgm if dirty.is_some() => return dirty,
                // The callee may write back the cache.
                _ if is_call(&l.inst) => dirty = None,
                _ => {}
            }
        }
        for next in code.cfg.blocks.get(block).into_iter().flat_map(|b| &b.succs) {
            let (Some(known), Some(visited)) = (before.get_mut(*next), visited.get(*next)) else { continue };
            let news = known.is_none() && dirty.is_some();
            *known = known.or(dirty);
            if news || !visited {
                open.push(*next);
            }
        }
    }
    None
}
