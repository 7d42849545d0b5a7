//! Barriers and the memory model.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::timed::{Stall, TimedReport};
use gcn_dsl::sim::{Options, Sanitize};

use crate::{Fault, Output, Outputs, TARGET, body, one_cu, row, table};

// ANCHOR: reverse
gcn_kernel! {
    /// Reverses each block of 256 elements.
    #[workgroup(256)]
    pub fn reverse(x: &mut [u32]) {
        let block = Lds::<u32, 256>::new();
        let i = local_id().x;
        block[i] = x[global_id().x];
        barrier();
        x[global_id().x] = block[255 - i];
    }
}
// ANCHOR_END: reverse

// ANCHOR: typed
gcn_kernel! {
    /// The same with a buffer whose type knows its phase.
    #[workgroup(256)]
    pub fn reverse_typed(x: &mut [u32]) {
        let i = local_id().x;
        let block = LdsBuf::<u32, 256>::new(); // Writable
        let block = block.store(i, x[global_id().x]); // Written
        let block = barrier(block); // Readable
        x[global_id().x] = block[255 - i];
    }
}
// ANCHOR_END: typed

// ANCHOR: racy
gcn_kernel! {
    /// The same without the barrier.
    #[workgroup(256)]
    pub fn reverse_racy(x: &mut [u32]) {
        let block = Lds::<u32, 256>::new();
        let i = local_id().x;
        block[i] = x[global_id().x];
        x[global_id().x] = block[255 - i];
    }
}
// ANCHOR_END: racy

// ANCHOR: message
gcn_kernel! {
    /// Workgroup 0 hands its data to workgroup 1.
    #[workgroup(64)]
    #[wave(64)]
    pub fn message(data: &mut [u32], flag: &mut [u32], out: &mut [u32]) {
        let i = lane_id();
        if workgroup_id().x == 0 {
            data[i] = i * i;
            flag.atomic(0).store(1, Scope::Agent, Ordering::Release);
        } else {
            while read_first_lane(flag.atomic(0).load(Scope::Agent, Ordering::Acquire)) == 0 {}
            out[i] = data[i];
        }
    }
}
// ANCHOR_END: message

// ANCHOR: rotate
gcn_kernel! {
    /// Rotates each block `n` times by one element; one buffer, two barriers for each turn.
    #[workgroup(256)]
    pub fn rotate(n: u32, x: &mut [u32]) {
        let block = Lds::<u32, 256>::new();
        let i = local_id().x;
        let mut mine = x[global_id().x];
        for _ in 0..n {
            block[i] = mine;
            barrier();
            mine = block[(i + 1) % 256];
            barrier();
        }
        x[global_id().x] = mine;
    }
}
// ANCHOR_END: rotate

// ANCHOR: smooth
gcn_kernel! {
    /// `n` steps of heat on a ring of 1024 cells. One buffer: a barrier before the stores and one after them.
    #[workgroup(1024)]
    pub fn heat(n: u32, x: &mut [u32]) {
        let ring = Lds::<u32, 1024>::new();
        let i = local_id().x;
        ring[i] = x[i];
        barrier();
        for _ in 0..n {
            let next = (ring[(i + 1023) % 1024] + 2 * ring[i] + ring[(i + 1) % 1024]) >> 2;
            barrier();
            ring[i] = next;
            barrier();
        }
        x[i] = ring[i];
    }
}
// ANCHOR_END: smooth

// ANCHOR: pair
gcn_kernel! {
    /// The same with two buffers in turn: one barrier for each step.
    #[workgroup(1024)]
    pub fn heat_pair(n: u32, x: &mut [u32]) {
        let i = local_id().x;
        let ring = LdsPair::<u32, 1024>::new().store(i, x[i]);
        #[carried]
        let mut ring = barrier(ring);
        for _ in 0..n {
            let next = (ring[(i + 1023) % 1024] + 2 * ring[i] + ring[(i + 1) % 1024]) >> 2;
            ring = barrier(ring.store(i, next));
        }
        x[i] = ring[i];
    }
}
// ANCHOR_END: pair

