//! PyTorch: `ctc_loss_log_alpha_gpu_kernel`.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats};

gcn_kernel! {
    #[device]
    fn get_target_prime(target: &[u32], offset: V<u32>, idx: V<u32>, blank: u32) -> V<u32> {
        if idx % 2 == 0 {
            blank
        } else {
            target[offset + idx / 2]
        }
    }

    #[workgroup(64)]
    fn ctc_alpha(
        log_alpha: &mut [f32], log_probs: &[f32], input_length: u32, targets: &[u32], target_length: u32,
        neg_log_likelihood: &mut [f32], num_labels: u32, blank: u32,
    ) {
        let neginf = f32::NEG_INFINITY;
        let s = local_id().x;
        let width = 2 * target_length + 1;
        let la = match s {
            0 => log_probs[blank],
            1 if target_length > 0 => log_probs[get_target_prime(targets, 0, 1, blank)],
            _ => neginf,
        };
        if s < width {
            log_alpha[s] = la;
        }
        let mut current_char = blank;
        let mut have_three = false;
        if s < width {
            current_char = get_target_prime(targets, 0, s, blank);
            have_three = s > 1 && get_target_prime(targets, 0, s - 2, blank) != current_char;
        }
        for t in 1..input_length {
            barrier();
            if s < width {
                let la1 = log_alpha[width * (t - 1) + s];
                let mut lamax = la1;
                let mut la2 = neginf;
                let mut la3 = neginf;
                if s > 0 {
                    la2 = log_alpha[width * (t - 1) + s - 1];
                    lamax = lamax.max(la2);
                }
                if have_three {
                    la3 = log_alpha[width * (t - 1) + s - 2];
                    if la3 > lamax {
                        lamax = la3;
                    }
                }
                if lamax == neginf {
                    lamax = 0.0;
                }
                log_alpha[width * t + s] =
                    ((la1 - lamax).exp() + (la2 - lamax).exp() + (la3 - lamax).exp()).ln() + lamax + log_probs[t * num_labels + current_char];
            }
        }
        barrier();
        if s == 0 {
            let l1 = log_alpha[width * (input_length - 1) + target_length * 2];
            let l2 = if target_length > 0 { log_alpha[width * (input_length - 1) + target_length * 2 - 1] } else { neginf };
            let m = l1.max(l2);
            let m = if m == neginf { 0.0 } else { m };
            neg_log_likelihood[0] = -(((l1 - m).exp() + (l2 - m).exp()).ln() + m);
        }
    }
}

#[test]
fn likelihood() {
    let (t, labels) = (9usize, 5usize);
    let x = floats(t * labels);
    let log_probs: Vec<f32> = x
        .chunks(labels)
        .flat_map(|row| {
            let sum: f32 = row.iter().map(|x| x.exp()).sum();
            row.iter().map(move |x| x - sum.ln())
        })
        .collect();
    let target = [2u32, 2, 4];
    // By enumeration of all paths.
    let mut total = 0f64;
    for path in 0..labels.pow(t as u32) {
        let at = |i: usize| path / labels.pow(i as u32) % labels;
        let mut collapsed = Vec::new();
        for i in 0..t {
            if at(i) != 0 && (i == 0 || at(i) != at(i - 1)) {
                collapsed.push(at(i) as u32);
            }
        }
        if collapsed == target {
            total += (0..t).map(|i| f64::from(log_probs[i * labels + at(i)])).sum::<f64>().exp();
        }
    }
    everywhere(|device| {
        let (mut alpha, mut nll) = (vec![0.0; t * 7], vec![0.0]);
        ctc_alpha
            .launch(
                device,
                Grid::x(1),
                (&mut alpha, &log_probs, t as u32, &target, 3, &mut nll, labels as u32, 0),
            )
            .unwrap();
        assert_near(&nll, &[-total.ln() as f32], 1e-4);
    });
}
