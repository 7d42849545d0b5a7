//! A first kernel: grids, workgroups, compute units.

use gcn_dsl::prelude::*;

use crate::{Output, Outputs, TARGET};

// ANCHOR: saxpy
gcn_kernel! {
    /// y = a * x + y
    #[workgroup(256)]
    pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i < y.len() {
            y[i] = a * x[i] + y[i];
        }
    }
}
// ANCHOR_END: saxpy

// ANCHOR: stride
gcn_kernel! {
    /// The same with any number of workgroups: each work-item takes every `step`-th element.
    #[workgroup(256)]
    pub fn saxpy_stride(a: f32, groups: u32, x: &[f32], y: &mut [f32]) {
        for i in (global_id().x..y.len()).step_by(groups * 256) {
            y[i] = a * x[i] + y[i];
        }
    }
}
// ANCHOR_END: stride

// ANCHOR: two
gcn_kernel! {
    /// c = a + b for matrices of `width` columns, in blocks of 16 x 16.
    #[workgroup(16, 16)]
    pub fn add_2d(width: u32, height: u32, a: &[f32], b: &[f32], c: &mut [f32]) {
        let at = global_id();
        if at.x < width && at.y < height {
            let i = at.y * width + at.x;
            c[i] = a[i] + b[i];
        }
    }
}
// ANCHOR_END: two

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let report = saxpy.build(TARGET)?.report().to_string();
    Ok(vec![Output { name: "saxpy-report.txt", text: report.trim_end().to_owned() + "\n" }])
}

#[cfg(test)]
mod tests {
    use super::*;

    // ANCHOR: test
    #[test]
    fn saxpy_adds() -> Result<(), gcn_dsl::LaunchError> {
        let (x, mut y) = (vec![1.0; 1000], vec![2.0; 1000]);
        let device = Device::simulator(Target::GFX942);
        saxpy.launch(&device, Grid::x(4), (3.0, &x, &mut y))?;
        assert!(y.iter().all(|y| *y == 5.0));
        Ok(())
    }
    // ANCHOR_END: test

    #[test]
    fn any_number_of_workgroups_is_right() {
        for groups in 1..=5 {
            let (x, mut y) = (vec![1.0; 1000], vec![2.0; 1000]);
            let device = Device::simulator(TARGET);
            saxpy_stride.launch(&device, Grid::x(groups), (3.0, groups, &x, &mut y)).unwrap();
            assert!(y.iter().all(|y| *y == 5.0));
        }
    }

    #[test]
    fn matrices_are_added() {
        let (width, height) = (30u32, 21u32);
        let n = (width * height) as usize;
        let (a, b, mut c) = (vec![1.5; n], vec![2.0; n], vec![0.0; n]);
        let grid = Grid::xy(width.div_ceil(16), height.div_ceil(16));
        add_2d.launch(&Device::simulator(TARGET), grid, (width, height, &a, &b, &mut c)).unwrap();
        assert!(c.iter().all(|c| *c == 3.5));
    }
}
