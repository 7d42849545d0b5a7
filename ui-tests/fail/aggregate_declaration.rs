//! Errors in declarations of device structs.
use gcn_dsl::prelude::*;

gcn_kernel! {
    struct Host {
        x: V<f32>,
    }
}

gcn_kernel! {
    #[device]
    #[derive(Clone, Copy, Hash)]
    struct Derived {
        x: V<f32>,
    }

    #[device]
    struct Borrowed<'a> {
        x: &'a V<f32>,
    }
}

gcn_kernel! {
    #[device]
    enum Either {
        A(V<f32>),
    }
}

fn main() {}
