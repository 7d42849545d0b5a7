//! Launching kernels from Rust.

use std::time::Duration;

use gcn_dsl::prelude::*;

use crate::first::saxpy;
use crate::{Fault, Output, Outputs, TARGET, row, table};

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

// ANCHOR: measure
/// The time of `saxpy` on `n` elements, by events of a stream.
///
/// # Errors
/// The kernel could not be built or run, or it computed something else.
pub fn time_of(device: &Device, n: u32) -> Result<Duration, Fault> {
    let kernel = device.load(&saxpy.build(device.target())?)?;
    let x = device.upload(&vec![1.0f32; n as usize])?;
    let mut y = device.upload(&vec![2.0f32; n as usize])?;
    let stream = device.stream()?;
    let before = stream.record()?;
    stream.launch(&kernel, Grid::x(n.div_ceil(256)), (3.0, &x, &mut y))?;
    let after = stream.record()?;
    if y.to_vec()?.iter().any(|y| *y != 5.0) {
        return Err("the sum is wrong".into());
    }
    after.synchronize()?;
    Ok(after.elapsed_since(&before)?)
}
// ANCHOR_END: measure

// ANCHOR: overlap
/// Two halves of a vector in two streams: one half is copied while the other one is computed.
///
/// # Errors
/// The kernel could not be built or run.
pub fn halves(device: &Device, a: f32, x: &[f32], y: &[f32]) -> Result<Vec<f32>, Fault> {
    let kernel = device.load(&saxpy.build(device.target())?)?;
    let half = x.len() / 2;
    let parts = [(&x[..half], &y[..half]), (&x[half..], &y[half..])];
    let mut pending = Vec::new();
    for (x, y) in parts {
        let stream = device.stream()?;
        let (mut on_x, mut on_y) = (device.buffer(x.len())?, device.buffer(y.len())?);
        stream.upload(x, &mut on_x)?;
        stream.upload(y, &mut on_y)?;
        stream.launch(&kernel, Grid::x((y.len() as u32).div_ceil(256)), (a, &on_x, &mut on_y))?;
        pending.push(stream.download(&on_y)?); // does not wait
    }
    let mut out = Vec::new();
    for part in pending {
        out.extend(part.wait()?);
    }
    Ok(out)
}
// ANCHOR_END: overlap

/// The clock of the table, in MHz: the highest of an MI300X.
const MHZ: u32 = 2100;

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let device = Device::timed_simulator(TARGET, MHZ);
    let mut lines = Vec::new();
    for n in [1 << 8, 1 << 12, 1 << 16, 1 << 18, 1 << 20] {
        let time = time_of(&device, n)?;
        let rate = format!("{:.0}", f64::from(12 * n) / time.as_secs_f64() / 1e9);
        let groups = n.div_ceil(256);
        lines.push(row(&n.to_string(), &[&groups, &format!("{:.2}", time.as_secs_f64() * 1e6), &rate]));
    }
    let head = ["elements", "workgroups", "microseconds", "GB/s"];
    Ok(vec![Output { name: "launches.md", text: table(&head, &lines) }])
}

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

    #[test]
    fn halves_are_the_whole() {
        let (x, y): (Vec<f32>, Vec<f32>) = ((0..1001u16).map(f32::from).collect(), vec![2.0; 1001]);
        let want: Vec<f32> = x.iter().map(|x| 3.0 * x + 2.0).collect();
        assert_eq!(halves(&Device::simulator(TARGET), 3.0, &x, &y).unwrap(), want);
    }

    #[test]
    fn a_larger_vector_is_moved_at_a_higher_rate() {
        let device = Device::timed_simulator(TARGET, MHZ);
        let rate = |n: u32| f64::from(n) / time_of(&device, n).unwrap().as_secs_f64();
        assert!(rate(1 << 16) > 10.0 * rate(1 << 8));
    }
}
