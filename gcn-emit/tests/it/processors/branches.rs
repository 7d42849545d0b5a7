//! Tests branches over 0x3f dwords, which RDNA 1 executes wrongly: the assembler inserts `s_nop 0` after them, as LLVM's does.

use gcn_emit::disasm::{Options, disassemble};
use gcn_emit::encode::encode_program;
use gcn_emit::object::read_code_object;
use gcn_emit::text::parse_program;
use gcn_isa::{Target, WaveSize};
use gcn_test_support::Random;

use super::{assemble, rows};
use crate::llvm::{Llvm, Scratch, text};

const BRANCHES: &[u8] = include_bytes!("../../data/processors/branch-3f.tsv.gz");
const S_NOP: [u8; 4] = [0x00, 0x00, 0x80, 0xbf];

/// The code of a file.
fn code(target: Target, wave: WaveSize, text: &str) -> Result<Vec<u8>, String> {
    let object = assemble(target, wave, text).map_err(|e| e.to_string())?.code_object().unwrap();
    let read = read_code_object(&object).unwrap();
    Ok(read.sections.iter().find(|s| s.is_code()).unwrap().bytes.to_vec())
}

#[test]
fn branches_are_repaired_where_llvm_repairs_them() {
    let (mut repaired, mut plain, mut refused) = (0, 0, 0);
    for row in rows(BRANCHES) {
        let [name, branch, dwords, direction, _, _, note] = &row[..] else { panic!("{row:?}") };
        let Some(target) = Target::KNOWN.into_iter().find(|target| target.name() == name) else { continue };
        let between = "\tv_nop\n".repeat(dwords.parse().unwrap());
        let branch = if branch.contains(' ') { format!("{branch}, L") } else { format!("{branch} L") };
        let text = match direction.as_str() {
            "forward" => format!("\t{branch}\n{between}L:\n\ts_endpgm\n"),
            _ => format!("L:\n{between}\t{branch}\n\ts_endpgm\n"),
        };
        let code = code(target, target.usual_wave(), &text);
        match note.as_str() {
            "padded: True" => {
                let code = code.unwrap();
                assert_eq!((&code[..2], &code[4..8]), (&[0x40, 0][..], &S_NOP[..]), "{row:?}");
                repaired += 1;
            }
            "padded: False" => {
                assert!(!code.unwrap().chunks(4).any(|word| word == S_NOP), "{row:?}");
                plain += 1;
            }
            _ => {
                code.unwrap_err();
                refused += 1;
            }
        }
    }
    assert_eq!((repaired, plain, refused), (35, 391 + 48, 6 + 6));
}

/// Programs in which an inserted `s_nop` makes another one necessary or superfluous, with alignments: the bytes must equal LLVM's.
#[test]
fn repairs_meet_each_other_as_in_llvm() {
    let Some(llvm) = Llvm::find() else { return };
    let dir = Scratch::new("branch-3f");
    let mut rng = Random::new(5);
    let (mut repaired, mut programs) = (0, 0);
    for case in 0..12 {
        let length = 80 + rng.below(140);
        let mut source = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx1010\"\n\t.p2align 8\n".to_owned();
        for line in 0..length {
            let to = line + [30 + rng.below(80), 61 + rng.below(4), 63][rng.below(3)];
            let statement = match rng.below(8) {
                0 => format!("s_branch .L{}", to.min(length - 1)),
                1 => format!("s_cbranch_scc0 .L{}", to.min(length - 1)),
                2 => "s_mov_b32 s0, 0x12345".to_owned(),
                3 if case % 2 == 1 => ".p2align 4".to_owned(),
                _ => "v_nop".to_owned(),
            };
            source += &format!(".L{line}:\n\t{statement}\n");
        }
        let ours = code(Target::GFX1010, WaveSize::W32, &source).unwrap();
        let id = "gfx1010".parse().unwrap();
        let theirs = std::fs::read(text(&llvm.code_object(&dir, "branches", id, &source))).unwrap();
        let theirs = read_code_object(&theirs).unwrap();
        let theirs = theirs.sections.iter().find(|s| s.is_code()).unwrap();
        assert!(ours == theirs.bytes, "case {case}:\n{source}");
        // A compiler's program gets the same repairs.
        if let Ok(program) =
            parse_program(source.split_once(".p2align 8").unwrap().1, Target::GFX1010, "branches")
        {
            assert!(encode_program(&program).unwrap().bytes == ours, "case {case}:\n{source}");
            programs += 1;
        }
        repaired += ours.chunks(4).filter(|word| word == &S_NOP).count();
    }
    assert!(repaired > 20, "{repaired}");
    assert!(programs > 5, "{programs}");
}

/// A branch that no assembler emits for a label: the disassembly keeps the distance as a number, so that it does not change.
#[test]
fn a_bad_branch_is_disassembled_as_it_is() {
    let source = format!("k:\n\t.long 0xbf82003f\n{}\ts_endpgm\n", "\tv_nop\n".repeat(0x40));
    let object = assemble(Target::GFX1010, WaveSize::W32, &source).unwrap().code_object().unwrap();
    let text = disassemble(&read_code_object(&object).unwrap()).to_assembly(&Options::default());
    assert!(text.contains("\ts_branch 63\n"), "{text}");
    assert_eq!(
        code(Target::GFX1010, WaveSize::W32, &text).unwrap(),
        code(Target::GFX1010, WaveSize::W32, &source).unwrap()
    );
}
