//! `&[T]` at a uniform index gives a uniform value.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

gcn_kernel! {
    /// Rows of different lengths, as in a CSR matrix: the bounds of the loop are uniform.
    #[workgroup(64)]
    fn rows(first: &[u32], column: &[u16], weight: &[f64], tag: &[i8], y: &mut [f64]) {
        let row = workgroup_id().x;
        let mut sum: V<f64> = 0.0;
        for k in first[row]..first[row + 1] {
            sum += weight[k] * (column[k] as u32 + lane_id()) as f64;
        }
        y[row * 64 + lane_id()] = sum + tag[row] as f64;
    }
}

#[test]
fn uniform_elements_are_uniform_values() {
    let first = [0u32, 3, 3, 8];
    let column: Vec<u16> = (0..8).map(|k| k * 8191).collect();
    let weight: Vec<f64> = (0..8).map(|k| f64::from(k) * 0.25 - 1.0).collect();
    let tag = [-3i8, 127, -128];
    let mut expected = Vec::new();
    for row in 0..3 {
        for lane in 0..64 {
            let terms = first[row] as usize..first[row + 1] as usize;
            let sum: f64 = terms.map(|k| weight[k] * f64::from(u32::from(column[k]) + lane)).sum();
            expected.push(sum + f64::from(tag[row]));
        }
    }
    for target in TARGETS {
        let text = rows.build(target).unwrap().assembly(Comments::None);
        assert!(text.contains("s_buffer_load_dwordx2"), "{text}");
        assert!(!text.contains("\tbuffer_load_dword "), "{text}");
        let mut y = vec![0.0; 192];
        let args = (&first[..], &column[..], &weight[..], &tag[..], &mut y[..]);
        rows.launch(&Device::simulator(target), Grid::x(3), args).unwrap();
        assert_eq!(y, expected, "{target}");
    }
}

gcn_kernel! {
    /// Past the end, loads of every width give zeros.
    #[workgroup(64)]
    fn beyond(a: &[u8], b: &[u16], c: &[f32], d: &[u64], at: u32, y: &mut [u64]) {
        let i = lane_id();
        let sum = a[at] as u64 + b[at] as u64 + c[at] as u32 as u64 + d[at];
        y[i] = sum + (a[i] as u64 + b[i] as u64 + c[i] as u32 as u64 + d[i]);
    }
}

#[test]
fn beyond_the_end_are_zeros() {
    let (a, b, c, d) = ([1u8, 2, 3], [10u16, 20, 30], [100.0f32, 200.0, 300.0], [1000u64, 2000, 3000]);
    let at = |i: usize| if i < 3 { 1111 * (i as u64 + 1) } else { 0 };
    for target in TARGETS {
        for uniform in [0, 2, 3, 5, 0x3fff_ffff] {
            let mut y = vec![7; 64];
            let args = (&a[..], &b[..], &c[..], &d[..], uniform, &mut y[..]);
            beyond.launch(&Device::simulator(target), Grid::x(1), args).unwrap();
            let expected: Vec<u64> = (0..64).map(|i| at(uniform as usize) + at(i)).collect();
            assert_eq!(y, expected, "{target}, {uniform}");
        }
    }
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    struct Scaled {
        scale: f32,
        small: [u8; 12],
        wide: [i32; 6],
    }

    #[device]
    fn chosen(k: V<u32>, of: V<Scaled>) -> V<i32> {
        of.small[k] as i32 + of.wide[k % 8]
    }

    /// A device function that gets a struct with an array loads only the elements that it indexes.
    #[workgroup(64)]
    fn indexed(x: &[Scaled], k: &[u32], y: &mut [i32]) {
        let i = global_id().x;
        y[i] = chosen(k[i], x[i]);
    }
}

#[test]
fn elements_of_an_argument_are_loaded_where_they_are_indexed() {
    let x: Vec<Scaled> = (0..64)
        .map(|i| {
            let small = std::array::from_fn(|k| (i * 12 + k as i32) as u8);
            Scaled { scale: 0.0, small, wide: std::array::from_fn(|k| i * 1000 - k as i32) }
        })
        .collect();
    let k: Vec<u32> = (0..64).map(|i| [0, 1, 2, 3, 4, 5, 8, 9, 10, 11][i % 10]).collect();
    let want: Vec<i32> =
        x.iter().zip(&k).map(|(x, k)| i32::from(x.small[*k as usize]) + x.wide[*k as usize % 8]).collect();
    for target in TARGETS {
        let text = indexed.build(target).unwrap().assembly(Comments::None);
        assert!(!text.contains("v_cndmask") && !text.contains("dwordx4 v"), "{text}");
        let mut y = vec![0; 64];
        indexed.launch(&Device::simulator(target), Grid::x(1), (&x, &k, &mut y)).unwrap();
        assert_eq!(y, want, "{target}");
    }
}
