//! Lists the instructions whose f16 result can overflow, for which MODE.FP16_OVFL matters.

use gcn_isa::Inst;

/// How an instruction whose f16 result can overflow reads its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As f16, except for the operand at this position, which is not a float or cannot cause an infinity.
    Half { except: Option<usize> },
    /// As f16. Division by a zero operand gives an exact infinity, which is not an overflow.
    Reciprocal,
    /// As f32.
    FromSingle,
    /// As an integer.
    FromInteger,
    /// As packed f16.
    Packed,
    /// Each as f32 or f16. True if the result is written to the upper half.
    Mixed(bool),
}

const HALF: Form = Form::Half { except: None };

/// Every instruction with an f16 result that can overflow.
const FORMS: [(&str, Form); 26] = [
    ("v_add_f16", HALF),
    ("v_sub_f16", HALF),
    ("v_subrev_f16", HALF),
    ("v_mul_f16", HALF),
    ("v_fma_f16", HALF),
    ("v_fma_legacy_f16", HALF),
    ("v_mad_f16", HALF),
    ("v_mad_legacy_f16", HALF),
    ("v_mac_f16", HALF),
    ("v_fmac_f16", HALF),
    ("v_madak_f16", HALF),
    ("v_madmk_f16", HALF),
    ("v_exp_f16", HALF),
    ("v_ldexp_f16", Form::Half { except: Some(1) }),
    ("v_rcp_f16", Form::Reciprocal),
    ("v_cvt_f16_f32", Form::FromSingle),
    ("v_cvt_f16_u16", Form::FromInteger),
    ("v_cvt_f16_i16", Form::FromInteger),
    ("v_pk_add_f16", Form::Packed),
    ("v_pk_mul_f16", Form::Packed),
    ("v_pk_fma_f16", Form::Packed),
    ("v_pk_fmac_f16", Form::Packed),
    ("v_fma_mixlo_f16", Form::Mixed(false)),
    ("v_mad_mixlo_f16", Form::Mixed(false)),
    ("v_fma_mixhi_f16", Form::Mixed(true)),
    ("v_mad_mixhi_f16", Form::Mixed(true)),
];

impl Form {
    /// The form of an instruction; `None` if it has no f16 result that can overflow.
    pub(crate) fn of(inst: &Inst) -> Option<Form> {
        FORMS.iter().find(|form| form.0 == inst.desc.entry.mnemonic).map(|form| form.1)
    }
}
