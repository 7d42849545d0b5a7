//! The targets of each matrix instruction, as types. rustc checks a kernel's `#[targets(…)]` against them.

use std::marker::PhantomData;

use gcn_isa::{Target, TargetSet};

/// Stands for a kernel without `#[targets(…)]`. An instruction that a target lacks is then an error when the kernel is built for that
/// target.
#[derive(Debug, Clone, Copy)]
pub struct AnyTarget;

macro_rules! targets {
    ($($name:ident $target:ident)*) => {$(
        #[doc = concat!("Stands for [`Target::", stringify!($target), "`] in bounds.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $name;
        impl Availability for $name {
            const TARGETS: TargetSet = TargetSet::of(&[Target::$target]);
        }
    )*};
}
targets! {
    Gfx900 GFX900 Gfx906 GFX906 Gfx908 GFX908 Gfx90a GFX90A Gfx942 GFX942 Gfx950 GFX950
    Gfx1010 GFX1010 Gfx1011 GFX1011 Gfx1030 GFX1030 Gfx1100 GFX1100 Gfx1150 GFX1150 Gfx1200 GFX1200
    Gfx1250 GFX1250
}

/// Implemented by a set of targets for each target `T` in the set. `T` may also be a pair of targets, or [`AnyTarget`].
#[diagnostic::on_unimplemented(
    message = "`{T}` does not have this matrix instruction",
    label = "exists `{Self}`, but the kernel's `#[targets(…)]` lists `{T}`",
    note = "32x32x8 and 16x16x16 exist for f16 since gfx908, for bf16 since gfx90a, 32x32x16 and 16x16x32 for both since gfx950; bf16: 32x32x4 and 16x16x8 on gfx908 and gfx90a; i8: 32x32x8 and 16x16x16 on gfx908 and gfx90a, 32x32x16 and 16x16x32 since gfx942, 32x32x32 and 16x16x64 since gfx950; 8-bit floats and sparse matrices exist since gfx942, MX formats since gfx950; f32 shapes are the same on all, f64 exists since gfx90a, xf32 is gfx942's alone",
    note = "`matmul` of tiles takes the best shape that the target has; or list fewer targets"
)]
pub trait ExistsOn<T> {}

impl<S> ExistsOn<AnyTarget> for S {}
impl<S: ExistsOn<A> + ExistsOn<B>, A, B> ExistsOn<(A, B)> for S {}

/// Sets of targets, as types.
pub trait Availability {
    /// The set as a value.
    const TARGETS: TargetSet;
}

