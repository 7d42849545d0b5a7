//! Errors: a launch on a device gets device buffers, a launch on a stream gets host slices.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn copy(x: &[f32], y: &mut [f32]) {
        y[lane_id()] = x[lane_id()];
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::simulator(Target::GFX942);
    let stream = device.stream()?;
    let (host, mut buffer) = (vec![1.0f32; 64], device.zeroed::<f32>(64)?);
    copy.launch(&stream, Grid::x(1), (&host, &mut buffer))?;
    copy.launch(&device, Grid::x(1), (&host, &mut buffer))?;
    let whole = device.zeroed::<u32>(64)?;
    copy.launch(&stream, Grid::x(1), (&whole, &mut buffer))?;
    copy.launch(&host, Grid::x(1), (&host, &mut [0.0; 64]))?;
    Ok(())
}
