//! Instructions without a function in [`crate::isa`], with the reasons.
//!
//! `build.rs` includes this file, too: it writes the list as a table into the documentation of [`crate::isa`].

use gcn_isa::table::{self, Access, Behaviours, Class, Format, ImplicitRegs, InstDesc};
use gcn_isa::target::Family;

/// A group of instructions that have no function for the same reason.
#[derive(Debug, Clone, Copy)]
pub struct Excluded {
    /// Returns true if the instruction of this row belongs to the group.
    pub has: fn(&InstDesc) -> bool,
    /// The reason.
    pub reason: &'static str,
    /// The alternative in a kernel.
    pub instead: &'static str,
}

impl Excluded {
    /// The mnemonics of the group, sorted and without duplicates.
    pub fn mnemonics(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = candidates()
            .filter(|row| excluded(row).is_some_and(|by| std::ptr::eq(by, self)))
            .map(|row| row.entry.mnemonic)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The instructions that are parts of a barrier or read its state.
const BARRIERS_IN_PARTS: [&str; 8] = [
    "s_barrier_init",
    "s_barrier_join",
    "s_barrier_leave",
    "s_barrier_signal",
    "s_barrier_signal_isfirst",
    "s_barrier_wait",
    "s_get_barrier_state",
    "s_wakeup_barrier",
];

/// The groups of instructions that have no function. An instruction belongs to the first group whose `has` accepts it.
pub static EXCLUDED: &[Excluded] = &[
    Excluded {
        has: |row| row.class == Class::Branch,
        reason: "control flow belongs to the language: an allocator and a hazard analysis need to know every edge",
        instead: "`if`, `while`, `for`",
    },
    Excluded {
        has: |row| row.class == Class::Endpgm,
        reason: "the compiler ends the kernel, once, after the last statement",
        instead: "an `if` around the rest of the body",
    },
    Excluded {
        has: |row| row.class == Class::GprIdx || row.is_relative(),
        reason: "they address registers by a number that is known only when the kernel runs; registers are allocated \
                 when it is built",
        instead: "an LDS array, or `select` over the candidates",
    },
    Excluded {
        has: |row| row.does(Behaviours::SKIPS_VECTOR),
        reason: "it makes the wave skip vector instructions, also those that the compiler puts in (moves, waits)",
        instead: "`if` on a uniform condition",
    },
    Excluded {
        has: |row| row.class == Class::MfmaLdScale,
        reason: "it is the first half of the 16-byte scaled matrix instructions and means nothing alone",
        instead: "`v_mfma_scale_f32_16x16x128_f8f6f4`, `v_mfma_scale_f32_32x32x64_f8f6f4`",
    },
    Excluded {
        has: |row| {
            matches!(row.format, Format::Scratch | Format::VScratch)
                || row.is_smem() && row.implicit_reads.contains(ImplicitRegs::FLAT_SCRATCH)
        },
        reason: "they address the private segment, whose size, set-up (FLAT_SCRATCH) and layout are the compiler's",
        instead: "an LDS array, or global memory indexed by lane",
    },
    Excluded {
        has: |row| {
            let gives_no_mask = row.operands.iter().all(|operand| operand.access == Access::Read);
            row.implicit_writes.contains(ImplicitRegs::EXEC)
                && match row.is_salu() {
                    true => row.operands.iter().any(|operand| operand.dwords == 1),
                    false => gives_no_mask,
                }
        },
        reason: "EXEC is the language's: these change that of waves of 32 lanes, or write a comparison to EXEC alone",
        instead: "`if` on a condition, `v_cmp_…`, or an instruction of 64 bits in a kernel with `#[wave(64)]`",
    },
    Excluded {
        has: |row| BARRIERS_IN_PARTS.contains(&row.mnemonic),
        reason: "a barrier in parts is a barrier only if every wave comes to each part, which the language knows of `barrier()`",
        instead: "`barrier()`",
    },
    Excluded {
        has: |row| {
            row.class == Class::DelayAlu
                || ["s_clause", "s_code_end", "s_inst_prefetch", "s_alloc_vgpr"].contains(&row.mnemonic)
        },
        reason: "they say something about the instructions beside them or about the wave's registers, and the order of \
                 instructions and the registers are the compiler's",
        instead: "nothing: the compiler writes `s_delay_alu` itself",
    },
    Excluded {
        has: |row| row.class == Class::Waitcnt && row.format == Format::Sopk,
        reason: "they add a register to the count that they wait for, which the compiler's own waits never do",
        instead: "`s_waitcnt`; of a pending value, `wait`",
    },
    Excluded {
        has: |row| ["global_load_block", "global_store_block"].contains(&row.mnemonic),
        reason: "a mask in M0 says which of 32 registers they move, and the others keep their values",
        instead: "loads and stores of a `Vector`",
    },
    Excluded {
        has: |row| matches!(row.class, Class::TensorLoad | Class::TensorStore | Class::TensorCtl),
        reason: "descriptors in registers say which bytes of memory and LDS they copy, so the compiler cannot order other \
                 accesses with them",
        instead: "loads from global memory and stores to LDS",
    },
    Excluded {
        has: |row| {
            matches!(row.class, Class::LdsParam | Class::LdsBvh)
                || ["ds_add_gs_reg_rtn", "ds_sub_gs_reg_rtn"].contains(&row.mnemonic)
        },
        reason: "they belong to graphics and ray tracing",
        instead: "nothing",
    },
];

/// The rows of the instruction table, except VOPD pairs, which only the compiler forms.
pub fn candidates() -> impl Iterator<Item = &'static InstDesc> {
    Family::ALL.into_iter().flat_map(table::rows_of).filter(|row| row.halves.is_none())
}

/// The group of the instruction of `row`; `None` if the instruction has a function.
pub fn excluded(row: &InstDesc) -> Option<&'static Excluded> {
    EXCLUDED.iter().find(|e| (e.has)(row))
}
