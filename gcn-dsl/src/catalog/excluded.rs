//! Instructions without a function, with the reasons.
//!
//! `build.rs` reads this file too: the list is a table in the documentation of [`crate::isa`].

/// A group of instructions that have no function, for the same reason.
#[derive(Debug, Clone, Copy)]
pub struct Excluded {
    /// The mnemonics.
    pub mnemonics: &'static [&'static str],
    /// Why.
    pub reason: &'static str,
    /// The replacement in a kernel.
    pub instead: &'static str,
}

/// Every instruction of the table that has no function.
pub const EXCLUDED: &[Excluded] = &[
    Excluded {
        mnemonics: &[
            "s_branch",
            "s_call_b64",
            "s_cbranch_cdbgsys",
            "s_cbranch_cdbgsys_and_user",
            "s_cbranch_cdbgsys_or_user",
            "s_cbranch_cdbguser",
            "s_cbranch_execnz",
            "s_cbranch_execz",
            "s_cbranch_g_fork",
            "s_cbranch_i_fork",
            "s_cbranch_join",
            "s_cbranch_scc0",
            "s_cbranch_scc1",
            "s_cbranch_vccnz",
            "s_cbranch_vccz",
            "s_rfe_b64",
            "s_rfe_restore_b64",
            "s_setpc_b64",
            "s_swappc_b64",
        ],
        reason: "control flow belongs to the language: an allocator and a hazard analysis need to know every edge",
        instead: "`if`, `while`, `for`",
    },
    Excluded {
        mnemonics: &["s_endpgm", "s_endpgm_ordered_ps_done", "s_endpgm_saved"],
        reason: "the compiler ends the kernel, once, after the last statement",
        instead: "an `if` around the rest of the body",
    },
    Excluded {
        mnemonics: &[
            "s_movreld_b32",
            "s_movreld_b64",
            "s_movrels_b32",
            "s_movrels_b64",
            "s_set_gpr_idx_idx",
            "s_set_gpr_idx_mode",
            "s_set_gpr_idx_off",
            "s_set_gpr_idx_on",
        ],
        reason: "they address registers by a number that is known only when the kernel runs; registers are allocated \
                 when it is built",
        instead: "an LDS array, or `select` over the candidates",
    },
    Excluded {
        mnemonics: &["s_setvskip"],
        reason: "it makes the wave skip vector instructions, also those that the compiler puts in (moves, waits)",
        instead: "`if` on a uniform condition",
    },
    Excluded {
        mnemonics: &["v_mfma_ld_scale_b32"],
        reason: "it is the first half of the 16-byte scaled matrix instructions and means nothing alone",
        instead: "`v_mfma_scale_f32_16x16x128_f8f6f4`, `v_mfma_scale_f32_32x32x64_f8f6f4`",
    },
    Excluded {
        mnemonics: &[
            "s_scratch_load_dword",
            "s_scratch_load_dwordx2",
            "s_scratch_load_dwordx4",
            "s_scratch_store_dword",
            "s_scratch_store_dwordx2",
            "s_scratch_store_dwordx4",
            "scratch_load_dword",
            "scratch_load_dwordx2",
            "scratch_load_dwordx3",
            "scratch_load_dwordx4",
            "scratch_load_lds_dword",
            "scratch_load_lds_sbyte",
            "scratch_load_lds_sshort",
            "scratch_load_lds_ubyte",
            "scratch_load_lds_ushort",
            "scratch_load_sbyte",
            "scratch_load_sbyte_d16",
            "scratch_load_sbyte_d16_hi",
            "scratch_load_short_d16",
            "scratch_load_short_d16_hi",
            "scratch_load_sshort",
            "scratch_load_ubyte",
            "scratch_load_ubyte_d16",
            "scratch_load_ubyte_d16_hi",
            "scratch_load_ushort",
            "scratch_store_byte",
            "scratch_store_byte_d16_hi",
            "scratch_store_dword",
            "scratch_store_dwordx2",
            "scratch_store_dwordx3",
            "scratch_store_dwordx4",
            "scratch_store_short",
            "scratch_store_short_d16_hi",
        ],
        reason: "they address the private segment, whose size, set-up (FLAT_SCRATCH) and layout are the compiler's",
        instead: "an LDS array, or global memory indexed by lane",
    },
];

/// The reason why `mnemonic` has no function, if it has none.
pub fn excluded(mnemonic: &str) -> Option<&'static Excluded> {
    EXCLUDED.iter().find(|e| e.mnemonics.contains(&mnemonic))
}
