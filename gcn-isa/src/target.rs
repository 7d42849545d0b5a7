//! The six targets and the facts by which they differ.
//!
//! Code outside the tables asks for a fact ([`Target::has_unified_agprs`]) and never for a name.

use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::str::FromStr;

use crate::reg::RegFile;

/// Lanes of a wave on every target of this library, for types and constants. Code that knows its target asks it
/// ([`Target::wave_size`]).
pub const WAVE_SIZE: u32 = 64;

macro_rules! targets {
    ($($(#[$doc:meta])* $target:ident = $name:literal, $mach:literal;)*) => {
        /// An AMD GPU target of the GFX9 / CDNA family.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Target { $($(#[$doc])* $target,)* }

        impl Target {
            /// Every target, oldest first.
            pub const ALL: [Target; [$(Target::$target),*].len()] = [$(Target::$target),*];

            /// The processor name as LLVM and ROCm spell it, for example `gfx942`.
            pub const fn name(self) -> &'static str {
                match self { $(Target::$target => $name,)* }
            }

            /// `EF_AMDGPU_MACH` of the ELF header (LLVM AMDGPU guide, ELF header flags).
            pub const fn elf_mach(self) -> u32 {
                match self { $(Target::$target => $mach,)* }
            }
        }
    };
}

targets! {
    /// Vega 10 (MI25).
    GFX900 = "gfx900", 0x02c;
    /// Vega 20 (MI50, MI60).
    GFX906 = "gfx906", 0x02f;
    /// CDNA1 (MI100): first matrix instructions, separate AccVGPRs.
    GFX908 = "gfx908", 0x030;
    /// CDNA2 (MI200 series): unified VGPR/AccVGPR file, f64 matrix instructions.
    GFX90A = "gfx90a", 0x03f;
    /// CDNA3 (MI300 series).
    GFX942 = "gfx942", 0x04c;
    /// CDNA4 (MI350 series).
    GFX950 = "gfx950", 0x04f;
}

impl Target {
    /// The names of every target as words: `gfx900, … and gfx950`.
    pub fn names() -> String {
        let [before @ .., last] = &Target::ALL.map(Target::name);
        format!("{} and {last}", before.join(", "))
    }

    /// True where VGPRs and AccVGPRs are two halves of one file of 512 per wave (gfx90a and later), so that
    /// memory instructions and MFMA results may use either and the descriptor carries `accum_offset`.
    pub const fn has_unified_agprs(self) -> bool {
        matches!(self, Target::GFX90A | Target::GFX942 | Target::GFX950)
    }

    /// True where there are AccVGPRs at all (gfx908 and later).
    pub const fn has_agprs(self) -> bool {
        !matches!(self, Target::GFX900 | Target::GFX906)
    }

    /// True where VGPR tuples of two or more must start at an even register (gfx90a and later).
    pub const fn needs_even_vgpr_tuples(self) -> bool {
        self.has_unified_agprs()
    }

    /// The first register of a tuple has a number that is a multiple of this: vector tuples even where the target says so, SGPR
    /// pairs even, larger SGPR tuples on multiples of 4.
    pub const fn tuple_alignment(self, file: RegFile, len: u8) -> u8 {
        match (file, len) {
            (_, 1) => 1,
            (RegFile::Sgpr, 2) => 2,
            (RegFile::Sgpr, _) => 4,
            _ if self.needs_even_vgpr_tuples() => 2,
            _ => 1,
        }
    }

    /// Banks of the LDS, of four bytes each (AMD CDNA 4 white paper: 32 up to CDNA 3; 64 on gfx950, as its first conflict shows).
    pub const fn lds_banks(self) -> u32 {
        if matches!(self, Target::GFX950) { 64 } else { 32 }
    }

    /// True where the matrix rules tell XDL from SGEMM (gfx942 and later).
    pub const fn is_gfx940_family(self) -> bool {
        matches!(self, Target::GFX942 | Target::GFX950)
    }

    /// True for the target whose rows stand for an instruction that several have: gfx942, which lacks fewer than the others.
    pub(crate) const fn has_most_instructions(self) -> bool {
        matches!(self, Target::GFX942)
    }

    /// True where fp8 and bf8 are the formats without infinities and negative zero (`fnuz`): gfx942. Later targets have those of OCP.
    pub const fn has_fnuz_floats(self) -> bool {
        matches!(self, Target::GFX942)
    }

    /// True where the range check of a raw buffer counts SOFFSET (gfx942 and later: AMD's emulator, by its word as the hardware does;
    /// LLVM issue 169230). Before, the manual says that it is not a part of the offset (MI100 ISA 9.1.5).
    pub const fn checks_soffset(self) -> bool {
        self.is_gfx940_family()
    }

    /// True where matrix instructions and `v_dot2_f32` take denormal f16 and bf16 inputs, f32 sums and f32 results for zero, whatever MODE
    /// says: gfx90a. All others keep them (PyTorch, "Numerical accuracy"; values of `v_dot2_f32_f16` measured on gfx90a and gfx950: LLVM
    /// pull request 205101).
    pub const fn flushes_half_products(self) -> bool {
        matches!(self, Target::GFX90A)
    }

    /// True where `global_atomic_add_f32` and `buffer_atomic_add_f32` flush denormals, whatever MODE says: gfx908 and gfx90a. LLVM uses them
    /// there only where denormals may be lost; AMD's emulator flushes.
    pub const fn memory_adds_flush(self) -> bool {
        matches!(self, Target::GFX908 | Target::GFX90A)
    }

    /// True where a conversion to fp8, bf8 or fp4 writes a part of its destination, so that a reader has to keep its distance (gfx950).
    pub const fn has_narrow_conversion_hazard(self) -> bool {
        matches!(self, Target::GFX950)
    }

    /// True where the code object's target id has an XNACK setting. All of these targets support XNACK replay.
    pub const fn supports_xnack(self) -> bool {
        true
    }

    /// True where the code object's target id has an SRAM-ECC setting.
    pub const fn supports_sramecc(self) -> bool {
        !matches!(self, Target::GFX900)
    }

    /// True where `s_barrier` may be executed with operations outstanding (gfx90a and later). Elsewhere every counter that
    /// has something outstanding must be waited to zero before it.
    pub const fn has_back_off_barrier(self) -> bool {
        self.has_unified_agprs()
    }

    /// True where the work-item ids of all three dimensions arrive packed in `v0`
    /// (x in bits 9:0, y in 19:10, z in 29:20) instead of in `v0`, `v1`, `v2`.
    pub const fn has_packed_tid(self) -> bool {
        self.has_unified_agprs()
    }

    /// True where scratch is set up by hardware and reached through `scratch_` instructions without `FLAT_SCRATCH`
    /// set-up code in the kernel (gfx942 and later).
    pub const fn has_architected_flat_scratch(self) -> bool {
        self.is_gfx940_family()
    }

    /// Lanes of a wave.
    pub const fn wave_size(self) -> u32 {
        WAVE_SIZE
    }

    /// How many different scalar values (SGPRs or pairs, VCC, M0, special registers, the literal) a vector instruction may read:
    /// the constant bus (CDNA3 ISA, "VALU operands").
    pub const fn constant_bus_reads(self) -> usize {
        1
    }

    /// Registers of a file that a kernel can name.
    pub const fn registers(self, file: RegFile) -> u32 {
        match file {
            RegFile::Sgpr => self.addressable_sgprs(),
            RegFile::Vgpr => 256,
            RegFile::Agpr if self.has_agprs() => 256,
            RegFile::Agpr => 0,
        }
    }

    /// Allocation granule of VGPRs (of the unified file where there is one).
    pub const fn vgpr_granule(self) -> u32 {
        if self.has_unified_agprs() { 8 } else { 4 }
    }

    /// VGPRs (unified file where there is one) of one SIMD lane: the budget that the waves of a SIMD share.
    pub const fn vgprs_per_simd(self) -> u32 {
        if self.has_unified_agprs() { 512 } else { 256 }
    }

    /// Most waves that one SIMD holds.
    pub const fn max_waves_per_simd(self) -> u32 {
        if self.has_unified_agprs() { 8 } else { 10 }
    }

    /// LDS bytes of one compute unit.
    pub const fn lds_per_cu(self) -> u32 {
        if matches!(self, Target::GFX950) { 163_840 } else { 65_536 }
    }

    /// Highest SGPR count that a kernel can name (`s0`..`s101`); VCC, XNACK_MASK and FLAT_SCRATCH come on top.
    pub const fn addressable_sgprs(self) -> u32 {
        102
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is not that of a supported target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown target `{0}`; supported are {names}", names = Target::names())]
pub struct UnknownTarget(pub String);

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(s: &str) -> Result<Self, UnknownTarget> {
        Target::ALL.into_iter().find(|t| t.name() == s).ok_or_else(|| UnknownTarget(s.to_owned()))
    }
}

impl FromStr for TargetSet {
    type Err = UnknownTarget;

    /// Reads the notation of the tables: `gfx900+gfx908..gfx942`. A range has both of its ends in it, and all targets before or after
    /// where one is missing.
    ///
    /// ```
    /// use gcn_isa::{Target, TargetSet};
    ///
    /// let set: TargetSet = "gfx900+gfx90a..".parse()?;
    /// assert_eq!(set, TargetSet::of(&[Target::GFX900, Target::GFX90A, Target::GFX942, Target::GFX950]));
    /// # Ok::<(), gcn_isa::target::UnknownTarget>(())
    /// ```
    fn from_str(text: &str) -> Result<TargetSet, UnknownTarget> {
        let end = |name: &str, missing: Target| if name.is_empty() { Ok(missing) } else { name.parse() };
        text.split('+').try_fold(TargetSet::EMPTY, |all, part| {
            let part = match part.split_once("..") {
                Some((first, last)) => TargetSet::range(
                    end(first, Target::ALL[0])?,
                    end(last, Target::ALL[Target::ALL.len() - 1])?,
                ),
                None => TargetSet::of(&[part.parse()?]),
            };
            Ok(all.union(part))
        })
    }
}

/// A target of one family of processors, by its place in the family's list. This library's family is [`Target`]; the record of
/// instructions ([`table::InstDesc`](crate::table::InstDesc)) is generic over it, so that facts of another family fit into the same types.
pub trait Member: Copy + Eq + Hash + fmt::Debug + 'static {
    /// The family, oldest first.
    const ALL: &'static [Self];

    /// The place in [`Member::ALL`], at most 15.
    fn place(self) -> u8;
}

impl Member for Target {
    const ALL: &'static [Target] = &Target::ALL;

    fn place(self) -> u8 {
        self as u8
    }
}

/// A set of targets of one family.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TargetSet<T: Member = Target>(u16, PhantomData<T>);

impl TargetSet {
    /// Every target.
    pub const ALL: TargetSet = TargetSet::of(&Target::ALL);

    /// The set of the given targets.
    pub const fn of(targets: &[Target]) -> TargetSet {
        let mut bits = 0;
        let mut i = 0;
        while i < targets.len() {
            bits |= 1 << targets[i] as u8;
            i += 1;
        }
        TargetSet(bits, PhantomData)
    }

    /// The targets from one to another, both included, in the order of [`Target::ALL`].
    pub const fn range(first: Target, last: Target) -> TargetSet {
        TargetSet((2 << last as u8) - (1 << first as u8), PhantomData)
    }

    /// True if `target` is in the set.
    pub const fn contains(self, target: Target) -> bool {
        self.0 >> target as u8 & 1 == 1
    }

    /// The targets of which a fact holds.
    pub fn with(fact: impl Fn(Target) -> bool) -> TargetSet {
        Target::ALL.into_iter().filter(|t| fact(*t)).collect()
    }
}

impl<T: Member> TargetSet<T> {
    /// No target.
    pub const EMPTY: TargetSet<T> = TargetSet(0, PhantomData);

    /// True if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Targets in either set.
    #[must_use]
    pub const fn union(self, other: TargetSet<T>) -> TargetSet<T> {
        TargetSet(self.0 | other.0, PhantomData)
    }

    /// Targets in both sets.
    #[must_use]
    pub const fn intersection(self, other: TargetSet<T>) -> TargetSet<T> {
        TargetSet(self.0 & other.0, PhantomData)
    }

    /// Targets of this set that are not in `other`.
    #[must_use]
    pub const fn difference(self, other: TargetSet<T>) -> TargetSet<T> {
        TargetSet(self.0 & !other.0, PhantomData)
    }

    /// The members, oldest first.
    pub fn iter(self) -> impl Iterator<Item = T> {
        T::ALL.iter().copied().filter(move |t| self.0 >> t.place() & 1 == 1)
    }
}

impl<T: Member> FromIterator<T> for TargetSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(targets: I) -> TargetSet<T> {
        TargetSet(targets.into_iter().fold(0, |bits, t| bits | 1 << t.place()), PhantomData)
    }
}

impl<T: Member> Default for TargetSet<T> {
    fn default() -> TargetSet<T> {
        TargetSet::EMPTY
    }
}

impl<T: Member> fmt::Debug for TargetSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
