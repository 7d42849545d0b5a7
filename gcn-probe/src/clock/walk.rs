//! Measures caches by walks through memory: their sizes, lines and ways, and the latency of each level.

use super::found::Bench;
use super::frame::{Frame, Mask, Wait};

/// The path by which a walk reads memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Path {
    /// Vector loads.
    Vector,
    /// Vector loads that bypass the caches of the compute unit.
    Bypass,
    /// Scalar loads.
    Scalar,
}

/// A walk over `count` addresses that are `stride` bytes apart, from `start` on. If `alone`, each load accesses one of them; otherwise each
/// lane of a load does.
#[derive(Debug, Clone, Copy)]
struct Walk {
    start: u32,
    stride: u32,
    count: u32,
    alone: bool,
}

impl Walk {
    fn over(bytes: u32, stride: u32) -> Walk {
        Walk { start: 0, stride, count: (bytes / stride).max(1), alone: false }
    }

    fn alone(self) -> Walk {
        Walk { alone: true, ..self }
    }

    fn first(self, count: u32) -> Walk {
        Walk { count: self.count.min(count), ..self }
    }

    fn at(self, start: u32) -> Walk {
        Walk { start, ..self }
    }

    /// The number of lanes of a load.
    fn lanes(self, path: Path) -> u32 {
        if self.alone || path == Path::Scalar { 1 } else { LANES }
    }

    fn loads(self, path: Path) -> u32 {
        self.count.div_ceil(self.lanes(path))
    }

    /// The end of the range that the walk reads.
    fn end(self) -> u64 {
        u64::from(self.start) + u64::from(self.count.saturating_sub(1)) * u64::from(self.stride) + 4
    }

    /// The argument of the program: start, stride between lanes, stride between loads, last address, number of loads, and the mask of
    /// active lanes.
    fn argument(self, path: Path) -> [u32; 8] {
        let lanes = self.lanes(path);
        let mask = u64::MAX >> (64 - lanes);
        [
            self.start,
            self.stride,
            self.stride * lanes,
            self.start + self.count.saturating_sub(1) * self.stride,
            self.loads(path).max(1),
            0,
            mask as u32,
            (mask >> 32) as u32,
        ]
    }
}

/// The number of addresses in a load. It is small, so that if some sets of a cache are overfull, they make only some of the loads slow.
const LANES: u32 = 16;
/// The size of the largest cache that the experiment can detect.
const LARGEST: u32 = 512 << 20;
/// The offset from which memory is accessed by [`cold`] only.
const COLD: u32 = 580 << 20;

/// The cycles per load of each walk; the walks run one after the other. The program itself sums the times of the loads.
fn run(bench: &mut Bench<'_>, path: Path, walks: &[Walk]) -> Result<Vec<f64>, String> {
    let mut frame: Frame = bench.wide();
    let d = frame.dialect;
    frame.trips = 1;
    frame.room = walks.iter().map(|walk| walk.end()).max().unwrap_or(0);
    let cached = if path == Path::Bypass { bypass(bench) } else { "" };
    let (load, wait) = match path {
        Path::Scalar => ("s_load_dword s30, s[28:29], 0x0\n".to_owned(), Wait::Scalar),
        _ => (format!("global_load_dword v12, v11, s[44:45]{cached}\n"), Wait::Loads),
    };
    // On these targets, reading the clock and scalar loads use one counter. Wait for the first reading before the load; otherwise the wait
    // for the load would include it.
    let settled = if path == Path::Scalar && d.has_memtime() { d.wait(Wait::Scalar) } else { String::new() };
    // The address is ready before the first reading.
    let address = match path {
        Path::Scalar => "s_add_u32 s28, s44, s24\ns_addc_u32 s29, s45, 0\n".to_owned(),
        _ => "v_min_u32 v11, v10, s11\n".to_owned(),
    };
    let step = match path {
        Path::Scalar => "s_add_u32 s24, s24, s10\n".to_owned(),
        _ => format!("v_add{}_u32 v10, s10, v10\n", d.no_carry()),
    };
    let clocks = [d.clock(20), d.clock(22)];
    let body = format!(
        "v_mul_lo_u32 v10, v1, s9\nv_add{}_u32 v10, s8, v10\ns_mov_b32 s24, s8\ns_mov_b32 s25, 0\ns_mov_b32 s26, s12\ns_mov_b32 s27, 0\n{}\
         walk:\n{address}s_nop 7\n{}{settled}{load}{}{}{}s_sub_u32 s20, s22, s20\ns_and_b32 s20, s20, {:#x}\ns_add_u32 s25, s25, s20\n\
         {step}s_sub_u32 s26, s26, 1\ns_cmp_lg_u32 s26, 0\ns_cbranch_scc1 walk\n{}",
        d.no_carry(),
        d.exec(Mask::In(14)),
        clocks[0],
        d.wait(wait),
        clocks[1],
        d.wait(Wait::Scalar),
        d.clock_mask(),
        d.exec(Mask::All),
    );
    // The stored second reading is the sum of the times, and the stored first one is 0.
    frame.add(body, Wait::All);
    frame.stored = [27, 25];
    frame.arguments = walks.iter().map(|walk| walk.argument(path)).collect();
    let times = frame.run(bench.gpu())?;
    let overhead = overhead(bench, path)?;
    let of = |(round, walk): (usize, &Walk)| times.first(round, 0) / f64::from(walk.loads(path)) - overhead;
    Ok(walks.iter().enumerate().map(of).collect())
}

