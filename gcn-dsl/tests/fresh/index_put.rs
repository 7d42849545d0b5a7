//! index_put_ with accumulation: an index tensor for each of three dimensions; negative indices count from the end.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    #[workgroup(128)]
    fn index_put(dst: &mut [i32], src: &[i32], i0: &[i64], i1: &[i64], i2: &[i64], sizes: [i64; 3], strides: [i64; 3], n: i64) {
        let linear = global_id().x as i64;
        if linear < n {
            let at = linear as u32;
            let index = [i0[at], i1[at], i2[at]];
            let mut offset = 0;
            #[unroll]
            for d in 0..3 {
                let mut k = index[d];
                if k < 0 {
                    k += sizes[d];
                }
                debug_assert!(k >= 0 && k < sizes[d]);
                offset += k * strides[d];
            }
            dst.atomic(offset as u32).fetch_add(src[at], Scope::Agent, Ordering::Relaxed);
        }
    }
}

#[test]
fn puts() {
    let sizes = [3i64, 4, 5];
    let n = 100;
    let all: Vec<Vec<i64>> =
        sizes.iter().map(|s| numbers(n, 2 * *s as u32).iter().map(|x| i64::from(*x) - s).collect()).collect();
    let src: Vec<i32> = numbers(n, 1000).into_iter().map(|x| x as i32 - 500).collect();
    everywhere(|device| {
        let mut dst = vec![0; 60];
        index_put
            .launch(device, Grid::x(1), (&mut dst, &src, &all[0], &all[1], &all[2], sizes, [20, 5, 1], 100))
            .unwrap();
        let mut want = vec![0; 60];
        for k in 0..n {
            let at: Vec<i64> = (0..3).map(|d| all[d][k].rem_euclid(sizes[d])).collect();
            want[(at[0] * 20 + at[1] * 5 + at[2]) as usize] += src[k];
        }
        assert_eq!(dst, want);
    });
}
