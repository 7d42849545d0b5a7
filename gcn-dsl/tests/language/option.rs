//! `?`, `bool::then_some`, `bool::then` and `checked_*`: the same lines compiled for the device and for the host.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 3] = [Target::GFX900, Target::GFX90A, Target::GFX950];

gcn_kernel! {
    #[device]
    fn at(x: &[u32], i: V<u32>) -> Option<V<u32>> {
        (i < x.len()).then_some(x[i])
    }

    #[device]
    fn parent(x: &[u32], i: V<u32>) -> Option<V<u32>> {
        let up = at(x, i)?;
        (up != i).then(|| up)
    }

    /// `?` in several positions: in operands, arguments, conditions, branches, loops, and at the end.
    #[device]
    fn walk(x: &[u32], i: V<u32>) -> Option<V<u32>> {
        let sum = i + parent(x, i)? * 2 + at(x, at(x, i)?)?;
        let mut last = i;
        for _ in 0..3 {
            last = match at(x, last)? % 3 {
                0 => parent(x, last)?,
                1 => last + 1,
                _ => break,
            };
        }
        let more = if at(x, sum % 100)? > 20 { sum.checked_sub(25)? } else { sum.checked_mul(last)? };
        let half = more.checked_div(at(x, 7)? % 4)?;
        Some(half + at(x, last % 64)?)
    }

    #[device]
    fn counted(from: V<u32>, n: &mut V<u32>) -> Option<V<u32>> {
        *n += 1;
        (from % 4 != 3).then_some(from + *n)
    }

    /// The left side is evaluated before the call that changes the variable.
    #[device]
    fn in_order(i: V<u32>) -> Option<V<u32>> {
        let mut n: V<u32> = i;
        Some(n * 1000 + counted(n, &mut n)? * 10 + n)
    }

    #[workgroup(64)]
    fn walks(x: &[u32], y: &mut [u32], z: &mut [u32]) {
        let i = global_id().x;
        y[i] = walk(x, i).unwrap_or(u32::MAX);
        z[i] = in_order(i).unwrap_or(u32::MAX);
    }

    #[workgroup(64)]
    fn uniform(n: u32, limit: u32, y: &mut [u32]) {
        let left = n.checked_sub(limit);
        y[lane_id()] = match left {
            Some(left) => left,
            None => 1000 + (n > 3).then_some(n).unwrap_or(7),
        };
    }
}

fn host_at(x: &[u32], i: u32) -> Option<u32> {
    x.get(i as usize).copied()
}

fn host_walk(x: &[u32], i: u32) -> Option<u32> {
    let parent = |i: u32| host_at(x, i).filter(|up| *up != i);
    let sum = i + parent(i)? * 2 + host_at(x, host_at(x, i)?)?;
    let mut last = i;
    for _ in 0..3 {
        last = match host_at(x, last)? % 3 {
            0 => parent(last)?,
            1 => last + 1,
            _ => break,
        };
    }
    let more = if host_at(x, sum % 100)? > 20 { sum.checked_sub(25)? } else { sum.checked_mul(last)? };
    let half = more.checked_div(host_at(x, 7)? % 4)?;
    Some(half + host_at(x, last % 64)?)
}

fn host_in_order(i: u32) -> Option<u32> {
    fn counted(from: u32, n: &mut u32) -> Option<u32> {
        *n += 1;
        (from % 4 != 3).then_some(from + *n)
    }
    let mut n = i;
    Some(n * 1000 + counted(n, &mut n)? * 10 + n)
}

