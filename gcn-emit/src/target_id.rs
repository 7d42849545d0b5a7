//! Target IDs: a processor with the settings of its target features, as code objects name it.

use std::fmt;
use std::str::FromStr;

use gcn_isa::Target;
use gcn_isa::target::UnknownTarget;

/// The setting of a target feature for which a code object was compiled (LLVM AMDGPU guide, *Target Features* and *ELF
/// header `e_flags` for code object V4 and after*).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Feature {
    /// The code runs with the feature on or off, and the target ID does not mention the feature.
    #[default]
    Any,
    /// The code requires the feature to be off (`xnack-`).
    Off,
    /// The code requires the feature to be on (`xnack+`).
    On,
}

impl Feature {
    /// The two-bit field of `e_flags`; 0 means that the processor does not have the feature.
    const fn elf_bits(self) -> u32 {
        match self {
            Feature::Any => 1,
            Feature::Off => 2,
            Feature::On => 3,
        }
    }

    const fn from_elf_bits(bits: u32) -> Feature {
        match bits {
            2 => Feature::Off,
            3 => Feature::On,
            _ => Feature::Any,
        }
    }

    const fn sign(self) -> Option<char> {
        match self {
            Feature::Any => None,
            Feature::Off => Some('-'),
            Feature::On => Some('+'),
        }
    }
}

/// `EF_AMDGPU_MACH`.
const MACH_MASK: u32 = 0xff;
/// The lowest bit of `EF_AMDGPU_FEATURE_XNACK_V4`.
const XNACK_SHIFT: u32 = 8;
/// The lowest bit of `EF_AMDGPU_FEATURE_SRAMECC_V4`.
const SRAMECC_SHIFT: u32 = 10;
/// The lowest bit of `EF_AMDGPU_GENERIC_VERSION`.
const GENERIC_SHIFT: u32 = 24;
/// `EF_AMDGPU_GENERIC_VERSION`.
pub(crate) const GENERIC_VERSION: u32 = 0xff << GENERIC_SHIFT;

/// A processor with its feature settings: `gfx90a`, `gfx90a:sramecc+:xnack-`.
///
/// ```
/// use gcn_emit::target_id::{Feature, TargetId};
/// use gcn_isa::Target;
///
/// let id: TargetId = "gfx90a:sramecc+:xnack-".parse()?;
/// assert_eq!((id.target, id.xnack), (Target::GFX90A, Feature::Off));
/// assert_eq!(id.triple(), "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
/// # Ok::<(), gcn_emit::target_id::TargetIdError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TargetId {
    /// The processor.
    pub target: Target,
    /// XNACK replay: whether a memory access that faults may be repeated.
    pub xnack: Feature,
    /// SRAM-ECC: whether 16-bit loads into half a register preserve the other half.
    pub sramecc: Feature,
}

impl TargetId {
    /// The processor with any setting of its features, which is what a plain `-mcpu=` means to LLVM.
    pub const fn any(target: Target) -> TargetId {
        TargetId { target, xnack: Feature::Any, sramecc: Feature::Any }
    }

    /// True if a memory access of the code may be replayed, that is, unless the target ID excludes XNACK. The rules of XNACK replay then
    /// apply, as in LLVM for an ID that does not mention the feature (measured with LLVM 22 on all targets).
    pub fn may_replay(self) -> bool {
        self.target.supports_xnack() && self.xnack != Feature::Off
    }

    /// `<target-triple>-<target-id>`, as in `.amdgcn_target` and `amdhsa.target`.
    pub fn triple(self) -> String {
        format!("{TRIPLE}{self}")
    }

    /// The `e_flags` of a code object from V4 on. For a generic target they include its version, which was introduced with V6.
    pub const fn elf_flags(self) -> u32 {
        let xnack = if self.target.supports_xnack() { self.xnack.elf_bits() } else { 0 };
        let sramecc = if self.target.supports_sramecc() { self.sramecc.elf_bits() } else { 0 };
        let generic = match self.target.generic() {
            Some((version, _)) => version,
            None => 0,
        };
        self.target.elf_mach() | xnack << XNACK_SHIFT | sramecc << SRAMECC_SHIFT | generic << GENERIC_SHIFT
    }

    /// Parses `e_flags`; `None` if the processor is unknown to this crate.
    pub fn from_elf_flags(flags: u32) -> Option<TargetId> {
        let target = Target::KNOWN.into_iter().find(|t| t.elf_mach() == flags & MACH_MASK)?;
        let feature = |shift: u32| Feature::from_elf_bits(flags >> shift & 3);
        Some(TargetId { target, xnack: feature(XNACK_SHIFT), sramecc: feature(SRAMECC_SHIFT) })
    }

