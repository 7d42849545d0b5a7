//! Differential fuzzing of encoder, printer and parser against `llvm-mc`, on instructions that a generator creates from the table.
//! `GCN_FUZZ_COUNT` sets the number per target (default 2,000), `GCN_FUZZ_SEED` the seed, `GCN_FUZZ_TARGET` a single target.

mod differences;
mod illegal;
mod legal;
mod modifiers;
mod operands;
mod oracle;
mod unfaithful;
mod wrong_text;

use std::collections::BTreeMap;

use gcn_emit::decode::decode_inst;
use gcn_emit::encode::encode_inst;
use gcn_emit::text::{ExprValue, InstText, Scope, parse_inst, parse_inst_in};
use gcn_isa::{Inst, Target};
use gcn_test_support::env::{fuzz_count, fuzz_seed, setting};

use crate::llvm::Llvm;
use legal::Generator;

/// The number of instructions in one run of a tool.
const BATCH: usize = 50_000;

fn targets() -> Vec<Target> {
    match std::env::var("GCN_FUZZ_TARGET") {
        Ok(name) => vec![name.parse().expect("GCN_FUZZ_TARGET names a target")],
        Err(_) => Target::REPRESENTATIVES.to_vec(),
    }
}

fn text(inst: &Inst, target: Target) -> String {
    InstText { inst, target, program: None }.to_string()
}

/// Mismatches by class, with some examples.
#[derive(Default)]
struct Mismatches(BTreeMap<String, (usize, Vec<String>)>);

impl Mismatches {
    fn add(&mut self, class: String, example: impl FnOnce() -> String) {
        let entry = self.0.entry(class).or_default();
        entry.0 += 1;
        if entry.1.len() < setting("GCN_FUZZ_SHOW", 4) {
            entry.1.push(example());
        }
    }

    fn total(&self) -> usize {
        self.0.values().map(|c| c.0).sum()
    }

    fn print(&self) {
        for (class, (count, examples)) in &self.0 {
            println!("{count:>6} {class}");
            for example in examples {
                println!("           {example}");
            }
        }
    }
}

#[test]
fn legal_instructions_agree_with_llvm_both_ways() {
    if Llvm::find().is_none() {
        return;
    }
    let mut wrong = 0;
    for target in targets() {
        let mut generator = Generator::new(target, fuzz_seed(1));
        let mut mismatches = Mismatches::default();
        let mut left_out: BTreeMap<&str, usize> = BTreeMap::new();
        let mut left: usize = fuzz_count(2_000);
        let drawn = left;
        while left > 0 {
            let mut batch = Vec::with_capacity(left.min(BATCH));
            while batch.len() < left.min(BATCH) {
                let (inst, code) = generator.legal();
                match unfaithful::reason(&inst) {
                    Some(reason) => *left_out.entry(reason).or_default() += 1,
                    None => batch.push((inst, code)),
                }
            }
            left -= batch.len();
            compare(target, &batch, &mut mismatches);
        }
        println!("{target}: {drawn} legal instructions, {} mismatches", mismatches.total());
        println!("        left out: {left_out:?}");
        mismatches.print();
        wrong += mismatches.total();
    }
    assert_eq!(wrong, 0, "see the list above");
}

fn compare(target: Target, batch: &[(Inst, Vec<u8>)], mismatches: &mut Mismatches) {
    let texts: Vec<String> = batch.iter().map(|(inst, _)| text(inst, target)).collect();
    let codes: Vec<Vec<u8>> = batch.iter().map(|b| b.1.clone()).collect();
    let assembled = oracle::assemble(target, &texts);
    let disassembled = oracle::disassemble(target, &codes);
    for (i, (inst, code)) in batch.iter().enumerate() {
        let (ours, format) = (&texts[i], inst.desc.format);
        match &assembled[i] {
            Ok(bytes) if bytes == code => {}
            Ok(bytes) => mismatches.add(format!("{format:?} bytes"), || {
                format!("`{ours}` ours {code:02x?} LLVM's {bytes:02x?}")
            }),
            Err(error) => mismatches.add(format!("{format:?} refused: {error}"), || ours.clone()),
        }
        if disassembled[i].as_ref() != Some(ours) {
            mismatches.add(format!("{format:?} text"), || {
                format!("{code:02x?} ours `{ours}` LLVM's {:?}", disassembled[i])
            });
        }
    }
}

#[test]
fn legal_instructions_survive_decode_and_parse() {
    let mut mismatches = Mismatches::default();
    for target in targets() {
        let mut generator = Generator::new(target, fuzz_seed(2));
        for _ in 0..fuzz_count(20_000) {
            let (inst, code) = generator.legal();
            let printed = text(&inst, target);
            let format = inst.desc.format;
            match decode_inst(&code, target) {
                Ok((decoded, length)) if decoded == inst && length == code.len() => {}
                other => {
                    mismatches
                        .add(format!("{format:?} decode"), || format!("{target} `{printed}` {other:?}"));
                }
            }
            if unfaithful::reason(&inst).is_some() {
                continue;
            }
            let parsed = parse_inst(&printed, target);
            match parsed.as_ref().map_err(ToString::to_string).map(|p| encode_inst(p, target)) {
                Ok(Ok(bytes)) if bytes.as_slice() == code => {}
                other => mismatches
                    .add(format!("{format:?} parse"), || format!("{target} `{printed}` {other:02x?}")),
            }
        }
    }
    mismatches.print();
    assert_eq!(mismatches.total(), 0, "see the list above");
}

