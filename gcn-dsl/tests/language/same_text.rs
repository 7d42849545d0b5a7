//! Programs whose text is compiled twice, as a device function and as a Rust function: each lane's result must equal
//! that of the host.

use gcn_dsl::prelude::*;

/// The numbers that are passed to a program.
#[derive(Clone, Copy)]
struct Given {
    x: u32,
    y: i32,
    f: f32,
    h: f16,
    w: u64,
}

fn given() -> Vec<Given> {
    (0..64u32)
        .map(|i| Given {
            x: i * 7 % 97,
            y: i as i32 * 5 - 150,
            f: (i as f32 - 20.0) * 0.375,
            h: f16::from_f32(i as f32 * 0.5 - 9.0),
            w: u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        })
        .collect()
}

/// The uniform value.
const N: u32 = 5;

macro_rules! programs {
    ($($name:ident |$x:ident, $y:ident, $n:ident, $f:ident, $h:ident, $w:ident| { $($body:tt)* })*) => {
        $(mod $name {
            #[allow(unused, unreachable_code, reason = "not every program uses every argument")]
            pub mod device {
                use gcn_dsl::prelude::*;

                gcn_kernel! {
                    #[device]
                    fn program($x: V<u32>, $y: V<i32>, $n: u32, $f: V<f32>, $h: V<f16>, $w: V<u64>) -> V<u32> {
                        $($body)*
                    }

                    #[workgroup(64)]
                    pub fn run(
                        n: u32, x: &[u32], y: &[i32], f: &[f32], h: &[f16], w: &[u64], out: &mut [u32],
                    ) {
                        let i = global_id().x;
                        out[i] = program(x[i], y[i], n, f[i], h[i], w[i]);
                    }
                }
            }
            #[allow(unused_imports, reason = "few programs name the type")]
            use gcn_dsl::prelude::f16;

            #[allow(unused, unreachable_code, clippy::all, clippy::pedantic, reason = "the text is that of the kernel")]
            pub fn host($x: u32, $y: i32, $n: u32, $f: f32, $h: f16, $w: u64) -> u32 {
                $($body)*
            }
        })*

        #[test]
        fn the_device_computes_what_the_host_does() {
            let given = given();
            let (x, y, f, h, w): (Vec<u32>, Vec<i32>, Vec<f32>, Vec<f16>, Vec<u64>) = (
                given.iter().map(|g| g.x).collect(),
                given.iter().map(|g| g.y).collect(),
                given.iter().map(|g| g.f).collect(),
                given.iter().map(|g| g.h).collect(),
                given.iter().map(|g| g.w).collect(),
            );
            for target in [Target::GFX906, Target::GFX942] {
                let device = Device::simulator(target);
                $({
                    let mut out = vec![0; 64];
                    $name::device::run
                        .launch(&device, Grid::x(1), (N, &x, &y, &f, &h, &w, &mut out))
                        .unwrap_or_else(|e| panic!("{} on {target}: {e}", stringify!($name)));
                    let want: Vec<u32> =
                        given.iter().map(|g| $name::host(g.x, g.y, N, g.f, g.h, g.w)).collect();
                    assert_eq!(out, want, "{} on {target}", stringify!($name));
                })*
            }
        }
    };
}

