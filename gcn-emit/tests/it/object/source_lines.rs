//! Debug information of our own kernels, read back by LLVM and by the reader of everybody's objects.

use std::io::Write as _;
use std::process::{Command, Stdio};

use gcn_emit::asm_file::assembly_file;
use gcn_emit::kernel::KernelSpec;
use gcn_emit::lines::SourceLines;
use gcn_emit::object::{read_code_object, write_code_object};
use gcn_emit::text::Comments;
use gcn_isa::Target;
use gcn_isa::program::SourceLoc;
use gcn_test_support::Random;
use gcn_test_support::llvm::tool;

use super::kernels::kernel;
use crate::llvm::Scratch;

const FILES: [&str; 4] = ["src/main.rs", "src/\"odd\" \\name.rs", "/root/lib/ä.rs", "src/main.rs"];

/// Kernels of random length whose instructions have random places, some none.
fn kernels(random: &mut Random) -> Vec<KernelSpec> {
    let count = 1 + random.below(3);
    let kernels = (0..count).map(|n| {
        let length = 1 + random.below(200);
        let lines: Vec<&str> =
            (0..length).map(|_| ["v_nop\n", "v_mov_b32 v0, 0x12345\n"][random.below(2)]).collect();
        let code = format!("{}s_endpgm", lines.concat());
        let mut kernel = kernel(Target::GFX942, &format!("kernel_{n}"), &code);
        kernel.source_lines = true;
        let mut line = 1;
        for at in &mut kernel.program.lines {
            let far = random.one_in(8);
            line = if far {
                1 + random.next_u32() % 100_000
            } else {
                (line + random.next_u32() % 20).max(8) - 7
            };
            let column = [0, 1, 5, 200, 60_000] /* LLVM keeps 16 bits */[random.below(5)];
            let file = FILES[random.below(FILES.len())];
            at.loc = (!random.one_in(5)).then_some(SourceLoc { file, line, column });
        }
        kernel
    });
    kernels.collect()
}

/// What each instruction's place has to be: its own, or that of the next one which has one; without a next one, the last.
fn expected(kernel: &KernelSpec) -> Vec<Option<SourceLoc>> {
    let own: Vec<Option<SourceLoc>> = kernel.program.lines.iter().map(|l| l.loc).collect();
    let last = own.iter().rev().find_map(|p| *p);
    (0..own.len()).map(|at| own[at..].iter().find_map(|p| *p).or(last)).collect()
}

fn shown(place: Option<SourceLoc>) -> String {
    let Some(SourceLoc { file, line, column }) = place else { return String::new() };
    if column == 0 { format!("{file}:{line}") } else { format!("{file}:{line}:{column}") }
}

#[test]
fn every_instruction_has_its_line_for_llvm_and_for_our_reader() {
    let mut random = Random::new(1);
    let tools = ["llvm-dwarfdump", "llvm-symbolizer"].map(tool);
    let has_llvm = tools.iter().all(Option::is_some);
    for round in 0..40 {
        let kernels = kernels(&mut random);
        let object = write_code_object(&kernels).unwrap();
        let read = read_code_object(&object).unwrap();
        let lines = SourceLines::of_object(&read);
        let mut addresses = Vec::new();
        let mut wanted = Vec::new();
        for (kernel, found) in kernels.iter().zip(&read.kernels) {
            let encoded = gcn_emit::encode::encode_program(&kernel.program).unwrap();
            for (place, offset) in expected(kernel).into_iter().zip(encoded.offsets) {
                let address = found.address + u64::from(offset);
                let ours = lines.at(address).map_or_else(String::new, ToString::to_string);
                assert_eq!(ours, shown(place), "round {round}, {} + {offset:#x}", kernel.name());
                addresses.push(format!("{address:#x}\n"));
                wanted.push(
                    place.map_or("??:0:0".to_owned(), |p| format!("{}:{}:{}", p.file, p.line, p.column)),
                );
            }
        }
        if !has_llvm {
            eprintln!("SKIPPED: LLVM as a witness of debug information");
            continue;
        }
        let folder = Scratch::new("source-lines");
        let path = folder.write("k.hsaco", &object);
        let verify = Command::new("llvm-dwarfdump-22").arg("--verify").arg(&path).output().unwrap();
        assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
        let mut symbolizer = Command::new("llvm-symbolizer-22")
            .args(["--relativenames", "--functions=none", "--obj"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = symbolizer.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(addresses.concat().as_bytes()));
        let output = String::from_utf8(symbolizer.wait_with_output().unwrap().stdout).unwrap();
        writer.join().unwrap().unwrap();
        let found: Vec<&str> = output.lines().filter(|l| !l.is_empty()).collect();
        let differ = found.iter().zip(&wanted).find(|(a, b)| a != b);
        assert!(differ.is_none() && found.len() == wanted.len(), "round {round}: {differ:?}");
    }
}

#[test]
fn debug_information_changes_nothing_that_is_loaded() {
    let mut random = Random::new(2);
    let with = kernels(&mut random);
    let mut without = with.clone();
    without.iter_mut().for_each(|k| k.source_lines = false);
    let (with, without) = (write_code_object(&with).unwrap(), write_code_object(&without).unwrap());
    assert!(with.len() > without.len());
    let (with, without) = (read_code_object(&with).unwrap(), read_code_object(&without).unwrap());
    let loaded = |o: &gcn_emit::object::CodeObject<'_>| {
        o.kernels.iter().map(|k| (k.name.to_owned(), k.address, k.code.to_vec())).collect::<Vec<_>>()
    };
    assert_eq!(loaded(&with), loaded(&without));
    assert!(!without.sections.iter().any(|s| s.name.starts_with(".debug")));
}

/// The assembly names the same places: our assembler keeps them, and llvm-mc makes the line table of them.
#[test]
fn assembly_has_the_same_lines() {
    let mut random = Random::new(3);
    let kernels = kernels(&mut random);
    let text = assembly_file(&kernels, Comments::None);
    let options = gcn_emit::asm::Options { target: None, keep_instructions: true };
    let assembly = gcn_emit::asm::assemble("k.s", &text, &options).unwrap();
    let unit = gcn_emit::code::Unit::from_assembly(assembly).unwrap();
    let places = unit.sections[0].places.iter().map(|place| {
        let location = place.location?;
        let file = unit.files.iter().find(|f| f.number == location.file)?;
        Some((file.name.clone(), location.line, location.column))
    });
    let wanted = kernels.iter().flat_map(expected).map(|p| p.map(|p| (p.file.to_owned(), p.line, p.column)));
    // Padding between kernels has whatever place came before.
    let instructions: usize = kernels.iter().map(|k| k.program.lines.len()).sum();
    if kernels.len() == 1 {
        assert_eq!(places.take(instructions).collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    }
    if tool("llvm-mc").is_some() && tool("llvm-dwarfdump").is_some() {
        let folder = Scratch::new("source-lines-text");
        let source = folder.write("k.s", text.as_bytes());
        let object = folder.path("k.o");
        let mc = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-filetype=obj", "-o"];
        assert!(Command::new("llvm-mc-22").args(mc).arg(&object).arg(&source).status().unwrap().success());
        let dump = Command::new("llvm-dwarfdump-22").arg("--debug-line").arg(&object).output().unwrap();
        let dump = String::from_utf8(dump.stdout).unwrap();
        for place in kernels.iter().flat_map(|k| k.program.lines.iter()).filter_map(|l| l.loc) {
            let row = |l: &str| {
                let mut words = l.split_whitespace().skip(1);
                words.next() == Some(&place.line.to_string())
            };
            assert!(dump.lines().any(row), "{place}");
        }
    }
}
