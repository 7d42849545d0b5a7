//! Debugging with sanitizers: four kernels with one fault each.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Options, Sanitize};

use crate::{Output, Outputs, TARGET, row, table};

// ANCHOR: race
gcn_kernel! {
    /// Each work-item adds its neighbour's element, which the neighbour changes meanwhile.
    #[workgroup(128)]
    pub fn add_neighbour(x: &mut [u32]) {
        let block = Lds::<u32, 128>::new();
        let i = local_id().x;
        block[i] = x[i];
        barrier();
        block[i] = block[i] + block[(i + 1) % 128];
        barrier();
        x[i] = block[i];
    }
}
// ANCHOR_END: race

// ANCHOR: fixed
gcn_kernel! {
    /// The same with a barrier between the read and the write.
    #[workgroup(128)]
    pub fn add_neighbour_fixed(x: &mut [u32]) {
        let block = Lds::<u32, 128>::new();
        let i = local_id().x;
        block[i] = x[i];
        barrier();
        let sum = block[i] + block[(i + 1) % 128];
        barrier();
        block[i] = sum;
        barrier();
        x[i] = block[i];
    }
}
// ANCHOR_END: fixed

// ANCHOR: unwritten
gcn_kernel! {
    /// A histogram whose bins nobody has set to zero.
    #[workgroup(64)]
    pub fn histogram(x: &[u32], bins: &mut [u32]) {
        let local = Lds::<u32, 64>::new();
        let i = local_id().x;
        local.atomic(x[i] % 64).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
        barrier();
        bins[i] = local[i];
    }
}
// ANCHOR_END: unwritten

// ANCHOR: beyond
gcn_kernel! {
    /// Reads one element more than there is, through a pointer that nobody checks.
    #[workgroup(64)]
    pub fn differences(x: *const f32, y: &mut [f32]) {
        let i = local_id().x;
        y[i] = x[i + 1] - x[i];
    }
}
// ANCHOR_END: beyond

// ANCHOR: dbg
gcn_kernel! {
    /// Shows a value and stops where it is wrong.
    #[workgroup(64)]
    pub fn roots(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let value = x[i];
        debug_assert!(value >= 0.0);
        y[i] = value.sqrt();
    }
}
// ANCHOR_END: dbg

// ANCHOR: hunt
gcn_kernel! {
    /// The differences of neighbours, divided by the largest element of each block of 192. It has three bugs.
    #[workgroup(192)]
    pub fn slopes(x: *const f32, y: &mut [f32]) {
        let largest = Lds::<f32, 4>::new();
        let i = global_id().x;
        let difference = x[i + 1] - x[i];
        let of_wave = wave_max(x[i]);
        if is_first_lane() {
            largest[wave_id()] = of_wave;
        }
        let all = largest[0].max(largest[1]).max(largest[2].max(largest[3]));
        y[i] = difference / all;
    }
}
// ANCHOR_END: hunt

gcn_kernel! {
    /// `slopes` without the first bug.
    #[workgroup(192)]
    pub fn slopes_1(x: *const f32, y: &mut [f32]) {
        let largest = Lds::<f32, 3>::new();
        let i = global_id().x;
        let difference = x[i + 1] - x[i];
        let of_wave = wave_max(x[i]);
        if is_first_lane() {
            largest[wave_id()] = of_wave;
        }
        let all = largest[0].max(largest[1]).max(largest[2]);
        y[i] = difference / all;
    }

    /// `slopes` without the first two bugs.
    #[workgroup(192)]
    pub fn slopes_2(x: *const f32, y: &mut [f32]) {
        let largest = Lds::<f32, 3>::new();
        let i = global_id().x;
        let difference = x[i + 1] - x[i];
        let of_wave = wave_max(x[i]);
        if is_first_lane() {
            largest[wave_id()] = of_wave;
        }
        barrier();
        let all = largest[0].max(largest[1]).max(largest[2]);
        y[i] = difference / all;
    }
}

