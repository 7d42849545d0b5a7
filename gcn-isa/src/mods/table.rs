//! The table of modifiers. For each modifier, it has the field of [`Mods`], the name, and the flag in the rows of instructions.

use bitflags::bitflags;

use super::Mods;

/// A field of [`Mods`] as a bit pattern.
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

fields!(u8 u16 u32 i32);

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
    ($($variant:ident = $name:literal in $field:ident $(.$part:ident)? $(=> $flag:ident = $bit:literal)?: $meaning:literal;)*) => {
        /// A modifier, as a field of [`Mods`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Modifier {
            $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $variant,)*
        }

        bitflags! {
            /// The modifiers that a row of the instruction table can list. `sc0`, `nt` and `sc1` are the later
            /// spellings of `glc`, `slc` and `scc`.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub struct Modifiers: u64 {
                $($(#[doc = concat!("`", $name, "`.")] const $flag = 1 << $bit;)?)*
            }
        }

        impl Modifier {
            /// All modifiers.
            pub const ALL: &[Modifier] = &[$(Modifier::$variant),*];

            /// The name in messages, which is the assembler's word if there is exactly one.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Modifier::$variant => $name,)*
                }
            }

            /// A description of the modifier's effect.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Modifier::$variant => $meaning,)*
                }
            }

            /// The modifier's value. An offset is in 32-bit two's complement; DPP and SDWA controls are 0 on an
            /// instruction without them.
            pub fn get(self, mods: &Mods) -> u32 {
                match self {
                    $(Modifier::$variant => get!(mods, $field $(.$part)?),)*
                }
            }

            /// Sets the modifier's value. This is the inverse of [`Modifier::get`]. DPP and SDWA controls are set only on instructions that
            /// have them.
            pub fn set(self, mods: &mut Mods, value: u32) {
                match self {
                    $(Modifier::$variant => set!(mods, value, $field $(.$part)?),)*
                }
            }

            /// The modifier's flag in the rows of the table. It is empty if rows list the modifier for each source (`abs`, `sext`), or if
            /// the modifier follows from the encoding (buffer formats, `tfe`).
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
    Clamp = "clamp" in clamp => CLAMP = 0: "clamps a float result to 0 to 1, or an integer result to the range of its type";
    Omod = "omod" in omod => OMOD = 1: "multiplies a float result by 2 or 4 or divides it by 2, after the operation";
    OpSel = "op_sel" in op_sel => OP_SEL = 2: "selects the upper half of a 16-bit source, or the half of the destination, one bit for each operand";
    OpSelHi = "op_sel_hi" in op_sel_hi => OP_SEL_HI = 3: "packed math: selects the half of each source from which the upper result is made";
    NegLo = "neg_lo" in neg_lo => NEG_LO = 4: "packed math: negates each source of the lower result";
    NegHi = "neg_hi" in neg_hi => NEG_HI = 5: "packed math: negates each source of the upper result";
    Neg = "neg" in neg => NEG = 6: "negates sources";
    Abs = "abs" in abs: "takes the absolute value of sources";
    Sext = "sext" in sext: "SDWA: sign-extends the selected part of sources";
    DppCtrl = "dpp_ctrl" in dpp.ctrl => DPP_CTRL = 7: "DPP: the lane from which each lane reads source 0";
    RowMask = "row_mask" in dpp.row_mask => ROW_MASK = 8: "DPP: the rows of 16 lanes that are written, one bit for each";
    BankMask = "bank_mask" in dpp.bank_mask => BANK_MASK = 9: "DPP: the banks of 4 lanes that are written, one bit for each";
    BoundCtrl = "bound_ctrl" in dpp.bound_ctrl => BOUND_CTRL = 10: "DPP: lanes that read beyond their row get 0; without it they keep the destination";
    DstSel = "dst_sel" in sdwa.dst_sel => DST_SEL = 11: "SDWA: the part of the destination that is written";
    DstUnused = "dst_unused" in sdwa.dst_unused => DST_UNUSED = 12: "SDWA: what happens to the other parts of the destination";
    Src0Sel = "src0_sel" in sdwa.src0_sel => SRC0_SEL = 13: "SDWA: the part of source 0 that is read";
    Src1Sel = "src1_sel" in sdwa.src1_sel => SRC1_SEL = 14: "SDWA: the part of source 1 that is read";
    Offset = "offset" in offset => OFFSET = 15: "a constant byte offset that is added to the address";
    Offset0 = "offset0" in offset0 => OFFSET0 = 16: "the offset of the first access, in units of its size (64 times that for the st64 forms)";
    Offset1 = "offset1" in offset1 => OFFSET1 = 17: "the offset of the second access, in units of its size (64 times that for the st64 forms)";
    Glc = "glc" in glc => GLC = 18: "globally coherent, and of an atomic: returns the value from before; `sc0` from gfx942 on";
    Slc = "slc" in slc => SLC = 19: "streaming: the data will not be used again soon; `nt` from gfx942 on";
    Scc = "scc" in scc => SCC = 20: "coherent beyond the device; `sc1` from gfx942 on";
    Offen = "offen" in offen => OFFEN = 21: "a VGPR holds a byte offset";
    Idxen = "idxen" in idxen => IDXEN = 22: "a VGPR holds the index of a structure";
    Lds = "lds" in lds => LDS = 23: "the data go to LDS or come from it, at an address in M0";
    Tfe = "tfe" in tfe: "a status dword is returned after the data, for partially resident textures";
    Gds = "gds" in gds => GDS = 24: "accesses the global data share instead of LDS";
    Format = "format" in format: "the data and number format of a typed buffer access";
    Cbsz = "cbsz" in cbsz => CBSZ = 25: "MFMA: broadcasts a block of A to groups of 2^n blocks; f8f6f4: the format of A";
    Abid = "abid" in abid => ABID = 26: "MFMA: the block of A that `cbsz` broadcasts";
    Blgp = "blgp" in blgp => BLGP = 27: "MFMA: permutes the lane groups of B; f64: negation; f8f6f4: the format of B";
    Dlc = "dlc" in dlc => DLC = 29: "RDNA 1 to 3: coherent beyond the caches of the shader array";
    Dpp8 = "dpp8" in dpp8 => DPP8 = 30: "DPP: for each lane of a group of eight the lane from which it reads source 0";
    Fi = "fi" in fi => FI = 31: "DPP: lanes that EXEC masks off are read all the same, instead of counting as out of range";
    Th = "th" in th => TH = 32: "RDNA 4: how long the caches should keep the data, and of an atomic whether it returns the value from before";
    Scope = "scope" in scope => SCOPE = 33: "RDNA 4: the part of the device for which the access is coherent";
    ByteSel = "byte_sel" in byte_sel => BYTE_SEL = 35: "the byte of the source that is read, or of the destination that is written";
    IndexKey = "index_key" in index_key => INDEX_KEY = 36: "sparse matrices: the part of the index register that counts";
    WaitVdst = "wait_vdst" in wait_vdst => WAIT_VDST = 37: "waits until at most so many vector ALU instructions are unfinished";
    WaitVaVdst = "wait_va_vdst" in wait_vdst => WAIT_VA_VDST = 38: "waits until at most so many vector ALU instructions are unfinished";
    WaitVmVsrc = "wait_vm_vsrc" in wait_vm_vsrc => WAIT_VM_VSRC = 39: "waits until at most so many vector memory instructions still read their sources";
    Nv = "nv" in nv => NV = 40: "gfx12.5: the data are not volatile";
    ScaleOffset = "scale_offset" in scale_offset => SCALE_OFFSET = 41: "gfx12.5: the offset in a register is multiplied by the size of an element";
    MatrixAFmt = "matrix_a_fmt" in cbsz => MATRIX_A_FMT = 42: "the format of A";
    MatrixBFmt = "matrix_b_fmt" in blgp => MATRIX_B_FMT = 43: "the format of B";
    MatrixAScale = "matrix_a_scale" in matrix_a_scale => MATRIX_A_SCALE = 44: "which lanes have the scales of A";
    MatrixBScale = "matrix_b_scale" in matrix_b_scale => MATRIX_B_SCALE = 45: "which lanes have the scales of B";
    MatrixAScaleFmt = "matrix_a_scale_fmt" in matrix_a_scale_fmt => MATRIX_A_SCALE_FMT = 46: "the type of the scales of A";
    MatrixBScaleFmt = "matrix_b_scale_fmt" in matrix_b_scale_fmt => MATRIX_B_SCALE_FMT = 47: "the type of the scales of B";
    MatrixAReuse = "matrix_a_reuse" in matrix_a_reuse => MATRIX_A_REUSE = 48: "a hint that the next matrix instruction has the same A";
    MatrixBReuse = "matrix_b_reuse" in matrix_b_reuse => MATRIX_B_REUSE = 49: "a hint that the next matrix instruction has the same B";
    ScaleSel = "scale_sel" in scale_sel => SCALE_SEL = 50: "the part of the source that has the scale";
    Bitop3 = "bitop3" in bitop3 => BITOP3 = 28: "the truth table of the three sources: bit 4a+2b+c is the result for bits a, b, c";
}

