//! Tests units: programs made from assembled files and from objects.

use std::collections::BTreeSet;
use std::io::Read as _;

use gcn_emit::asm::{Assembly, Options, assemble};
use gcn_emit::code::{Code, Unit, Unreadable};
use gcn_emit::object::{read_code_object, write_relocatable};
use gcn_isa::program::EntryKind;
use gcn_isa::{Operand, Program};
use gcn_test_support::env::fuzz_step;

use crate::asm::corpus;

pub fn assembled(source: &str) -> Assembly {
    let options =
        Options { target: Some("gfx942".parse().unwrap()), keep_instructions: true, ..Options::default() };
    assemble("t.s", source, &options).unwrap_or_else(|errors| panic!("{errors}"))
}

pub fn unit(source: &str) -> Unit {
    Unit::of_assembly(&assembled(source)).expect("kept")
}

/// The mnemonics of a program.
fn names(program: &Program) -> Vec<&'static str> {
    program.lines.iter().map(|l| l.inst.desc.mnemonic).collect()
}

/// Each branch with the line to which it leads.
fn branches(program: &Program) -> Vec<(usize, Option<usize>)> {
    let lines = program.lines.iter().enumerate();
    let branches = lines.filter_map(|(line, l)| Some((line, l.inst.operands[l.inst.desc.branch_operand()?])));
    let to = |operand| match operand {
        Operand::Label(label) => program.labels[label.0 as usize].at,
        _ => None,
    };
    branches.map(|(line, operand)| (line, to(operand))).collect()
}

/// The names, ranges and kinds of functions.
fn functions(code: &Code) -> Vec<(&str, std::ops::Range<usize>, EntryKind)> {
    code.functions.iter().map(|f| (f.name.as_str(), f.lines.clone(), f.kind)).collect()
}

/// Two functions and a kernel, padding between them, data, a loop, and a table.
const SHAPES: &str = r#"
	.text
	.p2align 8
	.type helper,@function
helper:
	s_waitcnt 0
.Lagain:
	s_sub_u32 s4, s4, 1
	s_cmp_lg_u32 s4, 0
	s_cbranch_scc1 .Lagain
	s_setpc_b64 s[30:31]
	.size helper, .-helper
	.p2align 8
	.globl k
	.type k,@function
k:
	s_mov_b32 s4, 3
	s_cbranch_scc0 .Ldone
	.p2align 5
	s_nop 2
.Ldone:
	s_endpgm
	.size k, .-k
	.fill 3, 4, 0xbf9f0000
	.section .rodata,"a"
	.p2align 6
	.amdhsa_kernel k
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 8
		.amdhsa_accum_offset 4
	.end_amdhsa_kernel
"#;

#[test]
fn functions_branches_and_filling() {
    let unit = unit(SHAPES);
    let [code] = unit.sections.as_slice() else { panic!("{:?}", unit.sections) };
    // The padding inside `k` is executed; the padding between functions is omitted.
    let body = ["s_waitcnt", "s_sub_u32", "s_cmp_lg_u32", "s_cbranch_scc1", "s_setpc_b64"];
    assert_eq!(names(&code.program)[..5], body);
    assert_eq!(names(&code.program)[5..7], ["s_mov_b32", "s_cbranch_scc0"]);
    // 8 bytes of `k` and 24 bytes of padding, then `s_nop 2` and the end.
    assert_eq!(
        names(&code.program)[7..],
        ["s_nop", "s_nop", "s_nop", "s_nop", "s_nop", "s_nop", "s_nop", "s_endpgm"]
    );
    assert_eq!(code.places[5].offset, 256);
    assert_eq!(code.places[7].line, None);
    let line = SHAPES.lines().position(|l| l.contains("s_nop 2")).map(|l| l as u32 + 1);
    assert_eq!(code.places[13].line, line);
    assert_eq!(branches(&code.program), [(3, Some(1)), (6, Some(14))]);
    assert_eq!(code.program.labels[0].name, ".Lagain");
    assert_eq!(code.program.labels[1].name, ".Ldone");
    let (helper, kernel) = (EntryKind::Function, EntryKind::Kernel);
    assert_eq!(functions(code), [("helper", 0..5, helper), ("k", 5..15, kernel)]);
    let entries: Vec<_> = code.program.entries.iter().map(|e| (e.at, e.kind)).collect();
    assert_eq!(entries, [(0, helper), (5, kernel)]);
    assert!(code.unread.is_empty() && code.program.gaps.is_empty());
    assert_eq!(unit.kernels[0].entry, Some((0, 5)));
}