// ANCHOR: hunted
gcn_kernel! {
    /// `slopes` without bugs.
    #[workgroup(192)]
    pub fn slopes_3(n: u32, x: *const f32, y: &mut [f32]) {
        let largest = Lds::<f32, 3>::new(); // one for each of three waves
        let i = global_id().x;
        let next = (i + 1).min(n - 1); // the last element has no neighbour
        let difference = x[next] - x[i];
        let of_wave = wave_max(x[i]);
        if is_first_lane() {
            largest[wave_id()] = of_wave;
        }
        barrier(); // before other waves read
        let all = largest[0].max(largest[1]).max(largest[2]);
        y[i] = difference / all;
    }
}
// ANCHOR_END: hunted

// ANCHOR: dead
gcn_kernel! {
    /// Each of two workgroups waits for the other one's flag before it sets its own.
    #[workgroup(64)]
    pub fn after_you(flags: &mut [u32]) {
        let mine = workgroup_id().x;
        while read_first_lane(flags.atomic(1 - mine).load(Scope::Agent, Ordering::Acquire)) == 0 {}
        flags.atomic(mine).store(1, Scope::Agent, Ordering::Release);
    }
}
// ANCHOR_END: dead

/// Elements of the hunt: two workgroups.
const SLOPES: u32 = 384;

/// What the kernels of the hunt should compute.
fn slopes_of(x: &[f32]) -> Vec<f32> {
    let largest = |i: usize| x[i / 192 * 192..][..192].iter().copied().fold(f32::MIN, f32::max);
    (0..x.len()).map(|i| (x[(i + 1).min(x.len() - 1)] - x[i]) / largest(i)).collect()
}

/// Powers of two, so that each division is exact.
fn hunted_elements() -> Vec<f32> {
    (0..SLOPES).map(|i| f32::exp2((i * 5 % 8) as f32)).collect()
}

/// Runs a version of the hunt's kernel: the elements that are wrong, or what the device says.
fn version(number: u32, options: Options) -> Result<Result<usize, String>, gcn_dsl::LaunchError> {
    let (elements, device) = (hunted_elements(), Device::simulator_with(TARGET, options));
    let x = device.alloc::<f32>(SLOPES as usize)?;
    device.write(x, &elements)?;
    let (mut y, grid) = (vec![f32::NAN; SLOPES as usize], Grid::x(2));
    let said = match number {
        0 => slopes.launch(&device, grid, (x, &mut y)).map(drop),
        1 => slopes_1.launch(&device, grid, (x, &mut y)).map(drop),
        2 => slopes_2.launch(&device, grid, (x, &mut y)).map(drop),
        _ => slopes_3.launch(&device, grid, (SLOPES, x, &mut y)).map(drop),
    };
    device.free(x)?;
    let wrong = y.iter().zip(slopes_of(&elements)).filter(|(y, want)| *y != want).count();
    Ok(said.map(|()| wrong).map_err(|error| error.to_string()))
}

/// The kind of what a launch found: the words before the instruction's. A plain fault begins with the instruction.
fn kind(error: &str) -> String {
    let found = error.split_once("`: ").map_or(error, |(_, found)| found);
    let words = found.split_once(": `").map_or("fault", |(words, _)| words);
    if found.starts_with('`') { "fault".to_owned() } else { words.to_owned() }
}

/// What all sanitizers say of a version.
fn hunt(number: u32) -> Result<String, gcn_dsl::LaunchError> {
    let said = version(number, Options { sanitize: Sanitize::all(), ..Options::strict() })?;
    Ok(said.map_or_else(|error| error, |wrong| format!("nothing was found; {wrong} elements are wrong"))
        + "\n")
}

/// What the sanitizer of deadlocks says.
pub fn dead() -> String {
    said(after_you.launch(&with(Sanitize::DEADLOCK), Grid::x(2), (&mut [0; 2],)))
}

/// A device with one sanitizer.
fn with(sanitize: Sanitize) -> Device {
    Device::simulator_with(TARGET, Options { sanitize, ..Options::strict() })
}

