//! Correct forms of the programs `fail/atomic_*`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(flag: &mut [u32], x: &mut [f32], halves: *mut f16, data: &[f16]) {
        let shared = Lds::<i64, 8>::new();
        shared.atomic(lane_id() & 7).store(-1, Scope::Workgroup, Ordering::Release);
        let seen = flag.atomic(0).load(Scope::System, Ordering::Acquire);
        x.atomic(seen).fetch_add(1.0, Scope::Agent, Ordering::Relaxed);
        halves.atomic_pair(0).fetch_add(data.load_vector::<2>(0), Scope::Agent, Ordering::Relaxed);
        fence(Scope::Agent, Ordering::AcqRel);
        let old = shared.atomic(0).fetch_min(seen as i64, Scope::Workgroup, Ordering::SeqCst);
        flag.atomic(1).compare_exchange(0, old as u32, Scope::Agent, Ordering::AcqRel);
        flag.atomic(2).fetch_inc_wrap(9, Scope::Wavefront, Ordering::Release);
    }
}

pub fn main() {
    kernel.build(Target::GFX942).unwrap();
}
