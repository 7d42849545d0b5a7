//! PyTorch's fused AdamW: parameters in a struct, state in three slices.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct Adam {
        lr: f32,
        beta1: f32,
        beta2: f32,
        eps: f32,
        weight_decay: f32,
        step: i32,
        amsgrad: u32,
    }

    #[workgroup(256)]
    fn adamw(params: &mut [f32], grads: &[f32], exp_avg: &mut [f32], exp_avg_sq: &mut [f32], max_sq: &mut [f32], args: Adam) {
        let idx = global_id().x;
        if idx >= params.len() {
            return;
        }
        let bias_correction1 = 1.0 - args.beta1.powf(args.step as f32);
        let bias_correction2 = 1.0 - args.beta2.powf(args.step as f32);
        let grad = grads[idx];
        let mut param = params[idx];
        param -= args.lr * args.weight_decay * param;
        let m = exp_avg[idx] + (1.0 - args.beta1) * (grad - exp_avg[idx]);
        let v = args.beta2 * exp_avg_sq[idx] + (1.0 - args.beta2) * grad * grad;
        let step_size = args.lr / bias_correction1;
        let mut denom;
        if args.amsgrad != 0 {
            max_sq[idx] = max_sq[idx].max(v);
            denom = max_sq[idx].sqrt() / bias_correction2.sqrt();
        } else {
            denom = v.sqrt() / bias_correction2.sqrt();
        }
        denom += args.eps;
        params[idx] = param - step_size * m / denom;
        exp_avg[idx] = m;
        exp_avg_sq[idx] = v;
    }
}

#[test]
fn steps() {
    let n = 300;
    let g = floats(n);
    everywhere(|device| {
        for amsgrad in [0, 1] {
            let args =
                Adam { lr: 0.01, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.1, step: 3, amsgrad };
            let (mut p, mut m, mut v, mut s) =
                (vec![0.5f32; n], vec![0.1f32; n], vec![0.2f32; n], vec![0.15f32; n]);
            adamw.launch(device, Grid::x(2), (&mut p, &g, &mut m, &mut v, &mut s, args)).unwrap();
            let want: Vec<f32> = g
                .iter()
                .map(|g| {
                    let p = 0.5 - 0.01 * 0.1 * 0.5;
                    let m = 0.1 + (1.0 - 0.9) * (g - 0.1);
                    let v = 0.999 * 0.2 + (1.0 - 0.999) * g * g;
                    let top = if amsgrad == 1 { v.max(0.15) } else { v };
                    let denom = top.sqrt() / (1.0 - 0.999f32.powi(3)).sqrt() + 1e-8;
                    p - 0.01 / (1.0 - 0.9f32.powi(3)) * m / denom
                })
                .collect();
            assert_near(&p, &want, 1e-4);
        }
    });
}
