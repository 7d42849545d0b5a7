//! Tests the layouts of WMMA and SWMMAC against every row that AMD's matrix instruction calculator prints for RDNA 3 and 4, with both wave
//! sizes, and against LLVM's operand widths.

use std::collections::BTreeSet;

use gcn_isa::Target;
use gcn_isa::layout::{self, Controls, Layout, Matrix};
use gcn_isa::table::{self, InstDesc};
use gcn_isa::target::{Subtarget, WaveSize};

use super::{Row, as_row, formulas, matrix, way_back};
use crate::golden;

/// The cases of the golden file. The rows of several instructions with the same rows follow the list of these instructions: architecture,
/// instruction, lanes, modifiers, matrix.
fn golden_cases(text: &str) -> Vec<(Vec<&str>, BTreeSet<Row>)> {
    let mut cases: Vec<(Vec<&str>, BTreeSet<Row>)> = Vec::new();
    for line in text.lines().skip(1) {
        if let Some(case) = line.strip_prefix("# ") {
            if cases.last().is_none_or(|last| !last.1.is_empty()) {
                cases.push((Vec::new(), BTreeSet::new()));
            }
            cases.last_mut().expect("pushed").0.push(case);
            continue;
        }
        let cells: Vec<u16> = line.split('\t').map(|cell| cell.parse().expect("a number")).collect();
        let &[row, column, register, lane, low, high] = &cells[..] else { panic!("{line}") };
        let row = ("0".to_owned(), row, column, register as u8, lane as u8, low as u8, high as u8, false);
        assert!(cases.last_mut().expect("a case").1.insert(row), "{line} twice");
    }
    cases
}

fn row(target: Target, name: &str, lanes: &str) -> &'static InstDesc {
    let wave = WaveSize::of_lanes(lanes.parse().expect("a number")).expect("a size of waves");
    let on = Subtarget::new(target, wave).expect("RDNA has both sizes");
    table::find_mnemonic(on, name).next().unwrap_or_else(|| panic!("{name} on {target}"))
}

#[test]
fn every_element_lives_where_the_matrix_calculator_says_and_back() {
    let text = golden::unpack(include_bytes!("../../data/rdna-layouts.tsv.gz"));
    let (mut rows, mut ways_back, mut seen) = (0, 0, BTreeSet::new());
    for (instructions, places) in golden_cases(&text) {
        for case in instructions {
            let cells: Vec<&str> = case.split('\t').collect();
            let &[arch, name, lanes, modifiers, matrix_name] = &cells[..] else { panic!("{case}") };
            let (targets, op_sel) = (
                if arch == "rdna3" { &[Target::GFX1100, Target::GFX1151][..] } else { &[Target::GFX1201] },
                modifiers.strip_prefix("opsel ").map_or(0, |n| n.parse::<u8>().expect("a number")),
            );
            let controls = match arch {
                "rdna3" => Controls { upper_halves: op_sel == 4, ..Controls::default() },
                _ => Controls { index_key: op_sel, ..Controls::default() },
            };
            for target in targets {
                let desc = row(*target, name, lanes);
                let layout = Layout::new(desc, *target, matrix(matrix_name), controls)
                    .unwrap_or_else(|e| panic!("{target} {case}: {e}"));
                let ours: BTreeSet<Row> = layout.elements().map(as_row).collect();
                assert_eq!(ours, places, "{target} {case}");
                ways_back += way_back(&layout, &places);
            }
            rows += places.len();
            seen.insert((arch, name.to_owned(), lanes.to_owned()));
        }
    }
    assert_eq!((rows, seen.len()), (113_152, 56));
    assert!(ways_back > rows, "{ways_back}");
}

/// Every RDNA instruction with every matrix, and its control values that have a layout.
fn layouts() -> impl Iterator<Item = (Target, &'static InstDesc, Matrix, Layout)> {
    let instructions = ["gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx1250"]
        .into_iter()
        .map(|name| name.parse::<Target>().expect("a target"))
        .flat_map(|target| layout::matrix_instructions(target).map(move |(desc, _)| (target, desc)));
    let controls = [(0, false), (1, false), (2, false), (3, false), (0, true)];
    let controls =
        controls.map(|(index_key, upper_halves)| Controls { index_key, upper_halves, ..Controls::default() });
    instructions
        .flat_map(|(target, desc)| Matrix::ALL.map(|matrix| (target, desc, matrix)))
        .flat_map(move |(target, desc, matrix)| controls.map(|controls| (target, desc, matrix, controls)))
        .filter_map(|(t, desc, m, controls)| Some((t, desc, m, Layout::new(desc, t, m, controls).ok()?)))
}

