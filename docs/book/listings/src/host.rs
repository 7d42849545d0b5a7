//! Launching kernels from Rust.

use gcn_dsl::prelude::*;

use crate::Fault;
use crate::first::saxpy;

// ANCHOR: once
/// y = a * x + y on any device, with slices of the host.
///
/// # Errors
/// The kernel could not be built or run.
pub fn once(device: &Device, a: f32, x: &[f32], y: &mut [f32]) -> Result<(), Fault> {
    let groups = (y.len() as u32).div_ceil(256);
    saxpy.launch(device, Grid::x(groups), (a, x, y))?;
    Ok(())
}
// ANCHOR_END: once

// ANCHOR: often
/// The same `times` times, with data and code that stay on the device.
///
/// # Errors
/// The kernel could not be built or run.
pub fn often(device: &Device, times: u32, a: f32, x: &[f32], y: &[f32]) -> Result<Vec<f32>, Fault> {
    let kernel = device.load(&saxpy.build(device.target())?)?; // built and loaded once
    let (x, mut y) = (device.upload(x)?, device.upload(y)?);
    let stream = device.stream()?;
    let groups = (y.len() as u32).div_ceil(256);
    for _ in 0..times {
        stream.launch(&kernel, Grid::x(groups), (a, &x, &mut y))?; // does not wait
    }
    Ok(y.to_vec()?) // waits
}
// ANCHOR_END: often

/// The code object that the programs in C++ and Python load.
///
/// # Errors
/// The kernel could not be built.
// ANCHOR: file
pub fn code_object(target: Target) -> Result<Vec<u8>, Fault> {
    Ok(saxpy.build(target)?.code_object().to_vec())
}
// ANCHOR_END: file

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_and_often() {
        let device = Device::simulator(Target::GFX942);
        let (x, mut y) = (vec![1.0; 1000], vec![2.0; 1000]);
        once(&device, 3.0, &x, &mut y).unwrap();
        assert!(y.iter().all(|y| *y == 5.0));
        let y = often(&device, 3, 2.0, &x, &y).unwrap();
        assert!(y.iter().all(|y| *y == 11.0));
    }
}
