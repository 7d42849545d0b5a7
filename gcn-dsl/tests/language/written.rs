//! A plain type annotation, `let x: f32`, states the element type. Whether the variable is varying follows from what is
//! assigned to it. The reference is plain Rust.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 2] = [Target::GFX906, Target::GFX942];

gcn_kernel! {
    #[device]
    fn parts(x: V<f32>, out: &mut (V<f32>, V<f32>)) {
        out.0 = x + 1.0;
        out.1 = x * 2.0;
    }

    #[workgroup(64)]
    fn of_elements(n: u32, x: &[f32], y: &mut [f32], z: &mut [u32]) {
        let i = global_id().x;
        let mut sum: f32 = 0.0; // varies by what it is given
        let mut trips: u32 = 0; // does not: it bounds a loop with a barrier
        for k in 0..n {
            let element: f32 = x[i * n + k];
            sum += element;
            trips += 1;
        }
        let large: bool = sum > 10.0;
        let mut kept: [f32; 3] = [0.0; 3];
        for k in 0..3 {
            kept[k] += sum * k as f32;
        }
        let given: [f32; 2] = [sum, 1.0];
        let pair: (f32, u32) = (sum, n);
        let late: f32;
        let mut twice: u32;
        if large {
            late = sum - 1.0;
            twice = i;
        } else {
            late = 0.5;
            twice = 3;
        }
        twice *= 2;
        let mut count: u32 = 0;
        for _ in 0..trips {
            count += pair.1;
            barrier();
        }
        let product: f32 = given.iter().product();
        y[i] = late + kept[2] + product + pair.0;
        z[i] = count + twice;
    }

    /// Each member of a tuple varies independently.
    #[workgroup(64)]
    fn members(n: u32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let mut t = (0.0, 0u32);
        t.0 += x[i];
        for k in 0..n {
            t.1 += k;
        }
        for _ in 0..t.1 {
            t.0 += 0.5;
            barrier();
        }
        let mut v = (0.0, 0.0);
        parts(t.0, &mut v);
        let mut w: (f32, f32) = (3.0, 0.0);
        w = (w.0, v.0 + v.1);
        y[i] = w.0 + w.1;
    }

    #[workgroup(64)]
    fn over_types<T: Float>(x: &[T], y: &mut [T]) {
        let i = global_id().x;
        let mut sum: T = 0.0;
        for k in 0..4u32 {
            let element: T = x[i * 4 + k];
            sum += element;
        }
        y[i] = sum;
    }
}

#[test]
fn a_plain_type_leaves_lanes_open() {
    let n = 3;
    let x: Vec<f32> = (0..64 * n).map(|i| (i % 17) as f32 * 0.5).collect();
    for target in TARGETS {
        let (mut y, mut z) = (vec![0.0; 64], vec![0; 64]);
        of_elements.launch(&Device::simulator(target), Grid::x(1), (n, &x, &mut y, &mut z)).unwrap();
        for (i, row) in x.chunks(n as usize).enumerate() {
            let sum: f32 = row.iter().sum();
            let (late, twice) = if sum > 10.0 { (sum - 1.0, i as u32) } else { (0.5, 3) };
            assert_eq!(y[i], late + sum * 2.0 + sum + sum, "{target} {i}");
            assert_eq!(z[i], n * n + twice * 2, "{target} {i}");
        }
    }
}

#[test]
fn members_of_tuples_vary_on_their_own() {
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    for target in TARGETS {
        let mut y = vec![0.0; 64];
        members.launch(&Device::simulator(target), Grid::x(1), (4, &x, &mut y)).unwrap();
        for (i, y) in y.iter().enumerate() {
            let t = x[i] + 3.0; // 0 + 1 + 2 + 3 halves
            assert_eq!(*y, 3.0 + (t + 1.0) + t * 2.0, "{target} {i}");
        }
    }
}

#[test]
fn parameters_are_plain_types_too() {
    let x: Vec<f64> = (0..256).map(f64::from).collect();
    let mut y = vec![0.0; 64];
    over_types::<f64>.launch(&Device::simulator(Target::GFX90A), Grid::x(1), (&x, &mut y)).unwrap();
    let sums: Vec<f64> = x.chunks(4).map(|four| four.iter().sum()).collect();
    assert_eq!(y, sums);
}
