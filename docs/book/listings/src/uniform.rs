//! Uniform and varying.

use gcn_dsl::prelude::*;

use gcn_dsl::sim::timed::Pipe;

use crate::{Fault, Output, Outputs, TARGET, body, one_cu, row, table};

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

// ANCHOR: filter
gcn_kernel! {
    /// Each channel has 1024 elements and a filter of 16 weights of its own. The channel is computed in each lane.
    #[workgroup(256)]
    pub fn filter_varying(weights: &[f32], x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let channel = i / 1024;
        let mut sum: V<f32> = 0.0;
        #[unroll]
        for k in 0..16u32 {
            sum = weights[channel * 16 + k].mul_add(x[i + k], sum);
        }
        y[i] = sum;
    }
}

gcn_kernel! {
    /// The same; the channel is computed once for the wave.
    #[workgroup(256)]
    pub fn filter_uniform(weights: &[f32], x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let channel = workgroup_id().x / 4;
        let mut sum: V<f32> = 0.0;
        #[unroll]
        for k in 0..16u32 {
            sum = weights[channel * 16 + k].mul_add(x[i + k], sum);
        }
        y[i] = sum;
    }
}
// ANCHOR_END: filter

// ANCHOR: waterfall
gcn_kernel! {
    /// The same for channels in any order: `channel[i]` is that of element `i`. Each trip serves the lanes of one channel.
    #[workgroup(256)]
    pub fn filter_any(channel: &[u32], weights: &[f32], x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let mine = channel[i];
        let mut done: V<bool> = false;
        while !done {
            let served = read_first_lane(mine); // of the lanes that are left
            if mine == served {
                let mut sum: V<f32> = 0.0;
                #[unroll]
                for k in 0..16u32 {
                    sum = weights[served * 16 + k].mul_add(x[i + k], sum);
                }
                y[i] = sum;
                done = true;
            }
        }
    }
}
// ANCHOR_END: waterfall

gcn_kernel! {
    /// The same with loads in each lane.
    #[workgroup(256)]
    pub fn filter_lookup(channel: &[u32], weights: &[f32], x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let mine = channel[i];
        let mut sum: V<f32> = 0.0;
        #[unroll]
        for k in 0..16u32 {
            sum = weights[mine * 16 + k].mul_add(x[i + k], sum);
        }
        y[i] = sum;
    }
}

/// Channels of the filters.
const CHANNELS: u32 = 16;

/// Weights and elements.
fn signals() -> (Vec<f32>, Vec<f32>) {
    let weights = (0..CHANNELS * 16).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
    (weights, (0..CHANNELS * 1024).map(|i| (i * 5 % 13) as f32 - 6.0).collect())
}

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
    let ((weights, x), grid) = (signals(), Grid::x(CHANNELS * 4));
    let mut y = vec![0.0; x.len()];
    let varying = filter_varying.timed(TARGET, grid, (&weights, &x, &mut y), &one_cu())?;
    let uniform = filter_uniform.timed(TARGET, grid, (&weights, &x, &mut y), &one_cu())?;
    let vgprs = [filter_varying.build(TARGET)?.report().vgprs, filter_uniform.build(TARGET)?.report().vgprs];
    let names = ["filter_varying", "filter_uniform"];
    let reports = [&varying, &uniform];
    let mut falls = Vec::new();
    for mixed in [1, 2, 4] {
        let channel: Vec<u32> = (0..x.len() as u32).map(|i| (i / 1024 + i % mixed) % CHANNELS).collect();
        let any = filter_any.timed(TARGET, grid, (&channel, &weights, &x, &mut y), &one_cu())?.cycles;
        let lookup = filter_lookup.timed(TARGET, grid, (&channel, &weights, &x, &mut y), &one_cu())?.cycles;
        falls.push(row(&mixed.to_string(), &[&any, &lookup]));
    }
    let fall_head = ["channels in a wave", "cycles of `filter_any`", "cycles of `filter_lookup`"];
    let filters: Vec<_> = (0..2)
        .map(|i| {
            let issued =
                |pipe| reports[i].pipe(pipe).map_or(0, |pipe| pipe.issued / (u64::from(CHANNELS) * 16));
            let cells = [issued(Pipe::Tex), issued(Pipe::Valu), issued(Pipe::Scalar), vgprs[i].into()];
            row(names[i], &[&cells[0], &cells[1], &cells[2], &cells[3], &reports[i].cycles])
        })
        .collect();
    let head = ["kernel", "vector memory", "vector ALU", "scalar", "VGPRs", "cycles"];
    Ok(vec![
        Output { name: "waterfall.md", text: table(&fall_head, &falls) },
        Output { name: "filters.md", text: table(&head, &filters) },
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

    #[test]
    fn filters_are_applied() {
        let (weights, x) = signals();
        let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
        let filtered = |i: usize, channel: usize| -> f32 {
            (0..16).map(|k| weights[channel * 16 + k] * at(i + k)).sum() // whole numbers: exact
        };
        let want: Vec<f32> = (0..x.len()).map(|i| filtered(i, i / 1024)).collect();
        let (device, grid) = (Device::simulator(TARGET), Grid::x(CHANNELS * 4));
        let mut y = vec![f32::NAN; x.len()];
        filter_varying.launch(&device, grid, (&weights, &x, &mut y)).unwrap();
        assert_eq!(y, want);
        y.fill(f32::NAN);
        filter_uniform.launch(&device, grid, (&weights, &x, &mut y)).unwrap();
        assert_eq!(y, want);
        let channel: Vec<u32> = (0..x.len() as u32).map(|i| i * 3 % CHANNELS).collect();
        let want: Vec<f32> = (0..x.len()).map(|i| filtered(i, channel[i] as usize)).collect();
        filter_any.launch(&device, grid, (&channel, &weights, &x, &mut y)).unwrap();
        assert_eq!(y, want);
        y.fill(f32::NAN);
        filter_lookup.launch(&device, grid, (&channel, &weights, &x, &mut y)).unwrap();
        assert_eq!(y, want);
    }
}