gcn_kernel! {
    /// `heat` without its first barrier.
    #[workgroup(1024)]
    pub fn heat_racy(n: u32, x: &mut [u32]) {
        let ring = Lds::<u32, 1024>::new();
        let i = local_id().x;
        ring[i] = x[i];
        barrier();
        for _ in 0..n {
            let next = (ring[(i + 1023) % 1024] + 2 * ring[i] + ring[(i + 1) % 1024]) >> 2;
            ring[i] = next;
            barrier();
        }
        x[i] = ring[i];
    }
}

// ANCHOR: wave
gcn_kernel! {
    /// The same by one wave with 16 cells in each lane: no barrier and no LDS, the edges come from the neighbours.
    #[workgroup(64)]
    #[wave(64)]
    pub fn heat_wave(n: u32, x: &mut [u32]) {
        let lane = lane_id();
        let mut cell: [V<u32>; 16] = [0; 16];
        #[unroll]
        for k in 0..16usize {
            cell[k] = x[lane * 16 + k as u32];
        }
        for _ in 0..n {
            let below = shuffle(cell[15], (lane + 63) % 64);
            let above = shuffle(cell[0], (lane + 1) % 64);
            let mut left = below;
            #[unroll]
            for k in 0..16usize {
                let right = comptime if k == 15 { above } else { cell[k + 1] };
                let next = (left + 2 * cell[k] + right) >> 2;
                left = cell[k];
                cell[k] = next;
            }
        }
        #[unroll]
        for k in 0..16usize {
            x[lane * 16 + k as u32] = cell[k];
        }
    }
}
// ANCHOR_END: wave

/// Cycles, cycles that a wave waits at barriers and for LDS, for one step in the steady state.
fn step(run: &dyn Fn(u32) -> Result<TimedReport, Fault>) -> Result<[f64; 3], Fault> {
    let (short, long) = (run(32)?, run(64)?);
    let waves = long.waves as f64;
    let per = |of: &dyn Fn(&TimedReport) -> u64| (of(&long) - of(&short)) as f64 / 32.0;
    let waits = |stall| move |report: &TimedReport| report.stalls.get(stall);
    Ok([
        per(&|report| report.cycles),
        per(&waits(Stall::BarrierWait)) / waves,
        per(&waits(Stall::Waitcnt)) / waves,
    ])
}

