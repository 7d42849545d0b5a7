//! Values that a linker or loader computes: the disassembly names their symbols, and assembled again it asks for the same values.

use gcn_emit::asm;
use gcn_emit::disasm::{Options, disassemble};
use gcn_emit::object::{
    Module, RelocationBase, RelocationKind, SymbolPlace, read_code_object, write_relocatable,
};
use object::elf;

use crate::llvm::{Llvm, Scratch, text};

/// Every kind of relocation, to symbols of this file, of other files, and to a place without a symbol.
const GFX942: &str = r#"
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl k
	.p2align 8
	.type k,@function
k:
	s_getpc_b64 s[0:1]
	s_add_u32 s0, s0, table@rel32@lo+4
	s_addc_u32 s1, s1, table@rel32@hi+12
	s_getpc_b64 s[2:3]
	s_add_u32 s2, s2, other@gotpcrel32@lo+4
	s_addc_u32 s3, s3, other@gotpcrel32@hi+12
	s_mov_b32 s4, table@abs32@lo
	s_mov_b32 s5, table@abs32@hi
	v_add_u32 v1, other@abs32@lo-8, v2
	s_add_u32 s6, s6, other
	s_cbranch_scc0 far
	s_cbranch_scc0 far
	s_add_u32 s6, s6, other@gotpcrel
	s_endpgm
	.section .text.far,"ax",@progbits
	.globl far
far:
	s_endpgm
	.section .data.quiet,"aw",@progbits
	.long 1, 2, 3
.Lquiet:
	.quad 5
	.data
	.p2align 3
table:
	.quad k+8, table, other+4, .Lquiet+4
	.fill 9, 4, 0
	.long other-.
	.long other@abs32@lo, other@rel32@hi, other
	.quad other@rel64
	.byte 1
"#;

/// Literals of 64 bits.
const GFX1250: &str = r#"
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1250"
	.text
	s_get_pc_i64 s[0:1]
	s_add_nc_u64 s[0:1], s[0:1], table@rel64+4
	s_get_pc_i64 s[2:3]
	s_add_nc_u64 s[2:3], s[2:3], other@gotpcrel+4
	s_mov_b64 s[4:5], table@abs64
	s_endpgm
	.data
table:
	.quad other
"#;

