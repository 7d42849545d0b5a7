//! Error: a field of a device struct has a host type.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    struct Named {
        name: String,
        value: V<f32>,
    }
}

fn main() {}
