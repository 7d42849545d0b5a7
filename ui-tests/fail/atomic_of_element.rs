//! Error: an atomic method is called on `h[i]`, which reads the element, instead of on `h.atomic(i)`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn histogram(x: &[u32], h: &mut [u32]) {
        let bins = Lds::<u32, 64>::new();
        let i = global_id().x;
        bins[x[i]].fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
        h[i].fetch_max(bins[local_id().x], Scope::Agent, Ordering::Relaxed);
    }
}

fn main() {}
