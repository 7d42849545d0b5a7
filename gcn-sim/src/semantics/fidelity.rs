//! The reliability of the simulator's results: for each opcode the source of its semantics (the *witness*), and the parts of its results
//! that are approximate or assumed.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use gcn_isa::layout::{self, ElemType};
use gcn_isa::table::{Entry, InstDesc};
use gcn_isa::target::Family;
use gcn_isa::{Target, table};

use super::mfma::model::{self, Arithmetic};
use crate::core::matrix::MatrixArithmetic;

/// The relation between the simulator's results of an opcode and the hardware's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Bit-exact according to the witness.
    Exact,
    /// Bit-exact, except that the witness leaves a detail open; [`Fidelity::note`] names the assumption.
    Assumed,
    /// Within the documented error bound, but not bit-exact.
    Approximate,
}

impl Grade {
    /// The name: `exact`, `assumed` or `approximate`.
    pub const fn name(self) -> &'static str {
        match self {
            Grade::Exact => "exact",
            Grade::Assumed => "assumed",
            Grade::Approximate => "approximate",
        }
    }
}

/// The reliability of an opcode's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fidelity {
    /// The mnemonic, without encoding suffix.
    pub mnemonic: &'static str,
    /// The source of its semantics: see [`gcn_isa::semantics::Semantics::witness`].
    pub witness: &'static str,
    /// How the results relate to the hardware's.
    pub grade: Grade,
    /// The reason why the grade is not exact, or further evidence; empty if there is none.
    pub note: &'static str,
}

/// A prefix and a suffix, both of which a mnemonic has to match.
type Pattern = (&'static str, &'static str);

const TRANSCENDENTAL: &str =
    "computed in f64 and rounded once; the hardware's last bits differ within its documented bound";
const MATRIX: &str = "no model of the hardware's order and width of addition was validated: here one fused multiply-add after the other, \
                      for ascending k";
const CHAIN: &str = "the chain was asked for, one fused multiply-add after the other; the hardware adds otherwise: --matrix hardware";
const DOT: &str = "the order of the additions is not public: lowest element first, each rounded; denormals as measured on gfx90a, which flushes \
                   them, and on gfx950, whatever MODE says";
const SMALL_FLOAT: &str = "that MODE.FP16_OVFL also makes infinite operands finite is assumed";
const STOCHASTIC: &str =
    "how random bits meet denormal results follows AMD's host reference, not a hardware document";
const TYPED: &str = "what the manual does not say of typed accesses is assumed: see the notes on the data formats; d16 forms round f32 to \
                     nearest even, where AMD's emulator alone truncates";
const BUFFER: &str = "add_tid and swizzles as the manual has them (MI100 ISA 9.1.5): add_tid adds the lane to an index, too, and swizzles do \
                      not depend on it, where AMD's emulator alone says otherwise; soffset counts in the range check on gfx942 and gfx950";
const LDS_ADD: &str = "denormals as MODE says (LLVM; AMD's emulator); an invalid sum is the NaN 0x7fc00000 that the VALU gives, not the \
                       emulator's 0xffc00000";
const LDS_COMPARE: &str = "denormals as MODE says, by AMD's emulator alone";
const LDS_EXTREME: &str = "of two quiet NaNs the old one stays, by AMD's emulator alone";
const LDS_PACKED: &str = "denormals are kept: LLVM uses it where they count; AMD's emulator alone flushes";
const MEMORY_ADD: &str = "gfx908 and gfx90a flush denormals (LLVM uses it there only where they do not count; AMD's emulator), later targets \
                          keep them";
const CLOCK: &str = "there is no clock in functional mode: executed instructions stand for it, with the cycles that a wave sleeps or waits for a clock, which grow in a loop that waits for a time";
const HARDWARE: &str = "registers that say where a wave runs hold what one wave on an empty chip could see";
const MESSAGE: &str = "nobody receives the message";
const TRANSPOSE: &str = "the element order is argued from public kernels and compilers";
const LDS_STORE: &str = "that lanes store side by side is assumed";
const MIX: &str = "rounded to f32 first, as LLVM takes it (pull requests 219723, 224913); AMD's model of RDNA4 rounds once: \
                   --mix-rounded-once";
const MAD_MIX: &str = "fused, as the MI100 manual says (6.7); LLVM takes gfx900 to round the product, too, and to flush denormals";
const BYTE: &str = "no manual says how it rounds: as MODE does, saturated, NaN to 0, as AMD's model of RDNA4, measured there";
const FLOOR: &str = "NaN gives 0, as in conversions that truncate; AMD's model of RDNA4, measured there, gives the end of the range \
                     that the sign of the NaN says";
