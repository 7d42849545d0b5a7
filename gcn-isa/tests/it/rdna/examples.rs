//! The text from which the measurement of a row began, as a witness of the row.

use gcn_isa::mods::{DppControls, Modifiers, TemporalHints};
use gcn_isa::table::{Format, InstDesc, OperandDesc, OperandKinds};

use super::write::names;
use super::{rows, table};

#[test]
fn examples_have_what_their_rows_accept() {
    let text = table();
    let mut refused = Vec::new();
    for measured in rows(&text) {
        let row = &measured.row;
        let rest =
            measured.example.strip_prefix(row.printed).expect("the example begins with the printed name");
        let mut parts = split(rest.trim_start(), ',');
        // The last operand and the modifiers stand between two commas.
        let mut modifiers = parts.pop().map_or(Vec::new(), |last| split(last, ' '));
        if !row.operands.is_empty() {
            parts.push(modifiers.remove(0));
        }
        assert_eq!(parts.len(), row.operands.len(), "{}", measured.example);
        for (operand, text) in row.operands.iter().zip(parts) {
            if !takes(operand, text) {
                refused.push(format!(
                    "{}={text} in {} of {}",
                    operand.name,
                    measured.example,
                    names(row.targets)
                ));
            }
        }
        for word in modifiers {
            if !takes_modifier(row, word) {
                refused.push(format!("{word} in {} of {}", measured.example, names(row.targets)));
            }
        }
    }
    assert_eq!(refused, FAULTS);
}

/// The measured operands of `v_fmamk_f16` on gfx1201 say that the last is an immediate.
const FAULTS: [&str; 1] = ["src1=v67 in v_fmamk_f16 v104, v61, 0xc400, v67 of gfx1201"];

/// The parts between separators outside brackets, trimmed.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0;
    let outside = move |c: char| {
        depth += i32::from(c == '(' || c == '[') - i32::from(c == ')' || c == ']');
        c == separator && depth == 0
    };
    text.split(outside).map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn takes(operand: &OperandDesc, text: &str) -> bool {
    let kinds = operand.kinds;
    let constants = OperandKinds::LITERAL | OperandKinds::LITERAL16 | OperandKinds::IMM;
    if let Some((file, first, last)) = register(text) {
        let width = last - first + 1;
        return match file {
            "v" if text.ends_with(['l', 'h']) => {
                kinds.contains(OperandKinds::HALF_VGPR) && last <= operand.last_vgpr.into()
            }
            "v" => {
                kinds.contains(OperandKinds::VGPR)
                    && width == operand.dwords.into()
                    && last <= operand.last_vgpr.into()
            }
            "s" => kinds.contains(OperandKinds::SGPR) && width == operand.dwords.into(),
            _ => operand.allows_special(file) && width == operand.dwords.into(),
        };
    }
    match integer(text) {
        Some(-16..=64) if kinds.contains(OperandKinds::INLINE_INT) => true,
        Some(_) => kinds.intersects(constants),
        None if text.parse::<f64>().is_ok() => kinds.contains(OperandKinds::INLINE_FLOAT),
        None if text == "off" => kinds.contains(OperandKinds::OFF),
        None => operand.allows_special(text) || kinds.contains(OperandKinds::IMM),
    }
}

fn integer(text: &str) -> Option<i32> {
    let digits = text.trim_start_matches('-');
    let sign = if digits == text { 1 } else { -1 };
    let value = digits.strip_prefix("0x").map_or(digits.parse(), |digits| i64::from_str_radix(digits, 16));
    i32::try_from(sign * value.ok()?).ok().or(Some(i32::MAX))
}

/// File, first and last number of a register: `v5`, `v5.l`, `s[2:3]`.
fn register(text: &str) -> Option<(&str, u32, u32)> {
    let file = ["v", "s", "ttmp"].into_iter().find(|file| {
        text.strip_prefix(file).is_some_and(|rest| rest.starts_with(|c: char| c == '[' || c.is_ascii_digit()))
    })?;
    let numbers = &text[file.len()..];
    let numbers = numbers.trim_end_matches(".l").trim_end_matches(".h").trim_matches(['[', ']']);
    let (first, last) = numbers.split_once(':').unwrap_or((numbers, numbers));
    Some((file, first.parse().ok()?, last.parse().ok()?))
}

fn takes_modifier(row: &InstDesc, word: &str) -> bool {
    let (name, value) = word.split_once(':').unwrap_or((word, ""));
    let control = DppControls::named(name).is_some_and(|control| row.dpp_controls.contains(control));
    let flag = match name {
        "mul" | "div" => Some(Modifiers::OMOD),
        "offset" if row.modifiers.contains(Modifiers::IMM_OFFSET) => Some(Modifiers::IMM_OFFSET),
        _ => Modifiers::named(name),
    };
    let within = |(low, high): (i32, i32)| integer(value).is_some_and(|n| (low..=high).contains(&n));
    let fits = match flag {
        Some(Modifiers::OFFSET | Modifiers::IMM_OFFSET) => row.offset_range.is_some_and(within),
        Some(Modifiers::TH) => TemporalHints::from_name(value).is_some_and(|hint| row.hints.contains(hint)),
        _ => true,
    };
    let typed = matches!(row.format, Format::Mtbuf | Format::VBufferTyped);
    control || name == "format" && typed || flag.is_some_and(|flag| row.modifiers.contains(flag)) && fits
}
