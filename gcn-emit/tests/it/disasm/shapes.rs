//! Tests objects with contents that compilers rarely produce: data in code, branches into other functions, words that are not instructions,
//! names that need quotes, descriptors with bits for which there are no directives.

use gcn_emit::disasm::{Options, disassemble};
use gcn_emit::object::read_code_object;
use gcn_isa::Target;
use gcn_test_support::Random;

use super::{assemble_again, code, count, descriptors, round_trip};
use crate::decode::{Words, seeds};
use crate::llvm::{Llvm, Scratch, text};

const SOURCE: &str = r#"
	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.amdhsa_code_object_version 5
	.text
	.p2align 8
	.globl first
	.protected first
	.type first,@function
first:
	s_mov_b32 s0, 0x12345678
	s_cbranch_scc0 .Linside
.Lloop:
	v_add_f32_e32 v0, v1, v0
	s_branch .Lloop
	s_branch 32767
	s_endpgm
.Lend:
	.size first, .Lend-first
	.fill 20, 4, 0xbf800000
	.type table,@object
table:
	.long 1, 2, 0x7e000280
	.byte 3
	.size table, 13
	.p2align 2
	.long 0xffffffff, 0xffffffff, 0x12
	.fill 40
	.globl "a kernel"
	.protected "a kernel"
	.type "a kernel",@function
"a kernel":
	s_nop 3
second:
	s_nop 4
.Linside:
	s_nop 5
	s_cbranch_execz first
	s_endpgm
	.section .rodata,"a",@progbits
	.p2align 6
	.type numbers,@object
numbers:
	.quad 0x1122334455667788
	.size numbers, 8
	.p2align 6
	.amdhsa_kernel first
		.amdhsa_next_free_vgpr 30
		.amdhsa_next_free_sgpr 100
		.amdhsa_accum_offset 20
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_system_vgpr_workitem_id 2
		.amdhsa_ieee_mode 0
		.amdhsa_tg_split 1
	.end_amdhsa_kernel
	.amdhsa_kernel "a kernel"
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 1
		.amdhsa_accum_offset 4
	.end_amdhsa_kernel
	.section .data,"aw",@progbits
	.globl counter
	.type counter,@object
counter:
	.long 7
	.size counter, 4
"#;

#[test]
fn everything_comes_back() {
    let object = assemble_again(SOURCE);
    for bytes in [false, true] {
        let text = round_trip("shapes", &object, &Options { kernel: None, bytes, notes: None });
        for line in [
            "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"",
            "\t.amdhsa_code_object_version 5",
            "\t.protected first",
            "\t.size first, 28",
            "\t.globl \"a kernel\"",
            "\t.protected \"a kernel\"",
            "\t.type table,@object",
            "second:",
            "numbers:",
            "\t.amdhsa_kernel first",
            "\t\t.amdhsa_accum_offset 20",
            "\t\t.amdhsa_tg_split 1",
            "counter:",
        ] {
            assert!(text.lines().any(|l| l.trim_end() == line), "{line:?} is missing in\n{text}");
        }
        assert!(text.contains("\t.fill 20, 4, 0xbf800000 ; s_nop 0"), "{text}");
        assert!(text.contains("s_branch 32767 ; to 0x"), "{text}");
        assert!(text.contains("\t.long 0xffffffff ; no encoding format"), "{text}");
    }
    let read = read_code_object(&object).expect("our own object");
    let found = count(&read);
    assert_eq!((found.undecodable, found.unprintable), (13, 0), "{found:?}");
}

#[test]
fn one_kernel_alone() {
    let object = assemble_again(SOURCE);
    let read = read_code_object(&object).expect("our own object");
    let disassembly = disassemble(&read);
    let text = disassembly.to_assembly(&Options { kernel: Some("first"), bytes: false, notes: None });
    let again = assemble_again(&text);
    let again = read_code_object(&again).expect("our own object");
    assert_eq!(descriptors(&again).len(), 1);
    assert_eq!(descriptors(&again)[0], *descriptors(&read).iter().find(|d| d.0 == "first").expect("first"));
    let own = read.kernel("first").expect("first").code;
    assert_eq!(code(&again)[0].1, own, "{text}");
    assert!(!text.contains("second") && !text.contains("counter"), "{text}");
    assert!(!disassembly.has_kernel("none"));
    let none = disassembly.to_assembly(&Options { kernel: Some("none"), bytes: false, notes: None });
    assert!(none.contains("; the object has no kernel \"none\""), "{none}");
}

