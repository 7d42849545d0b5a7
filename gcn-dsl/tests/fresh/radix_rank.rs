//! CUB: `BlockRadixRankMatch` and `BlockExchange`.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

const RADIX_BITS: u32 = 4;
const DIGITS: usize = 1 << RADIX_BITS;
const WAVES: usize = 4;

gcn_kernel! {
    #[device]
    trait Digit {
        fn digit(&self, key: V<u32>) -> V<u32>;
    }

    #[device]
    struct Extractor {
        bit_start: u32,
        num_bits: u32,
    }

    #[device]
    impl Digit for Extractor {
        fn digit(&self, key: V<u32>) -> V<u32> {
            (key >> self.bit_start) & ((1 << self.num_bits) - 1)
        }
    }

    #[device]
    fn match_any_digit(label: V<u32>) -> V<LaneMask> {
        let mut retval = LaneMask::ALL;
        for bit in 0..RADIX_BITS {
            let mask = ballot(label & (1 << bit) != 0);
            retval &= if label & (1 << bit) != 0 { mask } else { !mask };
        }
        retval
    }

    #[device]
    fn rank_keys<D: Digit>(all: AllLanes, key: V<u32>, op: D) -> V<u32> {
        let histograms = Lds::<[u32; DIGITS], WAVES>::new();
        let wave = wave_id();
        let lane = lane_id();
        if lane < DIGITS as u32 {
            histograms[wave][lane] = 0;
        }
        barrier();
        let digit = op.digit(key);
        let peers = match_any_digit(digit);
        let lane_mask_lt = (1u64 << lane) - 1;
        let peer_count = (peers & lane_mask_lt).count_ones();
        if peer_count == 0 {
            histograms[wave][digit] = peers.count_ones();
        }
        barrier();
        let tid = local_id().x;
        let mut count = 0;
        if tid < DIGITS as u32 {
            for w in 0..WAVES as u32 {
                count += histograms[w][tid];
            }
        }
        let start = workgroup_exclusive_sum(count);
        if tid < DIGITS as u32 {
            let mut running = start;
            for w in 0..WAVES as u32 {
                let here = histograms[w][tid];
                histograms[w][tid] = running;
                running += here;
            }
        }
        barrier();
        histograms[wave][digit] + peer_count
    }

    #[workgroup(256)]
    #[wave(64)]
    fn block_sort(keys: &mut [u32]) {
        let exchange = Lds::<u32, 256>::new();
        let tid = local_id().x;
        let mut key = keys[tid];
        for begin_bit in (0..32).step_by(RADIX_BITS) {
            let rank = rank_keys(all_lanes(), key, Extractor { bit_start: begin_bit, num_bits: RADIX_BITS });
            exchange[rank] = key;
            barrier();
            key = exchange[tid];
            barrier();
        }
        keys[tid] = key;
    }
}

#[test]
fn sorts() {
    let mut x = numbers(256, u32::MAX);
    x[..40].copy_from_slice(&[7; 40]);
    let mut want = x.clone();
    want.sort_unstable();
    everywhere(|device| {
        let mut y = x.clone();
        block_sort.launch(device, Grid::x(1), (&mut y,)).unwrap();
        assert_eq!(y, want);
    });
}
