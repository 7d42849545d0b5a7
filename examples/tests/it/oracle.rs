//! LLVM as a reference: it assembles our text to our bytes, disassembles our bytes to our text, and reads our metadata.

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;
use gcn_emit::text::InstText;
use gcn_examples::{TARGETS, lessons};
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_isa::{Operand, Program};
use object::{Object, ObjectSection, ObjectSymbol};

use crate::llvm::{self, Scratch};

/// The target with each of its wave sizes.
pub(crate) fn wave_sizes(target: Target) -> impl Iterator<Item = Subtarget> {
    WaveSize::ALL.into_iter().filter_map(move |wave| Subtarget::new(target, wave))
}

fn every_kernel(check: impl Fn(&BuiltKernel)) {
    for lesson in lessons::ALL {
        for target in TARGETS {
            check(&lesson.build(target).unwrap());
        }
    }
}

/// What is compared of one kernel in a code object.
#[derive(Debug, PartialEq)]
struct Facts {
    text: Vec<u8>,
    /// The descriptor without its entry offset, which depends on where the linker places the two sections.
    descriptor: Vec<u8>,
    e_flags: u32,
}

fn facts(bytes: &[u8], kernel: &str) -> Facts {
    let file = object::File::parse(bytes).unwrap();
    let text = file.section_by_name(".text").unwrap();
    let symbol =
        |name: &str| file.symbols().find(|s| s.name() == Ok(name)).unwrap_or_else(|| panic!("no `{name}`"));
    let (code, kd) = (symbol(kernel), symbol(&format!("{kernel}.kd")));
    let section = file.section_by_index(kd.section_index().unwrap()).unwrap();
    let start = (kd.address() - section.address()) as usize;
    let mut descriptor = section.data().unwrap()[start..start + 64].to_vec();
    // kernel_code_entry_byte_offset, bytes 16 to 23 (LLVM AMDGPU guide, kernel descriptor).
    let offset = i64::from_le_bytes(descriptor[16..24].try_into().unwrap());
    assert_eq!(
        kd.address().wrapping_add_signed(offset),
        code.address(),
        "the descriptor's entry is not `{kernel}`"
    );
    assert_eq!(code.address() % 256, 0, "code starts at a multiple of 256 bytes");
    descriptor[16..24].fill(0);
    let object::FileFlags::Elf { e_flags, .. } = file.flags() else { panic!("not an ELF file") };
    Facts { text: text.data().unwrap().to_vec(), descriptor, e_flags }
}

/// The code object that LLVM's assembler and linker make from our text; `None` without LLVM.
fn assemble(kernel: &BuiltKernel, comments: Comments, folder: &Scratch) -> Option<Vec<u8>> {
    let (mc, lld) = (llvm::tool("llvm-mc")?, llvm::tool("ld.lld")?);
    let [text, object, linked] = ["k.s", "k.o", "k.hsaco"].map(|name| folder.file(name));
    std::fs::write(&text, kernel.assembly(comments)).unwrap();
    // The text names its target itself (.amdgcn_target); -mcpu must agree with it.
    let cpu = format!("-mcpu={}", kernel.target());
    let wave = format!("-mattr=+wavefrontsize{}", kernel.program().wave.lanes());
    let out = object.to_str().unwrap();
    llvm::run(&mc, &["-triple=amdgcn-amd-amdhsa", &cpu, &wave, "-filetype=obj", "-o", out], &[&text]);
    llvm::run(&lld, &["-shared", "-o", linked.to_str().unwrap()], &[&object]);
    Some(std::fs::read(&linked).unwrap())
}

/// Checks that LLVM assembles the text to our bytes.
pub fn assembles_to_our_bytes(kernel: &BuiltKernel) {
    let name = format!("{} on {}", kernel.name(), kernel.target());
    let folder = Scratch::new();
    let ours = facts(kernel.code_object(), kernel.name());
    for comments in [Comments::None, Comments::Explain] {
        let Some(theirs) = assemble(kernel, comments, &folder) else { return };
        let theirs = facts(&theirs, kernel.name());
        assert!(
            ours.text == theirs.text,
            "{name}: .text differs: {} and {} bytes",
            ours.text.len(),
            theirs.text.len()
        );
        assert_eq!(ours.descriptor, theirs.descriptor, "{name}: the descriptor differs");
        assert_eq!(ours.e_flags, theirs.e_flags, "{name}: e_flags differ");
    }
}

