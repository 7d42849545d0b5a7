//! Lines that newcomers write and that have the same meaning as in Rust: parameters in any order, literals next to
//! parameters, arrays as elements, tables of two dimensions, `f32::from_bits`.

#![allow(clippy::manual_clamp, reason = "`f32::min(1.0, ..)` is what is tested")]

use gcn_dsl::prelude::*;

fn on_all(run: impl Fn(&Device)) {
    for target in [Target::GFX906, Target::GFX942] {
        run(&Device::simulator(target));
    }
}

gcn_kernel! {
    #[device]
    fn relative<I: Integer>(t: V<I>, floor: I) -> V<I> {
        let mut steps = t * 0;
        let mut rest = t;
        while rest > 2 {
            rest -= 2;
            steps += 1;
        }
        if t >= 0 && 1 + rest != 2 { steps * 3 + 1 - floor } else { 7 }
    }

    #[workgroup(64)]
    fn generic<const FORWARD: bool, T: Float, const N: usize, I: Integer>(
        x: &[T], f: &[f32], t: &[I], y: &mut [T], weights: &mut [f32], steps: &mut [I], floor: I,
    ) {
        let i = global_id().x;
        let factor = if FORWARD { f[i] } else { 1.0 };
        let begin = if i > 40 { i - 40 } else { 0 };
        let sign = if i < 8 { -1.0 } else { 1.0 };
        let class = match i { 0 => 3, 1..=9 => 2, _ => 1 };
        let last = N - 1;
        let mut host = 0;
        #[unroll]
        for k in 0..N {
            if k > 0 && k % 2 == 1 {
                host += k as u32 + 1;
            }
        }
        weights[i] = factor * sign + (begin + class) as f32 + (last as u32 + host) as f32;
        y[i] = if x[i] > 1.5 { x[i] } else { 0.5 };
        steps[i] = relative(t[i], floor);
    }
}

#[test]
fn parameters_stand_in_any_order_and_literals_beside_them() {
    let x: Vec<f16> = (0..64).map(|i| f16::from_f32(i as f32 / 16.0)).collect();
    let f: Vec<f32> = (0..64).map(|i| i as f32 * 0.25).collect();
    let t: Vec<i32> = (0..64).map(|i| i - 9).collect();
    on_all(|device| {
        for forward in [true, false] {
            let (mut y, mut weights, mut steps) = (vec![f16::ZERO; 64], vec![0.0; 64], vec![0; 64]);
            let args = (&x[..], &f[..], &t[..], &mut y[..], &mut weights[..], &mut steps[..], 2);
            match forward {
                true => generic::<true, f16, 4, i32>.launch(device, Grid::x(1), args).unwrap(),
                false => generic::<false, f16, 4, i32>.launch(device, Grid::x(1), args).unwrap(),
            };
            for i in 0..64 {
                let factor = if forward { f[i] } else { 1.0 };
                let sign = if i < 8 { -1.0 } else { 1.0 };
                let begin = i.saturating_sub(40) as f32;
                let class = if i == 0 {
                    3.0
                } else if i < 10 {
                    2.0
                } else {
                    1.0
                };
                // Of 0..4, 1 and 3 are odd.
                assert_eq!(weights[i], factor * sign + begin + class + 3.0 + (2.0 + 4.0), "{i}");
                assert_eq!(y[i].to_f32(), if x[i].to_f32() > 1.5 { x[i].to_f32() } else { 0.5 });
                let (mut rest, mut count) = (t[i], 0);
                while rest > 2 {
                    (rest, count) = (rest - 2, count + 1);
                }
                assert_eq!(steps[i], if t[i] >= 0 && 1 + rest != 2 { count * 3 + 1 - 2 } else { 7 }, "{i}");
            }
        }
    });
}

gcn_kernel! {
    #[workgroup(64)]
    fn pixels(x: &[[f32; 3]], fb: &mut [[f32; 3]], ends: &mut [[[i32; 2]; 2]], column: u32) {
        let i = global_id().x;
        fb[i] = [x[i][0], x[i][column], x[i][i % 3]];
        fb[i][2] *= 2.0;
        fb[i][i % 3] += 1.0;
        ends[i][1] = [i as i32, -1];
        ends[i][0][column] = x[0][2] as i32;
        ends[i][i % 2][1] -= 5;
    }
}