    /// True if code for this ID runs on a device that identifies itself as `device` (HIP's `gcnArchName`, which
    /// specifies each feature for which the device has a setting).
    pub fn runs_on(self, device: TargetId) -> bool {
        let fits = |code: Feature, device: Feature| code == Feature::Any || code == device;
        self.target.runs_on(device.target)
            && fits(self.xnack, device.xnack)
            && fits(self.sramecc, device.sramecc)
    }
}

/// The target triple with the dash before the target ID; the environment part is empty.
const TRIPLE: &str = "amdgcn-amd-amdhsa--";

impl From<Target> for TargetId {
    fn from(target: Target) -> TargetId {
        TargetId::any(target)
    }
}

impl fmt::Display for TargetId {
    /// Writes the canonical form: features in alphabetical order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.target)?;
        for (name, feature) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            if let Some(sign) = feature.sign() {
                write!(f, ":{name}{sign}")?;
            }
        }
        Ok(())
    }
}

/// A text is not a target ID that this crate supports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetIdError {
    /// The processor is not supported.
    #[error(
        "target id `{id}`: {}{}; supported are {}", .source.problem(), reason(.source.0.as_str(), &PROCESSORS), Target::names()
    )]
    Target {
        /// The text.
        id: String,
        /// The unknown name, and the known ones.
        source: UnknownTarget,
    },
    /// A feature is unknown, does not belong to the target, occurs twice, or has no `+` or `-`.
    #[error("target id `{id}`: `{part}` is not a feature setting of {target}; {}", settings(*.target))]
    Feature {
        /// The text.
        id: String,
        /// The part between colons.
        part: String,
        /// The target before it.
        target: Target,
    },
    /// The triple is that of another operating system or another architecture.
    #[error("target `{id}`: {why}; code objects here are for the HSA runtime: `amdgcn-amd-amdhsa--gfx90a`")]
    System {
        /// The text.
        id: String,
        /// The system or architecture that the triple stands for.
        why: &'static str,
    },
}

/// Processors that are not supported: the beginning of their names, and the remark in the error message.
const PROCESSORS: [(&str, &str); 6] = [
    ("gfx940", PREPRODUCTION),
    ("gfx941", PREPRODUCTION),
    ("gfx6", OLDER),
    ("gfx7", OLDER),
    ("gfx8", OLDER),
    ("gfx12-5", "LLVM 22 has no generic target for GFX12.5; use gfx1250"),
];

const PREPRODUCTION: &str = "it came before the product, and LLVM knows it no more; use gfx942";
const OLDER: &str = "GFX6 to GFX8 encode instructions differently, and are not supported";

/// Processors without a remark, by `EF_AMDGPU_MACH` (measured with LLVM 22; gfx940 and gfx941, which LLVM 22 no longer supports, from the
/// guide of LLVM 18).
const MACHINES: [(u32, &str); 16] = [
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x2b, "gfx810"),
    (0x3a, "gfx602"),
    (0x3b, "gfx705"),
    (0x3c, "gfx805"),
    (0x40, "gfx940"),
    (0x4b, "gfx941"),
];

/// The name of an unsupported `EF_AMDGPU_MACH`, followed by a blank and a remark in parentheses; without a remark if there is none.
pub(crate) fn processor(mach: u32) -> String {
    let named = MACHINES.iter().find(|(number, _)| *number == mach);
    named.map_or_else(String::new, |(_, name)| format!(" ({name}{})", reason(name, &PROCESSORS)))
}

/// Triples that are not supported: their beginning, and what they stand for.
const SYSTEMS: [(&str, &str); 5] = [
    ("amdgcn-amd-amdpal", "code objects of AMD's PAL (graphics) are not supported"),
    ("amdgcn-mesa-", "code objects of Mesa 3D are not supported"),
    ("amdgcn--", "code without an operating system is not supported"),
    ("r600", "R600 to Cayman came before GCN, with instructions of their own, which are not supported"),
    ("amdgpu-amd-amdpal", "code objects of AMD's PAL (graphics) are not supported"),
];

/// The remark about a name in a list, preceded by a semicolon; empty if the name is not in the list.
fn reason(name: &str, list: &[(&str, &str)]) -> String {
    list.iter()
        .find(|(begin, _)| name.starts_with(begin))
        .map(|(_, why)| format!("; {why}"))
        .unwrap_or_default()
}