#[test]
fn bytes_stand_beside_the_instructions() {
    let object = assemble_again(SOURCE);
    let read = read_code_object(&object).expect("our own object");
    let text = disassemble(&read).to_assembly(&Options { kernel: None, bytes: true, notes: None });
    let line = text.lines().find(|l| l.contains("s_mov_b32")).expect("the first instruction");
    let address = read.kernel("first").expect("first").address;
    let end = format!("; {address:012X}: BE8000FF 12345678");
    assert!(line.ends_with(&end), "{line:?} {end:?}");
}

/// Sets every bit of a descriptor in turn. The result is directives, or data with the reason; both must assemble to the same bytes.
#[test]
fn descriptors_with_any_bit() {
    let object = assemble_again(SOURCE);
    let at = {
        let read = read_code_object(&object).expect("our own object");
        let kernel = read.kernel("first").expect("first");
        kernel.descriptor_bytes.as_ptr() as usize - object.as_ptr() as usize
    };
    let mut as_data = 0;
    for bit in (0..512).filter(|bit| !(128..192).contains(bit)) {
        let mut changed = object.clone();
        changed[at + bit / 8] ^= 1 << (bit % 8);
        let text = round_trip(&format!("bit {bit}"), &changed, &Options::default());
        as_data += usize::from(text.contains("first.kd: ; "));
    }
    println!("{as_data} of 448 bits have no directive");
    // According to the guide's tables, directives set 96 bits of sizes, 7 of rsrc3, 21 of rsrc1, 19 of rsrc2, 8 of properties, and 16 of
    // the preload. Some of these conflict with other fields if they are changed alone.
    let without = 448 - (96 + 7 + 21 + 19 + 8 + 16);
    assert!((without..without + 30).contains(&as_data), "{as_data}");
}

/// An assembly file with a kernel whose code is these bytes.
pub(super) fn kernel_of(target: Target, bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut source = format!(
        "\t.amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\n\t.text\n\t.p2align 8\n\t.globl k\n\t.type k,@function\nk:\n"
    );
    for byte in bytes {
        let _ = writeln!(source, "\t.byte {byte}");
    }
    source.push_str("\t.section .rodata,\"a\",@progbits\n\t.amdhsa_kernel k\n\t.amdhsa_next_free_vgpr 8\n\t.amdhsa_next_free_sgpr 8\n");
    if target.has_unified_agprs() {
        source.push_str("\t.amdhsa_accum_offset 4\n");
    }
    source.push_str("\t.end_amdhsa_kernel\n");
    source
}

/// Arbitrary bytes in `.text`: the text must be assembled to the same bytes, by this crate and by LLVM.
#[test]
fn any_bytes_assemble_again() {
    let llvm = Llvm::find();
    let dir = Scratch::new("disasm");
    for target in Target::REPRESENTATIVES {
        let mut words = Words::new(target, 21, seeds(target));
        let mut rng = Random::new(3);
        let mut bytes: Vec<u8> = (0..6000).flat_map(|_| words.next()).collect();
        bytes.truncate(bytes.len() - rng.below(4));
        let object = assemble_again(&kernel_of(target, &bytes));
        let text_of = round_trip(&format!("random bytes on {target}"), &object, &Options::default());
        let read = read_code_object(&object).expect("our own object");
        let found = count(&read);
        println!("{target}: {found:?}");
        assert!(found.instructions > 3000 && found.undecodable > 1000, "{found:?}");
        if let Some(llvm) = &llvm {
            let id = read.target_id;
            let linked = llvm.code_object(&dir, target.name(), id, &text_of);
            let linked = std::fs::read(&linked).unwrap_or_else(|e| panic!("{}: {e}", text(&linked)));
            let theirs = read_code_object(&linked).expect("LLVM's object");
            let (ours, theirs) = (code(&read), code(&theirs));
            let differ = ours[0].1.chunks(4).zip(theirs[0].1.chunks(4)).position(|(a, b)| a != b);
            assert_eq!(ours[0].1.len(), theirs[0].1.len(), "{target}: {differ:?}");
            assert_eq!(differ, None, "{target}");
        }
    }
}

/// Damaged objects: whatever can be read can be disassembled, and the output is proportional to its size.
#[test]
fn damaged_objects_are_disassembled() {
    let object = assemble_again(SOURCE);
    let mut rng = Random::new(11);
    let mut read = 0;
    for _ in 0..20_000 {
        let mut bytes = object.clone();
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(bytes.len());
            bytes[at] = rng.next_u64() as u8;
        }
        let Ok(object) = read_code_object(&bytes) else { continue };
        let text = disassemble(&object).to_assembly(&Options { kernel: None, bytes: true, notes: None });
        assert!(text.len() < 40 * bytes.len() + 10_000, "{} bytes of text for {}", text.len(), bytes.len());
        read += 1;
    }
    println!("{read} damaged objects disassembled");
    assert!(read > 5000, "{read}");
}
