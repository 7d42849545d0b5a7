//! What is known of integers from the branches around them, and the code that is not needed because of it.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, instructions};

const N: usize = 64;

gcn_kernel! {
    /// As Q4_K of llama.cpp, with fewer quants.
    #[device]
    #[derive(Clone)]
    #[repr(C)]
    struct Block {
        d: f16,
        least: f16,
        scales: [u8; 12],
        quants: [u8; 16],
    }

    #[device]
    fn scale(j: V<u32>, b: V<Block>) -> V<u8> {
        if j < 4 { b.scales[j + 4] & 63 } else { (b.scales[j + 4] & 15) | ((b.scales[j - 4] >> 6) << 4) }
    }

    #[workgroup(64)]
    fn scales(blocks: &[Block], y: &mut [u32]) {
        let i = global_id().x;
        let b = blocks[i / 8];
        y[i] = scale(i % 8, b) as u32;
    }

    /// The four quants of a lane.
    #[workgroup(64)]
    fn quants(n: u32, blocks: &[Block], v: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let mut sum = 0.0;
        for at in 0..n {
            let b = blocks[at];
            for l in 0..4 {
                sum += v[at * 4 + l] * b.quants[i % 4 * 4 + l] as f32;
            }
        }
        y[i] = sum;
    }

    #[workgroup(64)]
    fn halves(blocks: &[Block], y: &mut [f32]) {
        let i = global_id().x;
        let b = blocks[i];
        y[i] = b.d as f32 * y[i] - b.least as f32;
    }

    /// Limits inside conditions, of which some do not suffice for the limit.
    #[workgroup(64)]
    fn not_known(x: &[u32], signed: &[i32], blocks: &[Block], y: &mut [u32]) {
        let i = global_id().x;
        let b = blocks[i / 8];
        let mut j = x[i] % 32;
        let k = signed[i];
        let mut sum = 0;
        if j < 13 {
            sum += b.scales[j.min(11)] as u32;
        }
        if j >= 3 {
            sum += b.scales[(j - 3).min(11)] as u32 * 3;
            j = j / 2 + 7;
            sum += b.scales[(j - 6).min(11)] as u32 * 5;
        } else if j < 2 || k < 4 {
            sum += b.scales[(j + 10).min(11)] as u32 * 7;
        }
        if k < 5 {
            sum += b.scales[(k as u32).min(11)] as u32 * 11;
        }
        if !(k < 2 || k > 13) && j != 9 {
            sum += b.scales[((k - 2) as u32).min(11)] as u32 * 13 + b.scales[(k - 1).max(2).min(11) as u32] as u32 * 17;
        }
        y[i] = sum;
    }

    /// A wavefront over a matrix: which lanes take part is asked in each round.
    #[workgroup(64)]
    fn rounds(rows: u32, columns: u32, x: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        let which = workgroup_id().x;
        for d in 0..rows + columns {
            let j = d as i32 - i as i32;
            if i < rows && j >= 0 && j < columns as i32 {
                y[(which * rows + i) * columns + j as u32] += x[which * columns + j as u32] ^ d;
            }
        }
    }
}

fn blocks(rng: &mut Random, n: usize) -> Vec<Block> {
    let float = |rng: &mut Random| f16::from_f32(rng.below(2000) as f32 / 16.0 - 60.0);
    let block = |_| Block {
        d: float(rng),
        least: float(rng),
        scales: std::array::from_fn(|_| rng.below(256) as u8),
        quants: std::array::from_fn(|_| rng.below(256) as u8),
    };
    (0..n).map(block).collect()
}

#[test]
fn an_index_within_a_condition_needs_no_limit() {
    let blocks = blocks(&mut Random::new(1), N / 8);
    for target in TARGETS {
        let mut y = vec![0; N];
        scales.launch(&Device::simulator(target), Grid::x(1), (&blocks, &mut y)).unwrap();
        for (i, y) in y.iter().enumerate() {
            let (j, s) = (i % 8, &blocks[i / 8].scales);
            let expected = if j < 4 { s[j + 4] & 63 } else { (s[j + 4] & 15) | ((s[j - 4] >> 6) << 4) };
            assert_eq!(*y, u32::from(expected), "{target}: {i}");
        }
        let text = scales.build(target).unwrap().assembly(Comments::None);
        assert_eq!((instructions(&text, "v_min_u32"), text.matches("0xff,").count()), (0, 0), "{text}");
        assert_eq!(
            ["offset:4", "offset:8", "offset:12"].map(|o| text.contains(o)),
            [false, true, false],
            "{text}"
        );
    }
}

