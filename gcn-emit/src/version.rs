//! Versions of code objects.

/// The version of the code object format (guide, *Code Object Metadata*): the value of `e_ident[EI_ABIVERSION]`, and
/// the form of the target id in `e_flags`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum CodeObjectVersion {
    /// `.amdhsa_code_object_version 4`.
    V4,
    /// `.amdhsa_code_object_version 5`.
    V5,
    /// `.amdhsa_code_object_version 6`, LLVM 22's default.
    #[default]
    V6,
}

impl CodeObjectVersion {
    /// Every version, with its number and `e_ident[EI_ABIVERSION]`.
    const NUMBERS: [(CodeObjectVersion, u32, u8); 3] =
        [(CodeObjectVersion::V4, 4, 2), (CodeObjectVersion::V5, 5, 3), (CodeObjectVersion::V6, 6, 4)];

    /// The version with this number; `None` if there is none.
    pub fn from_number(number: u32) -> Option<CodeObjectVersion> {
        CodeObjectVersion::NUMBERS.iter().find(|v| v.1 == number).map(|v| v.0)
    }

    /// The number: 4, 5 or 6.
    pub fn number(self) -> u32 {
        CodeObjectVersion::NUMBERS.iter().find(|v| v.0 == self).map_or(0, |v| v.1)
    }

    /// `e_ident[EI_ABIVERSION]` (guide, *ELF Header*).
    pub fn abi_version(self) -> u8 {
        CodeObjectVersion::NUMBERS.iter().find(|v| v.0 == self).map_or(0, |v| v.2)
    }

    /// The version with this `e_ident[EI_ABIVERSION]`; `None` if there is none.
    pub fn from_abi_version(abi_version: u8) -> Option<CodeObjectVersion> {
        CodeObjectVersion::NUMBERS.iter().find(|v| v.2 == abi_version).map(|v| v.0)
    }
}
