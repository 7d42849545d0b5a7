//! Atomics, flat pointers, scratch and loads to LDS.

use gcn_isa::Target;

use super::{floats, on_each, words};

#[test]
fn atomics_flat_pointers_and_lds_dma() {
    on_each("ints", |k| {
        let p: Vec<i32> = words(33, 2304).iter().map(|&w| (w % 200) as i32).collect();
        let buffer = k.buffer(&p);
        let o = k.buffer(&[0i32; 256]);
        k.arg(77i32);
        k.go([1, 1, 1], 256);
        let (after, out): (Vec<i32>, Vec<i32>) = (k.read(buffer, 2304), k.read(o, 256));
        for i in 0..256 {
            let at = |n: usize| p[i + 256 * n];
            let mut r: i32 = (0..6).map(at).sum();
            let (exchanged, e) = if at(6) == 77 { (r, 77) } else { (at(6), at(6)) };
            r += at(8);
            assert_eq!(out[i], r + e);
            let new = [at(0) + 77, at(1) | 77, at(2) ^ 77, at(3).max(77), 77, at(5) & 77, exchanged];
            assert!((0..7).all(|n| after[i + 256 * n] == new[n]));
            assert_eq!(after[i + 2048], if at(8) >= 100 { 0 } else { at(8) + 1 });
        }
    });
    on_each("wides", |k| {
        let p: Vec<u64> = (0..512).map(|i| if i % 5 == 0 { 3 } else { i * 0x1_0000_0001 }).collect();
        let buffer = k.buffer(&p);
        let d = k.buffer(&[0.25f64; 256]);
        let f = k.buffer(&[8.0f32; 256]);
        let o = k.buffer(&[0u64; 256]);
        k.go([1, 1, 1], 256);
        let (after, out): (Vec<u64>, Vec<u64>) = (k.read(buffer, 512), k.read(o, 256));
        for i in 0..256 {
            let old = p[i + 256];
            assert_eq!(after[i], p[i] + i as u64);
            assert_eq!(after[i + 256], if old == 3 { p[i] } else { old });
            assert_eq!(out[i], p[i] + old + 8);
        }
        assert_eq!(k.read::<f64>(d, 256), [1.75; 256]);
        assert_eq!(k.read::<f32>(f, 256), [9.5; 256]);
    });
    on_each("last_block", |k| {
        let part = k.buffer(&[0f32; 3 * 256]);
        let _ = part;
        k.buffer(&[0u32; 1]);
        let o = k.buffer(&[0f32; 512]);
        k.arg(3i32);
        k.go([3, 1, 1], 256);
        let out: Vec<f32> = k.read(o, 512);
        assert!((0..256).all(|i| out[i] == 9.0 * i as f32 && out[i + 256] == -9.0 * i as f32));
    });
    on_each("flat_ptr", |k| {
        let g: Vec<i32> = (0..512).map(|i| 1000 + i).collect();
        let buffer = k.buffer(&g);
        k.arg(5i32);
        k.go([1, 1, 1], 256);
        let out: Vec<i32> = k.read(buffer, 512);
        for i in 0..256i32 {
            let v = if i % 2 == 1 { i } else { 1000 + i };
            assert_eq!(out[i as usize], if i % 2 == 1 { 1000 + i } else { v + 6 });
            let mirrored = 255 - i;
            let lds = if mirrored % 2 == 1 { mirrored + 6 } else { mirrored };
            assert_eq!(out[256 + i as usize], lds + v);
        }
    });
    on_each("buf_copy", |k| {
        // For most bytes only the first store matters; the reference replays all stores in order, one lane after the other.
        let n = 2048i32;
        // Scalar offsets, which the resource does not check, access data past its 2048 words.
        let a = words(34, 8 * n as usize);
        k.buffer(&a);
        let o = k.buffer(&vec![0u32; n as usize]);
        k.arg(n);
        k.go([1, 1, 1], 256);
        let bytes: Vec<u8> = a.iter().flat_map(|w| w.to_le_bytes()).collect();
        let limit = n as usize * 4;
        let load = |at: usize, soffset: usize| {
            if at + 4 <= limit {
                u32::from_le_bytes(bytes[at + soffset..at + soffset + 4].try_into().unwrap())
            } else {
                0
            }
        };
        // The last stores of each work-item to its first word: byte 1, then halfword 2, over the word.
        let out: Vec<u32> = k.read(o, n as usize);
        for i in 0..64 {
            let off = 16 * i;
            let half = load(off + 4, 0) as u16;
            let byte = bytes[off + 3];
            let word = out[off / 4];
            assert_eq!((word >> 16) as u16, half, "work-item {i}");
            assert_eq!((word >> 8) as u8, byte, "work-item {i}");
        }
    });
}

