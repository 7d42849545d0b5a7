//! One matrix product, rung by rung.
//!
//! Every rung computes c = a * b in half precision with single-precision sums. `a` is stored row by row, `b`
//! column by column; both have rows of `depth` elements.

use gcn_dsl::lang::matrix::{Linear, Spread, Swizzle};
use gcn_dsl::prelude::*;
use gcn_dsl::sim::timed::{Config, Pipe, TimedReport};
use gcn_dsl::sim::timeline::EVENTS;
use gcn_examples::lessons::gemm_f16::gemm_f16;

use crate::{Fault, Output, Outputs, Picture, TARGET, row, table};

// ANCHOR: naive
gcn_kernel! {
    /// Rung 1: a work-item for each element of c.
    #[workgroup(16, 16)]
    pub fn naive(columns: u32, depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let at = global_id();
        let mut sum: V<f32> = 0.0;
        for k in 0..depth {
            sum = (a[at.y * depth + k] as f32).mul_add(b[at.x * depth + k] as f32, sum);
        }
        c[at.y * columns + at.x] = sum;
    }
}
// ANCHOR_END: naive

// ANCHOR: blocked
gcn_kernel! {
    /// Rung 2: 64 x 64 elements for a workgroup through LDS, 4 x 4 of them for each work-item.
    #[workgroup(256)]
    pub fn blocked(columns: u32, depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let (left, right) = (Lds::<f32, 1024>::new(), Lds::<f32, 1024>::new()); // 16 k of 64 rows and columns
        let i = local_id().x;
        let (row, col) = (workgroup_id().y * 64, workgroup_id().x * 64);
        let (line, first) = (i / 4, i % 4 * 4); // what this work-item loads
        let (down, across) = (i / 16 * 4, i % 16 * 4); // what it computes
        let mut sum: [V<f32>; 16] = [0.0; 16];
        for k in (0..depth).step_by(16) {
            let x = a.load_vector::<4>((row + line) * depth + k + first);
            let y = b.load_vector::<4>((col + line) * depth + k + first);
            #[unroll]
            for j in 0..4usize {
                left[(first + j as u32) * 64 + line] = x.get(j) as f32;
                right[(first + j as u32) * 64 + line] = y.get(j) as f32;
            }
            barrier();
            #[unroll]
            for k in 0..16u32 {
                let x = left.load_vector::<4>(k * 64 + down);
                let y = right.load_vector::<4>(k * 64 + across);
                #[unroll]
                for j in 0..16usize {
                    sum[j] = x.get(j / 4).mul_add(y.get(j % 4), sum[j]);
                }
            }
            barrier();
        }
        #[unroll]
        for j in 0..16usize {
            c[(row + down + j as u32 / 4) * columns + col + across + j as u32 % 4] = sum[j];
        }
    }
}
// ANCHOR_END: blocked

// ANCHOR: matrix
gcn_kernel! {
    /// Rung 3: matrix instructions, 64 x 64 elements for a wave, fragments straight from memory.
    #[workgroup(64)]
    #[targets(HasMfma)]
    pub fn fragments(columns: u32, depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let (row, col) = (workgroup_id().y * 64, workgroup_id().x * 64);
        let mut acc = Tile::<f32, 64, 64>::zero();
        for k in (0..depth).step_by(16) {
            let left = TileA::<f16, 64, 16>::load(row_major(a, depth), row, k);
            let right = TileB::<f16, 16, 64>::load(col_major(b, depth), k, col);
            acc = matmul(left, right, acc);
        }
        acc.store_to(row_major(c, columns), row, col);
    }
}
// ANCHOR_END: matrix

