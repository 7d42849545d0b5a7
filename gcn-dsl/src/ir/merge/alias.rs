//! Alias analysis: decides which memory objects may overlap.

use super::super::{Kernel, LdsId, Memory};

/// True for memory that nothing writes while the kernel runs.
pub(in crate::ir) fn is_read_only(kernel: &Kernel, memory: Memory) -> bool {
    matches!(memory, Memory::Buffer(resource) if kernel.read_only.contains(&resource))
}

/// True for the LDS array whose size the launch gives, under any of its names.
pub(super) fn is_dynamic(kernel: &Kernel, id: LdsId) -> bool {
    kernel.lds[id.0 as usize].dynamic
}

/// True for memory behind raw pointers, and for slices that overlap other slices.
pub(super) fn is_raw(kernel: &Kernel, memory: Memory) -> bool {
    match memory {
        Memory::Global(_) | Memory::Lanes(_) => true,
        Memory::Buffer(resource) => kernel.overlapping.contains(&resource),
        Memory::Lds(_) | Memory::Private(_) => false,
    }
}

/// True if an access to `a` may touch the same bytes as an access to `b`.
pub(in crate::ir) fn may_alias(kernel: &Kernel, a: Memory, b: Memory) -> bool {
    let dynamic = |m| matches!(m, Memory::Lds(id) if is_dynamic(kernel, id));
    let raw = |m| is_raw(kernel, m);
    a == b || (raw(a) && raw(b)) || (dynamic(a) && dynamic(b))
}