#[test]
fn arrays_are_elements_of_slices() {
    let x: Vec<[f32; 3]> = (0..64).map(|i| [i as f32, 0.5 * i as f32, 100.0 - i as f32]).collect();
    on_all(|device| {
        let (mut fb, mut ends) = (vec![[0.0; 3]; 64], vec![[[9; 2]; 2]; 64]);
        pixels.launch(device, Grid::x(1), (&x, &mut fb, &mut ends, 1)).unwrap();
        for i in 0..64 {
            let mut pixel = [x[i][0], x[i][1], x[i][i % 3]];
            pixel[2] *= 2.0;
            pixel[i % 3] += 1.0;
            assert_eq!(fb[i], pixel);
            let mut end = [[9, 9], [i as i32, -1]];
            end[0][1] = 100;
            end[i % 2][1] -= 5;
            assert_eq!(ends[i], end);
        }
    });
}

const BLOSUM: [[i32; 4]; 4] = [[4, -1, -2, 0], [-1, 5, 0, -3], [-2, 0, 6, -1], [0, -3, -1, 9]];
const WIDE: [[u16; 7]; 40] = {
    let mut table = [[0; 7]; 40];
    let mut i = 0;
    while i < 280 {
        table[i / 7][i % 7] = (i * i) as u16;
        i += 1;
    }
    table
};

gcn_kernel! {
    #[workgroup(64)]
    fn scores(a: &[u8], b: &[u8], s: u32, out: &mut [i32], wide: &mut [u32], rows: &mut [f32]) {
        let i = global_id().x;
        let mut best = 0;
        for k in 0..4 {
            best += BLOSUM[a[i] as u32][k] * BLOSUM[k][b[i] as u32];
        }
        out[i] = BLOSUM[a[i] as u32][b[i] as u32] + 100 * BLOSUM[s][1] + best * 1000;
        wide[i] = WIDE[i % 40][i % 7] as u32 + WIDE[s][6] as u32;
        let held = [[1.0 * i as f32, 2.0], [3.0, 4.0 + i as f32]];
        rows[i] = held[i % 2][a[i] as u32 % 2];
    }
}

#[test]
fn tables_have_two_dimensions() {
    let a: Vec<u8> = (0..64).map(|i| i * 3 % 4).collect();
    let b: Vec<u8> = (0..64).map(|i| i / 5 % 4).collect();
    on_all(|device| {
        let (mut out, mut wide, mut rows) = (vec![0; 64], vec![0; 64], vec![0.0; 64]);
        scores.launch(device, Grid::x(1), (&a, &b, 3, &mut out, &mut wide, &mut rows)).unwrap();
        for i in 0..64 {
            let (p, q) = (a[i] as usize, b[i] as usize);
            let best: i32 = (0..4).map(|k| BLOSUM[p][k] * BLOSUM[k][q]).sum();
            assert_eq!(out[i], BLOSUM[p][q] + 100 * BLOSUM[3][1] + best * 1000);
            assert_eq!(wide[i], u32::from(WIDE[i % 40][i % 7]) + u32::from(WIDE[3][6]));
            let held = [[i as f32, 2.0], [3.0, 4.0 + i as f32]];
            assert_eq!(rows[i], held[i % 2][p % 2]);
        }
    });
}

gcn_kernel! {
    #[workgroup(64, 2)]
    fn planes(x: &[f32], y: &mut [f32]) {
        let t = Lds::<[[f32; 64]; 4], 2>::new();
        let (i, z) = (local_id().x, local_id().y);
        #[unroll]
        for j in 0..4 {
            t[z][j][i] = x[z * 256 + j * 64 + i];
        }
        t[z][2][i] += 0.5;
        barrier();
        y[z * 64 + i] = t[1 - z][i % 4][63 - i];
    }
}

#[test]
fn lds_has_three_dimensions() {
    let x: Vec<f32> = (0..512).map(|i| i as f32).collect();
    on_all(|device| {
        let mut y = vec![0.0; 128];
        planes.launch(device, Grid::x(1), (&x, &mut y)).unwrap();
        for z in 0..2 {
            for i in 0..64 {
                let half = if i % 4 == 2 { 0.5 } else { 0.0 };
                assert_eq!(y[z * 64 + i], x[(1 - z) * 256 + i % 4 * 64 + 63 - i] + half);
            }
        }
    });
}

gcn_kernel! {
    #[device]
    fn ordered<T: Float>(x: V<T>, bits: V<T::Bits>) -> V<T> {
        if T::from_bits(bits) > x { x } else { T::from_bits(bits) }
    }

    #[workgroup(64)]
    fn from_bits(x: &[u32], mask: u32, y: &mut [f32], least: &mut [f32], z: &mut [f64]) {
        let i = global_id().x;
        y[i] = f32::from_bits(x[i] & 0x7fff_ffff) + f32::from_bits(mask) + f32::from_bits(0x3f80_0000);
        least[i] = ordered(y[i], x[i]);
        z[i] = f64::from_bits((x[i] as u64) << 32);
    }
}

