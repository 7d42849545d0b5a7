//! Errors in declarations of device functions.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    async fn later(x: V<f32>) {}

    #[device]
    #[workgroup(64)]
    fn sized(x: V<f32>) {}

    #[device(inline)]
    fn with_arguments(x: V<f32>) {}

    #[device]
    fn twice(a: AllLanes, b: AllLanes) {}

    #[device]
    fn borrowed(x: &[f32]) -> &f32 {}

    #[device]
    fn method(self) {}

    #[device]
    fn attribute(#[inline] x: V<f32>) {}

    #[device]
    struct Count {
        n: V<u32>,
    }

    #[device]
    impl Count {
        fn up(&mut self) {}
    }
}

fn main() {}
