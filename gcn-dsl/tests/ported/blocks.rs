//! Quantised matrices, as llama.cpp stores them.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats, near, numbers};

gcn_kernel! {
    /// 32 weights of 4 bits with one scale.
    #[device]
    #[repr(C)]
    pub struct BlockQ4 {
        d: f16,
        qs: [u8; 16],
    }

    /// `out = x * y`, with one wave per row.
    #[workgroup(64)]
    #[wave(64)]
    fn mul_mat_vec_q4(x: &[BlockQ4], y: &[f32], out: &mut [f32], blocks: u32) {
        let row = workgroup_id().x;
        let mut sum = 0.0;
        for b in (lane_id()..blocks).step_by(64) {
            let block = x[row * blocks + b];
            let d = block.d as f32;
            for j in 0..16 {
                let q = x[row * blocks + b].qs[j];
                let lo = (q & 0xf) as f32 - 8.0;
                let hi = (q >> 4) as f32 - 8.0;
                sum += d * (lo * y[b * 32 + j] + hi * y[b * 32 + j + 16]);
            }
        }
        let total = wave_sum(sum);
        if lane_id() == 0 {
            out[row] = total;
        }
    }
}

#[test]
fn q4_0_times_vector() {
    const ROWS: usize = 3;
    const BLOCKS: usize = 70;
    let bytes = numbers(ROWS * BLOCKS * 16, 256);
    let x: Vec<BlockQ4> = (0..ROWS * BLOCKS)
        .map(|i| BlockQ4 {
            d: f16::from_f32(0.25 + (i % 5) as f32 / 8.0),
            qs: std::array::from_fn(|j| bytes[i * 16 + j] as u8),
        })
        .collect();
    let y = floats(BLOCKS * 32);
    everywhere(|device| {
        let mut out = vec![0.0; ROWS];
        let args = (x.as_slice(), y.as_slice(), out.as_mut_slice(), BLOCKS as u32);
        mul_mat_vec_q4.launch(device, Grid::x(ROWS as u32), args).unwrap();
        for (row, &got) in out.iter().enumerate() {
            let mut want = 0.0;
            for b in 0..BLOCKS {
                let block = &x[row * BLOCKS + b];
                for j in 0..16 {
                    let q = block.qs[j];
                    let (lo, hi) = (f32::from(q & 15) - 8.0, f32::from(q >> 4) - 8.0);
                    want += block.d.to_f32() * (lo * y[b * 32 + j] + hi * y[b * 32 + j + 16]);
                }
            }
            assert!(near(got, want, 1e-4), "{got} {want}");
        }
    });
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    #[derive(PartialEq, Default)]
    pub struct Particle {
        pos: [f32; 3],
        mass: f32,
        vel: [f32; 3],
        id: u32,
    }

    #[device]
    #[repr(C)]
    pub struct Step {
        dt: f32,
        gravity: f32,
        n: u32,
    }

    /// One step of Euler's method.
    #[workgroup(64)]
    fn integrate(p: &mut [Particle], step: Step) {
        let i = global_id().x;
        if i >= step.n {
            return;
        }
        let mut q = p[i];
        q.vel[1] -= step.gravity * step.dt;
        #[unroll]
        for k in 0..3 {
            q.pos[k] += q.vel[k] * step.dt;
        }
        if q.pos[1] < 0.0 {
            q.pos[1] = 0.0;
            q.vel[1] = -q.vel[1] * 0.5;
        }
        p[i] = q;
        p[i].id += 1;
    }
}

#[test]
fn particles() {
    let xs = floats(7 * 100);
    let start: Vec<Particle> = (0..100)
        .map(|i| Particle {
            pos: [xs[7 * i], xs[7 * i + 1], xs[7 * i + 2]],
            mass: 1.0 + xs[7 * i + 3].abs(),
            vel: [xs[7 * i + 4], xs[7 * i + 5], xs[7 * i + 6]],
            id: i as u32,
        })
        .collect();
    let step = Step { dt: 0.25, gravity: 9.5, n: 90 };
    let mut want = start.clone();
    for q in &mut want[..90] {
        q.vel[1] -= step.gravity * step.dt;
        for k in 0..3 {
            q.pos[k] += q.vel[k] * step.dt;
        }
        if q.pos[1] < 0.0 {
            q.pos[1] = 0.0;
            q.vel[1] = -q.vel[1] * 0.5;
        }
        q.id += 1;
    }
    everywhere(|device| {
        let mut p = start.clone();
        integrate.launch(device, Grid::x(2), (&mut p, step)).unwrap();
        assert_eq!(p, want);
    });
}
