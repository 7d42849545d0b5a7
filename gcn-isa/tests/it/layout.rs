//! Tests the matrix operand layouts against AMD's matrix instruction calculator (every row that it prints, including modifiers), against
//! LLVM's operand widths, and, where the calculator has no data, against published kernels.

mod formulas;
mod published;
mod rdna;

use std::collections::{BTreeMap, BTreeSet};

use gcn_isa::layout::{self, Controls, Element, Layout, Matrix};
use gcn_isa::{Target, table};

use crate::golden;

/// A row of the calculator: blocks, row, column, register, lane, low bit, high bit, negated.
type Row = (String, u16, u16, u8, u8, u8, u8, bool);

/// A case: target, instruction, modifiers, matrix.
type Case<'a> = (&'a str, &'a str, &'a str, &'a str);

fn golden_cases(text: &str) -> BTreeMap<Case<'_>, BTreeSet<Row>> {
    let mut cases: BTreeMap<Case<'_>, BTreeSet<Row>> = BTreeMap::new();
    for cells in golden::rows(text) {
        let number =
            |i: usize| cells[i].parse::<u16>().unwrap_or_else(|_| panic!("bad golden row: {cells:?}"));
        let (low, high) = (number(9) as u8, number(10) as u8);
        // For a 64-bit element, the calculator prints the higher register.
        let register = number(7) as u8 - u8::from(high - low == 63);
        let negated = !cells[11].is_empty();
        let row = (cells[4].to_owned(), number(5), number(6), register, number(8) as u8, low, high, negated);
        let new = cases.entry((cells[0], cells[1], cells[2], cells[3])).or_default().insert(row);
        assert!(new, "golden row twice: {cells:?}");
    }
    cases
}

fn matrix(name: &str) -> Matrix {
    match name {
        "A" => Matrix::A,
        "B" => Matrix::B,
        "C" => Matrix::C,
        "D" => Matrix::D,
        "K" => Matrix::Index,
        _ => panic!("unknown matrix {name}"),
    }
}

fn controls(text: &str) -> Controls {
    let words: Vec<&str> = text.split(' ').collect();
    let value = |name: &str| {
        words.iter().position(|w| *w == name).map_or(0, |i| words[i + 1].parse().expect("a control's value"))
    };
    Controls { cbsz: value("cbsz"), abid: value("abid"), blgp: value("blgp"), ..Controls::default() }
}

fn as_row(e: Element) -> Row {
    (e.blocks.to_string(), e.row, e.column, e.register, e.lane, e.low_bit, e.high_bit, e.negated)
}

#[test]
fn every_element_lives_where_the_matrix_calculator_says_and_back() {
    let text = golden::unpack(include_bytes!("../data/layouts.tsv.gz"));
    let cases = golden_cases(&text);
    let (mut plain, mut modified, mut ways_back) = (0, 0, 0);
    let mut instructions = BTreeSet::new();
    for ((target_name, name, modifiers, matrix_name), rows) in &cases {
        let target = golden::target(target_name);
        let desc = table::find_mnemonic(target, name).next().expect("a known instruction");
        let layout = Layout::new(desc, target, matrix(matrix_name), controls(modifiers))
            .unwrap_or_else(|e| panic!("{target} {name} {modifiers} {matrix_name}: {e}"));
        let ours: BTreeSet<Row> = layout.elements().map(as_row).collect();
        assert_eq!(&ours, rows, "{target} {name} {modifiers} {matrix_name}");
        ways_back += way_back(&layout, rows);
        instructions.insert((target, name));
        *(if modifiers.is_empty() { &mut plain } else { &mut modified }) += rows.len();
    }
    assert_eq!((plain, modified, instructions.len(), cases.len()), (214_912, 19_520, 93, 466));
    assert_eq!(ways_back, 234_432);
}

/// Computes the elements at each location and compares them with the rows. Returns the number of elements.
fn way_back(layout: &Layout, rows: &BTreeSet<Row>) -> usize {
    let mut by_place: BTreeMap<(u8, u8, u8), BTreeSet<Row>> = BTreeMap::new();
    for row in rows {
        by_place.entry((row.3, row.4, row.5)).or_default().insert(row.clone());
    }
    let mut found = 0;
    for ((register, lane, low), rows) in &by_place {
        let high = rows.first().expect("an element").6;
        for bit in [*low, high] {
            let there: BTreeSet<Row> = layout.at(*register, *lane, bit).map(as_row).collect();
            assert_eq!(&there, rows, "register {register}, lane {lane}, bit {bit}: {layout:?}");
        }
        found += rows.len();
    }
    found
}

