//! CUB: `DeviceSegmentedReduce::ArgMin`, with an operator on key-value pairs.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    #[device]
    struct KeyValue {
        key: V<u32>,
        value: V<i32>,
    }

    #[device]
    trait ReduceOp {
        type Item;
        fn identity() -> Self::Item;
        fn apply(a: Self::Item, b: Self::Item) -> Self::Item;
    }

    #[device]
    struct ArgMin;

    #[device]
    impl ReduceOp for ArgMin {
        type Item = KeyValue;
        fn identity() -> KeyValue {
            KeyValue { key: 1, value: i32::MAX }
        }
        fn apply(a: KeyValue, b: KeyValue) -> KeyValue {
            if b.value < a.value || (a.value == b.value && b.key < a.key) { b } else { a }
        }
    }

    #[device]
    fn warp_reduce(mut item: KeyValue) -> KeyValue {
        #[unroll]
        for offset in [1, 2, 4, 8, 16, 32] {
            let other = KeyValue { key: shuffle_xor(item.key, offset), value: shuffle_xor(item.value, offset) };
            item = ArgMin::apply(item, other);
        }
        item
    }

    #[workgroup(64)]
    #[wave(64)]
    fn segmented_argmin(x: &[i32], begin_offsets: &[u32], end_offsets: &[u32], keys: &mut [u32], values: &mut [i32]) {
        let segment = workgroup_id().x;
        let (begin, end) = (begin_offsets[segment], end_offsets[segment]);
        let mut best = ArgMin::identity();
        for i in (begin + lane_id()..end).step_by(64) {
            best = ArgMin::apply(best, KeyValue { key: i - begin, value: x[i] });
        }
        let best = warp_reduce(best);
        if lane_id() == 0 {
            keys[segment] = best.key;
            values[segment] = best.value;
        }
    }
}

#[test]
fn reduces() {
    let x: Vec<i32> = numbers(1000, 50).into_iter().map(|x| x as i32 - 20).collect();
    let (begin, end) = ([0, 10, 10, 500, 999], [10, 10, 500, 999, 1000]);
    everywhere(|device| {
        let (mut k, mut v) = (vec![0; 5], vec![0; 5]);
        segmented_argmin.launch(device, Grid::x(5), (&x, &begin, &end, &mut k, &mut v)).unwrap();
        for s in 0..5 {
            let part = &x[begin[s] as usize..end[s] as usize];
            let least = part.iter().copied().min().unwrap_or(i32::MAX);
            let at = part.iter().position(|x| *x == least).unwrap_or(1);
            assert_eq!((k[s] as usize, v[s]), (at, least), "{s}");
        }
    });
}
