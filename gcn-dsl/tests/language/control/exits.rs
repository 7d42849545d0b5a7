//! `break`, `continue`, `return`, labels, values.

use gcn_dsl::prelude::*;

use super::{TARGETS, numbers, simulators};

gcn_kernel! {
    #[workgroup(64)]
    fn collatz(limit: u32, x: &[u32], steps: &mut [u32], last: &mut [u32]) {
        let i = global_id().x;
        if i >= x.len() {
            return;
        }
        let mut n: V<u32> = x[i];
        let mut count: V<u32> = 0;
        loop {
            if n <= 1 {
                break;
            }
            if count == limit {
                last[i] = n;
                return;
            }
            count += 1;
            if n & 1 == 0 {
                n = n >> 1;
                continue;
            }
            n = 3 * n + 1;
        }
        steps[i] = count;
    }
}

#[test]
fn a_varying_loop_with_break_continue_and_return() {
    let x = numbers(150);
    let (mut steps, mut last) = (vec![7777; 150], vec![8888; 150]);
    for i in 0..150 {
        let (mut n, mut count) = (x[i], 0);
        loop {
            if n <= 1 {
                steps[i] = count;
                break;
            }
            if count == 40 {
                last[i] = n;
                break;
            }
            count += 1;
            n = if n & 1 == 0 { n >> 1 } else { n.wrapping_mul(3).wrapping_add(1) };
        }
    }
    assert!(steps.contains(&7777) && last.contains(&8888) && last.iter().any(|l| *l != 8888));
    for device in simulators() {
        // More lanes than elements: the additional lanes return immediately.
        let (mut s, mut l) = (vec![7777; 150], vec![8888; 150]);
        collatz.launch(&device, Grid::x(3), (40, &x, &mut s, &mut l)).unwrap();
        assert_eq!((s, l), (steps.clone(), last.clone()));
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn nested(rows: u32, x: &[u32], found: &mut [u32], seen: &mut [u32]) {
        let i = global_id().x;
        let mut count: V<u32> = 0;
        let mut hit: V<u32> = 9999;
        'rows: for r in 0..rows {
            let mut c: V<u32> = 0;
            'columns: while c < 10 {
                c += 1;
                let v = x[i] >> (r & 7) ^ c;
                if v & 3 == 0 {
                    continue 'columns;
                }
                count += 1;
                for k in 0..3u32 {
                    if v & 7 == 5 && k == 1 {
                        continue 'rows;
                    }
                    if v & 31 == 30 {
                        hit = 100 * r + 10 * c + k;
                        break 'rows;
                    }
                    if r == 5 {
                        break 'columns;
                    }
                    count += v & 1;
                }
            }
            count += 1000;
        }
        found[i] = hit;
        seen[i] = count;
    }
}

#[test]
fn labels_leave_several_loops() {
    let x = numbers(128);
    let (mut found, mut seen) = (Vec::new(), Vec::new());
    for x in &x {
        let (mut count, mut hit) = (0, 9999);
        'rows: for r in 0..8 {
            let mut c = 0;
            'columns: while c < 10 {
                c += 1;
                let v = x >> (r & 7) ^ c;
                if v & 3 == 0 {
                    continue 'columns;
                }
                count += 1;
                for k in 0..3u32 {
                    if v & 7 == 5 && k == 1 {
                        continue 'rows;
                    }
                    if v & 31 == 30 {
                        hit = 100 * r + 10 * c + k;
                        break 'rows;
                    }
                    if r == 5 {
                        break 'columns;
                    }
                    count += v & 1;
                }
            }
            count += 1000;
        }
        found.push(hit);
        seen.push(count);
    }
    for device in simulators() {
        let (mut f, mut s) = (vec![0; 128], vec![0; 128]);
        nested.launch(&device, Grid::x(2), (8, &x, &mut f, &mut s)).unwrap();
        assert_eq!(f, found);
        assert_eq!(s, seen);
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn values(n: u32, x: &[u32], roots: &mut [u32], firsts: &mut [u32], classes: &mut [u32], powers: &mut [u32]) {
        let i = global_id().x;
        let v = x[i];
        let mut k: V<u32> = 0;
        let root = loop {
            if k * k > v {
                break k;
            }
            if k == n {
                break 1000;
            }
            k += 1;
        };
        roots[i] = root;
        // A uniform counter: each lane gets the value of the trip on which it leaves.
        let first = 'search: {
            for j in 0..n {
                if v >> j & 1 == 1 {
                    break 'search j;
                }
            }
            n + 50
        };
        firsts[i] = first;
        classes[i] = 'class: {
            if v < 10 {
                break 'class 1;
            }
            if v < n {
                break 'class n;
            }
            v
        };
        // All lanes leave together, so the value is uniform, and a barrier after the loop is allowed.
        let mut p = 1u32;
        let power = loop {
            if p >= n {
                break p;
            }
            p *= 2;
            barrier();
        };
        barrier();
        let uniform: S<u32> = power;
        powers[i] = uniform;
    }
}

