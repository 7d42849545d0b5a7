//! Tests programs: labels, branches, comments, size.

use gcn_emit::decode::decode_program;
use gcn_emit::encode::{EncodeFault, encode_program};
use gcn_emit::text::{Comments, parse_program, print_program};
use gcn_isa::{Inst, Operand, Program, Target, table};

const LOOP: &str = "\
entry:
\ts_mov_b32 s0, 0x12345 ; a literal: eight bytes
\ts_cbranch_scc1 .Lend   // forward
.Lloop: s_sub_u32 s0, s0, 1
\t/* two
\t   lines */ s_cmp_lg_u32 s0, 0
\ts_cbranch_scc1 .Lloop
.Lend:
\ts_endpgm
";

#[test]
fn labels_become_distances_and_come_back() {
    let program = parse_program(LOOP, Target::GFX942, "loop").unwrap();
    let encoded = encode_program(&program).unwrap();
    assert_eq!(encoded.offsets, [0, 8, 12, 16, 20, 24, 28]);
    // The branch words are those of LLVM 22 for this text.
    assert_eq!(encoded.bytes[8..12], [0x03, 0x00, 0x85, 0xbf]);
    assert_eq!(encoded.bytes[20..24], [0xfd, 0xff, 0x85, 0xbf]);
    let decoded = decode_program(&encoded.bytes, Target::GFX942, "loop").unwrap();
    assert_eq!(
        print_program(&decoded, Comments::None),
        "\ts_mov_b32 s0, 0x12345\n\ts_cbranch_scc1 .L1\n.L0:\n\ts_sub_u32 s0, s0, 1\n\ts_cmp_lg_u32 s0, 0\n\
         \ts_cbranch_scc1 .L0\n.L1:\n\ts_endpgm\n"
    );
    assert_eq!(encode_program(&decoded).unwrap(), encoded);
    let printed = print_program(&program, Comments::None);
    let parsed = parse_program(&printed, Target::GFX942, "loop").unwrap();
    assert_eq!(print_program(&parsed, Comments::None), printed);
}

#[test]
fn a_branch_reaches_so_far_and_no_farther() {
    let nop = table::find(Target::GFX90A, "s_nop").next().unwrap();
    let branch = table::find(Target::GFX90A, "s_branch").next().unwrap();
    for (gap, reaches) in [(32767, true), (32768, false)] {
        let mut program = Program::new(Target::GFX90A, "far");
        let end = program.new_label("end");
        program.push(Inst::new(branch, [Operand::Label(end)]));
        for _ in 0..gap {
            program.push(Inst::new(nop, [Operand::Imm(0)]));
        }
        program.place(end);
        let result = encode_program(&program);
        assert_eq!(result.is_ok(), reaches);
        if let Err(error) = result {
            assert_eq!(error.line, Some(0));
            assert_eq!(error.fault, EncodeFault::BranchTooFar { label: "end".to_owned(), distance: 32768 });
            let text = "instruction 0: `s_branch` on gfx90a: `end` is 32768 dwords away; a branch reaches -32768..=32767: \
                        branch to an `s_branch end` within that reach";
            assert_eq!(error.to_string(), text);
        }
    }
}

#[test]
fn an_unplaced_label_is_an_error() {
    let mut program = Program::new(Target::GFX90A, "lost");
    let nowhere = program.new_label("nowhere");
    let branch = table::find(Target::GFX90A, "s_branch").next().unwrap();
    program.push(Inst::new(branch, [Operand::Label(nowhere)]));
    let error = encode_program(&program).unwrap_err();
    assert_eq!(error.fault, EncodeFault::UnplacedLabel { label: "nowhere".to_owned() });
}

#[test]
fn a_branch_out_of_the_code_does_not_decode() {
    // `s_branch 1` as the only instruction.
    let error = decode_program(&[0x01, 0x00, 0x82, 0xbf], Target::GFX942, "wild").unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 0x0, dword bf820001 on gfx942: `s_branch` leads to byte 0x8, where no instruction of this code begins"
    );
    // A branch to the literal of the next instruction.
    let code = [0x01, 0x00, 0x82, 0xbf, 0xff, 0x00, 0x80, 0xbe, 0x00, 0x00, 0x00, 0x00];
    assert!(decode_program(&code, Target::GFX942, "wild").is_err());
    // The end of the program is a valid target.
    assert!(decode_program(&[0x00, 0x00, 0x82, 0xbf], Target::GFX942, "end").is_ok());
}

#[test]
fn decode_errors_name_the_byte() {
    let error = decode_program(&[0, 0, 0x80, 0xbf, 0, 0, 0, 0xc4], Target::GFX942, "export").unwrap_err();
    assert_eq!((error.offset, error.word), (4, 0xc400_0000));
}

#[test]
fn notes_stand_in_one_column() {
    let mut program =
        parse_program("s_nop 0\ns_waitcnt vmcnt(0)\ns_endpgm\n", Target::GFX90A, "notes").unwrap();
    program.lines[0].note = Some("first".into());
    program.lines[1].note = Some("second".into());
    let explained = print_program(&program, Comments::Explain);
    let columns: Vec<usize> = explained.lines().filter_map(|l| l.find(';')).collect();
    assert_eq!((columns.len(), columns[0]), (2, columns[1]));
    assert_eq!(print_program(&program, Comments::None), "\ts_nop 0\n\ts_waitcnt vmcnt(0)\n\ts_endpgm\n");
}

/// Checks that the time is linear: with a million instructions, of which every fourth is a branch, the test would otherwise not end.
#[test]
fn a_million_instructions() {
    let mut program = Program::new(Target::GFX942, "long");
    let nop = table::find(Target::GFX942, "s_nop").next().unwrap();
    let branch = table::find(Target::GFX942, "s_branch").next().unwrap();
    for i in 0..1_000_000u32 {
        let inst = if i % 4 == 0 {
            let next = program.new_label(format!(".L{}", i / 4));
            program.labels[next.0 as usize].at = Some(i as usize + 1);
            Inst::new(branch, [Operand::Label(next)])
        } else {
            Inst::new(nop, [Operand::Imm(0)])
        };
        program.push(inst);
    }
    let encoded = encode_program(&program).unwrap();
    assert_eq!(encoded.bytes.len(), 4_000_000);
    let decoded = decode_program(&encoded.bytes, Target::GFX942, "long").unwrap();
    assert_eq!(decoded.lines, program.lines);
    assert_eq!(decoded.labels, program.labels);
}
