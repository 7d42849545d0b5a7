//! CUB: `BlockMergeSort` with merge paths and a comparison functor.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    #[device]
    fn merge_path(keys: Lds<u32, 512>, a: V<u32>, b: V<u32>, a_count: V<u32>, b_count: V<u32>, diag: V<u32>, less: impl Fn(V<u32>, V<u32>) -> V<bool>) -> V<u32> {
        let mut begin = diag.saturating_sub(b_count);
        let mut end = diag.min(a_count);
        while begin < end {
            let mid = (begin + end) / 2;
            let key1 = keys[a + mid];
            let key2 = keys[b + diag - 1 - mid];
            if less(key2, key1) {
                end = mid;
            } else {
                begin = mid + 1;
            }
        }
        begin
    }

    #[workgroup(256)]
    fn block_merge_sort(x: &mut [u32], descending: u32) {
        let keys = Lds::<u32, 512>::new();
        let tid = local_id().x;
        let less = |a: V<u32>, b: V<u32>| select(descending != 0, a > b, a < b);
        let (mut k0, mut k1) = (x[2 * tid], x[2 * tid + 1]);
        if less(k1, k0) {
            (k0, k1) = (k1, k0);
        }
        let mut size = 1;
        while size < 256 {
            barrier();
            keys[2 * tid] = k0;
            keys[2 * tid + 1] = k1;
            barrier();
            let mask = 2 * size - 1;
            let list = !mask & tid;
            let a = list * 2;
            let b = a + size * 2;
            let diag = (mask & tid) * 2;
            let p = merge_path(keys, a, b, size * 2, size * 2, diag, less);
            let (mut a_at, a_end) = (a + p, a + size * 2);
            let (mut b_at, b_end) = (b + diag - p, b + size * 2);
            let mut out = [0; 2];
            #[unroll]
            for item in 0..2 {
                let take_b = b_at < b_end && (a_at >= a_end || less(keys.get(b_at), keys.get(a_at)));
                if take_b {
                    out[item] = keys[b_at];
                    b_at += 1;
                } else {
                    out[item] = keys[a_at];
                    a_at += 1;
                }
            }
            [k0, k1] = out;
            size *= 2;
        }
        x[2 * tid] = k0;
        x[2 * tid + 1] = k1;
    }
}

#[test]
fn sorts() {
    let x = numbers(512, 400);
    everywhere(|device| {
        for descending in [0, 1] {
            let (mut y, mut want) = (x.clone(), x.clone());
            want.sort_unstable();
            if descending == 1 {
                want.reverse();
            }
            block_merge_sort.launch(device, Grid::x(1), (&mut y, descending)).unwrap();
            assert_eq!(y, want);
        }
    });
}
