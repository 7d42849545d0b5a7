//! The macros for the lists of rules. Each rule is one row.

use crate::target::TargetSet;

/// A wait-state rule in three lines:
///
/// ```text
/// rule!(name, title;
///       kinds of the first instruction => kinds of the second, [dependence]; targets: wait states, …;
///       source, evidence; note)
/// ```
///
/// Kinds are alternatives (`XDL | SGEMM`), and `but` excludes some kinds. The evidence is a constant of [`Evidence`] or `of(manual, LLVM)`.
/// It is followed by `rocroller` and a [`Voice`](super::Voice) if rocRoller has a statement, and by `hardware fails` if hardware was
/// observed to fail without the rule. A trailing `xnack` marks rules that matter only while XNACK replay is on. The note is optional.
///
/// [`Evidence`]: super::Evidence
macro_rules! rule {
    (
        $id:literal, $title:literal;
        $($first:ident)|+ $(but $not:ident)? => $($second:ident)|+ $(but $not_second:ident)?, [$($link:tt)+];
        $($on:ident: $states:expr),+;
        $cite:expr, $evidence:ident $(($manual:ident, $llvm:ident))? $(rocroller $voice:ident)? $(hardware $fails:ident)?
        $(, $xnack:ident)? $(; $note:literal)?
    ) => {
        $crate::hazards::rule::Rule {
            id: $id,
            title: $title,
            cite: $cite,
            first: $crate::hazards::row::condition!($($first)|+ $(but $not)?),
            second: $crate::hazards::row::condition!($($second)|+ $(but $not_second)?),
            link: $crate::hazards::row::dependence!($($link)+),
            need: &[$(($crate::hazards::row::on::$on, $states)),+],
            evidence: $crate::hazards::row::evidence!($evidence $($manual, $llvm)? $(; $voice)?)$(.$fails())?,
            xnack: $crate::hazards::row::xnack!($($xnack)?),
            note: concat!($($note)?),
        }
    };
}

/// A condition on an instruction: `A | B but C`.
macro_rules! condition {
    ($($any:ident)|+ $(but $not:ident)?) => {{
        use $crate::hazards::{Condition, Kinds};
        Condition { any: Kinds::empty()$(.union(Kinds::$any))+, none: Kinds::empty()$(.union(Kinds::$not))? }
    }};
}

/// A description of how the second instruction depends on the first: a [`Link`] written in words.
macro_rules! dependence {
    // Both instructions use a common register: the first in one role, the second in any of several roles.
    (registers $first:ident, $($second:ident)|+, $overlap:ident) => {{
        use $crate::hazards::{Link, Overlap, Role};
        Link::Registers { first: Role::$first, second: Role::empty()$(.union(Role::$second))+, overlap: Overlap::$overlap }
    }};
    // The first instruction writes a vector register that the second uses.
    (vector $($second:ident)|+) => { $crate::hazards::row::dependence!(registers VDST, $($second)|+, Any) };
    // The first instruction writes a scalar register that the second uses.
    (scalar $second:ident) => { $crate::hazards::row::dependence!(registers SDST, $second, Any) };
    // The first instruction writes a vector register that the second reads as source C.
    (source_c $overlap:ident) => { $crate::hazards::row::dependence!(registers VDST, SRC_C, $overlap) };
    (crossing $second:ident, $($by:ident)|+) => {{
        use $crate::hazards::{Kinds, Link, Role};
        Link::Crossing { second: Role::$second, by: Kinds::empty()$(.union(Kinds::$by))+ }
    }};
    (writes $reg:ident) => { $crate::hazards::Link::Writes($crate::reg::$reg) };
    (clause $window:literal) => { $crate::hazards::Link::Clause { window: $window } };
    (hwreg) => { $crate::hazards::Link::Hwreg };
    (always) => { $crate::hazards::Link::Always };
}

