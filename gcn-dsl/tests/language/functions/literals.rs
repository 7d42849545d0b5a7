//! Literals take the type that their position requires: in tuples, arrays, structs, branches, results.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[allow(clippy::type_complexity, reason = "depth is what this is about")]
    struct Parts {
        pair: (V<f32>, u32),
        nested: ((V<f64>, V<i64>), [V<f32>; 3]),
        row: [V<u32>; 2],
        rows: [(V<u8>, V<f32>); 2],
    }

    #[device]
    struct Both(V<f32>, (V<u32>, [V<f32>; 2]));

    #[device]
    impl Both {
        fn new(x: V<f32>) -> Self {
            Self(x, (7, [2.5, x]))
        }
    }

    #[device]
    fn results(x: V<f32>) -> (V<f32>, (V<u64>, [V<f32>; 2])) {
        if x > 100.0 {
            return (1.5, (1, [x, -2.0]));
        }
        if x > 50.0 { (x, (2, [0.5, x])) } else { (-0.5, (3, [x, 0.25])) }
    }

    #[device]
    fn array<const N: usize>(_x: V<f32>) -> [V<f32>; N] {
        [-1.0; N]
    }

    #[device]
    fn taken(p: (V<f32>, (V<u32>, V<f64>)), q: [(V<u32>, f32); 1]) -> V<f32> {
        p.0 + p.1.0 as f32 + p.1.1 as f32 + q[0].0 as f32 + q[0].1
    }

    #[workgroup(64)]
    fn literals(x: &[f32], n: u32, y: &mut [f32]) {
        let i = global_id().x;
        let v = x[i];
        let parts = Parts {
            pair: (v, 5),
            nested: ((1.5, -2), [v, 0.5, 3.0]),
            row: [i, 9],
            rows: [(255, v); 2],
        };
        let a = parts.pair.0 + parts.pair.1 as f32 + parts.nested.0.0 as f32 + parts.nested.0.1 as f32;
        let b = parts.nested.1[0] + parts.nested.1[1] + parts.nested.1[2] + (parts.row[0] + parts.row[1]) as f32;
        let c = parts.rows[1].0 as f32 + parts.rows[0].1;
        let (both, new) = (Both(1.0, (4, [v, 0.5])), Both::new(v));
        let d = both.0 + both.1.0 as f32 + both.1.1[1] + new.1.0 as f32 + new.1.1[0] + new.1.1[1];
        let (e, (f, g)) = results(v);
        let [h] = array::<1>(v);
        let small: V<u8> = if v > 50.0 { 200 } else { 7 };
        let wide: (V<u64>, [V<f64>; 2]) = match n { 0 => (1, [0.5, v as f64]), _ => (i as u64, [1.5, 2.5]) };
        let list: [V<f32>; 3] = [v, 1.0, -0.5];
        let k = taken((1.0, (2, 3.0)), [(4, 5.0)]);
        y[i] = a + b + c + d;
        y[i + 64] = e + f as f32 + g[0] + g[1] + h;
        // Numbers take the type of an element that has one; Rust's functions such as `f32::max` accept device values.
        let mixed = [0.5, v, 2.0];
        let m = taken((f32::max(v, 3.0), (u32::min(i, 4), 0.5)), [(0, 0.0)]) + mixed[0] + mixed[1] + mixed[2];
        y[i + 192] = m;
        y[i + 128] = small as f32 + wide.0 as f32 + (wide.1[0] + wide.1[1]) as f32 + list[0] + list[1] + list[2] + k;
    }
}

#[test]
fn literals_take_the_type_of_their_place() {
    let x: Vec<f32> = (0..64).map(|i| i as f32 * 2.0).collect();
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        for n in [0, 3] {
            let mut y = vec![0.0; 256];
            literals.launch(&Device::simulator(target), Grid::x(1), (&x, n, &mut y)).unwrap();
            for i in 0..64 {
                let v = x[i];
                let first = (v + 5.0 + 1.5 - 2.0) + (v + 0.5 + 3.0 + (i + 9) as f32) + (255.0 + v);
                let first = first + (1.0 + 4.0 + 0.5 + 7.0 + 2.5 + v);
                let second = match v {
                    v if v > 100.0 => 1.5 + 1.0 + v - 2.0,
                    v if v > 50.0 => v + 2.0 + 0.5 + v,
                    v => -0.5 + 3.0 + v + 0.25,
                } - 1.0;
                let small = if v > 50.0 { 200.0 } else { 7.0 };
                let wide = if n == 0 { 1.0 + 0.5 + v } else { i as f32 + 4.0 };
                assert_eq!([y[i], y[i + 64]], [first, second], "{target} {n} {i}");
                assert_eq!(y[i + 192], v.max(3.0) + i.min(4) as f32 + 0.5 + 2.5 + v, "{target} {n} {i}");
                assert_eq!(y[i + 128], small + wide + v + 0.5 + 15.0, "{target} {n} {i}");
            }
        }
    }
}
