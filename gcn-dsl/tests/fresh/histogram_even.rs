//! A histogram of floats over bins of equal width: private counts in LDS, then atomics to memory.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats};

gcn_kernel! {
    #[workgroup(256)]
    fn histogram_even<const BINS: usize>(samples: &[f32], histogram: &mut [u32], lower: f32, upper: f32) {
        let smem = Lds::<u32, BINS>::new();
        for bin in (local_id().x..BINS as u32).step_by(256) {
            smem[bin] = 0;
        }
        barrier();
        let scale = BINS as f32 / (upper - lower);
        let stride = workgroup_size().x * 2;
        for i in (global_id().x..samples.len()).step_by(stride) {
            let sample = samples[i];
            if sample >= lower && sample < upper {
                let bin = ((sample - lower) * scale) as u32;
                smem.atomic(bin).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
            }
        }
        barrier();
        for bin in (local_id().x..BINS as u32).step_by(256) {
            if smem[bin] > 0 {
                histogram.atomic(bin).fetch_add(smem[bin], Scope::Agent, Ordering::Relaxed);
            }
        }
    }
}

#[test]
fn counts() {
    let x = floats(2000);
    everywhere(|device| {
        let mut bins = vec![0; 300];
        histogram_even::<300>.launch(device, Grid::x(2), (&x, &mut bins, -0.75, 0.5)).unwrap();
        let mut want = vec![0; 300];
        for x in x.iter().filter(|x| **x >= -0.75 && **x < 0.5) {
            want[((x + 0.75) * (300.0 / 1.25)) as usize] += 1;
        }
        assert_eq!(bins, want);
    });
}
