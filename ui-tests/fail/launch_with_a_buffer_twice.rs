//! Error: a buffer that a kernel writes is also passed as another argument. Parts of a buffer borrow the buffer.
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
    let mut x = device.zeroed::<f32>(128)?;
    copy.launch(&stream, Grid::x(1), (&x, &mut x))?;
    let mut half = x.slice_mut(..64)?;
    copy.launch(&stream, Grid::x(1), (&x, &mut half))?;
    Ok(())
}
