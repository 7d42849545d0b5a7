//! What atomics compute.

use gcn_dsl::BuildOptions;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Options, Sanitize};
use gcn_isa::target::WaveSize;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;
/// The number of work-items in the kernels of this file.
const ITEMS: usize = 256;

/// Inputs of both signs, with all bits in use and with repetitions.
fn inputs(seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 17) ^ (state << 29)
    };
    (0..ITEMS).map(|i| if i % 7 == 0 { next() % 5 } else { next() }).collect()
}

/// One kernel for each operation: its result is unused on `x[0..4]` and used on `y[0..4]`; a third array is in LDS and
/// is copied to `z`. Four workgroups of 64 lanes contend for each element.
macro_rules! operation {
    ($name:ident: $method:ident($t:ident) $initial:expr, |$values:ident| $fold:expr) => {
        mod $name {
            use super::*;

            gcn_kernel! {
                #[workgroup(64)]
                fn kernel(v: &[$t], x: &mut [$t], y: *mut $t, old: &mut [$t], z: &mut [$t]) {
                    let i = global_id().x;
                    let slot = lane_id() & 3;
                    x.atomic(slot).$method(v[i], Scope::Agent, Ordering::Relaxed);
                    old[i] = y.atomic(slot).$method(v[i], Scope::Agent, Ordering::AcqRel);
                    let lds = Lds::<$t, 4>::new();
                    if lane_id() < 4 {
                        let start = z[workgroup_id().x * 4 + lane_id()];
                        lds.atomic(lane_id()).store(start, Scope::Workgroup, Ordering::Release);
                    }
                    barrier();
                    lds.atomic(slot).$method(v[i], Scope::Workgroup, Ordering::Relaxed);
                    barrier();
                    if lane_id() < 4 {
                        z[workgroup_id().x * 4 + lane_id()] = lds.atomic(lane_id()).load(Scope::Workgroup, Ordering::Acquire);
                    }
                }
            }

            #[test]
            fn is_rusts() {
                let values: Vec<$t> = inputs(stringify!($name).len() as u64).iter().map(|v| *v as $t).collect();
                let initial: $t = $initial;
                let reference = |members: Vec<$t>| {
                    let $values = members;
                    let fold: fn($t, $t) -> $t = $fold;
                    $values.into_iter().fold(initial, fold)
                };
                let slots = |range: std::ops::Range<usize>| {
                    let of = |slot: usize| range.clone().filter(|i| i % 4 == slot).map(|i| values[i]).collect();
                    (0..4).map(|slot| reference(of(slot))).collect::<Vec<$t>>()
                };
                for target in TARGETS {
                    let device = Device::simulator(target);
                    let (mut x, mut old) = (vec![initial; 4], vec![initial; ITEMS]);
                    let mut z = vec![initial; 16];
                    let y = device.alloc::<$t>(4).unwrap();
                    device.write(y, &x).unwrap();
                    kernel.launch(&device, Grid::x(4), (&values, &mut x, y, &mut old, &mut z)).unwrap();
                    assert_eq!(x, slots(0..ITEMS), "{target} result unused");
                    assert_eq!(device.read(y, 4).unwrap(), slots(0..ITEMS), "{target} result used");
                    let groups: Vec<$t> = (0..4).flat_map(|g| slots(64 * g..64 * (g + 1))).collect();
                    assert_eq!(z, groups, "{target} LDS");
                    // The old values are those of some order: each is the result of the operations before it.
                    old.sort_unstable();
                    assert!(old.contains(&initial), "{target}: somebody was first");
                }
            }
        }
    };
}

