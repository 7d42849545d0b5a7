//! LDS: slices, dynamic LDS of a launch, checked loads, copies from memory, float atomics.

use gcn_dsl::LaunchError;
use gcn_dsl::prelude::*;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

gcn_kernel! {
    /// A dynamic region, whose size in bytes the launch determines, after a static array: u32 from the start, f64 from
    /// the end.
    #[workgroup(64)]
    fn regions(n: u32, words: &mut [u32], doubles: &mut [f64]) {
        let own = Lds::<u8, 5>::new();
        let all = LdsSlice::<u32>::dynamic(n);
        let back = LdsSlice::<f64>::dynamic(n / 2).slice(n / 4, n / 4);
        let i = local_id().x;
        if i < 5 {
            own[i] = 200;
        }
        all[i] = i * 3;
        back[i] = i as f64 * 0.5;
        barrier();
        words[i] = all.get(i + 60) + own.get(i) as u32;
        words[i + 64] = all.slice(i.read_half(), 4)[3];
        doubles[i] = back[63 - i] + all.cast::<f64>().slice(64, 64)[i];
        words[i + 128] = back.cast::<u32>()[2 * i + 1];
    }
}

/// A uniform number, so that slices start at a position that the host does not know.
trait ReadHalf {
    fn read_half(self) -> S<u32>;
}
impl ReadHalf for V<u32> {
    fn read_half(self) -> S<u32> {
        read_lane(self, 17)
    }
}

#[test]
fn slices_of_the_launch_s_lds() {
    let n = 256u32;
    for target in TARGETS {
        let kernel = regions.build(target).unwrap();
        assert_eq!(kernel.spec().lds_bytes, 16, "five bytes, to the next multiple of 16");
        let device = Device::simulator(target);
        let (mut words, mut doubles) = (vec![0; 192], vec![0.0; 64]);
        let grid = Grid::x(2).with_dynamic_lds(4 * n);
        device.launch(&regions, &kernel, grid, (n, &mut words, &mut doubles)).unwrap();
        for i in 0..64u32 {
            // Indices 60 to 123: 64 numbers are written; the other words are never written and are zero in the
            // simulator.
            let all = if i + 60 < 64 { (i + 60) * 3 } else { 0 };
            let own = if i < 5 { 200 } else { 0 };
            assert_eq!(words[i as usize], all + own, "{target} {i}");
            assert_eq!(words[64 + i as usize], (17 + 3) * 3);
            let half = |i: u32| f64::from(i) * 0.5;
            assert_eq!(doubles[i as usize], half(63 - i) + half(i));
            assert_eq!(words[128 + i as usize], (half(i).to_bits() >> 32) as u32);
        }
        let too_much = Grid::x(1).with_dynamic_lds(target.lds_per_cu());
        let error = device.launch(&regions, &kernel, too_much, (n, &mut words, &mut doubles)).unwrap_err();
        assert!(matches!(error, LaunchError::Lds { own: 16, .. }), "{error}");
    }
}

gcn_kernel! {
    /// An array whose length is computed on the host.
    #[workgroup(64)]
    fn host_length(x: &mut [u16]) {
        let len = comptime { 3usize * 64 };
        let a = LdsSlice::<u16>::new(len);
        let i = local_id().x;
        a[i * 3] = x[i];
        a[i * 3 + 1] = 1;
        a[i * 3 + 2] = 2;
        x[i] = a.get(i * 4) + a.get(i + 190);
    }
}

#[test]
fn checked_loads_give_zero_behind_the_end() {
    let start: Vec<u16> = (0..64).map(|i| i * 100 + 7).collect();
    let mut a = Vec::new();
    start.iter().for_each(|x| a.extend([*x, 1, 2]));
    let at = |i: usize| a.get(i).copied().unwrap_or(0);
    let expected: Vec<u16> = (0..64).map(|i| at(i * 4) + at(i + 190)).collect();
    for target in TARGETS {
        let mut x = start.clone();
        host_length.launch(&Device::simulator(target), Grid::x(1), (&mut x,)).unwrap();
        assert_eq!(x, expected, "{target}");
        assert_eq!(host_length.build(target).unwrap().spec().lds_bytes, 384);
    }
}

gcn_kernel! {
    /// Copies a tile to LDS directly, without registers, twice.
    #[workgroup(128)]
    fn tiles(x: &[f32], y: &mut [f32]) {
        let tile = Lds::<f32, 256>::new();
        let i = local_id().x;
        let mut sum: V<f32> = 0.0;
        for t in 0..2u32 {
            tile.fill_from(&x, t * 256);
            barrier();
            sum += tile[(i * 7) & 255] + tile[255 - i];
            barrier();
        }
        y[i] = sum;
    }
}