#[test]
fn scratch_arrays() {
    on_each("private_array", |k| {
        let a: Vec<i32> = words(35, 256).iter().map(|&w| w as i32).collect();
        k.buffer(&a);
        let o = k.buffer(&[0i32; 256]);
        k.arg(50i32);
        k.go([1, 1, 1], 256);
        for (x, got) in a.iter().zip(k.read::<i32>(o, 256)) {
            let mut st: Vec<i32> = (0..64).map(|i| x.wrapping_mul(i)).collect();
            let (mut sp, mut r) = (0i32, 0i32);
            for i in 0..50 {
                let at = (x >> (i & 7) & 63) as usize;
                st[at] = st[at].wrapping_add(st[(at + i as usize) & 63] ^ i);
                sp = sp.wrapping_add(st[(sp & 63) as usize]) & 63;
                r = r.wrapping_add(st[sp as usize]);
            }
            assert_eq!(got, r);
        }
    });
    on_each("quicksort_private", |k| {
        let a = floats(36, 64 * 32);
        k.buffer(&a);
        let o = k.buffer(&vec![0f32; 64 * 32]);
        k.go([1, 1, 1], 64);
        for (row, got) in a.chunks(32).zip(k.read::<f32>(o, 64 * 32).chunks(32)) {
            let mut sorted = row.to_vec();
            sorted.sort_by(f32::total_cmp);
            assert_eq!(got, sorted);
        }
    });
}

#[test]
fn buffer_loads_to_lds_are_double_buffered() {
    on_each("buf_to_lds", |k| {
        let a = floats(41, 256 * 6);
        k.buffer(&a);
        let o = k.buffer(&[0f32; 256]);
        // n is both the number of rounds and the size of the resource in bytes.
        k.arg(6i32);
        k.go([1, 1, 1], 256);
        let out: Vec<f32> = k.read(o, 256);
        // Only lane 0's word of a row is within the limit of six bytes. On targets whose range check includes the scalar offset of a row,
        // only the first row is.
        let rows =
            if matches!(k.program.target_id().target, Target::GFX942 | Target::GFX950) { 1 } else { 5 };
        let sum = (0..rows).fold(0f32, |sum, row| sum + a[256 * row]);
        for (lane, got) in out.iter().enumerate() {
            assert_eq!(*got, if lane == 255 { sum } else { 0.0 });
        }
    });
}

/// Tests calls through a table of relocated function pointers, a variable, constants and a private array.
#[test]
fn the_whole_image_is_loaded() {
    const PRIMES: [i32; 8] = [2, 3, 5, 7, 11, 13, 17, 19];
    let square = |x: i32| x * x + PRIMES[(x & 7) as usize];
    on_each("calls", |k| {
        let out = k.buffer(&[0i32; 128]);
        k.arg(100i32);
        k.go([2, 1, 1], 64);
        let got: Vec<i32> = k.read(out, 128);
        for (i, got) in (0..).zip(got) {
            let called = if i & 1 == 0 { square(i) } else { (i & 15) * i - 1000 };
            assert_eq!(got, if i < 100 { called + square(i + 1) } else { 0 }, "{i}");
        }
    });
}
