//! The coordinates that fragments and accumulators report, lane by lane, compared with `gcn_isa::layout`, whose formula
//! is tested against the output of AMD's matrix instruction calculator.

use gcn_dsl::prelude::*;
use gcn_isa::layout::{self, Matrix};
use gcn_isa::table;

macro_rules! shape {
    ($name:ident, $t:ty => $u:ty, $m:literal x $n:literal x $k:literal, $gfx90a:literal, $gfx942:literal) => {
        mod $name {
            use super::*;
            gcn_kernel! {
                /// For each lane: the row and k in A, the column and k in B, then row and column of each accumulator
                /// element.
                #[workgroup(64)]
                fn coordinates(out: &mut [u32]) {
                    let at = lane_id() * 64;
                    out[at] = FragA::<$t, $m, $k>::row();
                    out[at + 1] = FragA::<$t, $m, $k>::k();
                    out[at + 2] = FragB::<$t, $k, $n>::col();
                    out[at + 3] = FragB::<$t, $k, $n>::k();
                    let acc = Acc::<$u, $m, $n>::zero();
                    #[unroll]
                    for i in 0..($m * $n / 64) {
                        out[at + (4 + 2 * i as u32)] = acc.row(i);
                        out[at + (5 + 2 * i as u32)] = acc.col();
                    }
                }
            }

            #[test]
            fn is_the_instructions_layout() {
                for (target, mnemonic) in [(Target::GFX90A, $gfx90a), (Target::GFX942, $gfx942)] {
                    let mut out = vec![0u32; 64 * 64];
                    coordinates.launch(&Device::simulator(target), Grid::x(1), (&mut out,)).unwrap();
                    let row = table::find(target, mnemonic).next().unwrap();
                    let shape = layout::shape(row, target).unwrap();
                    let dwords = |bytes: usize| bytes.div_ceil(4);
                    for lane in 0..64usize {
                        let got: Vec<u16> =
                            out[lane * 64..lane * 64 + 64].iter().map(|x| *x as u16).collect();
                        // The lane's first element is in register 0, at bit 0.
                        let a = shape.place(Matrix::A, 0, got[0], got[1]).unwrap();
                        assert_eq!(
                            (usize::from(a.lane), a.register, a.low_bit),
                            (lane, 0, 0),
                            "{mnemonic} A"
                        );
                        let b = shape.place(Matrix::B, 0, got[3], got[2]).unwrap();
                        assert_eq!(
                            (usize::from(b.lane), b.register, b.low_bit),
                            (lane, 0, 0),
                            "{mnemonic} B"
                        );
                        for i in 0..$m * $n / 64 {
                            let d = shape.place(Matrix::D, 0, got[4 + 2 * i], got[5 + 2 * i]).unwrap();
                            let register = i * dwords(size_of::<$u>());
                            assert_eq!(
                                (usize::from(d.lane), usize::from(d.register)),
                                (lane, register),
                                "{mnemonic} D"
                            );
                        }
                    }
                }
            }
        }
    };
}

shape!(f16_32x32x8, f16 => f32, 32 x 32 x 8, "v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16");
shape!(f16_16x16x16, f16 => f32, 16 x 16 x 16, "v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16");
shape!(bf16_32x32x8, bf16 => f32, 32 x 32 x 8, "v_mfma_f32_32x32x8bf16_1k", "v_mfma_f32_32x32x8_bf16");
shape!(bf16_16x16x16, bf16 => f32, 16 x 16 x 16, "v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16_bf16");
shape!(f32_32x32x2, f32 => f32, 32 x 32 x 2, "v_mfma_f32_32x32x2f32", "v_mfma_f32_32x32x2_f32");
shape!(f32_16x16x4, f32 => f32, 16 x 16 x 4, "v_mfma_f32_16x16x4f32", "v_mfma_f32_16x16x4_f32");
shape!(f64_16x16x4, f64 => f64, 16 x 16 x 4, "v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64");
