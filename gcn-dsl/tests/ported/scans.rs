//! Scans and compaction.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    /// Inclusive sums that restart where a flag is set, by the method of Hillis and Steele.
    #[workgroup(256)]
    fn segmented_scan(x: &[u32], flags: &[u32], y: &mut [u32]) {
        let values = Lds::<u32, 256>::new();
        let heads = Lds::<u32, 256>::new();
        let t = local_id().x;
        let i = global_id().x;
        values[t] = x[i];
        heads[t] = flags[i];
        barrier();
        let mut d = 1;
        while d < 256 {
            let mut v = values[t];
            let mut f = heads[t];
            if t >= d {
                if f == 0 {
                    v += values[t - d];
                    f = heads[t - d];
                }
            }
            barrier();
            values[t] = v;
            heads[t] = f;
            barrier();
            d *= 2;
        }
        y[i] = values[t];
    }

    /// The elements that are not zero, moved together in any order.
    #[workgroup(64)]
    #[wave(64)]
    fn compact(x: &[u32], out: &mut [u32], count: &mut [u32]) {
        let i = global_id().x;
        let keep = i < x.len() && x[i] != 0;
        let mask = ballot(keep);
        let mut base = 0;
        if is_first_lane() {
            base = count.atomic(0).fetch_add(mask.count_ones(), Scope::Agent, Ordering::Relaxed);
        }
        let base = read_first_lane(base);
        if keep {
            out[base + mbcnt(mask)] = x[i];
        }
    }
}

#[test]
fn segments() {
    let (x, flags) =
        (numbers(512, 100), numbers(512, 7).iter().map(|f| u32::from(*f == 0)).collect::<Vec<_>>());
    everywhere(|device| {
        let mut y = vec![0; 512];
        segmented_scan.launch(device, Grid::x(2), (&x, &flags, &mut y)).unwrap();
        for block in 0..2 {
            let mut sum = 0;
            for i in block * 256..(block + 1) * 256 {
                sum = if flags[i] == 1 { x[i] } else { sum + x[i] };
                assert_eq!(y[i], sum);
            }
        }
    });
}

#[test]
fn compaction() {
    let x = numbers(150, 3);
    everywhere(|device| {
        let (mut out, mut count) = (vec![0; 192], vec![0]);
        compact.launch(device, Grid::x(3), (&x, &mut out, &mut count)).unwrap();
        let mut want: Vec<u32> = x.iter().copied().filter(|x| *x != 0).collect();
        assert_eq!(count[0] as usize, want.len());
        let mut got = out[..want.len()].to_vec();
        want.sort_unstable();
        got.sort_unstable();
        assert_eq!(got, want);
    });
}