/// The part of the time between two readings that does not belong to the load: the issue of the load and of the second reading, and the
/// wait for the first reading.
fn overhead(bench: &mut Bench<'_>, path: Path) -> Result<f64, String> {
    let interval = bench.interval()?;
    let clock = match path {
        Path::Scalar => bench.clock_latency()?,
        _ => None,
    };
    Ok(2.0 * interval + clock.unwrap_or(0.0))
}

/// The modifier that makes a load bypass the caches of a compute unit (LLVM AMDGPU guide, memory model: atomic loads of agent scope).
pub(super) fn bypass(bench: &Bench<'_>) -> &'static str {
    let load = |cache: &str| format!("global_load_dword v12, v11, s[44:45]{cache}\n");
    [" glc dlc", " glc", " sc1", " scope:SCOPE_DEV"].into_iter().find(|c| bench.has(&load(c))).unwrap_or("")
}

/// If a cache is too small, at least this fraction of the accesses misses. A walk that exceeds the capacity by 1/64 overfills that many
/// sets, and with LRU replacement an overfull set loses all its lines: with two ways, three lines miss per set, slightly less than 1/20 of
/// all. A line of the program itself can also overfill one set.
const SOME: f64 = 1.0 / 32.0;

/// A cache.
#[derive(Debug, Clone, Copy)]
struct Level {
    /// The largest number of bytes that fit.
    bytes: u32,
}

/// The distance between the addresses of a walk over `bytes` bytes: a power of two, so that the used sets are filled evenly, and at least a
/// line. It grows with `bytes`, to limit the number of addresses.
fn stride(path: Path, bytes: u32) -> u32 {
    const LINES: u32 = 8192;
    let line = if path == Path::Scalar { 64 } else { 128 };
    (1 << (bytes / LINES).max(1).ilog2()).max(line)
}

/// The caches found by walks over increasing ranges, up to `most` bytes.
fn levels(bench: &mut Bench<'_>, path: Path, most: u32) -> Result<Vec<Level>, String> {
    // From this size on, each load accesses the same number of lines.
    let first = if path == Path::Scalar { 10 } else { 13 };
    let sizes: Vec<u32> = (first..32).map(|n| 1 << n).take_while(|bytes| *bytes <= most).collect();
    let first = second_walks(bench, path, &sizes)?;
    let points =
        sizes.iter().zip(&first).map(|(bytes, cycles)| (f64::from(bytes.ilog2()), *cycles)).collect();
    let title = if path == Path::Scalar { "Scalar loads" } else { "Loads of 16 lines" };
    bench.curve(title, "log2 of the bytes that are read again and again", "cycles of a load", points);
    let rises: Vec<bool> = first.windows(2).map(|pair| pair[1] > 1.1 * pair[0] + 2.0).collect();
    let mut levels = Vec::new();
    let mut at = 0;
    while at < rises.len() {
        if !rises[at] {
            at += 1;
            continue;
        }
        let until = (at..rises.len()).find(|i| !rises[*i]).unwrap_or(rises.len());
        let cycles = [first[at], first[until]];
        let limit = cycles[0] + (cycles[1] - cycles[0]) * SOME;
        let mut fits = sizes[at];
        for parts in [8, 64] {
            let step = sizes[at] / parts;
            let more: Vec<u32> = (1..8).map(|n| fits + n * step).collect();
            let times = second_walks(bench, path, &more)?;
            let fitting = times.iter().take_while(|time| **time < limit).count();
            fits += fitting as u32 * step;
        }
        levels.push(Level { bytes: fits });
        at = until;
    }
    Ok(levels)
}

/// The cycles per load in the second of two walks over each of these sizes.
fn second_walks(bench: &mut Bench<'_>, path: Path, sizes: &[u32]) -> Result<Vec<f64>, String> {
    let walks: Vec<Walk> =
        sizes.iter().flat_map(|bytes| [Walk::over(*bytes, stride(path, *bytes)); 2]).collect();
    Ok(run(bench, path, &walks)?.into_iter().skip(1).step_by(2).collect())
}

/// The number of ways of a cache of this size: how many lines fit that all belong to one set. A walk over `evict` removes the lines from
/// the earlier cache levels.
fn ways(
    bench: &mut Bench<'_>,
    path: Path,
    level: Level,
    evict: Option<Walk>,
    limit: f64,
) -> Result<u32, String> {
    /// An upper bound for the number of ways that is measured, if the memory suffices.
    const MOST: u32 = 96;
    // Lines that are a whole cache size apart belong to one set. If that needs too much memory, use a smaller power-of-two fraction.
    let stride =
        (0..4).map(|n| level.bytes >> n).find(|stride| *stride <= (24 << 20)).unwrap_or(level.bytes / 8);
    let most = (COLD / stride - 1).min(MOST);
    let mut walks = Vec::new();
    for count in 1..=most {
        let walk = Walk { start: 0, stride, count, alone: true };
        walks.extend([Some(walk), evict, Some(walk)].into_iter().flatten());
    }
    let step = if evict.is_some() { 3 } else { 2 };
    let times = run(bench, path, &walks)?;
    let fits = times.iter().skip(step - 1).step_by(step).take_while(|time| **time < limit).count();
    Ok(fits as u32)
}

/// Measures the vector caches.
pub(super) fn vector(bench: &mut Bench<'_>) -> Result<(), String> {
    let found = levels(bench, Path::Vector, LARGEST)?;
    let rdna = bench.target.has_workgroup_processors();
    let names: &[&str] = match (rdna, found.len()) {
        // RDNA up to RDNA 3 has a graphics L1 cache, and RDNA 4 does not. An Infinity Cache may or may not be present.
        (true, 4) => &["l1", "gl1", "l2", "mall"],
        (true, 3) if bench.target.instruction_set() < gcn_isa::InstructionSet::GFX12 => &["l1", "gl1", "l2"],
        _ => &["l1", "l2", "mall"],
    };
    if found.len() < 2 || found.len() > names.len() {
        return Err(format!("{} caches show, not 2 to {}", found.len(), names.len()));
    }
    for absent in ["gl1", "mall"] {
        if !names[..found.len()].contains(&absent) && (absent != "gl1" || rdna) {
            bench.number(&format!("{absent}.bytes"), 0.0);
        }
    }
    let level = |name: &str| names.iter().position(|n| *n == name).and_then(|at| found.get(at)).copied();
    for (name, level) in names.iter().zip(&found) {
        bench.number(&format!("{name}.bytes"), level.bytes.into());
    }
    let (Some(l1), Some(l2)) = (level("l1"), level("l2")) else { return Ok(()) };
    // Accesses one line at a time, after reading other lines of twice the size of the previous cache.
    let after = |bytes: u32| {
        let walk = Walk::over(2 * bytes, stride(Path::Vector, 2 * bytes));
        let apart = walk.stride.max(256);
        [walk, Walk { start: 0, stride: apart, count: (2 * bytes / apart).min(32), alone: true }]
    };
    let again = Walk::over(64, 64);
    let time = |bench: &mut Bench<'_>, path, walks: &[Walk]| -> Result<f64, String> {
        Ok(run(bench, path, walks)?.pop().unwrap_or_default())
    };
    let fast = time(bench, Path::Vector, &[again.alone(), again.alone()])?;
    bench.number("l1.latency", fast);
    let middle = match level("gl1") {
        Some(_) => Some(time(bench, Path::Vector, &after(l1.bytes))?),
        None => None,
    };
    if let Some(middle) = middle {
        bench.number("gl1.latency", middle);
    }
    let second = time(bench, Path::Bypass, &[again.alone(), again.alone()])?;
    bench.number("l2.latency", second);
    let third = match level("mall") {
        Some(_) => Some(time(bench, Path::Vector, &after(l2.bytes))?),
        None => None,
    };
    if let Some(third) = third {
        bench.number("mall.latency", third);
    }
    let memory = time(bench, Path::Vector, &[cold(0, 32)])?;
    bench.number("memory.latency", memory);
    let between = |a: f64, b: f64| (a + b) / 2.0;
    let next = middle.unwrap_or(second);
    let found = ways(bench, Path::Vector, l1, None, between(fast, next))?;
    bench.number("l1.ways", found.into());
    if let (Some(gl1), Some(middle)) = (level("gl1"), middle) {
        let found = ways(bench, Path::Vector, gl1, None, between(middle, second))?;
        bench.number("gl1.ways", found.into());
    }
    let next = third.unwrap_or(memory);
    let sets = ways(bench, Path::Bypass, l2, None, between(second, next))?;
    bench.number("l2.ways", sets.into());
    if let (Some(mall), Some(third)) = (level("mall"), third) {
        // Lines that share a set of L2 but not a set of the next cache.
        let start = l2.bytes / sets.max(1);
        let evict =
            Walk { start, stride: l2.bytes, count: (3 * sets).min((COLD - start) / l2.bytes), alone: true };
        let found = ways(bench, Path::Bypass, mall, Some(evict), between(third, memory))?;
        bench.number("mall.ways", found.into());
    }
    let line = line(bench, Path::Vector, between(fast, middle.unwrap_or(second)))?;
    bench.number("l1.line", line.into());
    Ok(())
}

