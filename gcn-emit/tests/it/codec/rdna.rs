//! Tests RDNA against what was measured with LLVM 22: every vector in both directions, the rules about several operands, and former names.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use gcn_emit::decode::decode_inst;
use gcn_emit::encode::encode_inst;
use gcn_emit::text::{InstText, parse_inst};
use gcn_isa::target::{Family, Subtarget, WaveSize};
use gcn_isa::{Operand, Target, table};

fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
    text
}

/// A processor and a wave size, and whether the assembler was told to name halves of registers (an option on RDNA 4).
fn subtarget(name: &str, lanes: &str) -> (Subtarget, bool) {
    let (name, halves) = name.split_once('+').map_or((name, false), |(name, _)| (name, true));
    let target = Target::KNOWN.into_iter().find(|target| target.name() == name).expect("a known target");
    let wave = WaveSize::of_lanes(lanes.parse().unwrap()).expect("a size of waves");
    (Subtarget::new(target, wave).expect("a size that the target has"), halves)
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect()
}

/// True for texts that we do not accept or print as LLVM 22 does, because of a peculiarity of LLVM:
///
/// - Destinations of `v_readfirstlane_b32` that cannot be written: LLVM prints their codes and accepts them.
/// - A constant of `v_pk_fmac_f16` on RDNA 3 and later stands for both halves: 0xb800 is a literal there.
/// - In some matrix instructions, 1/(2π) is printed with the digits of an f64.
/// - Two spaces are printed after `tensor_stop`, which has no operands.
/// - Constants of conversions from pairs of f16 to fp8 and bf8 are always literals, but are written as if they were inline constants.
fn is_peculiar(text: &str) -> bool {
    let mnemonic = text.split(' ').next().unwrap_or_default();
    match mnemonic {
        "v_readfirstlane_b32" => text.contains(" src_"),
        "v_pk_fmac_f16" => text.contains(", 0xb800,"),
        "tensor_stop" => true,
        "v_cvt_pk_fp8_f16" | "v_cvt_pk_bf8_f16" => {
            let source = text.split(", ").nth(1).unwrap_or_default();
            source
                .trim_start_matches(['-', '|', 'n', 'e', 'g', '('])
                .starts_with(|c: char| c.is_ascii_digit())
        }
        _ => mnemonic.starts_with("v_wmma") && text.contains("0.15915494309189532"),
    }
}

/// The texts and bytes of RDNA 1 to 4, and of CDNA 5.
fn vectors() -> [String; 2] {
    [
        unpacked(include_bytes!("../../data/rdna-encodings.tsv.gz")),
        unpacked(include_bytes!("../../data/rdna-encodings-gfx1250.tsv.gz")),
    ]
}

/// True for a VOPD3 pair with a dot product of bf16. LLVM 22 ignores the banks of its registers, and uses VOPD3 where VOPD would be
/// possible. We decode and print such pairs nevertheless.
fn ignores_banks(text: &str, bytes: &[u8]) -> bool {
    text.contains("v_dual_dot2acc_f32_bf16") && bytes[3] == 0xcf
}

