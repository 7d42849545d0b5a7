//! Measures the LDS: its ports, its banks, and the phases in which an access is served.

use std::fmt::Write as _;

use super::found::Bench;
use super::frame::{Frame, Mask, Section, Wait};

/// The LDS size of a program in bytes.
const BYTES: u32 = 1 << 15;

/// A program whose lanes all have the address 0 in v8, and in v9 addresses `stride` dwords apart.
fn frame(bench: &Bench<'_>, stride: u32) -> Frame {
    let mut frame = bench.wide();
    frame.lds_bytes = BYTES;
    frame.setup = addresses(stride);
    frame
}

fn addresses(stride: u32) -> String {
    format!("s_mov_b32 m0, -1\nv_mov_b32 v8, 0\ns_movk_i32 s16, {}\nv_mul_lo_u32 v9, v1, s16\n", 4 * stride)
}

/// Measures ports, banks and latency.
pub(super) fn ports(bench: &mut Bench<'_>) -> Result<(), String> {
    let plain = frame(bench, 1);
    let lanes = f64::from(plain.dialect.lanes());
    let interval = bench.interval()?;
    // All lanes have the same address, so each dword costs one bank access.
    let write = |i: usize| format!("ds_write_b128 v8, v[{0}:{1}]\n", 16 + 4 * (i % 8), 19 + 4 * (i % 8));
    let read = |i: usize| format!("ds_read_b128 v[{0}:{1}], v8\n", 16 + 4 * (i % 8), 19 + 4 * (i % 8));
    let put = bench.slope(&plain, write, Wait::Lds)?;
    // A write sends addresses and data through the input port; a read sends data through the output port.
    let input = 20.0 * lanes / put;
    let output = 16.0 * lanes / bench.slope(&plain, read, Wait::Lds)?;
    bench.number("lds.port-in", input);
    bench.number("lds.port-out", output);
    let mut banks = (0, 0.0);
    let mut points = Vec::new();
    for stride in (8..=128).step_by(8) {
        let strided = frame(bench, stride);
        let cycles = bench.slope(&strided, |i| format!("ds_read_b32 v{}, v9\n", 16 + i % 8), Wait::Lds)?;
        points.push((f64::from(stride), cycles));
        // The least stride at which most lanes conflict.
        if cycles > banks.1 + 0.5 {
            banks = (stride, cycles);
        }
    }
    bench.curve("LDS reads of a dword", "stride in dwords", "cycles of a wave of 64 lanes", points);
    bench.number("lds.banks", banks.0.into());
    let one = format!("ds_read_b32 v16, v8\n{}", plain.dialect.wait(Wait::Lds));
    let chain = bench.slope(&plain, |_| one.clone(), Wait::None)?;
    let phases = touched(bench, "ds_read_b32 v16, v8\n", &[u64::MAX])?[0];
    let transfer = (4.0 * lanes / input).max(4.0 * lanes / output).max(phases).ceil();
    bench.number("lds.latency", chain - interval - transfer);
    queue(bench, &plain, &write, put)
}

/// Measures the length of a port's queue: the time from the issue of the last instruction of a burst until the port has finished the burst.
fn queue(
    bench: &mut Bench<'_>,
    plain: &Frame,
    write: &dyn Fn(usize) -> String,
    put: f64,
) -> Result<(), String> {
    const BURST: usize = 40;
    let mut frame = plain.clone();
    for copies in [1, BURST] {
        frame.add((0..copies).map(write).collect(), Wait::None);
    }
    let times = frame.run(bench.gpu())?;
    let issued = times.first(0, 1) - times.first(0, 0);
    bench.number("lds.queue", put * (BURST - 1) as f64 - issued);
    Ok(())
}

