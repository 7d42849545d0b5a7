//! Errors: `?` in a function that returns no `Option` or `Result`, or where it is not always evaluated exactly once.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn find(x: &[u32], i: V<u32>) -> Option<V<u32>> {
        (x[i] != 0).then_some(i)
    }

    #[device]
    fn returns_no_option(x: &[u32], i: V<u32>) -> V<u32> {
        find(x, i)? + 1
    }

    #[device]
    fn not_always_reached(x: &[u32], i: V<u32>) -> Option<V<bool>> {
        Some(i > 3 && find(x, i)? > 4)
    }

    #[device]
    fn reached_more_than_once(x: &[u32], mut i: V<u32>) -> Option<V<u32>> {
        while find(x, i)? > 3 {
            i += 1;
        }
        Some(i)
    }

    #[workgroup(64)]
    fn in_a_kernel(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = find(x, i)?;
    }

    #[workgroup(64)]
    fn memory_with_mut(y: &mut [u32]) {
        let mut tile = Lds::<u32, 64>::new();
        tile[lane_id()] = 1;
        y[lane_id()] = tile[lane_id()];
    }
}

fn main() {}