// ANCHOR: tiles
gcn_kernel! {
    /// Rungs 4 and 5: 128 x 128 elements for a workgroup of four waves; the tiles are in LDS, in the layout `L`.
    #[workgroup(256)]
    #[targets(HasMfma)]
    pub fn tiles<L: Swizzle>(columns: u32, depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let (row, col) = (workgroup_id().y * 128, workgroup_id().x * 128);
        let (down, across) = (wave_id() / 2 * 64, wave_id() % 2 * 64);
        let (a, b) = (row_major(a, depth), row_major(b, depth));
        let left = LdsTile::<f16, 128, 32, L>::new();
        let right = LdsTile::<f16, 128, 32, L>::new();
        let mut acc = Tile::<f32, 64, 64>::zero();
        for k in (0..depth).step_by(32) {
            left.put(left.fetch(a, row, k));
            right.put(right.fetch(b, col, k));
            barrier();
            let x = TileA::<f16, 64, 32>::load(left, down, 0);
            let y = TileB::<f16, 32, 64>::load(right.transposed(), 0, across);
            acc = matmul(x, y, acc);
            barrier();
        }
        acc.store_to(row_major(c, columns), row + down, col + across);
    }
}
// ANCHOR_END: tiles

// ANCHOR: ahead
gcn_kernel! {
    /// Rung 6: the loads of the next tiles are in flight while this one is multiplied.
    #[workgroup(256)]
    #[targets(HasMfma)]
    pub fn ahead(columns: u32, depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let (row, col) = (workgroup_id().y * 128, workgroup_id().x * 128);
        let (down, across) = (wave_id() / 2 * 64, wave_id() % 2 * 64);
        let (a, b) = (row_major(a, depth), row_major(b, depth));
        let left = LdsTile::<f16, 128, 32, Spread>::new();
        let right = LdsTile::<f16, 128, 32, Spread>::new();
        let mut acc = Tile::<f32, 64, 64>::zero();
        #[pipeline(stages = 2)]
        for k in (0..depth).step_by(32) {
            left.put(left.fetch(a, row, k));
            right.put(right.fetch(b, col, k));
            barrier();
            let x = TileA::<f16, 64, 32>::load(left, down, 0);
            let y = TileB::<f16, 32, 64>::load(right.transposed(), 0, across);
            acc = matmul(x, y, acc);
            barrier();
        }
        acc.store_to(row_major(c, columns), row + down, col + across);
    }
}
// ANCHOR_END: ahead

/// Numbers for a and b: small and whole, so that every sum is exact in any order.
fn inputs(rows: u32, depth: u32) -> (Vec<f16>, Vec<f16>) {
    let number = |i: u32, step: u32| f16::from_f32((i * step % 7) as f32 - 3.0);
    let n = rows * depth;
    ((0..n).map(|i| number(i, 3)).collect(), (0..n).map(|i| number(i, 5)).collect())
}

/// A rung: its name, what one workgroup computes, and how it runs in the timed mode on a square of `side`.
pub struct Rung {
    /// The rung's number and the kernel's name.
    pub name: &'static str,
    /// The side of the square of c that is computed.
    pub side: u32,
    /// The side of what one workgroup computes.
    pub tile: u32,
    /// The two depths whose difference is the steady state.
    pub depths: [u32; 2],
    /// True if it multiplies with matrix instructions.
    pub uses_matrix: bool,
    run: fn(u32, u32, &Config) -> Result<TimedReport, Fault>,
}

/// The configuration of docs/matrix-pipe.md: one compute unit whose tiles come through an L2 that others share.
fn shared() -> Result<Config, Fault> {
    let mut config = Config::one_cu();
    for parameter in [
        "l2.bandwidth=54",
        "memory.bandwidth=54",
        "mall.bandwidth=54",
        "memory.latency=500",
        "mall.latency=500",
    ] {
        config.set(parameter)?;
    }
    Ok(config)
}

macro_rules! rung {
    ($name:literal, $side:literal, $depths:expr, $tile:literal, $matrix:literal, $kernel:expr) => {
        Rung {
            name: $name,
            side: $side,
            tile: $tile,
            depths: $depths,
            uses_matrix: $matrix,
            run: |side, depth, config| {
                let (a, b) = inputs(side, depth);
                let mut c = vec![0.0; (side * side) as usize];
                let grid = Grid::xy(side / $tile, side / $tile);
                Ok($kernel.timed(TARGET, grid, (side, depth, &a, &b, &mut c), config)?)
            },
        }
    };
}

