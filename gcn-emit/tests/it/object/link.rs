//! Compares the linker with LLVM's: the files must be equal byte for byte.

use std::path::Path;

use gcn_emit::object::{
    CodeObjectVersion, LinkOptions, Module, link, link_with, read_code_object, write_relocatable,
};
use gcn_emit::target_id::{Feature, TargetId};
use gcn_isa::Target;
use gcn_test_support::env::is_set;
use object::LittleEndian as E;
use object::read::elf::{ElfFile64, ProgramHeader as _};

use super::golden::{self, PRODUCER};
use crate::llvm::{Llvm, Scratch, attributes, text};

#[test]
fn every_golden_object_becomes_the_file_of_llvms_linker() {
    for (name, object, linked) in golden::objects() {
        compare(name, &object, &linked, PRODUCER);
    }
}

/// Links an object and compares the result with that of LLVM's linker.
fn compare(name: &str, object: &[u8], linked: &[u8], producer: &str) -> Module {
    let module = Module::from_relocatable(object).unwrap_or_else(|e| panic!("{name}: {e}"));
    let options = LinkOptions { producer: Some(producer) };
    let ours = link_with(&module, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
    let differs = ours.iter().zip(linked).position(|(a, b)| a != b);
    assert!(
        ours == linked,
        "{name}: {} and {} bytes, the first other at {differs:x?}",
        ours.len(),
        linked.len()
    );
    // Without the text that identifies the linker, everything that is loaded is the same.
    let plain = link(&module).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(segments(&plain), segments(linked), "{name}");
    read_code_object(&plain).unwrap_or_else(|e| panic!("{name}: {e}"));
    module
}

/// Program headers with the bytes of loaded segments; the fields of the file header that the loader does not read are cleared.
fn segments(bytes: &[u8]) -> Vec<(u32, u32, u64, u64, Vec<u8>)> {
    let file = ElfFile64::<E>::parse(bytes).expect("an ELF file");
    let mut bytes = bytes.to_vec();
    // e_shoff, and e_shentsize to e_shstrndx.
    bytes[40..48].fill(0);
    bytes[58..64].fill(0);
    let headers = file.elf_program_headers().iter();
    headers
        .map(|h| {
            let start = h.p_offset(E) as usize;
            let content = &bytes[start..start + h.p_filesz(E) as usize];
            (h.p_type(E), h.p_flags(E), h.p_vaddr(E), h.p_memsz(E), content.to_vec())
        })
        .collect()
}

#[test]
fn a_module_survives_writing_and_reading() {
    for (name, object, _) in golden::objects() {
        let module = Module::from_relocatable(&object).unwrap();
        let written = write_relocatable(&module).unwrap();
        let mut again = Module::from_relocatable(&written).unwrap();
        // In a file, local symbols come first.
        let mut module = module;
        for m in [&mut module, &mut again] {
            m.sections.iter_mut().flat_map(|s| &mut s.relocations).for_each(|r| r.base = named(r.base));
        }
        assert_eq!(module.sections, again.sections, "{name}");
        assert_eq!(module.symbols.len(), again.symbols.len(), "{name}");
        assert!(module.symbols.iter().all(|s| again.symbols.contains(s)), "{name}");
    }
}

/// A base with its symbol's name, because symbol numbers depend on the order of the table.
fn named(base: gcn_emit::object::RelocationBase) -> gcn_emit::object::RelocationBase {
    use gcn_emit::object::{RelocationBase, SymbolId};
    match base {
        RelocationBase::Symbol(_) => RelocationBase::Symbol(SymbolId(0)),
        section => section,
    }
}

/// Assembles a file, links it with both linkers, and compares. Also links the object that we write with LLVM's linker.
fn differential(llvm: &Llvm, dir: &Scratch, name: &str, object: &Path, producer: &str) {
    let linked = dir.path(&format!("{name}.so"));
    llvm.run("ld.lld-22", &["-shared", text(object), "-o", text(&linked)]);
    let want = std::fs::read(&linked).unwrap();
    let module = compare(name, &std::fs::read(object).unwrap(), &want, producer);
    let ours = dir.write(&format!("{name}.ours.o"), &write_relocatable(&module).unwrap());
    llvm.run("ld.lld-22", &["-shared", text(&ours), "-o", text(&linked)]);
    assert!(std::fs::read(&linked).unwrap() == want, "{name}: of the object that we write");
}

/// The text with which LLVM's linker identifies itself.
fn producer(llvm: &Llvm, dir: &Scratch) -> String {
    let source = dir.write("empty.s", b"");
    let (object, linked) = (dir.path("empty.o"), dir.path("empty.so"));
    let triple = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-filetype=obj"];
    llvm.run("llvm-mc-22", &[&triple[..], &[text(&source), "-o", text(&object)]].concat());
    llvm.run("ld.lld-22", &["-shared", text(&object), "-o", text(&linked)]);
    let bytes = std::fs::read(&linked).unwrap();
    let comment = read_code_object(&bytes).unwrap().section(".comment").unwrap().bytes;
    String::from_utf8(comment.split(|b| *b == 0).next().unwrap().to_vec()).unwrap()
}

/// Tests every setting of both features, on every target, in every version.
#[test]
fn target_ids_and_versions_are_llvms() {
    let Some(llvm) = Llvm::find() else { return };
    let dir = Scratch::new("target-ids");
    let producer = producer(&llvm, &dir);
    let all = is_set("GCN_FUZZ_COUNT");
    let settings = [Feature::Any, Feature::Off, Feature::On];
    let mut count = 0;
    for (n, target) in Target::REPRESENTATIVES.into_iter().enumerate() {
        let sramecc = if target.supports_sramecc() { &settings[..] } else { &settings[..1] };
        for (i, &xnack) in settings.iter().enumerate() {
            for (j, &sramecc) in sramecc.iter().enumerate() {
                for version in 4..=6 {
                    // By default, each pair of settings is tested in one version.
                    if !all && (n + i + j) % 3 != version as usize - 4 {
                        continue;
                    }
                    let id = TargetId { target, xnack, sramecc };
                    let name = format!("{target}-{xnack:?}-{sramecc:?}-{version}");
                    let object = assemble(&llvm, &dir, &name, id, &kernel_source(id, version));
                    differential(&llvm, &dir, &name, &object, &producer);
                    let bytes = std::fs::read(&object).unwrap();
                    let module = Module::from_relocatable(&bytes).unwrap();
                    assert_eq!(module.target_id, id);
                    assert_eq!(Some(module.version), CodeObjectVersion::from_number(version));
                    count += 1;
                }
            }
        }
    }
    println!("{count} target ids and versions");
}

fn assemble(llvm: &Llvm, dir: &Scratch, name: &str, id: TargetId, source: &str) -> std::path::PathBuf {
    let path = dir.write(&format!("{name}.s"), source.as_bytes());
    let object = dir.path(&format!("{name}.o"));
    let (cpu, features) = (format!("-mcpu={}", id.target), format!("-mattr={}", attributes(id)));
    let args =
        ["-triple=amdgcn-amd-amdhsa", &cpu, &features, "-filetype=obj", text(&path), "-o", text(&object)];
    llvm.run("llvm-mc-22", &args);
    object
}

/// Two kernels, a device function, and data with addresses.
fn kernel_source(id: TargetId, version: u32) -> String {
    let accum = if id.target.has_unified_agprs() { ".amdhsa_accum_offset 8\n" } else { "" };
    let kernel = |name: &str| {
        format!(
            ".amdhsa_kernel {name}\n.amdhsa_next_free_vgpr 9\n.amdhsa_next_free_sgpr 4\n{accum}.end_amdhsa_kernel\n"
        )
    };
    format!(
        ".amdgcn_target \"{}\"\n.amdhsa_code_object_version {version}\n\
         .globl first\n.globl second\n.type first,@function\n.type second,@function\n\
         .p2align 8\nfirst:\n s_getpc_b64 s[0:1]\n s_add_u32 s0, s0, table@gotpcrel32@lo+4\n\
         s_addc_u32 s1, s1, table@gotpcrel32@hi+12\n s_endpgm\n\
         .p2align 8\nsecond:\n s_branch helper\n s_endpgm\n.Lend:\n.size second, .Lend-second\n\
         .section .text.helper,\"ax\",@progbits\n.hidden helper\n.globl helper\nhelper: s_setpc_b64 s[30:31]\n\
         .data\n.globl table\ntable: .quad helper, first, elsewhere\n\
         .rodata\n.p2align 6\n{}{}",
        id.triple(),
        kernel("first"),
        kernel("second")
    )
}

/// Many symbols of every binding and visibility, for hash tables with many buckets, and many strings to be merged.
#[test]
fn large_tables_are_llvms() {
    let Some(llvm) = Llvm::find() else { return };
    let dir = Scratch::new("large-tables");
    let producer = producer(&llvm, &dir);
    for (round, count) in [1u32, 3, 4, 5, 21, 700].into_iter().enumerate() {
        let source = many_symbols(count, round as u32);
        let name = format!("many-{count}");
        let object = assemble(&llvm, &dir, &name, Target::GFX90A.into(), &source);
        differential(&llvm, &dir, &name, &object, &producer);
    }
}

fn many_symbols(count: u32, seed: u32) -> String {
    use std::fmt::Write as _;
    let mut state = 0x9e37_79b9 ^ seed;
    let mut random = |below: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % below
    };
    let mut out = String::from(".text\n");
    for i in 0..count {
        let name = format!("s{i}_{}", "abcdefgh".repeat(random(5) as usize));
        let binding = ["globl", "weak", "local"][random(3) as usize];
        let _ = writeln!(out, ".{binding} {name}");
        match random(4) {
            0 if binding != "local" => _ = writeln!(out, ".hidden {name}"),
            1 if binding != "local" => _ = writeln!(out, ".protected {name}"),
            _ => {}
        }
        let _ = writeln!(out, "{name}: s_nop {}", i % 16);
        if random(2) == 0 {
            let _ = writeln!(out, ".data\n.quad {name}+{}\n.text", random(99));
        }
        let texts = ["x".repeat(random(300) as usize), format!("{}", random(count))];
        for text in texts {
            let _ = writeln!(out, ".section .rodata.str1.1,\"aMS\",@progbits,1\n.asciz \"{text}\"");
        }
        let _ = writeln!(out, ".section .rodata.cst4,\"aM\",@progbits,4\n.long {}\n.text", random(count));
    }
    out
}

/// The hand-written files of the golden set, processed with the tools on this machine, and other files if `GCN_CORPUS` names a directory of
/// assembly files. The target of each is the name of a directory above it or a part of its name.
#[test]
fn assembly_files_are_linked_as_llvm_does() {
    let Some(llvm) = Llvm::find() else { return };
    let dir = Scratch::new("assembly-files");
    let producer = producer(&llvm, &dir);
    for name in ["sections", "symbols", "relocs", "nowhere", "frames"] {
        let source = golden::source(name);
        let object = assemble(&llvm, &dir, name, Target::GFX942.into(), &source);
        differential(&llvm, &dir, name, &object, &producer);
    }
    let Some(corpus) = std::env::var_os("GCN_CORPUS") else { return };
    let mut files = Vec::new();
    golden::find_assembly(Path::new(&corpus), &mut files);
    for (n, path) in files.iter().enumerate() {
        let Some((target, source)) = golden::read_assembly(path) else { continue };
        let object = assemble(&llvm, &dir, &format!("c{n}"), target.into(), &source);
        println!("{}", path.display());
        differential(&llvm, &dir, &format!("c{n}"), &object, &producer);
    }
    println!("{} files of the corpus", files.len());
}