#[test]
fn loops_and_blocks_have_values() {
    let x = numbers(128);
    let n = 12;
    let roots: Vec<u32> =
        x.iter().map(|v| (0..n).find(|k| k * k > *v).unwrap_or(if n * n > *v { n } else { 1000 })).collect();
    let firsts: Vec<u32> = x.iter().map(|v| (0..n).find(|j| v >> j & 1 == 1).unwrap_or(n + 50)).collect();
    let classes: Vec<u32> = x
        .iter()
        .map(|v| {
            if *v < 10 {
                1
            } else if *v < n {
                n
            } else {
                *v
            }
        })
        .collect();
    for device in simulators() {
        let [mut r, mut f, mut c, mut p] = [(); 4].map(|()| vec![0; 128]);
        values.launch(&device, Grid::x(2), (n, &x, &mut r, &mut f, &mut c, &mut p)).unwrap();
        assert_eq!((r, f, c), (roots.clone(), firsts.clone(), classes.clone()));
        assert_eq!(p, vec![16; 128]);
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn uniform_exits(n: u32, stop: u32, x: &mut [u32]) {
        let i = global_id().x;
        let shared = Lds::<u32, 64>::new();
        let mut trips = 0u32;
        let mut sum: V<u32> = 0;
        for k in 0..n {
            if k == stop {
                break;
            }
            if k & 1 == 1 {
                continue;
            }
            trips += 1;
            shared[local_id().x] = x[i] + k;
            barrier();
            sum += shared[63 - local_id().x];
            barrier();
        }
        if trips == 0 {
            return;
        }
        barrier();
        x[i] = sum + 10000 * trips;
    }
}

#[test]
fn uniform_exits_keep_all_lanes() {
    for device in simulators() {
        for (n, stop) in [(0, 0), (5, 9), (9, 4), (3, 0)] {
            let mut x = numbers(128);
            let before = x.clone();
            uniform_exits.launch(&device, Grid::x(2), (n, stop, &mut x)).unwrap();
            let ks: Vec<u32> = (0..n.min(stop)).filter(|k| k % 2 == 0).collect();
            let expected: Vec<u32> = (0..128)
                .map(|i| {
                    let other = before[i / 64 * 64 + 63 - i % 64];
                    let sum: u32 = ks.iter().map(|k| other + k).sum();
                    if ks.is_empty() { before[i] } else { sum + 10000 * ks.len() as u32 }
                })
                .collect();
            assert_eq!(x, expected, "{n} {stop}");
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn unrolled(x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mut sum: V<u32> = 0;
        'outer: for r in 0..4u32 {
            #[unroll]
            for k in 0..4u32 {
                let v = x[i] >> (4 * r + k);
                if v & 7 == 3 {
                    continue 'outer;
                }
                comptime if k == 2 {
                    if v & 15 == 8 {
                        break 'outer;
                    }
                }
                sum += v & 1;
            }
            sum += 100;
        }
        out[i] = sum;
    }
}

#[test]
fn exits_leave_unrolled_loops_for_device_loops() {
    let x: Vec<u32> = numbers(128).iter().map(|v| v.wrapping_mul(2654435761)).collect();
    let expected: Vec<u32> = x
        .iter()
        .map(|x| {
            let mut sum = 0;
            'outer: for r in 0..4 {
                for k in 0..4 {
                    let v = x >> (4 * r + k);
                    if v & 7 == 3 {
                        continue 'outer;
                    }
                    if k == 2 && v & 15 == 8 {
                        break 'outer;
                    }
                    sum += v & 1;
                }
                sum += 100;
            }
            sum
        })
        .collect();
    for device in simulators() {
        let mut out = vec![0; 128];
        unrolled.launch(&device, Grid::x(2), (&x, &mut out)).unwrap();
        assert_eq!(out, expected);
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn returns_everywhere(mode: u32, x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let v = x[i];
        out[i] = 1;
        if mode == 7 {
            return;
        }
        if v & 1 == 0 {
            if v & 2 == 0 {
                out[i] = 2;
                return;
            } else if mode == 3 {
                out[i] = 3;
                return;
            }
            out[i] = 4;
        } else {
            for k in 0..mode {
                if v >> k & 5 == 5 {
                    out[i] = 10 + k;
                    return;
                }
            }
        }
        out[i] = out[i] + 100;
    }
}

#[test]
fn return_leaves_the_kernel_from_any_depth() {
    let x = numbers(192);
    for device in simulators() {
        for mode in [0, 1, 3, 6, 7] {
            let mut out = vec![0; 192];
            returns_everywhere.launch(&device, Grid::x(3), (mode, &x, &mut out)).unwrap();
            for i in 0..192 {
                let v = x[i];
                let expected = match (mode, v & 3) {
                    (7, _) => 1,
                    (_, 0) => 2,
                    (3, 2) => 3,
                    (_, 2) => 104,
                    _ => (0..mode).find(|k| v >> k & 5 == 5).map_or(101, |k| 10 + k),
                };
                assert_eq!(out[i], expected, "{mode} {i}: {v}");
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn counts_with_those_that_stay(n: u32, x: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let mut steps = 0u32;
        for k in 0..n {
            if x[i] >> k & 5 == 5 {
                out[i] = 10 + k;
                return;
            }
            // The variable is uniform: lanes that have returned no longer read it.
            steps += 1;
        }
        out[i] = 100 + steps;
    }
}

#[test]
fn a_uniform_variable_counts_beside_returns() {
    let x = numbers(128);
    for device in simulators() {
        for n in [0, 1, 5, 9] {
            let mut out = vec![0; 128];
            counts_with_those_that_stay.launch(&device, Grid::x(2), (n, &x, &mut out)).unwrap();
            for (x, out) in x.iter().zip(out) {
                assert_eq!(out, (0..n).find(|k| x >> k & 5 == 5).map_or(100 + n, |k| 10 + k));
            }
        }
    }
}

#[test]
fn a_loop_that_varies_has_one_branch_for_its_test() {
    gcn_kernel! {
        #[workgroup(64)]
        fn mandelbrot(limit: u32, out: &mut [u32]) {
            let i = global_id().x;
            let (cx, cy) = (cast_to_f32(i & 63) * 0.05 - 2.0, cast_to_f32(i >> 6) * 0.05 - 1.0);
            let mut x: V<f32> = 0.0;
            let mut y: V<f32> = 0.0;
            let mut n: V<u32> = 0;
            loop {
                let (xx, yy) = (x * x, y * y);
                if xx + yy > 4.0 || n >= limit {
                    break;
                }
                y = 2.0 * x * y + cy;
                x = xx - yy + cx;
                n += 1;
            }
            out[i] = n;
        }
    }
    for target in TARGETS {
        let kernel = mandelbrot.build(target).unwrap();
        let text = kernel.assembly(Comments::None);
        let count = |word: &str| text.lines().filter(|l| l.contains(word)).count();
        assert_eq!((count("s_cbranch"), count("s_branch"), count("saveexec")), (1, 1, 0), "{text}");
    }
}

fn cast_to_f32(x: V<u32>) -> V<f32> {
    gcn_dsl::lang::cast::<f32, _>(x)
}
