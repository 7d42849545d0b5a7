//! Errors in the list of `interleave!`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn unknown_class(y: &mut [f32]) {
        interleave! { 1 mfma, 2 lds_read }
        y[0] = 0.0;
    }

    #[workgroup(64)]
    fn no_count(y: &mut [f32]) {
        interleave! { mfma, valu }
        y[0] = 0.0;
    }

    #[workgroup(64)]
    fn zero(y: &mut [f32]) {
        interleave! { 0 mfma }
        y[0] = 0.0;
    }
}

fn main() {}
