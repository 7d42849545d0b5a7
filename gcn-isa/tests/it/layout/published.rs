//! Tests gfx950 and gfx1250, which AMD's matrix instruction calculator lacks, against kernels and measurements that AMD and others published. Only
//! facts (addresses) were taken from these sources, and no code.

use gcn_isa::layout::{Controls, Layout, Matrix};
use gcn_isa::{Target, table};

const FP8: u8 = 0;
const FP6: u8 = 2;
const FP4: u8 = 4;

fn layout(name: &str, matrix: Matrix, format_a: u8, format_b: u8) -> Layout {
    let desc = table::find(Target::GFX950, name).next().expect("a row");
    let controls = Controls { cbsz: format_a, blgp: format_b, ..Controls::default() };
    Layout::new(desc, Target::GFX950, matrix, controls).expect("a layout")
}

/// The (row, column) of the `n`-th element, counted from bit 0 of the lane's first register.
fn element(layout: &Layout, bits: u32, lane: u32, n: u32) -> (u32, u32) {
    let bit = n * bits;
    let found = layout.at((bit / 32) as u8, lane as u8, (bit % 32) as u8).next().expect("an element");
    (found.row.into(), found.column.into())
}

/// Tests the kernel for 32x32x64 with fp8 in "Matrix Core Programming on AMD CDNA3 and CDNA4 architecture" (ROCm blogs): it reads 16
/// elements of row `lane % 32` from column `16 * (lane / 32)` on, and 16 more elements 32 columns later.
#[test]
fn fp8_of_32x32x64_as_in_amds_tutorial() {
    let a = layout("v_mfma_scale_f32_32x32x64_f8f6f4", Matrix::A, FP8, FP8);
    let b = layout("v_mfma_scale_f32_32x32x64_f8f6f4", Matrix::B, FP8, FP8);
    for lane in 0..64 {
        for i in 0..2 {
            for j in 0..16 {
                let address = lane % 32 * 64 + lane / 32 * 16 + i * 32 + j;
                assert_eq!(element(&a, 8, lane, i * 16 + j), (address / 64, address % 64));
                let address = lane % 32 + 32 * 16 * (lane / 32) + 32 * j + i * 32 * 32;
                assert_eq!(element(&b, 8, lane, i * 16 + j), (address / 32, address % 32));
            }
        }
    }
}

/// A measurement on gfx950 that Composable Kernel publishes (`test/mx_mfma_op/scale_mapping_16x16x128.txt`): if each lane has 32
/// consecutive columns of fp8 A, the lane whose scale applies to each column. There is one entry for each sixteen columns, for row 0.
const MEASURED_SCALE_LANE: [u16; 8] = [0, 32, 0, 32, 16, 48, 16, 48];

#[test]
fn scales_of_fp8_16x16x128_as_measured_by_composable_kernel() {
    let a = layout("v_mfma_scale_f32_16x16x128_f8f6f4", Matrix::A, FP8, FP8);
    let scales = layout("v_mfma_scale_f32_16x16x128_f8f6f4", Matrix::ScaleA, FP8, FP8);
    for lane in 0..64u32 {
        for n in 0..32 {
            let (row, k) = element(&a, 8, lane, n);
            let scale = scales.elements().find(|s| (u32::from(s.row), u32::from(s.column)) == (row, k / 32));
            // The column under which the measurement lists this element.
            let column = lane / 16 * 32 + n;
            let expected = MEASURED_SCALE_LANE[(column / 16) as usize] + (lane % 16) as u16;
            assert_eq!(scale.map(|s| u16::from(s.lane)), Some(expected), "lane {lane}, element {n}");
        }
    }
}

/// Tests against Triton, which writes a layout as the coordinates that each bit of the element number and of the lane number adds
/// (`test/TritonGPU/amd/accelerate-amd-matmul-gfx950.mlir`, mixed fp8 and fp4).
#[test]
fn linear_layouts_as_in_triton() {
    let fp8 = layout("v_mfma_scale_f32_32x32x64_f8f6f4", Matrix::A, FP8, FP4);
    for (bit, at) in [(0, 1), (1, 2), (2, 4), (3, 8), (4, 32)] {
        assert_eq!(element(&fp8, 8, 0, 1 << bit), (0, at));
    }
    for (bit, at) in [(0, (1, 0)), (1, (2, 0)), (2, (4, 0)), (3, (8, 0)), (4, (16, 0)), (5, (0, 16))] {
        assert_eq!(element(&fp8, 8, 1 << bit, 0), at);
    }
    let scales = layout("v_mfma_scale_f32_32x32x64_f8f6f4", Matrix::ScaleA, FP4, FP4);
    for (bit, at) in [(0, (1, 0)), (1, (2, 0)), (2, (4, 0)), (3, (8, 0)), (4, (16, 0)), (5, (0, 1))] {
        assert_eq!(element(&scales, 8, 1 << bit, 0), at);
    }
}

