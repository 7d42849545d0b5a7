//! Matrix instructions and layouts.

use gcn_dsl::prelude::*;

use crate::{Output, Outputs, TARGET, body, row, table};

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
    Ok(vec![
        Output { name: "places.md", text: table(&head, &lines) },
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
}
