//! Kernels in code objects that clang generated.
#![allow(unsafe_code, reason = "the kernels are those of `data/objects`")]

use std::io::Read;

use gcn_dsl::prelude::*;
use gcn_dsl::{LaunchError, LoadedObject};

/// `weighted(float a, uchar s, uint n, const float *x, float *y)`: y = a * x + s. It reads the workgroup's size from a
/// hidden argument.
fn weighted() -> Vec<u8> {
    let zipped = include_bytes!("../data/objects/weighted.gfx90a.hsaco.gz");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&zipped[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

fn loaded(device: &Device) -> Result<LoadedObject, LaunchError> {
    // SAFETY: the kernel accesses elements of its slices below `n`.
    unsafe { device.load_object(&weighted()) }
}

#[test]
fn a_kernel_of_clang_runs_with_typed_arguments() {
    let x: Vec<f32> = (0..300u16).map(f32::from).collect();
    let expected: Vec<f32> =
        x.iter().enumerate().map(|(i, x)| if i < 250 { 0.5 * x + 7.0 } else { 1.0 }).collect();
    for device in [Device::simulator(Target::GFX90A), Device::timed_simulator(Target::GFX90A, 1700)] {
        let object = loaded(&device).unwrap();
        assert_eq!(object.kernels().collect::<Vec<_>>(), ["weighted"]);
        let from = device.upload(&x).unwrap();
        let mut to = device.upload(&[1.0f32; 300]).unwrap();
        let kernel = object.kernel::<(f32, u8, u32, &DeviceBuffer<f32>, DevicePtr<f32>)>("weighted").unwrap();
        let stats = kernel.launch(Grid::x(3), [128, 1, 1], (0.5, 7, 250, &from, to.as_mut_ptr())).unwrap();
        assert_eq!(stats.workgroups, 3);
        assert!(stats.wave_instructions > 0);
        assert_eq!(to.to_vec().unwrap(), expected);
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let device = Device::simulator(Target::GFX90A);
    let object = loaded(&device).unwrap();
    let said = [
        object.kernel::<()>("weight").map(drop),
        object.kernel::<(f32, u8)>("weighted").map(drop),
        object.kernel::<(f32, u32, u32, DevicePtr<f32>, DevicePtr<f32>)>("weighted").map(drop),
        object.kernel::<(f32, u8, u32, u64, DevicePtr<f32>)>("weighted").map(drop),
        loaded(&Device::simulator(Target::GFX942)).map(drop),
        // SAFETY: nothing is loaded.
        unsafe { device.load_object(b"nothing") }.map(drop),
    ]
    .map(|result| result.unwrap_err().to_string());
    for (said, part) in said.iter().zip([
        "weighted",
        "takes 5 arguments, 2 given",
        "argument 2 of 5: the code object takes a value, 1 bytes long, and the type given is a value, 4 bytes long",
        "argument 4 of 5: the code object takes a pointer, and the type given is a value, 8 bytes long",
        "gfx90a, the device is a gfx942",
        "the code object cannot be loaded",
    ]) {
        assert!(said.contains(part), "{said}");
    }
}
