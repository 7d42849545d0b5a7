//! Error: code built from one kernel is launched as another.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn two(x: &mut [u32]) {
        x[lane_id()] = 2;
    }

    #[workgroup(64)]
    fn three(x: &mut [u32]) {
        x[lane_id()] = 3;
    }

    #[workgroup(64)]
    fn scale<T: Arithmetic>(x: &mut [T]) {
        x[lane_id()] = x[lane_id()] + x[lane_id()];
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::simulator(Target::GFX942);
    let stream = device.stream()?;
    let code = three.build(device.target())?;
    device.launch(&two, &code, Grid::x(1), (&mut [0; 64],))?;
    device.launch(&scale::<f32>, &scale::<f16>.build(device.target())?, Grid::x(1), (&mut [0.0; 64],))?;
    let mut x = device.zeroed::<f32>(64)?;
    stream.launch(&device.load(&scale::<f16>.build(device.target())?)?, Grid::x(1), (&mut x,))?;
    Ok(())
}