operation!(add_u32: fetch_add(u32) 7, |values| |a, b| a.wrapping_add(b));
operation!(add_i32: fetch_add(i32) -7, |values| |a, b| a.wrapping_add(b));
operation!(add_u64: fetch_add(u64) 1 << 60, |values| |a, b| a.wrapping_add(b));
operation!(add_i64: fetch_add(i64) -1, |values| |a, b| a.wrapping_add(b));
operation!(sub_u32: fetch_sub(u32) 0, |values| |a, b| a.wrapping_sub(b));
operation!(sub_i64: fetch_sub(i64) 5, |values| |a, b| a.wrapping_sub(b));
operation!(min_u32: fetch_min(u32) u32::MAX, |values| |a, b| a.min(b));
operation!(min_i32: fetch_min(i32) i32::MAX, |values| |a, b| a.min(b));
operation!(min_u64: fetch_min(u64) u64::MAX, |values| |a, b| a.min(b));
operation!(min_i64: fetch_min(i64) i64::MAX, |values| |a, b| a.min(b));
operation!(max_u32: fetch_max(u32) 0, |values| |a, b| a.max(b));
operation!(max_i32: fetch_max(i32) i32::MIN, |values| |a, b| a.max(b));
operation!(max_u64: fetch_max(u64) 0, |values| |a, b| a.max(b));
operation!(max_i64: fetch_max(i64) i64::MIN, |values| |a, b| a.max(b));
operation!(and_u32: fetch_and(u32) u32::MAX, |values| |a, b| a & b);
operation!(and_i64: fetch_and(i64) -1, |values| |a, b| a & b);
operation!(or_u32: fetch_or(u32) 1, |values| |a, b| a | b);
operation!(or_u64: fetch_or(u64) 1, |values| |a, b| a | b);
operation!(xor_i32: fetch_xor(i32) 9, |values| |a, b| a ^ b);
operation!(xor_u64: fetch_xor(u64) 9, |values| |a, b| a ^ b);

gcn_kernel! {
    /// Old values of counters: each work-item gets a number of its own.
    #[workgroup(64)]
    fn tickets(up: &mut [u32], wrapping: &mut [u32], down: &mut [u64], out: &mut [u32]) {
        let i = global_id().x;
        out[i] = up.atomic(0).fetch_add(1, Scope::Agent, Ordering::Relaxed);
        out[i + 256] = wrapping.atomic(0).fetch_inc_wrap(9, Scope::Agent, Ordering::Relaxed);
        out[i + 512] = down.atomic(0).fetch_dec_wrap(15, Scope::Agent, Ordering::Relaxed) as u32;
        out[i + 768] = up.atomic(1).swap(i, Scope::Agent, Ordering::AcqRel);
    }
}

#[test]
fn old_values_are_those_of_one_order() {
    for target in TARGETS {
        let (mut up, mut wrapping, mut down) = (vec![0u32, 999], vec![0u32], vec![0u64]);
        let mut out = vec![0u32; 4 * ITEMS];
        let device = Device::simulator(target);
        tickets.launch(&device, Grid::x(4), (&mut up, &mut wrapping, &mut down, &mut out)).unwrap();
        let mut parts: Vec<Vec<u32>> = out.chunks(ITEMS).map(<[u32]>::to_vec).collect();
        parts[3].push(up[1]);
        parts.iter_mut().for_each(|p| p.sort_unstable());
        let sorted = |mut v: Vec<u32>| {
            v.sort_unstable();
            v
        };
        assert_eq!(parts[0], (0..256).collect::<Vec<_>>(), "{target}");
        assert_eq!(parts[1], sorted((0..256).map(|k| k % 10).collect()), "{target}");
        assert_eq!(parts[2], sorted((0..256).map(|k| (256 - k) % 16).collect()), "{target}");
        // Each value was written once, and was either returned once or is still there.
        assert_eq!(parts[3], (0..256).chain([999]).collect::<Vec<_>>(), "{target}");
        assert_eq!((up[0], wrapping[0], down[0]), (256, 6, 0), "{target}");
    }
}

