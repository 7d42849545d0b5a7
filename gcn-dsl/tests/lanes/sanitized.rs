//! Sanitizers report nothing if undefined bits are not selected, or belong to lanes that are masked off.

use gcn_dsl::LaunchError;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Options, Sanitize};

gcn_kernel! {
    #[workgroup(64)]
    fn partial_sum(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i < 10 {
            y[i] = wave_sum(x[i]);
        }
    }

    #[workgroup(40)]
    fn partial_group(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        let s = workgroup_sum(x[i]);
        let m = wave_max(x[i]);
        let t = wave_exclusive_sum(x[i]);
        let u = shuffle_xor(x[i], 1);
        y[i] = s + m + t + u;
    }

    /// Only some lanes have an element.
    #[workgroup(64)]
    fn unselected(x: &[f32], y: &mut [f32], n: u32) {
        let i = global_id().x;
        let l = Lds::<f32, 64>::new();
        let own = Private::<f32, 8>::new();
        let registers = Private::<f32, 2>::new();
        if i < n {
            l[i] = x[i];
            own[i & 7] = x[i];
            registers[1] = x[i];
        }
        barrier();
        let mut w: V<f32> = 0.0;
        if i < n {
            w = l[i] * 2.0;
        }
        y[i] = w + if i < n { l[i] } else { 1.0 };
        y[i] += select(i < n, own[i & 7], 0.0);
        y[i] += select(i < n, registers[1] * 2.0, 0.0);
        y[i] += wave_max(select(i < n, registers[1].sqrt().exp(), 0.0));
        let mut best: V<f32> = 0.0;
        for k in 0..8 {
            if k < n {
                best = best.max(l[k]);
            }
        }
        y[i] += best;
    }

    #[workgroup(256)]
    fn two_stage(x: &[f32], y: &mut [f32]) {
        let l = Lds::<f32, 4>::new();
        let v = wave_sum(x[global_id().x]);
        if lane_id() == 0 {
            l[local_id().x / 64] = v;
        }
        barrier();
        let mut t = if lane_id() < 4 { l[lane_id()] } else { 0.0 };
        t = wave_sum(t);
        let r = l[lane_id() & 3];
        if local_id().x < 4 {
            let z = wave_sum(l[local_id().x]);
            y[local_id().x] = z + r - t;
            y[local_id().x] += shuffle_xor(r, 1);
        }
    }
}

gcn_kernel! {
    /// Here the undefined bits do matter.
    #[workgroup(64)]
    fn unwritten(y: &mut [f32], n: u32) {
        let i = global_id().x;
        let l = Lds::<f32, 64>::new();
        if i < n {
            l[i] = 1.0;
        }
        barrier();
        y[i] = l[i];
    }
}

fn sanitized(run: impl Fn(&Device) -> Result<(), String>) {
    for target in [Target::GFX900, Target::GFX90A, Target::GFX942] {
        let options = Options { sanitize: Sanitize::all(), ..Options::strict() };
        let result = run(&Device::simulator_with(target, options));
        assert_eq!(result, Ok(()), "{target}");
    }
}

fn said<T>(result: Result<T, LaunchError>) -> Result<(), String> {
    result.map(|_| ()).map_err(|e| e.to_string())
}

#[test]
fn lanes_that_are_masked_off_are_no_uninitialised_reads() {
    let x = [1.5f32; 256];
    sanitized(|device| said(partial_sum.launch(device, Grid::x(1), (&x[..], &mut [0.0; 64][..]))));
    sanitized(|device| said(partial_group.launch(device, Grid::x(1), (&x[..], &mut [0.0; 64][..]))));
    sanitized(|device| said(two_stage.launch(device, Grid::x(1), (&x[..], &mut [0.0; 256][..]))));
}

#[test]
fn operands_that_are_not_selected_are_no_uninitialised_reads() {
    let x = [1.5f32; 64];
    sanitized(|device| said(unselected.launch(device, Grid::x(1), (&x[..], &mut [0.0; 64][..], 20))));
}

#[test]
fn what_matters_is_found() {
    let options = Options { sanitize: Sanitize::all(), ..Options::strict() };
    let device = Device::simulator_with(Target::GFX90A, options);
    let error = unwritten.launch(&device, Grid::x(1), (&mut [0.0; 64][..], 20)).unwrap_err();
    assert!(error.to_string().contains("sanitized.rs"), "{error}");
}
