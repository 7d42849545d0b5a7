//! Errors: parameters with `#[host]`, which become fields of the kernel, of unsupported form or type.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn borrowed(#[host] name: &str, x: &mut [f32]) {}

    #[workgroup(64)]
    fn pattern(#[host] (a, b): (u32, u32), x: &mut [f32]) {}

    #[workgroup(64)]
    fn other(#[inline] n: u32, x: &mut [f32]) {}
}

gcn_asm! {
    #[workgroup(64)]
    #[targets(gfx942)]
    fn assembly(#[host] n: u32, x: *mut f32) {
        s_endpgm;
    }
}

fn main() {}
