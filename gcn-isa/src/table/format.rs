//! Encoding formats.

/// The unit that executes the instructions of a format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unit {
    /// Scalar ALU and program control.
    Scalar,
    /// Scalar memory.
    ScalarMemory,
    /// Vector ALU, including matrix instructions.
    Vector,
    /// LDS and GDS.
    Lds,
    /// Vector memory.
    VectorMemory,
}

macro_rules! formats {
    ($($unit:ident: $($name:ident = $text:literal)*;)*) => {
        /// An encoding format.
        #[allow(missing_docs, reason = "the manuals' format names")]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Format { $($($name,)*)* }

        impl Format {
            const NAMES: &[(&'static str, Format)] = &[$($(($text, Format::$name),)*)*];

            /// The name of the format in the table files.
            pub const fn name(self) -> &'static str {
                match self { $($(Format::$name => $text,)*)* }
            }

            /// The unit that executes such instructions.
            pub const fn unit(self) -> Unit {
                match self { $($(Format::$name)|* => Unit::$unit,)* }
            }
        }
    };
}

formats! {
    Scalar: Sop1 = "SOP1" Sop2 = "SOP2" Sopc = "SOPC" Sopk = "SOPK" Sopp = "SOPP";
    ScalarMemory: Smem = "SMEM";
    Vector:
        Vop1 = "VOP1" Vop1Dpp = "VOP1_DPP" Vop1Dpp8 = "VOP1_DPP8" Vop1Sdwa = "VOP1_SDWA"
        Vop2 = "VOP2" Vop2Dpp = "VOP2_DPP" Vop2Dpp8 = "VOP2_DPP8" Vop2Sdwa = "VOP2_SDWA"
        Vopc = "VOPC" VopcDpp = "VOPC_DPP" VopcDpp8 = "VOPC_DPP8" VopcSdwa = "VOPC_SDWA"
        Vop3a = "VOP3A" Vop3aDpp = "VOP3A_DPP" Vop3aDpp8 = "VOP3A_DPP8"
        Vop3b = "VOP3B" Vop3bDpp = "VOP3B_DPP" Vop3bDpp8 = "VOP3B_DPP8"
        Vop3p = "VOP3P" Vop3pDpp = "VOP3P_DPP" Vop3pDpp8 = "VOP3P_DPP8"
        Vop3pMai = "VOP3P_MAI" Vop3px2 = "VOP3PX2" Vopd = "VOPD" Vopd3 = "VOPD3";
    Lds: Ds = "DS" Vds = "VDS" LdsDir = "LDSDIR" VdsDir = "VDSDIR";
    VectorMemory:
        Flat = "FLAT" Global = "GLOBAL" Scratch = "SCRATCH" Mubuf = "MUBUF" Mtbuf = "MTBUF"
        VFlat = "VFLAT" VGlobal = "VGLOBAL" VScratch = "VSCRATCH" VBuffer = "VBUFFER" VBufferTyped = "VBUFFER_T" VImage = "VIMAGE";
}

impl Format {
    /// The format with this name in the table files; `None` if there is none.
    pub fn named(name: &str) -> Option<Format> {
        Format::NAMES.iter().find(|f| f.0 == name).map(|f| f.1)
    }

    /// True for the vector ALU formats, including those of matrix instructions.
    pub fn is_vop(self) -> bool {
        self.unit() == Unit::Vector
    }

    /// True for encodings that contain two instructions.
    pub const fn is_pair(self) -> bool {
        matches!(self, Format::Vopd | Format::Vopd3)
    }

    /// True for instructions that address memory through a buffer resource.
    pub const fn is_buffer(self) -> bool {
        use Format as F;
        matches!(self, F::Mubuf | F::Mtbuf | F::VBuffer | F::VBufferTyped)
    }

    /// True for the encodings with data-parallel primitives.
    pub const fn is_dpp(self) -> bool {
        use Format as F;
        matches!(
            self,
            F::Vop1Dpp
                | F::Vop2Dpp
                | F::VopcDpp
                | F::Vop3aDpp
                | F::Vop3bDpp
                | F::Vop3pDpp
                | F::Vop1Dpp8
                | F::Vop2Dpp8
                | F::VopcDpp8
                | F::Vop3aDpp8
                | F::Vop3bDpp8
                | F::Vop3pDpp8
        )
    }

    /// True for the long vector encodings with data-parallel primitives, which have a third dword and exist from RDNA 3
    /// on.
    pub const fn is_long_dpp(self) -> bool {
        use Format as F;
        matches!(self, F::Vop3aDpp | F::Vop3bDpp | F::Vop3pDpp | F::Vop3aDpp8 | F::Vop3bDpp8 | F::Vop3pDpp8)
    }

    /// True for the encodings that select the source lane within each group of eight.
    pub const fn is_dpp8(self) -> bool {
        use Format as F;
        matches!(self, F::Vop1Dpp8 | F::Vop2Dpp8 | F::VopcDpp8 | F::Vop3aDpp8 | F::Vop3bDpp8 | F::Vop3pDpp8)
    }

    /// True for the encodings with sub-dword addressing.
    pub const fn is_sdwa(self) -> bool {
        matches!(self, Format::Vop1Sdwa | Format::Vop2Sdwa | Format::VopcSdwa)
    }
}
