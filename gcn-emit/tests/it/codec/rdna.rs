//! RDNA against what was measured with LLVM 22: every vector both ways, the rules that join operands, former names.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use gcn_emit::decode::decode_inst;
use gcn_emit::encode::encode_inst;
use gcn_emit::text::{InstText, parse_inst};
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_isa::{Operand, Target, table};

fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
    text
}

/// A processor and a size of waves, and whether the assembler was asked to name halves of registers (an option on RDNA 4).
fn subtarget(name: &str, lanes: &str) -> (Subtarget, bool) {
    let (name, halves) = name.split_once('+').map_or((name, false), |(name, _)| (name, true));
    let target = Target::KNOWN.into_iter().find(|target| target.name() == name).expect("a known target");
    let wave = WaveSize::of_lanes(lanes.parse().unwrap()).expect("a size of waves");
    (Subtarget::new(target, wave).expect("a size that the target has"), halves)
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
}

/// Texts that are not taken or not printed as LLVM 22 does, each of which is a peculiarity of LLVM's.
///
/// - Destinations of `v_readfirstlane_b32` that cannot be written: LLVM prints their codes and reads them back.
/// - A constant of `v_pk_fmac_f16` on RDNA 3 and later stands for both halves: 0xb800 is a literal there.
/// - 1/(2π) of some matrix instructions is printed with the digits of an f64.
fn is_peculiar(text: &str) -> bool {
    let mnemonic = text.split(' ').next().unwrap_or_default();
    match mnemonic {
        "v_readfirstlane_b32" => text.contains(" src_"),
        "v_pk_fmac_f16" => text.contains(", 0xb800,"),
        _ => mnemonic.starts_with("v_wmma") && text.contains("0.15915494309189532"),
    }
}

#[test]
fn every_vector_both_ways() {
    let text = unpacked(include_bytes!("../../data/rdna-encodings.tsv.gz"));
    let (mut asked, mut peculiar) = (0, 0);
    let mut wrong = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[target, asm, hex, lanes] = &cells[..] else { panic!("{line}") };
        let (on, names_halves) = subtarget(target, lanes);
        if is_peculiar(asm) {
            peculiar += 1;
            continue;
        }
        asked += 1;
        let bytes = bytes_of(hex);
        match parse_inst(asm, on).map_err(|e| e.to_string()) {
            Err(error) => wrong.push(format!("{target} {asm}: {error}")),
            Ok(inst) => match encode_inst(&inst, on.target) {
                Ok(ours) if ours[..] == bytes[..] => {}
                other => wrong.push(format!("{target} {asm}: {hex}, not {other:x?}")),
            },
        }
        match decode_inst(&bytes, on) {
            Err(error) => wrong.push(format!("{target} {asm}: {error}")),
            Ok((inst, length)) => {
                let printed = InstText { inst: &inst, target: on.target, program: None }.to_string();
                // Without the option registers are written whole where their lower halves are meant.
                if length != bytes.len() || printed != asm && !names_halves {
                    wrong.push(format!("{target} {asm}: printed {printed}"));
                }
                let again = parse_inst(&printed, on).map(|inst| encode_inst(&inst, on.target));
                if !again.as_ref().is_ok_and(|code| code.as_ref().is_ok_and(|code| code[..] == bytes[..])) {
                    wrong.push(format!("{target} {printed}: read back as {again:x?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {asked}:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert_eq!(asked + peculiar, 63_925);
    assert!(peculiar < 15, "{peculiar}");
}

/// What joins operands: constant bus, literals, alignment, halves, `null`, sizes of waves, cache modifiers, the banks of VOPD.
#[test]
fn every_rule_that_joins_operands() {
    let text = unpacked(include_bytes!("../../data/rdna-rules.tsv.gz"));
    let (mut asked, mut more) = (0, BTreeSet::new());
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[question, asm, answer, _, hex, targets] = &cells[..] else { panic!("{line}") };
        for one in targets.split(' ').filter(|one| !one.starts_with("gfx125")) {
            let (name, lanes) = one.split_once('/').unwrap();
            let (on, _) = subtarget(name, lanes);
            let ours = parse_inst(asm, on).map_err(|e| e.to_string());
            let ours = ours.and_then(|inst| encode_inst(&inst, on.target).map_err(|e| e.to_string()));
            asked += 1;
            match (answer, ours) {
                ("accepted", Ok(code)) => {
                    assert_eq!(code[..], bytes_of(hex)[..], "{question}: {asm} on {one}");
                }
                ("refused", Err(_)) => {}
                // Halves may be named on RDNA 4 without an option: its instructions are the same.
                ("refused", Ok(_)) if question.starts_with("true16") && name == "gfx1201" => {
                    more.insert(question);
                }
                (_, other) => panic!("{question}: {asm} on {one} is {answer}, not {other:?}"),
            }
        }
    }
    assert_eq!((asked, more.len()), (1592, 8));
}

/// The names of hardware registers and of messages on each instruction set. A message with operations is refused without one.
#[test]
fn registers_and_messages_have_the_numbers_that_llvm_gives() {
    let text = unpacked(include_bytes!("../../data/processors/hwreg-sendmsg.tsv.gz"));
    let (mut numbers, mut refused) = (0, 0);
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let (on, _) = subtarget(cells[0], "32");
        let (kind, name, number) = (cells[1], cells[2], cells[3]);
        let asm = match kind {
            "hwreg" => format!("s_getreg_b32 s0, hwreg({name})"),
            "sendmsg" => format!("s_sendmsg sendmsg({name})"),
            _ => format!("s_sendmsg_rtn_b32 s0, sendmsg({name})"),
        };
        match parse_inst(&asm, on) {
            Err(_) if number.is_empty() => refused += 1,
            Ok(inst) if !number.is_empty() => {
                let Some(&Operand::Imm(value)) = inst.operands.last() else { panic!("{asm}") };
                let id = if kind == "hwreg" { value & 0x3f } else { value };
                assert_eq!(id.to_string(), number, "{asm} on {}", cells[0]);
                numbers += 1;
            }
            other => panic!("{asm} on {}: {number:?}, not {other:?}", cells[0]),
        }
    }
    assert_eq!((numbers, refused), (157, 263));
}

/// Names of earlier generations are taken on RDNA 3 and later. Those that end in `_t16` and the like are LLVM's names of its own.
#[test]
fn former_names_are_those_that_llvm_takes() {
    let text = unpacked(include_bytes!("../../data/rdna-aliases.tsv.gz"));
    let own = |name: &str| ["_t16", "_fake16", "_op_sel"].iter().any(|end| name.ends_with(end));
    let mut measured: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        for target in cells[2].split(',').filter(|target| !target.contains('+') && !own(cells[0])) {
            measured.entry(target).or_default().insert((cells[0], cells[1]));
        }
    }
    for (name, measured) in &measured {
        let (on, _) = subtarget(name, "32");
        let aliases = gcn_isa::reference::aliases().filter(|alias| alias.2.contains(on.target));
        let ours: BTreeSet<(&str, &str)> =
            table::former_names(on).chain(aliases.map(|alias| (alias.0, alias.1))).collect();
        assert_eq!(&ours, measured, "{name}");
    }
    assert_eq!(measured.values().map(BTreeSet::len).collect::<Vec<_>>(), [295, 295, 334]);
    for older in [Target::GFX1010, Target::GFX1030] {
        assert_eq!(table::former_names(older).count(), 0, "{older}");
    }
}
