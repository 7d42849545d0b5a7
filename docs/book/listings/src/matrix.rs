//! Matrix instructions and layouts.

use gcn_dsl::prelude::*;

use gcn_isa::layout::{self, Controls, Element, Matrix};
use gcn_isa::table;

use crate::{Fault, Output, Outputs, TARGET, body, row};

// ANCHOR: one
gcn_kernel! {
    /// c = a * b for 32 x 8 times 8 x 32: one instruction. `a` is stored row by row, `b` column by column.
    #[workgroup(64)]
    #[targets(HasMfma)]
    pub fn one(a: &[f16], b: &[f16], c: &mut [f32]) {
        let left = FragA::<f16, 32, 8>::load_from(row_major(a, 8), 0, 0);
        let right = FragB::<f16, 8, 32>::load_from(col_major(b, 8), 0, 0);
        let product = mfma(left, right, Acc::<f32, 32, 32>::zero());
        product.store_to(row_major(c, 32), 0, 0);
    }
}
// ANCHOR_END: one

// ANCHOR: places
gcn_kernel! {
    /// Row and column of the elements that each lane holds: 16 for each of 64 lanes.
    #[workgroup(64)]
    #[targets(HasMfma)]
    pub fn places(row: &mut [u32], col: &mut [u32]) {
        let acc = Acc::<f32, 32, 32>::zero();
        #[unroll]
        for i in 0..16usize {
            row[i as u32 * 64 + lane_id()] = acc.row(i);
            col[i as u32 * 64 + lane_id()] = acc.col();
        }
    }
}
// ANCHOR_END: places

// ANCHOR: columns
gcn_kernel! {
    /// The largest element of each column of a * b, without storing the product.
    #[workgroup(64)]
    #[targets(HasMfma)]
    pub fn columns(a: &[f16], b: &[f16], largest: &mut [f32]) {
        let left = TileA::<f16, 32, 8>::load(row_major(a, 8), 0, 0);
        let right = TileB::<f16, 8, 32>::load(col_major(b, 8), 0, 0);
        let product = matmul(left, right, Tile::<f32, 32, 32>::zero());
        largest[product.col(0)] = product.col_max()[0];
    }
}
// ANCHOR_END: columns

// ANCHOR: registers
gcn_kernel! {
    /// The product of `one`, register by register: element `r * 64 + lane` is what lane `lane` has in register `r`.
    #[workgroup(64)]
    #[targets(HasMfma)]
    pub fn registers(a: &[f16], b: &[f16], out: &mut [f32]) {
        let left = FragA::<f16, 32, 8>::load_from(row_major(a, 8), 0, 0);
        let right = FragB::<f16, 8, 32>::load_from(col_major(b, 8), 0, 0);
        let product = mfma(left, right, Acc::<f32, 32, 32>::zero());
        #[unroll]
        for r in 0..16usize {
            out[r as u32 * 64 + lane_id()] = product.get(r);
        }
    }
}
// ANCHOR_END: registers

/// The numbers of the example: a(i, k) and b(k, j).
// ANCHOR: numbers
fn a_at(i: u32, k: u32) -> i32 {
    ((i + 2 * k) % 7) as i32 - 3
}

fn b_at(k: u32, j: u32) -> i32 {
    ((3 * k + j) % 5) as i32 - 2
}
// ANCHOR_END: numbers

/// Both matrices as the kernels take them: `a` row by row, `b` column by column.
fn example() -> (Vec<f16>, Vec<f16>) {
    let half = |x: i32| f16::from_f32(x as f32);
    let a = (0..256).map(|i| half(a_at(i / 8, i % 8))).collect();
    (a, (0..256).map(|i| half(b_at(i % 8, i / 8))).collect())
}

/// Where the layout tables of the instruction put the elements of a matrix.
fn layout(matrix: Matrix) -> Result<Vec<Element>, Fault> {
    let desc = table::find(TARGET, "v_mfma_f32_32x32x8_f16").next().ok_or("no such instruction")?;
    Ok(layout::elements(desc, TARGET, matrix, Controls::default())?.collect())
}

/// The element of a matrix at a row and a column: lane, register, half.
fn place(matrix: Matrix, row: u32, column: u32) -> Result<String, Fault> {
    let found = layout(matrix)?;
    let at = found.iter().find(|e| (u32::from(e.row), u32::from(e.column)) == (row, column));
    let at = at.ok_or("no such element")?;
    let half = if at.low_bit == 0 { "low" } else { "high" };
    Ok(format!("lane {}, register {}, {half}", at.lane, at.register))
}