#[test]
fn every_vector_both_ways() {
    let files = vectors();
    let (mut asked, mut peculiar, mut of_bf16) = (0, 0, 0);
    let mut wrong = Vec::new();
    for line in files.iter().flat_map(|text| text.lines().skip(1)) {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[target, asm, hex, lanes] = &cells[..] else { panic!("{line}") };
        let (on, names_halves) = subtarget(target, lanes);
        if is_peculiar(asm) {
            peculiar += 1;
            continue;
        }
        asked += 1;
        let bytes = bytes_of(hex);
        let one_way = ignores_banks(asm, &bytes);
        of_bf16 += usize::from(one_way);
        match parse_inst(asm, on).map_err(|e| e.to_string()) {
            _ if one_way => {}
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
                // Without the option, whole registers are written for their lower halves.
                if length != bytes.len() || printed != asm && !names_halves {
                    wrong.push(format!("{target} {asm}: printed {printed}"));
                }
                let again = parse_inst(&printed, on).map(|inst| encode_inst(&inst, on.target));
                if !one_way
                    && !again.as_ref().is_ok_and(|code| code.as_ref().is_ok_and(|code| code[..] == bytes[..]))
                {
                    wrong.push(format!("{target} {printed}: read back as {again:x?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {asked}:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert_eq!(asked + peculiar, 63_925 + 17_245);
    assert_eq!((peculiar, of_bf16), (21, 86));
}

/// Processors whose instructions are the same as another's, or a subset of them. Compares with LLVM 22's answers for all vectors of the
/// measured processor, given by their numbers among the vectors with the same wave size. A vector that is neither rejected nor listed with
/// other bytes must have the same bytes.
#[test]
fn siblings_take_and_refuse_what_llvm_does() {
    let files = vectors();
    let lines = files.iter().flat_map(|text| text.lines().skip(1));
    let vectors: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
    let answers = unpacked(include_bytes!("../../data/rdna-siblings.tsv.gz"));
    let (mut covered, mut refused) = (BTreeSet::new(), 0);
    for line in answers.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[target, lanes, measured_on, texts, lacks, other_bytes] = &cells[..] else { panic!("{line}") };
        let (on, _) = subtarget(target, lanes);
        let lacks: Vec<(usize, usize)> = lacks
            .split_whitespace()
            .map(|range| range.split_once('-').unwrap_or((range, range)))
            .map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap()))
            .collect();
        let other_bytes: BTreeMap<usize, &str> = other_bytes
            .split_whitespace()
            .map(|other| other.split_once('=').unwrap())
            .map(|(place, hex)| (place.parse().unwrap(), hex))
            .collect();
        let mine: Vec<_> = vectors.iter().filter(|v| v[0] == measured_on && v[3] == lanes).collect();
        assert_eq!(mine.len().to_string(), texts);
        let usual =
            |vector: &[&str]| !is_peculiar(vector[1]) && !ignores_banks(vector[1], &bytes_of(vector[2]));
        for (place, vector) in mine.into_iter().enumerate().filter(|(_, vector)| usual(vector)) {
            let asm = vector[1];
            let ours = parse_inst(asm, on).map_err(|e| e.to_string());
            let ours = ours.and_then(|inst| encode_inst(&inst, on.target).map_err(|e| e.to_string()));
            if lacks.iter().any(|&(from, to)| (from..=to).contains(&place)) {
                assert!(ours.is_err(), "{target}, {lanes} lanes: {asm} is {ours:x?}");
                refused += 1;
            } else {
                let hex = other_bytes.get(&place).copied().unwrap_or(vector[2]);
                let code = ours.unwrap_or_else(|error| panic!("{target}, {lanes} lanes: {asm}: {error}"));
                assert_eq!(code[..], bytes_of(hex)[..], "{target}, {lanes} lanes: {asm}");
            }
        }
        covered.insert(on.target);
    }
    let measured = [
        Target::GFX1010,
        Target::GFX1030,
        Target::GFX1100,
        Target::GFX1151,
        Target::GFX1201,
        Target::GFX1250,
    ];
    covered.extend(measured);
    let rdna = Target::KNOWN.into_iter().filter(|target| target.family() == Family::RDNA);
    assert_eq!(covered, rdna.collect());
    assert!(refused > 4000, "{refused}");
}

/// Rules about several operands: constant bus, literals, alignment, halves, `null`, wave sizes, cache modifiers, the banks of VOPD.
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
                // On RDNA 4, we accept named halves without the option, because the instructions are the same.
                ("refused", Ok(_)) if question.starts_with("true16") && name == "gfx1201" => {
                    more.insert(question);
                }
                (_, other) => panic!("{question}: {asm} on {one} is {answer}, not {other:?}"),
            }
        }
    }
    assert_eq!((asked, more.len()), (1592, 8));
}

/// The names of hardware registers and of messages on each instruction set. A message that has operations is rejected without one.
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
    assert_eq!((numbers, refused), (157 + 51, 263 + 33));
}