macro_rules! sets {
    ($($(#[$doc:meta])* $set:ident: $($name:ident $target:ident)*;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $set;
        impl Availability for $set {
            const TARGETS: TargetSet = TargetSet::of(&[$(Target::$target),*]);
        }
        $( impl ExistsOn<$name> for $set {} )*
    )*};
}

sets! {
    /// All GFX9 targets with matrix instructions.
    SinceGfx908: Gfx908 GFX908 Gfx90a GFX90A Gfx942 GFX942 Gfx950 GFX950;
    /// Instructions added by gfx90a.
    SinceGfx90a: Gfx90a GFX90A Gfx942 GFX942 Gfx950 GFX950;
    /// Instructions added by gfx942.
    SinceGfx942: Gfx942 GFX942 Gfx950 GFX950;
    /// Instructions added by gfx950.
    SinceGfx950: Gfx950 GFX950;
    /// Instructions replaced by gfx942.
    OnGfx908AndGfx90a: Gfx908 GFX908 Gfx90a GFX90A;
    /// Instructions removed by gfx950.
    OnlyGfx942: Gfx942 GFX942;
    /// Instructions added by RDNA 3.
    SinceGfx11: Gfx1100 GFX1100 Gfx1150 GFX1150 Gfx1200 GFX1200 Gfx1250 GFX1250;
    /// Instructions added by RDNA 3 and removed by gfx12.5.
    OnGfx11AndGfx12: Gfx1100 GFX1100 Gfx1150 GFX1150 Gfx1200 GFX1200;
    /// Instructions that only RDNA 4 has.
    OnlyGfx12: Gfx1200 GFX1200;
    /// Instructions added by gfx90a on GFX9; on RDNA, those of RDNA 3 and 4.
    SinceGfx90aAndOnGfx11AndGfx12: Gfx90a GFX90A Gfx942 GFX942 Gfx950 GFX950 Gfx1100 GFX1100 Gfx1150 GFX1150 Gfx1200 GFX1200;
    /// Instructions added by gfx942 on GFX9, and by RDNA 4 on RDNA.
    SinceGfx942AndGfx12: Gfx942 GFX942 Gfx950 GFX950 Gfx1200 GFX1200 Gfx1250 GFX1250;
    /// Instructions added by gfx942 on GFX9; on RDNA, those that only RDNA 4 has.
    SinceGfx942AndOnGfx12: Gfx942 GFX942 Gfx950 GFX950 Gfx1200 GFX1200;
    /// All targets. Those without matrix instructions multiply with vector instructions.
    Everywhere: Gfx900 GFX900 Gfx906 GFX906 Gfx908 GFX908 Gfx90a GFX90A Gfx942 GFX942 Gfx950 GFX950
        Gfx1010 GFX1010 Gfx1011 GFX1011 Gfx1030 GFX1030 Gfx1100 GFX1100 Gfx1150 GFX1150 Gfx1200 GFX1200 Gfx1250 GFX1250;
}

macro_rules! capabilities {
    ($($(#[$meta:meta])* $name:ident $(: $super:ident $(+ $more:ident)*)?, the targets of $set:ident: $($target:ident)*;)*) => {$(
        $(#[$meta])*
        pub trait $name $(: $super $(+ $more)*)? {}
        $( impl $name for $target {} )*
        impl $name for AnyTarget {}
        impl<A: $name, B: $name> $name for (A, B) {}
        capabilities!(@bound $name $($super)?, $set);
    )*
    /// Every capability, with the sets of targets for which its trait is implemented.
    #[cfg(test)]
    const DECLARED: &[(&str, &[TargetSet])] = &[$((stringify!($name), &[$($target::TARGETS),*])),*];
    };
    // `ExistsOn` may be implemented only once for each set, by its first capability.
    (@bound HasSmfmac $super:ident, $set:ident) => {};
    (@bound $name:ident $($super:ident)?, $set:ident) => {
        impl<T: $name> ExistsOn<Bound<T>> for $set {}
    };
}

/// The targets of the caller of a device function that takes [`AllLanes<T>`](crate::lang::AllLanes). The function knows
/// nothing about them except the bounds of `T`.
#[derive(Debug, Clone, Copy)]
pub struct Bound<T>(PhantomData<T>);

impl<T> ExistsOn<Bound<T>> for Everywhere {}

capabilities! {
    /// Targets, of GFX9 or RDNA, with matrix instructions of 16 x 16 x 16 on bf16, and on f16: tiles of these elements can
    /// have depths of 16.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no matrix instructions of 16 x 16 x 16 on bf16",
        note = "they exist since gfx90a, and on RDNA 3 and 4; those of gfx1250 have a depth of 32"
    )]
    HasMatrixBf16, the targets of SinceGfx90aAndOnGfx11AndGfx12: Gfx90a Gfx942 Gfx950 Gfx1100 Gfx1150 Gfx1200;
    /// Targets, of GFX9 or RDNA, with matrix instructions on 8-bit floats, which tiles of such floats
    /// ([`matmul`](super::matmul)) require.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no matrix instructions on 8-bit floats",
        note = "they exist since gfx942, and on RDNA since gfx12"
    )]
    HasMatrixF8, the targets of SinceGfx942AndGfx12: Gfx942 Gfx950 Gfx1200 Gfx1250;
    /// Targets with matrix instructions on 4-bit integers, which tiles of [`I4`](super::matrix::I4) require.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no matrix instructions on 4-bit integers",
        note = "RDNA 3 and 4 have them"
    )]
    HasMatrixI4, the targets of OnGfx11AndGfx12: Gfx1100 Gfx1150 Gfx1200;
    /// Targets with MFMA, the matrix instructions of GFX9.
    ///
    /// Capabilities such as this one are bounds for device functions, whose targets are those of their callers. In
    /// `#[targets(HasMfmaF8)]`, a capability stands for all targets that have it.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    ///
    /// gcn_kernel! {
    ///     #[workgroup(64)]
    ///     #[targets(HasMfma)]
    ///     fn nothing() {}
    /// }
    /// assert!(nothing.build(Target::GFX908).is_ok() && nothing.build(Target::GFX906).is_err());
    /// ```
    #[diagnostic::on_unimplemented(message = "`{Self}` has no MFMA instructions", note = "they exist since gfx908, and not on RDNA")]
    HasMfma, the targets of SinceGfx908: Gfx908 Gfx90a Gfx942 Gfx950;
    /// Targets with matrix instructions on f64 and with the instructions that were added together with these, among
    /// them bf16 at full depth.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no matrix instructions on f64 nor the others that came with gfx90a",
        note = "they exist since gfx90a"
    )]
    HasMfmaF64: HasMfma, the targets of SinceGfx90a: Gfx90a Gfx942 Gfx950;
    /// Targets with MFMA on 8-bit floats.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no matrix instructions on 8-bit floats nor the others that came with gfx942",
        note = "they exist since gfx942"
    )]
    HasMfmaF8: HasMfmaF64 + HasMatrixF8, the targets of SinceGfx942: Gfx942 Gfx950;
    /// Targets with sparse matrix instructions.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no sparse matrix instructions",
        note = "they exist since gfx942"
    )]
    HasSmfmac: HasMfmaF8, the targets of SinceGfx942: Gfx942 Gfx950;
    /// Targets with scaled matrix instructions on 8-, 6- and 4-bit floats, and with conversions of them
    /// ([`Packed`](crate::lang::Packed)).
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no scaled matrix instructions nor the others that came with gfx950",
        note = "they exist since gfx950"
    )]
    HasMfmaMx: HasSmfmac, the targets of SinceGfx950: Gfx950;
    /// Targets with matrix instructions on xf32.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no matrix instructions on xf32",
        note = "gfx942 alone has them"
    )]
    HasMfmaXf32: HasMfmaF8, the targets of OnlyGfx942: Gfx942;
    /// Targets with WMMA, the matrix instructions of RDNA.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no WMMA instructions",
        note = "they exist since gfx11, and not on GFX9"
    )]
    HasWmma, the targets of SinceGfx11: Gfx1100 Gfx1150 Gfx1200 Gfx1250;
    /// Targets with SWMMAC, the sparse matrix instructions of RDNA.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` has no SWMMAC instructions",
        note = "of gfx12 alone the layouts are known; GFX9 has others"
    )]
    HasSwmmac: HasWmma, the targets of OnlyGfx12: Gfx1200;
}

#[cfg(test)]
mod tests {
    use gcn_isa::layout::CAPABILITIES;

    use super::*;

    /// For `#[targets(…)]`, rustc decides by these traits, but instructions are chosen by the table of matrix layouts.
    /// This test checks that the two agree.
    #[test]
    fn capabilities_are_those_of_the_table() {
        let declared = DECLARED
            .iter()
            .map(|(name, sets)| (*name, sets.iter().fold(TargetSet::EMPTY, |all, set| all.union(*set))));
        let firsts = Target::KNOWN.into_iter().filter(|target| target.is_first_of_its_set());
        let representatives: TargetSet = firsts.collect();
        let of = |c: &gcn_isa::layout::Capability| (c.name, c.targets().intersection(representatives));
        let table: Vec<_> = CAPABILITIES.iter().map(of).collect();
        assert_eq!(declared.collect::<Vec<_>>(), table);
    }
}