/// Tests against the same AMD tutorial: an fp4 operand has 32 consecutive columns in each lane. An fp6 operand must have them as well,
/// because its elements of 6 bits do not divide a half evenly.
#[test]
fn narrow_formats_are_consecutive() {
    for (name, rows) in [("v_mfma_f32_32x32x64_f8f6f4", 32), ("v_mfma_f32_16x16x128_f8f6f4", 16)] {
        for (format, bits) in [(FP6, 6), (FP4, 4)] {
            let a = layout(name, Matrix::A, format, FP8);
            for lane in 0..64 {
                for n in 0..32 {
                    assert_eq!(element(&a, bits, lane, n), (lane % rows, lane / rows * 32 + n), "{name}");
                }
            }
        }
    }
}

/// Tests against IREE, which describes the instructions of gfx950 with doubled K by (threads, elements): 16x4 threads of 1x8 f16 for
/// 16x16x32, 16x4 of 1x16 i8 for 16x16x64, 32x2 of 1x8 f16 for 32x32x16.
#[test]
fn doubled_k_doubles_the_run_in_a_lane() {
    let cases = [
        ("v_mfma_f32_16x16x32_f16", 16, 8, 16),
        ("v_mfma_f32_16x16x32_bf16", 16, 8, 16),
        ("v_mfma_i32_16x16x64_i8", 16, 16, 8),
        ("v_mfma_f32_32x32x16_f16", 32, 8, 16),
    ];
    for (name, rows, run, bits) in cases {
        let a = layout(name, Matrix::A, 0, 0);
        for lane in 0..64 {
            for n in 0..run {
                assert_eq!(element(&a, bits, lane, n), (lane % rows, lane / rows * run + n), "{name}");
            }
        }
    }
}

/// Tests against the linear layouts of Triton 3.9 for `AMDWMMALayout(version=3)` and its operands: the coordinates that each bit of the
/// element number, and then each bit of the lane number, adds.
#[test]
fn wmma_of_gfx1250_as_in_triton() {
    let instructions = [
        ("v_wmma_f32_16x16x32_f16", 16, 32, &[1, 2, 4, 16][..], 8),
        ("v_wmma_f32_16x16x64_fp8_bf8", 8, 64, &[1, 2, 4, 16, 32], 8),
        ("v_wmma_i32_16x16x64_iu8", 8, 64, &[1, 2, 4, 16, 32], 8),
        ("v_wmma_f32_16x16x128_bf8_fp8", 8, 128, &[1, 2, 4, 16, 32, 64], 8),
        ("v_wmma_f32_16x16x4_f32", 32, 4, &[1], 2),
    ];
    for (name, bits, depth, of_elements, of_lanes) in instructions {
        let desc = table::find(Target::GFX1250, name).next().expect("a row");
        let layout =
            |matrix| Layout::new(desc, Target::GFX1250, matrix, Controls::default()).expect("a layout");
        let (a, b, d) = (layout(Matrix::A), layout(Matrix::B), layout(Matrix::D));
        assert_eq!((u32::from(a.registers()) * 32 / bits) << 1, depth, "{name}");
        for (bit, k) in of_elements.iter().enumerate() {
            assert_eq!(element(&a, bits, 0, 1 << bit), (0, *k), "{name}");
            assert_eq!(element(&b, bits, 0, 1 << bit), (*k, 0), "{name}");
        }
        for (bit, row) in [1, 2, 4].into_iter().enumerate() {
            assert_eq!(element(&d, 32, 0, 1 << bit), (row, 0), "{name}");
        }
        for (bit, line) in [1, 2, 4, 8].into_iter().enumerate() {
            assert_eq!(element(&a, bits, 1 << bit, 0), (line, 0), "{name}");
            assert_eq!(element(&b, bits, 1 << bit, 0), (0, line), "{name}");
            assert_eq!(element(&d, 32, 1 << bit, 0), (0, line), "{name}");
        }
        assert_eq!(element(&a, bits, 16, 0), (0, of_lanes), "{name}");
        assert_eq!(element(&b, bits, 16, 0), (of_lanes, 0), "{name}");
        assert_eq!(element(&d, 32, 16, 0), (8, 0), "{name}");
    }
}
