//! The shapes that exist, as types. There is one line for each shape; this file's test checks the lines against the
//! instruction table.

use std::panic::Location;

use half::{bf16, f16};

use super::format::{Bf8, Fp8, I4, MatrixElement, Xf32};
use super::multiply::{Accumulates, AccumulatesSparse, MfmaOptions, Product, SparseIndex, dense, sparse};
use super::{Acc, FragA, FragB, SparseA};
use crate::lang::targets::{
    OnGfx908AndGfx90a, OnlyGfx12, OnlyGfx942, SinceGfx90a, SinceGfx908, SinceGfx942, SinceGfx942AndOnGfx12,
    SinceGfx950,
};
use crate::scalar::{f8e4m3, f8e5m2};

macro_rules! shapes {
    (
        dense { $($on:ident { $($a:ident $b:ident => $c:ident [$($m:literal $n:literal $k:literal $blocks:literal),*];)* })* }
        sparse { $($s_on:ident { $($s_a:ident $s_b:ident => $s_c:ident [$($s_m:literal $s_n:literal $s_k:literal),*];)* })* }
    ) => {
        shapes!(@dense $($on { $($a $b $c [$($m $n $k $blocks)*])* })*);
        shapes!(@sparse $($s_on { $($s_a $s_b $s_c [$($s_m $s_n $s_k)*])* })*);

        /// Each line of the table above, as a product.
        #[cfg(test)]
        fn table() -> Vec<(Product, gcn_isa::TargetSet, &'static str)> {
            use crate::lang::targets::Availability;

            let mut rows = Vec::new();
            $($($(
                let formats = [<$a>::FORMAT, <$b>::FORMAT, <$c>::FORMAT];
                let size = [$m, $n, $k, $blocks];
                let types = concat!(stringify!($a), " ", stringify!($b));
                rows.push((Product { formats, size, sparse: false, scaled: false }, $on::TARGETS, types));
            )*)*)*
            $($($(
                let formats = [<$s_a>::FORMAT, <$s_b>::FORMAT, <$s_c>::FORMAT];
                let size = [$s_m, $s_n, $s_k, 1];
                let types = concat!(stringify!($s_a), " ", stringify!($s_b));
                rows.push((Product { formats, size, sparse: true, scaled: false }, $s_on::TARGETS, types));
            )*)*)*
            rows
        }
    };
    (@dense $($on:ident { $($a:ident $b:ident $c:ident [$($m:literal $n:literal $k:literal $blocks:literal)*])* })*) => {$($($(
        impl Accumulates<FragA<$a, $m, $k, $blocks>, FragB<$b, $k, $n, $blocks>> for Acc<$c, $m, $n, $blocks> {
            type Targets = $on;
            fn accumulate(
                self,
                a: FragA<$a, $m, $k, $blocks>,
                b: FragB<$b, $k, $n, $blocks>,
                options: MfmaOptions,
                loc: &'static Location<'static>,
            ) -> Self {
                let formats = [<$a>::FORMAT, <$b>::FORMAT, <$c>::FORMAT];
                let product = Product { formats, size: [$m, $n, $k, $blocks], sparse: false, scaled: false };
                Acc::of(dense(product, [a.value, b.value, self.value], options, loc))
            }
        }
    )*)*)*};
    (@sparse $($on:ident { $($a:ident $b:ident $c:ident [$($m:literal $n:literal $k:literal)*])* })*) => {$($($(
        impl AccumulatesSparse<SparseA<$a, $m, $k>, FragB<$b, $k, $n>> for Acc<$c, $m, $n> {
            type Targets = $on;
            fn accumulate(
                self,
                a: SparseA<$a, $m, $k>,
                index: SparseIndex,
                b: FragB<$b, $k, $n>,
                loc: &'static Location<'static>,
            ) -> Self {
                let formats = [<$a>::FORMAT, <$b>::FORMAT, <$c>::FORMAT];
                let product = Product { formats, size: [$m, $n, $k, 1], sparse: true, scaled: false };
                Acc::of(sparse(product, [a.value, b.value, self.value], index, loc))
            }
        }
    )*)*)*};
}

