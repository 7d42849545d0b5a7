//! The table of processors, with one row for each.

use std::fmt;
use std::str::FromStr;

use super::instruction_set::{Family, Generation, InstructionSet, NamedSgprs, WaveSize, facts};
use super::reg_file::RegFile;

/// The VGPRs of one lane of a SIMD, which the waves on the SIMD share, and the units in which these VGPRs are allocated, for one wave size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VgprFile {
    /// The number of registers (of the unified file, if there is one).
    pub registers: u32,
    /// The unit of allocation: a wave gets a multiple of this number.
    pub granule: u32,
    /// The unit in which the descriptor counts VGPRs.
    pub block: u32,
}

/// The VGPR files for 64-lane waves and, if supported, for 32-lane waves, which have twice the number of registers.
#[derive(Clone, Copy)]
enum Vgprs {
    Gcn,
    Cdna2,
    /// 64 KiB for each SIMD, in blocks of 8.
    Rdna1,
    /// 128 KiB; 1024 registers for each lane of 32-lane waves.
    Rdna1024,
    /// 192 KiB; 1536 registers for each lane of 32-lane waves.
    Rdna1536,
    /// 128 KiB for 32-lane waves. One wave can have all registers.
    Cdna5,
}

impl Vgprs {
    const fn of(self, wave: WaveSize) -> VgprFile {
        let (registers, granule, block) = match self {
            Vgprs::Gcn => (256, 4, 4),
            Vgprs::Cdna2 => (512, 8, 8),
            Vgprs::Rdna1 => (512, 4, 4),
            Vgprs::Rdna1024 => (512, 8, 4),
            Vgprs::Rdna1536 => (768, 12, 4),
            Vgprs::Cdna5 => (512, 8, 8),
        };
        let factor = match (self, wave) {
            (Vgprs::Gcn | Vgprs::Cdna2, _) | (_, WaveSize::W64) => 1,
            (_, WaveSize::W32) => 2,
        };
        VgprFile { registers: registers * factor, granule: granule * factor, block: block * factor }
    }
}

/// The properties of a processor, in addition to its instruction set.
#[derive(Clone, Copy)]
struct Chip {
    vgprs: Vgprs,
    /// The maximum number of waves that one SIMD can hold.
    waves: u32,
    /// The largest LDS size of a workgroup, in bytes.
    lds: u32,
    /// The allocation granularity of LDS, in bytes: 128 dwords, 320 on gfx950 (LLVM AMDGPU guide,
    /// `GRANULATED_LDS_SIZE`), and 1024 bytes from RDNA 2 on, which the guide does not mention (RDNA 3.5 ISA, section
    /// 3.3.4; RDNA 4 ISA, 3.3.5; Mesa, `lds_alloc_granule`).
    lds_granule: u32,
    xnack: bool,
    sramecc: bool,
}

const VEGA: Chip =
    Chip { vgprs: Vgprs::Gcn, waves: 10, lds: 65_536, lds_granule: 512, xnack: true, sramecc: false };
const VEGA_20: Chip = Chip { sramecc: true, ..VEGA };
const CDNA2: Chip = Chip { vgprs: Vgprs::Cdna2, waves: 8, ..VEGA_20 };
const CDNA4: Chip = Chip { lds: 163_840, lds_granule: 1280, ..CDNA2 };
const RDNA1: Chip = Chip { vgprs: Vgprs::Rdna1, waves: 20, ..VEGA };
const RDNA2: Chip = Chip { vgprs: Vgprs::Rdna1024, waves: 16, lds_granule: 1024, xnack: false, ..RDNA1 };
/// RDNA 3 and later with the larger register file. Chips with the smaller register file have the values of RDNA 2.
const RDNA3: Chip = Chip { vgprs: Vgprs::Rdna1536, ..RDNA2 };
const CDNA5: Chip = Chip { vgprs: Vgprs::Cdna5, lds: 327_680, xnack: true, sramecc: true, ..RDNA2 };

