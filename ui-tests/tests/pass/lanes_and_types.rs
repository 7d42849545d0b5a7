//! Cross-lane functions and numbers, with the names and in the forms that users write.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(128)]
    fn everything(x: &[f32], n: &[i64], out: &mut [f32], counts: &mut [u32], bytes: &mut [i64]) {
        let i = global_id().x;
        let workgroup_total = workgroup_sum(x[i]);
        let mut best: f32 = wave_max(x[i]);
        best = best.max(workgroup_total);
        out[i] = (x[i] - best).exp() / workgroup_sum((x[i] - best).exp());
        counts[i] = mbcnt(ballot(x[i] > 0.5)) + (n[i] as u64).count_ones();
        bytes[i] = n[i] / 10 % 7 + (x[i] as i64).saturating_mul(3);
        out[i + x.len()] = Lanes::<16>::inclusive_sum(shuffle_xor(x[i], 3)) * (i as f32).sqrt().recip();
        let half = x[i] as bf16;
        out[i] = (half * half + 1.0f32.cast_half()) as f32;
    }
}

trait CastHalf {
    fn cast_half(self) -> bf16;
}
impl CastHalf for f32 {
    fn cast_half(self) -> bf16 {
        bf16::from_f32(self)
    }
}

pub fn main() {
    everything.build(Target::GFX942).unwrap();
}
