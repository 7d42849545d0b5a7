//! Changes to an instruction's text: numbers of operands, modifiers that the instruction lacks, values out of range.

use gcn_test_support::Random;

/// Modifiers of every format, with legal and illegal values.
const MODIFIERS: [&str; 92] = [
    "clamp",
    "mul:2",
    "mul:4",
    "div:2",
    "mul:3",
    "div:4",
    "mul:1",
    "op_sel:[1]",
    "op_sel:[1,0]",
    "op_sel:[0,1,0]",
    "op_sel:[0,0,0,1]",
    "op_sel:[2,0]",
    "op_sel_hi:[1,0]",
    "op_sel_hi:[0,0,0]",
    "op_sel_hi:[0,1]",
    "neg_lo:[1,0]",
    "neg_lo:[1,1,1]",
    "neg_hi:[0,1]",
    "neg_hi:[1,0,0]",
    "neg:[1,0,0]",
    "neg:[1,1]",
    "quad_perm:[0,1,2,3]",
    "quad_perm:[3,2,1,4]",
    "quad_perm:[0,1,2]",
    "row_shl:1",
    "row_shl:0",
    "row_shl:16",
    "row_shr:15",
    "row_ror:3",
    "wave_shl:1",
    "wave_rol:1",
    "wave_ror:2",
    "row_mirror",
    "row_half_mirror",
    "row_bcast:15",
    "row_bcast:31",
    "row_bcast:16",
    "row_newbcast:3",
    "row_newbcast:16",
    "row_share:1",
    "row_mask:0xf",
    "row_mask:0x10",
    "bank_mask:0x0",
    "bank_mask:0x1f",
    "bound_ctrl:0",
    "bound_ctrl:1",
    "bound_ctrl:2",
    "fi:1",
    "dst_sel:BYTE_0",
    "dst_sel:DWORD",
    "dst_sel:BYTE_4",
    "dst_unused:UNUSED_PAD",
    "dst_unused:UNUSED_NONE",
    "src0_sel:WORD_1",
    "src1_sel:BYTE_3",
    "src1_sel:WORD_2",
    "offset:0",
    "offset:4",
    "offset:4095",
    "offset:4096",
    "offset:-4096",
    "offset:-4097",
    "offset:65535",
    "offset:65536",
    "offset0:1",
    "offset0:256",
    "offset1:255",
    "glc",
    "slc",
    "scc",
    "sc0",
    "sc1",
    "nt",
    "dlc",
    "offen",
    "idxen",
    "lds",
    "gds",
    "tfe",
    "cbsz:1",
    "cbsz:7",
    "cbsz:8",
    "abid:15",
    "abid:16",
    "blgp:7",
    "blgp:8",
    "bitop3:0xff",
    "bitop3:256",
    "format:1",
    "format:128",
    "r128",
    "unorm",
];

/// Operands as text.
const OPERANDS: [&str; 53] = [
    "v0",
    "v255",
    "v256",
    "v[0:1]",
    "v[1:2]",
    "v[0:3]",
    "v[2:1]",
    "v[254:257]",
    "a0",
    "a255",
    "a256",
    "a[0:1]",
    "a[1:2]",
    "s0",
    "s101",
    "s102",
    "s[0:1]",
    "s[1:2]",
    "s[0:3]",
    "s[2:5]",
    "s[100:103]",
    "s[0:7]",
    "vcc",
    "vcc_lo",
    "vcc_hi",
    "exec",
    "exec_lo",
    "m0",
    "src_lds_direct",
    "lds_direct",
    "flat_scratch",
    "flat_scratch_lo",
    "xnack_mask",
    "xnack_mask_hi",
    "ttmp0",
    "ttmp15",
    "ttmp16",
    "ttmp[0:3]",
    "null",
    "tba",
    "off",
    "0",
    "-17",
    "65",
    "0x12345678",
    "0x100000000",
    "1.0",
    "0.15915494",
    "1.5",
    "-v1",
    "|v1|",
    "sext(v1)",
    "neg(v1)",
];

/// The text with one change.
pub fn change(rng: &mut Random, text: &str) -> String {
    match rng.below(24) {
        0..3 => replace_operand(rng, text),
        3..5 => remove_operand(rng, text),
        5..7 => insert_operand(rng, text),
        7 => swap_operands(rng, text),
        8..10 => wrap_operand(rng, text),
        10..12 => remove_modifier(rng, text),
        12..14 => other_suffix(rng, text),
        14..16 => change_digit(rng, text),
        _ => add_modifier(rng, text),
    }
}

