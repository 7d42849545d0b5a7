//! Variables without `V<…>` that are assigned the results of functions, methods and structs of another `gcn_kernel!`:
//! rustc knows whether these are varying.

use gcn_dsl::prelude::*;

mod random {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        pub struct Rng {
            state: V<u32>,
        }

        #[device]
        impl Rng {
            pub fn new(seed: V<u32>) -> Rng {
                Rng { state: seed }
            }

            pub fn next(&mut self) -> V<u32> {
                self.state = self.state * 747_796_405 + 1;
                self.state >> 16
            }

            pub fn coin(&mut self) -> V<bool> {
                self.next() & 1 == 1
            }
        }

        #[device]
        pub struct Complex {
            pub re: V<f32>,
            pub im: V<f32>,
        }

        #[device]
        pub fn noise(x: V<u32>) -> V<u32> {
            x * 2_654_435_761 >> 20
        }

        #[device]
        pub fn both(x: V<u32>) -> (V<u32>, u32) {
            (x * 3, 7)
        }

        #[device]
        pub fn four(x: V<u32>) -> [V<u32>; 4] {
            [x, x + 1, x + 2, x + 3]
        }

        /// A uniform value.
        #[device]
        pub fn blocks(n: u32) -> u32 {
            n / 4 + 1
        }

        #[device]
        pub fn kept<X: Numeric<u32>>(x: X) -> X {
            x * x
        }
    }
}

use random::{Complex, Rng};

gcn_kernel! {
    #[workgroup(64)]
    fn sums(n: u32, y: &mut [u32]) {
        let lane = lane_id();
        let mut rng = Rng::new(lane);
        let mut sum: u32 = 0;
        let mut last = 0;
        let mut heads = 0;
        for k in 0..n {
            let drawn = rng.next();
            sum += drawn % 100;
            last = drawn + k;
            if rng.coin() {
                heads += 1;
            }
        }
        y[lane] = sum;
        y[lane + 64] = last;
        y[lane + 128] = heads;
    }

    /// What is assigned to the variables is declared after them.
    #[workgroup(64)]
    fn later(n: u32, y: &mut [u32]) {
        let mut sum: u32 = 0;
        let mut total = 0;
        let mut product = 1;
        let mut state: u32 = 9;
        let lane = lane_id();
        for k in 0..n {
            let seed = lane + k;
            sum += random::noise(seed);
            let (own, all) = random::both(lane);
            total += own;
            product *= all;
            state = random::noise(state);
        }
        y[lane] = sum;
        y[lane + 64] = total;
        y[lane + 128] = product + state;
    }

    /// Loops until a varying number is reached; also parts of values that are declared elsewhere.
    #[workgroup(64)]
    fn until_left(x: &[f32], y: &mut [u32], z: &mut [f32]) {
        let lane = lane_id();
        let mut rng = Rng::new(lane);
        let mut steps = 0;
        loop {
            steps += 1;
            if rng.next() % 4 == 0 {
                break;
            }
        }
        y[lane] = steps;
        let mut most = 0;
        for part in random::four(lane) {
            most = most.max(part);
        }
        y[lane + 64] = most;
        let c = Complex { re: x[lane], im: 2.0 };
        let mut norm: f32 = 0.0;
        norm += c.re * c.re + c.im;
        z[lane] = norm;
    }

    /// The result of a function that is uniform stays uniform: the barrier in the loop requires that.
    #[workgroup(128)]
    fn one_for_all(n: u32, y: &mut [u32]) {
        let tile = Lds::<u32, 128>::new();
        let i = local_id().x;
        tile[i] = i;
        let mut rounds: u32 = 0;
        rounds += random::blocks(n);
        let mut squared = 1;
        squared += random::kept(rounds);
        for k in 0..rounds + squared {
            barrier();
            let other = tile[127 - i];
            barrier();
            tile[i] = other + k;
        }
        y[i] = tile[i];
    }
}

fn next(state: &mut u32) -> u32 {
    *state = state.wrapping_mul(747_796_405).wrapping_add(1);
    *state >> 16
}

fn noise(x: u32) -> u32 {
    x.wrapping_mul(2_654_435_761) >> 20
}

#[test]
fn what_a_method_of_another_macro_call_gives_decides() {
    let mut y = vec![0; 192];
    sums.launch(&Device::simulator(Target::GFX942), Grid::x(1), (5, &mut y)).unwrap();
    for lane in 0..64 {
        let (mut state, mut sum, mut last, mut heads) = (lane as u32, 0, 0, 0);
        for k in 0..5 {
            let drawn = next(&mut state);
            sum += drawn % 100;
            last = drawn + k;
            heads += next(&mut state) & 1;
        }
        assert_eq!([y[lane], y[lane + 64], y[lane + 128]], [sum, last, heads], "lane {lane}");
    }
}

