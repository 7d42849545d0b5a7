//! Reduced random programs that did not build or gave a wrong result on RDNA.

use gcn_dsl::BuildOptions;
use gcn_dsl::prelude::*;

use super::run;

gcn_kernel! {
    /// An SGPR and two literals for one instruction, which may read only two of the three.
    #[workgroup(64)]
    fn two_bounds(x: &[f32], y: &mut [f32]) {
        y[global_id().x] = x.uniform(0u32).min(15.625f32).min(f32::from_bits(0xdf24_4a88));
    }

    /// A selection between an SGPR and a literal, by a constant mask.
    #[workgroup(64)]
    fn constant_mask(count: u32, out: &mut [u32]) {
        let chosen: V<bool> = false;
        let mut taken: V<u32> = 5;
        if 0i32 != splat(0i32).wrapping_shr(select(chosen, 33554432u32, count)) {
            cold_path();
            taken = 7;
        }
        out[global_id().x] = taken;
    }

    /// Several sign changes, which are folded into each instruction that reads the value.
    #[workgroup(64)]
    fn signs(out: &mut [u8]) {
        let mut is_zero: V<bool> = false;
        let mut x: V<u32> = 0;
        if splat(true) {
            cold_path();
            for _ in 0u32..4u32 {
                is_zero = 0u32 == select(is_zero, x, 0u32);
                x ^= 0x8000_0000;
            }
        }
        out[global_id().x] = is_zero as u8;
    }

    /// A constant that is needed in lanes other than those for which it was first defined.
    #[workgroup(64)]
    fn of_other_lanes(out: &mut [f32]) {
        let x: V<f32> = 116.5;
        let y: V<f32>;
        if 0.0f32 != splat(f32::from_bits(0x1)) {
            y = 0.0;
        } else {
            y = x.mul_add(55.375f32, x);
        }
        out[global_id().x] = x;
        out[global_id().x + 64] = y;
    }

    /// A loop reads the value of a variable, and the last statement of the loop writes the variable.
    #[workgroup(64)]
    fn last_in_a_loop(step: f32, out: &mut [f32]) {
        let mut x: V<f32> = 1.0;
        let before = x;
        for _ in 0u32..4u32 {
            x = before.mul_add(step, before);
        }
        out[global_id().x] = x;
    }

    /// The same in a loop without a condition.
    #[workgroup(64)]
    fn last_in_an_endless_loop(step: f32, out: &mut [f32]) {
        let mut x: V<f32> = step;
        let before = x;
        let mut count: V<u32> = 0;
        loop {
            count += 1;
            if count > 4u32 {
                break;
            }
            x -= before;
        }
        out[global_id().x] = x;
    }
}

#[test]
fn programs_that_were_found_run_everywhere() {
    for (target, wave) in run::gfx9().into_iter().chain(run::rdna()) {
        let options = BuildOptions { wave: Some(wave), ..BuildOptions::default() };
        let device = Device::simulator(target);
        let mut y = [0.0; 64];
        let built = two_bounds.build_with(target, &options).unwrap();
        device.launch(&two_bounds, &built, Grid::x(1), (&[1.0], &mut y)).unwrap();
        assert_eq!(y, [f32::from_bits(0xdf24_4a88); 64], "{target}");
        let mut out = [0; 64];
        let built = constant_mask.build_with(target, &options).unwrap();
        device.launch(&constant_mask, &built, Grid::x(1), (3, &mut out)).unwrap();
        assert_eq!(out, [5; 64], "{target}");
        let mut out = [7; 64];
        let built = signs.build_with(target, &options).unwrap();
        device.launch(&signs, &built, Grid::x(1), (&mut out,)).unwrap();
        assert_eq!(out, [host_signs(); 64], "{target}");
        let mut out = [7.0; 128];
        let built = of_other_lanes.build_with(target, &options).unwrap();
        device.launch(&of_other_lanes, &built, Grid::x(1), (&mut out,)).unwrap();
        assert_eq!(out[..64], [116.5; 64], "{target}");
        let mut out = [7.0; 64];
        let built = last_in_a_loop.build_with(target, &options).unwrap();
        device.launch(&last_in_a_loop, &built, Grid::x(1), (2.0, &mut out)).unwrap();
        assert_eq!(out, [3.0; 64], "{target}");
        let mut out = [7.0; 64];
        let built = last_in_an_endless_loop.build_with(target, &options).unwrap();
        device.launch(&last_in_an_endless_loop, &built, Grid::x(1), (2.0, &mut out)).unwrap();
        assert_eq!(out, [-6.0; 64], "{target}");
    }
}

fn host_signs() -> u8 {
    let (mut is_zero, mut x) = (false, 0u32);
    for _ in 0..4 {
        is_zero = 0 == if is_zero { x } else { 0 };
        x ^= 0x8000_0000;
    }
    u8::from(is_zero)
}