/// The bytes that our parser and encoder produce from a line, or the error.
fn ours(line: &str, target: Target) -> Result<Vec<u8>, String> {
    let parsed = parse_inst_in(line, target, &mut Signs).map_err(|e| e.to_string())?;
    encode_inst(&parsed.inst, target).map(|code| code.to_vec()).map_err(|e| e.to_string())
}

/// A scope without symbols, in which expressions are numbers with several signs.
struct Signs;

impl Scope for Signs {
    fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)> {
        let digits = expr.trim_start_matches('-');
        let number = match digits.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let is_negative = (expr.len() - digits.len()) % 2 == 1;
        match number {
            Ok(number) if expr.starts_with("--") => {
                Ok(ExprValue::Known(if is_negative { -number } else { number }))
            }
            _ => Err((0, "a symbol has no value here".to_owned())),
        }
    }
}

#[test]
fn broken_instructions_are_refused_where_llvm_refuses_them() {
    if Llvm::find().is_none() {
        return;
    }
    let known = differences::known();
    let drawn = fuzz_count(2_000);
    let mut unexplained = Mismatches::default();
    let mut explained: BTreeMap<&str, usize> = BTreeMap::new();
    for target in targets() {
        let mut generator = Generator::new(target, fuzz_seed(3));
        let (mut refused, mut known_here, mut unknown_here) = (0, 0, 0);
        let mut left = drawn;
        while left > 0 {
            let lines: Vec<String> =
                (0..left.min(BATCH)).map(|_| illegal::text(&mut generator, target)).collect();
            left -= lines.len();
            for (line, theirs) in lines.iter().zip(oracle::assemble(target, &lines)) {
                refused += usize::from(theirs.is_err());
                let Some((side, message)) = difference(line, target, theirs) else { continue };
                if let Some(reason) = differences::reason(&known, side, line, &message) {
                    *explained.entry(reason).or_default() += 1;
                    known_here += 1;
                } else {
                    unknown_here += 1;
                    unexplained.add(side.to_owned(), || format!("{target} {line}      # {message}"));
                }
            }
        }
        let agree = 100.0 * (drawn - known_here - unknown_here) as f64 / drawn as f64;
        println!(
            "{target}: {drawn} broken lines, LLVM refuses {refused}; we agree on {agree:.3}%, {known_here} explained \
             differences, {unknown_here} others"
        );
    }
    for (reason, count) in explained {
        println!("{count:>6} {reason}");
    }
    unexplained.print();
    assert_eq!(unexplained.total(), 0, "see the list above");
}

/// The difference between our result for a line and LLVM's, if any: which side rejects it, and why.
fn difference(line: &str, target: Target, theirs: oracle::Assembled) -> Option<(&'static str, String)> {
    match (ours(line, target), theirs) {
        (Err(_), Err(_)) => None,
        // The line refers to a symbol, which has no value here.
        (_, Ok(bytes)) if bytes.is_empty() => None,
        (Ok(a), Ok(b)) => (a != b).then(|| ("bytes", format!("ours {a:02x?} LLVM's {b:02x?}"))),
        (Ok(_), Err(error)) => Some(("LLVM refuses", error)),
        (Err(error), Ok(_)) => Some(("we refuse", error.lines().next().unwrap_or_default().to_owned())),
    }
}

#[test]
fn joint_rules_as_llvm_has_them() {
    // Each line with the bytes from llvm-mc 22; empty if it rejects the line.
    let lines: [(Target, &str, &[u8]); 8] = [
        (Target::GFX942, "v_writelane_b32 v1, s2, m0", &[0x01, 0x00, 0x8a, 0xd2, 0x02, 0xf8, 0x00, 0x00]),
        (Target::GFX942, "v_writelane_b32 v1, s2, s3", &[]),
        (Target::GFX900, "v_add_f32_e64 v0, s1, s2", &[]),
        (Target::GFX900, "ds_gws_init v1 gds", &[0x00, 0x00, 0x33, 0xd9, 0x01, 0x00, 0x00, 0x00]),
        (Target::GFX90A, "ds_gws_init v1 gds", &[]),
        (Target::GFX90A, "s_set_gpr_idx_on s0, 0x10", &[]),
        (Target::GFX900, "buffer_load_dword v0, off, ttmp[0:3], s0", &[0, 0, 0x50, 0xe0, 0, 0, 0x1b, 0]),
        (Target::GFX900, "buffer_load_dword v0, off, ttmp[2:5], s0", &[]),
    ];
    for (target, line, bytes) in lines {
        let code = ours(line, target).unwrap_or_default();
        assert_eq!(code, bytes, "`{line}` on {target}");
    }
}
