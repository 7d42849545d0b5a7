//! Compares variants of notation with LLVM's assembler. On every target, both sides reject a line, or both give the same bytes. Lines that
//! LLVM accepts and we reject are listed with the reason.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use gcn_emit::text::{ExprValue, Scope, parse_inst_in};
use gcn_isa::Target;

use crate::llvm::{self, Llvm, Scratch};

/// The lines. `sym` is 3; `undef…` and `lab…` have no value yet.
const VARIANTS: &str = include_str!("../../data/variants.txt");

/// Lines for which we are stricter or (the last one) more lenient: the beginning of the line, and the reason.
const EXCEPTIONS: [(&str, &str); 19] = [
    ("s_mov_b32 s0, lit64(1)", "LLVM emits 32 bits of it; these targets have no 64-bit literals"),
    ("v_cvt_f32_f64 v0, 0.1", "LLVM drops the low half of the value, with a warning"),
    ("s_waitcnt 65536", "LLVM truncates to 16 bits"),
    ("s_nop 65536", "LLVM truncates to 16 bits"),
    ("s_nop -32769", "LLVM truncates to 16 bits"),
    ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1.0", "LLVM emits 0"),
    ("v_mov_b32_dpp v0, v1 row_shl:1 row_mask:16", "LLVM truncates to 4 bits"),
    ("v_pk_add_f16 v0, v1, v2 op_sel:[1,1,1]", "LLVM drops the bit of the source that does not exist"),
    ("v_pk_add_f16 v0, v1, lit(1)", "LLVM emits the literal's marker without a literal"),
    ("v_add_u16 v0, 1.5, v1", "LLVM takes the low half of the 32-bit float, which is 0"),
    ("v_add_f32_e64 v0, lit(1), v2", "LLVM emits the literal's marker without a literal"),
    ("s_atc_probe 128", "LLVM truncates to 7 bits"),
    ("buffer_load_dword v0, off, s[0:3], s4 offset:4096", "LLVM truncates to 12 bits"),
    ("s_mov_b32 src_scc", "LLVM drops the high bit of the read-only source's number"),
    ("v_interp_p1_f32", "interpolation is not part of compute"),
    ("v_pk_fma_f32 v[0:1], 0x3ff0000000000000", "LLVM emits 0"),
    ("v_bitop3_b32 v0, v1, v2, v3 bitop3:256", "LLVM truncates to 8 bits"),
    ("v_pk_add_f16 v0, v1, v2 op_sel:[0,0,1]", "LLVM drops the bit of the source that does not exist"),
    ("v_add_f32 v0, --4, v1", "more lenient: the expression -(-4) is taken wherever a number is"),
];

/// The symbols in the lines, and sums, differences and products of small numbers.
pub(super) struct Symbols;

impl Scope for Symbols {
    fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)> {
        if expr.starts_with("undef") || expr.starts_with("lab") {
            return Ok(ExprValue::Later(0));
        }
        let mut rest = expr.as_bytes();
        match sum(&mut rest) {
            Some(value) if rest.is_empty() => Ok(ExprValue::Known(value)),
            _ => Err((0, format!("`{expr}` is not an expression of this test"))),
        }
    }
}

fn blanks(rest: &mut &[u8]) {
    *rest = rest.trim_ascii_start();
}

fn eat(rest: &mut &[u8], byte: u8) -> bool {
    blanks(rest);
    let found = rest.first() == Some(&byte);
    if found {
        *rest = &rest[1..];
        blanks(rest);
    }
    found
}

fn sum(rest: &mut &[u8]) -> Option<i64> {
    let mut value = product(rest)?;
    loop {
        if eat(rest, b'+') {
            value += product(rest)?;
        } else if eat(rest, b'-') {
            value -= product(rest)?;
        } else if eat(rest, b'&') {
            value &= product(rest)?;
        } else {
            return Some(value);
        }
    }
}

fn product(rest: &mut &[u8]) -> Option<i64> {
    let mut value = term(rest)?;
    while eat(rest, b'*') {
        value *= term(rest)?;
    }
    Some(value)
}

fn term(rest: &mut &[u8]) -> Option<i64> {
    if eat(rest, b'-') {
        return term(rest).map(|v| -v);
    }
    if eat(rest, b'+') {
        return term(rest);
    }
    if eat(rest, b'~') {
        return term(rest).map(|v| !v);
    }
    if eat(rest, b'(') {
        return sum(rest).filter(|_| eat(rest, b')'));
    }
    let end = rest.iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (word, behind) = rest.split_at(end);
    *rest = behind;
    match word {
        b"sym" => Some(3),
        _ => std::str::from_utf8(word).ok()?.parse().ok(),
    }
}

/// Our machine code in hexadecimal, or the error message.
pub(super) fn ours(line: &str, target: Target) -> Result<String, String> {
    let parsed = parse_inst_in(line, target, &mut Symbols).map_err(|e| e.to_string())?;
    Ok(hex(&parsed.code))
}

/// Machine code in hexadecimal.
pub(super) fn hex(code: &[u8]) -> String {
    code.iter().map(|b| format!("{b:02x}")).collect()
}

