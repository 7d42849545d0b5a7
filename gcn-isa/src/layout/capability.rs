//! Capabilities: the kinds of matrix instructions that a target can have, by name. Trait bounds of generic code and
//! lists of targets use them.

use super::{Arrangement, ElemType, Shape, instructions_on};
use crate::{Target, TargetSet};

/// A kind of matrix instruction that a target can have.
#[derive(Debug, Clone, Copy)]
pub struct Capability {
    /// The name of the capability's trait in the kernel language.
    pub name: &'static str,
    is_meant: fn(&Shape) -> bool,
}

/// All capabilities.
pub const CAPABILITIES: [Capability; 11] = [
    Capability {
        name: "HasMatrixBf16",
        is_meant: |s| s.a == ElemType::Bf16 && (s.m, s.k) == (16, 16) && !s.sparse,
    },
    Capability { name: "HasMatrixF8", is_meant: |s| s.a == ElemType::Fp8 && !s.sparse },
    Capability { name: "HasMatrixI4", is_meant: |s| s.a == ElemType::Iu4 && !s.sparse },
    Capability { name: "HasMfma", is_meant: is_mfma },
    Capability { name: "HasMfmaF64", is_meant: |s| s.acc == ElemType::F64 },
    Capability { name: "HasMfmaF8", is_meant: |s| is_mfma(s) && s.a == ElemType::Fp8 && !s.sparse },
    Capability { name: "HasSmfmac", is_meant: |s| is_mfma(s) && s.sparse },
    Capability { name: "HasMfmaMx", is_meant: |s| is_mfma(s) && s.scaled },
    Capability { name: "HasMfmaXf32", is_meant: |s| s.a == ElemType::Xf32 },
    Capability { name: "HasWmma", is_meant: |s| !is_mfma(s) },
    Capability { name: "HasSwmmac", is_meant: |s| !is_mfma(s) && s.sparse },
];

fn is_mfma(shape: &Shape) -> bool {
    shape.arrangement == Arrangement::Mfma
}

impl Capability {
    /// The capability with the name `name`; `None` if there is none.
    pub fn find(name: &str) -> Option<Capability> {
        CAPABILITIES.into_iter().find(|c| c.name == name)
    }

    /// The targets that have an instruction with this capability.
    ///
    /// ```
    /// use gcn_isa::layout::Capability;
    /// use gcn_isa::{Target, TargetSet};
    ///
    /// let f8 = Capability::find("HasMfmaF8").unwrap();
    /// assert_eq!(f8.targets(), TargetSet::of(&[Target::GFX942, Target::GFX950]));
    /// ```
    pub fn targets(self) -> TargetSet {
        let has = |target: &Target| {
            instructions_on((*target).into()).iter().any(|(_, shape)| (self.is_meant)(shape))
        };
        Target::KNOWN.into_iter().filter(has).collect()
    }
}