/// A walk over `count` lines that nothing has read yet, after skipping the first `skipped` of them.
fn cold(skipped: u32, count: u32) -> Walk {
    /// A distance such that no two lines share a cache line of any level, and not all fall into one set.
    const APART: u32 = 2048 + 512;
    Walk { start: COLD + skipped * APART, stride: APART, count, alone: true }
}

/// The smallest power-of-two distance at which an access misses the line that the previous access loaded, that is, takes at least `limit`
/// cycles.
fn line(bench: &mut Bench<'_>, path: Path, limit: f64) -> Result<u32, String> {
    let distances: Vec<u32> = (2..10).map(|n| 1 << n).collect();
    let pairs = distances.iter().enumerate().flat_map(|(i, distance)| {
        let first = cold(100 + i as u32, 1);
        [first, first.at(first.start + distance)]
    });
    let times = run(bench, path, &pairs.collect::<Vec<_>>())?;
    let missed = times.iter().skip(1).step_by(2).position(|time| *time > limit);
    missed.map(|at| distances[at]).ok_or_else(|| "no access misses the line before it".to_owned())
}

/// A scalar store.
pub(super) const STORE: &str = "s_store_dword s20, s[44:45], 0x0\n";

/// Measures the scalar cache, and its loads from L2.
pub(super) fn scalar(bench: &mut Bench<'_>) -> Result<(), String> {
    let found = levels(bench, Path::Scalar, 1 << 17)?;
    let Some(cache) = found.first().copied() else { return Err("no scalar cache shows".to_owned()) };
    bench.number("scalar.bytes", cache.bytes.into());
    let again = Walk::over(64, 64);
    let fast = run(bench, Path::Scalar, &[again, again])?[1];
    bench.number("scalar.latency", fast);
    let walk = Walk::over(2 * cache.bytes, 64);
    let slow = run(bench, Path::Scalar, &[walk, walk.first(32)])?[1];
    let sets = ways(bench, Path::Scalar, cache, None, (fast + slow) / 2.0)?;
    bench.number("scalar.ways", sets.into());
    let memory = run(bench, Path::Scalar, &[cold(0, 32)])?[0];
    let own = line(bench, Path::Scalar, (fast + slow) / 2.0)?;
    bench.number("scalar.line", own.into());
    let next = line(bench, Path::Scalar, (slow + memory) / 2.0)?;
    bench.number("l2.line", next.into());
    if bench.has(STORE) {
        let interval = bench.interval()?;
        let mut frame = bench.frame();
        frame.room = 64;
        frame.end = "s_dcache_wb\n".to_owned();
        let both = format!("{STORE}{}", frame.dialect.wait(Wait::Scalar));
        let cycles = bench.slope(&frame, |_| both.clone(), Wait::None)?;
        bench.number("smem.store-latency", cycles - interval);
    }
    Ok(())
}
