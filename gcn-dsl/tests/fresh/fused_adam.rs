//! PyTorch, fused_adam_utils.cuh: adam_math.
use gcn_dsl::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdamMode {
    Original,
    AdamW,
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct AdamArgs {
        lr: f64,
        beta1: f64,
        beta2: f64,
        weight_decay: f64,
        eps: f64,
        maximize: u32,
    }

    #[device]
    fn lerp(start: V<f32>, end: V<f32>, weight: f32) -> V<f32> {
        // The lerp of ATen, which is exact at both ends
        if weight.abs() < 0.5 {
            start + weight * (end - start)
        } else {
            end - (end - start) * (1.0 - weight)
        }
    }

    #[workgroup(256)]
    pub fn fused_adam<const AMSGRAD: bool>(
        #[host] mode: AdamMode,
        params: &mut [f32], grads: &mut [f32], exp_avgs: &mut [f32], exp_avg_sqs: &mut [f32], max_exp_avg_sqs: &mut [f32],
        step_count: f32, grad_scale: *const f32, found_inf: *const f32, args: AdamArgs,
    ) {
        if !found_inf.is_null() && found_inf[0] == 1.0 {
            return;
        }
        let i = global_id().x;
        if i >= params.len() {
            return;
        }
        // Load values.
        let mut param = params[i];
        let mut grad = grads[i];
        if !grad_scale.is_null() {
            grad /= unsafe { *grad_scale };
        }
        let grad_to_store = grad;
        if args.maximize != 0 {
            grad = -grad;
        }
        let mut exp_avg = exp_avgs[i];
        let mut exp_avg_sq = exp_avg_sqs[i];
        let mut max_exp_avg_sq = 0.0;
        if AMSGRAD {
            max_exp_avg_sq = max_exp_avg_sqs[i];
        }
        // Update param, grad, 1st and 2nd order momentum.
        if args.weight_decay != 0.0 {
            match mode {
                AdamMode::Original => grad += param * args.weight_decay as f32,
                AdamMode::AdamW => param -= args.lr as f32 * args.weight_decay as f32 * param,
            }
        }
        exp_avg = lerp(exp_avg, grad, (1.0 - args.beta1) as f32);
        exp_avg_sq = lerp(exp_avg_sq, grad * grad, (1.0 - args.beta2) as f32);

        let bias_correction1 = 1.0 - args.beta1.powf(step_count as f64);
        let step_size = (args.lr / bias_correction1) as f32;
        let bias_correction2 = 1.0 - args.beta2.powf(step_count as f64);
        let bias_correction2_sqrt = bias_correction2.sqrt() as f32;

        let denom;
        if AMSGRAD {
            max_exp_avg_sq = max_exp_avg_sq.max(exp_avg_sq);
            denom = max_exp_avg_sq.sqrt() / bias_correction2_sqrt + args.eps as f32;
        } else {
            denom = exp_avg_sq.sqrt() / bias_correction2_sqrt + args.eps as f32;
        }
        param -= step_size * exp_avg / denom;

        // Store results.
        params[i] = param;
        if !grad_scale.is_null() {
            grads[i] = grad_to_store;
        }
        exp_avgs[i] = exp_avg;
        exp_avg_sqs[i] = exp_avg_sq;
        if AMSGRAD {
            max_exp_avg_sqs[i] = max_exp_avg_sq;
        }
    }
}

#[test]
fn matches_host() {
    let n = 500usize;
    let p0: Vec<f32> = (0..n).map(|i| (i as f32 - 250.0) / 100.0).collect();
    let g0: Vec<f32> = (0..n).map(|i| ((i * 37 % 91) as f32 - 45.0) / 20.0).collect();
    let m0: Vec<f32> = (0..n).map(|i| ((i * 11 % 31) as f32 - 15.0) / 20.0).collect();
    let v0: Vec<f32> = (0..n).map(|i| (i * 13 % 29) as f32 / 20.0).collect();
    let device = Device::simulator(Target::GFX942);
    let flag = device.upload(&[0.0f32]).unwrap();
    let scale = device.upload(&[4.0f32]).unwrap();
    for (mode, with) in [(AdamMode::Original, false), (AdamMode::AdamW, true)] {
        let args = AdamArgs { lr: 1e-2, beta1: 0.9, beta2: 0.999, weight_decay: 0.1, eps: 1e-8, maximize: 0 };
        let (mut p, mut g, mut m, mut v, mut x) =
            (p0.clone(), g0.clone(), m0.clone(), v0.clone(), v0.clone());
        let (sp, fp) =
            if with { (scale.as_ptr(), flag.as_ptr()) } else { (DevicePtr::null(), DevicePtr::null()) };
        let kernel = fused_adam::<true> { mode };
        kernel
            .launch(&device, Grid::x(2), (&mut p, &mut g, &mut m, &mut v, &mut x, 3.0, sp, fp, args))
            .unwrap();
        for i in 0..n {
            let mut gr = g0[i] as f64 / if with { 4.0 } else { 1.0 };
            let mut pr = p0[i] as f64;
            match mode {
                AdamMode::Original => gr += pr * 0.1,
                AdamMode::AdamW => pr -= 1e-2 * 0.1 * pr,
            }
            let mm = 0.9 * m0[i] as f64 + 0.1 * gr;
            let vv = 0.999 * v0[i] as f64 + 0.001 * gr * gr;
            let xx = vv.max(v0[i] as f64);
            let den = xx.sqrt() / (1.0 - 0.999f64.powi(3)).sqrt() + 1e-8;
            pr -= 1e-2 / (1.0 - 0.9f64.powi(3)) * mm / den;
            assert!((p[i] as f64 - pr).abs() < 2e-4 * (1.0 + pr.abs()), "{i} {} {pr}", p[i]);
            assert!(
                (m[i] as f64 - mm).abs() < 1e-5
                    && (v[i] as f64 - vv).abs() < 1e-5
                    && (x[i] as f64 - xx).abs() < 1e-5
            );
        }
    }
}
