//! Errors: register limits that no kernel can have.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[max_registers(257)]
    fn too_many(x: &mut [f32]) {
        x[global_id().x] = 1.0;
    }
}

gcn_kernel! {
    #[workgroup(64)]
    #[max_registers(vgpr = 64, sgpr = 0)]
    fn no_sgprs(x: &mut [f32]) {
        x[global_id().x] = 1.0;
    }
}

gcn_kernel! {
    #[workgroup(64)]
    #[max_registers(vgprs = 64)]
    fn misspelt(x: &mut [f32]) {
        x[global_id().x] = 1.0;
    }
}

gcn_kernel! {
    #[workgroup(64)]
    #[max_registers(64, vgpr = 32)]
    fn twice(x: &mut [f32]) {
        x[global_id().x] = 1.0;
    }
}

gcn_kernel! {
    #[workgroup(64)]
    #[max_registers]
    fn nothing(x: &mut [f32]) {
        x[global_id().x] = 1.0;
    }
}

fn main() {}