#[test]
fn offsets_that_are_computed_anew_are_those_of_neighbours() {
    let blocks = blocks(&mut Random::new(2), 5);
    let v: Vec<f32> = (0..20).map(|i| i as f32 - 7.0).collect();
    for target in TARGETS {
        let mut y = vec![0.0; N];
        quants.launch(&Device::simulator(target), Grid::x(1), (5, &blocks, &v, &mut y)).unwrap();
        for (i, y) in y.iter().enumerate() {
            let products = (0..20).map(|k| v[k] * f32::from(blocks[k / 4].quants[i % 4 * 4 + k % 4]));
            assert_eq!(*y, products.sum::<f32>(), "{target}: {i}");
        }
        let text = quants.build(target).unwrap().assembly(Comments::None);
        assert!(!text.contains("_ubyte ") && !text.contains("_u8 "), "{text}");
    }
}

#[test]
fn halves_of_a_word_are_read_where_they_are() {
    let blocks = blocks(&mut Random::new(3), N);
    for target in TARGETS {
        let mut y: Vec<f32> = (0..N).map(|i| i as f32 * 0.25).collect();
        halves.launch(&Device::simulator(target), Grid::x(1), (&blocks, &mut y)).unwrap();
        for (i, y) in y.iter().enumerate() {
            let expected = blocks[i].d.to_f32() * (i as f32 * 0.25) - blocks[i].least.to_f32();
            assert_eq!(*y, expected, "{target}: {i}");
        }
        let text = halves.build(target).unwrap().assembly(Comments::None);
        let readers = instructions(&text, "v_fma_mix_f32") + instructions(&text, "v_cvt_f32_f16_sdwa");
        let extracted = instructions(&text, "v_and_b32") + instructions(&text, "v_lshrrev_b32");
        assert_eq!((readers, extracted), (2, 0), "{text}");
    }
}

#[test]
fn limits_stay_where_a_condition_does_not_suffice() {
    let mut rng = Random::new(4);
    let blocks = blocks(&mut rng, N / 8);
    let x: Vec<u32> = (0..N).map(|_| rng.below(1 << 20) as u32).collect();
    let signed: Vec<i32> = (0..N).map(|_| rng.below(24) as i32 - 6).collect();
    for target in TARGETS {
        let mut y = vec![0; N];
        let args = (&x[..], &signed[..], &blocks[..], &mut y[..]);
        not_known.launch(&Device::simulator(target), Grid::x(1), args).unwrap();
        for i in 0..N {
            let at = |j: u32| u32::from(blocks[i / 8].scales[j.min(11) as usize]);
            let (mut j, k, mut sum) = (x[i] % 32, signed[i], 0);
            if j < 13 {
                sum += at(j);
            }
            if j >= 3 {
                sum += at(j - 3) * 3;
                j = j / 2 + 7;
                sum += at(j - 6) * 5;
            } else if j < 2 || k < 4 {
                sum += at(j + 10) * 7;
            }
            if k < 5 {
                sum += at(k as u32) * 11;
            }
            if (2..=13).contains(&k) && j != 9 {
                sum += at((k - 2) as u32) * 13 + at((k - 1).max(2) as u32) * 17;
            }
            assert_eq!(y[i], sum, "{target}: {i}");
        }
    }
}

#[test]
fn what_no_round_changes_is_computed_before_the_rounds() {
    let (rows, columns) = (37, 50);
    let x: Vec<u32> = (0..2 * columns).map(|i| i * i).collect();
    for target in TARGETS {
        let mut y = vec![7; (2 * rows * columns) as usize];
        rounds.launch(&Device::simulator(target), Grid::x(2), (rows, columns, &x, &mut y)).unwrap();
        for (at, y) in (0..).zip(&y) {
            let (which, i, j) = (at / (rows * columns), at / columns % rows, at % columns);
            assert_eq!(*y, 7 + (x[(which * columns + j) as usize] ^ (i + j)), "{target}: {at}");
        }
        let text = rounds.build(target).unwrap().assembly(Comments::None);
        let (_, in_loop) = text.split_once("s_cbranch").expect("a loop");
        let (_, in_loop) = in_loop.split_once(":\n").expect("the loop's label");
        assert_eq!(instructions(in_loop, "s_mul_i32"), 0, "{text}");
        // Two of the three comparisons are left, and nothing waits for the first one in front of the second.
        let names: Vec<&str> = in_loop.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let compares: Vec<usize> = (0..names.len()).filter(|i| names[*i].starts_with("v_cmp_")).collect();
        assert!(
            matches!(compares[..], [a, b] if names[a..b].iter().all(|name| !name.starts_with("s_and"))),
            "{text}"
        );
    }
}