/// A kernel's name, its barriers in a step, and what [`step`] measures.
type Step = (&'static str, u32, [f64; 3]);

/// A step of each kernel.
fn steps() -> Result<[Step; 3], Fault> {
    let x: Vec<u32> = (0..1024).map(|i| i * 64).collect();
    Ok([
        ("heat", 2, step(&|n| Ok(heat.timed(TARGET, Grid::x(1), (n, &mut x.clone()), &one_cu())?))?),
        (
            "heat_pair",
            1,
            step(&|n| Ok(heat_pair.timed(TARGET, Grid::x(1), (n, &mut x.clone()), &one_cu())?))?,
        ),
        (
            "heat_wave",
            0,
            step(&|n| Ok(heat_wave.timed(TARGET, Grid::x(1), (n, &mut x.clone()), &one_cu())?))?,
        ),
    ])
}

/// What the race sanitizer says of `reverse_racy`.
pub fn race() -> String {
    // ANCHOR: find
    let options = Options { sanitize: Sanitize::RACES, ..Options::strict() };
    let device = Device::simulator_with(Target::GFX942, options);
    let result = reverse_racy.launch(&device, Grid::x(1), (&mut [0; 256],));
    // ANCHOR_END: find
    result.map_or_else(|error| error.to_string(), |_| "no race".to_owned())
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let code = |target| -> Result<String, crate::Fault> {
        Ok(body(&message.build(target)?.assembly(Comments::Explain)))
    };
    let heats = steps()?.map(|(name, barriers, step)| {
        let step = step.map(|cycles| format!("{cycles:.0}"));
        row(name, &[&barriers, &step[0], &step[1], &step[2]])
    });
    let head = ["kernel", "barriers", "cycles", "a wave at barriers", "a wave at `s_waitcnt`"];
    let options = Options { sanitize: Sanitize::RACES, ..Options::strict() };
    let device = Device::simulator_with(TARGET, options);
    let found = heat_racy.launch(&device, Grid::x(1), (2, &mut [0; 1024]));
    let found = found.map_or_else(|error| error.to_string(), |_| "no race".to_owned());
    Ok(vec![
        Output { name: "heat.md", text: table(&head, &heats) },
        Output { name: "heat-race.txt", text: found + "\n" },
        Output { name: "race.txt", text: race() + "\n" },
        Output { name: "message-gfx90a.s", text: code(Target::GFX90A)? },
        Output { name: "message-gfx942.s", text: code(TARGET)? },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strict() -> Device {
        let options = Options { sanitize: Sanitize::all() & !Sanitize::DEADLOCK, ..Options::strict() };
        Device::simulator_with(TARGET, options)
    }

    #[test]
    fn blocks_are_reversed() {
        let want: Vec<u32> = (0..512).map(|i| i / 256 * 256 + 255 - i % 256).collect();
        let mut x: Vec<u32> = (0..512).collect();
        reverse.launch(&strict(), Grid::x(2), (&mut x,)).unwrap();
        assert_eq!(x, want);
        reverse_typed.launch(&strict(), Grid::x(2), (&mut x,)).unwrap();
        assert!(x.iter().copied().eq(0..512));
    }

    #[test]
    fn the_race_is_found() {
        assert!(race().contains("race"), "{}", race());
    }

    #[test]
    fn the_message_arrives() {
        // Up to gfx90a an atomic store is the same instruction as any other, so that the sanitizer would call it a race.
        let (none, races) = (Sanitize::empty(), Sanitize::RACES);
        let runs = [
            (Target::GFX900, none),
            (Target::GFX90A, none),
            (Target::GFX942, races),
            (Target::GFX950, races),
        ];
        for (target, sanitize) in runs {
            let device = Device::simulator_with(target, Options { sanitize, ..Options::strict() });
            let (mut data, mut flag, mut out) = ([0; 64], [0; 1], [0; 64]);
            message.launch(&device, Grid::x(2), (&mut data, &mut flag, &mut out)).unwrap();
            assert!((0..64).all(|i| out[i as usize] == i * i), "{target}");
        }
    }

    #[test]
    fn blocks_rotate() {
        let mut x: Vec<u32> = (0..256).collect();
        rotate.launch(&strict(), Grid::x(1), (7, &mut x)).unwrap();
        assert!((0..256).all(|i| x[i as usize] == (i + 7) % 256));
    }

    #[test]
    fn heat_flows_in_every_way() {
        let start: Vec<u32> = (0..1024).map(|i| i * 7919 % 100_000).collect();
        let mut want = start.clone();
        for _ in 0..5 {
            let at = |i: usize| want[i % 1024];
            want = (0..1024).map(|i| (at(i + 1023) + 2 * at(i) + at(i + 1)) >> 2).collect();
        }
        let (mut one, mut two, mut wave) = (start.clone(), start.clone(), start);
        heat.launch(&strict(), Grid::x(1), (5, &mut one)).unwrap();
        heat_pair.launch(&strict(), Grid::x(1), (5, &mut two)).unwrap();
        heat_wave.launch(&strict(), Grid::x(1), (5, &mut wave)).unwrap();
        assert!(one == want && two == want && wave == want);
    }

    #[test]
    fn two_barriers_take_longer_than_one() {
        let [two, one, _] = steps().unwrap().map(|(.., [cycles, ..])| cycles);
        assert!(two > 1.1 * one, "{two}, {one}");
    }

    #[test]
    fn the_race_of_one_buffer_and_one_barrier_is_found() {
        let options = Options { sanitize: Sanitize::RACES, ..Options::strict() };
        let device = Device::simulator_with(TARGET, options);
        let error = heat_racy.launch(&device, Grid::x(1), (2, &mut [0; 1024])).unwrap_err().to_string();
        assert!(error.contains("data race in LDS"), "{error}");
    }
}
