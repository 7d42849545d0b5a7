//! Features that the ported kernels do not use and that a reader of the guide might try.

use gcn_dsl::lang::matrix::Spread;
use gcn_dsl::prelude::*;

use crate::{everywhere, floats};

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct Pair {
        a: f32,
        b: [u32; 2],
    }

    /// A struct that is stored in memory, in a signature.
    #[device]
    fn swapped(p: V<Pair>) -> V<Pair> {
        Pair { a: -p.a, b: [p.b[1], p.b[0]] }
    }

    #[workgroup(64)]
    fn swap_all(x: &[Pair], y: &mut [Pair]) {
        let i = global_id().x;
        y[i] = swapped(x[i]);
        y[i] = swapped(swapped(y[i]));
    }

    #[device]
    trait Generator {
        fn next(&mut self) -> V<u32>;
        fn next_float(&mut self) -> V<f32> {
            0.5
        }
    }

    #[device]
    struct Lcg {
        state: V<u32>,
    }

    #[device]
    impl Generator for Lcg {
        fn next(&mut self) -> V<u32> {
            self.state = self.state * 1_664_525 + 1_013_904_223;
            self.state
        }
    }

    #[workgroup(64)]
    fn random(y: &mut [u32]) {
        let mut rng = Lcg { state: global_id().x };
        let first = rng.next();
        let half = rng.next_float();
        y[global_id().x] = first ^ rng.next() ^ half as u32;
    }

    /// Elements of a matrix tile, written individually and read as a column.
    #[workgroup(64)]
    #[wave(64)]
    fn tile_elements(x: &[f32], y: &mut [f32]) {
        let tile = LdsTile::<f32, 16, 64, Spread>::new();
        for r in 0..16 {
            tile[r][lane_id()] = x[r * 64 + lane_id()];
        }
        barrier();
        for r in 0..16 {
            y[lane_id() * 16 + r] = tile[r][lane_id()];
        }
        tile.put(tile.fetch(row_major(x, 64), 0, 0));
        barrier();
        for r in 0..16 {
            y[lane_id() * 16 + r] += tile[r][lane_id()];
        }
    }

    /// A condition of the host, between conditions of the device.
    #[workgroup(64)]
    fn chosen<const FAST: bool, const MODE: u32>(x: &mut [u32], n: u32) {
        let i = global_id().x;
        let mut v = x[i];
        if FAST && i < n {
            v += 100;
        }
        if !FAST || v > 3 {
            v += 10;
        } else {
            v = 0;
        }
        let extra = match MODE {
            0 => 1,
            1 => 2,
            _ => 3,
        };
        if MODE == 1 {
            v += 1000;
        }
        x[i] = v + extra;
    }
}

#[test]
fn structs_in_signatures() {
    let x: Vec<Pair> = (0..64).map(|i| Pair { a: i as f32, b: [i, 2 * i] }).collect();
    everywhere(|device| {
        let mut y = vec![Pair { a: 0.0, b: [0; 2] }; 64];
        swap_all.launch(device, Grid::x(1), (&x, &mut y)).unwrap();
        assert!(x.iter().zip(&y).all(|(x, y)| y.a == -x.a && y.b == [x.b[1], x.b[0]]));
    });
}

#[test]
fn traits_with_mutable_self() {
    everywhere(|device| {
        let mut y = vec![0; 64];
        random.launch(device, Grid::x(1), (&mut y,)).unwrap();
        for (i, y) in y.iter().enumerate() {
            let step = |s: u32| s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            assert_eq!(*y, step(i as u32) ^ step(step(i as u32)));
        }
    });
}

#[test]
fn tiles_by_element() {
    let x = floats(16 * 64);
    everywhere(|device| {
        let mut y = vec![0.0; 16 * 64];
        tile_elements.launch(device, Grid::x(1), (&x, &mut y)).unwrap();
        assert!((0..16 * 64).all(|k| y[k] == 2.0 * x[k % 16 * 64 + k / 16]));
    });
}

#[test]
fn host_conditions() {
    everywhere(|device| {
        let run = |kernel: &dyn Fn(&mut [u32])| {
            let mut x: Vec<u32> = (0..64).collect();
            kernel(&mut x);
            x
        };
        let fast = run(&|x| drop(chosen::<true, 0>.launch(device, Grid::x(1), (x, 32)).unwrap()));
        let slow = run(&|x| drop(chosen::<false, 1>.launch(device, Grid::x(1), (x, 32)).unwrap()));
        for i in 0..64 {
            let v = if i < 32 { i + 100 } else { i };
            assert_eq!(fast[i as usize], if v > 3 { v + 11 } else { 1 });
            assert_eq!(slow[i as usize], i + 1012);
        }
    });
    let text = chosen::<false, 1>.build(Target::GFX942).unwrap().assembly(Comments::None);
    assert!(!text.contains("s_cbranch"), "a branch of the host is none of the device: {text}");
}
