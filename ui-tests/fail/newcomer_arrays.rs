//! Errors: wrong uses of arrays in memory, of the bits of floats, and of structs that are uniform.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn read_only(x: &[[f32; 3]]) {
        let i = global_id().x;
        x[i][1] = 0.0;
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn numbers(y: &mut [f32]) {
        let i = global_id().x;
        y[i][1] = 0.0;
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn signed(x: &[i32], y: &mut [f32]) {
        let i = global_id().x;
        y[i] = f32::from_bits(x[i]);
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn four_dimensions(y: &mut [f32]) {
        let t = Lds::<[[[f32; 2]; 2]; 2], 2>::new();
        y[0] = t[0][0][0][0];
    }
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    struct Sphere {
        center: [f32; 3],
        radius: f32,
    }

    #[device]
    fn volume(s: Sphere) -> f32 {
        s.radius * s.radius * s.radius
    }

    #[workgroup(64)]
    fn of_each_lane(world: &[Sphere], y: &mut [f32]) {
        let i = global_id().x;
        y[i] = volume(world[i]);
    }
}

fn main() {}
