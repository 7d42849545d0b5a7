//! A processor together with a wave size.

use std::ops::Deref;

use super::instruction_set::WaveSize;
use super::processor::Target;

/// A processor and the wave size of a program, which together determine the available instructions. On RDNA, a program selects a wave size
/// of 32 or 64 lanes, which is also the width of VCC, EXEC and all lane masks.
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
    /// The wave size.
    pub wave: WaveSize,
}

impl Subtarget {
    /// The processor with this wave size; `None` if the processor does not support the wave size.
    pub fn new(target: Target, wave: WaveSize) -> Option<Subtarget> {
        target.wave_sizes().contains(&wave).then_some(Subtarget { target, wave })
    }
}

impl From<Target> for Subtarget {
    /// The processor with its usual wave size.
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
