//! LDS above 64 KiB, which gfx950 has and which an instruction's offset cannot reach.

use gcn_dsl::lang::RegisterLimits;
use gcn_dsl::lang::matrix::{Linear, Pad};
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuildOptions};

const TARGET: Target = Target::GFX950;

gcn_kernel! {
    /// Accesses of every width, after an array of `BEFORE` bytes.
    #[workgroup(64)]
    #[targets(gfx950)]
    fn widths<const BEFORE: usize>(x: &[u32], y: &mut [u32]) {
        let before = LdsSlice::<u8>::new(BEFORE);
        let words = Lds::<u32, 512>::new();
        let bytes = Lds::<u8, 64>::new();
        let halves = Lds::<u16, 64>::new();
        let doubles = Lds::<u64, 64>::new();
        let i = local_id().x;
        before[i] = 77;
        words.store_vector(i * 4, x.load_vector::<4>(i * 4));
        words.store_vector(256 + i * 2, x.load_vector::<2>(256 + i * 2));
        words[384 + i] = x[384 + i];
        words[i + 448] = 0;
        bytes[i] = x[i] as u8;
        halves[i] = x[i] as u16;
        doubles[i] = x[i] as u64 * 3;
        barrier();
        let j = 63 - i;
        let four = words.load_vector::<4>(j * 4);
        let two = words.load_vector::<2>(256 + j * 2);
        words.atomic(448 + i / 2).fetch_add(x[i], Scope::Workgroup, Ordering::Relaxed);
        let old = words.atomic(480).swap(5, Scope::Workgroup, Ordering::AcqRel);
        barrier();
        y[i] = four.get(0) ^ four.get(3) * 5;
        y[64 + i] = two.get(1) + words[384 + j];
        y[128 + i] = bytes[j] as u32 + halves[j] as u32 * 3 + doubles[j] as u32 + before[j] as u32;
        y[192 + i] = words[448 + i / 2];
        y[256 + i] = words[0] + old;
    }

    /// The second of two arrays does not fit below 64 KiB.
    #[workgroup(256)]
    #[targets(gfx950)]
    fn two_arrays(n: u32, x: &[f32], y: &mut [f32]) {
        let a = Lds::<f32, 16384>::new();
        let b = Lds::<f32, 16384>::new();
        let i = local_id().x;
        for k in 0..n {
            a[k * 256 + i] = x[k * 256 + i];
            b[k * 256 + i] = x[k * 256 + i] * 2.0;
        }
        barrier();
        let mut sum: V<f32> = 0.0;
        for k in 0..n {
            sum += a[k * 256 + 255 - i] - b[k * 256 + (i ^ 1)];
        }
        y[i] = sum;
    }

    /// Copies directly to LDS, a buffer with phases, and a pair of buffers.
    #[workgroup(256)]
    #[targets(gfx950)]
    fn copies<const BEFORE: usize>(x: &[u32], y: &mut [u32]) {
        let before = LdsSlice::<u8>::new(BEFORE);
        let tile = Lds::<u32, 1024>::new();
        let wide = Lds::<u32, 1024>::new();
        let i = local_id().x;
        before[i] = 1;
        tile.fill_from(&x, 0);
        wide.copy_four_from(wave_id() * 256, &x, i * 4);
        let block = LdsBuf::<u32, 256>::new().store(i, x[i] * 7);
        let pair = LdsPair::<u32, 256>::new().store(i, x[i] + 9);
        let (block, pair) = barrier((block, pair));
        y[i] = tile[1023 - i] + wide[i * 3] + before[i] as u32;
        y[256 + i] = block[255 - i] + pair[255 - i];
    }

    /// Matrix tiles, one of which is loaded by transposing loads.
    #[workgroup(64)]
    #[targets(gfx950)]
    fn product<const BEFORE: usize>(a: &[f16], b: &[f16], c: &mut [f32]) {
        let before = LdsSlice::<u8>::new(BEFORE);
        let left = LdsTile::<f16, 32, 32, Pad<8>>::new();
        let right = LdsTile::<f16, 32, 32, Linear>::new();
        before[local_id().x] = 1;
        left.put(left.fetch(row_major(a, 32), 0, 0));
        right.put(right.fetch(row_major(b, 32), 0, 0));
        barrier();
        let l = TileA::<f16, 32, 32, 32>::load(left, 0, 0);
        let r = TileB::<f16, 32, 32, 32>::load(right, 0, 0);
        let acc = Tile::<f32, 32, 32, 32>::zero();
        matmul(l, r, acc).store_to(row_major(c, 32), 0, 0);
    }

    /// Values that have no register, and an array of dynamic size.
    #[workgroup(64)]
    #[targets(gfx950)]
    #[max_registers(vgpr = 16, agpr = 0, lds_spill = 8192)]
    fn spilled<const BEFORE: usize>(n: u32, x: &[u32], y: &mut [u32]) {
        let before = LdsSlice::<u8>::new(BEFORE);
        let all = LdsSlice::<u32>::dynamic(n);
        let t = local_id().x;
        before[t] = 3;
        all[t] = t * 7;
        let a = Private::<u32, 24>::new();
        #[unroll] for k in 0..24u32 {
            a[k] = x[t + k * 64];
        }
        if (t & 1) != 0 {
            #[unroll] for k in 0..24u32 {
                a[k] = a[k] ^ a[(k * 5 + 2) % 24];
            }
        }
        barrier();
        let other = all[63 - t] + before[t] as u32;
        #[unroll] for k in 0..24u32 {
            y[t + k * 64] = a[k] + other;
        }
    }

    /// More LDS than any target has.
    #[workgroup(64)]
    fn too_much<const BYTES: usize>(y: &mut [u32]) {
        let some = LdsSlice::<u8>::new(BYTES);
        let more = LdsSlice::<u32>::new(comptime { usize::MAX / 2 });
        let last = Lds::<u64, 64>::new();
        some[local_id().x] = 1;
        y[local_id().x] = more[local_id().x] + last[0] as u32;
    }
}