const SIGN: &str = "SCC is what LLVM says; the manual does not";
const TRAP: &str = "there is no trap handler: only the jump is left";

/// The opcodes whose results may not be exact. The first matching row applies.
const NOTES: &[(Pattern, Grade, &str)] = &[
    (("v_tanh_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_exp_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_log_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_rcp_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_rsq_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_sqrt_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_sin_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_cos_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_dot2_f32", ""), Grade::Approximate, DOT),
    (("v_dot2c_f32", ""), Grade::Approximate, DOT),
    (("v_fma_mixlo_", ""), Grade::Assumed, MIX),
    (("v_fma_mixhi_", ""), Grade::Assumed, MIX),
    (("v_mad_mixlo_", ""), Grade::Assumed, MIX),
    (("v_mad_mixhi_", ""), Grade::Assumed, MIX),
    (("v_mad_mix_", ""), Grade::Assumed, MAD_MIX),
    (("v_cvt_pk_u8_", ""), Grade::Assumed, BYTE),
    (("v_cvt_pkaccum_u8_", ""), Grade::Assumed, BYTE),
    (("v_cvt_flr_i32_", ""), Grade::Assumed, FLOOR),
    (("v_cvt_rpi_i32_", ""), Grade::Assumed, FLOOR),
    (("v_cvt_sr_", ""), Grade::Assumed, STOCHASTIC),
    (("v_cvt_scalef32_sr_", ""), Grade::Assumed, STOCHASTIC),
    (("v_cvt_pk_fp8_", ""), Grade::Assumed, SMALL_FLOAT),
    (("v_cvt_pk_bf8_", ""), Grade::Assumed, SMALL_FLOAT),
    (("v_cvt_scalef32_pk_fp8_", ""), Grade::Assumed, SMALL_FLOAT),
    (("v_cvt_scalef32_pk_bf8_", ""), Grade::Assumed, SMALL_FLOAT),
    (("buffer_load_format_", ""), Grade::Assumed, TYPED),
    (("buffer_store_format_", ""), Grade::Assumed, TYPED),
    (("tbuffer_", ""), Grade::Assumed, TYPED),
    (("buffer_store_lds_", ""), Grade::Assumed, LDS_STORE),
    (("buffer_atomic_add_f32", ""), Grade::Assumed, MEMORY_ADD),
    (("global_atomic_add_f32", ""), Grade::Assumed, MEMORY_ADD),
    (("buffer_load_", ""), Grade::Exact, BUFFER),
    (("buffer_store_", ""), Grade::Exact, BUFFER),
    (("buffer_atomic_", ""), Grade::Exact, BUFFER),
    (("ds_add_", "f32"), Grade::Assumed, LDS_ADD),
    (("ds_cmpst_", "f32"), Grade::Assumed, LDS_COMPARE),
    (("ds_min_", "f32"), Grade::Assumed, LDS_EXTREME),
    (("ds_max_", "f32"), Grade::Assumed, LDS_EXTREME),
    (("ds_min_", "f64"), Grade::Assumed, LDS_EXTREME),
    (("ds_max_", "f64"), Grade::Assumed, LDS_EXTREME),
    (("ds_pk_add_", ""), Grade::Assumed, LDS_PACKED),
    (("ds_read_", "_tr_b16"), Grade::Assumed, TRANSPOSE),
    (("ds_read_", "_tr_b8"), Grade::Assumed, TRANSPOSE),
    (("ds_read_", "_tr_b6"), Grade::Assumed, TRANSPOSE),
    (("ds_read_", "_tr_b4"), Grade::Assumed, TRANSPOSE),
    (("s_memtime", ""), Grade::Approximate, CLOCK),
    (("s_memrealtime", ""), Grade::Approximate, CLOCK),
    (("s_get_shader_cycles_", ""), Grade::Approximate, CLOCK),
    (("s_getreg_", ""), Grade::Assumed, HARDWARE),
    (("s_sendmsg", ""), Grade::Assumed, MESSAGE),
    (("s_setvskip", ""), Grade::Assumed, SIGN),
    (("s_rfe_", ""), Grade::Assumed, TRAP),
];

const WAVE_MATRIX: &str = "no model of the hardware's order and width of addition was published: products are added to C for ascending k, each \
                           step a fused multiply-add of f32; results of 16 bits are rounded once";
