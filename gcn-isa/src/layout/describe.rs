//! Describes layouts by formulas that people can read.

use super::{Arrangement, ElemType, LANES, Matrix, QUAD, Shape};

/// The layout of a matrix as two formulas in `i` (row of A, C, D), `j` (column of B, C, D), `k` and `block`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formulas {
    /// The formula of the lane.
    pub lane: String,
    /// The formula of the register and the bits in that lane.
    pub register: String,
}

/// The formulas of `matrix`; `None` if the shape has no such matrix or if its formats have not been selected.
///
/// ```
/// use gcn_isa::{Target, layout::{self, Matrix}, table};
/// let row = table::find(Target::GFX942, "v_mfma_f32_32x32x8_f16").next().unwrap();
/// let a = layout::formulas(layout::shape(row, Target::GFX942).unwrap(), Matrix::A).unwrap();
/// assert_eq!(a.lane, "i + 32 * (k / 4)");
/// assert_eq!(a.register, "register k % 4 / 2, bits from 16 * (k % 2)");
/// ```
pub fn formulas(shape: &Shape, matrix: Matrix) -> Option<Formulas> {
    shape.registers(matrix)?;
    if shape.arrangement != Arrangement::Mfma && matches!(matrix, Matrix::ScaleA | Matrix::ScaleB) {
        let line = if matrix == Matrix::ScaleA { "i" } else { "j" };
        let register = format!("a byte from bit 8 * (k / {}) of register 0 upwards", shape.scale_block);
        return Some(Formulas { lane: line.to_owned(), register });
    }
    if shape.arrangement != Arrangement::Mfma {
        return Some(wmma(shape, matrix));
    }
    let (lane, register) = match matrix {
        Matrix::A => (input_lane(shape, matrix), input_register(shape, matrix, shape.a)),
        Matrix::B => (input_lane(shape, matrix), input_register(shape, matrix, shape.b)),
        Matrix::C | Matrix::D => (result_lane(shape), result_register(shape)),
        Matrix::Index => {
            let position = modulo("k", shape.per_lane(matrix));
            (input_lane(shape, Matrix::A), format!("register 0, four bits from 4 * ({position} / 4)"))
        }
        Matrix::ScaleA => (format!("i + {} * (k / 32)", shape.m), "register 0, a byte".to_owned()),
        Matrix::ScaleB => (format!("j + {} * (k / 32)", shape.n), "register 0, a byte".to_owned()),
    };
    Some(Formulas { lane, register })
}

fn wmma(shape: &Shape, matrix: Matrix) -> Formulas {
    let (line, index) = match matrix {
        Matrix::A | Matrix::Index => ("i", "k"),
        Matrix::B => ("j", "k"),
        _ => ("j", "i"),
    };
    let end = u32::from(if index == "k" { shape.k } else { shape.m });
    let lane_bits = shape.lane_bits(matrix);
    let tall = matrix == Matrix::A && shape.m > 16;
    let mut lane = if tall { format!("{line} % 16") } else { line.to_owned() };
    for (weight, value) in [16, 32].into_iter().zip(lane_bits) {
        let Some(value) = value else { continue };
        lane += &format!(" + {weight} * ({})", digits(index, value, 2 * value, end));
    }
    if shape.copies(matrix) > 1 {
        lane += ", and in every other 16 lanes again";
    }
    // The bits of the index that are not in the lane, grouped into ranges of consecutive bits.
    let mut removed: Vec<u32> = lane_bits.into_iter().flatten().collect();
    removed.sort_unstable();
    let (mut pieces, mut from, mut unit) = (Vec::new(), 1, 1);
    for value in removed.into_iter().chain([end]) {
        if value > from {
            let digits = digits(index, from, value, end);
            pieces.push(if unit == 1 { digits } else { format!("{unit} * ({digits})") });
            unit *= value / from;
        }
        from = 2 * value;
    }
    pieces.reverse();
    let position = match &pieces[..] {
        [one] => one.clone(),
        _ => format!("({})", pieces.join(" + ")),
    };
    let bits = u32::from(
        match matrix {
            Matrix::A => shape.a.bits(),
            Matrix::B => shape.b.bits(),
            _ => shape.acc.bits(),
        }
        .unwrap_or(32),
    );
    let register = match matrix {
        Matrix::Index => format!("register 0, four bits from 4 * ({position} / 4)"),
        Matrix::A | Matrix::B if bits == 6 => {
            format!("bits from 6 * ({position}) of the registers taken as one number")
        }
        Matrix::A if tall => format!(
            "register {half} * (i / 16) + {position} / {each}, bits from {bits} * ({position} % {each})",
            half = shape.registers(matrix).unwrap_or(0) / 2,
            each = 32 / bits
        ),
        Matrix::A if shape.sparse => format!(
            "two elements for the group of four k at {position} / 4, each {bits} bits, from bit 0 of register 0 upwards"
        ),
        Matrix::C | Matrix::D if bits == 32 => format!("register {position}"),
        Matrix::C | Matrix::D if shape.arrangement == Arrangement::WmmaCopied => {
            format!("register {position}, bits from 0")
        }
        _ => format!(
            "register {position} / {each}, bits from {bits} * ({position} % {each})",
            each = 32 / bits
        ),
    };
    Formulas { lane, register }
}

