//! Tests debug information of our own kernels, as read by LLVM and by our reader for objects.

use std::io::Write as _;
use std::process::{Command, Stdio};

use gcn_emit::asm_file::assembly_file;
use gcn_emit::kernel::{KernelSpec, UserSgprs};
use gcn_emit::lines::SourceLines;
use gcn_emit::metadata::KernelArg;
use gcn_emit::object::{read_code_object, write_code_object};
use gcn_emit::text::Comments;
use gcn_isa::Target;
use gcn_isa::program::{Call, SourceLoc};
use gcn_test_support::Random;
use gcn_test_support::llvm::tool;

use super::kernels::kernel;
use crate::llvm::Scratch;

const FILES: [&str; 4] = ["src/main.rs", "src/\"odd\" \\name.rs", "/root/lib/ä.rs", "src/main.rs"];

const FUNCTIONS: [&str; 3] = ["cube", "block_sum", "cube"];

/// Random calls, some of them in functions that were inlined.
fn calls(random: &mut Random) -> Vec<&'static Call> {
    let mut calls: Vec<&'static Call> = Vec::new();
    for _ in 0..1 + random.below(12) {
        let outer = calls.get(random.below(calls.len() + 3)).copied();
        let place = SourceLoc::new(
            FILES[random.below(FILES.len())],
            1 + random.next_u32() % 500,
            1 + random.next_u32() % 80,
        );
        calls.push(Call::of(FUNCTIONS[random.below(FUNCTIONS.len())], SourceLoc { call: outer, ..place }));
    }
    calls
}

/// Kernels of random length whose instructions have random positions: some have none, some are in inlined functions.
fn kernels(random: &mut Random) -> Vec<KernelSpec> {
    let calls = calls(random);
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
            let call = [None, Some(&*calls[random.below(calls.len())])][random.below(2)];
            let column = [0, 1, 5, 200, 60_000] /* LLVM keeps 16 bits */[random.below(5)];
            let file = FILES[random.below(FILES.len())];
            at.loc = (!random.one_in(5)).then_some(SourceLoc { call, ..SourceLoc::new(file, line, column) });
        }
        kernel
    });
    kernels.collect()
}

/// The expected position of each instruction: its own; if it has none, that of the next instruction with one; if there is none, the last
/// position.
fn expected(kernel: &KernelSpec) -> Vec<Option<SourceLoc>> {
    let own: Vec<Option<SourceLoc>> = kernel.program.lines.iter().map(|l| l.loc).collect();
    let last = own.iter().rev().find_map(|p| *p);
    (0..own.len()).map(|at| own[at..].iter().find_map(|p| *p).or(last)).collect()
}

fn shown(place: Option<SourceLoc>) -> String {
    let Some(SourceLoc { file, line, column, .. }) = place else { return String::new() };
    if column == 0 { format!("{file}:{line}") } else { format!("{file}:{line}:{column}") }
}

/// The output of llvm-symbolizer for a position: function and position, then the same for each enclosing call, then an empty line.
fn frames(kernel: &str, place: Option<SourceLoc>) -> Vec<String> {
    let shown = |p: SourceLoc| format!("{}:{}:{}", p.file, p.line, p.column);
    let Some(place) = place else { return [kernel, "??:0:0", ""].map(str::to_owned).to_vec() };
    let calls: Vec<&Call> = place.call.into_iter().flat_map(Call::chain).collect();
    let functions = calls.iter().map(|call| call.function).chain([kernel]);
    let places = [place].into_iter().chain(calls.iter().map(|call| call.at));
    let mut lines: Vec<String> = functions.zip(places).flat_map(|(f, p)| [f.to_owned(), shown(p)]).collect();
    lines.push(String::new());
    lines
}

