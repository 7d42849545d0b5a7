//! Correct forms of the programs in `fail/`.
use gcn_dsl::prelude::*;

const FAST: bool = true;

gcn_kernel! {
    /// Conversion, uniform loads, varying variables, barriers in convergent flow, unrolled loops, host conditions.
    #[workgroup(64)]
    #[targets(gfx90a, gfx942)]
    fn forms<const N: u32>(n: u32, table: &[u32], x: &mut [f32]) {
        let i = global_id().x;
        let mut sum: V<f32> = 0.0;
        sum += x[i] * n as f32;
        let mut hits: V<u32> = 0;
        if i < x.len() {
            hits += 1;
        }
        if n > 3 {
            barrier();
        }
        #[unroll]
        for k in 0..N {
            sum += k as f32;
        }
        comptime if FAST {
            sum += 1.0;
        }
        x[i] = sum + (table.uniform(read_first_lane(hits)) + hits) as f32;
    }

    /// Matrix shapes that fit together.
    #[workgroup(64)]
    fn matrices(a: &[f16], b: &[f16], c: &mut [f32]) {
        let left = FragA::<f16, 32, 8>::load(&a, lane_id() * 4);
        let right = FragB::<f16, 8, 32>::load(&b, lane_id() * 4);
        let sum = mfma(left, right, Acc::<f32, 32, 32>::zero());
        c[lane_id()] = sum.get(0);
    }
}

pub fn main() {
    for target in [Target::GFX90A, Target::GFX942] {
        forms::<4>.build(target).unwrap();
        matrices.build(target).unwrap();
    }
}