#[test]
fn question_marks_leave_as_on_the_host() {
    // Element 7 makes a divisor 0 for some lanes in one case and not in the other.
    for seventh in [30, 32] {
        let mut x: Vec<u32> = (0..90).map(|i| (i * 37 + 11) % 95).collect();
        x[7] = seventh;
        x[20] = 20;
        let want: Vec<u32> = (0..128).map(|i| host_walk(&x, i).unwrap_or(u32::MAX)).collect();
        assert!(seventh == 32 || want.iter().filter(|w| **w != u32::MAX).count() > 10, "{want:?}");
        let order: Vec<u32> = (0..128).map(|i| host_in_order(i).unwrap_or(u32::MAX)).collect();
        for target in TARGETS {
            let (mut y, mut z) = (vec![0; 128], vec![0; 128]);
            walks.launch(&Device::simulator(target), Grid::x(2), (&x, &mut y, &mut z)).unwrap();
            assert_eq!(y, want, "{target}");
            assert_eq!(z, order, "{target}");
        }
    }
}

#[test]
fn options_of_uniform_values_are_uniform() {
    for (n, limit, want) in [(9, 4, 5), (2, 4, 1007), (4, 5, 1004)] {
        let mut y = vec![0; 64];
        uniform.launch(&Device::simulator(Target::GFX942), Grid::x(1), (n, limit, &mut y)).unwrap();
        assert_eq!(y, [want; 64]);
    }
}

gcn_kernel! {
    #[device]
    trait Generator {
        fn next(&mut self) -> V<u32>;
        /// A provided method, which calls `next` on `self` twice.
        fn pair(&mut self) -> V<u64> {
            let high = self.next() as u64;
            high << 32 | self.next() as u64
        }
    }

    #[device]
    struct Steps {
        state: V<u32>,
        by: u32,
    }

    #[device]
    impl Generator for Steps {
        fn next(&mut self) -> V<u32> {
            self.state = self.state * 5 + self.by;
            self.state
        }
    }

    #[device]
    fn third<G: Generator>(from: &mut G) -> V<u64> {
        from.pair();
        from.pair() ^ from.next() as u64
    }

    #[workgroup(64)]
    fn pairs(by: u32, y: &mut [u64]) {
        let mut steps = Steps { state: lane_id(), by };
        let first = steps.pair();
        y[lane_id()] = first ^ third(&mut steps);
    }
}

#[test]
fn provided_methods_change_their_value() {
    let mut y = vec![0; 64];
    pairs.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (3, &mut y)).unwrap();
    for (lane, y) in y.into_iter().enumerate() {
        let mut state = lane as u32;
        let mut next = || {
            state = state.wrapping_mul(5).wrapping_add(3);
            u64::from(state)
        };
        let mut pair = || next() << 32 | next();
        let (first, _, third) = (pair(), pair(), pair());
        assert_eq!(y, first ^ third ^ next());
    }
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    struct Hyper {
        rate: f32,
        taps: [u32; 2],
    }

    #[device]
    fn scaled(x: V<f32>, h: Hyper) -> V<f32> {
        if h.taps[1] > 2 { x * h.rate } else { x }
    }

    #[device]
    fn nibble(q: V<[u8; 4]>, k: V<u32>) -> V<u8> {
        q[k] >> 4
    }

    #[workgroup(64)]
    fn structs(h: Hyper, x: &mut [f32], masks: &mut [u64]) {
        let i = lane_id();
        let bytes: [V<u8>; 4] = [0x10, 0x20, 0x30, 0x40];
        x[i] = scaled(x[i], h) + nibble(bytes, i % 4) as f32;
        masks[i] = (1u64 << i) - 1 ^ (u64::MAX >> h.taps[0]);
    }
}

#[test]
fn uniform_structs_arrays_in_lanes_and_shifted_numbers() {
    let (mut x, mut masks) = (vec![3.0; 64], vec![0; 64]);
    let h = Hyper { rate: 0.5, taps: [60, 3] };
    structs.launch(&Device::simulator(Target::GFX942), Grid::x(1), (h, &mut x, &mut masks)).unwrap();
    for i in 0..64 {
        assert_eq!(x[i], 1.5 + (i % 4 + 1) as f32);
        assert_eq!(masks[i], ((1u64 << i) - 1) ^ 15);
    }
}
