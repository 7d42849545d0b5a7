//! LDS and its banks.

use gcn_dsl::prelude::*;

use crate::{Fault, Output, Outputs, TARGET, one_cu, row, table};

// ANCHOR: column
gcn_kernel! {
    /// A tile of 64 rows in LDS, `pitch` words from one row to the next. Each lane adds up its own row, so that
    /// at each step the wave reads a column.
    #[workgroup(64)]
    pub fn rows(pitch: u32, x: &[u32], y: &mut [u32]) {
        let tile = Lds::<u32, 4160>::new();
        for i in (lane_id()..64 * pitch).step_by(64) {
            tile[i] = x[i];
        }
        barrier();
        let mut sum: V<u32> = 0;
        #[unroll(1)] // a word at a time: four trips at once would read several
        for k in 0..pitch {
            sum += tile[lane_id() * pitch + k];
        }
        y[lane_id()] = sum;
    }
}
// ANCHOR_END: column

// ANCHOR: swizzle
gcn_kernel! {
    /// Rows of 32 words without a gap: word `k` of row `r` is stored at `k ^ (r % 32)`.
    #[workgroup(64)]
    pub fn swizzled(x: &[u32], y: &mut [u32]) {
        let tile = Lds::<u32, 2048>::new();
        for i in (lane_id()..2048).step_by(64) {
            let (row, k) = (i / 32, i % 32);
            tile[row * 32 + (k ^ (row % 32))] = x[i];
        }
        barrier();
        let row = lane_id();
        let mut sum: V<u32> = 0;
        for k in 0..32 {
            sum += tile[row * 32 + (k ^ (row % 32))];
        }
        y[row] = sum;
    }
}
// ANCHOR_END: swizzle

/// Cycles in which LDS works, and those of them that conflicts cost, for a word that each lane reads.
fn conflicts(pitch: u32) -> Result<[f64; 2], Fault> {
    let (x, mut y) = (vec![1; 64 * pitch as usize], [0; 64]);
    let lds = rows.timed(TARGET, Grid::x(1), (pitch, &x, &mut y), &one_cu())?.lds;
    Ok([lds.busy_cycles, lds.conflict_cycles].map(|cycles| cycles as f64 / f64::from(pitch)))
}

/// The bank of each lane's word where lane `i` reads the word `i * pitch`.
pub fn banks(pitch: u32) -> impl Iterator<Item = u32> {
    (0..64).map(move |lane| lane * pitch % TARGET.lds_banks())
}

/// The most lanes of a half wave that meet in one bank.
pub fn most_in_a_bank(pitch: u32) -> usize {
    let first: Vec<u32> = banks(pitch).take(32).collect();
    (0..TARGET.lds_banks()).map(|bank| first.iter().filter(|b| **b == bank).count()).max().unwrap_or(0)
}

/// The pitches of the table.
const PITCHES: [u32; 8] = [1, 2, 4, 8, 16, 31, 32, 33];

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let mut lines = Vec::new();
    for pitch in PITCHES {
        let [busy, conflict] = conflicts(pitch)?;
        let cells = [format!("{busy:.1}"), format!("{conflict:.1}")];
        lines.push(row(&pitch.to_string(), &[&most_in_a_bank(pitch), &cells[0], &cells[1]]));
    }
    let head = ["pitch", "lanes of 32 in one bank", "LDS cycles for a column", "of them conflicts"];
    Ok(vec![Output { name: "banks.md", text: table(&head, &lines) }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_pitches_have_no_conflicts_and_powers_of_two_have_many() {
        for pitch in PITCHES {
            let [_, conflict] = conflicts(pitch).unwrap();
            assert_eq!(conflict > 0.0, most_in_a_bank(pitch) > 1, "{pitch}: {conflict}");
        }
        assert_eq!([1, 2, 16, 32, 33].map(most_in_a_bank), [1, 2, 16, 32, 1]);
    }

    #[test]
    fn rows_are_added() {
        let x: Vec<u32> = (0..64 * 33).collect();
        let mut y = [0; 64];
        rows.launch(&Device::simulator(TARGET), Grid::x(1), (33, &x, &mut y)).unwrap();
        let want: Vec<u32> = x.chunks(33).map(|row| row.iter().sum()).collect();
        assert_eq!(y[..], want);
    }

    #[test]
    fn the_swizzle_is_right_and_has_no_conflicts() {
        let x: Vec<u32> = (0..2048).collect();
        let mut y = [0; 64];
        swizzled.launch(&Device::simulator(TARGET), Grid::x(1), (&x, &mut y)).unwrap();
        let want: Vec<u32> = x.chunks(32).map(|row| row.iter().sum()).collect();
        assert_eq!(y[..], want);
        let report = swizzled.timed(TARGET, Grid::x(1), (&x, &mut y), &one_cu()).unwrap();
        assert_eq!(report.lds.conflict_cycles, 0);
    }
}
