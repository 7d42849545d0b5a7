//! The table of modifiers: the field of [`Mods`] that holds each, its name, and its flag in the rows of instructions.

use bitflags::bitflags;

use super::Mods;

/// A field of [`Mods`], as bits.
trait Field: Copy {
    fn bits(self) -> u32;
    fn of_bits(bits: u32) -> Self;
}

macro_rules! fields {
    ($($ty:ty)*) => {
        $(impl Field for $ty {
            fn bits(self) -> u32 {
                self as u32
            }
            fn of_bits(bits: u32) -> $ty {
                bits as $ty
            }
        })*
    };
}

fields!(u8 u16 i32);

impl Field for bool {
    fn bits(self) -> u32 {
        self.into()
    }
    fn of_bits(bits: u32) -> bool {
        bits != 0
    }
}

macro_rules! get {
    ($mods:ident, $field:ident) => {
        $mods.$field.bits()
    };
    ($mods:ident, $group:ident.$field:ident) => {
        $mods.$group.map_or(0, |g| g.$field.bits())
    };
}

macro_rules! set {
    ($mods:ident, $value:ident, $field:ident) => {
        $mods.$field = Field::of_bits($value)
    };
    ($mods:ident, $value:ident, $group:ident.$field:ident) => {
        if let Some(group) = &mut $mods.$group {
            group.$field = Field::of_bits($value);
        }
    };
}

macro_rules! modifiers {
    ($($variant:ident = $name:literal in $field:ident $(.$part:ident)? $(=> $flag:ident = $bit:literal)?,)*) => {
        /// A modifier, as a field of [`Mods`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Modifier {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        bitflags! {
            /// The modifiers that a row of the instruction table can list. `sc0`, `nt`, `sc1` are the later spellings of
            /// `glc`, `slc`, `scc`.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub struct Modifiers: u64 {
                $($(#[doc = concat!("`", $name, "`.")] const $flag = 1 << $bit;)?)*
            }
        }

        impl Modifier {
            /// Every modifier.
            pub const ALL: &[Modifier] = &[$(Modifier::$variant),*];

            /// The name in messages, which is the word of the assembler where there is one word.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Modifier::$variant => $name,)*
                }
            }

            /// The value. An offset is its 32-bit two's complement; DPP and SDWA controls are 0 on an instruction without them.
            pub fn get(self, mods: &Mods) -> u32 {
                match self {
                    $(Modifier::$variant => get!(mods, $field $(.$part)?),)*
                }
            }

            /// Sets the value; the inverse of [`Modifier::get`]. DPP and SDWA controls are set only on instructions that have
            /// them.
            pub fn set(self, mods: &mut Mods, value: u32) {
                match self {
                    $(Modifier::$variant => set!(mods, value, $field $(.$part)?),)*
                }
            }

            /// The flag in the rows of the table. Empty where rows list the modifier for each source (`abs`, `sext`), and where it
            /// goes with the encoding (buffer formats, `tfe`).
            pub const fn flag(self) -> Modifiers {
                match self {
                    $(Modifier::$variant => Modifiers::empty()$(.union(Modifiers::$flag))?,)*
                }
            }
        }
    };
}

impl Modifiers {
    /// The controls of DPP.
    pub const DPP: Modifiers = Modifiers::DPP_CTRL
        .union(Modifiers::ROW_MASK)
        .union(Modifiers::BANK_MASK)
        .union(Modifiers::BOUND_CTRL);
    /// The selectors of SDWA.
    pub const SDWA: Modifiers =
        Modifiers::DST_SEL.union(Modifiers::DST_UNUSED).union(Modifiers::SRC0_SEL).union(Modifiers::SRC1_SEL);
}

modifiers! {
    Clamp = "clamp" in clamp => CLAMP = 0,
    Omod = "omod" in omod => OMOD = 1,
    OpSel = "op_sel" in op_sel => OP_SEL = 2,
    OpSelHi = "op_sel_hi" in op_sel_hi => OP_SEL_HI = 3,
    NegLo = "neg_lo" in neg_lo => NEG_LO = 4,
    NegHi = "neg_hi" in neg_hi => NEG_HI = 5,
    Neg = "neg" in neg => NEG = 6,
    Abs = "abs" in abs,
    Sext = "sext" in sext,
    DppCtrl = "dpp_ctrl" in dpp.ctrl => DPP_CTRL = 7,
    RowMask = "row_mask" in dpp.row_mask => ROW_MASK = 8,
    BankMask = "bank_mask" in dpp.bank_mask => BANK_MASK = 9,
    BoundCtrl = "bound_ctrl" in dpp.bound_ctrl => BOUND_CTRL = 10,
    DstSel = "dst_sel" in sdwa.dst_sel => DST_SEL = 11,
    DstUnused = "dst_unused" in sdwa.dst_unused => DST_UNUSED = 12,
    Src0Sel = "src0_sel" in sdwa.src0_sel => SRC0_SEL = 13,
    Src1Sel = "src1_sel" in sdwa.src1_sel => SRC1_SEL = 14,
    Offset = "offset" in offset => OFFSET = 15,
    Offset0 = "offset0" in offset0 => OFFSET0 = 16,
    Offset1 = "offset1" in offset1 => OFFSET1 = 17,
    Glc = "glc" in glc => GLC = 18,
    Slc = "slc" in slc => SLC = 19,
    Scc = "scc" in scc => SCC = 20,
    Offen = "offen" in offen => OFFEN = 21,
    Idxen = "idxen" in idxen => IDXEN = 22,
    Lds = "lds" in lds => LDS = 23,
    Tfe = "tfe" in tfe,
    Gds = "gds" in gds => GDS = 24,
    Format = "format" in format,
    Cbsz = "cbsz" in cbsz => CBSZ = 25,
    Abid = "abid" in abid => ABID = 26,
    Blgp = "blgp" in blgp => BLGP = 27,
    Bitop3 = "bitop3" in bitop3 => BITOP3 = 28,
}
