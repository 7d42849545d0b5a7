//! PyTorch: `batch_norm_collect_statistics_kernel`, Welford's with shuffles.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[device]
    struct WelfordData {
        mean: V<f32>,
        m2: V<f32>,
        nf: V<f32>,
    }

    #[device]
    impl WelfordData {
        fn reduce(self, data: V<f32>) -> WelfordData {
            let delta = data - self.mean;
            let new_nf = self.nf + 1.0;
            let new_mean = self.mean + delta / new_nf;
            let new_delta = data - new_mean;
            WelfordData { mean: new_mean, m2: self.m2 + delta * new_delta, nf: new_nf }
        }

        fn combine(a: WelfordData, b: WelfordData) -> WelfordData {
            if a.nf == 0.0 {
                return b;
            }
            if b.nf == 0.0 {
                return a;
            }
            let delta = b.mean - a.mean;
            let new_count = a.nf + b.nf;
            let nb_over_n = b.nf / new_count;
            WelfordData {
                mean: a.mean + delta * nb_over_n,
                m2: a.m2 + b.m2 + delta * delta * a.nf * nb_over_n,
                nf: new_count,
            }
        }

        fn warp_shfl_down(self, offset: u32) -> WelfordData {
            WelfordData {
                mean: shuffle_down(self.mean, offset),
                m2: shuffle_down(self.m2, offset),
                nf: shuffle_down(self.nf, offset),
            }
        }
    }

    #[workgroup(256)]
    #[wave(64)]
    fn batch_norm_stats(input: &[f32], save_mean: &mut [f32], save_invstd: &mut [f32], n: u32, c: u32, hw: u32, eps: f32) {
        let plane = workgroup_id().x;
        let tid = local_id().x;
        let mut acc = WelfordData { mean: 0.0, m2: 0.0, nf: 0.0 };
        for batch in 0..n {
            let mut x = tid;
            while x < hw {
                acc = acc.reduce(input[(batch * c + plane) * hw + x]);
                x += workgroup_size().x;
            }
        }
        let mut offset = 32;
        while offset > 0 {
            acc = WelfordData::combine(acc, acc.warp_shfl_down(offset));
            offset /= 2;
        }
        let shared = Lds::<[f32; 3], 4>::new();
        if lane_id() == 0 {
            let row = shared[wave_id()];
            (row[0], row[1], row[2]) = (acc.mean, acc.m2, acc.nf);
        }
        barrier();
        if tid == 0 {
            let mut total = WelfordData { mean: 0.0, m2: 0.0, nf: 0.0 };
            for w in 0..4 {
                let row = shared[w];
                total = WelfordData::combine(total, WelfordData { mean: row[0], m2: row[1], nf: row[2] });
            }
            save_mean[plane] = total.mean;
            save_invstd[plane] = 1.0 / (total.m2 / total.nf + eps).sqrt();
        }
    }
}

#[test]
fn statistics() {
    let (n, c, hw) = (3usize, 4usize, 300usize);
    let x = floats(n * c * hw);
    let (mut means, mut invs) = (Vec::new(), Vec::new());
    for p in 0..c {
        let plane: Vec<f64> =
            (0..n).flat_map(|b| x[(b * c + p) * hw..][..hw].iter().map(|x| f64::from(*x))).collect();
        let mean = plane.iter().sum::<f64>() / plane.len() as f64;
        let var = plane.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / plane.len() as f64;
        means.push(mean as f32);
        invs.push((1.0 / (var + 1e-5).sqrt()) as f32);
    }
    everywhere(|device| {
        let (mut m, mut s) = (vec![0.0; c], vec![0.0; c]);
        batch_norm_stats
            .launch(device, Grid::x(c as u32), (&x, &mut m, &mut s, n as u32, c as u32, hw as u32, 1e-5))
            .unwrap();
        assert_near(&m, &means, 1e-4);
        assert_near(&s, &invs, 1e-4);
    });
}