/// Names of earlier generations are accepted on RDNA 3 and later. Names that end in `_t16` and the like are internal names of LLVM.
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
    assert_eq!(measured.values().map(BTreeSet::len).collect::<Vec<_>>(), [295, 295, 336]);
    for older in [Target::GFX1010, Target::GFX1030] {
        assert_eq!(table::former_names(older).count(), 0, "{older}");
    }
}

/// An instruction with the control in a row of `dpp-controls.tsv`.
fn dpp_question(control: &str) -> String {
    match control {
        "f64 row_share" => "v_add_f64_dpp v[0:1], v[2:3], v[4:5] row_share:1".to_owned(),
        "b64 mov row_share" => "v_mov_b64_dpp v[0:1], v[2:3] row_share:1".to_owned(),
        "b64 mov row_newbcast" => "v_mov_b64_dpp v[0:1], v[2:3] row_newbcast:1".to_owned(),
        "VOP3 DPP, SGPR src1" => "v_add_f32_e64_dpp v0, v1, s2 quad_perm:[0,1,2,3]".to_owned(),
        "VOP3 DPP, constant src1" => "v_add_f32_e64_dpp v0, v1, 1.0 quad_perm:[0,1,2,3]".to_owned(),
        "DPP on v_cmpx" => "v_cmpx_eq_f32_dpp v0, v1 quad_perm:[0,1,2,3]".to_owned(),
        "fi:1" | "bound_ctrl:1" => format!("v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,3] {control}"),
        control => format!("v_mov_b32_dpp v0, v1 {control}"),
    }
}

/// The DPP controls of each target, and their numbers. The field is in bits 16:8 of the second dword.
#[test]
fn dpp_controls_are_those_that_llvm_takes() {
    let text = unpacked(include_bytes!("../../data/processors/dpp-controls.tsv.gz"));
    let (mut taken, mut refused) = (0, 0);
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let target: Target = cells[0].parse().expect("a target");
        let asm = dpp_question(cells[1]);
        let ours = parse_inst(&asm, target).map_err(|e| e.to_string());
        let ours = ours.and_then(|inst| encode_inst(&inst, target).map_err(|e| e.to_string()));
        match (cells[2], ours) {
            ("yes", Ok(code)) => {
                let field = u32::from_le_bytes(code[4..8].try_into().expect("two dwords")) >> 8 & 0x1ff;
                let number = format!("{field:#x}");
                assert!(cells[3].is_empty() || cells[3] == number, "{target}: {asm}: {number}");
                taken += 1;
            }
            ("no", Err(_)) => refused += 1,
            (_, ours) => panic!("{line}: {asm}: {ours:x?}"),
        }
    }
    assert_eq!((taken, refused), (136 + 21, 165 + 22));
}

/// Instructions that `llc` emits for IDs, scratch, traps, barriers, calls, masks and ends of kernels. Each must be decoded and printed as
/// in LLVM, in waves of both sizes. Instructions with symbols are omitted, because they need a whole file.
#[test]
fn sequences_of_the_calling_convention_are_read_and_printed() {
    let text = unpacked(include_bytes!("../../data/processors/abi-sequences.tsv.gz"));
    let (mut read, mut symbols) = (0, 0);
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let (target, lanes, code) = (cells[0], cells[1], cells[3]);
        if code.starts_with("llc:") {
            continue;
        }
        let (on, _) = subtarget(target, lanes);
        for asm in code.split(" | ").map(str::trim).filter(|asm| !asm.ends_with(':')) {
            if asm.contains('@') || asm.contains(".L") || asm.contains("BB") {
                symbols += 1;
                continue;
            }
            let inst = parse_inst(asm, on).unwrap_or_else(|e| panic!("{target}, {lanes} lanes: {asm}: {e}"));
            // The compiler writes this immediate with a sign; LLVM's disassembler and ours write it without one.
            let unsigned = asm.strip_prefix("s_barrier_wait -").and_then(|n| n.parse::<u16>().ok());
            let unsigned = unsigned.map(|n| format!("s_barrier_wait {:#x}", n.wrapping_neg()));
            let printed = InstText { inst: &inst, target: on.target, program: None }.to_string();
            assert_eq!(printed, unsigned.as_deref().unwrap_or(asm), "{target}, {lanes} lanes");
            let code = encode_inst(&inst, on.target).unwrap_or_else(|e| panic!("{target}: {asm}: {e}"));
            // An offset of 0 in scalar loads is the same as `null`, which LLVM's disassembler and ours print on RDNA 1 to 3.
            let again = decode_inst(&code, on).map(|(inst, _)| encode_inst(&inst, on.target));
            assert_eq!(again, Ok(Ok(code)), "{target}: {asm}");
            read += 1;
        }
    }
    assert_eq!((read, symbols), (1501 + 233, 32 + 3));
}