/// The feature settings that a target has, in a sentence for error messages.
fn settings(target: Target) -> String {
    let features = [("xnack", target.supports_xnack()), ("sramecc", target.supports_sramecc())];
    let had = features.iter().filter(|(_, has)| *has).map(|(name, _)| format!("`{name}+` or `{name}-`"));
    match had.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "it has none".to_owned(),
        some => format!("it has {some}, each at most once"),
    }
}

impl FromStr for TargetId {
    type Err = TargetIdError;

    /// Parses a target ID with or without the triple before it. Newer compilers write `unknown` for the empty
    /// environment and `amdgpu9.42` for `amdgcn`; both are accepted.
    fn from_str(text: &str) -> Result<TargetId, TargetIdError> {
        if let Some((_, why)) = SYSTEMS.iter().find(|(begin, _)| text.starts_with(begin)) {
            return Err(TargetIdError::System { id: text.to_owned(), why });
        }
        let mut parts = without_triple(text).split(':');
        let target = parts.next().unwrap_or_default().parse();
        let target = target.map_err(|source| TargetIdError::Target { id: text.to_owned(), source })?;
        let mut id = TargetId::any(target);
        for part in parts {
            let bad = || TargetIdError::Feature { id: text.to_owned(), part: part.to_owned(), target };
            let (name, setting) = match part.strip_suffix('+') {
                Some(name) => (name, Feature::On),
                None => (part.strip_suffix('-').ok_or_else(bad)?, Feature::Off),
            };
            let slot = match name {
                "xnack" if target.supports_xnack() => &mut id.xnack,
                "sramecc" if target.supports_sramecc() => &mut id.sramecc,
                _ => return Err(bad()),
            };
            if std::mem::replace(slot, setting) != Feature::Any {
                return Err(bad());
            }
        }
        Ok(id)
    }
}

/// The text after `<architecture>-amd-amdhsa-<environment>-`.
fn without_triple(text: &str) -> &str {
    let Some((architecture, rest)) = text.split_once("-amd-amdhsa-") else { return text };
    if architecture != "amdgcn" && !architecture.starts_with("amdgpu") {
        return text;
    }
    rest.strip_prefix("unknown-").or_else(|| rest.strip_prefix('-')).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_of_old_and_new_compilers_are_read() {
        let id = TargetId { xnack: Feature::On, ..TargetId::any(Target::GFX942) };
        let triples = [
            "gfx942:xnack+",
            "amdgcn-amd-amdhsa--gfx942:xnack+",
            "amdgcn-amd-amdhsa-unknown-gfx942:xnack+",
            "amdgpu9.42-amd-amdhsa-unknown-gfx942:xnack+",
            "amdgcn-amd-amdhsa-gfx942:xnack+",
        ];
        for text in triples {
            assert_eq!(text.parse(), Ok(id), "{text}");
        }
        for text in
            ["x86_64-amd-amdhsa--gfx942", "amdgcn-amd-amdpal--gfx942", "amdgcn-amd-amdhsa--", "gfx942:xnack"]
        {
            assert!(text.parse::<TargetId>().is_err(), "{text}");
        }
    }

    #[test]
    fn processors_of_objects_are_named() {
        let cases = [(0x2a, "gfx803; GFX6 to GFX8"), (0x40, "use gfx942")];
        for (mach, part) in cases {
            assert!(processor(mach).contains(part), "{}", processor(mach));
        }
        assert_eq!(processor(Target::GFX942.elf_mach()), "");
        // A remark about a name must also be found by the processor's number.
        assert!(MACHINES.iter().all(|(mach, _)| processor(*mach).contains("; ")));
    }

    #[test]
    fn what_is_not_supported_is_named() {
        let cases = [
            ("gfx940", "use gfx942"),
            ("amdgcn-amd-amdhsa--gfx941", "use gfx942"),
            ("gfx803", "GFX6 to GFX8"),
            ("gfx12-5-generic", "GFX12.5"),
            ("amdgcn-amd-amdpal--gfx900", "PAL"),
            ("amdgcn-mesa-mesa3d--gfx900", "Mesa"),
            ("r600-mesa-mesa3d--cedar", "R600"),
            // According to LLVM's guide, these processors have only XNACK; gfx90a has both features.
            ("gfx900:sramecc+", "it has `xnack+` or `xnack-`, each"),
            ("gfx90a:tgsplit+", "it has `xnack+` or `xnack-`, `sramecc+` or `sramecc-`, each"),
        ];
        for (text, part) in cases {
            let message = text.parse::<TargetId>().unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