programs! {
    closure_of_all_and_of_lanes |x, y, n, f, h, w| {
        let add = |v: u32| v * 3 + n;
        add(x) ^ add(n) ^ add(3)
    }
    closure_changes_what_it_captures |x, y, n, f, h, w| {
        let mut total = 0;
        let mut count = 0;
        let mut add = |v: u32| {
            total += v;
            count += 1;
        };
        add(x);
        if x > 40 {
            add(n);
        }
        for k in 0..3 {
            add(k);
        }
        total * 100 + count
    }
    sizes_become_those_of_lanes |x, y, n, f, h, w| {
        const MOST: usize = 4;
        let mut len = 0usize;
        let mut at: isize = -1;
        let mut room = MOST;
        let mut typed: usize = 3usize;
        let mut of_all: usize = 1;
        let mut counts: [usize; 3] = [0; 3];
        let mut kept = [0u32; 8];
        while len < MOST {
            if x > 40 {
                kept[len] = x + len as u32;
                len += 1;
            } else {
                len += 2;
            }
            if at < 0 {
                at = len as isize - 5;
            }
        }
        for j in 0..len {
            kept[j] += 1;
            counts[j % 3] += j;
        }
        if y > 3 {
            room = len;
            typed = len + room;
        }
        for _ in 0..n {
            of_all += 1;
        }
        kept[len - 1] + kept[1] * 3 + (at + 9) as u32 + room as u32 * 5 + typed as u32 * 7 + counts[1] as u32 + of_all as u32
    }
    first_values_of_every_form_become_those_of_lanes |x, y, n, f, h, w| {
        let mut ok = matches!(n, 1..=5);
        let mut block = { let t = n * 2; t + 1 };
        let mut labelled = 'b: { if n == 2 { break 'b 3; } n };
        let mut left = loop { break n; };
        let add = |a: u32| a + 1;
        let mut called = add(n);
        let (mut first, mut second) = if n > 2 { (n, 1u8) } else { (0, 2) };
        let [mut of_array, other] = [n, n + 1];
        let mut nested = (n, (1u32, 2u16));
        let mut typed: (u32, (u32, i32)) = (0, (1, -1));
        if x > 40 {
            ok = !ok;
            block = x;
            labelled += 1;
            left -= 1;
            called += x;
            first = x;
            second += 1;
            of_array += other;
            nested.1.0 += 3;
            nested.1.1 = x as u16;
            typed.1.1 = y;
            typed.0 = 9;
        }
        if y > 50 {
            nested = (x, (7, 8));
        }
        let (outer, inner) = nested;
        ok as u32 + block * 3 + labelled * 5 + left * 7 + called * 11 + first * 13 + second as u32 * 17 + of_array * 19
            + outer * 23 + inner.0 * 29 + inner.1 as u32 * 31 + typed.0 + typed.1.0 + (typed.1.1 + 200) as u32 * 37
    }
    values_of_lanes_reach_variables_through_every_form |x, y, n, f, h, w| {
        let (a, b) = if n > 12 { (1, n) } else { (2, x) };
        let mut from_if = [n, 7];
        from_if[0] = b;
        let mut from_tuple = n;
        from_tuple += b;
        let value = loop {
            if x > 40 {
                break 3;
            }
            break n;
        };
        let mut from_loop = n;
        from_loop = value * 2;
        let given = 'b: {
            if x > 60 {
                break 'b 2;
            }
            n
        };
        let mut from_block = 1;
        from_block += given;
        let mut guarded = n;
        match n {
            5 if x > 40 => guarded = 1,
            4 => guarded += 1,
            _ => guarded = 7,
        }
        let of_closure = Some(x).map(|v| {
            let mut s = 0;
            for q in 0..3u32 {
                s += v >> q;
            }
            s
        });
        a + from_if[0] * 3 + from_if[1] + from_tuple * 5 + from_loop * 7 + from_block * 11 + guarded * 13 + of_closure.unwrap_or(3) * 17
    }
    names_of_patterns_become_those_of_lanes |x, y, n, f, h, w| {
        let Some(mut o) = n.checked_add(1) else { return 0 };
        if x > 20 {
            o += x;
        }
        let mut r = 0;
        if let Some(mut less) = n.checked_sub(1) {
            if y > 10 {
                less += 4;
            }
            r = less;
        }
        let ((mut p, _), [mut q, c]) = ((n, 1u32), [n, 2]);
        if x > 30 {
            p += c;
            q = x;
        }
        for (k, v) in [(n, x), (n + 1, n)] {
            if v > 40 {
                r += k;
            }
        }
        o * 3 + r * 5 + p * 7 + q * 11
    }
    statements_after_an_exit_are_dead |x, y, n, f, h, w| {
        let mut r = 0;
        for k in 0..4u32 {
            if x > k * 10 {
                r += 100;
                continue;
            } else {
                r += 1;
                break;
            }
            r += 7;
        }
        for k in 0..3u32 {
            match x & 3 {
                0 => continue,
                1 => {
                    r += k;
                    break;
                }
                _ => {
                    {
                        continue;
                    }
                    r += 9;
                }
            }
            r += 11;
        }
        let v = 'b: {
            if x == 3 {
                break 'b 1u32;
            }
            if x > 50 {
                break 'b 5;
            } else {
                break 'b 6;
            }
            7
        };
        r += v;
        if y > 3 {
            return r;
        } else {
            return r + 1;
        }
        r += 13;
        r
    }
    conditions_of_the_host_before_those_of_lanes |x, y, n, f, h, w| {
        const DEBUG: bool = true;
        const QUIET: bool = false;
        let both = DEBUG & (x > 30);
        let either = QUIET | (y > 5);
        let differ = DEBUG ^ (n > 3);
        both as u32 + either as u32 * 2 + differ as u32 * 4 + (QUIET & (n > 2)) as u32 * 8
    }
    options_of_all_lanes_beside_values_of_each |x, y, n, f, h, w| {
        let a = n.checked_sub(1).unwrap_or(x) + n.checked_sub(9).unwrap_or(x) * 3;
        let b = n.checked_sub(9).unwrap_or_else(|| x + 1) + n.checked_sub(2).map_or(x, |v| v * 2) * 5;
        let c = n.checked_sub(7).map_or_else(|| x * 3, |v| v + 1) + n.checked_sub(9).unwrap_or(4);
        let d = x.checked_sub(40).unwrap_or(n) + x.checked_sub(50).unwrap_or_default() + n.checked_sub(9).unwrap_or_default();
        let pair = if n > 7 { Some((n, n)) } else { None };
        let (e, g) = pair.unwrap_or((x, 3));
        a + b * 7 + c * 11 + d * 13 + e * 17 + g * 19
    }
    closure_has_a_mutable_parameter |x, y, n, f, h, w| {
        let spread = |mut v: u32| {
            v = (v | v << 8) & 0x00ff_00ff;
            v = (v | v << 4) & 0x0f0f_0f0f;
            v
        };
        spread(x & 0xff) | spread(n) << 1
    }
    powers_of_the_host_and_of_lanes |x, y, n, f, h, w| {
        const BASE: u32 = 7;
        let small = x % 5;
        let of_all = 3u32.pow(n) + BASE.pow(small) + n.pow(small) + (x % 9).pow(n) + x.pow(2) + 2u32.pow(0);
        of_all ^ 3u32.wrapping_pow(x) ^ x.wrapping_pow(n * 9) ^ (w.wrapping_pow(x) >> 32) as u32
    }
    numbers_of_the_host_before_values_of_lanes |x, y, n, f, h, w| {
        let turned = 0x8000_0001u32.rotate_left(x % 40) ^ 60u32.saturating_sub(x) ^ 100u32.wrapping_sub(n + x);
        turned ^ 2.5f32.max(f).to_bits() ^ 9u32.abs_diff(x) ^ 1u32.rotate_right(n)
    }
    rows_of_constant_tables |x, y, n, f, h, w| {
        const TABLE: [[u32; 4]; 3] = [[1, 2, 3, 4], [5, 60, 7, 8], [9, 10, 1, 12]];
        let mut t = 0;
        for p in TABLE[1].chunks(2) {
            t = t * 3 + p[0] * x + p[1];
        }
        for p in TABLE[n as usize % 3].chunks(2) {
            t = t % 1000 * 3 + p[0] * x + p[1];
        }
        for p in TABLE[x as usize % 3].windows(3) {
            t = t % 1000 * 5 + p[0] * x + p[2] - p[1] % 3;
        }
        for p in TABLE[x as usize % 3].iter() {
            t = t % 1000 * 7 + p;
        }
        for p in TABLE[n as usize % 3] {
            t = t % 1000 * 7 + p;
        }
        t
    }
    folds_of_what_all_lanes_share |x, y, n, f, h, w| {
        let all = [n, n * 3, 7];
        let (mut a, b) = (all.iter().fold(0, |a, b| a ^ b), all.iter().fold(1u32, |a, b| a * 2 + b));
        a += all.iter().fold(x, |a, b| a | b) + all.iter().rev().skip(1).fold(n, |a, b| a.max(*b));
        let few = [n as f32, 0.5].iter().fold(0.0f32, |a, b| a * 0.5 + b);
        a * 1000 + b + few.to_bits() % 7
    }
    arrays_are_written_by_methods |x, y, n, f, h, w| {
        let (mut a, mut b, mut c) = ([0; 4], [1, 2, 3, 4], [5; 3]);
        a.fill(x);
        if x > 40 {
            b.copy_from_slice(&[9, n, 7, 6]);
        }
        c.fill(n);
        let has = b.contains(&n) as u32 + 2 * c.contains(&5) as u32 + 4 * b.contains(&x) as u32;
        a[1] * 100 + b[1] * 10 + c[2] + has * 1000
    }
    closure_calls_closure |x, y, n, f, h, w| {
        let square = |v: u32| v * v;
        let norm = |a: u32, b: u32| -> u32 { square(a) + square(b) };
        norm(x, n) + norm(n, 2) + norm(norm(1, n), x % 3)
    }
    arguments_do_not_see_parameters |x, y, n, f, h, w| {
        let a = x + 1;
        let b = n + 2;
        let less = |b: u32, a: u32| b * 1000 + a;
        less(a, b) ^ less(b, a)
    }
    closure_in_a_branch_of_lanes |x, y, n, f, h, w| {
        let clamp = |v: f32| if v < 0.0 { 0.0 } else { v.min(4.0) };
        let mut t = 1.0;
        while t < clamp(f) {
            t *= 2.0;
        }
        if y > 3 { clamp(f).to_bits() } else { clamp(t * 0.5).to_bits() }
    }
    closure_under_a_new_name_for_what_it_takes |x, y, n, f, h, w| {
        let k = x + 2;
        let with_k = |v| v + k;
        let k = n;
        with_k(k) * 10 + k
    }
    array_filled |x, y, n, f, h, w| {
        let mut a = [x, n, 3];
        a.fill(7);
        let mut b = [n, x, 1, 2];
        b.fill(x);
        a[0] + a[2] + b[3]
    }
    array_sorted |x, y, n, f, h, w| {
        let mut a = [x % 9, n % 9, 4, x % 5, 100 - x];
        a.sort();
        let mut b = [y, -y, 3];
        b.sort_unstable();
        a[0] + a[1] * 10 + a[2] * 100 + a[3] * 1000 + a[4] * 10000 + (b[1] + 200) as u32
    }
    elements_swapped |x, y, n, f, h, w| {
        let mut a = [x, x / 2, n, 9, x % 7];
        a.swap(0, 4);
        for k in 0..2 {
            a.swap(k, k + 2);
        }
        for i in 0..5 {
            for j in 0..4 - i {
                if a[j] > a[j + 1] {
                    a.swap(j, j + 1);
                }
            }
        }
        let mut b = [n, 7, 2];
        b.swap(1, 0);
        a[0] + a[1] * 3 + a[2] * 5 + a[3] * 7 + a[4] * 11 + b[0] * 13 + b[1]
    }
    ends_of_an_array |x, y, n, f, h, w| {
        let a = [x, x / 3, 3];
        a.first().copied().unwrap_or(0) * 10 + *a.last().unwrap()
    }
    position |x, y, n, f, h, w| {
        let of_lanes = [x % 4, x / 3 % 4, 2].iter().position(|v| *v == 3).unwrap_or(9) as u32;
        let of_all = [n, 7, n + 2].iter().position(|&v| v == 7).unwrap_or(9) as u32;
        of_lanes * 10 + of_all
    }
    position_by_match |x, y, n, f, h, w| {
        match [x % 4, x / 3 % 4, 2].into_iter().position(|v| v == 3) {
            Some(k) => k as u32 + 1,
            None => 0,
        }
    }
    in_a_range |x, y, n, f, h, w| {
        let low = n as i32;
        (0..low).contains(&y) as u32
            + 2 * (-20..=20).contains(&y) as u32
            + 4 * (low..).contains(&y) as u32
            + 8 * (..x).contains(&n) as u32
            + 16 * (0.0..=1.5).contains(&f) as u32
    }
    bytes |x, y, n, f, h, w| {
        let b = (x * 0x0101_0305).to_le_bytes();
        let c = w.to_be_bytes();
        let [low, high] = (y as i16).to_ne_bytes();
        let d = f.to_be_bytes();
        u32::from_le_bytes([b[3], c[0], low, high]) ^ u32::from_be_bytes(d) ^ u32::from_ne_bytes([3, b[1], 7, 200])
    }
    wide_bytes |x, y, n, f, h, w| {
        let turned = u64::from_be_bytes(w.to_le_bytes());
        let float = f32::from_le_bytes((f + 1.5).to_le_bytes());
        let short = i16::from_be_bytes([x as u8, n as u8]);
        turned as u32 ^ (turned >> 32) as u32 ^ float.to_bits() ^ short as u32
    }
    halves |x, y, n, f, h, w| {
        h.to_f32().to_bits() ^ h.to_f64().to_bits() as u32 ^ f16::from_f32(f).to_f32().to_bits()
    }
    shifts_by_any_integer |x, y, n, f, h, w| {
        const BITS: i32 = 13;
        const BYTE: usize = 8;
        let mut v = x << BITS >> 3u8;
        v <<= BYTE;
        v >>= 2;
        v ^ (y >> BITS) as u32 ^ 1 << x % 31
    }
    order_of_values |x, y, n, f, h, w| {
        let near = match x.cmp(&n) {
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => 2,
            std::cmp::Ordering::Greater => 3,
        };
        let of_all = match n.cmp(&5) {
            std::cmp::Ordering::Equal => 10,
            _ => 20,
        };
        let pair = match (y.cmp(&-3), n.cmp(&x)) {
            (std::cmp::Ordering::Less, _) => 100,
            (_, std::cmp::Ordering::Less) => 200,
            _ => 300,
        };
        near + of_all + pair + (w.cmp(&(w >> 1)) == std::cmp::Ordering::Greater) as u32 * 1000
    }
    order_of_floats |x, y, n, f, h, w| {
        let nan = if x % 3 == 0 { f32::NAN } else { f };
        let some = match nan.partial_cmp(&1.5) {
            Some(std::cmp::Ordering::Less) => 1,
            Some(_) => 2,
            None => 3,
        };
        let zero = if x % 2 == 0 { -0.0 } else { 0.0f32 };
        let total = match zero.total_cmp(&(f * 0.0)) {
            std::cmp::Ordering::Less => 10,
            std::cmp::Ordering::Equal => 20,
            std::cmp::Ordering::Greater => 30,
        };
        let largest = f32::INFINITY.total_cmp(&1.0) == std::cmp::Ordering::Greater && nan.total_cmp(&f32::INFINITY) == std::cmp::Ordering::Greater;
        some + total + largest as u32 * 100 + (f.partial_cmp(&(n as f32)) == Some(std::cmp::Ordering::Less)) as u32 * 1000
    }
    options_compare |x, y, n, f, h, w| {
        let a = x.checked_sub(50);
        let b = if y > 0 { Some(n) } else { None };
        (a == b) as u32 + (a != Some(7)) as u32 * 2 + (a < b) as u32 * 4 + (b >= a) as u32 * 8 + (Some(n) <= a) as u32 * 16 + (b > Some(n)) as u32 * 32 + (b == None) as u32 * 64 + (a != None) as u32 * 128
    }
    a_range_contains_what_varies |x, y, n, f, h, w| {
        let mut count = 0;
        for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
            let (a, b) = (y + dx, y / 2 + dy);
            if (0..60).contains(&a) && (-5..=20).contains(&b) {
                count += 1;
            }
        }
        count
    }
    option_without_a_type |x, y, n, f, h, w| {
        let mut best = None;
        for k in 0..5u32 {
            let v = (x >> k) & 0xff;
            if v > 40 && best.map_or(true, |(b, _)| v < b) {
                best = Some((v, k));
            }
        }
        let mut last = None;
        if y > 0 {
            last = x.checked_sub(20);
        }
        if n > 100 {
            last = None;
        }
        let (v, k) = best.unwrap_or((3, n));
        v * 10 + k + last.unwrap_or(1000)
    }
    option_that_lanes_assign |x, y, n, f, h, w| {
        let mut best: Option<u32> = None;
        for k in 0..5u32 {
            let v = x >> k & 0xff;
            match best {
                Some(b) if b <= v => {}
                _ => best = Some(v),
            }
        }
        let mut first: Option<u32> = None;
        if x > 50 {
            first = Some(n);
        }
        best.unwrap() * 10 + first.unwrap_or(3)
    }
    iterators_that_the_device_counts |x, y, n, f, h, w| {
        let top = x % 7;
        let sum: u32 = (0..n).map(|k| x >> k).sum();
        let product = (1..top + 1).product::<u32>();
        let folded = (top..n + 3).fold(n, |a, k| (a * 31 + k) % 1000);
        let bits = (0..n).filter(|k| (x >> k) & 1 == 1).count() as u32;
        let any = (0..n).any(|k| x == k * 7) as u32;
        let all = (0..top).all(|k| (x >> k) & 1 == 0) as u32;
        let mut last = 0;
        (0..=top).rev().for_each(|k| last = last * 2 + k % 3);
        sum + product * 3 + folded * 5 + bits * 7 + any * 11 + all * 13 + last
    }
    iterators_over_floats_and_pairs |x, y, n, f, h, w| {
        let parts = (0..n).map(|k| f * k as f32).sum::<f32>() + (0..x % 4).map(|k| k as f32 + f).product::<f32>();
        let none: f32 = (n..n).map(|k| f * k as f32).sum();
        let (least, all) = (0..n).map(|k| f - k as f32).fold((f32::INFINITY, 0u32), |(m, all), v| {
            (m.min(v), all + v.abs() as u32)
        });
        let most = (0..n).map(|k| f * k as f32).fold(f32::NEG_INFINITY, f32::max);
        let pairs = (0..n).map(|i| (0..i).filter(|j| (i + j) % 2 == 1).map(|j| x + i * j).sum::<u32>()).sum::<u32>();
        parts.to_bits() ^ none.to_bits() ^ least.to_bits().rotate_left(3) ^ most.to_bits().rotate_left(7) ^ (all + pairs)
    }
    rows_of_different_places |x, y, n, f, h, w| {
        let mut t = 0;
        for (k, v) in [(1, x), (2, n), (n, 3)] {
            t += k * v;
        }
        let [(a, b), (c, d)] = [(f, x), (0.5, 2)];
        t * 100 + b * d + (a * c).abs() as u32
    }
    sizes_of_the_device |x, y, n, f, h, w| {
        let k: usize = (x % 4) as usize;
        let twice: usize = n as usize * 2;
        let of_host: usize = 2 * 3;
        let t = [5, n, 7, x];
        let mut all = 0;
        for _ in 0..3 {
            all += k + twice;
        }
        let last: usize = k.max(1) - 1;
        t[k] * 1000 + t[last] + all as u32 + (x as usize * of_host) as u32
    }
    function_in_the_body |x, y, n, f, h, w| {
        fn triangle(v: u32) -> u32 {
            v * (v + 1) / 2
        }
        fn mix(a: f32, b: f32, t: f32) -> f32 {
            let rest = 1.0 - t;
            a * rest + b * t
        }
        triangle(n) + triangle(x) + triangle(3) + mix(f, 2.0, 0.25).to_bits() % 1000
    }
}

