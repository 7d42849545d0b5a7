//! How far a result of the simulator can be trusted: for each opcode the witness that its semantics has, and what about
//! its results is approximate or assumed.

use std::collections::BTreeSet;

use gcn_isa::semantics;

/// How the simulator's results of an opcode stand to the hardware's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Bit for bit what the witness says.
    Exact,
    /// A detail that the witness leaves open is assumed; [`Fidelity::note`] says which.
    Assumed,
    /// Within the documented error bound, but not bit for bit.
    Approximate,
}

impl Grade {
    /// `exact`, `assumed` or `approximate`.
    pub const fn name(self) -> &'static str {
        match self {
            Grade::Exact => "exact",
            Grade::Assumed => "assumed",
            Grade::Approximate => "approximate",
        }
    }
}

/// What stands after the results of an opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fidelity {
    /// The mnemonic, without encoding suffix.
    pub mnemonic: &'static str,
    /// Who states what it does: [`gcn_isa::semantics::Semantics::witness`].
    pub witness: &'static str,
    /// How results stand to the hardware's.
    pub grade: Grade,
    /// Why the grade is not exact; empty if it is.
    pub note: &'static str,
}

/// Which mnemonics a row is about: prefix and suffix, both of which have to fit.
type Pattern = (&'static str, &'static str);

const TRANSCENDENTAL: &str =
    "computed in f64 and rounded once; the hardware's last bits differ within its documented bound";
const MATRIX: &str = "the order and width in which the hardware adds products is not public: here one fused multiply-add \
                      after the other, for ascending k";
const XDL_F32: &str =
    "the rounding of xf32 inputs is not public: to nearest even; and so is the order of the additions";
const DOT: &str = "the order of the additions is not public: lowest element first, each rounded";
const SMALL_FLOAT: &str = "that MODE.FP16_OVFL also makes infinite operands finite is assumed";
const STOCHASTIC: &str =
    "how random bits meet denormal results follows AMD's host reference, not a hardware document";
const TYPED: &str =
    "what the manual does not say of typed accesses is assumed: see the notes on the data formats";
const CLOCK: &str = "there is no clock in functional mode: executed instructions stand for it, with the cycles that a wave sleeps or waits for a clock";
const HARDWARE: &str = "registers that say where a wave runs hold what one wave on an empty chip could see";
const MESSAGE: &str = "nobody receives the message";
const TRANSPOSE: &str = "the element order is argued from public kernels and compilers";
const LDS_STORE: &str = "that lanes store side by side is assumed";
const MIX: &str = "rounded once to f16, as AMD's model of RDNA4 has it; LLVM takes it to round to f32 first (pull requests 219723, \
                   224913): --mix-rounded-twice";
const MAD_MIX: &str = "fused, as the MI100 manual says (6.7); LLVM takes gfx900 to round the product, too, and to flush denormals";
const BYTE: &str = "no manual says how it rounds: as MODE does, saturated, NaN to 0, as AMD's model of RDNA4, measured there";
const FLOOR: &str = "NaN gives 0, as in conversions that truncate; AMD's model of RDNA4, measured there, gives the end of the range \
                     that the sign of the NaN says";
const SIGN: &str = "SCC is what LLVM says; the manual does not";
const TRAP: &str = "there is no trap handler: only the jump is left";

/// What is not exact. The first row that fits holds.
const NOTES: &[(Pattern, Grade, &str)] = &[
    (("v_exp_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_log_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_rcp_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_rsq_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_sqrt_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_sin_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_cos_", ""), Grade::Approximate, TRANSCENDENTAL),
    (("v_mfma_i32_", ""), Grade::Exact, ""),
    (("v_smfmac_i32_", ""), Grade::Exact, ""),
    (("v_mfma_", "xf32"), Grade::Approximate, XDL_F32),
    (("v_mfma_", ""), Grade::Approximate, MATRIX),
    (("v_smfmac_", ""), Grade::Approximate, MATRIX),
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
    (("ds_read_", "_tr_b16"), Grade::Assumed, TRANSPOSE),
    (("ds_read_", "_tr_b8"), Grade::Assumed, TRANSPOSE),
    (("ds_read_", "_tr_b6"), Grade::Assumed, TRANSPOSE),
    (("ds_read_", "_tr_b4"), Grade::Assumed, TRANSPOSE),
    (("s_memtime", ""), Grade::Approximate, CLOCK),
    (("s_memrealtime", ""), Grade::Approximate, CLOCK),
    (("s_getreg_", ""), Grade::Assumed, HARDWARE),
    (("s_sendmsg", ""), Grade::Assumed, MESSAGE),
    (("s_setvskip", ""), Grade::Assumed, SIGN),
    (("s_rfe_", ""), Grade::Assumed, TRAP),
];

/// What stands after the results of `mnemonic` (without `_e32`, `_e64`, `_dpp`, `_sdwa`); `None` if no target has it.
///
/// ```
/// use gcn_sim::Grade;
/// assert_eq!(gcn_sim::fidelity_of("v_add_f32").unwrap().grade, Grade::Exact);
/// assert_eq!(gcn_sim::fidelity_of("v_exp_f32").unwrap().grade, Grade::Approximate);
/// ```
pub fn fidelity_of(mnemonic: &str) -> Option<Fidelity> {
    let semantics = semantics::of(mnemonic)?;
    let fits = |((prefix, suffix), ..): &&(Pattern, Grade, &str)| {
        mnemonic.starts_with(prefix) && mnemonic.ends_with(suffix)
    };
    let (grade, note) = NOTES.iter().find(fits).map_or((Grade::Exact, ""), |row| (row.1, row.2));
    Some(Fidelity { mnemonic: semantics.mnemonic, witness: semantics.witness, grade, note })
}

/// The fidelity of each executed opcode, by name, each once. Names that no target has are left out.
///
/// ```
/// let report = gcn_sim::fidelity(["v_exp_f32", "s_endpgm", "v_exp_f32"]);
/// assert_eq!(report.iter().map(|f| f.mnemonic).collect::<Vec<_>>(), ["s_endpgm", "v_exp_f32"]);
/// assert!(report.iter().all(|f| !f.witness.is_empty()));
/// ```
pub fn fidelity<'a>(executed: impl IntoIterator<Item = &'a str>) -> Vec<Fidelity> {
    let names: BTreeSet<&str> = executed.into_iter().collect();
    names.into_iter().filter_map(fidelity_of).collect()
}