gcn_kernel! {
    /// Floats, and an addition by compare-exchange.
    #[workgroup(64)]
    fn sums(a: &mut [f32], b: &mut [f64], c: &mut [u32], halves: &mut [f16], out: &mut [f32]) {
        let i = global_id().x;
        a.atomic(0).fetch_add((i & 7) as f32, Scope::Agent, Ordering::Relaxed);
        b.atomic(0).fetch_add((i & 7) as f64, Scope::Agent, Ordering::Relaxed);
        halves.atomic_pair(0).fetch_add(halves.load_vector::<2>(2), Scope::Agent, Ordering::Relaxed);
        let lds = Lds::<f32, 1>::new();
        lds[0] = 0.0;
        barrier();
        lds.atomic(0).fetch_add((i & 3) as f32, Scope::Workgroup, Ordering::Relaxed);
        barrier();
        out[workgroup_id().x] = lds[0];
        let mut done: V<u32> = 0;
        let mut seen: V<u32> = c.atomic(0).load(Scope::Agent, Ordering::Relaxed);
        while done == 0 {
            let old = c.atomic(0).compare_exchange(seen, seen * 3 + 1, Scope::Agent, Ordering::AcqRel);
            if old == seen {
                done = 1;
            }
            seen = old;
        }
    }
}

#[test]
fn floats_and_compare_exchange() {
    // f64 in global memory is supported from gfx90a on.
    for target in TARGETS.into_iter().filter(|t| *t >= Target::GFX90A) {
        let (mut a, mut b, mut c) = (vec![0.5f32], vec![0.25f64], vec![5u32]);
        let mut halves = [0.0f32, 1.0, 0.5, -1.0].map(f16::from_f32).to_vec();
        let mut out = vec![0f32; 4];
        sums.launch(&Device::simulator(target), Grid::x(4), (&mut a, &mut b, &mut c, &mut halves, &mut out))
            .unwrap();
        let sevens: u32 = (0..256).map(|i| i & 7).sum();
        assert_eq!((a[0], b[0]), (sevens as f32 + 0.5, f64::from(sevens) + 0.25), "{target}");
        assert_eq!(out, [96.0; 4], "{target}");
        assert_eq!(halves[..2], [128.0, -255.0].map(f16::from_f32), "{target}");
        let chain = (0..256).fold(5u32, |c, _| c.wrapping_mul(3).wrapping_add(1));
        assert_eq!(c[0], chain, "{target}");
    }
}

gcn_kernel! {
    /// Each workgroup waits for the previous one, adds to that workgroup's result and passes the sum on.
    #[workgroup(64)]
    fn relay(data: &mut [u32], turn: &mut [u32]) {
        let group = workgroup_id().x;
        let t = lane_id();
        while turn.atomic(0).load(Scope::Agent, Ordering::Acquire) != group {
        }
        data[t] = data[t] * 2 + group + t;
        fence(Scope::Agent, Ordering::Release);
        if t == 0 {
            turn.atomic(0).store(group + 1, Scope::Agent, Ordering::Relaxed);
        }
    }

    /// A lock that one lane of each workgroup acquires.
    #[workgroup(64)]
    fn locked(lock: &mut [u32], counter: &mut [u32]) {
        if lane_id() == 0 {
            while lock.atomic(0).compare_exchange(0, 1, Scope::Agent, Ordering::Acquire) != 0 {
            }
            counter[0] = counter[0] + 1;
            lock.atomic(0).store(0, Scope::Agent, Ordering::Release);
        }
    }
}

#[test]
fn messages_pass_between_workgroups() {
    for target in TARGETS {
        let device = Device::simulator(target);
        let (mut data, mut turn) = (vec![1u32; 64], vec![0u32]);
        relay.launch(&device, Grid::x(12), (&mut data, &mut turn)).unwrap();
        let reference = |t: u32| (0..12).fold(1u32, |x, group| x * 2 + group + t);
        assert_eq!(data, (0..64).map(reference).collect::<Vec<_>>(), "{target}");
        assert_eq!(turn[0], 12, "{target}");
        let (mut lock, mut counter) = (vec![0u32], vec![0u32]);
        locked.launch(&device, Grid::x(50), (&mut lock, &mut counter)).unwrap();
        assert_eq!((lock[0], counter[0]), (0, 50), "{target}");
    }
}

