//! Constant operands that have the same value in each dword.

use crate::lang::{IntoDevice, V};

use super::operand::{Input, Source};

/// An operand with the same constant in every dword, such as the C operand of a matrix instruction. The field contains
/// the constant's bits.
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
// Operands of one and two dwords take plain constants; those of eight dwords are f64, whose elements are not dwords.
filled!(4, 16, 32);
