//! Forms of code that a blind trial produced: kernels written from only the README and the guide.

use gcn_dsl::prelude::*;

const ROW: usize = 4;

mod elsewhere {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        pub fn workgroup_sum(k: u32) -> u32 {
            k + 1
        }

        #[device]
        pub fn mfma(k: u32, m: V<u32>) -> V<u32> {
            m * k
        }

        #[device]
        pub fn barrier_with_reads_pending(k: V<u32>) -> V<u32> {
            k ^ 1
        }
    }
}

/// The functions of another macro call have names that have another meaning here.
mod of_other_names {
    use super::elsewhere::{barrier_with_reads_pending, mfma, workgroup_sum};
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        fn matmul(k: u32) -> u32 {
            k + 2
        }

        #[device]
        struct Pair {
            x: V<u32>,
        }

        #[device]
        impl Pair {
            fn rows(self) -> V<u32> {
                self.x
            }
        }

        #[workgroup(64)]
        pub fn named(n: u32, x: &[u32], y: &mut [u32]) {
            let i = local_id().x;
            let mut r = 0;
            if n > 2 {
                r = workgroup_sum(n) + matmul(n);
            }
            // Another struct has a field of the same name; this one is uniform.
            let mut groups = 0;
            groups += num_workgroups().x;
            for _ in 0..groups {
                barrier();
            }
            if r < 100 {
                barrier();
            }
            let mut v = Pair { x: x[i] }.rows();
            if v > 3 {
                v = barrier_with_reads_pending(mfma(r, v));
            }
            y[i] = v + r;
        }
    }
}

#[test]
fn a_function_of_another_macro_call_may_have_any_name() {
    let (x, mut y): (Vec<u32>, Vec<u32>) = ((0..64).collect(), vec![0; 64]);
    let device = Device::simulator(Target::GFX942);
    of_other_names::named.launch(&device, Grid::x(1), (5, &x, &mut y)).unwrap();
    let wanted: Vec<u32> = x.iter().map(|v| 13 + if *v > 3 { (v * 13) ^ 1 } else { *v }).collect();
    assert_eq!(y, wanted);
}

gcn_kernel! {
    #[workgroup(64)]
    fn of_sizes(x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let wide = 2 * ROW;
        let (mut parts, mut low) = ([0u32; ROW], 0);
        for (k, part) in parts.iter_mut().enumerate() {
            *part = x[(i as usize % ROW) * wide + k];
        }
        for (k, part) in parts.iter().enumerate() {
            out[i as usize * ROW + k] = part + low;
            low += (ROW * k) as u32;
        }
    }
}

#[test]
fn a_size_of_the_host_stands_beside_an_index_of_the_device() {
    let (x, mut out): (Vec<u32>, Vec<u32>) = ((0..32).map(|i| i * i).collect(), vec![0; 256]);
    of_sizes.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut out)).unwrap();
    for i in 0..64usize {
        let mut low = 0;
        for k in 0..ROW {
            assert_eq!(out[i * ROW + k], x[i % ROW * 2 * ROW + k] + low, "{i} {k}");
            low += (ROW * k) as u32;
        }
    }
}

const SEEDS: [u32; 5] = [3, 17, 40, 5, 9];

macro_rules! left {
    ($x:ident, $n:ident) => {{
        let (mut sum, mut trips) = (0u32, 0u32);
        for seed in SEEDS {
            if $x % seed == 2 {
                continue;
            }
            trips += 1;
            sum += seed * trips;
            if sum > $x {
                break;
            }
            for k in 0..$n {
                if k == seed {
                    break;
                }
                sum ^= k;
            }
        }
        for &seed in SEEDS.iter().rev() {
            if seed == $n {
                break;
            }
            trips += 10;
        }
        'all: for (k, seed) in SEEDS.iter().enumerate() {
            for other in [1u32, 2, 3] {
                if $x == other * 7 {
                    break 'all;
                }
                if $x % other == 1 {
                    continue 'all;
                }
                sum += k as u32 * seed + other;
            }
        }
        sum * 100 + trips
    }};
}