gcn_kernel! {
    /// Counts and sums in LDS, then in memory that all workgroups share.
    #[workgroup(128)]
    fn shared_sums(x: &[u32], counts: &mut [u32], totals: &mut [f32], doubles: &mut [f64], wide: &mut [u64]) {
        let (i, x) = (local_id().x, x[global_id().x]);
        let (here, floats) = (Lds::<u32, 16>::new(), Lds::<f32, 4>::new());
        if i < 16 {
            here[i] = 0;
            floats[i % 4] = 0.0;
        }
        barrier();
        here.atomic(x % 16).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
        floats.atomic(x % 4).fetch_add((x % 8) as f32, Scope::Workgroup, Ordering::Relaxed);
        barrier();
        if i < 16 {
            counts.atomic(i).fetch_add(here[i], Scope::Agent, Ordering::Relaxed);
        }
        if i < 4 {
            totals.atomic(i).fetch_add(floats[i], Scope::Agent, Ordering::Relaxed);
        }
        doubles.atomic(x % 2).fetch_add((x % 8) as f64, Scope::Agent, Ordering::Relaxed);
        wide.atomic(x % 2).fetch_max((x as u64) << 33, Scope::Agent, Ordering::AcqRel);
        let mut old = counts.atomic(16).load(Scope::Agent, Ordering::Acquire);
        loop {
            let now = counts.atomic(16).compare_exchange(old, old + x % 4, Scope::Agent, Ordering::AcqRel);
            if now == old {
                break;
            }
            old = now;
        }
    }
}

/// In waves of both sizes, with the sanitizer that knows how far an access reaches.
#[test]
fn workgroups_share_sums_on_radeon() {
    let x: Vec<u32> = inputs(3).iter().map(|x| *x as u32 >> 8).collect();
    let of = |part: u32, parts: u32| x.iter().copied().filter(move |x| x % parts == part);
    let rdna = [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201];
    for (target, wave) in rdna.into_iter().flat_map(|target| WaveSize::ALL.map(|wave| (target, wave))) {
        let options = Options { sanitize: Sanitize::all(), ..Options::strict() };
        let built = BuildOptions { wave: Some(wave), ..BuildOptions::default() };
        let built = shared_sums.build_with(target, &built).unwrap();
        let (mut counts, mut totals, mut doubles, mut wide) = ([0; 17], [0.0; 4], [0.0; 2], [0; 2]);
        let arguments = (&x, &mut counts, &mut totals, &mut doubles, &mut wide);
        Device::simulator_with(target, options).launch(&shared_sums, &built, Grid::x(2), arguments).unwrap();
        (0..16).for_each(|k| assert_eq!(counts[k as usize], of(k, 16).count() as u32, "{target} {wave:?}"));
        assert_eq!(counts[16], x.iter().map(|x| x % 4).sum::<u32>(), "{target} {wave:?}");
        (0..4).for_each(|k| assert_eq!(totals[k as usize], of(k, 4).map(|x| (x % 8) as f32).sum::<f32>()));
        for k in 0..2 {
            assert_eq!(
                doubles[k as usize],
                of(k, 2).map(|x| f64::from(x % 8)).sum::<f64>(),
                "{target} {wave:?}"
            );
            assert_eq!(
                wide[k as usize],
                of(k, 2).map(|x| u64::from(x) << 33).max().unwrap(),
                "{target} {wave:?}"
            );
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn outside(x: &mut [u32], out: &mut [u32]) {
        let i = lane_id();
        out[i] = x.atomic(i).fetch_add(1, Scope::Agent, Ordering::Relaxed);
        out[i + 64] = x.atomic(i).load(Scope::Agent, Ordering::Relaxed);
    }
}

#[test]
fn slices_check_bounds() {
    for target in TARGETS {
        let (mut x, mut out) = (vec![10u32; 20], vec![9u32; 128]);
        outside.launch(&Device::simulator(target), Grid::x(1), (&mut x, &mut out)).unwrap();
        assert_eq!(x, [11; 20], "{target}");
        let expected = |inside| (0..64).map(move |i| if i < 20 { inside } else { 0 });
        assert_eq!(out, expected(10).chain(expected(11)).collect::<Vec<u32>>(), "{target}");
    }
}