fn numbers(n: u32) -> Vec<u32> {
    (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 9).collect()
}

/// Positions around 64 KiB, and the highest at which the arrays of the case still fit into 160 KiB.
macro_rules! each {
    ($last:literal, |$before:ident| $case:expr) => {
        each!(@ |$before| $case; 62000 65520 65536 65552 100000 131072 $last)
    };
    (@ |$before:ident| $case:expr; $($n:literal)*) => {$({
        const $before: usize = $n;
        $case
    })*};
}

#[test]
fn every_width_reaches_every_place() {
    let x = numbers(512);
    let at = |i: usize| x[i];
    let mut expected = vec![0u32; 320];
    for i in 0..64 {
        let j = 63 - i;
        expected[i] = at(4 * j) ^ at(4 * j + 3).wrapping_mul(5);
        expected[64 + i] = at(256 + 2 * j + 1).wrapping_add(at(384 + j));
        let small = (at(j) & 0xff) + (at(j) & 0xffff) * 3;
        expected[128 + i] = small.wrapping_add(at(j).wrapping_mul(3)).wrapping_add(77);
        expected[192 + i] = at(i / 2 * 2).wrapping_add(at(i / 2 * 2 + 1));
        // Lanes are served in order: the first finds 0, each of the others what the one before has written.
        expected[256 + i] = at(0) + if i == 0 { 0 } else { 5 };
    }
    each!(161056, |BEFORE| {
        let kernel = widths::<BEFORE>.build(TARGET).unwrap();
        assert!(kernel.spec().lds_bytes as usize > BEFORE);
        let mut y = vec![0; 320];
        let device = Device::simulator(TARGET);
        device.launch(&widths::<BEFORE>, &kernel, Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!(y, expected, "{BEFORE}");
    });
}

/// The position of the array is added once, outside of the loop, and constant parts of indices stay in the
/// instructions.
#[test]
fn an_array_of_64_kib_may_have_another_behind_it() {
    let n = 8u32;
    let x: Vec<f32> = (0..256 * n).map(|i| (i % 97) as f32).collect();
    let term = |k: u32, i: u32| x[(k * 256 + 255 - i) as usize] - 2.0 * x[(k * 256 + (i ^ 1)) as usize];
    let expected: Vec<f32> = (0..256).map(|i| (0..n).fold(0.0, |sum, k| sum + term(k, i))).collect();
    let mut y = vec![0.0; 256];
    two_arrays.launch(&Device::simulator(TARGET), Grid::x(1), (n, &x, &mut y)).unwrap();
    assert_eq!(y, expected);
    let text = widths::<100000>.build(TARGET).unwrap().assembly(Comments::None);
    assert!(text.contains("offset:1536") && !text.contains("offset:100000"), "{text}");
}

#[test]
fn copies_buffers_and_pairs_reach_every_place() {
    let x = numbers(1024);
    let mut expected = vec![0u32; 512];
    for i in 0..256 {
        expected[i] = x[1023 - i] + x[i * 3] + 1;
        expected[256 + i] = x[255 - i].wrapping_mul(7).wrapping_add(x[255 - i] + 9);
    }
    each!(152560, |BEFORE| {
        let mut y = vec![0; 512];
        copies::<BEFORE>.launch(&Device::simulator(TARGET), Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!(y, expected, "{BEFORE}");
    });
}

#[test]
fn tiles_reach_every_place() {
    let element = |i: usize| (i * 37 % 11) as f32 - 5.0;
    let a: Vec<f16> = (0..1024).map(|i| f16::from_f32(element(i))).collect();
    let b: Vec<f16> = (0..1024).map(|i| f16::from_f32(element(i + 500))).collect();
    let dot = |i: usize, j: usize| (0..32).map(|k| element(i * 32 + k) * element(k * 32 + j + 500)).sum();
    let expected: Vec<f32> = (0..1024).map(|n| dot(n / 32, n % 32)).collect();
    each!(158720, |BEFORE| {
        let kernel = product::<BEFORE>.build(TARGET).unwrap();
        assert!(kernel.assembly(Comments::None).contains("ds_read_b64_tr_b16"));
        let mut c = vec![0.0; 1024];
        let device = Device::simulator(TARGET);
        device.launch(&product::<BEFORE>, &kernel, Grid::x(1), (&a, &b, &mut c)).unwrap();
        assert_eq!(c, expected, "{BEFORE}");
    });
}

#[test]
fn spilled_registers_and_arrays_of_dynamic_size_reach_every_place() {
    let x = numbers(64 * 24);
    let mut expected = vec![0u32; x.len()];
    for t in 0..64 {
        let mut a: Vec<u32> = (0..24).map(|k| x[t + k * 64]).collect();
        if t % 2 == 1 {
            (0..24).for_each(|k| a[k] ^= a[(k * 5 + 2) % 24]);
        }
        (0..24).for_each(|k| expected[t + k * 64] = a[k].wrapping_add((63 - t as u32) * 7 + 3));
    }
    each!(155000, |BEFORE| {
        let kernel = spilled::<BEFORE>.build(TARGET).unwrap();
        let spills = kernel.spills();
        assert!(spills.lds_stores > 0 && spills.lds_loads > 0, "{BEFORE}: {spills:?}");
        let mut y = vec![0; x.len()];
        let grid = Grid::x(1).with_dynamic_lds(256);
        let device = Device::simulator(TARGET);
        device.launch(&spilled::<BEFORE>, &kernel, grid, (64, &x, &mut y)).unwrap();
        assert!(y == expected, "{BEFORE}");
    });
    // It is allowed to request all of the 160 KiB.
    let registers = RegisterLimits { lds_spill: Some(163_840), ..RegisterLimits::default() };
    let options = BuildOptions { registers, ..BuildOptions::default() };
    assert!(spilled::<100>.build_with(TARGET, &options).unwrap().spills().lds_stores > 0);
}

#[test]
fn more_than_the_target_has_is_refused() {
    for target in Target::REPRESENTATIVES {
        for error in [
            too_much::<0>.build(target).map(|_| ()),
            too_much::<{ u32::MAX as usize }>.build(target).map(|_| ()),
        ] {
            let error = error.unwrap_err();
            let BuildCause::Lds { bytes, limit, .. } = error.cause else { panic!("{error}") };
            assert!(bytes > limit && limit == target.lds_per_cu());
        }
    }
    let error = copies::<152592>.build(TARGET).unwrap_err().to_string();
    assert!(error.contains("take 163856 bytes, a workgroup has 163840 on gfx950"), "{error}");
}