/// llvm-mc 22 accepts only non-negative offsets relative to a buffer, but signed offsets relative to an address.
#[test]
fn immediate_offsets_of_scalar_memory() {
    let address = [
        ("s_load_dword s20, s[4:5], ", -0x10_0000, 0xf_ffff),
        ("s_load_dword s20, s[4:5], s3 offset:", -0x10_0000, 0xf_ffff),
    ];
    let buffer = [
        ("s_buffer_load_dword s20, s[8:11], ", 0, 0xf_ffff),
        ("s_buffer_load_dword s20, s[8:11], s3 offset:", 0, 0xf_ffff),
        ("s_buffer_load_dwordx16 s[20:35], s[8:11], ", 0, 0xf_ffff),
    ];
    let probes = [("s_atc_probe_buffer 1, s[8:11], ", 0, 0xf_ffff)];
    let stores = [("s_buffer_store_dword s20, s[8:11], ", 0, 0xf_ffff)];
    let rdna4 = [
        ("s_load_b32 s20, s[4:5], ", -0x80_0000, 0x7f_ffff),
        ("s_load_b32 s20, s[4:5], s3 offset:", -0x80_0000, 0x7f_ffff),
        ("s_buffer_load_b32 s20, s[8:11], ", 0, 0x7f_ffff),
        ("s_buffer_load_u8 s20, s[8:11], ", 0, 0x7f_ffff),
        ("s_buffer_load_b32 s20, s[8:11], s3 offset:", 0, 0x7f_ffff),
        ("s_prefetch_data s[4:5], @, s3, 5", -0x80_0000, 0x7f_ffff),
        ("s_prefetch_inst_pc_rel @, s3, 5", -0x80_0000, 0x7f_ffff),
        ("s_buffer_prefetch_data s[8:11], @, s3, 5", 0, 0x7f_ffff),
        ("s_atc_probe_buffer 1, s[8:11], ", 0, 0x7f_ffff),
    ];
    let old = [&address[..], &buffer, &probes].concat();
    let mut asked = 0;
    for (targets, cases) in [
        (&["gfx900", "gfx90a", "gfx942", "gfx1010", "gfx1030", "gfx1100", "gfx1151"][..], &old[..]),
        (&["gfx900", "gfx1010"], &stores),
        (&["gfx1200", "gfx1201"], &rdna4),
    ] {
        for name in targets {
            let target = Target::KNOWN.into_iter().find(|target| target.name() == *name).expect("known");
            for (text, lo, hi) in cases {
                for (offset, taken) in [(lo - 1, false), (*lo, true), (*hi, true), (hi + 1, false)] {
                    let text = match text.contains('@') {
                        true => text.replace('@', &offset.to_string()),
                        false => format!("{text}{offset}"),
                    };
                    asked += 1;
                    let code = parse_inst(&text, target)
                        .map_err(|e| e.to_string())
                        .and_then(|inst| encode_inst(&inst, target).map_err(|e| e.to_string()));
                    assert_eq!(code.is_ok(), taken, "{name} {text}: {code:x?}");
                }
            }
        }
    }
    assert_eq!(asked, 4 * (7 * 6 + 2 + 2 * 9));
    // LLVM's disassembler prints a sign that its assembler rejects. A word for which there is no text is data.
    let word = [0x04, 0x05, 0x28, 0xf4, 0xff, 0xff, 0x1f, 0xf8];
    let target = Target::KNOWN.into_iter().find(|target| target.name() == "gfx1100").expect("known");
    assert!(decode_inst(&word, target).is_err());
}
