//! Errors lead to the errors that they wrap: `source()` returns these with their types.

use std::error::Error;

use gcn_dsl::lang::TraceError;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{MemoryError, SimError};
use gcn_emit::encode::{EncodeFault, OperandFault};
use gcn_emit::text::{ParseFault, parse_inst};

/// The first error of the type `E` among the errors that an error wraps.
fn wrapped<E: Error + 'static>(error: &dyn Error) -> Option<&E> {
    let source = error.source()?;
    source.downcast_ref().or_else(|| wrapped(source))
}

gcn_kernel! {
    #[device]
    fn there(n: u32) -> u32 {
        back(n)
    }

    #[device]
    fn back(n: u32) -> u32 {
        there(n)
    }

    #[workgroup(64)]
    fn recursive(n: u32, y: &mut [u32]) {
        y[global_id().x] = there(n);
    }

    #[workgroup(64)]
    fn constant(n: u32, y: &mut [u32]) {
        y[global_id().x] = n;
    }

    #[workgroup(64)]
    fn copy(x: *const u32, y: &mut [u32]) {
        y[global_id().x] = x[0];
    }
}

#[test]
fn of_a_kernel_that_cannot_be_built() {
    let error = recursive.build(Target::GFX942).unwrap_err();
    assert!(wrapped::<TraceError>(&error).is_some(), "{error:?}");
    let mut y = [0; 64];
    let error = recursive.launch(&Device::simulator(Target::GFX942), Grid::x(1), (1, &mut y)).unwrap_err();
    assert!(wrapped::<TraceError>(&error).is_some(), "{error:?}");
}

#[test]
fn of_a_launch_and_of_device_memory() {
    let device = Device::simulator(Target::GFX942);
    let (nowhere, mut y) = (DevicePtr::<u32>::from_address(0), [0; 64]);
    let error = copy.launch(&device, Grid::x(1), (nowhere, &mut y)).unwrap_err();
    assert!(wrapped::<Box<SimError>>(&error).is_some(), "{error:?}");
    let error = device.read(nowhere, 1).unwrap_err();
    assert!(wrapped::<MemoryError>(&error).is_some(), "{error:?}");
}

#[test]
fn a_kernel_is_launched_with_its_own_code() {
    let target = Target::GFX942;
    let (device, mut y) = (Device::simulator(target), [7; 64]);
    let built = constant.build(target).unwrap();
    let nowhere = DevicePtr::<u32>::from_address(0);
    let error = device.launch(&copy, &built.clone().into_any(), Grid::x(1), (nowhere, &mut y)).unwrap_err();
    let text = "kernel `copy` cannot be launched with the code of `constant`: build it, `copy.build(target)`";
    assert_eq!(error.to_string(), text);
    device.launch(&constant, &built, Grid::x(1), (1, &mut y)).unwrap();
    assert_eq!(y, [1; 64]);
}

#[test]
fn of_assembly() {
    let error = parse_inst("s_load_dwordx2 s[5:6], s[0:1], 0x0", Target::GFX942).unwrap_err();
    assert!(wrapped::<ParseFault>(&error).is_some(), "{error:?}");
    assert!(wrapped::<EncodeFault>(&error).is_some(), "{error:?}");
    assert!(matches!(wrapped(&error), Some(OperandFault::Alignment { align: 2 })), "{error:?}");
}

gcn_kernel! {
    #[workgroup(64)]
    fn three_doubles(x: &[f64], y: &mut [f64]) {
        let v = x.load_vector::<3>(3 * global_id().x);
        y[global_id().x] = v.get(0);
    }

    #[workgroup(64)]
    fn hinted_doubles(x: &[f64], y: &mut [f64]) {
        let v = x.load_vector_with::<3>(3 * global_id().x, Cache::Streaming);
        y[global_id().x] = v.get(0);
    }

    #[workgroup(64)]
    #[max_registers(vgpr = 3, agpr = 0)]
    fn starved(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let v = x.load_vector::<4>(4 * i);
        y[i] = v.get(0) * v.get(1) + v.get(2) * v.get(3);
    }
}

#[test]
fn of_widths_that_no_instruction_moves() {
    let of_single = three_doubles.build(Target::GFX942).unwrap_err().to_string();
    let hinted = hinted_doubles.build(Target::GFX942).unwrap_err().to_string();
    for text in [of_single, hinted] {
        for part in ["errors.rs", "3 `f64` is 24 bytes", "moves 1, 2 elements"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn of_a_limit_of_registers_that_is_too_small() {
    let text = starved.build(Target::GFX906).map(|_| ()).unwrap_err().to_string();
    for part in [
        "`starved`",
        "errors.rs:101",
        "takes 4 consecutive VGPRs, but only 3 are available",
        "`#[max_registers]`",
        "allow more",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('%') && !text.contains("block"), "{text}");
}
