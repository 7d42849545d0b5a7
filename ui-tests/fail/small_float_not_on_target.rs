//! Errors: packs of small floats are converted on targets that lack gfx950's instructions.

use gcn_dsl::lang::matrix::Fp4;
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[targets(gfx942, gfx950)]
    fn unpack(packs: &[u32], out: &mut [f32]) {
        let i = global_id().x;
        let pack = Packed::<Fp4, 8>::load(&packs, i);
        out[i] = Vector::<f32, 8>::scaled_from(pack, 127).get(0);
    }

    /// The bound of the device function is too weak.
    #[device]
    fn halve<T: gcn_dsl::lang::HasMfmaF8>(all: AllLanes<T>, pack: Packed<Fp4, 8>) -> Packed<Fp4, 8> {
        Packed::<Fp4, 8>::scaled_from(Vector::<f32, 8>::scaled_from(pack, 126), 127)
    }
}

fn main() {}