/// The rungs, lowest first.
pub const RUNGS: [Rung; 7] = [
    rung!("1 `naive`", 128, [32, 64], 16, false, naive),
    rung!("2 `blocked`", 128, [64, 128], 64, false, blocked),
    rung!("3 `fragments`", 128, [128, 256], 64, true, fragments),
    rung!("4 `tiles::<Linear>`", 128, [128, 256], 128, true, tiles::<Linear>),
    rung!("5 `tiles::<Spread>`", 128, [128, 256], 128, true, tiles::<Spread>),
    rung!("6 `ahead`", 128, [128, 256], 128, true, ahead),
    rung!("7 `gemm_f16`", 256, [256, 512], 256, true, gemm_f16),
];

/// Multiplications and additions that a compute unit of gfx942 can do in a cycle (CDNA 3 white paper: 1307.4
/// TFLOPS of f16 on 304 compute units at 2.1 GHz).
pub const LIMIT: f64 = 2048.0;

/// Bytes of a line of the vector cache (CDNA 3).
const CACHE_LINE: u32 = 128;

/// What a rung's steady state costs.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Cycles between the two depths.
    pub cycles: u64,
    /// Multiplications and additions in a cycle.
    pub rate: f64,
    /// Cycles of bank conflicts.
    pub conflicts: u64,
    /// Bytes that the vector caches fetched.
    pub fetched: u64,
    /// Bytes that lanes wrote to LDS and read from it.
    pub lds: u64,
    /// Multiplications and additions.
    pub operations: f64,
}

/// Bytes that come from L2 in a cycle: the share of one of 304 compute units.
const FROM_L2: f64 = 54.0;

/// Bytes that LDS moves in a cycle.
const OF_LDS: f64 = 128.0;

// ANCHOR: roof
/// The highest rates that L2, LDS and the arithmetic unit allow, in operations per cycle.
fn roofs(rung: &Rung, at: &Measured) -> [f64; 3] {
    let unit = if rung.uses_matrix { LIMIT } else { 256.0 };
    [FROM_L2 * at.operations / at.fetched as f64, OF_LDS * at.operations / at.lds as f64, unit]
}
// ANCHOR_END: roof

impl Rung {
    /// Measures the rung.
    ///
    /// # Errors
    /// The kernel could not be built or run.
    pub fn measure(&self) -> Result<Measured, Fault> {
        let config = shared()?;
        let [short, long] = self.depths;
        let (less, more) = ((self.run)(self.side, short, &config)?, (self.run)(self.side, long, &config)?);
        let cycles = more.cycles - less.cycles;
        let operations = 2.0 * f64::from(self.side).powi(2) * f64::from(long - short);
        let conflicts = more.lds.conflict_cycles - less.lds.conflict_cycles;
        let line = u64::from(CACHE_LINE);
        let fetched = line * (more.memory.l1.misses - less.memory.l1.misses);
        let lds = more.lds.bytes - less.lds.bytes;
        Ok(Measured { cycles, rate: operations / cycles as f64, conflicts, fetched, lds, operations })
    }

    /// The timeline of one workgroup in the steady state: around the middle of the longer depth, half of what that has more than the
    /// shorter one.
    ///
    /// # Errors
    /// The kernel could not be built or run.
    pub fn timeline(&self) -> Result<String, Fault> {
        let [short, long] = self.depths;
        let less = (self.run)(self.tile, short, &shared()?)?.cycles;
        let report = (self.run)(self.tile, long, &Config { timeline: EVENTS, ..shared()? })?;
        let (middle, shown) = (report.cycles / 2, (report.cycles - less) / 2);
        let timeline = gcn_dsl::sim::timeline::Timeline::new(report).titled(self.name).with_trips(usize::MAX);
        Ok(timeline.within(middle - shown / 2..middle + shown / 2).with_width(COLUMN).svg())
    }
}

