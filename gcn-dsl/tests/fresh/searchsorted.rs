//! PyTorch: `searchsorted_cuda_kernel` with `lower_bound` and `upper_bound`, and `bucketize`.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    #[device]
    fn cus_lower_bound<T: Number>(mut start: V<u32>, mut end: V<u32>, val: V<T>, bd: &[T], sort: Option<V<u32>>) -> V<u32> {
        let orig_start = start;
        while start < end {
            let mid = start + ((end - start) >> 1);
            let mid_val = match sort {
                Some(first) => bd[mid + first],
                None => bd[mid],
            };
            if !(mid_val >= val) {
                start = mid + 1;
            } else {
                end = mid;
            }
        }
        start - orig_start * 0
    }

    #[device]
    fn cus_upper_bound<T: Number>(mut start: V<u32>, mut end: V<u32>, val: V<T>, bd: &[T]) -> V<u32> {
        while start < end {
            let mid = start + ((end - start) >> 1);
            if !(bd[mid] > val) {
                start = mid + 1;
            } else {
                end = mid;
            }
        }
        start
    }

    #[workgroup(256)]
    fn searchsorted<const RIGHT: bool>(out: &mut [i64], input: &[f32], bd: &[f32], idim_in: u32, idim_bd: u32) {
        let tid = global_id().x;
        if tid >= input.len() {
            return;
        }
        let start_bd = tid / idim_in * idim_bd;
        let end_bd = start_bd + idim_bd;
        let pos = if RIGHT {
            cus_upper_bound(start_bd, end_bd, input[tid], bd)
        } else {
            cus_lower_bound(start_bd, end_bd, input[tid], bd, None)
        };
        out[tid] = (pos - start_bd) as i64;
    }
}

#[test]
fn searches() {
    let mut bd: Vec<f32> = numbers(3 * 50, 40).into_iter().map(|x| x as f32).collect();
    bd.chunks_mut(50).for_each(|row| row.sort_by(f32::total_cmp));
    let x: Vec<f32> = numbers(3 * 100, 42).into_iter().map(|x| x as f32 - 1.0).collect();
    everywhere(|device| {
        let (mut left, mut right) = (vec![0; 300], vec![0; 300]);
        searchsorted::<false>.launch(device, Grid::x(2), (&mut left, &x, &bd, 100, 50)).unwrap();
        searchsorted::<true>.launch(device, Grid::x(2), (&mut right, &x, &bd, 100, 50)).unwrap();
        for i in 0..300 {
            let row = &bd[i / 100 * 50..][..50];
            assert_eq!(left[i] as usize, row.partition_point(|b| *b < x[i]));
            assert_eq!(right[i] as usize, row.partition_point(|b| *b <= x[i]));
        }
    });
}
