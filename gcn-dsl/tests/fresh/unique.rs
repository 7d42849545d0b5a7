//! CUB: `BlockAdjacentDifference::FlagHeads` and `DeviceSelect::Unique` of one block.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    #[device]
    fn flag_heads(all: AllLanes, item: V<u32>, tile_predecessor: Option<V<u32>>) -> V<bool> {
        let shared = Lds::<u32, 256>::new();
        let tid = local_id().x;
        barrier();
        shared[tid] = item;
        barrier();
        let previous = if tid == 0 { tile_predecessor } else { Some(shared[tid - 1]) };
        previous.map_or(true, |p| p != item)
    }

    #[workgroup(256)]
    fn unique(x: &[u32], out: &mut [u32], count: &mut [u32]) {
        let n = x.len();
        let mut selected = 0;
        for base in (0..n).step_by(256) {
            let i = base + local_id().x;
            let predecessor = if base > 0 { Some(x[base - 1]) } else { None };
            let head = flag_heads(all_lanes(), x[i], predecessor) && i < n;
            let place = selected + workgroup_exclusive_sum(head as u32);
            if head {
                out[place] = x[i];
            }
            selected += workgroup_sum(head as u32);
        }
        if local_id().x == 0 {
            count[0] = selected;
        }
    }
}

#[test]
fn distinct() {
    let mut x = numbers(900, 200);
    x.sort_unstable();
    x[255] = x[256];
    let mut want = x.clone();
    want.dedup();
    everywhere(|device| {
        let (mut y, mut n) = (vec![0; 900], [0]);
        unique.launch(device, Grid::x(1), (&x, &mut y, &mut n)).unwrap();
        assert_eq!(n[0] as usize, want.len());
        assert_eq!(y[..want.len()], want);
    });
}