/// Pixels of a picture that the book's column has room for.
const COLUMN: u32 = 750;

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let (mut lines, mut limits) = (Vec::new(), Vec::new());
    for rung in &RUNGS {
        let measured = rung.measure()?;
        let Measured { cycles, rate, conflicts, .. } = measured;
        let roofs = roofs(rung, &measured);
        let whole = |roof: f64| if roof.is_finite() { format!("{roof:.0}") } else { "none".to_owned() };
        let per_byte = |bytes: u64| {
            if bytes == 0 {
                "no bytes".to_owned()
            } else {
                format!("{:.1}", measured.operations / bytes as f64)
            }
        };
        let lowest = roofs.into_iter().fold(f64::INFINITY, f64::min);
        limits.push(row(
            rung.name,
            &[
                &per_byte(measured.fetched),
                &whole(roofs[0]),
                &per_byte(measured.lds),
                &whole(roofs[1]),
                &whole(roofs[2]),
                &format!("{rate:.0}"),
                &format!("{:.0}%", 100.0 * rate / lowest),
            ],
        ));
        let share = format!("{:.1}%", 100.0 * rate / LIMIT);
        lines.push(row(rung.name, &[&cycles, &format!("{rate:.0}"), &share, &conflicts]));
    }
    let head = ["rung", "cycles", "operations per cycle", "of the limit", "cycles of bank conflicts"];
    let of_roofs = [
        "rung",
        "operations per byte of L2",
        "roof of L2",
        "operations per byte of LDS",
        "roof of LDS",
        "roof of the unit",
        "measured",
        "of the lowest roof",
    ];
    Ok(vec![
        Output { name: "rungs.md", text: table(&head, &lines) },
        Output { name: "roofs.md", text: table(&of_roofs, &limits) },
    ])
}

/// The timelines of the rungs that use LDS and matrix instructions.
///
/// # Errors
/// A kernel could not be built or run.
pub fn pictures() -> Result<Vec<Picture>, Fault> {
    let names = ["rung-1", "rung-2", "rung-3", "rung-4", "rung-5", "rung-6", "rung-7"];
    let drawn = names.into_iter().zip(&RUNGS);
    drawn.map(|(name, rung)| Ok(Picture { name, svg: rung.timeline()? })).collect()
}

/// The share of the matrix pipe's time that a report shows.
pub fn matrix_share(report: &TimedReport) -> f64 {
    report.pipe(Pipe::Matrix).map_or(0.0, |pipe| pipe.utilization)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(side: u32, depth: u32, a: &[f16], b: &[f16]) -> Vec<f32> {
        let (side, depth) = (side as usize, depth as usize);
        let at = |i: usize| {
            let (row, col) = (i / side * depth, i % side * depth);
            (0..depth).map(|k| a[row + k].to_f32() * b[col + k].to_f32()).sum()
        };
        (0..side * side).map(at).collect()
    }

    #[test]
    fn every_rung_multiplies() {
        let (side, depth) = (128, 96);
        let (a, b) = inputs(side, depth);
        let want = product(side, depth, &a, &b);
        let device = Device::simulator(TARGET);
        let mut c = vec![0.0; want.len()];
        macro_rules! check {
            ($kernel:expr, $tile:literal) => {
                c.fill(f32::NAN);
                let grid = Grid::xy(side / $tile, side / $tile);
                $kernel.launch(&device, grid, (side, depth, &a, &b, &mut c)).unwrap();
                assert!(c == want, stringify!($kernel));
            };
        }
        check!(naive, 16);
        check!(blocked, 64);
        check!(fragments, 64);
        check!(tiles::<Linear>, 128);
        check!(tiles::<Spread>, 128);
        check!(ahead, 128);
        c.fill(f32::NAN);
        gemm_f16.launch(&device, Grid::x(1), (side, depth, &a, &b, &mut c)).unwrap();
        assert!(c == want, "gemm_f16");
    }

    #[test]
    fn every_rung_is_faster_and_the_last_is_at_the_limit() {
        let rates: Vec<f64> = RUNGS.iter().map(|rung| rung.measure().unwrap().rate).collect();
        assert!(rates.is_sorted(), "{rates:?}");
        let share = rates[6] / LIMIT;
        assert!((0.97..=1.001).contains(&share), "{share}");
    }

    #[test]
    fn no_rung_is_above_its_roofs() {
        for rung in &RUNGS {
            let measured = rung.measure().unwrap();
            for roof in roofs(rung, &measured) {
                // The difference of two short runs is exact to a few percent.
                assert!(measured.rate <= 1.03 * roof, "{}: {}, {roof}", rung.name, measured.rate);
            }
        }
    }
}