#[test]
fn operands_are_as_wide_as_the_layout_needs() {
    let mut checked = 0;
    for (target, desc, matrix, layout) in layouts() {
        let operand = match matrix {
            Matrix::A => "src0",
            Matrix::B => "src1",
            Matrix::C => "src2",
            Matrix::D => "vdst",
            _ => "idx",
        };
        let operand = &desc.operands[desc.operand_index(operand).expect("an operand")];
        assert_eq!(layout.registers(), operand.dwords, "{target} {} {}", desc.printed, matrix.name());
        checked += 1;
    }
    assert_eq!(checked, 460 + 88);
}

/// Tests that the bits of registers belong to the elements that are located there, and to no others. All bits of A and B are used, except
/// where a small operand has no data in the upper 32 lanes.
#[test]
fn each_bit_belongs_to_the_elements_that_are_found_there() {
    for (target, desc, matrix, layout) in layouts() {
        let place = format!("{target} {} {}", desc.printed, matrix.name());
        let lanes = layout.shape().lanes() as u8;
        let mut used = 0;
        for register in 0..layout.registers() {
            for lane in 0..lanes {
                // No element begins or ends in the middle of these four bits.
                for bit in (0..32).step_by(4) {
                    for e in layout.at(register, lane, bit) {
                        assert!((e.low_bit..=e.high_bit).contains(&bit), "{place}: {e:?}");
                        assert_eq!((e.register, e.lane), (register, lane), "{place}");
                        used += 4;
                    }
                }
            }
        }
        let listed: usize = layout.elements().map(|e| usize::from(e.high_bit - e.low_bit) + 1).sum();
        assert_eq!(used, listed, "{place}");
        assert_eq!(layout.at(0, lanes, 0).count(), 0, "{place}: a lane that is not there");
        if matches!(matrix, Matrix::A | Matrix::B) {
            let all = usize::from(layout.registers()) * usize::from(lanes) * 32;
            let packed = if layout.shape().sparse && matrix == Matrix::A { 4 } else { 1 };
            assert!([all, all / 2].contains(&(used / packed)), "{place}: {used}");
        }
    }
}

#[test]
fn printed_formulas_give_the_places() {
    let (mut elements, mut shapes) = (0, 0);
    for target in [Target::GFX1100, Target::GFX1201, Target::GFX1250] {
        for (desc, shape) in layout::matrix_instructions(target) {
            elements += Matrix::ALL.iter().map(|m| formulas::check(shape, *m, desc.printed)).sum::<usize>();
            shapes += 1;
        }
    }
    assert_eq!((shapes, elements), (56 + 22, 83_968 + 66_688));
}

#[test]
fn controls_are_those_of_the_instruction() {
    let ask = |target, name, lanes, matrix, controls| {
        Layout::new(row(target, name, lanes), target, matrix, controls).expect_err("an error").to_string()
    };
    let key = |index_key| Controls { index_key, ..Controls::default() };
    assert_eq!(
        ask(Target::GFX1201, "v_swmmac_f32_16x16x32_f16", "32", Matrix::Index, key(2)),
        "v_swmmac_f32_16x16x32_f16 on gfx1201: index_key:2 is not possible, 0 to 1 are: the index register holds 2 index sets"
    );
    assert_eq!(
        ask(Target::GFX1201, "v_wmma_f32_16x16x16_f16", "32", Matrix::A, key(1)),
        "v_wmma_f32_16x16x16_f16 on gfx1201: index_key:1 is not possible, leave it out: \
         the instruction has no choice of index sets"
    );
    assert_eq!(
        ask(Target::GFX1201, "v_wmma_f32_16x16x16_f16", "64", Matrix::A, Controls { abid: 1, ..key(0) }),
        "v_wmma_f32_16x16x16_f16 on gfx1201: abid:1 is not possible, leave it out: the instruction broadcasts no blocks"
    );
    assert_eq!(
        ask(
            Target::GFX1201,
            "v_wmma_f16_16x16x16_f16",
            "32",
            Matrix::D,
            Controls { upper_halves: true, ..key(0) }
        ),
        "v_wmma_f16_16x16x16_f16 on gfx1201: op_sel:4 is not possible, leave it out: \
         C and D do not use halves of registers"
    );
}

/// The lanes that hold an element of A on RDNA 3, derived from the modifiers of the instruction.
#[test]
fn modifiers_choose_the_half() {
    let desc = row(Target::GFX1100, "v_wmma_f16_16x16x16_f16", "32");
    let mut mods = desc.default_mods();
    assert!(!Controls::of(&mods).upper_halves);
    mods.op_sel |= 4;
    let d = Layout::new(desc, Target::GFX1100, Matrix::D, Controls::of(&mods)).expect("a layout");
    assert!(d.elements().all(|e| (e.low_bit, e.high_bit) == (16, 31)));
}
