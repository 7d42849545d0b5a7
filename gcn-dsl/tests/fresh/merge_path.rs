//! moderngpu: MergePath, SerialMerge and the merge kernel, generic over keys and comparison.
use gcn_dsl::prelude::*;

pub struct Less;
pub struct Greater;

gcn_kernel! {
    #[device]
    trait Comp {
        fn comp<T: Arithmetic>(a: V<T>, b: V<T>) -> V<bool>;
    }

    #[device]
    impl Comp for Less {
        fn comp<T: Arithmetic>(a: V<T>, b: V<T>) -> V<bool> { a < b }
    }

    #[device]
    impl Comp for Greater {
        fn comp<T: Arithmetic>(a: V<T>, b: V<T>) -> V<bool> { a > b }
    }

    #[device]
    fn merge_path<T: Arithmetic, C: Comp>(a: &[T], a_count: u32, b: &[T], b_count: u32, diag: V<u32>) -> V<u32> {
        let mut begin = if diag > b_count { diag - b_count } else { 0 };
        let mut end = diag.min(a_count);
        while begin < end {
            let mid = (begin + end) >> 1;
            let a_key = a[mid];
            let b_key = b[diag - 1 - mid];
            if !C::comp(b_key, a_key) {
                begin = mid + 1;
            } else {
                end = mid;
            }
        }
        begin
    }

    #[device]
    fn serial_merge<T: Arithmetic, C: Comp, const VT: usize>(
        a: &[T], mut a_begin: V<u32>, a_end: V<u32>, b: &[T], mut b_begin: V<u32>, b_end: V<u32>,
    ) -> [V<T>; VT] {
        let mut a_key = a[a_begin];
        let mut b_key = b[b_begin];
        let mut results: [V<T>; VT] = [a_key; VT];
        #[unroll] for i in 0..VT {
            let p = if b_begin >= b_end {
                true
            } else if a_begin >= a_end {
                false
            } else {
                !C::comp(b_key, a_key)
            };
            results[i] = if p { a_key } else { b_key };
            if p {
                a_begin += 1;
                a_key = a[a_begin];
            } else {
                b_begin += 1;
                b_key = b[b_begin];
            }
        }
        results
    }

    #[workgroup(128)]
    pub fn merge<T: Arithmetic, C: Comp, const VT: usize>(a: &[T], b: &[T], dst: &mut [T]) {
        let (a_count, b_count) = (a.len(), b.len());
        let total = a_count + b_count;
        let diag = (global_id().x * VT as u32).min(total);
        let next = (diag + VT as u32).min(total);
        if diag == total {
            return;
        }
        let a0 = merge_path::<T, C>(a, a_count, b, b_count, diag);
        let a1 = merge_path::<T, C>(a, a_count, b, b_count, next);
        let results = serial_merge::<T, C, VT>(a, a0, a1, b, diag - a0, next - a1);
        #[unroll] for i in 0..VT {
            if diag + (i as u32) < total {
                dst[diag + i as u32] = results[i];
            }
        }
    }
}

#[test]
fn matches_host() {
    let mut a: Vec<i32> = (0..700).map(|i| (i * 7919 % 1009) - 500).collect();
    let mut b: Vec<i32> = (0..533).map(|i| (i * 104729 % 997) - 400).collect();
    let device = Device::simulator(Target::GFX942);
    for less in [true, false] {
        let mut want = [a.clone(), b.clone()].concat();
        let mut dst = vec![0i32; want.len()];
        if less {
            a.sort();
            b.sort();
            want.sort();
            merge::<i32, Less, 7>.launch(&device, Grid::x(2), (&a, &b, &mut dst)).unwrap();
        } else {
            a.sort_by(|x, y| y.cmp(x));
            b.sort_by(|x, y| y.cmp(x));
            want.sort_by(|x, y| y.cmp(x));
            merge::<i32, Greater, 7>.launch(&device, Grid::x(2), (&a, &b, &mut dst)).unwrap();
        }
        assert_eq!(dst, want);
    }
    let af: Vec<f32> = (0..50).map(|i| i as f32 * 1.5).collect();
    let bf: Vec<f32> = (0..60).map(|i| i as f32 * 1.25).collect();
    let mut want = [af.clone(), bf.clone()].concat();
    want.sort_by(|x, y| x.partial_cmp(y).unwrap());
    let mut dst = vec![0.0f32; 110];
    merge::<f32, Less, 4>.launch(&device, Grid::x(1), (&af, &bf, &mut dst)).unwrap();
    assert_eq!(dst, want);
}
