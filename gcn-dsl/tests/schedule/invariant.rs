//! Loop-invariant code motion.

use gcn_dsl::prelude::*;

gcn_kernel! {
    /// Values that depend on the lane's number are the same on each trip.
    #[workgroup(64)]
    fn rows(n: u32, x: &[f32], y: &mut [f32]) {
        let mut sum: V<f32> = 0.0;
        for k in 0..n {
            sum += x[k * 4096 + lane_id() * 3 + local_id().x % 7];
        }
        y[lane_id()] = sum;
    }
}

#[test]
fn the_lanes_number_is_computed_before_the_loop() {
    let kernel = rows.build(Target::GFX942).unwrap();
    let text = kernel.assembly(Comments::None);
    let (before, _) = text.split_once("s_cbranch_scc1").unwrap();
    let (before, inside) = before.rsplit_once(":\n").unwrap();
    assert!(before.contains("v_mbcnt_hi") && before.contains("v_mul_hi"), "{text}");
    assert!(inside.contains("v_add_f32"), "{text}");
    assert!(!inside.contains("v_mbcnt") && !inside.contains("v_mul"), "{text}");
}
