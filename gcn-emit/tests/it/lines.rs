//! Tests source lines of compiled and of assembled code.

use std::io::Read as _;

use gcn_emit::asm::{Options, assemble};
use gcn_emit::lines::SourceLines;
use gcn_emit::object::{Module, link, read_code_object};
use gcn_test_support::Random;

fn object(name: &str) -> Vec<u8> {
    let path = format!("{}/data/lines/{name}.gz", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// The output of llvm-symbolizer; an unknown position is empty. It puts the compilation directory before each name.
fn symbolized() -> Vec<(u64, String)> {
    let table = include_str!("../data/lines/debug.tsv");
    let row = |row: &str| {
        let (address, place) = row.split_once('\t').unwrap();
        let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).unwrap();
        let place = place.trim_start_matches("/src/").trim_start_matches("./").trim_end_matches(":0");
        (address, place.replace("??:0", "").replace("??", ""))
    };
    table.lines().map(row).collect()
}

fn places(lines: &SourceLines, rows: &[(u64, String)]) -> Vec<(u64, String)> {
    rows.iter().map(|(at, _)| (*at, lines.at(*at).map_or_else(String::new, ToString::to_string))).collect()
}

#[test]
fn every_instruction_has_the_place_that_llvm_symbolizer_says() {
    let expected = symbolized();
    let known = expected.iter().filter(|(_, place)| !place.is_empty()).count();
    assert!(known > 50 && known < expected.len(), "{known}");
    assert!(expected.iter().any(|(_, place)| place == "parts/step.h:4:10"));
    for name in ["debug4.co", "debug5.co"] {
        let bytes = object(name);
        let lines = SourceLines::of_object(&read_code_object(&bytes).unwrap());
        assert_eq!(places(&lines, &expected), expected, "{name}");
    }
}

/// Code inlined from another file gets the line in the author's file that calls it; code inlined from the same file also keeps its own
/// line. clang creates two functions for an OpenCL kernel; the call from one to the other is not shown as a line.
#[test]
fn code_of_inlined_functions_has_the_line_that_calls_them() {
    let table = include_str!("../data/lines/inlined.tsv");
    let kernels = ["debug.cl:4:48", "debug.cl:11:52"];
    let (mut others, mut own) = (0, 0);
    for name in ["debug4.co", "debug5.co"] {
        let bytes = object(name);
        let lines = SourceLines::of_object(&read_code_object(&bytes).unwrap());
        for row in table.lines() {
            let mut row = row.split('\t');
            let address = u64::from_str_radix(row.next().unwrap().trim_start_matches("0x"), 16).unwrap();
            let mut frames: Vec<String> = row
                .map(|place| {
                    place
                        .trim_start_matches("/src/")
                        .trim_start_matches("./")
                        .trim_end_matches(":0")
                        .to_owned()
                })
                .collect();
            if frames.last().is_some_and(|outermost| kernels.contains(&outermost.as_str())) {
                frames.pop();
            }
            if frames.iter().any(|place| place.contains('?')) {
                continue;
            }
            let user = frames.iter().position(|place| place.starts_with("debug.cl")).unwrap();
            let expected = match (user, frames.len() - 1 - user) {
                (0, 0) => frames[0].clone(),
                (_, 0) => {
                    others += 1;
                    format!("{} (in {})", frames[user], frames[0])
                }
                (0, _) => {
                    own += 1;
                    format!("{} (inlined at {})", frames[0], frames[frames.len() - 1])
                }
                _ => format!("{} (in {}, inlined at {})", frames[user], frames[0], frames[frames.len() - 1]),
            };
            let found = lines.for_author(address).map_or_else(String::new, |place| place.to_string());
            assert_eq!(found, expected, "{name} {address:#x}");
        }
    }
    assert!(others > 4, "{others} {own}");
}

#[test]
fn our_linker_keeps_the_lines() {
    let linked = link(&Module::from_relocatable(&object("debug5.o")).unwrap()).unwrap();
    let read = read_code_object(&linked).unwrap();
    let lines = SourceLines::of_object(&read);
    // ld.lld places the code at the same address, so the table of the linked object is valid.
    let base = read.text().unwrap().address;
    let expected: Vec<_> = symbolized().into_iter().filter(|(_, place)| !place.is_empty()).collect();
    let first = expected[0].0;
    let moved: Vec<_> = expected.iter().map(|(at, place)| (at - first + base, place.clone())).collect();
    assert_eq!(places(&lines, &moved), moved);
}

/// Damage to the debug sections only loses lines, never the object, and reading takes time proportional to the object's size.
#[test]
fn broken_dwarf_is_no_error() {
    let mut rng = Random::new(7);
    let mut fewer = 0;
    for name in ["debug4.co", "debug5.co"] {
        let whole = object(name);
        let expected = symbolized();
        let ranges: Vec<_> = {
            let read = read_code_object(&whole).unwrap();
            let debug = read.sections.iter().filter(|s| s.name.starts_with(".debug_"));
            debug.map(|s| s.offset as usize..s.offset as usize + s.bytes.len()).collect()
        };
        for _ in 0..2000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + rng.below(4) {
                let range = ranges[rng.below(ranges.len())].clone();
                let at = range.start + rng.below(range.len());
                bytes[at] = rng.next_u64() as u8;
            }
            let lines = SourceLines::of_object(&read_code_object(&bytes).unwrap());
            fewer += usize::from(places(&lines, &expected) != expected);
        }
    }
    assert!(fewer > 500, "the damage should show: {fewer}");
}

#[test]
fn instructions_of_assembly_have_their_lines_wherever_the_linker_puts_them() {
    let text = "\
.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"
.section .text.second,\"ax\",@progbits
.globl second
second:
  s_nop 2

  s_endpgm
.text
.globl first
first: s_nop 1
  s_endpgm
";
    let options = Options { keep_instructions: true, ..Options::default() };
    let (bytes, lines) = assemble("k.s", text, &options).unwrap().code_object_with_lines("k.s").unwrap();
    let object = read_code_object(&bytes).unwrap();
    for (name, expected) in [("first", ["k.s:10", "k.s:11"]), ("second", ["k.s:5", "k.s:7"])] {
        let address = object.symbols.iter().find(|s| s.name == name).unwrap().address;
        let found = [address, address + 4].map(|at| lines.at(at).unwrap().to_string());
        assert_eq!(found, expected, "{name}");
    }
}