/// A formula for the bits of `index`, which is less than `end`, from the bit with the value `from` up to the bit with
/// the value `to`.
fn digits(index: &str, from: u32, to: u32, end: u32) -> String {
    let down = if from == 1 { index.to_owned() } else { format!("{index} / {from}") };
    if to >= end { down } else { format!("{down} % {}", to / from) }
}

/// The text `what % n`. It is empty if the value is always 0.
fn modulo(what: &str, n: u32) -> String {
    if n == 1 { "0".to_owned() } else { format!("{what} % {n}") }
}

fn input_lane(shape: &Shape, matrix: Matrix) -> String {
    let line = if matrix == Matrix::B { "j" } else { "i" };
    let (width, blocks) = (shape.width(matrix), u32::from(shape.blocks));
    let (run, groups) = (shape.consecutive(matrix), LANES / (width * blocks));
    let steps = if run == 1 { "k".to_owned() } else { format!("k / {run}") };
    let group = if run < shape.per_lane(matrix) { format!("{steps} % {groups}") } else { steps };
    let outer = match (groups, blocks) {
        (1, 1) => return line.to_owned(),
        (1, _) => "block".to_owned(),
        (_, 1) if group == "k" => group,
        (_, 1) => format!("({group})"),
        _ => format!("(block + {blocks} * ({group}))"),
    };
    format!("{line} + {width} * {outer}")
}

fn input_register(shape: &Shape, matrix: Matrix, ty: ElemType) -> String {
    let bits = u32::from(ty.bits().unwrap_or(32));
    let per_lane = shape.per_lane(matrix);
    if shape.sparse && matrix == Matrix::A {
        return format!(
            "two elements for the group of four k at ({}) / 4, each {bits} bits, from bit 0 of register 0 upwards",
            modulo("k", per_lane)
        );
    }
    let run = shape.consecutive(matrix);
    if run < per_lane {
        let half = run * LANES / shape.width(matrix);
        return format!("register 4 * (k / {half}) + k % {run} / 4, bits from 8 * (k % 4)");
    }
    let position = modulo("k", per_lane);
    match bits {
        64 => "registers 0 and 1".to_owned(),
        _ if per_lane * bits <= 32 && per_lane == 1 => "register 0".to_owned(),
        32 => format!("register {position}"),
        6 => format!("bits from 6 * ({position}) of the registers taken as one number"),
        _ => {
            let each = 32 / bits;
            let register = if per_lane <= each { "0".to_owned() } else { format!("{position} / {each}") };
            format!("register {register}, bits from {bits} * ({})", modulo("k", each))
        }
    }
}

fn result_lane(shape: &Shape) -> String {
    let (m, n, blocks) = (u32::from(shape.m), u32::from(shape.n), u32::from(shape.blocks));
    let groups = LANES / n;
    let slot = match (shape.acc, blocks, m) {
        (ElemType::F64, 1, _) => "i".to_owned(),
        (ElemType::F64, ..) => format!("i * {blocks} + block"),
        (_, 1, _) => "i / 4".to_owned(),
        (_, _, 4) => "block".to_owned(),
        _ => format!("block * {} + i / 4", m / QUAD),
    };
    format!("j + {n} * (({slot}) % {groups})")
}

fn result_register(shape: &Shape) -> String {
    let (m, n, blocks) = (u32::from(shape.m), u32::from(shape.n), u32::from(shape.blocks));
    let groups = LANES / n;
    if shape.acc == ElemType::F64 {
        let slot = if blocks == 1 { "i".to_owned() } else { format!("(i * {blocks} + block)") };
        return format!("registers 2 * ({slot} / {groups}) and the next");
    }
    let slots = blocks * m / QUAD;
    if slots <= groups {
        return "register i % 4".to_owned();
    }
    let slot = match (blocks, m) {
        (1, _) => "i / 4".to_owned(),
        _ => format!("(block * {} + i / 4)", m / QUAD),
    };
    format!("register 4 * ({slot} / {groups}) + i % 4")
}
