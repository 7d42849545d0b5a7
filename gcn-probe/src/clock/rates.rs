//! Measures bandwidths: of a single compute unit, and of all units together. Also counts the units, and measures how workgroups are
//! dispatched to them.

use super::found::Bench;
use super::frame::{Frame, Section, Wait, distance};
use super::walk::bypass;

/// The bytes of a load of 16 bytes by each of 64 lanes.
const BYTES: f64 = 1024.0;

/// Load number `i` of a program: 16 bytes for each lane. Each load has its own destination registers.
fn load(i: usize, cached: &str) -> String {
    let first = 16 + 4 * i;
    format!("global_load_dwordx4 v[{first}:{}], v8, s[44:45]{cached}\n", first + 3)
}

/// Sets addresses so that neighbouring lanes access neighbouring data.
const NEIGHBOURS: &str = "v_lshlrev_b32 v8, 4, v1\n";

/// Measures the throughput of a compute unit's address unit, cache and scalar cache.
pub(super) fn unit(bench: &mut Bench<'_>) -> Result<(), String> {
    let mut plain = bench.wide();
    plain.room = 1 << 16;
    plain.setup = NEIGHBOURS.to_owned();
    let cycles = bench.slope(&plain, |i| load(i, ""), Wait::Loads)?;
    bench.number("l1.bandwidth", BYTES / cycles);
    let past = bypass(bench);
    let cycles = bench.slope(&plain, |i| load(i, past), Wait::Loads)?;
    bench.number("l2.port", BYTES / cycles);
    let word = |i: usize| format!("global_load_dword v{}, v8, s[44:45]\n", 16 + i);
    // All lanes have one address. One wave for each SIMD keeps the compute unit's address unit busy.
    let mut one = plain.clone();
    one.setup = "v_mov_b32 v8, 0\n".to_owned();
    one.one_unit = true;
    one.waves = bench.target.simds_per_cu();
    let cycles = bench.slope(&one, word, Wait::Loads)? / f64::from(one.waves);
    bench.number("vmem.address", 64.0 / cycles);
    // Each lane accesses a different line.
    let mut far = plain.clone();
    far.setup = "v_lshlrev_b32 v8, 7, v1\n".to_owned();
    let cycles = bench.slope(&far, word, Wait::Loads)?;
    const BURST: usize = 16;
    for copies in [1, BURST] {
        far.add((0..copies).map(word).collect(), Wait::None);
    }
    let times = far.run(bench.gpu())?;
    let issued = times.first(0, 1) - times.first(0, 0);
    bench.number("vmem.queue", cycles * (BURST - 1) as f64 - issued);
    // Each scalar load starts in the middle of a line of 64 bytes, so it reads two lines. Enough waves run that no wave's counter limits
    // the throughput.
    let mut scalar = bench.frame();
    scalar.room = 4096;
    scalar.waves = 16;
    let pair = |_: usize| "s_load_dwordx16 s[16:31], s[44:45], 0x20\n".to_owned();
    let cycles = bench.slope(&scalar, pair, Wait::Scalar)? / f64::from(scalar.waves);
    bench.number("scalar.bandwidth", 128.0 / cycles);
    Ok(())
}

/// Counts the compute units, or workgroup processors: the largest number of workgroups that do not slow each other down.
fn units(bench: &mut Bench<'_>) -> Result<u32, String> {
    const MOST: u32 = 2048;
    let mut cycles = |workgroups: u32| -> Result<f64, String> {
        let mut frame = bench.frame();
        // One wave for each SIMD.
        (frame.workgroups, frame.waves, frame.meets, frame.trips) = (workgroups, 4, false, 1);
        // Long enough that two workgroups on one unit overlap, whichever starts first.
        let body: String = (0..32).map(|i| format!("v_mul_lo_u32 v{}, v8, v9\n", 16 + i % 16)).collect();
        let turns = "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 turn\n";
        frame.add(format!("s_movk_i32 s20, 24\nturn:\n{body}{turns}"), Wait::None);
        let times = frame.run(bench.gpu())?;
        Ok((0..workgroups as usize).map(|group| times.all(group, 0, 0)).fold(0.0, f64::max))
    };
    let alone = cycles(1)?;
    let mut shares = |workgroups: u32| Ok::<bool, String>(cycles(workgroups)? > 1.4 * alone);
    let (mut fewest, mut most) = (1, 2);
    while !shares(most)? {
        (fewest, most) = (most, 2 * most);
        if most > MOST {
            return Err(format!("{MOST} workgroups do not disturb each other"));
        }
    }
    while most - fewest > 1 {
        let middle = u32::midpoint(fewest, most);
        if shares(middle)? { most = middle } else { fewest = middle }
    }
    Ok(fewest)
}

