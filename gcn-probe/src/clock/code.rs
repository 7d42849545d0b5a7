//! Measures the instruction cache: its size, its associativity, its line size and prefetching.

use std::fmt::Write as _;

use super::found::Bench;
use super::frame::{Section, Wait};

/// The distance in bytes between the points at which the test code can be entered.
const BLOCK: u32 = 64;
/// If a cache is too small, at least this fraction of the blocks misses; the threshold leaves a margin for the program's own code.
const SOME: f64 = 1.0 / 20.0;
/// Calls the code at the label `tail`, which stores the address of its second instruction in `s[28:29]` and returns.
const FIND: &str = "s_call_b64 s[26:27], tail\n";
const FOUND: &str = "s_getpc_b64 s[28:29]\ns_setpc_b64 s[26:27]\n";
/// The size in bytes of [`FOUND`].
const FOUND_BYTES: u32 = 8;

/// A walk through code: the distance in bytes from each block to the next one, and the number of blocks.
#[derive(Debug, Clone, Copy)]
struct Walk {
    stride: u32,
    count: u32,
}

/// `bytes` bytes of instructions that are never executed.
fn fill(bytes: u32) -> String {
    let (long, short) = (bytes / 8, bytes % 8 / 4);
    format!("{}{}", "s_mov_b32 s40, 0x12345678\n".repeat(long as usize), "s_nop 0\n".repeat(short as usize))
}

/// For each walk through `bytes` bytes of code, the cycles per block when the walk is repeated.
fn run(bench: &mut Bench<'_>, bytes: u32, walks: &[Walk]) -> Result<Vec<f64>, String> {
    let mut frame = bench.frame();
    frame.trips = 2;
    let mut tail = format!("{FOUND}{}", fill(BLOCK - FOUND_BYTES));
    // Each block jumps to the next one or, when the count is used up, returns.
    for i in 0..bytes / BLOCK {
        // Writing to a string does not fail.
        let _ = write!(
            tail,
            "s_add_u32 s22, s22, s9\ns_addc_u32 s23, s23, 0\ns_sub_u32 s20, s20, 1\ns_cbranch_scc1 back{i}\n\
             s_setpc_b64 s[22:23]\nback{i}:\ns_setpc_b64 s[24:25]\n{}",
            fill(BLOCK - 24)
        );
    }
    frame.setup = FIND.to_owned();
    frame.tail = tail;
    frame.sections.push(Section {
        before: format!("s_mov_b32 s20, s8\ns_add_u32 s22, s28, {}\ns_addc_u32 s23, s29, 0\n", BLOCK - 4),
        body: "s_getpc_b64 s[24:25]\ns_add_u32 s24, s24, 12\ns_addc_u32 s25, s25, 0\ns_setpc_b64 s[22:23]\n"
            .to_owned(),
        after: Wait::None,
    });
    frame.arguments = walks.iter().map(|walk| [walk.count - 1, walk.stride, 0, 0, 0, 0, 0, 0]).collect();
    let times = frame.run(bench.gpu())?;
    Ok(walks.iter().enumerate().map(|(round, walk)| times.first(round, 0) / f64::from(walk.count)).collect())
}

/// Measures the size and the number of ways of the instruction cache.
pub(super) fn cache(bench: &mut Bench<'_>) -> Result<(), String> {
    const LARGEST: u32 = 1 << 17;
    let sizes: Vec<u32> = (12..=17).map(|n| 1 << n).collect();
    let over = |bytes: u32| Walk { stride: BLOCK, count: bytes / BLOCK };
    let times = run(bench, LARGEST, &sizes.iter().map(|bytes| over(*bytes)).collect::<Vec<_>>())?;
    let points = sizes.iter().zip(&times).map(|(bytes, time)| (f64::from(bytes.ilog2()), *time)).collect();
    bench.curve("Code", "log2 of the bytes of a loop", "cycles for 64 bytes", points);
    let Some(at) = times.windows(2).position(|pair| pair[1] > 1.2 * pair[0]) else {
        return Err("code of all sizes is as fast".to_owned());
    };
    let limit = times[at] + (times[at + 1] - times[at]) * SOME;
    let mut fits = sizes[at];
    for parts in [8, 64] {
        let step = sizes[at] / parts;
        let more: Vec<Walk> = (1..8).map(|n| over(fits + n * step)).collect();
        let times = run(bench, LARGEST, &more)?;
        fits += times.iter().take_while(|time| **time < limit).count() as u32 * step;
    }
    bench.number("instruction.bytes", fits.into());
    // Two lines this far apart are in the same set: half of the capacity is a multiple of a way's size if there are at least two ways.
    let stride = fits / 2;
    let walks: Vec<Walk> = (1..=12).map(|count| Walk { stride, count }).collect();
    let times = run(bench, 12 * stride, &walks)?;
    let points = walks.iter().zip(&times).map(|(walk, time)| (f64::from(walk.count), *time)).collect();
    bench.curve("Code in one set", "lines", "cycles for each", points);
    match times.windows(2).position(|pair| pair[1] > 2.0 * pair[0]) {
        Some(at) => bench.number("instruction.ways", f64::from(walks[at].count)),
        None => return Err(format!("{} lines of one set fit", walks.len())),
    }
    Ok(())
}

