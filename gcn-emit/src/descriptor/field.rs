//! The bit fields of a kernel descriptor, as the guide's tables list them; those of gfx12.5 as LLVM 22 does in
//! `AMDHSAKernelDescriptor.h`.

use gcn_isa::Target;

/// The word of a descriptor that contains a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// `COMPUTE_PGM_RSRC1`.
    Rsrc1,
    /// `COMPUTE_PGM_RSRC2`.
    Rsrc2,
    /// `COMPUTE_PGM_RSRC3`.
    Rsrc3,
    /// Bits 448 to 463 of the descriptor.
    Properties,
}

impl Word {
    /// The word's first bit in the descriptor.
    pub(super) const fn first_bit(self) -> usize {
        match self {
            Word::Rsrc3 => 352,
            Word::Rsrc1 => 384,
            Word::Rsrc2 => 416,
            Word::Properties => 448,
        }
    }
}

/// A bit field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name in the guide.
    pub name: &'static str,
    /// The word.
    pub word: Word,
    /// The lowest bit in the word.
    pub lo: u8,
    /// The number of bits.
    pub bits: u8,
}

impl Field {
    const fn mask(self) -> u32 {
        (1 << self.bits) - 1
    }

    pub(super) const fn of(self, word: u32) -> u32 {
        word >> self.lo & self.mask()
    }

    pub(super) fn put(self, word: &mut u32, value: u32) {
        *word = *word & !(self.mask() << self.lo) | (value & self.mask()) << self.lo;
    }
}

macro_rules! fields {
    (@name $name:ident) => { stringify!($name) };
    (@name $name:ident $guide:ident) => { stringify!($guide) };
    ($($name:ident $(($guide:ident))? = $word:ident[$lo:literal, $bits:literal];)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`: ", stringify!($bits), " bits from ", stringify!($lo), ".")]
            pub(crate) const $name: Field =
                Field { name: fields!(@name $name $($guide)?), word: Word::$word, lo: $lo, bits: $bits };
        )*

        impl Field {
            /// Every field that this crate writes.
            pub const ALL: &[Field] = &[$($name),*];

            /// The field with this name in the guide; `None` if there is none.
            pub fn named(name: &str) -> Option<Field> {
                Field::ALL.iter().copied().find(|f| f.name == name)
            }
        }
    };
}

fields! {
    GRANULATED_WORKITEM_VGPR_COUNT = Rsrc1[0, 6];
    GRANULATED_WAVEFRONT_SGPR_COUNT = Rsrc1[6, 4];
    FLOAT_ROUND_MODE_32 = Rsrc1[12, 2];
    FLOAT_ROUND_MODE_16_64 = Rsrc1[14, 2];
    FLOAT_DENORM_MODE_32 = Rsrc1[16, 2];
    FLOAT_DENORM_MODE_16_64 = Rsrc1[18, 2];
    ENABLE_DX10_CLAMP = Rsrc1[21, 1];
    ENABLE_IEEE_MODE = Rsrc1[23, 1];
    WG_RR_EN = Rsrc1[21, 1];
    FP16_OVFL = Rsrc1[26, 1];
    WGP_MODE = Rsrc1[29, 1];
    MEM_ORDERED = Rsrc1[30, 1];
    FWD_PROGRESS = Rsrc1[31, 1];
    ENABLE_PRIVATE_SEGMENT = Rsrc2[0, 1];
    USER_SGPR_COUNT = Rsrc2[1, 5];
    USER_SGPR_COUNT_12_5 (USER_SGPR_COUNT) = Rsrc2[1, 6];
    ENABLE_SGPR_WORKGROUP_ID_X = Rsrc2[7, 1];
    ENABLE_SGPR_WORKGROUP_ID_Y = Rsrc2[8, 1];
    ENABLE_SGPR_WORKGROUP_ID_Z = Rsrc2[9, 1];
    ENABLE_SGPR_WORKGROUP_INFO = Rsrc2[10, 1];
    ENABLE_VGPR_WORKITEM_ID = Rsrc2[11, 2];
    EXCEPTIONS = Rsrc2[24, 7];
    ACCUM_OFFSET = Rsrc3[0, 6];
    SHARED_VGPR_COUNT = Rsrc3[0, 4];
    INST_PREF_SIZE = Rsrc3[4, 6];
    INST_PREF_SIZE_12 (INST_PREF_SIZE) = Rsrc3[4, 8];
    NAMED_BAR_CNT = Rsrc3[14, 3];
    TG_SPLIT = Rsrc3[16, 1];
    USER_SGPRS = Properties[0, 7];
    ENABLE_WAVEFRONT_SIZE32 = Properties[10, 1];
    USES_DYNAMIC_STACK = Properties[11, 1];
}

/// `USER_SGPR_COUNT`, which is wider if there are more user SGPRs.
pub(crate) fn user_sgpr_count(target: Target) -> Field {
    let wide = target.most_user_sgprs() >= 1 << USER_SGPR_COUNT.bits;
    if wide { USER_SGPR_COUNT_12_5 } else { USER_SGPR_COUNT }
}