/// A program with one wave per workgroup and one workgroup per unit; each workgroup has `own` bytes of memory.
fn everywhere(bench: &Bench<'_>, workgroups: u32, own: u32) -> Frame {
    let mut frame = bench.wide();
    frame.workgroups = workgroups;
    frame.room = u64::from(workgroups) * u64::from(own) + u64::from(EVICTED);
    frame.setup = format!(
        "{NEIGHBOURS}s_mul_i32 s16, s2, {own:#x}\ns_add_u32 s44, s44, s16\ns_addc_u32 s45, s45, 0\n\
         s_movk_i32 s17, 0x400\n"
    );
    frame
}

/// The cycles per load for the first workgroup when `workgroups` workgroups load from L2.
fn from_second(bench: &mut Bench<'_>, workgroups: u32) -> Result<f64, String> {
    // The second number is limited by the registers available for results. It is large enough to show a change of 1% of a cycle per load.
    const COPIES: [usize; 2] = [8, 56];
    let past = bypass(bench);
    let mut frame = everywhere(bench, workgroups, 4096);
    for copies in COPIES {
        frame.add((0..copies).map(|i| load(i, past)).collect(), Wait::Loads);
    }
    let times = frame.run(bench.gpu())?;
    Ok((times.first(0, 1) - times.first(0, 0)) / (COPIES[1] - COPIES[0]) as f64)
}

/// Bytes to read in order to evict everything else from L2: twice the size of the largest L2.
const EVICTED: u32 = 16 << 20;

/// Bytes per cycle for one workgroup when all workgroups load from memory or, if `again`, from the cache between memory and L2.
fn from_memory(bench: &mut Bench<'_>, workgroups: u32, again: bool) -> Result<f64, String> {
    const COPIES: [usize; 2] = [8, 40];
    const TRIPS: u32 = 2;
    let own = (TRIPS << 16).next_multiple_of(1 << 16);
    let mut frame = everywhere(bench, workgroups, own);
    frame.trips = TRIPS;
    let nc = frame.dialect.no_carry();
    let next = |i: usize| format!("{}v_add{nc}_u32 v8, s17, v8\n", load(i, ""));
    let all = COPIES.iter().sum::<usize>();
    let mut before = String::new();
    if again {
        // Reads all data that the sections will load, then enough other data to evict it from L2.
        let back = format!("v_subrev{nc}_u32 v8, s18, v8\n");
        let wait = frame.dialect.wait(Wait::Loads);
        let brought: String = (0..all).map(|i| next(i % 48)).collect();
        before = format!(
            "s_mov_b32 s18, {}\n{brought}{wait}{back}v_lshlrev_b32 v9, 7, v1\ns_mul_i32 s16, s2, {own:#x}\n\
             s_sub_u32 s20, {:#x}, s16\ns_add_u32 s20, s44, s20\ns_addc_u32 s21, s45, 0\ns_movk_i32 s22, 0x2000\n\
             s_mov_b32 s23, {}\nforget:\nglobal_load_dword v10, v9, s[20:21]\nv_add{nc}_u32 v9, s22, v9\n{wait}\
             s_sub_u32 s23, s23, 1\ns_cmp_lg_u32 s23, 0\ns_cbranch_scc1 forget\n",
            all * 1024,
            workgroups * own,
            EVICTED / 0x2000,
        );
    }
    for copies in COPIES {
        let body = (0..copies).map(next).collect();
        frame.sections.push(Section { before: std::mem::take(&mut before), body, after: Wait::Loads });
    }
    let times = frame.run(bench.gpu())?;
    Ok(BYTES * (COPIES[1] - COPIES[0]) as f64 / (times.first(0, 1) - times.first(0, 0)))
}

/// Counts the units, measures the bandwidth that each gets from caches and memory when all are busy, and measures dispatch.
pub(super) fn device(bench: &mut Bench<'_>) -> Result<(), String> {
    let rdna = bench.target.has_workgroup_processors();
    let units = units(bench)?;
    // A workgroup processor has two compute units.
    let cus = if rdna { 2 } else { 1 };
    bench.number("device.cus", f64::from(cus * units));
    // Workgroups are assigned to L2 caches in turn. Removing workgroups one at a time speeds up the loads each time that the first L2 loses
    // one, so the distance between two such steps is the number of L2 caches.
    const MOST_CACHES: u32 = 16;
    let all = from_second(bench, units)?;
    let (mut changes, mut last, mut points) = (Vec::new(), all, vec![(f64::from(units), all)]);
    for fewer in 1..=(2 * MOST_CACHES).min(units - 1) {
        let cycles = from_second(bench, units - fewer)?;
        points.push((f64::from(units - fewer), cycles));
        if cycles < last - 6.0 / 48.0 {
            changes.push(fewer);
        }
        last = cycles;
        if changes.len() == 2 {
            break;
        }
    }
    points.reverse();
    bench.curve(
        "Loads from L2 by workgroups on units of their own",
        "workgroups",
        "cycles of a load of 1 KB",
        points,
    );
    let caches = match changes[..] {
        [first, second] => Some(second - first),
        _ => None,
    };
    if let Some(caches) = caches {
        bench.number("device.cus-per-l2", f64::from(cus * units.div_ceil(caches)));
    }
    let sharing = units.div_ceil(caches.unwrap_or(1));
    bench.number("l2.bandwidth", BYTES / all * f64::from(sharing));
    let memory = from_memory(bench, units, false)?;
    bench.number("memory.bandwidth", memory * f64::from(units));
    let again = from_memory(bench, units, true)?;
    // If there is no such cache, the second reading comes from memory as well, at the same bandwidth.
    if again > 1.1 * memory {
        bench.number("mall.bandwidth", again * f64::from(units));
    }
    if rdna {
        arrays(bench, units)?;
    }
    dispatch(bench, units)
}

