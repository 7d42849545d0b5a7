//! Items that are repeated for several types.

/// Repeats the items in braces for each type of the list: in them, the name stands for the type. With a parameter
/// (`H<T> in [S, V]`), it stands for a generic type.
macro_rules! for_each_type {
    ($name:ident in [$($t:ty),+] $items:tt) => {$(
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_cast,
            clippy::unnecessary_fallible_conversions,
            reason = "a conversion for one type does nothing for another"
        )]
        const _: () = {
            type $name = $t;
            $items
        };
    )+};
    ($name:ident<$a:ident> in [$($t:ident),+] $items:tt) => {$(
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_cast,
            clippy::unnecessary_fallible_conversions,
            reason = "a conversion for one type does nothing for another"
        )]
        const _: () = {
            type $name<$a> = $t<$a>;
            $items
        };
    )+};
    ($name:ident<$a:ident, $b:ident> in [$($t:ident),+] $items:tt) => {$(
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_cast,
            clippy::unnecessary_fallible_conversions,
            reason = "a conversion for one type does nothing for another"
        )]
        const _: () = {
            type $name<$a, $b> = $t<$a, $b>;
            $items
        };
    )+};
}