/// The mnemonic, the operands, and the modifiers with a leading space.
fn parts(text: &str) -> (&str, Vec<&str>, &str) {
    let Some((mnemonic, rest)) = text.split_once(' ') else { return (text, Vec::new(), "") };
    let (mut depth, mut start, mut operands) = (0, 0, Vec::new());
    for (i, c) in rest.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(rest[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    // The last operand ends at the first space after it.
    let last = rest[start..].trim_start();
    let end = if last.contains(" & ") { last.len() } else { last.find(' ').unwrap_or(last.len()) };
    operands.push(&last[..end]);
    (mnemonic, operands, &last[end..])
}

fn join(mnemonic: &str, operands: &[&str], modifiers: &str) -> String {
    format!("{mnemonic} {}{modifiers}", operands.join(", "))
}

fn replace_operand(rng: &mut Random, text: &str) -> String {
    let (mnemonic, mut operands, modifiers) = parts(text);
    if !operands.is_empty() {
        let at = rng.below(operands.len());
        operands[at] = *rng.pick(&OPERANDS);
    }
    join(mnemonic, &operands, modifiers)
}

fn remove_operand(rng: &mut Random, text: &str) -> String {
    let (mnemonic, mut operands, modifiers) = parts(text);
    if !operands.is_empty() {
        operands.remove(rng.below(operands.len()));
    }
    join(mnemonic, &operands, modifiers)
}

fn insert_operand(rng: &mut Random, text: &str) -> String {
    let (mnemonic, mut operands, modifiers) = parts(text);
    operands.insert(rng.below(operands.len() + 1), *rng.pick(&OPERANDS));
    join(mnemonic, &operands, modifiers)
}

fn swap_operands(rng: &mut Random, text: &str) -> String {
    let (mnemonic, mut operands, modifiers) = parts(text);
    if operands.len() > 1 {
        let (a, b) = (rng.below(operands.len()), rng.below(operands.len()));
        operands.swap(a, b);
    }
    join(mnemonic, &operands, modifiers)
}

fn wrap_operand(rng: &mut Random, text: &str) -> String {
    let (mnemonic, operands, modifiers) = parts(text);
    let mut operands: Vec<String> = operands.into_iter().map(str::to_owned).collect();
    if !operands.is_empty() {
        let at = rng.below(operands.len());
        let (before, behind) = *rng.pick(&[
            ("-", ""),
            ("|", "|"),
            ("neg(", ")"),
            ("abs(", ")"),
            ("sext(", ")"),
            ("-|", "|"),
            ("neg(abs(", "))"),
        ]);
        operands[at] = format!("{before}{}{behind}", operands[at]);
    }
    format!("{mnemonic} {}{modifiers}", operands.join(", "))
}

fn remove_modifier(rng: &mut Random, text: &str) -> String {
    let (mnemonic, operands, modifiers) = parts(text);
    let mut list: Vec<&str> = modifiers.split_whitespace().collect();
    if !list.is_empty() {
        list.remove(rng.below(list.len()));
    }
    let modifiers: String = list.iter().map(|m| format!(" {m}")).collect();
    join(mnemonic, &operands, &modifiers)
}

fn add_modifier(rng: &mut Random, text: &str) -> String {
    format!("{text} {}", *rng.pick(&MODIFIERS))
}

/// The mnemonic with the suffix of another encoding.
fn other_suffix(rng: &mut Random, text: &str) -> String {
    let (mnemonic, operands, modifiers) = parts(text);
    let bare =
        ["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|s| mnemonic.strip_suffix(s)).unwrap_or(mnemonic);
    let suffix = *rng.pick(&["_e32", "_e64", "_sdwa", "_dpp", ""]);
    join(&format!("{bare}{suffix}"), &operands, modifiers)
}

/// The text with one digit after the mnemonic changed.
fn change_digit(rng: &mut Random, text: &str) -> String {
    let from = text.find(' ').unwrap_or(text.len());
    let digits: Vec<usize> =
        text.char_indices().filter(|c| c.0 > from && c.1.is_ascii_digit()).map(|c| c.0).collect();
    if digits.is_empty() {
        return text.to_owned();
    }
    let at = *rng.pick(&digits);
    format!("{}{}{}", &text[..at], rng.below(10), &text[at + 1..])
}