/// Measures the line size and the number of lines that are fetched ahead. Straight-line code that is not cached yet stalls at the end of
/// what was fetched. If the code is entered in its second line, the stall comes one line later, which reveals the line size.
pub(super) fn lines(bench: &mut Bench<'_>) -> Result<(), String> {
    /// The distance in bytes between readings of the clock, and the number of readings; each is kept in a lane of v8.
    const STEP: u32 = 32;
    const READINGS: u32 = 30;
    /// The distance in bytes from the label `tail` to the measured code, so that the call to `tail` does not fetch that code.
    const AFTER: u32 = 2048;
    let interval = bench.interval()?;
    let mut frame = bench.frame();
    let d = frame.dialect;
    let clock = if d.has_memtime() { 12 } else { 4 };
    let mut tail = format!("{FOUND}{}", fill(AFTER - FOUND_BYTES));
    for lane in 0..READINGS {
        let read = format!(
            "{}{}v_writelane_b32 v8, s16, {lane}\n",
            d.clock(16),
            if d.has_memtime() { d.wait(Wait::Scalar) } else { String::new() }
        );
        let rest = "s_nop 0\n".repeat((STEP - clock - 8) as usize / 4);
        tail += &format!("{read}{rest}");
    }
    tail += "s_setpc_b64 s[24:25]\n";
    (frame.setup, frame.tail, frame.trips, frame.kept) = (FIND.to_owned(), tail, 1, 4 * d.lanes());
    frame.end = format!(
        "v_lshlrev_b32 v9, 2, v1\nv_add{}_u32 v9, s16, v9\nglobal_store_dword v9, v8, s[4:5]\n",
        d.no_carry()
    );
    let mut waits = Vec::new();
    for entry in (0..=8).map(|n| n * STEP) {
        let mut frame = frame.clone();
        frame.sections.push(Section {
            before: format!("s_add_u32 s22, s28, {}\ns_addc_u32 s23, s29, 0\n", AFTER + entry - 4),
            body:
                "s_getpc_b64 s[24:25]\ns_add_u32 s24, s24, 12\ns_addc_u32 s25, s25, 0\ns_setpc_b64 s[22:23]\n"
                    .to_owned(),
            after: Wait::None,
        });
        frame.end = format!("s_mov_b32 s16, {}\n{}", frame.kept_at(), frame.end);
        let times = frame.run(bench.gpu())?;
        let kept = times.kept(frame.kept);
        let first = (entry / STEP) as usize;
        let steps: Vec<f64> =
            kept[first..READINGS as usize].windows(2).map(|pair| times.between(pair[0], pair[1])).collect();
        let usual = steps.iter().copied().fold(f64::MAX, f64::min);
        let Some(gap) = steps.iter().position(|step| *step > usual + 8.0 * interval.max(4.0)) else {
            return Err("straight code never waits".to_owned());
        };
        waits.push((entry, entry + STEP * (gap as u32 + 1)));
    }
    let from = waits[0].1;
    bench.curve(
        "Straight code that is new",
        "byte at which it is entered",
        "byte before which it waits",
        waits.iter().map(|(entry, wait)| (f64::from(*entry), f64::from(*wait))).collect(),
    );
    let Some((line, _)) = waits.iter().copied().find(|(_, wait)| *wait > from) else {
        return Err("all entries wait at the same byte".to_owned());
    };
    bench.number("instruction.line", line.into());
    bench.number("instruction.ahead", f64::from(from / line) - 1.0);
    Ok(())
}