/// Tests with two workgroups of a workgroup processor whether LDS bank conflicts of one delay the other.
fn arrays(bench: &mut Bench<'_>, units: u32) -> Result<(), String> {
    let mut cycles = |workgroups: u32| -> Result<f64, String> {
        let mut frame = bench.wide();
        (frame.workgroups, frame.lds_bytes) = (workgroups, 1 << 15);
        frame.setup = "s_mov_b32 m0, -1\nv_lshlrev_b32 v9, 9, v1\n".to_owned();
        let body = (0..48).map(|i| format!("ds_read_b32 v{}, v9\n", 16 + i)).collect();
        frame.add(body, Wait::Lds);
        let times = frame.run(bench.gpu())?;
        Ok((0..workgroups as usize).map(|group| times.all(group, 0, 0)).fold(0.0, f64::max))
    };
    let apart = cycles(1)?;
    let both = cycles(units + 1)?;
    bench.number("lds.arrays", if both > 1.5 * apart { 1.0 } else { 2.0 });
    Ok(())
}

/// Measures when the waves of a workgroup start if it had to wait for another workgroup to end. Its code is already in the instruction
/// cache.
fn dispatch(bench: &mut Bench<'_>, units: u32) -> Result<(), String> {
    const WAVES: u32 = 16;
    /// The number of workgroups for each unit. Each uses all of the LDS, so that few run at the same time.
    const DEEP: u32 = 4;
    let mut frame = bench.frame();
    let d = frame.dialect;
    (frame.workgroups, frame.waves, frame.meets, frame.trips) = (DEEP * units, WAVES, false, 1);
    frame.lds_bytes =
        if bench.target.has_workgroup_processors() { 1 << 16 } else { bench.target.lds_per_cu() };
    // Each wave first reads the clock and then sleeps, so that it does not delay waves that start later.
    frame.first = format!("{}s_sleep 16\n", d.clock(42));
    frame.stored = [42, 50];
    frame.add(String::new(), Wait::None);
    let last = format!(
        "{}{}{}v_mov_b32 v5, s20\nglobal_store_dword v2, v5, s[4:5] offset:4\n",
        d.clock(20),
        d.wait(Wait::Scalar),
        d.scalars_arrive()
    );
    // The first wave of a workgroup ends long after the others, so that its end is the end of the workgroup.
    frame.end = format!(
        "s_cmp_lg_u32 s3, 0\ns_cbranch_scc1 done\ns_sleep 100\ns_sub_u32 s46, s46, 8\nv_mov_b32 v2, s46\n{last}"
    );
    let times = frame.run(bench.gpu())?;
    let mut alone = bench.frame();
    // The measured code ends with a store. It is directed to `memory`, so that it does not overwrite the readings.
    (alone.room, alone.setup) = (64, "s_sub_u32 s16, s44, s4\n".to_owned());
    let last = format!("v_mov_b32 v2, s16\n{last}");
    // The time from the last reading of the clock to the end of the wave, which has to be subtracted below.
    let closing = distance(bench.gpu(), &alone, &last, "")?;
    // The workgroups of the first unit.
    let groups: Vec<usize> = (0..DEEP as usize).map(|n| n * units as usize).collect();
    let mut starts: Vec<(u32, usize)> =
        groups.iter().map(|group| (times.readings((*group, 0), 0, 0)[0], *group)).collect();
    let mut ends: Vec<u32> = groups.iter().map(|group| times.readings((*group, 0), 0, 0)[1]).collect();
    starts.sort_unstable();
    ends.sort_unstable();
    let at_once = starts.iter().filter(|(start, _)| *start < ends[0]).count();
    let Some((start, group)) = starts.get(at_once).copied() else {
        return Err("all workgroups run at once".to_owned());
    };
    bench.number("dispatch.workgroup", f64::from(start - ends[0]) - closing);
    // Two waves of one SIMD; SIMDs get waves in turn.
    let [first, later] = [0, 12].map(|wave| times.readings((group, wave), 0, 0)[0]);
    bench.number("dispatch.wave", f64::from(later.wrapping_sub(first)) / 12.0);
    Ok(())
}
