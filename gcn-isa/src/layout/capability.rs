//! Capabilities: the kinds of matrix instructions that a target can have, by name. Bounds of generic code and
//! lists of targets use them.

use super::{ElemType, Shape, instructions};
use crate::TargetSet;

/// A kind of matrix instruction.
#[derive(Debug, Clone, Copy)]
pub struct Capability {
    /// The name of its trait in the kernel language.
    pub name: &'static str,
    is_meant: fn(&Shape) -> bool,
}

/// Every capability.
pub const CAPABILITIES: [Capability; 6] = [
    Capability { name: "HasMfma", is_meant: |_| true },
    Capability { name: "HasMfmaF64", is_meant: |s| s.acc == ElemType::F64 },
    Capability { name: "HasMfmaF8", is_meant: |s| s.a == ElemType::Fp8 && !s.sparse },
    Capability { name: "HasSmfmac", is_meant: |s| s.sparse },
    Capability { name: "HasMfmaMx", is_meant: |s| s.scaled },
    Capability { name: "HasMfmaXf32", is_meant: |s| s.a == ElemType::Xf32 },
];

impl Capability {
    /// The one called `name`.
    pub fn find(name: &str) -> Option<Capability> {
        CAPABILITIES.into_iter().find(|c| c.name == name)
    }

    /// The targets that have such an instruction.
    ///
    /// ```
    /// use gcn_isa::layout::Capability;
    /// use gcn_isa::{Target, TargetSet};
    ///
    /// let f8 = Capability::find("HasMfmaF8").unwrap();
    /// assert_eq!(f8.targets(), TargetSet::of(&[Target::GFX942, Target::GFX950]));
    /// ```
    pub fn targets(self) -> TargetSet {
        let of = instructions().iter().filter(|(_, _, shape)| (self.is_meant)(shape));
        of.fold(TargetSet::EMPTY, |set, (target, _, _)| set.union(TargetSet::of(&[*target])))
    }
}