/// The statements of manuals, LLVM and rocRoller.
macro_rules! evidence {
    ($evidence:ident $($manual:ident, $llvm:ident)? $(; $voice:ident)?) => {{
        use $crate::hazards::Evidence;
        Evidence::$evidence$(($crate::hazards::Voice::$manual, $crate::hazards::Voice::$llvm))?
            $(.rocroller($crate::hazards::Voice::$voice))?
    }};
}

/// True if the row contains `xnack`.
macro_rules! xnack {
    () => {
        false
    };
    (xnack) => {
        true
    };
}

/// A table of rules about counters and single instructions. Each rule becomes a static and has the following parts: documentation and name;
/// ID and title; source, targets and evidence as in [`rule!`]; a note. `ALL` lists all rules of the table.
macro_rules! counter_rules {
    ($(
        $(#[$doc:meta])* $name:ident = $id:literal, $title:literal;
        $cite:expr, $on:ident, $evidence:ident $(($manual:ident, $llvm:ident))? $(, $xnack:ident)? $(; $note:literal)?
    ).+ $(.)?) => {
        $(
            $(#[$doc])*
            pub static $name: CounterRule = CounterRule {
                id: $id,
                title: $title,
                cite: $cite,
                targets: $crate::hazards::row::on::$on,
                evidence: $crate::hazards::row::evidence!($evidence $($manual, $llvm)?),
                xnack: $crate::hazards::row::xnack!($($xnack)?),
                note: concat!($($note)?),
            };
        )+

        /// All rules of this kind.
        pub static ALL: [&CounterRule; [$(stringify!($name)),+].len()] = [$(&$name),+];
    };
}

pub(super) use {condition, counter_rules, dependence, evidence, rule, xnack};

/// Groups of targets to which rules apply.
pub(super) mod on {
    use crate::target::Target::{GFX90A, GFX908, GFX942, GFX950};
    use crate::target::{InstructionSet, TargetSet};

    /// Every target.
    pub const ALL: TargetSet = TargetSet::ALL;
    /// Targets whose barriers do not wait for memory operations, so that memory operations may be outstanding at a barrier.
    pub const WITH_BACK_OFF: TargetSet = TargetSet::WITH_BACK_OFF_BARRIERS;
    /// Targets whose barriers wait for memory operations.
    pub const WITHOUT_BACK_OFF: TargetSet = TargetSet::ALL.difference(WITH_BACK_OFF);
    /// Targets that may run the waves of a workgroup on several compute units.
    pub const WITH_TG_SPLIT: TargetSet = TargetSet::WITH_TG_SPLIT;
    /// Targets that have GDS and GWS.
    pub const WITH_GDS: TargetSet = TargetSet::ALL.difference(GFX12.union(GFX12_5));
    /// Targets that have loads into LDS.
    pub const WITH_LDS_DMA: TargetSet = TargetSet::GFX9.union(GFX10);
    /// Targets with any kind of copies into LDS, and with barriers at which such copies may be outstanding.
    pub const LDS_DMA_WITH_BACK_OFF: TargetSet = WITH_LDS_DMA.union(GFX12_5).intersection(WITH_BACK_OFF);
    /// GFX12 and later.
    pub const FROM_GFX12: TargetSet = GFX12.union(GFX12_5);
    /// All of GFX9.
    pub const GFX9: TargetSet = TargetSet::GFX9;
    /// Targets without matrix instructions, and gfx908, whose AGPRs are a separate register file.
    pub const UP_TO_GFX908: TargetSet =
        TargetSet::between(InstructionSet::GFX9_GENERIC, InstructionSet::GFX908);
    /// Targets before gfx942.
    pub const UP_TO_GFX90A: TargetSet =
        TargetSet::between(InstructionSet::GFX9_GENERIC, InstructionSet::GFX90A);
    /// Targets that have one register file for VGPRs and AGPRs.
    pub const FROM_GFX90A: TargetSet = TargetSet::range(GFX90A, GFX950);
    /// The targets that LLVM calls gfx940 and later.
    pub const GFX940: TargetSet = TargetSet::range(GFX942, GFX950);
    /// gfx908.
    pub const MI100: TargetSet = TargetSet::of(&[GFX908]);
    /// gfx90a.
    pub const MI200: TargetSet = TargetSet::of(&[GFX90A]);
    /// gfx90a and gfx942.
    pub const MI200_MI300: TargetSet = TargetSet::of(&[GFX90A, GFX942]);
    /// gfx942.
    pub const MI300: TargetSet = TargetSet::of(&[GFX942]);
    /// gfx950, and generic code that must run on both gfx942 and gfx950. If both targets have a rule, gfx950 requires more.
    pub const MI350: TargetSet = TargetSet::between(InstructionSet::GFX9_4_GENERIC, InstructionSet::GFX950);
    /// RDNA 1.
    pub const GFX10_1: TargetSet = TargetSet::between(InstructionSet::GFX10_1, InstructionSet::GFX1011);
    /// Targets other than GFX9 that replay their scalar loads as a clause after a page fault.
    pub const SCALAR_CLAUSES: TargetSet = GFX10_1.union(GFX12_5);
    /// RDNA 2.
    pub const GFX10_3: TargetSet = TargetSet::one(InstructionSet::GFX10_3);
    /// RDNA 1 and 2.
    pub const GFX10: TargetSet = TargetSet::between(InstructionSet::GFX10_1, InstructionSet::GFX10_3);
    /// RDNA 3 without 3.5.
    pub const GFX11_0: TargetSet = TargetSet::one(InstructionSet::GFX11);
    /// RDNA 3.5.
    pub const GFX11_5: TargetSet = TargetSet::one(InstructionSet::GFX11_5);
    /// RDNA 3 and 3.5.
    pub const GFX11: TargetSet = TargetSet::between(InstructionSet::GFX11, InstructionSet::GFX11_5);
    /// RDNA 3 and later.
    pub const FROM_GFX11: TargetSet = TargetSet::between(InstructionSet::GFX11, InstructionSet::GFX12);
    /// RDNA 4.
    pub const GFX12: TargetSet = TargetSet::one(InstructionSet::GFX12);
    /// CDNA 5.
    pub const GFX12_5: TargetSet = TargetSet::one(InstructionSet::GFX12_5);
    /// RDNA 3 and later, and CDNA 5.
    pub const ALL_FROM_GFX11: TargetSet = FROM_GFX11.union(GFX12_5);
    /// Targets on which half of a VGPR counts as a separate register.
    pub const WITH_HALF_VGPRS: TargetSet = ALL_FROM_GFX11;
}

/// The citation of a rule's source.
#[derive(Clone, Copy, Debug)]
pub enum Cite {
    /// One source for all targets.
    One(&'static str),
    /// One source for each instruction set.
    BySet(&'static [(TargetSet, &'static str)]),
}

impl Cite {
    /// The sources about these targets, the oldest first.
    pub fn on(self, targets: TargetSet) -> String {
        match self {
            Cite::One(place) => place.to_owned(),
            Cite::BySet(places) => {
                let theirs = places.iter().filter(|(set, _)| !set.intersection(targets).is_empty());
                theirs.map(|(_, place)| *place).collect::<Vec<_>>().join("; ")
            }
        }
    }
}

/// Citations that several rules share.
pub(super) mod cite {
    pub const TABLE_11: &str = "CDNA3 ISA table 11; MI100 ISA table 12";
    pub const TABLE_37: &str = "CDNA3 ISA table 37";
    pub const TABLE_29: &str = "MI100 ISA table 29";
    pub const LLVM: &str = "observed in LLVM 22's output";
    pub const ROCROLLER: &str = "AMD's rocRoller, wait state observers";
    pub const EXTRAPOLATED: &str = "CDNA3 ISA table 37, extrapolated";
}