gcn_kernel! {
    /// Copies four elements at once.
    #[workgroup(64)]
    #[targets(gfx950)]
    fn wide(x: &[u32], y: &mut [u32]) {
        let tile = Lds::<u32, 256>::new();
        let i = local_id().x;
        tile.copy_four_from(0, &x, (63 - i) * 4);
        barrier();
        y[i] = tile[i * 4 + 1];
    }
}

gcn_kernel! {
    /// 100 elements are not a multiple of 64.
    #[workgroup(64)]
    fn uneven(x: &[f32], y: &mut [f32]) {
        let tile = Lds::<f32, 100>::new();
        tile.fill_from(&x, 0);
        y[local_id().x] = tile[local_id().x];
    }
}

#[test]
fn copies_straight_to_lds() {
    let x: Vec<f32> = (0..500).map(|i| (i * i % 97) as f32).collect();
    let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
    let part = |t: usize, i: usize| at(256 * t + ((i * 7) & 255)) + at(256 * t + 255 - i);
    let expected: Vec<f32> = (0..128).map(|i| part(0, i) + part(1, i)).collect();
    for target in TARGETS {
        let kernel = tiles.build(target).unwrap();
        let text = kernel.assembly(Comments::None);
        assert!(text.contains(" lds\n"), "{text}");
        let mut y = vec![0.0; 128];
        tiles.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!(y, expected, "{target}");
    }
    let x: Vec<u32> = (0..256).collect();
    let mut y = vec![0; 64];
    wide.launch(&Device::simulator(Target::GFX950), Grid::x(1), (&x, &mut y)).unwrap();
    assert!((0..64).all(|i| y[i] == 4 * (63 - i as u32) + 1), "{y:?}");

    let error = uneven.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("lds.rs:") && error.contains("100 elements cannot be shared"), "{error}");
}

gcn_kernel! {
    /// Minimum and maximum, of f32 in LDS and of f64 in LDS and global memory, at uniform and varying indices.
    #[workgroup(64)]
    fn extremes(x: &[f32], y: &mut [f32], z: &mut [f64]) {
        let l = Lds::<f32, 4>::new();
        let m = Lds::<f64, 4>::new();
        let i = local_id().x;
        if i < 4 {
            l[i] = 0.0;
            m[i] = 0.0;
        }
        barrier();
        l.atomic(i & 1).fetch_max(x[i], Scope::Workgroup, Ordering::Relaxed);
        let before = l.atomic(2).fetch_min(x[i], Scope::Workgroup, Ordering::Relaxed);
        m.atomic(i & 1).fetch_min(x[i] as f64, Scope::Workgroup, Ordering::Relaxed);
        z.atomic(i & 1).fetch_max(x[i] as f64, Scope::Agent, Ordering::Relaxed);
        z.atomic(2).fetch_min(x[i] as f64, Scope::Agent, Ordering::Relaxed);
        barrier();
        y[i] = select(before <= 0.0, l[i & 3], -1.0);
        if i < 2 {
            z[i + 3] = m[i];
        }
    }
}

#[test]
fn float_minimum_and_maximum() {
    let x: Vec<f32> = (0..64).map(|i| ((i * 37 % 64) as f32 - 30.0) * 1.25).collect();
    let of = |odd: usize| x.iter().skip(odd).step_by(2).copied();
    let max = |odd| of(odd).fold(0.0, f32::max);
    let min = |odd| of(odd).fold(0.0, f32::min);
    let least = min(0).min(min(1));
    // f64 in global memory is supported from gfx90a on.
    for target in TARGETS.into_iter().filter(|t| *t >= Target::GFX90A) {
        let (mut y, mut z) = (vec![0.0; 64], vec![0.0; 5]);
        extremes.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y, &mut z)).unwrap();
        assert_eq!(y[..4], [max(0), max(1), least, 0.0], "{target}");
        let doubles = [max(0), max(1), least, min(0), min(1)].map(f64::from);
        assert_eq!(z, doubles, "{target}");
    }
}

gcn_kernel! {
    /// No target of GFX9 has this atomic operation for f32 in global memory.
    #[workgroup(64)]
    fn largest(x: &[f32], y: &mut [f32]) {
        y.atomic(0).fetch_max(x[local_id().x], Scope::Agent, Ordering::Relaxed);
    }
}

#[test]
fn f32_extremes_in_global_memory_are_loops() {
    let x: Vec<f32> = (0..64).map(|i| (i * 37 % 64) as f32 - 20.5).collect();
    for target in TARGETS {
        let mut y = vec![-100.0f32];
        largest.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!(y, [42.5], "{target}");
        let text = largest.build(target).unwrap().assembly(Comments::None);
        assert!(text.contains("cmpswap"), "{target}: {text}");
    }
}
