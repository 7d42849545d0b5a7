//! A first kernel: grids, workgroups, compute units.

use gcn_dsl::prelude::*;

use gcn_dsl::sim::timed::TimedReport;

use crate::{Fault, Output, Outputs, TARGET, one_cu, row, table};

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

// ANCHOR: sizes
gcn_kernel! {
    /// `saxpy` in workgroups of any size.
    #[workgroup(N)]
    pub fn saxpy_of<const N: u32>(a: f32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i < y.len() {
            y[i] = a * x[i] + y[i];
        }
    }
}
// ANCHOR_END: sizes

// ANCHOR: four
gcn_kernel! {
    /// `saxpy` with four elements for each work-item: loads and stores of 16 bytes.
    #[workgroup(256)]
    pub fn saxpy_four(a: f32, x: &[f32], y: &mut [f32]) {
        let i = 4 * global_id().x;
        #[unroll]
        for k in 0..4u32 {
            y[i + k] = a * x[i + k] + y[i + k];
        }
    }
}
// ANCHOR_END: four

/// Elements of the measurements.
const N: u32 = 1 << 16;

/// One report as a row: waves on a SIMD, cycles, bytes in a cycle.
fn measured(name: &str, report: &TimedReport) -> Vec<String> {
    let (cycles, waves) = (report.cycles, report.occupancy.waves_per_simd);
    let rate = format!("{:.1}", f64::from(12 * N) / cycles as f64);
    row(name, &[&report.occupancy.workgroups_per_cu, &waves, &cycles, &rate])
}

/// `saxpy` where unused LDS keeps workgroups out: the bytes for each workgroup.
fn held_back(bytes: u32) -> Result<TimedReport, Fault> {
    let (x, mut y) = (vec![1.0; N as usize], vec![2.0; N as usize]);
    let grid = Grid::x(N / 256).with_dynamic_lds(bytes);
    Ok(saxpy.timed(TARGET, grid, (3.0, &x, &mut y), &one_cu())?)
}

/// `saxpy_of` in the sizes of the table.
fn by_size() -> Result<Vec<(u32, TimedReport)>, Fault> {
    let (x, mut y) = (vec![1.0; N as usize], vec![2.0; N as usize]);
    let mut reports = Vec::new();
    macro_rules! of {
        ($($size:literal)*) => {$(
            let report = saxpy_of::<$size>.timed(TARGET, Grid::x(N / $size), (3.0, &x, &mut y), &one_cu())?;
            reports.push(($size, report));
        )*};
    }
    of!(64 128 256 512 1024);
    Ok(reports)
}

/// Waves on a SIMD of a kernel with `vgprs` vector registers (CDNA 3: 512 for each lane, allocated in eights).
// ANCHOR: waves
pub fn waves_of(vgprs: u32) -> u32 {
    (512 / vgprs.next_multiple_of(8)).min(8)
}
// ANCHOR_END: waves

/// What the chapter shows.
pub fn outputs() -> Outputs {
    let report = saxpy.build(TARGET)?.report().to_string();
    let sizes: Vec<_> =
        by_size()?.iter().map(|(size, report)| measured(&format!("{size}"), report)).collect();
    let mut held = Vec::new();
    for kib in [0, 8, 16, 32, 64] {
        held.push(measured(&format!("{kib} KiB"), &held_back(kib << 10)?));
    }
    let (x, mut y) = (vec![1.0; N as usize], vec![2.0; N as usize]);
    let wide = saxpy_four.timed(TARGET, Grid::x(N / 1024), (3.0, &x, &mut y), &one_cu())?;
    held.push(measured("`saxpy_four`, 0 KiB", &wide));
    let four = saxpy_four.timed(
        TARGET,
        Grid::x(N / 1024).with_dynamic_lds(64 << 10),
        (3.0, &x, &mut y),
        &one_cu(),
    )?;
    held.push(measured("`saxpy_four`, 64 KiB", &four));
    let head = |first| [first, "workgroups on the CU", "waves on a SIMD", "cycles", "bytes per cycle"];
    Ok(vec![
        Output { name: "saxpy-report.txt", text: report.trim_end().to_owned() + "\n" },
        Output { name: "saxpy-sizes.md", text: table(&head("workgroup"), &sizes) },
        Output { name: "saxpy-lds.md", text: table(&head("LDS of a workgroup"), &held) },
    ])
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

    #[test]
    fn every_size_and_four_at_once_are_right() {
        let x: Vec<f32> = (0..N).map(|i| i as f32).collect();
        let want: Vec<f32> = x.iter().map(|x| 3.0 * x + 2.0).collect();
        let device = Device::simulator(TARGET);
        let mut y = vec![2.0; N as usize];
        saxpy_of::<64>.launch(&device, Grid::x(N / 64), (3.0, &x, &mut y)).unwrap();
        assert_eq!(y, want);
        y.fill(2.0);
        saxpy_of::<1024>.launch(&device, Grid::x(N / 1024), (3.0, &x, &mut y)).unwrap();
        assert_eq!(y, want);
        y.fill(2.0);
        saxpy_four.launch(&device, Grid::x(N / 1024), (3.0, &x, &mut y)).unwrap();
        assert_eq!(y, want);
    }

    #[test]
    fn fewer_waves_move_fewer_bytes() {
        let cycles = [0, 16, 32, 64].map(|kib| held_back(kib << 10).unwrap().cycles);
        assert!(cycles.is_sorted() && cycles[3] > 3 * cycles[0], "{cycles:?}");
    }

    #[test]
    fn registers_limit_waves() {
        assert_eq!([32, 64, 65, 100, 128, 129, 512].map(waves_of), [8, 8, 7, 4, 4, 3, 1]);
        let limited =
            [crate::gemm::blocked.build(TARGET).unwrap().report(), saxpy.build(TARGET).unwrap().report()];
        for report in limited {
            assert_eq!(report.occupancy.waves_per_simd, waves_of(report.vgprs + report.agprs), "{report}");
        }
    }
}
