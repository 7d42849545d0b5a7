//! `&&`, `||`, guards and closures compute what they compute in Rust, and only in the lanes that Rust's rules require.
//! The sanitizers check each access, and the same code is executed on the host.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Options, Sanitize};

const TARGETS: [Target; 3] = [Target::GFX900, Target::GFX90A, Target::GFX950];

gcn_kernel! {
    /// Right sides that read LDS and slices out of bounds wherever the left side is false.
    #[workgroup(64)]
    fn bounded(n: u32, x: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        let few = Lds::<u32, 32>::new();
        if i < 32 {
            few[i] = i * 3;
        }
        barrier();
        let far = i * 5;
        let mut seen: V<u32> = 0;
        if i < 32 && few[i] > 30 {
            seen += 1;
        }
        if far >= n || x[far] > 100 {
            seen += 2;
        }
        if far < n && x[far] % 2 == 0 || i < 32 && few[i] % 2 == 1 {
            seen += 4;
        }
        seen += match far {
            k if k < n && x[k] > 50 => 8,
            60..100 if i < 32 && few[i] == 45 => 16,
            _ => 0,
        };
        seen += (far < n).then(|| x[far] & 7).map_or(0, |low| x[low]);
        let mut k = i % 20;
        while k > 0 && x[k - 1] > 20 {
            k -= 1;
        }
        y[i] = seen * 32 + k;
    }
}

fn host_bounded(x: &[u32], i: u32) -> u32 {
    let (n, far) = (x.len() as u32, i * 5);
    let x = |k: u32| x[k as usize];
    let few = |k: u32| {
        assert!(k < 32);
        k * 3
    };
    let mut seen = 0;
    if i < 32 && few(i) > 30 {
        seen += 1;
    }
    if far >= n || x(far) > 100 {
        seen += 2;
    }
    if far < n && x(far) % 2 == 0 || i < 32 && few(i) % 2 == 1 {
        seen += 4;
    }
    seen += match far {
        k if k < n && x(k) > 50 => 8,
        60..100 if i < 32 && few(i) == 45 => 16,
        _ => 0,
    };
    seen += (far < n).then(|| x(far) & 7).map_or(0, x);
    let mut k = i % 20;
    while k > 0 && x(k - 1) > 20 {
        k -= 1;
    }
    seen * 32 + k
}

#[test]
fn right_sides_read_only_where_the_left_side_asks() {
    let x: Vec<u32> = (0..117).map(|i| (i * 53 + 7) % 149).collect();
    let want: Vec<u32> = (0..64).map(|i| host_bounded(&x, i)).collect();
    for target in TARGETS {
        let options = Options { sanitize: Sanitize::all(), ..Options::strict() };
        let device = Device::simulator_with(target, options);
        let mut y = vec![0; 64];
        bounded.launch(&device, Grid::x(1), (117, &x, &mut y)).unwrap();
        assert_eq!(y, want, "{target}");
    }
}

gcn_kernel! {
    #[device]
    fn counted(n: &mut V<u32>, limit: V<u32>) -> V<bool> {
        *n += 1;
        *n > limit
    }

    /// Values that right sides and closures write, and the number of active lanes in them.
    #[workgroup(64)]
    fn effects(s: u32, x: &[u32], hits: &mut [u32], y: &mut [u32]) {
        let i = lane_id();
        let mut n: V<u32> = x[i] % 3;
        let mut bits: V<u32> = 0;
        if x[i] > 40 && counted(&mut n, 2) {
            bits |= 1;
        }
        if counted(&mut n, 3) || counted(&mut n, 4) {
            bits |= 2;
        }
        if x[i] > 60 && 1000 / (x[i] - 60) > 20 {
            bits |= 4;
        }
        if x[i] % 5 != 0 && wave_sum(splat(1u32)) > 40 {
            bits |= 8;
        }
        if s > 3 && hits.atomic(0).fetch_add(1, Scope::Agent, Ordering::Relaxed) > 0 || s == 3 {
            bits |= 16;
        }
        if x[i] < 30 && hits.atomic(1).fetch_add(1, Scope::Agent, Ordering::Relaxed) < 64 && s != 9 {
            bits |= 32;
        }
        bits += (x[i] > 90).then(|| wave_sum(splat(64u32))).unwrap_or_else(|| wave_sum(splat(128u32)));
        y[i] = bits * 16 + n;
    }

    /// Host conditions: the right side is not evaluated at all.
    #[workgroup(64)]
    fn of_the_host(#[host] n: usize, y: &mut [u32]) {
        let values = [lane_id(), lane_id() * 2, lane_id() * 3];
        let mut sum: V<u32> = 0;
        #[unroll] for k in 0..=n {
            if k > 0 && values[k - 1] > 9 {
                sum += 1;
            }
            if k == 0 || k - 1 == 1 || values[k - 1] == 8 {
                sum += 100;
            }
        }
        y[lane_id()] = sum;
    }
}

fn host_effects(s: u32, x: &[u32], hits: &mut [u32; 2]) -> Vec<u32> {
    fn counted(n: &mut u32, limit: u32) -> bool {
        *n += 1;
        *n > limit
    }
    let many = |f: fn(u32) -> bool| x.iter().filter(|x| f(**x)).count() as u32;
    let [fifths, over] = [many(|x| x % 5 != 0), many(|x| x > 90)];
    let lane = |x: &u32| {
        let (x, mut n, mut bits) = (*x, *x % 3, 0);
        if x > 40 && counted(&mut n, 2) {
            bits |= 1;
        }
        if counted(&mut n, 3) || counted(&mut n, 4) {
            bits |= 2;
        }
        if x > 60 && 1000 / (x - 60) > 20 {
            bits |= 4;
        }
        if x % 5 != 0 && fifths > 40 {
            bits |= 8;
        }
        hits[0] += u32::from(s > 3);
        if s > 3 && hits[0] > 1 || s == 3 {
            bits |= 16;
        }
        hits[1] += u32::from(x < 30);
        if x < 30 && s != 9 {
            bits |= 32;
        }
        bits += if x > 90 { over * 64 } else { (64 - over) * 128 };
        bits * 16 + n
    };
    x.iter().map(lane).collect()
}

#[test]
fn right_sides_have_their_effects_only_where_they_run() {
    let x: Vec<u32> = (0..64).map(|i| (i * 29 + 3) % 101).collect();
    for target in TARGETS {
        for s in [2, 3, 4, 9] {
            let (mut want_hits, mut hits, mut y) = ([0; 2], [0; 2], vec![0; 64]);
            let want = host_effects(s, &x, &mut want_hits);
            effects.launch(&Device::simulator(target), Grid::x(1), (s, &x, &mut hits, &mut y)).unwrap();
            assert_eq!((y, hits), (want, want_hits), "{target}, {s}");
        }
    }
}

#[test]
fn what_the_host_decides_needs_no_right_side() {
    let kernel = of_the_host { n: 3 };
    let (device, mut y) = (Device::simulator(Target::GFX942), vec![0; 64]);
    device.launch(&kernel, &kernel.build(device.target()).unwrap(), Grid::x(1), (&mut y,)).unwrap();
    let want = |lane: u32| {
        let values = [lane, lane * 2, lane * 3];
        let at = |k: usize| {
            let above = k > 0 && values[k - 1] > 9;
            let third = k == 0 || k - 1 == 1 || values[k - 1] == 8;
            u32::from(above) + 100 * u32::from(third)
        };
        (0..=3).map(at).sum()
    };
    assert_eq!(y, (0..64).map(want).collect::<Vec<u32>>());
}