const LOAD_TRANSPOSED: &str = "which lanes exchange rows of elements follows Triton's code for gfx1250's LDS, not a document; \
                               waves of 64 lanes are refused";
const EMULATED: &str = "follows AMD's emulator rocjitsu, not a document";
const PACKED_BF16: &str =
    "no document describes the arithmetic of bf16: it is that of f32, rounded once more, and keeps denormals";
const BLOCK: &str = "that registers without a bit in M0 keep their places in memory is assumed";
const DOT_HALF: &str = "each sum is rounded, lowest element first; sums of bf16 are f32, and rounded once, on gfx12 by cutting, as measured on \
                        gfx1200";
const DOT_BYTE: &str = "the order of the additions is not public: lowest element first, each rounded";
const HALF_SCALAR: &str = "that the upper half of the result is zero is assumed";
const GROUPS: &str = "waves of 64 lanes move data within each 32, as Mesa takes it";
const RANGE: &str = "OOB_SELECT as the RDNA3 manual has it; SOFFSET does not count in the range check";
const RUN: &str = "kernels of Triton 3.9 and clang 22, compared with NumPy";
const MANUAL: &str = "RDNA ISA manuals";
const UNSEEN: &str = "no kernel with known results was seen to execute it";

/// As [`NOTES`], for instructions of RDNA, by entry name; consulted before [`NOTES`].
const NOTES_OF_RDNA: &[(Pattern, Grade, &str)] = &[
    (("v_wmma_i32_", ""), Grade::Exact, ""),
    (("v_swmmac_i32_", ""), Grade::Exact, ""),
    (("v_wmma_", ""), Grade::Approximate, WAVE_MATRIX),
    (("v_swmmac_", ""), Grade::Approximate, WAVE_MATRIX),
    (("v_s_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_dot2_f16_f16", ""), Grade::Approximate, DOT_HALF),
    (("v_dot2_bf16_bf16", ""), Grade::Approximate, DOT_HALF),
    (("v_dot4_f32_", ""), Grade::Approximate, DOT_BYTE),
    (("global_load_tr_", ""), Grade::Assumed, LOAD_TRANSPOSED),
    (("ds_load_tr", ""), Grade::Assumed, LOAD_TRANSPOSED),
    (("ds_atomic_barrier_arrive_", ""), Grade::Assumed, EMULATED),
    (("ds_atomic_async_barrier_arrive_", ""), Grade::Assumed, EMULATED),
    (("v_pk_", "bf16"), Grade::Assumed, PACKED_BF16),
    (("global_load_block", ""), Grade::Assumed, BLOCK),
    (("global_store_block", ""), Grade::Assumed, BLOCK),
    (("scratch_load_block", ""), Grade::Assumed, BLOCK),
    (("scratch_store_block", ""), Grade::Assumed, BLOCK),
    (("ds_permute_b32", ""), Grade::Assumed, GROUPS),
    (("ds_bpermute_", ""), Grade::Assumed, GROUPS),
    (("s_cmp_", "_f16"), Grade::Exact, ""),
    (("s_", "_f16"), Grade::Assumed, HALF_SCALAR),
    (("s_sendmsg_rtn_", ""), Grade::Approximate, CLOCK),
    (("buffer_load_format_", ""), Grade::Assumed, TYPED),
    (("buffer_store_format_", ""), Grade::Assumed, TYPED),
    (("buffer_load_", ""), Grade::Exact, RANGE),
    (("buffer_store_", ""), Grade::Exact, RANGE),
    (("buffer_atomic_", ""), Grade::Exact, RANGE),
];

/// The entry names of instructions that RDNA added and that the kernels of [`RUN`] execute.
static EXECUTED: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| include_str!("../../data/rdna-executed.txt").lines().collect());

