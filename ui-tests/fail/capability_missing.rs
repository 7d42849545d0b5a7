//! Errors: the targets do not have what a device function requires. Its bound states what a caller's targets must have.

use gcn_dsl::lang::{HasMfma, HasMfmaF8};
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn step<T: HasMfmaF8>(
        all: AllLanes<T>,
        a: FragA<f8e4m3, 16, 32>,
        b: FragB<f8e4m3, 32, 16>,
        acc: Acc<f32, 16, 16>,
    ) -> Acc<f32, 16, 16> {
        mfma(a, b, acc)
    }

    /// The bound is too weak for the instruction.
    #[device]
    fn weak<T: HasMfma>(
        all: AllLanes<T>,
        a: FragA<f8e4m3, 16, 32>,
        b: FragB<f8e4m3, 32, 16>,
        acc: Acc<f32, 16, 16>,
    ) -> Acc<f32, 16, 16> {
        mfma(a, b, acc)
    }

    /// A listed target lacks what the function needs.
    #[workgroup(64)]
    #[targets(gfx90a, gfx942)]
    fn product(a: &[f8e4m3], b: &[f8e4m3], c: &mut [f32]) {
        let a = FragA::load(&a, 0);
        let b = FragB::load(&b, 0);
        let acc = step(all_lanes(), a, b, Acc::zero());
        c[0] = acc.get(0);
    }

    /// A capability of this name does not exist.
    #[workgroup(64)]
    #[targets(HasTensorCores)]
    fn other(c: &mut [f32]) {
        c[0] = 1.0;
    }
}

fn main() {}
