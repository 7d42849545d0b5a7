//! The classes of words for which we and LLVM's disassembler disagree. `tests/data/decode-differences.tsv` gives the reason for each class;
//! here is how its words are recognised. A difference that is in no class fails the test.

use super::compare::Difference;
use super::oracle::Answer;

/// True for a difference that is in the class.
type Test = fn(&Difference) -> bool;

/// A class: its name in the data file, and its test. If several tests succeed, the first one counts.
pub const CLASSES: [(&str, Test); 15] = [
    ("not-compute", |d| {
        we_refuse(d) && ["image_", "exp ", "v_interp_"].iter().any(|p| d.text().starts_with(p))
    }),
    ("invalid-register", |d| we_refuse(d) && d.text().contains("/*Invalid register")),
    ("no-such-instruction", |d| refused_as(d, "the target has no ")),
    ("unused-bits", |d| refused_as(d, "bits that it does not have are set")),
    ("undefined-operand", |d| refused_as(d, "has an undefined code")),
    ("illegal-operand", |d| refused_as(d, ": operand `")),
    ("undefined-modifier", |d| refused_as(d, "has the undefined value")),
    ("read-only-operand", |d| {
        we_refuse(d) && (d.text().contains(" src_") && is_destination_lane_mask_or_matrix(d))
    }),
    ("text", |d| {
        let same_length =
            matches!((&d.ours, &d.theirs), (Ok((_, a)), Answer::Inst { length: b, .. }) if a == b);
        same_length && !d.theirs_is_canonical && d.ours_is_canonical
    }),
    ("text-of-16-bits", |d| {
        let same_length =
            matches!((&d.ours, &d.theirs), (Ok((_, a)), Answer::Inst { length: b, .. }) if a == b);
        same_length && !d.theirs_is_canonical && differs_in_16_bits(d)
    }),
    ("agpr-f64-atomic", |d| {
        let ours = d.ours.as_ref().map_or("", |(text, _)| text);
        d.theirs == Answer::Illegal
            && ours.split(' ').next().is_some_and(|name| name.contains("_atomic_") && name.ends_with("_f64"))
            && ours.contains(" a[")
            && ours.contains(" sc1")
    }),
    ("f8f6f4-last-registers", |d| {
        let ours = d.ours.as_ref().map_or("", |(text, _)| text);
        d.ours_is_canonical
            && ours.starts_with("v_mfma_")
            && ours.contains("_f8f6f4 ")
            && runs_out_as_eight(ours)
    }),
    ("scale-prefix-alone", |d| {
        let llvms = we_refuse(d)
            && d.text().starts_with("v_mfma_ld_scale_b32")
            && d.ours.as_ref().is_err_and(|fault| fault.contains("v_mfma_scale_f32_"));
        llvms || !d.theirs_is_canonical && we_take_the_prefix_alone(d)
    }),
    ("absent-sources", |d| {
        let long = d.ours.as_ref().ok().and_then(|(text, _)| text.strip_suffix("_e64"));
        long == Some(d.text()) && !d.theirs_is_canonical
    }),
    ("gpr-index-255", |d| {
        let same_text = d.ours.as_ref().is_ok_and(|(text, _)| text == d.text());
        same_text && d.text().starts_with("s_set_gpr_idx_on ") && d.text().ends_with(", 0xff")
    }),
];

/// True if a tuple in the text would exceed register 255 if it had eight registers.
fn runs_out_as_eight(text: &str) -> bool {
    let firsts = text.split(['v', 'a']).filter_map(|part| part.strip_prefix('[')?.split(':').next());
    firsts.filter_map(|first| first.parse::<u32>().ok()).any(|first| first + 8 > 256)
}

fn we_refuse(d: &Difference) -> bool {
    d.ours.is_err() && matches!(d.theirs, Answer::Inst { .. })
}

/// LLVM decodes a scale prefix and the word after it as one instruction. We decode only the prefix, because the word has operands that no
/// instruction has.
fn we_take_the_prefix_alone(d: &Difference) -> bool {
    let alone = |text: &str| text.starts_with("v_mfma_ld_scale_b32 ");
    d.ours.as_ref().is_ok_and(|(text, _)| alone(text)) && d.text().starts_with("v_mfma_scale_")
}

/// True if we reject the word, and LLVM's own assembler does not produce these bytes from LLVM's text: LLVM's disassembler dropped what we
/// reject.
fn refused_as(d: &Difference, message: &str) -> bool {
    we_refuse(d) && !d.theirs_is_canonical && d.ours.as_ref().is_err_and(|fault| fault.contains(message))
}

fn is_destination_lane_mask_or_matrix(d: &Difference) -> bool {
    let names =
        ["v_cmp", "v_readfirstlane", "v_readlane", "v_writelane", "v_mfma", "v_cndmask", "v_addc", "v_subb"];
    names.iter().any(|p| d.text().starts_with(p))
}

/// The inline float constants as the disassembler prints their 16 bits, and as the assembler accepts them.
const FLOATS: [(&str, &str); 9] = [
    ("0x3800", "0.5"),
    ("0xb800", "-0.5"),
    ("0x3c00", "1.0"),
    ("0xbc00", "-1.0"),
    ("0x4000", "2.0"),
    ("0xc000", "-2.0"),
    ("0x4400", "4.0"),
    ("0xc400", "-4.0"),
    ("0x3118", "0.15915494"),
];

/// True if the texts differ only in constants of 16-bit operands: a float constant, or the ignored upper half of a literal.
fn differs_in_16_bits(d: &Difference) -> bool {
    let Ok((ours, _)) = &d.ours else { return false };
    let words = |text: &str| -> Vec<String> {
        let split = text.split([' ', ',', '(', ')', '|']).filter(|w| !w.is_empty());
        split.map(|w| w.trim_start_matches("neg").to_owned()).collect()
    };
    let (ours, theirs) = (words(ours), words(d.text()));
    let equal = |(a, b): (&String, &String)| {
        let low = |hex: &str| {
            hex.strip_prefix("0x").and_then(|h| u32::from_str_radix(h, 16).ok()).map(|v| v & 0xffff)
        };
        a == b || FLOATS.contains(&(b, a)) || (low(a).is_some() && low(a) == low(b))
    };
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(equal)
}

/// The classes of the data file: name, number of words in the full run, reason.
pub fn listed() -> Vec<(&'static str, &'static str, &'static str)> {
    let file = include_str!("../../data/decode-differences.tsv");
    let row = |line: &'static str| {
        let mut cells = line.splitn(3, '\t');
        let mut cell = || cells.next().expect("three columns");
        (cell(), cell(), cell())
    };
    file.lines().skip(1).map(row).collect()
}
