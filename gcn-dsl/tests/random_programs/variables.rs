//! Debug information of the programs that rustc compiles: wherever it says that a variable is in a register, the
//! register must have one of the values that the interpreter gives the variable in that lane.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use gcn_dsl::prelude::{Target, bf16, f16};
use gcn_dsl::scalar::Elem;
use gcn_dsl::{BuildOptions, BuiltKernel};
use gcn_emit::object::read_code_object;
use gcn_isa::reg::Reg;
use gcn_sim::Probed;
use gcn_test_support::llvm::tool;
use gimli::{AttributeValue, EndianSlice, LittleEndian, Reader as _};

use super::ast::Program;
use super::data::Data;
use super::run::{TARGETS, simulate_on};
use super::sample::SAMPLE;
use super::{generate, interpret};

type Slice<'d> = EndianSlice<'d, LittleEndian>;

/// The location of one dword of a variable, for a range of code.
#[derive(Debug)]
struct Located {
    name: String,
    /// The code's byte offsets in the kernel.
    range: std::ops::Range<u64>,
    dword: u32,
    bytes: u32,
    at: At,
}

#[derive(Debug, Clone, Copy)]
enum At {
    Register(Reg),
    Constant(u64),
}

/// The locations of variables, from the debug information.
fn located(built: &BuiltKernel) -> Vec<Located> {
    let object = read_code_object(built.code_object()).unwrap();
    let start = object.kernels[0].address;
    let section = |id: gimli::SectionId| {
        let data = object.section(id.name()).map_or(&[][..], |s| s.bytes);
        Ok::<_, gimli::Error>(EndianSlice::new(data, LittleEndian))
    };
    let dwarf: gimli::Dwarf<Slice<'_>> = gimli::Dwarf::load(section).unwrap();
    let header = dwarf.units().next().unwrap().expect("a unit");
    let unit = dwarf.unit(header).unwrap();
    let mut found = Vec::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs().unwrap() {
        if entry.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let name = dwarf.attr_string(&unit, entry.attr_value(gimli::DW_AT_name).unwrap()).unwrap();
        let name = name.to_string_lossy().into_owned();
        let Some(AttributeValue::UnitRef(ty)) = entry.attr_value(gimli::DW_AT_type) else {
            panic!("{name}: no type")
        };
        let ty = unit.entry(ty).unwrap();
        // A varying condition is one bit per lane, and arrays have no size of their own.
        let of = ty.attr_value(gimli::DW_AT_name).and_then(|name| dwarf.attr_string(&unit, name).ok());
        if of.is_none_or(|name| name.slice() == b"lanes") {
            continue;
        }
        let Some(size) = ty.attr_value(gimli::DW_AT_byte_size).and_then(|s| s.udata_value()) else {
            continue;
        };
        let list = entry.attr_value(gimli::DW_AT_location).unwrap();
        let mut list = dwarf.attr_locations(&unit, list).unwrap().expect("a list");
        while let Some(place) = list.next().unwrap() {
            let range = place.range.begin - start..place.range.end - start;
            for (dword, (at, bytes)) in (0..).zip(pieces(place.data.0, size as u32)) {
                let Some(at) = at else { continue };
                found.push(Located { name: name.clone(), range: range.clone(), dword, bytes, at });
            }
        }
    }
    found
}

/// The parts of a location: a register or a constant, and its number of bytes. The opcodes are from LLVM's guide.
fn pieces(mut expression: Slice<'_>, size: u32) -> Vec<(Option<At>, u32)> {
    let (mut out, mut at) = (Vec::new(), None);
    while !expression.is_empty() {
        match expression.read_u8().unwrap() {
            0x90 => at = Some(At::Register(register(expression.read_uleb128().unwrap()))),
            0x10 => at = Some(At::Constant(expression.read_uleb128().unwrap())),
            0x9f => {}
            0x93 => out.push((at.take(), expression.read_uleb128().unwrap() as u32)),
            // The offset of the lane that the debugger shows: push_lane, 4, mul, offset.
            0xe9 => {
                let rest: Vec<u8> = (0..5).map(|_| expression.read_u8().unwrap()).collect();
                assert_eq!(rest, [3, 0x34, 0x1e, 0xe9, 4]);
                assert!(matches!(at, Some(At::Register(Reg { file, .. })) if file != gcn_isa::RegFile::Sgpr));
            }
            other => panic!("operation {other:#x}"),
        }
    }
    if out.is_empty() { vec![(at, size)] } else { out }
}

fn register(number: u64) -> Reg {
    match number as u16 {
        n @ 32..=95 => Reg::s(n - 32, 1),
        n @ 1088..=1129 => Reg::s(n - 1088 + 64, 1),
        n @ 2560..=2815 => Reg::v(n - 2560, 1),
        n @ 3072..=3327 => Reg::a(n - 3072, 1),
        n => panic!("register {n}"),
    }
}

