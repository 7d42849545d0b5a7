//! A constant in each of an operand's dwords.

use crate::lang::{IntoDevice, V};

use super::operand::{Input, Source};

/// A constant in every dword of an operand, as the C of a matrix instruction can be. These are its bits.
///
/// ```
/// use gcn_dsl::{isa::{self, EachDword}, prelude::*};
/// gcn_kernel! {
///     /// A product alone, added to nothing.
///     #[workgroup(64)]
///     fn product(a: &[f32], b: &[f32], d: &mut [f32]) {
///         let i = lane_id();
///         let sums = isa::v_mfma_f32_4x4x1_16b_f32(a[i], b[i], EachDword(0));
///         d[i] = sums.get(0);
///     }
/// }
/// # product.build(Target::GFX942).unwrap();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct EachDword(pub u32);

macro_rules! filled {
    ($($dwords:literal),*) => {$(
        impl Source<$dwords> for EachDword {
            fn input(self) -> Input {
                let bits: V<u32> = self.0.into_device();
                Input::value(bits.value)
            }
        }
    )*};
}
// One and two dwords have constants of their own; eight are f64, which are not dwords.
filled!(4, 16, 32);