gcn_kernel! {
    /// A two-dimensional array in memory, stored by rows.
    #[device]
    struct Plane<'a> { data: &'a [f32], width: u32 }

    #[device]
    impl<'a> Plane<'a> {
        fn at(&self, row: V<u32>, column: V<u32>) -> V<f32> {
            self.data[row * self.width + column]
        }
        fn row_of(&self, i: V<u32>) -> V<u32> {
            i / self.width
        }
    }

    #[device]
    fn transposed(from: &Plane<'_>, i: V<u32>) -> V<f32> {
        from.at(i % from.width, from.row_of(i))
    }

    #[device]
    struct Counter { a: V<u32>, b: V<u32> }

    #[device]
    impl Counter {
        fn new(a: V<u32>) -> Self {
            Self { a, b: 0 }
        }
        fn with(mut self, b: u32) -> Self {
            self.b += b;
            self
        }
    }

    #[device]
    fn ends(a: &[V<u32>]) -> V<u32> {
        let mut all = 0;
        for v in a {
            all += v;
        }
        a[0] * 100 + a[a.len() - 1] * 10 + all
    }

    #[workgroup(64)]
    fn structs(n: u32, x: &[f32], y: &mut [f32], of_lanes: &mut [u32]) {
        let i = global_id().x;
        let plane = Plane { data: x, width: 8 };
        y[i] = transposed(&plane, i) + plane.at(0, i % 8);
        let before = Counter::new(i);
        let counted = before.with(n).with(2);
        of_lanes[i] = counted.a * 1000 + counted.b * 100 + before.b + ends(&[i, n, 3]) + ends(&[n, n]);
    }

    /// Arrays as elements of read-only memory, and rows of LDS.
    #[workgroup(64)]
    fn arrays_in_memory<const N: usize>(points: &[[f32; 3]], codes: &[[u8; 4]], out: &mut [f32]) {
        let rows = Lds::<[f32; 3], 64>::new();
        let i = local_id().x;
        let doubled = points[i].map(|v| v * 2.0);
        let mut sum = 0.0;
        for (k, code) in codes[i].iter().enumerate() {
            sum += (code * (k as u8 + 1)) as f32;
        }
        for v in points[i] {
            sum += v;
        }
        rows[i] = doubled;
        barrier();
        let [a, b, c] = rows[63 - i];
        let mut last = 0;
        for k in 0..N {
            for j in 0..=k {
                last += k * N + j;
            }
        }
        out[i] = sum + a * 2.0 + b * 3.0 + c + last as f32;
    }
}