macro_rules! targets {
    ($($(#[doc = $doc:literal])* $target:ident = $name:literal, $set:ident, $chip:ident, $mach:literal $(, generic $generic:literal $version:tt: $($member:ident)+)?;)*) => {
        /// A processor of AMD, or the common part of several (`gfx9-generic`).
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        #[expect(non_camel_case_types, reason = "the names that LLVM and ROCm have, with `_` for `-`")]
        pub enum Target { $($(#[doc = $doc])* $target,)* }

        const CHIPS: [Chip; Target::KNOWN.len()] = [$($chip),*];

        impl Target {
            /// Every processor, oldest first within its family.
            pub const KNOWN: [Target; [$(Target::$target),*].len()] = [$(Target::$target),*];

            /// The processor name in the spelling of LLVM and ROCm, for example `gfx942`.
            pub const fn name(self) -> &'static str {
                match self { $(Target::$target => $name,)* }
            }

            /// The processor's generation and its products or its code name: `CDNA3 (MI300 series).`
            pub const fn processor(self) -> &'static str {
                match self { $(Target::$target => concat!($($doc),*).trim_ascii(),)* }
            }

            /// The value of `EF_AMDGPU_MACH` in the ELF header (LLVM AMDGPU guide, ELF header flags).
            pub const fn elf_mach(self) -> u32 {
                match self { $(Target::$target => $mach,)* }
            }

            /// The processor's instruction set.
            pub const fn instruction_set(self) -> InstructionSet {
                match self { $(Target::$target => InstructionSet::$set,)* }
            }

            /// The major version, minor version and stepping of the processor, as LLVM numbers them: 9, 0 and 10 for `gfx90a`.
            pub const fn version(self) -> [u8; 3] {
                match self {
                    $($(Target::$target => $version,)?)*
                    _ => version_in(self.name()),
                }
            }

            /// The version of a generic target (`EF_AMDGPU_GENERIC_VERSION`), and the processors that can run its code;
            /// `None` for a single processor.
            pub const fn generic(self) -> Option<(u32, &'static [Target])> {
                match self {
                    $($(Target::$target => Some(($generic, &[$(Target::$member),+])),)?)*
                    _ => None,
                }
            }
        }
    };
}

/// The version in the name of a single processor: `gfx`, the major version in decimal, then one hexadecimal digit for
/// each of the others.
const fn version_in(name: &str) -> [u8; 3] {
    const fn digit(c: u8) -> u8 {
        match c {
            b'0'..=b'9' => c - b'0',
            _ => c - b'a' + 10,
        }
    }
    let bytes = name.as_bytes();
    let (mut major, mut at) = (0, 3);
    while at + 2 < bytes.len() {
        major = 10 * major + digit(bytes[at]);
        at += 1;
    }
    [major, digit(bytes[at]), digit(bytes[at + 1])]
}

targets! {
    /// Code for every GFX9 processor before CDNA.
    GFX9_GENERIC = "gfx9-generic", GFX9_GENERIC, VEGA, 0x051, generic 1 [9, 0, 0]: GFX900 GFX902 GFX904 GFX906 GFX909 GFX90C;
    /// Vega 10 (MI25).
    GFX900 = "gfx900", GFX900, VEGA, 0x02c;
    /// APUs with Vega (Raven Ridge).
    GFX902 = "gfx902", GFX900, VEGA, 0x02d;
    /// Vega 12.
    GFX904 = "gfx904", GFX904, VEGA, 0x02e;
    /// Vega 20 (MI50, MI60).
    GFX906 = "gfx906", GFX906, VEGA_20, 0x02f;
    /// CDNA1 (MI100), which has the first matrix instructions and separate AccVGPRs.
    GFX908 = "gfx908", GFX908, VEGA_20, 0x030;
    /// APUs with Vega (Raven 2).
    GFX909 = "gfx909", GFX900, VEGA, 0x031;
    /// CDNA2 (MI200 series), which has a unified VGPR/AccVGPR file and f64 matrix instructions.
    GFX90A = "gfx90a", GFX90A, CDNA2, 0x03f;
    /// APUs with Vega (Renoir).
    GFX90C = "gfx90c", GFX900, VEGA, 0x032;
    /// CDNA3 (MI300 series).
    GFX942 = "gfx942", GFX942, CDNA2, 0x04c;
    /// Code for every processor of CDNA3 and CDNA4.
    GFX9_4_GENERIC = "gfx9-4-generic", GFX9_4_GENERIC, CDNA2, 0x05f, generic 1 [9, 4, 0]: GFX942 GFX950;
    /// CDNA4 (MI350 series).
    GFX950 = "gfx950", GFX950, CDNA4, 0x04f;
    /// Code for every processor of RDNA 1.
    GFX10_1_GENERIC = "gfx10-1-generic", GFX10_1, RDNA1, 0x052, generic 1 [10, 1, 0]: GFX1010 GFX1011 GFX1012 GFX1013;
    /// RDNA 1 (Navi 10).
    GFX1010 = "gfx1010", GFX10_1, RDNA1, 0x033;
    /// RDNA 1 (Navi 12).
    GFX1011 = "gfx1011", GFX1011, RDNA1, 0x034;
    /// RDNA 1 (Navi 14).
    GFX1012 = "gfx1012", GFX1011, RDNA1, 0x035;
    /// RDNA 1 (Oberon).
    GFX1013 = "gfx1013", GFX10_1, RDNA1, 0x042;
    /// Code for every processor of RDNA 2.
    GFX10_3_GENERIC = "gfx10-3-generic", GFX10_3, RDNA2, 0x053, generic 1 [10, 3, 0]: GFX1030 GFX1031 GFX1032 GFX1033 GFX1034 GFX1035 GFX1036;
    /// RDNA 2 (Navi 21).
    GFX1030 = "gfx1030", GFX10_3, RDNA2, 0x036;
    /// RDNA 2 (Navi 22).
    GFX1031 = "gfx1031", GFX10_3, RDNA2, 0x037;
    /// RDNA 2 (Navi 23).
    GFX1032 = "gfx1032", GFX10_3, RDNA2, 0x038;
    /// RDNA 2 (Van Gogh).
    GFX1033 = "gfx1033", GFX10_3, RDNA2, 0x039;
    /// RDNA 2 (Navi 24).
    GFX1034 = "gfx1034", GFX10_3, RDNA2, 0x03e;
    /// RDNA 2 (Rembrandt).
    GFX1035 = "gfx1035", GFX10_3, RDNA2, 0x03d;
    /// RDNA 2 (Raphael, Mendocino).
    GFX1036 = "gfx1036", GFX10_3, RDNA2, 0x045;
    /// Code for every processor of RDNA 3 and RDNA 3.5.
    GFX11_GENERIC = "gfx11-generic", GFX11, RDNA2, 0x054, generic 1 [11, 0, 3]: GFX1100 GFX1101 GFX1102 GFX1103 GFX1150 GFX1151 GFX1152 GFX1153;
    /// RDNA 3 (Navi 31).
    GFX1100 = "gfx1100", GFX11, RDNA3, 0x041;
    /// RDNA 3 (Navi 32).
    GFX1101 = "gfx1101", GFX11, RDNA3, 0x046;
    /// RDNA 3 (Navi 33).
    GFX1102 = "gfx1102", GFX11, RDNA2, 0x047;
    /// RDNA 3 (Phoenix).
    GFX1103 = "gfx1103", GFX11, RDNA2, 0x044;
    /// RDNA 3.5 (Strix Point).
    GFX1150 = "gfx1150", GFX11_5, RDNA2, 0x043;
    /// RDNA 3.5 (Strix Halo).
    GFX1151 = "gfx1151", GFX11_5, RDNA3, 0x04a;
    /// RDNA 3.5 (Krackan Point).
    GFX1152 = "gfx1152", GFX11_5, RDNA2, 0x055;
    /// RDNA 3.5.
    GFX1153 = "gfx1153", GFX11_5, RDNA2, 0x058;
    /// Code for every processor of RDNA 4.
    GFX12_GENERIC = "gfx12-generic", GFX12, RDNA3, 0x059, generic 1 [12, 0, 0]: GFX1200 GFX1201;
    /// RDNA 4 (Navi 44).
    GFX1200 = "gfx1200", GFX12, RDNA3, 0x048;
    /// RDNA 4 (Navi 48).
    GFX1201 = "gfx1201", GFX12, RDNA3, 0x04e;
    /// CDNA 5 (MI450 series).
    GFX1250 = "gfx1250", GFX12_5, CDNA5, 0x049;
    /// CDNA 5.
    GFX1251 = "gfx1251", GFX12_5, CDNA5, 0x05a;
}

/// Declares the facts of the instruction set as methods of the processor.
macro_rules! of_the_instruction_set {
    ($($(#[$doc:meta])* $name:ident: $ty:ty,)*) => {
        impl Target {
            $($(#[$doc])* pub const fn $name(self) -> $ty { self.instruction_set().$name() })*
        }
    };
}

facts!(of_the_instruction_set);

impl Target {
    const OF_GFX9: usize = {
        let (mut n, mut i) = (0, 0);
        while i < Target::KNOWN.len() {
            n += Target::KNOWN[i].is_of_gfx9() as usize;
            i += 1;
        }
        n
    };

    const fn is_of_gfx9(self) -> bool {
        matches!(self.family(), Family::GFX9)
    }

    /// The targets of GFX9 and CDNA, oldest first. Those of every family are [`Target::KNOWN`].
    pub const GFX9: [Target; Target::OF_GFX9] = {
        let (mut all, mut n, mut i) = ([Target::GFX900; Target::OF_GFX9], 0, 0);
        while i < Target::KNOWN.len() {
            if Target::KNOWN[i].is_of_gfx9() {
                all[n] = Target::KNOWN[i];
                n += 1;
            }
            i += 1;
        }
        all
    };

    /// One target for each instruction set of GFX9 and CDNA that was measured separately, the oldest first. The other targets of
    /// [`Target::GFX9`] have the instructions of one of these targets, or fewer.
    pub const REPRESENTATIVES: [Target; 6] =
        [Target::GFX900, Target::GFX906, Target::GFX908, Target::GFX90A, Target::GFX942, Target::GFX950];

    /// The names of every target, as an enumeration in words: `gfx900, … and gfx950`.
    pub fn names() -> String {
        words(Target::KNOWN.into_iter())
    }

    /// The first target of the instruction set whose measurements apply to this target. On GFX9, this is one of
    /// [`Target::REPRESENTATIVES`].
    ///
    /// ```
    /// use gcn_isa::Target;
    /// assert_eq!(Target::GFX1201.representative(), Target::GFX1200);
    /// assert_eq!(Target::GFX942.representative(), Target::GFX942);
    /// ```
    pub fn representative(self) -> Target {
        let set = self.instruction_set().measured_as();
        let stands = |t: &Target| t.instruction_set() == set && t.is_first_of_its_set();
        Target::KNOWN.into_iter().find(stands).unwrap_or(self)
    }

    /// True for one target of each instruction set that was measured separately: the first single processor that has the instruction set.
    /// On GFX9, these are [`Target::REPRESENTATIVES`].
    pub fn is_first_of_its_set(self) -> bool {
        let set = self.instruction_set();
        let mut alike =
            Target::KNOWN.into_iter().filter(|t| t.instruction_set() == set && t.generic().is_none());
        set.measured_as() == set && alike.next() == Some(self)
    }

    /// The targets that represent this target's properties ([`Target::representative`]). For a generic target, the representatives of the
    /// processors that can run its code.
    pub fn represented_by(self) -> Vec<Target> {
        let mut found = match self.generic() {
            Some((_, members)) => members.iter().map(|member| member.representative()).collect(),
            None => vec![self.representative()],
        };
        found.dedup();
        found
    }

    /// The name as an identifier, without `-`: `gfx9_4_generic`.
    pub fn identifier(self) -> String {
        self.name().replace('-', "_")
    }

    /// The target with this [identifier](Target::identifier).
    ///
    /// # Errors
    /// [`UnknownTarget`] if no target has this identifier.
    pub fn of_identifier(text: &str) -> Result<Target, UnknownTarget> {
        text.replace('_', "-").parse()
    }

    const fn chip(self) -> Chip {
        CHIPS[self as usize]
    }

    /// See [`InstructionSet::tuple_alignment`].
    pub const fn tuple_alignment(self, file: RegFile, len: u8) -> u8 {
        self.instruction_set().tuple_alignment(file, len)
    }

    /// The number of registers of a file that a kernel can use.
    pub const fn registers(self, file: RegFile) -> u32 {
        self.instruction_set().registers(file)
    }

    /// See [`InstructionSet::usual_wave`].
    pub const fn usual_wave(self) -> WaveSize {
        self.instruction_set().usual_wave()
    }

    /// The wave size of a program whose descriptor requests 32-lane waves if `has_32_lanes` is true.
    pub fn wave_size_of(self, has_32_lanes: bool) -> WaveSize {
        let size = if has_32_lanes { WaveSize::W32 } else { WaveSize::W64 };
        if self.instruction_set().has_wave(size) { size } else { self.usual_wave() }
    }

    /// The number of lanes of a wave in programs that do not specify it.
    pub const fn wave_size(self) -> u32 {
        self.usual_wave().lanes()
    }

    /// True if the code object's target ID has an XNACK setting.
    pub const fn supports_xnack(self) -> bool {
        self.chip().xnack
    }

    /// True if the code object's target ID has an SRAM-ECC setting.
    pub const fn supports_sramecc(self) -> bool {
        self.chip().sramecc
    }

    /// The VGPRs of a SIMD for one wave size.
    pub const fn vgpr_file(self, wave: WaveSize) -> VgprFile {
        self.chip().vgprs.of(wave)
    }

    /// The allocation granularity of VGPRs (of the unified file, if there is one), with waves of the usual size.
    pub const fn vgpr_granule(self) -> u32 {
        self.vgpr_file(self.usual_wave()).granule
    }

    /// The number of VGPRs (of the unified file, if there is one) for each lane of a SIMD, with waves of the usual size. The waves of the
    /// SIMD share these VGPRs.
    pub const fn vgprs_per_simd(self) -> u32 {
        self.vgpr_file(self.usual_wave()).registers
    }

    /// The maximum number of waves that one SIMD can hold.
    pub const fn max_waves_per_simd(self) -> u32 {
        self.chip().waves
    }

    /// The LDS size of a compute unit, in bytes.
    pub const fn lds_per_cu(self) -> u32 {
        self.chip().lds
    }

    /// The allocation granularity of LDS, in bytes: a workgroup gets a multiple of this number.
    pub const fn lds_granule(self) -> u32 {
        self.chip().lds_granule
    }

    /// True if code for this target runs on `device`, because `device` is the same processor or one that the generic target includes.
    pub fn runs_on(self, device: Target) -> bool {
        self == device || self.generic().is_some_and(|(_, members)| members.contains(&device))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The names as an enumeration for a sentence.
fn words(targets: impl Iterator<Item = Target>) -> String {
    match targets.map(Target::name).collect::<Vec<_>>().as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        few => few.concat(),
    }
}

/// The error that a name is not that of a supported target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}; supported are {}", self.problem(), Target::names())]
pub struct UnknownTarget(pub String);

impl UnknownTarget {
    /// The message without the list of known names.
    pub fn problem(&self) -> String {
        format!("unknown target `{}`", self.0)
    }
}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(s: &str) -> Result<Self, UnknownTarget> {
        Target::KNOWN.into_iter().find(|t| t.name() == s).ok_or_else(|| UnknownTarget(s.to_owned()))
    }
}
