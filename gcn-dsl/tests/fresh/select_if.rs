//! DeviceSelect::If of one block with a functor that has state, and a stable order.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    #[device]
    struct LessThan {
        compare: u32,
    }

    #[device]
    impl LessThan {
        fn call(&self, a: V<u32>) -> V<bool> {
            a < self.compare
        }
    }

    #[device]
    fn block_select(all: AllLanes, input: &[u32], out: &mut [u32], n: u32, select_op: impl Fn(V<u32>) -> V<bool>) -> V<u32> {
        let mut total = 0;
        for base in (0..n).step_by(256) {
            let i = base + local_id().x;
            let item = input[i];
            let flag = i < n && select_op(item);
            let place = workgroup_exclusive_sum(flag as u32);
            if flag {
                out[total + place] = item;
            }
            total += workgroup_sum(flag as u32);
        }
        total
    }

    #[workgroup(256)]
    fn select_if(input: &[u32], out: &mut [u32], num_selected: &mut [u32], limit: u32) {
        let op = LessThan { compare: limit };
        let total = block_select(all_lanes(), input, out, input.len(), |a| op.call(a));
        if local_id().x == 0 {
            num_selected[0] = total;
        }
    }
}

#[test]
fn selects() {
    let x = numbers(700, 1000);
    everywhere(|device| {
        let (mut out, mut n) = (vec![0; 700], [0]);
        select_if.launch(device, Grid::x(1), (&x, &mut out, &mut n, 300)).unwrap();
        let want: Vec<u32> = x.iter().copied().filter(|x| *x < 300).collect();
        assert_eq!(n[0] as usize, want.len());
        assert_eq!(out[..want.len()], want);
    });
}
