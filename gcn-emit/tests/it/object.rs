//! Tests code objects: against LLVM's assembler, linker and readers, and with damaged files.

mod container;
mod damage;
mod descriptor;
mod faults;
mod golden;
mod kernels;
mod link;
mod occupancy;
mod read;
mod rules;
mod source_lines;

use std::path::{Path, PathBuf};

use gcn_emit::asm_file::assembly_file;
use gcn_emit::encode::encode_program;
use gcn_emit::kernel::KernelSpec;
use gcn_emit::metadata::{Metadata, Node, ValueKind};
use gcn_emit::object::{
    CodeObjectVersion, LinkOptions, Module, Written, link_with, read_code_object, write_code_object,
    write_with_code,
};
use gcn_emit::text::Comments;
use gcn_isa::Target;

use crate::llvm::{Llvm, Scratch, text};

/// One object from our writer and one from LLVM's tools, of the same kernels.
struct Pair<'a> {
    llvm: &'a Llvm,
    kernels: &'a [KernelSpec],
    ours: PathBuf,
    theirs: PathBuf,
}

/// Calls `check` for each group of test kernels on each target.
fn for_each_pair(test: &str, groups: fn(Target) -> Vec<Vec<KernelSpec>>, f: impl Fn(&Pair<'_>)) {
    let Some(llvm) = Llvm::find() else { return };
    let dir = Scratch::new(test);
    let mut count = 0;
    for target in Target::REPRESENTATIVES {
        for (i, kernels) in groups(target).iter().enumerate() {
            let name = format!("{target}-{i}");
            let assembly = assembly_file(kernels, Comments::None);
            let theirs = llvm.code_object(&dir, &name, kernels[0].target_id(), &assembly);
            let bytes = write_code_object(kernels).unwrap_or_else(|e| panic!("{name}: {e}"));
            let ours = dir.write(&format!("{name}.hsaco"), &bytes);
            println!("{name}");
            f(&Pair { llvm: &llvm, kernels, ours, theirs });
            count += 1;
        }
    }
    println!("{test}: {count} code objects");
}

#[test]
fn llvm_makes_the_same_code_and_descriptors_of_our_assembly() {
    let groups = |target| [kernels::shapes(target), kernels::counts(target)].concat();
    for_each_pair("same_bytes", groups, |pair| {
        let (ours, theirs) = (std::fs::read(&pair.ours).unwrap(), std::fs::read(&pair.theirs).unwrap());
        // Compares the whole file, except for the text with which LLVM's linker identifies itself.
        let comment = read_code_object(&theirs).unwrap().section(".comment").unwrap().bytes;
        let producer = std::str::from_utf8(comment).unwrap().trim_end_matches('\0');
        let module = Module::of_kernels(pair.kernels, CodeObjectVersion::V5).unwrap();
        assert!(link_with(&module, &LinkOptions { producer: Some(producer) }).unwrap() == theirs);
        let (a, b) = (read_code_object(&ours).unwrap(), read_code_object(&theirs).unwrap());
        assert_eq!((a.target_id, a.abi_version), (b.target_id, b.abi_version));
        assert_eq!(a.metadata, b.metadata);
        assert_eq!(a.kernels.len(), pair.kernels.len());
        for kernel in pair.kernels {
            let (a, b) = (a.kernel(kernel.name()).unwrap(), b.kernel(kernel.name()).unwrap());
            assert_eq!((a.descriptor, a.address, a.code), (b.descriptor, b.address, b.code));
            assert_eq!(a.metadata.as_ref(), Some(&kernel.metadata()));
        }
    });
}

/// Tests each version of the format; the assembler gets the version and the corresponding metadata.
#[test]
fn every_version_is_what_llvm_makes_of_it() {
    let Some(llvm) = Llvm::find() else { return };
    let dir = Scratch::new("versions");
    for target in [Target::GFX900, Target::GFX942] {
        for version in [CodeObjectVersion::V4, CodeObjectVersion::V5, CodeObjectVersion::V6] {
            let kernels = &kernels::shapes(target)[0];
            let number = version.number();
            let assembly = assembly_file(kernels, Comments::None)
                .replace("_code_object_version 5", &format!("_code_object_version {number}"))
                .replace(&Metadata::of(kernels).to_yaml(), &Metadata::of_version(kernels, version).to_yaml());
            let name = format!("{target}-{number}");
            let theirs = std::fs::read(llvm.code_object(&dir, &name, target.into(), &assembly)).unwrap();
            let comment = read_code_object(&theirs).unwrap().section(".comment").unwrap().bytes;
            let producer = std::str::from_utf8(comment).unwrap().trim_end_matches('\0');
            let module = Module::of_kernels(kernels, version).unwrap();
            assert!(
                link_with(&module, &LinkOptions { producer: Some(producer) }).unwrap() == theirs,
                "{name}"
            );
            assert_eq!(u32::from(read_code_object(&theirs).unwrap().abi_version), number - 2);
        }
    }
}

#[test]
fn what_llvm_reads_of_our_object_is_what_it_reads_of_its_own() {
    for_each_pair("readelf", kernels::shapes, |pair| {
        let show = |path: &Path| {
            let all =
                ["-h", "-l", "-W", "--dyn-symbols", "-d", "-I", "--gnu-hash-table", "--notes", text(path)];
            let shown = pair.llvm.run("llvm-readelf-22", &all);
            // Information that no loader reads: sections outside of segments, and the number of sections.
            let skipped = ["None", "There are", "Start of section", "Number of section", "Section header"];
            let kept = shown.lines().filter(|l| !skipped.iter().any(|s| l.trim_start().starts_with(s)));
            kept.map(|l| format!("{}\n", l.trim_end())).collect::<String>()
        };
        assert_eq!(show(&pair.ours), show(&pair.theirs));
        // `run` checks that there are no complaints.
        pair.llvm.run("llvm-readelf-22", &["-a", text(&pair.ours)]);
    });
}

#[test]
fn llvm_disassembles_our_object() {
    for_each_pair("disassemble", kernels::shapes, |pair| {
        let code = |path: &Path| {
            let shown = pair.llvm.run("llvm-objdump-22", &["-d", text(path)]);
            shown.split_once("Disassembly").map(|s| s.1.to_owned()).expect("there is code")
        };
        let shown = code(&pair.ours);
        assert_eq!(shown, code(&pair.theirs));
        for kernel in pair.kernels {
            assert!(shown.contains(&format!("<{}>:", kernel.name())), "{shown}");
        }
    });
}

#[test]
fn metadata_has_sorted_keys_and_reads_back() {
    for kernels in kernels::shapes(Target::GFX90A) {
        let metadata = Metadata::of(&kernels);
        let bytes = metadata.to_msgpack();
        assert_eq!(Metadata::from_msgpack(&bytes).unwrap(), metadata);
        assert_sorted(&Node::from_msgpack(&bytes).unwrap());
    }
}

fn assert_sorted(node: &Node) {
    match node {
        Node::Map(entries) => {
            assert!(entries.is_sorted_by(|a, b| a.0.key_order(&b.0).is_lt()), "{entries:?}");
            entries.iter().for_each(|e| assert_sorted(&e.1));
        }
        Node::Seq(items) => items.iter().for_each(assert_sorted),
        _ => {}
    }
}

#[test]
fn settings_read_back_what_the_specification_says() {
    for target in Target::REPRESENTATIVES {
        for kernels in [kernels::shapes(target), kernels::counts(target)].concat() {
            let Written { object: bytes, code } = write_with_code(&kernels).unwrap();
            let object = read_code_object(&bytes).unwrap();
            assert_eq!(object.target_id, kernels[0].target_id());
            assert_eq!(code.len(), kernels.len());
            for (spec, code) in kernels.iter().zip(code) {
                let read = object.kernel(spec.name()).unwrap();
                assert_eq!((read.code, Ok(&code)), (&*code.bytes, encode_program(&spec.program).as_ref()));
                let settings = read.descriptor.settings(target);
                assert_eq!(settings.initial_sgprs, spec.initial_sgprs());
                assert_eq!(settings.work_item_ids, spec.work_item_ids);
                assert_eq!(settings.float_mode, spec.float_mode);
                assert_eq!(settings.exceptions, spec.exceptions);
                assert_eq!(settings.accum_offset, spec.accum_offset());
                assert_eq!(settings.tg_split, spec.tg_split);
                assert!((0..8).contains(&(settings.vgprs as i64 - i64::from(spec.total_vgprs().max(1)))));
                assert!((0..8).contains(&(settings.sgprs as i64 - i64::from(spec.total_sgprs().max(1)))));
                assert_eq!(read.metadata.as_ref(), Some(&spec.metadata()));
            }
        }
    }
}

/// Objects of other versions, objects without metadata, and objects with code whose size no symbol gives.
#[test]
fn objects_of_others_are_read() {
    let Some(llvm) = Llvm::find() else { return };
    let dir = Scratch::new("others");
    for (version, abi_version) in [(4, 2), (5, 3), (6, 4)] {
        let assembly = format!(
            ".amdhsa_code_object_version {version}\n\
             .globl first\n.globl second\n.type first,@function\n.type second,@function\n\
             .p2align 8\nfirst:\n s_nop 1\n s_endpgm\n\
             .p2align 8\nsecond:\n s_nop 2\n s_endpgm\n.Lend:\n.size second, .Lend-second\n\
             .rodata\n.p2align 6\n"
        );
        let kernel = |name: &str| {
            format!(
                ".amdhsa_kernel {name}\n.amdhsa_next_free_vgpr 9\n.amdhsa_next_free_sgpr 4\n\
                 .amdhsa_accum_offset 8\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n\
                 .amdhsa_user_sgpr_kernarg_preload_length 3\n.end_amdhsa_kernel\n"
            )
        };
        let assembly = format!("{assembly}{}{}", kernel("first"), kernel("second"));
        let id = Target::GFX942.into();
        let path = llvm.code_object(&dir, &format!("v{version}"), id, &assembly);
        let bytes = std::fs::read(path).unwrap();
        let object = read_code_object(&bytes).unwrap();
        assert_eq!((object.target_id, object.abi_version, &object.metadata), (id, abi_version, &None));
        let [first, second] = ["first", "second"].map(|name| object.kernel(name).unwrap());
        assert_eq!((first.code.len(), second.code.len()), (256, 8));
        assert_eq!(first.code[..8], [0x01, 0x00, 0x80, 0xbf, 0x00, 0x00, 0x81, 0xbf]);
        assert_eq!(second.code, [0x02, 0x00, 0x80, 0xbf, 0x00, 0x00, 0x81, 0xbf]);
        let settings = first.descriptor.settings(Target::GFX942);
        assert_eq!((settings.vgprs, settings.sgprs, settings.accum_offset), (16, 16, Some(8)));
        // Kernarg dwords are preloaded into the SGPRs after the pointer, and the workgroup ID follows them.
        assert_eq!(settings.initial_sgprs.workgroup_id(0), Some(gcn_isa::Reg::s(5, 1)));
    }
}

#[test]
fn metadata_of_a_later_version_is_read_as_far_as_it_is_known() {
    let metadata = Metadata::of(&kernels::shapes(Target::GFX942)[0]);
    let later = |from: &[u8], to: &[u8]| {
        let mut bytes = metadata.to_msgpack();
        let at = bytes.windows(from.len()).position(|w| w == from).expect("it is there");
        bytes[at..at + from.len()].copy_from_slice(to);
        Metadata::from_msgpack(&bytes)
    };
    let kind = later(b"global_buffer", b"global_mystic").unwrap().kernels[0].args[0].value_kind;
    assert_eq!(kind, ValueKind::Unknown);
    assert_eq!(later(b".agpr_count", b".xxxx_count").unwrap().kernels[0].agpr_count, None);
    let error = later(b".symbol", b".cymbal").unwrap_err().to_string();
    assert!(error.contains(".symbol"), "{error}");
}
