//! Errors: a kernel that is generic over types has `#[host]` parameters or lifetimes, or a type without the bounds.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn with_host<T: Float>(#[host] n: u32, x: &mut [T]) {
        x[global_id().x] = x[global_id().x] * 2.0;
    }

    #[workgroup(64)]
    fn with_lifetime<'a>(x: &mut [f32]) {
        x[global_id().x] = 1.0;
    }

    #[workgroup(64)]
    fn twice<T: Float>(x: &mut [T]) {
        let i = global_id().x;
        x[i] = x[i] + x[i];
    }
}

fn main() {
    let _ = twice::<u32>.build(Target::GFX942);
}
