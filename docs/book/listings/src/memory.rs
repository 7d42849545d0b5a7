//! Memory and its counters.

use gcn_dsl::prelude::*;

use crate::{Fault, Output, Outputs, TARGET, body, one_cu, row, table};

// ANCHOR: chain
gcn_kernel! {
    /// Eight loads, each of which needs the one before.
    #[workgroup(64)]
    pub fn chain(next: &[u32], out: &mut [u32]) {
        let mut at: V<u32> = lane_id();
        #[unroll]
        for _ in 0..8 {
            at = next[at];
        }
        out[lane_id()] = at;
    }
}

gcn_kernel! {
    /// Eight loads that need nothing of each other.
    #[workgroup(64)]
    pub fn eight(next: &[u32], out: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[unroll]
        for k in 0..8u32 {
            sum += next[k * 64 + lane_id()];
        }
        out[lane_id()] = sum;
    }
}
// ANCHOR_END: chain

// ANCHOR: copy
/// Workgroups that copy.
const GROUPS: u32 = 8;

gcn_kernel! {
    /// Copies 4 bytes for each lane and trip.
    #[workgroup(256)]
    pub fn copy_narrow(n: u32, x: &[u32], y: &mut [u32]) {
        for i in (global_id().x..n).step_by(256 * GROUPS) {
            y[i] = x[i];
        }
    }
}

gcn_kernel! {
    /// Copies 16 bytes for each lane and trip.
    #[workgroup(256)]
    pub fn copy_wide(n: u32, x: &[u32], y: &mut [u32]) {
        for i in (4 * global_id().x..n).step_by(4 * 256 * GROUPS) {
            y.store_vector(i, x.load_vector::<4>(i));
        }
    }
}
// ANCHOR_END: copy

// ANCHOR: scatter
gcn_kernel! {
    /// As `copy_narrow`, but neighbouring lanes read elements that are `stride` apart.
    #[workgroup(256)]
    pub fn copy_strided(n: u32, stride: u32, x: &[u32], y: &mut [u32]) {
        for i in (global_id().x..n).step_by(256 * GROUPS) {
            y[i] = x[i % (n / stride) * stride + i / (n / stride)];
        }
    }
}
// ANCHOR_END: scatter

/// Elements that the copies move.
const N: u32 = 1 << 16;

/// Cycles of `chain` and `eight`.
fn latency() -> Result<[u64; 2], Fault> {
    let next: Vec<u32> = (0..512).map(|i| (i + 64) % 512).collect();
    let mut out = [0; 64];
    let chained = chain.timed(TARGET, Grid::x(1), (&next, &mut out), &one_cu())?.cycles;
    Ok([chained, eight.timed(TARGET, Grid::x(1), (&next, &mut out), &one_cu())?.cycles])
}

/// Cycles of the three copies; the last one with a stride of 32 elements.
fn copies() -> Result<[u64; 3], Fault> {
    let (x, mut y): (Vec<u32>, _) = ((0..N).collect(), vec![0; N as usize]);
    let narrow = copy_narrow.timed(TARGET, Grid::x(GROUPS), (N, &x, &mut y), &one_cu())?.cycles;
    let wide = copy_wide.timed(TARGET, Grid::x(GROUPS), (N, &x, &mut y), &one_cu())?.cycles;
    let strided = copy_strided.timed(TARGET, Grid::x(GROUPS), (N, 32, &x, &mut y), &one_cu())?.cycles;
    Ok([narrow, wide, strided])
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let [chained, independent] = latency()?;
    let loads = [row("chain", &[&chained]), row("eight", &[&independent])];
    let [narrow, wide, strided] = copies()?;
    let per = |cycles: u64| format!("{:.1}", f64::from(8 * N) / cycles as f64);
    let copied = [
        row("copy_narrow", &[&narrow, &per(narrow)]),
        row("copy_wide", &[&wide, &per(wide)]),
        row("copy_strided", &[&strided, &per(strided)]),
    ];
    let explained = eight.build(TARGET)?.assembly(Comments::Explain);
    Ok(vec![
        Output { name: "eight.s", text: body(&explained) },
        Output { name: "latency.md", text: table(&["kernel", "cycles"], &loads) },
        Output { name: "copies.md", text: table(&["kernel", "cycles", "bytes per cycle"], &copied) },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_add_up_only_in_a_chain() {
        let [chained, independent] = latency().unwrap();
        assert!(chained > 3 * independent, "{chained}, {independent}");
    }

    #[test]
    fn wide_accesses_are_faster_and_scattered_ones_slower() {
        let [narrow, wide, strided] = copies().unwrap();
        assert!(wide < narrow && narrow < strided, "{narrow}, {wide}, {strided}");
    }

    #[test]
    fn copies_copy() {
        let device = Device::simulator(TARGET);
        let x: Vec<u32> = (0..N).map(|i| i * 7).collect();
        let mut y = vec![0; N as usize];
        copy_narrow.launch(&device, Grid::x(GROUPS), (N, &x, &mut y)).unwrap();
        assert_eq!(x, y);
        y.fill(0);
        copy_wide.launch(&device, Grid::x(GROUPS), (N, &x, &mut y)).unwrap();
        assert_eq!(x, y);
        copy_strided.launch(&device, Grid::x(GROUPS), (N, 32, &x, &mut y)).unwrap();
        let rows = N as usize / 32;
        assert!((0..N as usize).all(|i| y[i] == x[i % rows * 32 + i / rows]));
    }

    #[test]
    fn chains_lead_where_they_should() {
        let next: Vec<u32> = (0..512).map(|i| (i + 64) % 512).collect();
        let mut out = [0; 64];
        chain.launch(&Device::simulator(TARGET), Grid::x(1), (&next, &mut out)).unwrap();
        assert!((0..64).all(|i| out[i] == i as u32));
    }
}
