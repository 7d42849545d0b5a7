//! Parts of variables as `&mut` arguments, and writable memory as an argument for reading.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

gcn_kernel! {
    #[device]
    struct Inner {
        low: V<u32>,
        all: (V<u64>, u32),
    }

    #[device]
    struct Outer {
        first: V<u32>,
        inner: Inner,
        list: [V<u32>; 3],
    }

    #[device]
    fn add(to: &mut V<u32>, x: V<u32>) {
        *to += x;
    }

    #[device]
    fn exchange(a: &mut V<u32>, b: &mut V<u32>) {
        (*a, *b) = (*b, *a);
    }

    /// Passes on a part of its own `&mut` parameter.
    #[device]
    fn inside(inner: &mut Inner, sum: &mut V<u32>) {
        add(&mut inner.low, 7);
        add(&mut (*inner).low, inner.all.0 as u32);
        uniform(&mut inner.all.1);
        add(sum, inner.low);
    }

    #[device]
    fn uniform(n: &mut u32) {
        *n += 1;
    }

    #[device]
    fn all_of(list: &mut [V<u32>; 3]) {
        list[0] = list[1] + list[2];
    }

    #[workgroup(64)]
    fn lends_parts(y: &mut [u32]) {
        let i = global_id().x;
        let five: u32 = 5;
        let mut o = Outer {
            first: i,
            inner: Inner { low: i * 2, all: (i as u64 * 3, five) },
            list: [i, i + 1, i + 2],
        };
        let mut pair = (o.first + 1, o.first + 2);
        exchange(&mut pair.0, &mut pair.1);
        exchange(&mut o.first, &mut o.list[2]);
        inside(&mut o.inner, &mut o.first);
        all_of(&mut o.list);
        // Only some lanes write.
        if i < 10 {
            let k = 1;
            add(&mut o.list[k], 100);
        }
        let results = [
            o.first, o.inner.low, o.inner.all.0 as u32, o.list[0], o.list[1], o.list[2], pair.0, pair.1,
        ];
        #[unroll]
        for k in 0..8 {
            y[i * 9 + k as u32] = results[k];
        }
        y[i * 9 + 8] = o.inner.all.1;
    }
}

#[test]
fn parts_are_lent() {
    for target in TARGETS {
        let mut y = vec![0u32; 64 * 9];
        lends_parts.launch(&Device::simulator(target), Grid::x(1), (&mut y,)).unwrap();
        for i in 0..64u32 {
            let (mut first, mut list) = (i, [i, i + 1, i + 2]);
            std::mem::swap(&mut first, &mut list[2]);
            let low = i * 2 + 7 + i * 3;
            first += low;
            list[0] = list[1] + list[2];
            list[1] += if i < 10 { 100 } else { 0 };
            let wanted = [first, low, i * 3, list[0], list[1], list[2], i + 2, i + 1, 6];
            assert_eq!(y[i as usize * 9..][..9], wanted, "{target} lane {i}");
        }
    }
}

gcn_kernel! {
    /// Reads at a varying and at a uniform index.
    #[device]
    fn both<T: Integer>(x: &[T], i: V<u32>, n: u32) -> V<T> {
        let uniform: S<T> = x[n];
        x[i] + uniform
    }

    /// Passes its own arguments on.
    #[device]
    fn through(x: &[u32], p: *const u32, i: V<u32>) -> V<u32> {
        both(x, i, x.len() - 1) + p[i]
    }

    /// Each wave stores, then reads what it has stored, through a read-only parameter.
    #[workgroup(64)]
    fn reads_what_it_wrote(x: &[u32], y: &mut [u32], small: &mut [u8], p: *mut u32, out: &mut [u32]) {
        let i = global_id().x;
        y[i] = x[i] * 2;
        p[i] = i;
        small[i] = i as u8;
        let before = through(x, p, i);
        let after = through(y, p, i);
        y[i] = after;
        let again = both(y, i, 3);
        out[i] = before;
        out[i + 64] = after;
        out[i + 128] = again + both(small, i, 2) as u32;
    }
}

#[test]
fn memory_to_write_is_lent_to_read() {
    for target in TARGETS {
        let device = Device::simulator(target);
        let x: Vec<u32> = (0..64).map(|i| i * i + 1).collect();
        let (mut y, mut small, mut out) = (vec![0u32; 64], vec![0u8; 64], vec![0u32; 192]);
        let p = device.alloc::<u32>(64).unwrap();
        let args = (&x[..], &mut y[..], &mut small[..], p, &mut out[..]);
        reads_what_it_wrote.launch(&device, Grid::x(1), args).unwrap();
        let after = |i: usize| x[i] * 2 + x[63] * 2 + i as u32;
        for i in 0..64 {
            let before = x[i] + x[63] + i as u32;
            let again = after(i) + after(3) + i as u32 + 2;
            assert_eq!([out[i], out[i + 64], out[i + 128]], [before, after(i), again], "{target} lane {i}");
        }
    }
}