/// Declares flags named after words of the assembler.
macro_rules! words {
    ($(#[doc = $doc:literal])* $name:ident: $ty:ty { $($flag:ident)* }) => {
        const _: () = {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "they number the words")]
            enum Word { $($flag),* }

            bitflags! {
                impl $name: $ty {
                    $(#[doc = concat!("`", stringify!($flag), "`.")] const $flag = 1 << Word::$flag as $ty;)*
                }
            }
        };

        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name($ty);
    };
}

words! {
    /// The DPP controls of a form, with the names of the assembler's words.
    DppControls: u16 {
        QUAD_PERM ROW_SHL ROW_SHR ROW_ROR ROW_SHARE ROW_XMASK WAVE_SHL WAVE_ROL WAVE_SHR WAVE_ROR ROW_MIRROR ROW_HALF_MIRROR
        ROW_BCAST ROW_NEWBCAST
    }
}

words! {
    /// The temporal hints that `th:` can give, on RDNA 4.
    TemporalHints: u32 {
        TH_LOAD_BYPASS TH_LOAD_HT TH_LOAD_LU TH_LOAD_NT TH_LOAD_NT_HT TH_LOAD_NT_RT TH_LOAD_RT_NT
        TH_STORE_BYPASS TH_STORE_HT TH_STORE_NT TH_STORE_NT_HT TH_STORE_NT_RT TH_STORE_NT_WB TH_STORE_RT_NT TH_STORE_WB
        TH_ATOMIC_CASCADE_NT TH_ATOMIC_CASCADE_RT TH_ATOMIC_NT TH_ATOMIC_NT_RETURN TH_ATOMIC_RETURN
    }
}

impl DppControls {
    /// The control that a word of the assembler sets; `None` for other words.
    pub fn named(word: &str) -> Option<DppControls> {
        named(word)
    }
}

impl Modifiers {
    /// The modifier with this name in the table files; `None` if there is none.
    pub fn named(name: &str) -> Option<Modifiers> {
        named(name)
    }
}

/// The flag whose name in lower case is `name`; `None` if there is none.
pub(crate) fn named<F: bitflags::Flags + Copy>(name: &str) -> Option<F> {
    F::FLAGS.iter().find(|flag| flag.name().eq_ignore_ascii_case(name)).map(|flag| *flag.value())
}
