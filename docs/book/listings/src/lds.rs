//! LDS and its banks.

use gcn_dsl::prelude::*;

use gcn_dsl::sim::timed::TimedReport;

use crate::{Fault, Output, Outputs, TARGET, one_cu, row, table};

// ANCHOR: column
gcn_kernel! {
    /// A tile of 64 rows in LDS, `pitch` words from one row to the next. Each lane adds up its own row, so that
    /// at each step the wave reads a column.
    #[workgroup(64)]
    #[wave(64)]
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
    #[wave(64)]
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

// ANCHOR: direct
gcn_kernel! {
    /// Each pixel becomes the weighted sum of the 5 x 5 around it, straight from memory. `x` has two more pixels on
    /// each side than `y`.
    #[workgroup(16, 16)]
    pub fn blur_direct(width: u32, weights: &[f32], x: &[f32], y: &mut [f32]) {
        let at = global_id();
        let mut sum: V<f32> = 0.0;
        #[unroll]
        for k in 0..25u32 {
            sum = weights[k].mul_add(x[(at.y + k / 5) * (width + 4) + at.x + k % 5], sum);
        }
        y[at.y * width + at.x] = sum;
    }
}
// ANCHOR_END: direct

// ANCHOR: tile
gcn_kernel! {
    /// The same through LDS: a workgroup of X * Y pixels loads them and the halo once.
    #[workgroup(X, Y)]
    pub fn blur_tile<const X: u32, const Y: u32>(width: u32, weights: &[f32], x: &[f32], y: &mut [f32]) {
        let tile = Lds::<f32, 432>::new();
        let (lane, left, top) = (local_id(), workgroup_id().x * X, workgroup_id().y * Y);
        let (columns, cells) = (X + 4, (X + 4) * (Y + 4));
        #[unroll]
        for step in 0..2u32 {
            let cell = lane.y * X + lane.x + step * 256;
            if cell < cells {
                tile[cell] = x[(top + cell / columns) * (width + 4) + left + cell % columns];
            }
        }
        barrier();
        let mut sum: V<f32> = 0.0;
        #[unroll]
        for k in 0..25u32 {
            sum = weights[k].mul_add(tile[(lane.y + k / 5) * columns + lane.x + k % 5], sum);
        }
        y[(top + lane.y) * width + left + lane.x] = sum;
    }
}
// ANCHOR_END: tile

// ANCHOR: two
gcn_kernel! {
    /// The same; each work-item computes two pixels, one above the other, from six rows of five.
    #[workgroup(32, 8)]
    pub fn blur_two(width: u32, weights: &[f32], x: &[f32], y: &mut [f32]) {
        let tile = Lds::<f32, 720>::new(); // 36 columns and 20 rows
        let (lane, left, top) = (local_id(), workgroup_id().x * 32, workgroup_id().y * 16);
        #[unroll]
        for step in 0..3u32 {
            let cell = lane.y * 32 + lane.x + step * 256;
            if cell < 720 {
                tile[cell] = x[(top + cell / 36) * (width + 4) + left + cell % 36];
            }
        }
        barrier();
        let mut sum: [V<f32>; 2] = [0.0; 2];
        #[unroll]
        for row in 0..6u32 {
            #[unroll]
            for k in 0..5u32 {
                let pixel = tile[(2 * lane.y + row) * 36 + lane.x + k];
                comptime if row < 5 {
                    sum[0] = weights[row * 5 + k].mul_add(pixel, sum[0]);
                }
                comptime if row > 0 {
                    sum[1] = weights[(row - 1) * 5 + k].mul_add(pixel, sum[1]);
                }
            }
        }
        let first = (top + 2 * lane.y) * width + left + lane.x;
        y[first] = sum[0];
        y[first + width] = sum[1];
    }
}
// ANCHOR_END: two

/// The picture that is blurred.
const WIDTH: u32 = 128;
const HEIGHT: u32 = 64;

/// Weights, the pixels with their border, and what they become.
fn picture() -> [Vec<f32>; 3] {
    let weights: Vec<f32> = (0..25u32).map(|k| ((k * 7 % 9) + 1) as f32).collect();
    let (columns, lines) = (WIDTH + 4, HEIGHT + 4);
    let x: Vec<f32> = (0..columns * lines).map(|i| (i * 13 % 31) as f32).collect();
    let pixel = |i: u32| {
        let at = |k: u32| (i / WIDTH + k / 5) * columns + i % WIDTH + k % 5;
        (0..25).map(|k| weights[k as usize] * x[at(k) as usize]).sum() // whole numbers: exact
    };
    let blurred = (0..WIDTH * HEIGHT).map(pixel).collect();
    [weights, x, blurred]
}

/// The reports of the kernels that blur.
fn blurred() -> Result<[(&'static str, TimedReport); 4], Fault> {
    let ([weights, x, _], mut y) = (picture(), vec![0.0; (WIDTH * HEIGHT) as usize]);
    let config = one_cu();
    let grid = |x, y| Grid::xy(WIDTH / x, HEIGHT / y);
    let direct = blur_direct.timed(TARGET, grid(16, 16), (WIDTH, &weights, &x, &mut y), &config)?;
    let square = blur_tile::<16, 16>.timed(TARGET, grid(16, 16), (WIDTH, &weights, &x, &mut y), &config)?;
    let wide = blur_tile::<32, 8>.timed(TARGET, grid(32, 8), (WIDTH, &weights, &x, &mut y), &config)?;
    let two = blur_two.timed(TARGET, grid(32, 16), (WIDTH, &weights, &x, &mut y), &config)?;
    Ok([
        ("blur_direct", direct),
        ("blur_tile::<16, 16>", square),
        ("blur_tile::<32, 8>", wide),
        ("blur_two", two),
    ])
}

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
    let pixels = u64::from(WIDTH * HEIGHT);
    let blurs = blurred()?.map(|(name, report)| {
        let per_pixel = |bytes: u64| format!("{:.1}", bytes as f64 / pixels as f64);
        let cells = [per_pixel(report.memory.bytes), per_pixel(report.lds.bytes)];
        let lds = [report.lds.busy_cycles, report.lds.conflict_cycles];
        row(name, &[&cells[0], &cells[1], &lds[0], &lds[1], &report.cycles])
    });
    let of_blurs =
        ["kernel", "memory, bytes per pixel", "LDS, bytes per pixel", "LDS cycles", "conflicts", "cycles"];
    Ok(vec![
        Output { name: "banks.md", text: table(&head, &lines) },
        Output { name: "blur.md", text: table(&of_blurs, &blurs) },
    ])
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

    #[test]
    fn pictures_are_blurred() {
        let [weights, x, want] = picture();
        let (device, mut y) = (Device::simulator(TARGET), vec![f32::NAN; want.len()]);
        let grid = |x, y| Grid::xy(WIDTH / x, HEIGHT / y);
        blur_direct.launch(&device, grid(16, 16), (WIDTH, &weights, &x, &mut y)).unwrap();
        assert_eq!(y, want);
        y.fill(f32::NAN);
        blur_tile::<16, 16>.launch(&device, grid(16, 16), (WIDTH, &weights, &x, &mut y)).unwrap();
        assert_eq!(y, want);
        y.fill(f32::NAN);
        blur_tile::<32, 8>.launch(&device, grid(32, 8), (WIDTH, &weights, &x, &mut y)).unwrap();
        assert_eq!(y, want);
        y.fill(f32::NAN);
        blur_two.launch(&device, grid(32, 16), (WIDTH, &weights, &x, &mut y)).unwrap();
        assert_eq!(y, want);
    }

    #[test]
    fn a_tile_is_faster_than_memory_and_a_wide_one_has_fewer_conflicts() {
        let [direct, square, wide, two] = blurred().unwrap().map(|(_, report)| report);
        assert!(direct.cycles > square.cycles && square.cycles > wide.cycles && wide.cycles > two.cycles);
        assert!(square.lds.conflict_cycles > wide.lds.conflict_cycles);
    }
}