/// The control values to test: formats and scale bytes, or broadcasts, index sets and lane patterns.
fn choices(formats: bool) -> Vec<Controls> {
    if formats {
        let with = |i| Controls { cbsz: i, blgp: 4 - i, scale_a: i % 4, ..Controls::default() };
        return (0..5).map(with).collect();
    }
    vec![
        Controls::default(),
        Controls { abid: 1, ..Controls::default() },
        Controls { cbsz: 1, abid: 1, ..Controls::default() },
        Controls { blgp: 5, ..Controls::default() },
    ]
}

/// Every matrix instruction of every target with every matrix and a selection of control values.
fn all_layouts() -> impl Iterator<Item = (Target, &'static str, Matrix, Controls, Layout)> {
    Target::REPRESENTATIVES
        .into_iter()
        .flat_map(|t| {
            layout::matrix_instructions(t).map(move |(desc, shape)| (t, desc, shape.formats_chosen))
        })
        .flat_map(|(t, desc, formats)| Matrix::ALL.map(|m| (t, desc, formats, m)))
        .flat_map(|(t, desc, formats, m)| choices(formats).into_iter().map(move |c| (t, desc, m, c)))
        .filter_map(|(t, desc, m, c)| Some((t, desc.printed, m, c, Layout::new(desc, t, m, c).ok()?)))
}

#[test]
fn each_bit_of_an_operand_belongs_to_the_elements_that_are_found_there() {
    let mut layouts = 0;
    for (target, name, matrix, controls, layout) in all_layouts() {
        let place = format!("{target} {name} {} {controls:?}", matrix.name());
        let mut owners = vec![0u8; usize::from(layout.registers()) * 32 * 64];
        for e in layout.elements() {
            for bit in e.low_bit..=e.high_bit {
                let number = (usize::from(e.register) * 32 + usize::from(bit)) * 64 + usize::from(e.lane);
                *owners.get_mut(number).unwrap_or_else(|| panic!("{place}: {e:?} is outside")) += 1;
            }
            for bit in [e.low_bit, e.high_bit] {
                let (register, bit) = (e.register + bit / 32, bit % 32);
                assert!(layout.at(register, e.lane, bit).any(|found| found == e), "{place}: {e:?}");
            }
        }
        let packed = matches!(matrix, Matrix::A | Matrix::Index) && layout.shape().sparse;
        let whole = !matches!(matrix, Matrix::Index | Matrix::ScaleA | Matrix::ScaleB);
        let moved = layout.shape().broadcasts_a && controls.cbsz != 0 && matrix == Matrix::A && !packed
            || layout.shape().permutes_b && controls.blgp != 0 && matrix == Matrix::B;
        if !moved {
            let expected = if packed { 4 } else { 1 };
            let unexpected = owners.iter().find(|n| **n != expected && (whole || **n != 0));
            assert_eq!(unexpected, None, "{place}");
        }
        layouts += 1;
    }
    assert_eq!(layouts, 1472);
}

/// Tests the widths of operands against those in LLVM's operand texts.
#[test]
fn operands_are_as_wide_as_the_layout_needs() {
    let mut checked = 0;
    for (target, name, matrix, controls, layout) in all_layouts() {
        let desc = table::find(target, name).next().expect("a row");
        let operand = match matrix {
            Matrix::A => "src0",
            Matrix::B => "src1",
            Matrix::C => "src2",
            Matrix::Index if layout.shape().sparse => "src2",
            Matrix::D => "vdst",
            Matrix::ScaleA => "scale_src0",
            Matrix::ScaleB => "scale_src1",
            Matrix::Index => continue,
        };
        let Some(index) = desc.operand_index(operand).or_else(|| desc.operand_index("idx")) else {
            panic!("{name} has no {operand}: {:?}", desc.operands)
        };
        let field = if matrix == Matrix::A { controls.cbsz } else { controls.blgp };
        let widest = desc.operands[index].dwords;
        let dwords = match (layout.shape().formats_chosen && matches!(matrix, Matrix::A | Matrix::B), field) {
            (true, 2 | 3) => 6,
            (true, 4) => 4,
            _ => widest,
        };
        assert_eq!(layout.registers(), dwords, "{target} {name} {} {controls:?}", matrix.name());
        checked += 1;
    }
    assert_eq!(checked, 1472);
}