/// What a launch says.
fn said<T>(result: Result<T, gcn_dsl::LaunchError>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "nothing was found".to_owned()) + "\n"
}

/// What the race sanitizer says.
pub fn race() -> String {
    said(add_neighbour.launch(&with(Sanitize::RACES), Grid::x(1), (&mut [0; 128],)))
}

/// What the sanitizer of LDS says.
pub fn unwritten() -> String {
    said(histogram.launch(&with(Sanitize::LDS), Grid::x(1), (&[0; 64], &mut [0; 64])))
}

/// What the check of bounds says.
pub fn beyond() -> Result<String, gcn_dsl::LaunchError> {
    let device = with(Sanitize::ACCESSES);
    let x = device.alloc::<f32>(64)?;
    device.write(x, &[1.0; 64])?;
    // The address differs from run to run of the host only in its layout; the message starts with what is the same.
    let text = said(differences.launch(&device, Grid::x(1), (x, &mut [0.0; 64])));
    device.free(x)?;
    Ok(text)
}

/// What the assertion says.
pub fn assertion() -> String {
    let mut x = [4.0; 64];
    x[5] = -1.0;
    said(roots.launch(&with(Sanitize::empty()), Grid::x(1), (&x, &mut [0.0; 64])))
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let options = |sanitize| Options { sanitize, ..Options::strict() };
    let mut by_sanitizer = Vec::new();
    for number in 0..4 {
        let mut found = Vec::new();
        for sanitize in [Sanitize::RACES, Sanitize::LDS, Sanitize::ACCESSES] {
            found.push(
                version(number, options(sanitize))?
                    .map_or_else(|error| kind(&error), |_| "nothing".to_owned()),
            );
        }
        by_sanitizer.push(row(&number.to_string(), &[&found[0], &found[1], &found[2]]));
    }
    let head = ["version", "`RACES`", "`LDS`", "`ACCESSES`"];
    let race_of_1 =
        version(1, options(Sanitize::RACES))?.map_or_else(|error| error, |_| "no race".to_owned());
    Ok(vec![
        Output { name: "hunt.md", text: table(&head, &by_sanitizer) },
        Output { name: "hunt-0.txt", text: hunt(0)? },
        Output { name: "hunt-1.txt", text: hunt(1)? },
        Output { name: "hunt-1-race.txt", text: race_of_1 + "\n" },
        Output { name: "hunt-2.txt", text: hunt(2)? },
        Output { name: "hunt-3.txt", text: hunt(3)? },
        Output { name: "sanitize-deadlock.txt", text: dead() },
        Output { name: "sanitize-race.txt", text: race() },
        Output { name: "sanitize-lds.txt", text: unwritten() },
        Output { name: "sanitize-bounds.txt", text: beyond()? },
        Output { name: "sanitize-assert.txt", text: assertion() },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_found() {
        assert!(race().contains("data race in LDS"), "{}", race());
        assert!(unwritten().contains("uninitialised LDS"), "{}", unwritten());
        assert!(beyond().unwrap().contains("out of bounds"), "{}", beyond().unwrap());
        assert!(assertion().contains("value >= 0.0"), "{}", assertion());
    }

    #[test]
    fn the_fixed_kernel_is_clean_and_right() {
        let mut x: [u32; 128] = std::array::from_fn(|i| i as u32);
        add_neighbour_fixed.launch(&with(Sanitize::all()), Grid::x(1), (&mut x,)).unwrap();
        assert!((0..128).all(|i| x[i] as usize == i + (i + 1) % 128));
    }

    #[test]
    fn the_hunt_ends_with_a_kernel_that_is_right() {
        let finds = [
            "undefined value",
            "undefined value",
            "out of bounds",
            "nothing was found; 0 elements are wrong",
        ];
        for (number, find) in finds.into_iter().enumerate() {
            let said = hunt(number as u32).unwrap();
            assert!(said.contains(find), "{number}: {said}");
        }
    }

    #[test]
    fn the_deadlock_is_found() {
        assert!(dead().contains("deadlock") || dead().contains("progress"), "{}", dead());
    }
}
