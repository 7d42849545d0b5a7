//! The macro that defines the handle types of matrix operands, and the impls that they all share.

/// Defines a type that wraps one IR value and whose const parameters are the operand's dimensions.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident<$t:ident, $($dim:ident),+ $(; $last:ident = $default:literal)?>) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<$t, $(const $dim: usize,)+ $(const $last: usize = $default)?> {
            pub(crate) value: $crate::ir::Value,
            element: std::marker::PhantomData<$t>,
        }

        impl<$t, $(const $dim: usize,)+ $(const $last: usize)?> Clone for $name<$t, $($dim,)+ $($last)?> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$t, $(const $dim: usize,)+ $(const $last: usize)?> Copy for $name<$t, $($dim,)+ $($last)?> {}

        impl<$t, $(const $dim: usize,)+ $(const $last: usize)?> $crate::lang::InRegisters<$crate::lang::Vgprs>
            for $name<$t, $($dim,)+ $($last)?>
        {
        }

        impl<$t, $(const $dim: usize,)+ $(const $last: usize)?> $crate::lang::AsIs for $name<$t, $($dim,)+ $($last)?> {}

        impl<$t, $(const $dim: usize,)+ $(const $last: usize)?> $crate::lang::Placed for $name<$t, $($dim,)+ $($last)?> {
            type Place = $crate::lang::Varying;
            type Pattern = Self;
        }

        impl<$t, $(const $dim: usize,)+ $(const $last: usize)?> $crate::lang::Flatten for $name<$t, $($dim,)+ $($last)?> {
            fn flatten(&self, out: &mut Vec<$crate::ir::Value>) {
                out.push(self.value);
            }
            fn unflatten(values: &mut dyn Iterator<Item = $crate::ir::Value>) -> Self {
                Self::of($crate::lang::next_value(values))
            }
        }

        impl<$t, $(const $dim: usize,)+ $(const $last: usize)?> $crate::lang::Declare for $name<$t, $($dim,)+ $($last)?> {
            type Value = Self;
            fn declare(self) -> Self {
                self
            }
        }

        // Matrix instructions write every lane regardless of EXEC, so such a variable may be assigned only where all
        // lanes are active.
        impl<$t, __F, __G, $(const $dim: usize,)+ $(const $last: usize)?> $crate::lang::AssignIn<__F, __G>
            for $name<$t, $($dim,)+ $($last)?>
        where
            __F: $crate::lang::values::flow::Convergent,
            __G: $crate::lang::values::flow::Convergent,
        {
        }

        impl<$t, $(const $dim: usize,)+ $(const $last: usize)?> $name<$t, $($dim,)+ $($last)?> {
            pub(crate) fn of(value: $crate::ir::Value) -> Self {
                $name { value, element: std::marker::PhantomData }
            }
        }
    };
}
pub(super) use handle;