#[test]
fn every_instruction_has_its_line_and_its_calls_for_llvm_and_for_our_reader() {
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
                wanted.extend(frames(kernel.name(), place));
            }
        }
        if !has_llvm {
            continue;
        }
        let folder = Scratch::new("source-lines");
        let path = folder.write("k.hsaco", &object);
        let verify = Command::new("llvm-dwarfdump-22").arg("--verify").arg(&path).output().unwrap();
        assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
        let mut symbolizer = Command::new("llvm-symbolizer-22")
            .args(["--relativenames", "--functions=linkage", "--inlines", "--obj"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = symbolizer.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(addresses.concat().as_bytes()));
        let output = String::from_utf8(symbolizer.wait_with_output().unwrap().stdout).unwrap();
        writer.join().unwrap().unwrap();
        let found: Vec<&str> = output.lines().collect();
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

/// The assembly text has the same positions: our assembler keeps them, and llvm-mc creates the line table from them.
#[test]
fn assembly_has_the_same_lines() {
    let mut random = Random::new(3);
    let kernels = kernels(&mut random);
    let text = assembly_file(&kernels, Comments::None);
    let options =
        gcn_emit::asm::Options { target: None, keep_instructions: true, ..gcn_emit::asm::Options::default() };
    let assembly = gcn_emit::asm::assemble("k.s", &text, &options).unwrap();
    let unit = gcn_emit::code::Unit::from_assembly(assembly).unwrap();
    let places = unit.sections[0].places.iter().map(|place| {
        let location = place.location?;
        let file = unit.files.iter().find(|f| f.number == location.file)?;
        Some((file.name.clone(), location.line, location.column))
    });
    let wanted = kernels.iter().flat_map(expected).map(|p| p.map(|p| (p.file.to_owned(), p.line, p.column)));
    // Padding between kernels has the position of the code before it.
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

/// Parameters are in the kernarg segment, whose address is known until the program overwrites the two SGPRs that contain it.
#[test]
fn parameters_have_a_place_until_the_segments_address_is_overwritten() {
    let code = "s_load_dword s4, s[0:1], 0x0\ns_cbranch_scc1 end\nagain:\ns_nop 0\ns_cbranch_scc0 again\nlate:\ns_nop 1\n\
                s_mov_b32 s1, 0\ns_nop 2\ns_cbranch_scc1 late\nend:\ns_endpgm";
    let mut kernel = kernel(Target::GFX942, "k", code);
    kernel.source_lines = true;
    kernel.user_sgprs = UserSgprs::KERNARG_SEGMENT_PTR;
    kernel.kernarg_bytes = 24;
    kernel.args = vec![
        KernelArg::by_value("a", 0, 4).typed("f32"),
        KernelArg::global_buffer("x", 8).typed("&mut [bf16]"),
        KernelArg::by_value("x.len", 16, 4).typed("u32"),
        KernelArg::by_value("other", 20, 4).typed("Mystery"),
    ];
    kernel.program.lines.iter_mut().for_each(|l| l.loc = Some(SourceLoc::new("k.rs", 1, 1)));
    if tool("llvm-dwarfdump").is_none() {
        return;
    }
    let folder = Scratch::new("source-lines-parameters");
    let path = folder.write("k.hsaco", &write_code_object(&[kernel]).unwrap());
    let verify = Command::new("llvm-dwarfdump-22").arg("--verify").arg(&path).output().unwrap();
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
    let dump = Command::new("llvm-dwarfdump-22").arg("--debug-info").arg(&path).output().unwrap();
    let dump = String::from_utf8(dump.stdout).unwrap();
    let words: Vec<&str> = dump.split_whitespace().collect();
    let dump = words.join(" ");
    // Nothing has been written before `again` or in its block: the first load takes 8 bytes, and five instructions of 4 bytes follow. From
    // `late` on, the loop may have written the SGPRs. `end` is reached from the first branch and from the loop.
    let start =
        u64::from_str_radix(dump.split("DW_AT_low_pc (0x").nth(1).unwrap().split(')').next().unwrap(), 16)
            .unwrap();
    let range = format!("[{:#018x}, {:#018x})", start, start + 20);
    let place = |offset: &str| {
        format!(
            "{range}: DW_OP_bregx SGPR1+0, DW_OP_const1u 0x20, DW_OP_shl, DW_OP_bregx SGPR0+0, DW_OP_or, DW_OP_plus_uconst {offset})"
        )
    };
    for (name, ty, offset) in [("a", "f32", "0x0"), ("x", "bf16 *", "0x8"), ("x.len", "u32", "0x10")] {
        let entry =
            dump.split("DW_TAG_formal_parameter").find(|e| e.contains(&format!("DW_AT_name (\"{name}\")")));
        let entry = entry.unwrap_or_else(|| panic!("{name}: {dump}"));
        assert!(entry.contains(&format!("\"{ty}\")")) && entry.contains(&place(offset)), "{name}: {entry}");
    }
    assert!(!dump.contains("Mystery"), "{dump}");
    // LLVM shows a pointer by the type to which it points; the entry has the name in the source.
    assert!(dump.contains("DW_TAG_pointer_type DW_AT_name (\"&mut [bf16]\")"), "{dump}");
    for ty in [
        "(\"bf16\") DW_AT_encoding (DW_ATE_float) DW_AT_byte_size (0x02)",
        "(\"u32\") DW_AT_encoding (DW_ATE_unsigned)",
    ] {
        assert!(dump.contains(ty), "{dump}");
    }
}