/// The element (6, 2) of the product, step by step, and where the run has it.
fn by_hand() -> Result<(String, String), Fault> {
    let (mut sum, mut lines) = (0, Vec::new());
    for k in 0..8 {
        let (a, b) = (a_at(6, k), b_at(k, 2));
        sum += a * b;
        let at = [place(Matrix::A, 6, k)?, place(Matrix::B, k, 2)?];
        lines.push(row(&k.to_string(), &[&a, &at[0], &b, &at[1], &(a * b), &sum]));
    }
    let ((a, b), mut out) = (example(), vec![0.0; 1024]);
    registers.launch(&Device::simulator(TARGET), Grid::x(1), (&a, &b, &mut out))?;
    let d = layout(Matrix::D)?;
    let near = [(6u16, 1u16), (6, 2), (6, 3), (7, 2), (5, 2)];
    let mut shown = Vec::new();
    for (row_of, column) in near {
        let at = d.iter().find(|e| (e.row, e.column) == (row_of, column)).ok_or("no such element")?;
        let found = out[usize::from(at.register) * 64 + usize::from(at.lane)];
        let paper: i32 = (0..8).map(|k| a_at(row_of.into(), k) * b_at(k, column.into())).sum();
        shown.push(row(&format!("({row_of}, {column})"), &[&paper, &at.lane, &at.register, &found]));
    }
    let head = ["k", "a(6, k)", "where", "b(k, 2)", "where", "product", "sum"];
    let of_run = ["element of D", "on paper", "lane", "register", "in the run"];
    Ok((crate::table(&head, &lines), crate::table(&of_run, &shown)))
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let (mut rows, mut cols) = (vec![0; 1024], vec![0; 1024]);
    places.launch(&Device::simulator(TARGET), Grid::x(1), (&mut rows, &mut cols))?;
    let place = |register: usize, lane: usize| {
        let at = register * 64 + lane;
        format!("({}, {})", rows[at], cols[at])
    };
    let lanes = [0usize, 1, 31, 32, 63];
    let lines: Vec<_> = [0usize, 1, 3, 4, 15]
        .map(|register| {
            let at = lanes.map(|lane| place(register, lane));
            let cells: Vec<&dyn std::fmt::Display> = at.iter().map(|p| p as _).collect();
            row(&register.to_string(), &cells)
        })
        .to_vec();
    let head = ["register", "lane 0", "lane 1", "lane 31", "lane 32", "lane 63"];
    let assembly = one.build(TARGET)?.assembly(Comments::Explain);
    let waits = body(&assembly);
    let near = waits.lines().skip_while(|l| !l.contains("v_mfma")).take(4);
    let excerpt: Vec<&str> = near.collect();
    let (steps, found) = by_hand()?;
    Ok(vec![
        Output { name: "by-hand.md", text: steps },
        Output { name: "by-hand-run.md", text: found },
        Output { name: "places.md", text: crate::table(&head, &lines) },
        Output { name: "mfma-wait.s", text: excerpt.join("\n") + "\n" },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs() -> (Vec<f16>, Vec<f16>) {
        let number = |i: usize, step: usize| f16::from_f32((i * step % 13) as f32 - 6.0);
        ((0..256).map(|i| number(i, 5)).collect(), (0..256).map(|i| number(i, 7)).collect())
    }

    /// a * b by the definition; small whole numbers, so that every sum is exact.
    fn product(a: &[f16], b: &[f16]) -> Vec<f32> {
        let at = |i: usize| {
            let (row, col) = (i / 32 * 8, i % 32 * 8);
            (0..8).map(|k| a[row + k].to_f32() * b[col + k].to_f32()).sum()
        };
        (0..1024).map(at).collect()
    }

    #[test]
    fn one_instruction_multiplies() {
        let (a, b) = inputs();
        for target in [Target::GFX908, Target::GFX90A, Target::GFX942, Target::GFX950] {
            let mut c = vec![0.0; 1024];
            one.launch(&Device::simulator(target), Grid::x(1), (&a, &b, &mut c)).unwrap();
            assert_eq!(c, product(&a, &b), "{target}");
        }
    }

    #[test]
    fn every_element_has_one_place() {
        let (mut rows, mut cols) = (vec![0; 1024], vec![0; 1024]);
        places.launch(&Device::simulator(TARGET), Grid::x(1), (&mut rows, &mut cols)).unwrap();
        let mut seen: Vec<u32> = rows.iter().zip(&cols).map(|(row, col)| row * 32 + col).collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..1024));
    }

    #[test]
    fn columns_are_reduced_in_registers() {
        let (a, b) = inputs();
        let mut largest = vec![0.0; 32];
        columns.launch(&Device::simulator(TARGET), Grid::x(1), (&a, &b, &mut largest)).unwrap();
        let c = product(&a, &b);
        let want: Vec<f32> =
            (0..32).map(|col| c.iter().skip(col).step_by(32).copied().fold(f32::MIN, f32::max)).collect();
        assert_eq!(largest, want);
    }

    #[test]
    fn every_register_holds_what_the_layout_says() {
        let ((a, b), mut out) = (example(), vec![f32::NAN; 1024]);
        registers.launch(&Device::simulator(TARGET), Grid::x(1), (&a, &b, &mut out)).unwrap();
        let elements = layout(Matrix::D).unwrap();
        assert_eq!(elements.len(), 1024);
        for e in elements {
            let want: i32 = (0..8).map(|k| a_at(e.row.into(), k) * b_at(k, e.column.into())).sum();
            assert_eq!(out[usize::from(e.register) * 64 + usize::from(e.lane)], want as f32, "{e:?}");
        }
    }
}
