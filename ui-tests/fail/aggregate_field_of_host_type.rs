//! A device struct consists of device values.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    struct Named {
        name: String,
        value: V<f32>,
    }
}

fn main() {}