#[test]
fn data_in_the_path_of_control_is_code_and_elsewhere_is_not() {
    let unit = unit(
        "s_mov_b32 s0, 0\n.long 0xbf800003\ns_branch .Lend\n.long 0x12345678, 0xffffffff\n.Lend: s_endpgm\n.byte 1, 2, 3\n",
    );
    let code = &unit.sections[0];
    assert_eq!(names(&code.program), ["s_mov_b32", "s_nop", "s_branch", "s_endpgm"]);
    assert_eq!(code.places[1].line, None);
    assert_eq!(branches(&code.program), [(2, Some(3))]);
    let unread: Vec<_> = code.unread.iter().map(|u| (u.offset, u.length, &u.why)).collect();
    assert_eq!(unread, [(12, 8, &Unreadable::Data), (24, 3, &Unreadable::Data)]);
    assert_eq!(code.program.gaps, [3]);
    assert!(code.program.entries.is_empty());
    assert_eq!(functions(code), [(".text", 0..4, EntryKind::Kernel)]);
}

#[test]
fn undecodable_words_in_the_path_are_a_gap() {
    let unit = unit("s_mov_b32 s0, 0\n.long 0xffffffff\ns_endpgm\n");
    let code = &unit.sections[0];
    assert_eq!((names(&code.program).len(), &code.program.gaps), (2, &vec![1]));
    let object = assembled("s_mov_b32 s0, 0\n.long 0xffffffff\ns_endpgm\n").code_object().expect("links");
    let object = read_code_object(&object).expect("an object");
    let code = &Unit::of_object(&object).expect("a unit").sections[0];
    assert_eq!((names(&code.program).len(), &code.program.gaps), (2, &vec![1]));
    assert!(matches!(code.unread[0].why, Unreadable::Undecodable(_)), "{:?}", code.unread);
}

#[test]
fn branches_out_of_the_section_and_into_instructions_are_unknown() {
    let unit = unit(
        ".globl away\ns_cbranch_scc0 away\ns_cbranch_scc1 1\ns_load_dword s0, s[2:3], 0x10\ns_endpgm\n\
         .section .text.other,\"ax\"\naway:\ns_cbranch_scc0 far\nfar: s_endpgm\n",
    );
    assert_eq!(branches(&unit.sections[0].program), [(0, None), (1, None)]);
    assert_eq!(branches(&unit.sections[1].program), [(0, Some(1))]);
    assert_eq!(unit.sections[1].section, ".text.other");
}

#[test]
fn instructions_that_were_not_kept_are_an_error() {
    let options = Options { target: Some("gfx942".parse().unwrap()), ..Options::default() };
    let assembly = assemble("t.s", "s_endpgm\n", &options).expect("right");
    assert!(Unit::of_assembly(&assembly).unwrap_err().to_string().contains("keep_instructions"));
}

#[test]
fn words_are_code_in_a_file_without_instructions() {
    // The bytes of `s_waitcnt vmcnt(0)` and `s_endpgm` according to llvm-mc 22, then four times those of `s_nop 0`.
    let text = |unit: &Unit| -> Vec<&str> {
        unit.sections[0].program.lines.iter().map(|line| line.inst.desc.mnemonic).collect()
    };
    assert_eq!(text(&unit("k:\n.long 0xbf8c0f70\n.long 0xbf810000\n")), ["s_waitcnt", "s_endpgm"]);
    assert_eq!(text(&unit(".fill 4, 4, 0xbf800000\n")), ["s_nop"; 4]);
}

#[test]
fn locations_of_the_source_are_kept() {
    let unit = unit(".file 1 \"dir\" \"a.c\"\n.loc 1 7 3\ns_nop 0\n.loc 1 9\ns_endpgm\n");
    let locations: Vec<_> = unit.sections[0].places.iter().filter_map(|p| p.location).collect();
    assert_eq!((locations[0].line, locations[0].column, locations[1].line), (7, 3, 9));
    assert_eq!(unit.files[0].name, "a.c");
}