#[test]
fn structs_hold_memory_and_methods_own_what_they_change() {
    let x: Vec<f32> = (0..64).map(|i| i as f32 * 1.5).collect();
    let (mut y, mut of_lanes) = (vec![0.0; 64], vec![0; 64]);
    structs.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (5, &x, &mut y, &mut of_lanes)).unwrap();
    for i in 0..64u32 {
        let at = |row: u32, column: u32| x[(row * 8 + column) as usize];
        assert_eq!(y[i as usize], at(i % 8, i / 8) + at(0, i % 8));
        let ends = (i * 100 + 30 + i + 8) + (500 + 50 + 10);
        assert_eq!(of_lanes[i as usize], i * 1000 + 700 + ends);
    }
}

#[test]
fn arrays_in_memory_have_what_arrays_have() {
    let points: Vec<[f32; 3]> = (0..64).map(|i| [i as f32, 0.5 * i as f32, 3.0]).collect();
    let codes: Vec<[u8; 4]> = (0..64).map(|i| [i, i / 2, 3, i / 3]).collect();
    let mut out = vec![0.0; 64];
    let device = Device::simulator(Target::GFX942);
    arrays_in_memory::<5>.launch(&device, Grid::x(1), (&points, &codes, &mut out)).unwrap();
    let last: usize = (0..5).flat_map(|k| (0..=k).map(move |j| k * 5 + j)).sum();
    for i in 0..64 {
        let codes: f32 = codes[i].iter().zip(1u8..).map(|(c, k)| f32::from(c.wrapping_mul(k))).sum();
        let [a, b, c] = points[63 - i].map(|v| v * 2.0);
        let sum = codes + points[i][0] + points[i][1] + points[i][2];
        assert_eq!(out[i], sum + a * 2.0 + b * 3.0 + c + last as f32, "{i}");
    }
}