gcn_kernel! {
    #[workgroup(64)]
    fn leaving(n: u32, x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let v = x[i];
        let (mut sum, mut trips) = (0u32, 0u32);
        for seed in SEEDS {
            if v % seed == 2 {
                continue;
            }
            trips += 1;
            sum += seed * trips;
            if sum > v {
                break;
            }
            for k in 0..n {
                if k == seed {
                    break;
                }
                sum ^= k;
            }
        }
        for &seed in SEEDS.iter().rev() {
            if seed == n {
                break;
            }
            trips += 10;
        }
        'all: for (k, seed) in SEEDS.iter().enumerate() {
            for other in [1u32, 2, 3] {
                if v == other * 7 {
                    break 'all;
                }
                if v % other == 1 {
                    continue 'all;
                }
                sum += k as u32 * seed + other;
            }
        }
        out[i] = sum * 100 + trips;
    }
}

#[test]
fn a_loop_over_elements_is_left_as_in_rust() {
    let (n, x, mut out): (u32, Vec<u32>, Vec<u32>) = (5, (0..64).collect(), vec![0; 64]);
    for target in [Target::GFX906, Target::GFX942] {
        leaving.launch(&Device::simulator(target), Grid::x(1), (n, &x, &mut out)).unwrap();
        let wanted: Vec<u32> = x
            .iter()
            .map(|v| {
                let v = *v;
                left!(v, n)
            })
            .collect();
        assert_eq!(out, wanted, "{target}");
    }
}

gcn_kernel! {
    #[device]
    #[derive(Clone, Copy, Default, PartialEq)]
    struct Corner {
        at: [V<u32>; 2],
        kind: V<u32>,
    }

    #[workgroup(64)]
    fn ordered(n: u32, x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let (a, b) = ((x[i] % 3, i % 5, n), (n % 3, x[i] % 5, i % 7));
        let (c, d) = ([x[i] % 3, i % 4], [i % 3, x[i] % 4]);
        let mut corner = Corner::default();
        if corner == (Corner { at: [0, 0], kind: x[i] % 2 }) {
            corner.kind = 5;
        }
        let origin = Corner::default();
        let mut bits = 0;
        for (k, holds) in [a < b, a <= b, a > b, a >= b, a == b, a != b, c < d, c >= d, c == d, corner != origin]
            .iter()
            .enumerate()
        {
            if *holds {
                bits |= 1 << k;
            }
        }
        out[i] = bits;
    }

    #[workgroup(64)]
    fn stacked(x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mut stack = [(0, 0u32); 6];
        let mut depth = 0;
        let mut sum = 0;
        stack[0] = (x[i], 1);
        loop {
            let (value, level) = stack[depth];
            sum += value * level;
            if level < 3 && value > 1 {
                stack[depth] = (value / 2, level + 1);
                stack[depth + 1] = (value / 3, level + 1);
                depth += 1;
            } else {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            }
        }
        out[i] = sum;
    }
}

#[test]
fn tuples_arrays_and_structs_are_compared_as_in_rust() {
    let (n, x, mut out): (u32, Vec<u32>, Vec<u32>) = (4, (0..64).map(|i| i * 7 % 61).collect(), vec![0; 64]);
    ordered.launch(&Device::simulator(Target::GFX942), Grid::x(1), (n, &x, &mut out)).unwrap();
    for i in 0..64u32 {
        let v = x[i as usize];
        let (a, b) = ((v % 3, i % 5, n), (n % 3, v % 5, i % 7));
        let (c, d) = ([v % 3, i % 4], [i % 3, v % 4]);
        let holds = [a < b, a <= b, a > b, a >= b, a == b, a != b, c < d, c >= d, c == d, v % 2 == 0];
        let wanted = holds.iter().enumerate().map(|(k, holds)| u32::from(*holds) << k).sum::<u32>();
        assert_eq!(out[i as usize], wanted, "{i}");
    }
}

