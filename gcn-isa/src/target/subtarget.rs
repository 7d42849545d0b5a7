//! A processor with the size of its waves.

use std::ops::Deref;

use super::instruction_set::WaveSize;
use super::processor::Target;

/// A processor and the size of the waves of a program: together they decide which instructions there are. On RDNA a program chooses
/// between waves of 32 lanes and of 64, which is as wide as VCC, EXEC and all masks of lanes are.
///
/// ```
/// use gcn_isa::target::{Subtarget, Target, WaveSize};
///
/// assert_eq!(Subtarget::from(Target::GFX942).wave, WaveSize::W64);
/// assert_eq!(Subtarget::from(Target::GFX1201).wave, WaveSize::W32);
/// assert!(Subtarget::new(Target::GFX1201, WaveSize::W64).is_some());
/// assert!(Subtarget::new(Target::GFX942, WaveSize::W32).is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Subtarget {
    /// The processor.
    pub target: Target,
    /// The size of waves.
    pub wave: WaveSize,
}

impl Subtarget {
    /// The processor with waves of this size; `None` if it has none.
    pub fn new(target: Target, wave: WaveSize) -> Option<Subtarget> {
        target.wave_sizes().contains(&wave).then_some(Subtarget { target, wave })
    }
}

impl From<Target> for Subtarget {
    /// The processor with waves of the usual size.
    fn from(target: Target) -> Subtarget {
        Subtarget { target, wave: target.wave_sizes()[0] }
    }
}

impl Deref for Subtarget {
    type Target = Target;

    fn deref(&self) -> &Target {
        &self.target
    }
}