gcn_kernel! {
    /// Lane 5 is not among the lanes for which the condition holds.
    #[workgroup(64)]
    fn of_another_lane(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let v = x[i];
        if v < 16 {
            y[i] = read_lane(v, 5) & 15;
        }
    }
}

gcn_kernel! {
    /// A constant and a uniform value have a value in lanes that are not active, too.
    #[workgroup(64)]
    fn of_all_lanes(k: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let (constant, uniform, wide): (V<u32>, V<u32>, V<u64>) = (splat(7), splat(k), splat(1 << 40));
        if x[i] < 16 {
            y[i] = read_lane(constant, 5) + read_lane(uniform, 5) + (read_lane(wide, 5) >> 40) as u32;
        }
    }
}

#[test]
fn what_all_lanes_have_is_read_in_those_that_are_not_active() {
    let x: Vec<u32> = (0..64).map(|i| if i == 5 { 100 } else { i % 16 }).collect();
    for target in TARGETS {
        let mut y = vec![7; 64];
        of_all_lanes.launch(&Device::simulator(target), Grid::x(1), (30, &x, &mut y)).unwrap();
        let expected: Vec<u32> = (0..64).map(|i| if i == 5 { 7 } else { 7 + 30 + 1 }).collect();
        assert_eq!(y, expected, "{target}");
    }
}

#[test]
fn a_condition_says_nothing_of_lanes_that_are_not_active() {
    let x: Vec<u32> = (0..64).map(|i| if i == 5 { 100 } else { i % 16 }).collect();
    for target in TARGETS {
        let mut y = vec![7; 64];
        of_another_lane.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        let expected: Vec<u32> = (0..64).map(|i| if i == 5 { 7 } else { 100 & 15 }).collect();
        assert_eq!(y, expected, "{target}");
    }
}

gcn_kernel! {
    /// One column of a convolution: what the loop changes of the index is the plane.
    #[workgroup(64)]
    fn planes(depth: u32, height: u32, width: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let (row, column) = (i / width, i % width);
        let mut sum = 0;
        for plane in 0..depth {
            sum = sum.rotate_left(1) ^ x[(plane * height + row) * width + column];
        }
        y[i] = sum;
    }
}

#[test]
fn loops_multiply_only_what_they_change() {
    let (depth, height, width) = (7, 8, 16);
    let x: Vec<u32> = (0..depth * height * width).map(|i| i * i).collect();
    for target in TARGETS {
        let mut y = vec![0; (height * width) as usize];
        planes.launch(&Device::simulator(target), Grid::x(2), (depth, height, width, &x, &mut y)).unwrap();
        for (at, y) in (0..).zip(&y) {
            let each = (0..depth).map(|plane| x[(plane * height * width + at) as usize]);
            assert_eq!(*y, each.fold(0u32, |sum, x| sum.rotate_left(1) ^ x), "{target}: {at}");
        }
        let text = planes.build(target).unwrap().assembly(Comments::None);
        let (_, in_loop) = text.split_once("s_cbranch").expect("a loop");
        let (_, in_loop) = in_loop.split_once(":\n").expect("the loop's label");
        assert_eq!(instructions(in_loop, "v_mul"), 0, "{text}");
    }
}

gcn_kernel! {
    /// Comparisons of constants, as device functions make them of the constants that they are given.
    #[workgroup(64)]
    fn of_constants(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let (one, nan, tiny): (V<f32>, V<f32>, V<f32>) = (splat(1.0), splat(f32::NAN), splat(1e-40));
        let mut v = x[i] - 2.5;
        if one == 0.0 || nan == nan || one < nan {
            v = 100.0;
        }
        if nan != nan && one > -1.0 {
            v -= 1e30;
        }
        if tiny > 0.0 {
            v -= 7.25;
        }
        y[i] = v;
    }
}

#[test]
fn comparisons_of_constant_floats_are_known() {
    let x: Vec<f32> =
        (0..64).map(|i| [0.0, -0.0, 2.5, 1e30, f32::MIN_POSITIVE, f32::INFINITY][i % 6]).collect();
    for target in TARGETS {
        let mut y = vec![0.0; 64];
        of_constants.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        let expected: Vec<f32> = x.iter().map(|x| x - 2.5 - 1e30 - 7.25).collect();
        assert_eq!(y, expected, "{target}");
        let text = of_constants.build(target).unwrap().assembly(Comments::None);
        // Only that of the subnormal, which depends on the mode.
        assert!(instructions(&text, "v_cmp") <= 1 && instructions(&text, "v_sub") == 0, "{text}");
    }
}