#[test]
fn from_bits_takes_bits_of_the_device() {
    let x: Vec<u32> = (0..64).map(|i: u32| i << 31 | (0x3f80_0000 + (i << 18))).collect();
    let mask = 0x4020_0000;
    on_all(|device| {
        let (mut y, mut least, mut z) = (vec![0.0; 64], vec![0.0; 64], vec![0.0; 64]);
        from_bits.launch(device, Grid::x(1), (&x, mask, &mut y, &mut least, &mut z)).unwrap();
        for i in 0..64 {
            assert_eq!(y[i], f32::from_bits(x[i] & 0x7fff_ffff) + f32::from_bits(mask) + 1.0);
            assert_eq!(least[i], f32::from_bits(x[i]).min(y[i]));
            assert_eq!(z[i], f64::from_bits(u64::from(x[i]) << 32));
        }
    });
}

gcn_kernel! {
    #[device]
    pub struct Vec3 {
        x: V<f32>,
        y: V<f32>,
        z: V<f32>,
    }

    #[device]
    impl std::ops::Mul<V<f32>> for Vec3 {
        type Output = Vec3;
        fn mul(self, t: V<f32>) -> Vec3 { Vec3 { x: self.x * t, y: self.y * t, z: self.z * t } }
    }

    #[device]
    #[repr(C)]
    pub struct Sphere {
        center: [f32; 3],
        radius: f32,
        inside: bool,
    }

    /// The sphere is uniform.
    #[device]
    fn towards(s: Sphere, p: Vec3) -> Vec3 {
        let sign = if s.inside { -1.0 } else { 1.0 };
        Vec3 { x: p.x - s.center[0], y: p.y - s.center[1], z: p.z - s.center[2] } * (sign / s.radius) * 0.5
    }

    #[device]
    fn halved<T: Float>(p: Vec3, x: V<T>) -> V<T> { (p * 0.5).x as T + x }

    #[workgroup(64)]
    fn normals(world: &[Sphere], own: Sphere, hit: &mut [bool], seen: &[bool], out: &mut [[f32; 3]]) {
        let i = global_id().x;
        let mut p = Vec3 { x: i as f32, y: 1.0, z: 2.0 };
        for k in 0..world.len() {
            p = towards(world[k], p);
        }
        p = towards(own, p);
        hit[i] = p.x > 0.0 && !seen[i];
        out[i] = [halved(p, p.x), p.y, p.z];
    }
}

#[test]
fn structs_of_the_host_are_what_they_are_there() {
    let sphere =
        |i: i32| Sphere { center: [i as f32, 2.0, -1.0], radius: (i + 2) as f32, inside: i % 2 == 1 };
    let world: Vec<Sphere> = (0..3).map(sphere).collect();
    let own = Sphere { center: [-0.4, 2.0, -1.0], radius: 1.0, inside: true };
    let seen: Vec<bool> = (0..64).map(|i| i % 3 == 0).collect();
    on_all(|device| {
        let (mut hit, mut out) = (vec![true; 64], vec![[0.0; 3]; 64]);
        normals.launch(device, Grid::x(1), (&world, own, &mut hit, &seen, &mut out)).unwrap();
        for i in 0..64 {
            let mut p = [i as f64, 1.0, 2.0];
            for s in world.iter().chain([&own]) {
                let sign = if s.inside { -0.5 } else { 0.5 };
                p = std::array::from_fn(|k| (p[k] - f64::from(s.center[k])) * sign / f64::from(s.radius));
            }
            assert_eq!(hit[i], p[0] > 0.0 && !seen[i], "{i} {p:?}");
            let want = [p[0] * 1.5, p[1], p[2]];
            assert!((0..3).all(|k| (f64::from(out[i][k]) - want[k]).abs() < 1e-5), "{:?} {want:?}", out[i]);
        }
    });
}

gcn_kernel! {
    #[workgroup(64)]
    fn clamped(x: &[f32], y: &mut [f32], low: f32, n: u32) {
        let i = global_id().x;
        y[i] = f32::min(1.0, f32::max(0.0, x[i])) + f32::max(0.001, low) + u32::max(3, n) as f32 + f32::max(x[i], 2.0);
    }
}

#[test]
fn a_literal_is_the_first_argument_of_max() {
    let x: Vec<f32> = (0..64).map(|i| i as f32 * 0.125 - 3.0).collect();
    on_all(|device| {
        let mut y = vec![0.0; 64];
        clamped.launch(device, Grid::x(1), (&x, &mut y, -2.0, 5)).unwrap();
        for i in 0..64 {
            let sum = f32::min(1.0, f32::max(0.0, x[i])) + f32::max(0.001, -2.0) + u32::max(3, 5) as f32;
            assert_eq!(y[i], sum + f32::max(x[i], 2.0));
        }
    });
}