/// For each mask, the bank cycles of `access` by the lanes in the mask. Between two accesses every lane reads from a single bank, so that
/// the banks and not the ports limit the throughput.
fn touched(bench: &mut Bench<'_>, access: &str, masks: &[u64]) -> Result<Vec<f64>, String> {
    const COPIES: [usize; 2] = [4, 12];
    let mut frame = frame(bench, 128);
    let d = frame.dialect;
    let pair = format!("{}ds_read_b32 v{}, v9\n{}{access}", d.exec(Mask::All), 12, d.exec(Mask::In(8)));
    let alone = "ds_read_b32 v12, v9\n".to_owned();
    frame.trips = 2;
    for copy in [alone, pair] {
        for copies in COPIES {
            let before = String::new();
            frame.sections.push(Section { before, body: copy.repeat(copies), after: Wait::Lds });
        }
    }
    frame.arguments =
        masks.iter().map(|mask| [*mask as u32, (mask >> 32) as u32, 0, 0, 0, 0, 0, 0]).collect();
    let times = frame.run(bench.gpu())?;
    let copies = (COPIES[1] - COPIES[0]) as f64;
    let of = |round| {
        let slope = |first| (times.first(round, first + 1) - times.first(round, first)) / copies;
        (slope(2) - slope(0)).round()
    };
    Ok((0..masks.len()).map(of).collect())
}

/// Measures which lanes are served in the same phase, for each access width and direction.
pub(super) fn phases(bench: &mut Bench<'_>) -> Result<(), String> {
    for (name, access) in [
        ("lds.phases.read.32", "ds_read_b32 v16, v8\n"),
        ("lds.phases.read.64", "ds_read_b64 v[16:17], v8\n"),
        ("lds.phases.read.128", "ds_read_b128 v[16:19], v8\n"),
        ("lds.phases.write.32", "ds_write_b32 v8, v16\n"),
        ("lds.phases.write.64", "ds_write_b64 v8, v[16:17]\n"),
        ("lds.phases.write.128", "ds_write_b128 v8, v[16:19]\n"),
    ] {
        let groups = groups(bench, access)?;
        bench.text(name, groups.iter().map(|group| ranges(*group)).collect::<Vec<_>>().join(";"));
    }
    Ok(())
}

/// Groups of lanes that are served together, as masks, by their first lane. Lanes that read one dword take one cycle for each group that
/// they belong to.
fn groups(bench: &mut Bench<'_>, access: &str) -> Result<Vec<u64>, String> {
    let upto: Vec<u64> = (0..64).map(|lane| u64::MAX >> (63 - lane)).collect();
    let counts = touched(bench, access, &upto)?;
    let is_new = |lane: &usize| *lane == 0 || counts[*lane] > counts[lane - 1] + 0.5;
    let first: Vec<usize> = (0..64).filter(is_new).collect();
    // Pairs each lane with the first lane of each group.
    let pairs: Vec<(usize, usize)> =
        (0..64).flat_map(|lane| (0..first.len()).map(move |group| (lane, group))).collect();
    let masks: Vec<u64> = pairs.iter().map(|(lane, group)| 1 << lane | 1 << first[*group]).collect();
    let both = touched(bench, access, &masks)?;
    let one = counts[0];
    let mut groups = vec![0; first.len()];
    for ((lane, group), cycles) in pairs.into_iter().zip(both) {
        if cycles < one + 0.5 {
            groups[group] |= 1u64 << lane;
        }
    }
    Ok(groups)
}

/// Formats a mask as ranges of lanes, such as `0-3,20-23`.
fn ranges(mask: u64) -> String {
    let mut out = String::new();
    let mut lane = 0;
    while lane < 64 {
        let run = (mask >> lane).trailing_ones();
        if run == 0 {
            lane += 1;
            continue;
        }
        let comma = if out.is_empty() { "" } else { "," };
        // Writing to a string does not fail.
        let _ = match run {
            1 => write!(out, "{comma}{lane}"),
            _ => write!(out, "{comma}{lane}-{}", lane + run - 1),
        };
        lane += run;
    }
    out
}