#[test]
fn an_array_of_tuples_is_a_stack() {
    let (x, mut out): (Vec<u32>, Vec<u32>) = ((0..64).map(|i| i * 11 % 97).collect(), vec![0; 64]);
    stacked.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut out)).unwrap();
    for (x, out) in x.iter().zip(&out) {
        let (mut stack, mut sum) = (vec![(*x, 1u32)], 0);
        while let Some((value, level)) = stack.pop() {
            sum += value * level;
            if level < 3 && value > 1 {
                stack.push((value / 2, level + 1));
                stack.push((value / 3, level + 1));
            }
        }
        assert_eq!(*out, sum, "{x}");
    }
}

gcn_kernel! {
    /// Memory and a position in it, as every decoder has.
    #[device]
    struct Reader<'a> {
        data: &'a [u32],
        at: V<u32>,
    }

    #[device]
    impl Reader<'_> {
        fn next(&mut self) -> V<u32> {
            let word = self.data[self.at];
            self.at += 1;
            word
        }

        fn long(&mut self) -> V<u32> {
            let mut sum = 0;
            loop {
                let word = self.next();
                sum += word;
                if word % 4 != 3 {
                    break;
                }
            }
            sum
        }
    }

    #[workgroup(64)]
    fn read(data: &[u32], more: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mut reader = Reader { data, at: i };
        let mut other = Reader { data: more, at: i / 2 };
        let mut sum = reader.long();
        for _ in 0..i % 3 {
            sum = sum * 3 + other.next();
            if sum % 2 == 0 {
                sum += reader.next();
            }
        }
        out[i] = sum + reader.at * 1000 + other.at;
    }

    #[workgroup(64)]
    fn of_one(a: f32, x: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        out[i] = wave_sum(a) + wave_max(x[3]) + shuffle_xor(x[2], 1) + wave_exclusive_sum(x[1]) + workgroup_sum(a);
    }
}

#[test]
fn a_struct_with_a_slice_and_a_place_in_it_is_a_reader() {
    let data: Vec<u32> = (0..100).map(|i| i * 5 % 23).collect();
    let (more, mut out): (Vec<u32>, Vec<u32>) = ((0..100).map(|i| i * 3 % 17).collect(), vec![0; 64]);
    read.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&data, &more, &mut out)).unwrap();
    for (i, out) in out.into_iter().enumerate() {
        let (mut at, mut other) = (i, i / 2);
        let mut next = || {
            at += 1;
            data[at - 1]
        };
        let mut sum = 0;
        loop {
            let word = next();
            sum += word;
            if word % 4 != 3 {
                break;
            }
        }
        for _ in 0..i % 3 {
            sum = sum * 3 + more[other];
            other += 1;
            if sum % 2 == 0 {
                sum += next();
            }
        }
        assert_eq!(out, sum + at as u32 * 1000 + other as u32, "{i}");
    }
}

#[test]
fn functions_across_lanes_take_one_value_for_all() {
    let (x, mut out) = ([0.0, 2.0, 3.0, 5.0], [0.0; 64]);
    of_one.launch(&Device::simulator(Target::GFX942), Grid::x(1), (0.5, &x, &mut out)).unwrap();
    for (i, out) in out.iter().enumerate() {
        assert_eq!(*out, 32.0 + 5.0 + 3.0 + 2.0 * i as f32 + 32.0, "{i}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn after_a_continue(n: u32, x: &[u32], counted: &mut [u32]) {
        let i = global_id().x;
        let mut trips = 0u32;
        for k in 0..n {
            if x[i] == k {
                continue;
            }
            trips += 1 + k;
        }
        counted[i] = trips;
    }
}

/// A number is varying if only the lanes that do not `continue` change it.
#[test]
fn lanes_that_go_to_the_next_trip_count_less() {
    let (x, mut counted): (Vec<u32>, Vec<u32>) = ((0..64).collect(), vec![0; 64]);
    after_a_continue.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (9, &x, &mut counted)).unwrap();
    let wanted = |lane: u32| (0..9).filter(|k| *k != lane).map(|k| 1 + k).sum::<u32>();
    assert_eq!(counted, (0..64).map(wanted).collect::<Vec<u32>>());
}
