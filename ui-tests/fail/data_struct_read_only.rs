//! Errors: assignments to a field of an element of read-only memory, and to a field that does not exist.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[repr(C)]
    struct Particle {
        x: f32,
        id: u32,
    }

    #[workgroup(64)]
    fn moves(p: &[Particle]) {
        p[global_id().x].x = 1.0;
    }

    #[workgroup(64)]
    fn names(p: &mut [Particle]) {
        p[global_id().x].y = 1.0;
    }
}

fn main() {}