/// The reliability of `mnemonic` (without `_e32`, `_e64`, `_dpp`, `_sdwa`) on a target, with the given arithmetic of matrix instructions;
/// `None` if no target has the mnemonic.
///
/// ```
/// use gcn_isa::Target;
/// use gcn_sim::{Grade, MatrixArithmetic, fidelity_of};
///
/// let grade = |name, target| fidelity_of(name, target, MatrixArithmetic::Hardware).unwrap().grade;
/// assert_eq!(grade("v_add_f32", Target::GFX942), Grade::Exact);
/// assert_eq!(grade("v_exp_f32", Target::GFX942), Grade::Approximate);
/// // Validated on one target, not on the next.
/// assert_eq!(grade("v_mfma_f32_32x32x8_f16", Target::GFX942), Grade::Exact);
/// assert_eq!(grade("v_mfma_f32_32x32x8_f16", Target::GFX950), Grade::Approximate);
/// ```
pub fn fidelity_of(mnemonic: &str, target: Target, matrix: MatrixArithmetic) -> Option<Fidelity> {
    if target.family() == Family::RDNA {
        return of_rdna(table::find_in(Family::RDNA, mnemonic).next()?);
    }
    let entry = table::find_in(Family::GFX9, mnemonic).next()?.entry;
    let noted = || note(NOTES, mnemonic).unwrap_or((Grade::Exact, ""));
    let (grade, note) = of_matrix(mnemonic, target, matrix).unwrap_or_else(noted);
    Some(Fidelity { mnemonic: entry.mnemonic, witness: entry.witness, grade, note })
}

fn note(notes: &[(Pattern, Grade, &'static str)], mnemonic: &str) -> Option<(Grade, &'static str)> {
    let fits = |((prefix, suffix), ..): &&(Pattern, Grade, &str)| {
        mnemonic.starts_with(prefix) && mnemonic.ends_with(suffix)
    };
    notes.iter().find(fits).map(|row| (row.1, row.2))
}

/// As [`fidelity_of`], for an instruction of RDNA. A VOPD instruction has the reliability of its less reliable half.
fn of_rdna(row: &InstDesc) -> Option<Fidelity> {
    let of_entry = |entry: &Entry| {
        let shared = table::entry(entry.alone);
        let entry = shared.unwrap_or(entry);
        let noted = note(NOTES_OF_RDNA, entry.mnemonic).or_else(|| note(NOTES, entry.mnemonic));
        let (grade, note) = noted.unwrap_or((Grade::Exact, ""));
        let (witness, (grade, note)) = match entry.witness {
            "" if EXECUTED.contains(entry.mnemonic) => (RUN, (grade, note)),
            "" if grade == Grade::Exact => (MANUAL, (Grade::Assumed, UNSEEN)),
            "" => (MANUAL, (grade, note)),
            witness => (witness, (grade, note)),
        };
        Fidelity { mnemonic: row.mnemonic, witness, grade, note }
    };
    match row.halves {
        Some(halves) => halves.map(|half| of_entry(half.entry)).into_iter().max_by_key(|f| f.grade),
        None => Some(of_entry(row.entry)),
    }
}

/// The grade and note of a matrix instruction; `None` for other instructions. An instruction that the target does not have is treated like
/// one without a validated model.
fn of_matrix(mnemonic: &str, target: Target, matrix: MatrixArithmetic) -> Option<(Grade, &'static str)> {
    let mut rows = table::rows().iter().filter(|row| row.mnemonic == mnemonic && row.is_matrix());
    let any = rows.clone().next()?;
    let shape = rows.find_map(|row| layout::shape(row, target).filter(|_| row.targets.contains(target)));
    if Target::GFX9.iter().any(|t| layout::shape(any, *t).is_some_and(|shape| shape.acc == ElemType::I32)) {
        return Some((Grade::Exact, ""));
    }
    Some(match shape.and_then(|shape| model::of(shape, target)) {
        Some(model) if matrix == MatrixArithmetic::Chain && model.arithmetic != Arithmetic::Chain => {
            (Grade::Approximate, CHAIN)
        }
        Some(model) => (Grade::Exact, model.witness),
        None => (Grade::Approximate, MATRIX),
    })
}

/// The reliability of each executed opcode, without duplicates. Mnemonics that no target has are skipped.
///
/// ```
/// use gcn_sim::{MatrixArithmetic, fidelity};
/// let report = fidelity(["v_exp_f32", "s_endpgm", "v_exp_f32"], gcn_isa::Target::GFX942, MatrixArithmetic::Hardware);
/// assert_eq!(report.iter().map(|f| f.mnemonic).collect::<Vec<_>>(), ["s_endpgm", "v_exp_f32"]);
/// assert!(report.iter().all(|f| !f.witness.is_empty()));
/// ```
pub fn fidelity<'a>(
    executed: impl IntoIterator<Item = &'a str>,
    target: Target,
    matrix: MatrixArithmetic,
) -> Vec<Fidelity> {
    let names: BTreeSet<&str> = executed.into_iter().collect();
    names.into_iter().filter_map(|name| fidelity_of(name, target, matrix)).collect()
}
