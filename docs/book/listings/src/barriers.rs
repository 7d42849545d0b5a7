//! Barriers and the memory model.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Options, Sanitize};

use crate::{Output, Outputs, TARGET, body};

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
    Ok(vec![
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
}