shapes! {
    dense {
        SinceGfx908 {
            f32 f32 => f32 [32 32 1 2, 16 16 1 4, 4 4 1 16, 32 32 2 1, 16 16 4 1];
            f16 f16 => f32 [32 32 4 2, 16 16 4 4, 4 4 4 16, 32 32 8 1, 16 16 16 1];
            i8 i8 => i32 [32 32 4 2, 16 16 4 4, 4 4 4 16];
        }
        OnGfx908AndGfx90a {
            bf16 bf16 => f32 [32 32 2 2, 16 16 2 4, 4 4 2 16, 32 32 4 1, 16 16 8 1];
            i8 i8 => i32 [32 32 8 1, 16 16 16 1];
        }
        SinceGfx90a {
            bf16 bf16 => f32 [32 32 4 2, 16 16 4 4, 4 4 4 16, 32 32 8 1, 16 16 16 1];
            f64 f64 => f64 [16 16 4 1, 4 4 4 4];
        }
        SinceGfx942 {
            i8 i8 => i32 [32 32 16 1, 16 16 32 1];
            Fp8 Fp8 => f32 [32 32 16 1, 16 16 32 1];
            Fp8 Bf8 => f32 [32 32 16 1, 16 16 32 1];
            Bf8 Fp8 => f32 [32 32 16 1, 16 16 32 1];
            Bf8 Bf8 => f32 [32 32 16 1, 16 16 32 1];
            f8e4m3 f8e4m3 => f32 [32 32 16 1, 16 16 32 1];
            f8e4m3 f8e5m2 => f32 [32 32 16 1, 16 16 32 1];
            f8e5m2 f8e4m3 => f32 [32 32 16 1, 16 16 32 1];
            f8e5m2 f8e5m2 => f32 [32 32 16 1, 16 16 32 1];
        }
        OnlyGfx942 {
            Xf32 Xf32 => f32 [32 32 4 1, 16 16 8 1];
        }
        SinceGfx950 {
            f16 f16 => f32 [32 32 16 1, 16 16 32 1];
            bf16 bf16 => f32 [32 32 16 1, 16 16 32 1];
            i8 i8 => i32 [32 32 32 1, 16 16 64 1];
        }
    }
    sparse {
        SinceGfx942AndOnGfx12 {
            f16 f16 => f32 [16 16 32];
            bf16 bf16 => f32 [16 16 32];
        }
        OnlyGfx12 {
            i8 i8 => i32 [16 16 32];
            I4 I4 => i32 [16 16 64];
            f16 f16 => f16 [16 16 32];
            bf16 bf16 => bf16 [16 16 32];
            Fp8 Fp8 => f32 [16 16 32];
            Fp8 Bf8 => f32 [16 16 32];
            Bf8 Fp8 => f32 [16 16 32];
            Bf8 Bf8 => f32 [16 16 32];
            f8e4m3 f8e4m3 => f32 [16 16 32];
            f8e4m3 f8e5m2 => f32 [16 16 32];
            f8e5m2 f8e4m3 => f32 [16 16 32];
            f8e5m2 f8e5m2 => f32 [16 16 32];
        }
        SinceGfx942 {
            f16 f16 => f32 [32 32 16];
            bf16 bf16 => f32 [32 32 16];
            i8 i8 => i32 [32 32 32, 16 16 64];
            Fp8 Fp8 => f32 [32 32 32, 16 16 64];
            Fp8 Bf8 => f32 [32 32 32, 16 16 64];
            Bf8 Fp8 => f32 [32 32 32, 16 16 64];
            Bf8 Bf8 => f32 [32 32 32, 16 16 64];
            f8e4m3 f8e4m3 => f32 [32 32 32, 16 16 64];
            f8e4m3 f8e5m2 => f32 [32 32 32, 16 16 64];
            f8e5m2 f8e4m3 => f32 [32 32 32, 16 16 64];
            f8e5m2 f8e5m2 => f32 [32 32 32, 16 16 64];
        }
        SinceGfx950 {
            f16 f16 => f32 [32 32 32, 16 16 64];
            bf16 bf16 => f32 [32 32 32, 16 16 64];
            i8 i8 => i32 [32 32 64, 16 16 128];
            Fp8 Fp8 => f32 [32 32 64, 16 16 128];
            Fp8 Bf8 => f32 [32 32 64, 16 16 128];
            Bf8 Fp8 => f32 [32 32 64, 16 16 128];
            Bf8 Bf8 => f32 [32 32 64, 16 16 128];
            f8e4m3 f8e4m3 => f32 [32 32 64, 16 16 128];
            f8e4m3 f8e5m2 => f32 [32 32 64, 16 16 128];
            f8e5m2 f8e4m3 => f32 [32 32 64, 16 16 128];
            f8e5m2 f8e5m2 => f32 [32 32 64, 16 16 128];
        }
    }
}

#[cfg(test)]
mod tests {
    use gcn_isa::Target;
    use gcn_isa::layout;

    use super::*;

    #[test]
    fn the_types_are_the_instruction_table() {
        let table = table();
        // Each line names representative targets; every other target has the instructions of one of these.
        let representatives = gcn_isa::TargetSet::of(&Target::REPRESENTATIVES);
        let rdna = Target::KNOWN.into_iter().filter(|t| t.is_first_of_its_set());
        let rdna: gcn_isa::TargetSet = rdna.collect();
        let measured = |i: &&(Target, _, _)| Target::REPRESENTATIVES.contains(&i.0);
        for (product, targets, types) in &table {
            // The dense types list only GFX9's shapes, since tiles replace them on RDNA.
            let known = if product.sparse { representatives.union(rdna) } else { representatives };
            assert_eq!(product.targets().intersection(known), *targets, "{product:?}");
            assert_eq!(
                table.iter().filter(|(p, _, t)| p == product && t == types).count(),
                1,
                "{product:?} of {types} stands there twice"
            );
        }
        // Conversely, every instruction of the table has a type. The exceptions are instructions on MX formats, whose
        // types are generic over the format.
        let mut seen = 0;
        for (target, desc, shape) in
            layout::instructions().iter().filter(measured).filter(|i| !i.2.formats_chosen)
        {
            let there = table.iter().any(|(p, on, _)| {
                on.contains(*target)
                    && p.instruction((*target).into()).is_some_and(|i| i.0.printed == desc.printed)
            });
            assert!(there, "{} on {target} is not a type: {shape:?}", desc.printed);
            seen += 1;
        }
        let mx = layout::instructions().iter().filter(measured).filter(|i| i.2.formats_chosen).count();
        assert_eq!((seen, mx), (157, 4), "instructions and targets in the table");
    }
}