/// Compares the contents of registers with the values in the interpreter. Returns the number of comparisons, and how
/// many would have failed for the next variable instead.
fn compare(program: &Program, built: &BuiltKernel, seed: u64) -> [usize; 2] {
    let data = Data::new(program);
    let (_, seen) = interpret::watched(built.program().wave, program, &data).unwrap();
    let [mut compared, mut others] = [0; 2];
    let offsets: Vec<u64> = gcn_emit::encode::encode_program(built.program())
        .unwrap()
        .offsets
        .iter()
        .map(|o| u64::from(*o))
        .collect();
    for located in located(built) {
        let Some(var) = located.name.strip_prefix('x').and_then(|n| n.parse::<usize>().ok()) else {
            continue;
        };
        let mask = if located.bytes >= 4 { u64::from(u32::MAX) } else { (1 << (8 * located.bytes)) - 1 };
        let dword = |value: u64| value >> (32 * located.dword) & mask;
        let reg = match located.at {
            At::Register(reg) if reg.file != gcn_isa::RegFile::Agpr => reg,
            At::Register(_) => continue,
            At::Constant(bits) => {
                let all = seen[var].iter().flatten();
                let odd = all.copied().find(|value| located.bytes <= 4 && dword(*value) != dword(bits));
                assert_eq!(odd, None, "program {seed}: {located:?}");
                continue;
            }
        };
        // The state after an instruction is the state before the next one.
        let inside =
            offsets.windows(2).filter(|w| located.range.contains(&w[0]) && located.range.contains(&w[1]));
        let at: BTreeMap<u32, Reg> = inside.map(|w| (w[0] as u32, reg)).collect();
        if at.is_empty() {
            continue;
        }
        let events: Arc<Mutex<Vec<Probed>>> = Arc::default();
        let sink = Arc::clone(&events);
        simulate_on(program, built, &data, |machine| {
            machine.with_probes(at, move |event| sink.lock().unwrap().push(event))
        })
        .unwrap();
        for event in events.lock().unwrap().iter() {
            for lane in (0..64).filter(|lane| event.exec >> lane & 1 == 1) {
                let held = event.lanes[if event.lanes.len() == 1 { 0 } else { lane }];
                let global = (event.workgroup[0] * program.workgroup + 64 * event.wave) as usize + lane;
                let Some(values) = seen[var].get(global).filter(|values| !values.is_empty()) else {
                    continue;
                };
                // The bits of a NaN may depend on the order of operations.
                if values.iter().any(|value| is_nan(program.vars[var].ty.elem, *value)) {
                    continue;
                }
                let known = values.iter().any(|value| dword(*value) == u64::from(held) & mask);
                let line = offsets.partition_point(|o| *o < u64::from(event.offset));
                let line = built.program().lines[line].inst.desc.mnemonic;
                assert!(
                    known,
                    "program {seed}: lane {lane} after {:#x} ({line}): {located:?} has {held:#x}, not one of {values:x?}",
                    event.offset
                );
                compared += 1;
                let other = &seen[(var + 1) % seen.len()][global];
                others += usize::from(other.iter().all(|value| dword(*value) != u64::from(held) & mask));
            }
        }
    }
    [compared, others]
}

fn is_nan(elem: Elem, bits: u64) -> bool {
    match elem {
        Elem::F16 => f16::from_bits(bits as u16).is_nan(),
        Elem::Bf16 => bf16::from_bits(bits as u16).is_nan(),
        Elem::F32 => f32::from_bits(bits as u32).is_nan(),
        Elem::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

#[test]
fn registers_hold_what_debug_information_says() {
    let options = BuildOptions { source_lines: true, ..BuildOptions::default() };
    let [mut compared, mut others] = [0; 2];
    for &(seed, build) in SAMPLE {
        let program = generate::program(seed);
        for target in [Target::GFX90A, TARGETS[seed as usize % TARGETS.len()]] {
            let built = build(target, &options).unwrap();
            assert_eq!(
                built.code(),
                build(target, &BuildOptions::default()).unwrap().code(),
                "program {seed}"
            );
            verified(&built);
            let [same, other] = compare(&program, &built, seed);
            (compared, others) = (compared + same, others + other);
        }
    }
    println!("{compared} values compared; {others} differ from the next variable's");
    assert!(
        compared > 10_000 && others > compared / 2,
        "{compared} values compared, of which {others} tell anything"
    );
}

/// Checks that LLVM finds no error in the debug information.
fn verified(built: &BuiltKernel) {
    if tool("llvm-dwarfdump").is_none() {
        return;
    }
    let path = std::env::temp_dir().join(format!("gcn-variables-{}.hsaco", std::process::id()));
    std::fs::write(&path, built.code_object()).unwrap();
    let verify = std::process::Command::new("llvm-dwarfdump-22").arg("--verify").arg(&path).output().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
}
