//! Errors in declarations of structs that are stored in memory; and structs that cannot be stored in memory.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[repr(C)]
    struct Handles {
        x: V<f32>,
    }

    #[device]
    #[repr(packed)]
    struct Packed {
        x: f32,
    }

    #[device]
    #[repr(C)]
    struct Unnamed(f32, u32);

    #[device]
    #[repr(C)]
    struct Generic<T> {
        x: T,
    }
}

#[derive(Clone, Copy)]
struct OfTheHost {
    x: f32,
}

gcn_kernel! {
    #[workgroup(64)]
    fn reads(p: &[OfTheHost], y: &mut [f32]) {
        y[global_id().x] = 1.0;
    }

    #[workgroup(64)]
    fn takes(p: OfTheHost, y: &mut [f32]) {
        y[global_id().x] = 1.0;
    }
}

fn main() {}