#[test]
fn an_index_set_follows_abid() {
    // CDNA3 ISA, sparse matrices: if cbsz is 0, abid selects one of four sets of 8 bits for 16-bit data, and one of two sets of 16 bits for
    // 8-bit data; any other cbsz selects the first set.
    let first_bit = |name: &str, cbsz: u8, abid: u8| {
        let desc = table::find(Target::GFX942, name).next().expect("a row");
        let controls = Controls { cbsz, abid, ..Controls::default() };
        layout::elements(desc, Target::GFX942, Matrix::Index, controls)
            .map(|mut e| e.next().expect("elements").low_bit)
    };
    assert_eq!(
        (0..4).map(|abid| first_bit("v_smfmac_f32_16x16x32_f16", 0, abid).unwrap()).collect::<Vec<_>>(),
        [0, 8, 16, 24]
    );
    assert_eq!(
        (0..2).map(|abid| first_bit("v_smfmac_i32_32x32x32_i8", 0, abid).unwrap()).collect::<Vec<_>>(),
        [0, 16]
    );
    assert_eq!(first_bit("v_smfmac_f32_16x16x32_f16", 1, 3), Ok(0));
    assert!(first_bit("v_smfmac_i32_32x32x32_i8", 0, 2).is_err());
}

#[test]
fn the_neg_bits_negate_a_b_and_c_of_f64() {
    let desc = table::find(Target::GFX942, "v_mfma_f64_16x16x4_f64").next().expect("a row");
    for (matrix, bit) in [(Matrix::A, 0), (Matrix::B, 1), (Matrix::C, 2)] {
        for blgp in 0..8 {
            let controls = Controls { blgp, ..Controls::default() };
            let mut elements = layout::elements(desc, Target::GFX942, matrix, controls).expect("a layout");
            assert!(elements.all(|e| e.negated == (blgp >> bit & 1 == 1)), "{matrix:?} {blgp}");
        }
    }
}

#[test]
fn impossible_questions_are_errors_that_name_the_remedy() {
    let ask = |target, name: &str, matrix, controls| {
        let desc = table::find(target, name).next().expect("a row");
        layout::elements(desc, target, matrix, controls).expect_err("an error").to_string()
    };
    let plain = Controls::default();
    assert_eq!(
        ask(Target::GFX942, "v_add_f32_e32", Matrix::A, plain),
        "v_add_f32 is not a matrix instruction of gfx942; its operands have one value in each lane"
    );
    assert_eq!(
        ask(Target::GFX942, "v_smfmac_f32_16x16x32_f16", Matrix::C, plain),
        "v_smfmac_f32_16x16x32_f16 has no matrix C; it has A, B, D, index"
    );
    assert_eq!(
        ask(Target::GFX90A, "v_mfma_f32_16x16x4f16", Matrix::A, Controls { cbsz: 3, ..plain }),
        "v_mfma_f32_16x16x4f16 on gfx90a: cbsz:3 is not possible, 0 to 2 are: 2^cbsz of its 4 blocks share a block of A"
    );
    assert_eq!(
        ask(Target::GFX90A, "v_mfma_f32_16x16x4f16", Matrix::A, Controls { cbsz: 1, abid: 2, ..plain }),
        "v_mfma_f32_16x16x4f16 on gfx90a: abid:2 is not possible, 0 to 1 are: it names one of 2^cbsz blocks"
    );
    assert_eq!(
        ask(Target::GFX942, "v_mfma_f32_16x16x16_f16", Matrix::B, Controls { blgp: 1, ..plain }),
        "v_mfma_f32_16x16x16_f16 on gfx942: blgp:1 is not possible, leave it out: the instruction has no lane pattern of B"
    );
    assert_eq!(
        ask(Target::GFX950, "v_mfma_f32_16x16x128_f8f6f4", Matrix::A, Controls { cbsz: 5, ..plain }),
        "v_mfma_f32_16x16x128_f8f6f4 on gfx950: cbsz:5 is not possible, 0 to 4 are: 0 = fp8, 1 = bf8, 2 = fp6, 3 = bf6, 4 = fp4"
    );
}
