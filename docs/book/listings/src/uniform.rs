//! Uniform and varying.

use gcn_dsl::prelude::*;

use crate::{Fault, Output, Outputs, TARGET, body, row, table};

// ANCHOR: bits
gcn_kernel! {
    /// The number of bits of each element, by shifting until nothing is left.
    #[workgroup(64)]
    pub fn bits(x: &mut [u32]) {
        let i = global_id().x;
        let mut rest = x[i]; // varying: x[i] is
        let mut count: V<u32> = 0;
        while rest > 0 {
            rest = rest >> 1;
            count += 1;
        }
        x[i] = count;
    }
}
// ANCHOR_END: bits

// ANCHOR: power
gcn_kernel! {
    /// x to the power of n: the loop's bound is one value for the wave.
    #[workgroup(64)]
    pub fn power(n: u32, x: &mut [f32]) {
        let i = global_id().x;
        let factor = x[i];
        let mut product: V<f32> = 1.0;
        for _ in 0..n {
            product *= factor;
        }
        x[i] = product;
    }
}
// ANCHOR_END: power

// ANCHOR: longest
gcn_kernel! {
    /// As `bits`, and `trips[w]` is how many times wave `w` went through its loop.
    #[workgroup(64)]
    pub fn longest(x: &mut [u32], trips: &mut [u32]) {
        let i = global_id().x;
        let mut rest = x[i];
        let mut count: V<u32> = 0;
        while rest > 0 {
            rest = rest >> 1;
            count += 1;
        }
        x[i] = count;
        trips[workgroup_id().x] = wave_max(count);
    }
}
// ANCHOR_END: longest

fn instructions(mut x: [u32; 64]) -> Result<u64, Fault> {
    Ok(bits.launch(&Device::simulator(TARGET), Grid::x(1), (&mut x,))?.wave_instructions)
}

/// Elements of which the last one is different.
fn with_last(all: u32, last: u32) -> [u32; 64] {
    let mut x = [all; 64];
    x[63] = last;
    x
}

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let rows = [
        row("1 in all lanes", &[&instructions([1; 64])?]),
        row("2^20 in all lanes", &[&instructions([1 << 20; 64])?]),
        row("1 in 63 lanes, 2^20 in one", &[&instructions(with_last(1, 1 << 20))?]),
    ];
    let counts = table(&["x", "instructions of the wave"], &rows);
    let code = |assembly: String| body(&assembly);
    Ok(vec![
        Output { name: "bits.md", text: counts },
        Output { name: "bits.s", text: code(bits.build(TARGET)?.assembly(Comments::None)) },
        Output { name: "power.s", text: code(power.build(TARGET)?.assembly(Comments::None)) },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_takes_as_long_as_its_longest_lane() {
        let all = instructions([1 << 20; 64]).unwrap();
        assert_eq!(instructions(with_last(1, 1 << 20)).unwrap(), all);
        assert!(instructions([1; 64]).unwrap() * 5 < all);
    }

    #[test]
    fn bits_are_counted() {
        let mut x: [u32; 64] = std::array::from_fn(|i| i as u32 * 77);
        let want = x.map(|x| 32 - x.leading_zeros());
        bits.launch(&Device::simulator(TARGET), Grid::x(1), (&mut x,)).unwrap();
        assert_eq!(x, want);
    }

    #[test]
    fn powers() {
        let mut x = [3.0; 64];
        power.launch(&Device::simulator(TARGET), Grid::x(1), (4, &mut x)).unwrap();
        assert_eq!(x, [81.0; 64]);
    }

    #[test]
    fn trips_are_those_of_the_longest_lane() {
        let (mut x, mut trips) = ([1; 128], [0; 2]);
        x[100] = 1 << 9;
        longest.launch(&Device::simulator(TARGET), Grid::x(2), (&mut x, &mut trips)).unwrap();
        assert_eq!(trips, [1, 10]);
    }
}