#[test]
fn names_that_are_declared_later_do_not_matter() {
    let mut y = vec![0; 192];
    later.launch(&Device::simulator(Target::GFX906), Grid::x(1), (3, &mut y)).unwrap();
    let state = noise(noise(noise(9)));
    for lane in 0..64u32 {
        let sum: u32 = (0..3).map(|k| noise(lane + k)).sum();
        let at = |k: u32| y[(lane + 64 * k) as usize];
        assert_eq!([at(0), at(1), at(2)], [sum, 9 * lane, 343 + state], "lane {lane}");
    }
}

#[test]
fn loops_and_parts_are_asked_for_too() {
    let x: Vec<f32> = (0..64).map(|i| i as f32 / 2.0).collect();
    let (mut y, mut z) = (vec![0; 128], vec![0.0; 64]);
    until_left.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (&x, &mut y, &mut z)).unwrap();
    for lane in 0..64 {
        let (mut state, mut steps) = (lane as u32, 1);
        while !next(&mut state).is_multiple_of(4) {
            steps += 1;
        }
        assert_eq!([y[lane], y[lane + 64]], [steps, lane as u32 + 3], "lane {lane}");
        assert_eq!(z[lane], x[lane] * x[lane] + 2.0);
    }
}

#[test]
fn what_is_one_value_for_all_lanes_stays_one() {
    let mut y = vec![0; 128];
    one_for_all.launch(&Device::simulator(Target::GFX942), Grid::x(1), (8, &mut y)).unwrap();
    // 3 rounds, and 10 more.
    let mut tile: Vec<u32> = (0..128).collect();
    for k in 0..13 {
        tile.reverse();
        tile.iter_mut().for_each(|t| *t += k);
    }
    assert_eq!(y, tile);
}

mod stack {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        pub struct Pair {
            pub of: V<u32>,
            pub left: V<u32>,
        }

        #[device]
        pub struct Stack {
            left: V<u32>,
            first: [V<u32>; 2],
        }

        #[device]
        impl Stack {
            pub fn new(left: V<u32>) -> Stack {
                Stack { left, first: [left, left + 1] }
            }

            pub fn pop(&mut self) -> Option<(V<u32>, V<u32>)> {
                if self.left == 0 {
                    return None;
                }
                self.left -= 1;
                Some((self.left, 2))
            }

            pub fn pair(&mut self) -> Option<Pair> {
                let (left, of) = self.pop()?;
                Some(Pair { of, left })
            }

            fn turned(k: [V<u32>; 2]) -> [V<u32>; 2] {
                [k[1], k[0] + 3]
            }

            fn more(&self, k: V<u32>) -> V<u32> {
                k + self.left
            }

            /// The question to rustc contains `self`.
            pub fn next(&mut self) -> V<u32> {
                let mut k = self.first;
                let mut sum = 0;
                #[unroll]
                for _ in 0..3 {
                    k = Self::turned(k);
                    sum = self.more(k[0]);
                }
                self.first = [k[0], k[1] + 1];
                sum + k[1]
            }
        }
    }
}

use stack::Stack;

gcn_kernel! {
    #[workgroup(64)]
    fn popped(y: &mut [u32]) {
        let i = local_id().x;
        let mut stack = Stack::new(i % 5);
        let mut k = 9;
        while let Some((left, of)) = stack.pop() {
            k -= 1;
            y[i * 8 + left] = k * of;
        }
        let mut stack = Stack::new(i % 3);
        let mut pairs = 0;
        while let Some(pair) = stack.pair() {
            pairs += pair.of;
        }
        y[i * 8 + 6] = pairs;
        let mut stack = Stack::new(i);
        y[i * 8 + 7] = stack.next() + stack.next() * 1000;
    }
}

#[test]
fn a_part_that_lanes_have_their_own_of_is_enough() {
    let mut y = vec![0; 64 * 8];
    popped.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&mut y,)).unwrap();
    for (i, y) in y.chunks(8).enumerate() {
        let i = i as u32;
        let mut want = [0; 8];
        for (k, left) in (0..i % 5).rev().enumerate() {
            want[left as usize] = (8 - k as u32) * 2;
        }
        want[6] = i % 3 * 2;
        let mut first = [i, i + 1];
        let mut next = || {
            for _ in 0..3 {
                first = [first[1], first[0] + 3];
            }
            let value = first[0] + i + first[1];
            first[1] += 1;
            value
        };
        want[7] = next() + next() * 1000;
        assert_eq!(y, want, "lane {i}");
    }
}
