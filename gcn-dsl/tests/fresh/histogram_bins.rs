//! CUB: `AgentHistogram` with privatised bins, several channels and a transform of samples.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

const BINS: usize = 64;
const CHANNELS: usize = 3;

gcn_kernel! {
    #[device]
    struct ScaleTransform {
        max: u32,
        min: u32,
        scale: u32,
    }

    #[device]
    impl ScaleTransform {
        fn bin_select(&self, sample: V<u32>) -> Option<V<u32>> {
            if sample >= self.min && sample < self.max {
                Some((sample - self.min) / self.scale)
            } else {
                None
            }
        }
    }

    #[workgroup(256)]
    fn histogram_bins(samples: &[u8], out: &mut [u32], pixels: u32, transform: (u32, u32, u32)) {
        let bins = Lds::<[u32; BINS], CHANNELS>::new();
        let op = ScaleTransform { min: transform.0, max: transform.1, scale: transform.2 };
        let tid = local_id().x;
        #[unroll]
        for ch in 0..CHANNELS {
            for b in (tid..BINS as u32).step_by(256) {
                bins[ch as u32][b] = 0;
            }
        }
        barrier();
        let mut pixel = global_id().x;
        while pixel < pixels {
            #[unroll]
            for ch in 0..CHANNELS {
                let sample = samples[pixel * 4 + ch as u32] as u32;
                if let Some(bin) = op.bin_select(sample) {
                    bins[ch as u32].atomic(bin).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
                }
            }
            pixel += 512;
        }
        barrier();
        for i in (tid..(BINS * CHANNELS) as u32).step_by(256) {
            let count = bins[i / BINS as u32][i % BINS as u32];
            if count > 0 {
                out.atomic(i).fetch_add(count, Scope::Agent, Ordering::Relaxed);
            }
        }
    }
}

#[test]
fn counts() {
    let samples: Vec<u8> = numbers(4 * 3000, 256).into_iter().map(|x| x as u8).collect();
    let mut want = vec![0; BINS * CHANNELS];
    for p in samples.chunks(4) {
        for ch in 0..CHANNELS {
            let s = u32::from(p[ch]);
            if (10..202).contains(&s) {
                want[ch * BINS + (s as usize - 10) / 3] += 1;
            }
        }
    }
    everywhere(|device| {
        let mut out = vec![0; BINS * CHANNELS];
        histogram_bins.launch(device, Grid::x(2), (&samples, &mut out, 3000, (10, 202, 3))).unwrap();
        assert_eq!(out, want);
    });
}
