//! A block's radix sort of keys with values: four bits per pass, ranks by ballots within waves and a scan over digits
//! in LDS.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

const RADIX: u32 = 16;

gcn_kernel! {
    /// The position of a key: it comes after all keys with smaller digits and after the earlier keys with the same
    /// digit.
    #[device]
    fn rank(all: AllLanes, digit: V<u32>, counters: Lds<u32, 64>, offsets: Lds<u32, 64>) -> V<u32> {
        let warp = local_id().x / 64;
        let mut place = 0;
        for d in 0..RADIX {
            let peers = ballot(digit == d);
            if digit == d {
                place = mbcnt(peers);
            }
            if lane_id() == 0 {
                counters[d * 4 + warp] = peers.count_ones();
            }
        }
        barrier();
        if local_id().x < 64 {
            offsets[local_id().x] = wave_exclusive_sum(counters[local_id().x]);
        }
        barrier();
        place += offsets[digit * 4 + warp];
        place
    }

    #[workgroup(256)]
    #[wave(64)]
    fn block_radix_sort(keys: &mut [u32], values: &mut [u32]) {
        let keys_lds = Lds::<u32, 256>::new();
        let values_lds = Lds::<u32, 256>::new();
        let counters = Lds::<u32, 64>::new();
        let offsets = Lds::<u32, 64>::new();
        let i = global_id().x;
        let mut key = keys[i];
        let mut value = values[i];
        for bit in (0..32).step_by(4) {
            let digit = (key >> bit) & (RADIX - 1);
            let to = rank(all_lanes(), digit, counters, offsets);
            keys_lds[to] = key;
            values_lds[to] = value;
            barrier();
            key = keys_lds[local_id().x];
            value = values_lds[local_id().x];
            barrier();
        }
        keys[i] = key;
        values[i] = value;
    }
}

#[test]
fn sorts() {
    let keys = numbers(512, u32::MAX);
    everywhere(|device| {
        let (mut k, mut v) = (keys.clone(), (0..512).collect::<Vec<u32>>());
        block_radix_sort.launch(device, Grid::x(2), (&mut k, &mut v)).unwrap();
        for block in 0..2 {
            let mut want: Vec<(u32, u32)> =
                (block * 256..(block + 1) * 256).map(|i| (keys[i], i as u32)).collect();
            want.sort_by_key(|p| p.0);
            let got: Vec<(u32, u32)> = (block * 256..(block + 1) * 256).map(|i| (k[i], v[i])).collect();
            assert_eq!(got, want);
        }
    });
}