/// A relocation: the section and offset of the place, the kind, and what it refers to: a place in a section, or a symbol, with an offset.
type Row = (String, u64, &'static str, String, i64);

fn rows(bytes: &[u8]) -> Vec<Row> {
    let module = Module::from_relocatable(bytes).unwrap();
    let name = |section: u32| module.sections[section as usize].name.clone();
    let mut rows = Vec::new();
    for section in &module.sections {
        for row in &section.relocations {
            let (base, addend) = match row.base {
                RelocationBase::Section(id) => (name(id.0), row.addend),
                RelocationBase::Symbol(id) => {
                    let symbol = &module.symbols[id.0 as usize];
                    match symbol.place {
                        SymbolPlace::Section(id) => (name(id.0), symbol.value as i64 + row.addend),
                        _ => (symbol.name.clone(), row.addend),
                    }
                }
            };
            rows.push((section.name.clone(), row.offset, row.kind.name(), base, addend));
        }
    }
    rows.sort();
    rows
}

fn disassembled(object: &[u8]) -> String {
    disassemble(&read_code_object(object).unwrap()).to_assembly(&Options::default())
}

fn assembled(source: &str) -> Vec<u8> {
    let assembly = asm::assemble("references.s", source, &asm::Options::default());
    write_relocatable(&assembly.unwrap_or_else(|e| panic!("{e}\n{source}")).module).unwrap()
}

#[test]
fn unlinked_objects_ask_the_linker_for_the_same_values() {
    for (target, source, count) in [("gfx942", GFX942, 20), ("gfx1250", GFX1250, 4)] {
        let object = assembled(source);
        let expected = rows(&object);
        assert_eq!(expected.len(), count, "{expected:#?}");
        let again = disassembled(&object);
        assert_eq!(rows(&assembled(&again)), expected, "{again}");
        if let Some(llvm) = Llvm::find() {
            let dir = Scratch::new(&format!("references-{target}"));
            let assembled = |name: &str, source: &str| {
                let (from, to) = (dir.write(&format!("{name}.s"), source.as_bytes()), dir.path(name));
                let triple = "-triple=amdgcn-amd-amdhsa";
                let cpu = format!("-mcpu={target}");
                llvm.run("llvm-mc-22", &[triple, &cpu, "-filetype=obj", "-o", text(&to), text(&from)]);
                std::fs::read(&to).unwrap()
            };
            let theirs = assembled("theirs", source);
            assert_eq!(rows(&theirs), expected);
            let again = disassembled(&theirs);
            assert_eq!(rows(&assembled("again", &again)), expected, "{again}");
        }
    }
}

/// Pointers in data, which the loader completes.
const LINKED: &str = r#"
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl k
	.p2align 8
	.type k,@function
k:
	s_endpgm
	.section .rodata,"a",@progbits
	.long 1, 2, 3
constants:
	.quad 4
	.data
	.globl exported
exported:
	.quad k, constants+4, 0, exported+8, missing+12
	.section .data.quiet,"aw",@progbits
	.quad .Lhere
.Lhere:
	.long 3
	.section .data.use,"aw",@progbits
use:
	.quad .Lhere
"#;

/// The relocations of a linked object: section and offset of the place, kind, section and offset or symbol and addend of the destination.
fn dynamic_rows(bytes: &[u8]) -> Vec<(String, u64, u32, String, u64)> {
    let object = read_code_object(bytes).unwrap();
    let place = |address: u64| {
        let section = object
            .sections
            .iter()
            .filter(|s| s.is_loaded())
            .find(|s| address.checked_sub(s.address).is_some_and(|offset| offset < s.size));
        let section = section.unwrap_or_else(|| panic!("{address:#x} is in no section"));
        (section.name.to_owned(), address - section.address)
    };
    let names = object.section(".dynstr").unwrap().bytes;
    let symbols = object.section(".dynsym").unwrap().bytes;
    let rows =
        object.sections.iter().filter(|s| s.kind == elf::SHT_RELA).flat_map(|s| s.bytes.chunks_exact(24));
    let mut rows: Vec<_> = rows
        .map(|row| {
            let word = |at: usize| u64::from_le_bytes(*row[at..].first_chunk().unwrap());
            let (section, offset) = place(word(0));
            let (kind, symbol, addend) = (word(8) as u32, (word(8) >> 32) as usize, word(16));
            let symbol = &symbols[24 * symbol..];
            let value = u64::from_le_bytes(*symbol[8..].first_chunk().unwrap());
            let (base, number) = if kind == RelocationKind::RELATIVE64 || value != 0 {
                place(value + addend)
            } else {
                let name = &names[u32::from_le_bytes(*symbol.first_chunk().unwrap()) as usize..];
                let name = name.split(|byte| *byte == 0).next().unwrap();
                (String::from_utf8(name.to_vec()).unwrap(), addend)
            };
            (section, offset, kind, base, number)
        })
        .collect();
    rows.sort();
    rows
}

#[test]
fn linked_objects_ask_the_loader_for_the_same_values() {
    let linked = |source: &str| {
        let assembly = asm::assemble("references.s", source, &asm::Options::default());
        assembly.unwrap_or_else(|e| panic!("{e}\n{source}")).code_object().unwrap()
    };
    let object = linked(LINKED);
    let expected = dynamic_rows(&object);
    assert!(expected.len() >= 6, "{expected:#?}");
    let again = disassembled(&object);
    assert_eq!(dynamic_rows(&linked(&again)), expected, "{again}");
    assert!(again.contains("\t.quad missing+12\n"), "{again}");
    if let Some(llvm) = Llvm::find() {
        let dir = Scratch::new("references-linked");
        let linked =
            |name: &str, source: &str| llvm.code_object(&dir, name, "gfx942".parse().unwrap(), source);
        let theirs = std::fs::read(linked("theirs", LINKED)).unwrap();
        let again = disassembled(&theirs);
        let again_by_llvm = std::fs::read(linked("again", &again)).unwrap();
        assert_eq!(dynamic_rows(&again_by_llvm), dynamic_rows(&theirs), "{again}");
    }
}