/// Checks the properties that two views of the same code must share.
fn same(name: &str, ours: &Code, theirs: &Code) {
    let places = |code: &Code| code.places.iter().map(|p| (p.offset, p.length)).collect::<Vec<_>>();
    assert!(places(ours) == places(theirs), "{name}");
    assert_eq!(names(&ours.program), names(&theirs.program), "{name}");
    assert_eq!(branches(&ours.program), branches(&theirs.program), "{name}");
    assert_eq!(functions(ours), functions(theirs), "{name}");
    assert_eq!(ours.program.entries, theirs.program.entries, "{name}");
    assert_eq!(ours.unread, theirs.unread, "{name}");
}

#[test]
fn a_file_and_its_objects_are_the_same_program() {
    let step = fuzz_step(12);
    let (mut instructions, mut kernels, mut functions) = (0, 0, 0);
    for file in corpus::files().iter().step_by(step) {
        let options = Options { keep_instructions: true, ..Options::default() };
        let assembly = assemble(&file.path, &file.text, &options).unwrap_or_else(|e| panic!("{e}"));
        let unit = Unit::of_assembly(&assembly).expect("kept");
        let relocatable = write_relocatable(&assembly.module).expect("an object file");
        let linked = assembly.code_object().expect("a code object");
        for (kind, bytes) in [("relocatable", &relocatable), ("linked", &linked)] {
            let object = read_code_object(bytes).expect("our own object");
            let read = Unit::of_object(&object).expect("a unit");
            let name = format!("{} ({kind})", file.path);
            // A linker combines sections with related names.
            if unit.sections.len() == 1 {
                assert_eq!(read.sections.len(), 1, "{name}");
                same(&name, &unit.sections[0], &read.sections[0]);
            } else {
                assert_eq!(unit.instructions(), read.instructions(), "{name}");
            }
            let kernels =
                |u: &Unit| u.kernels.iter().map(|k| (k.name.clone(), k.entry)).collect::<BTreeSet<_>>();
            if unit.sections.len() == 1 {
                assert_eq!(kernels(&unit), kernels(&read), "{name}");
            }
            assert!(read.kernels.iter().all(|k| k.metadata.is_some()), "{name}");
        }
        assert!(unit.kernels.iter().all(|k| k.entry.is_some() && k.metadata.is_some()), "{}", file.path);
        for code in &unit.sections {
            assert!(code.unread.is_empty(), "{}: {:?}", file.path, code.unread);
            let covered: usize = code.functions.iter().map(|f| f.lines.len()).sum();
            assert_eq!(covered, code.program.lines.len(), "{}", file.path);
        }
        instructions += unit.instructions();
        kernels += unit.kernels.len();
        functions += unit.sections.iter().map(|s| s.functions.len()).sum::<usize>();
    }
    println!("{instructions} instructions, {kernels} kernels, {functions} functions");
    assert!(instructions * step > 100_000, "{instructions}");
}

/// A branch to a global symbol in an object file from llvm-mc, as `llvm-objdump -dr` shows it.
#[test]
fn branches_that_a_linker_fills_in_are_known_before() {
    let packed: &[u8] = include_bytes!("../data/link/relocs.o.gz");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("gzip");
    let object = read_code_object(&bytes).expect("an object");
    let unit = Unit::of_object(&object).expect("a unit");
    let code = &unit.sections[0];
    // Both branches lead to `.text.s`.
    assert_eq!(branches(&code.program)[..2], [(17, None), (18, None)]);
    assert_eq!(unit.sections[1].section, ".text.s");
    assert_eq!(branches(&unit.sections[1].program), [(1, None)]);
}

/// Objects without section headers or without symbols.
#[test]
fn stripped_objects_keep_their_kernels() {
    let linked = assembled(SHAPES).code_object().expect("links");
    let whole = Unit::of_object(&read_code_object(&linked).expect("an object")).expect("a unit");
    let mut bytes = linked.clone();
    // e_shoff, e_shnum and e_shstrndx.
    bytes[40..48].fill(0);
    bytes[60..64].fill(0);
    let object = read_code_object(&bytes).expect("a stripped object");
    let unit = Unit::of_object(&object).expect("a unit");
    let [code] = unit.sections.as_slice() else { panic!("{:?}", unit.sections.len()) };
    let kernels: Vec<_> = unit.kernels.iter().map(|k| k.name.as_str()).collect();
    assert_eq!(kernels, ["k"]);
    // The local function no longer has a symbol.
    let kinds: Vec<_> = code.functions.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [EntryKind::Function, EntryKind::Kernel], "{:?}", code.functions);
    assert_eq!(names(&code.program), names(&whole.sections[0].program));
}