#[test]
fn llvm_assembles_our_text_to_our_bytes() {
    every_kernel(assembles_to_our_bytes);
}

/// An instruction as LLVM's disassembler prints it, and its address.
#[derive(Debug)]
struct Disassembled {
    address: u64,
    text: String,
}

fn disassemble(kernel: &BuiltKernel, folder: &Scratch) -> Option<Vec<Disassembled>> {
    let objdump = llvm::tool("llvm-objdump")?;
    let path = folder.file("ours.hsaco");
    std::fs::write(&path, kernel.code_object()).unwrap();
    let symbol = format!("--disassemble-symbols={}", kernel.name());
    let listing = llvm::run(&objdump, &["-d", &symbol], &[&path]);
    // `\ts_load_dword s0, s[4:5], 0x0      // 000000001000: C0020002 00000000`
    let line = |line: &str| {
        let (text, comment) = line.strip_prefix('\t')?.split_once("//")?;
        let (address, _) = comment.trim().split_once(':')?;
        let address = u64::from_str_radix(address, 16).ok()?;
        Some(Disassembled { address, text: text.split_whitespace().collect::<Vec<_>>().join(" ") })
    };
    Some(listing.lines().filter_map(line).collect())
}

/// Our text of an instruction in the form that the disassembler prints: without labels, and with the raw distance of a
/// branch.
fn expected(program: &Program, index: usize, listing: &[Disassembled]) -> String {
    let mut inst = (*program.lines[index].inst).clone();
    for operand in &mut inst.operands {
        if let Operand::Label(label) = *operand {
            let to = listing[program.labels[label.0 as usize].at.unwrap()].address;
            let next = listing[index].address + 4;
            *operand = Operand::Imm(i64::from((to.wrapping_sub(next) as i64 / 4) as u16));
        }
    }
    InstText { inst: &inst, target: program.target, program: None }.to_string()
}

#[test]
fn llvm_disassembles_our_bytes_to_our_text() {
    every_kernel(|kernel| {
        let name = format!("{} on {}", kernel.name(), kernel.target());
        let Some(listing) = disassemble(kernel, &Scratch::new()) else { return };
        let program = kernel.program();
        let (code, padding) = listing.split_at(program.lines.len().min(listing.len()));
        assert_eq!(code.len(), program.lines.len(), "{name}: number of instructions");
        for (index, theirs) in code.iter().enumerate() {
            assert_eq!(theirs.text, expected(program, index, code), "{name}: instruction {index}");
        }
        assert!(padding.iter().all(|p| p.text == "s_nop 0"), "{name}: only padding after the code");
    });
}

#[test]
fn llvm_reads_our_metadata_as_that_of_our_text() {
    every_kernel(|kernel| {
        let name = format!("{} on {}", kernel.name(), kernel.target());
        let folder = Scratch::new();
        let (Some(readelf), Some(theirs)) =
            (llvm::tool("llvm-readelf"), assemble(kernel, Comments::None, &folder))
        else {
            return;
        };
        let notes = |file: &str, bytes: &[u8]| {
            let path = folder.file(file);
            std::fs::write(&path, bytes).unwrap();
            llvm::run(&readelf, &["--notes"], &[&path])
        };
        let ours = notes("ours.hsaco", kernel.code_object());
        assert_eq!(ours, notes("theirs.hsaco", &theirs), "{name}: notes of our bytes and of our text");
        let wanted = [
            format!(".name:           {}", kernel.name()),
            format!(".symbol:         {}.kd", kernel.name()),
            format!(".kernarg_segment_size: {}", kernel.signature().kernarg_bytes()),
            format!("amdhsa.target:   amdgcn-amd-amdhsa--{}", kernel.target()),
        ];
        for wanted in wanted {
            assert!(ours.contains(&wanted), "{name}: `{wanted}` is not in the notes:\n{ours}");
        }
        for argument in &kernel.signature().args {
            assert!(ours.contains(argument.name), "{name}: argument `{}` is not in the notes", argument.name);
        }
    });
}