/// LLVM's code for each line in hexadecimal, from a single run; `None` if it rejects the line. Bytes with relocations are 0.
pub(super) fn theirs(lines: &[&str], target: Target) -> Vec<Option<String>> {
    let mut source = String::from(".set sym, 3\n");
    for line in lines {
        // A marker byte separates the output of one line from that of the next.
        let _ = writeln!(source, ".byte 0xab\n{line}");
    }
    let output = assemble(target, &source);
    let mut codes: Vec<Option<String>> = Vec::with_capacity(lines.len());
    for line in output.lines() {
        if line.trim_start().starts_with(".byte") {
            codes.push(None);
        } else if let (Some((_, encoding)), Some(code)) = (line.split_once("encoding: ["), codes.last_mut()) {
            let byte = |b: &str| b.strip_prefix("0x").map_or_else(|| "00".to_owned(), str::to_owned);
            let hex: String = encoding.trim_end().trim_end_matches(']').split(',').map(byte).collect();
            code.get_or_insert(hex);
        }
    }
    assert_eq!(codes.len(), lines.len(), "one group of output lines for each variant");
    codes
}

/// The assembler's output for a source in which it rejects some lines.
fn assemble(target: Target, source: &str) -> String {
    let scratch = Scratch::new(&format!("lines-{target}-{:x}", source.len()));
    let file = scratch.write("variants.s", source.as_bytes());
    let cpu = format!("-mcpu={target}");
    let args = ["-triple=amdgcn-amd-amdhsa", &cpu, "--show-encoding", llvm::text(&file)];
    let output = Command::new("llvm-mc-22").args(args).output().expect("the tool was found");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn variants_mean_what_llvm_takes_them_for() {
    if Llvm::find().is_none() {
        return;
    }
    let lines: Vec<&str> = VARIANTS.lines().filter(|l| !l.starts_with('#')).collect();
    let mut counts = BTreeMap::new();
    let mut wrong = Vec::new();
    for target in Target::REPRESENTATIVES {
        for (line, expected) in lines.iter().zip(theirs(&lines, target)) {
            let have = ours(line, target);
            let same = have.as_ref().ok() == expected.as_ref();
            let excepted = EXCEPTIONS.iter().any(|e| line.starts_with(e.0));
            let count: &mut [usize; 3] = counts.entry(target).or_default();
            match (same, excepted) {
                (true, _) => count[usize::from(expected.is_none())] += 1,
                (false, true) => count[2] += 1,
                (false, false) => wrong.push(format!("{target} `{line}`: llvm {expected:?}, we {have:?}")),
            }
        }
    }
    println!("same bytes, refused by both, excepted: {counts:?}; {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The message, with the bytes to which the error points in brackets.
fn pointed(line: &str) -> String {
    match parse_inst_in(line, Target::GFX942, &mut Symbols) {
        Ok(parsed) => format!("accepted as {}", parsed.inst.desc.printed),
        Err(error) => {
            let (before, rest) = line.split_at(error.at);
            let (inside, behind) = rest.split_at(error.len);
            format!("{before}[{inside}]{behind}: {error}")
        }
    }
}

#[test]
fn faults_point_to_their_bytes() {
    let cases = [
        (
            "v_ad_f32 v0, v1, v2",
            "[v_ad_f32] v0, v1, v2: gfx942 has no instruction `v_ad_f32`; the nearest name is `v_add_f32`",
        ),
        (
            "s_mov_b32 s0, 0x123456789",
            "s_mov_b32 s0, [0x123456789]: operand `ssrc0` of `s_mov_b32`: 0x123456789 does not fit the 32 bits of a literal",
        ),
        (
            "v_mov_b32 v256, v1",
            "v_mov_b32 [v256], v1: the register number is out of range: the last one is 255",
        ),
        (
            "s_mov_b64 s[3:2], 0",
            "s_mov_b64 [s[3:2]], 0: the second register number is smaller than the first",
        ),
        ("s_mov_b32 s0, null", "s_mov_b32 s0, [null]: gfx942 has no register `null`"),
        ("s_mov_b32 s0, bogus+1", "s_mov_b32 s0, [bogus+1]: `bogus+1` is not an expression of this test"),
        (
            "s_getreg_b32 s0, hwreg(HW_REG_MODE, 32, 1)",
            "s_getreg_b32 s0, hwreg(HW_REG_MODE, [32], 1): the bit offset is 0 to 31",
        ),
        (
            "s_waitcnt vmcnt(0) vscnt(1)",
            "s_waitcnt vmcnt(0) [vscnt](1): the counters are vmcnt, expcnt and lgkmcnt, as in `vmcnt(0)`",
        ),
        (
            "v_mov_b32_dpp v0, v1 row_shl:16",
            "v_mov_b32_dpp v0, v1 row_shl:[16]: modifier `row_shl`: the lane count does not exist",
        ),
        (
            "v_add_f32 v0, v1, v2 mul:2 clamp",
            "v_add_f32 v0, v1, v2 mul:2 [clamp]: modifier `clamp` of `v_add_f32_e64`: it must stand before the modifiers that are written before it",
        ),
        (
            "ds_read_b32 v0, v1 glc",
            "ds_read_b32 v0, v1 [glc]: modifier `glc` of `ds_read_b32`: not a modifier of this instruction",
        ),
        (
            "v_add_f32_e32 v0, v1, s2",
            "v_add_f32_e32 v0, v1, [s2]: operand `src1` of `v_add_f32_e32`: not accepted here; this operand takes a VGPR",
        ),
        ("v_add_f32 v0, |v1, v2", "v_add_f32 v0, |v1[,] v2: expected `|` after the operand"),
        (
            "global_load_dword v0, v[2:3], off, v4",
            "global_load_dword v0, v[2:3], off, [v4]: `global_load_dword` takes 3 operands, 4 given: vdst, vaddr, saddr",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(pointed(line), expected);
    }
}
