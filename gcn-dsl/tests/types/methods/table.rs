//! Tests that the tables in the guide to types name what exists: each of these lists calls the methods that it names on
//! every type, varying and uniform, and compares its names with those in the guide.

use std::collections::BTreeSet;

use gcn_dsl::prelude::*;

macro_rules! methods {
    ($list:ident: $($t:ident)*; |$x:ident, $n:ident, $o:ident| $($name:ident ($($arg:expr),*))*) => {
        const $list: &[&str] = &[$(stringify!($name)),*];
        methods! { @types [$($t)*] $x $n $o [$($name ($($arg),*))*] }
    };
    (@types [$($t:ident)*] $x:ident $n:ident $o:ident $calls:tt) => {
        $(
            methods! { @one V $t $x $n $o $calls }
            methods! { @one S $t $x $n $o $calls }
        )*
    };
    (@one $h:ident $t:ident $x:ident $n:ident $o:ident [$($name:ident ($($arg:expr),*))*]) => {
        const _: fn($h<$t>, $h<u32>, $h<<$t as Other>::Type>) = |$x, $n, $o| {
            let _ = ($n, $o);
            $(let _ = $x.$name($($arg),*);)*
        };
    };
}

/// The integer type of the same size and the other signedness.
trait Other {
    type Type;
}

macro_rules! others {
    ($($a:ident $b:ident)*) => {$( impl Other for $a { type Type = $b; } )*};
}
others! { u8 i8 i8 u8 u16 i16 i16 u16 u32 i32 i32 u32 u64 i64 i64 u64 f16 f16 bf16 bf16 f32 f32 f64 f64 }

methods! { INTEGERS: u8 i8 u16 i16 u32 i32 u64 i64; |x, n, _o|
    count_ones() count_zeros() leading_zeros() trailing_zeros() leading_ones() trailing_ones() reverse_bits() swap_bytes()
    to_be() to_le() rotate_left(n) rotate_right(n) min(x) max(x) clamp(x, x) abs_diff(x) midpoint(x) div_euclid(x)
    rem_euclid(x) pow(3) isqrt() ilog2() ilog10() is_power_of_two() wrapping_add(x) wrapping_sub(x) wrapping_mul(x)
    wrapping_div(x) wrapping_rem(x) wrapping_div_euclid(x) wrapping_rem_euclid(x) wrapping_neg() wrapping_shl(n)
    wrapping_shr(n) wrapping_pow(3) saturating_add(x) saturating_sub(x) saturating_mul(x) saturating_div(x)
    saturating_pow(3) overflowing_add(x) overflowing_sub(x) overflowing_mul(x) overflowing_div(x) overflowing_rem(x)
    overflowing_neg() overflowing_shl(n) overflowing_shr(n) overflowing_pow(3) unbounded_shl(n) unbounded_shr(n)
    checked_add(x) checked_sub(x) checked_mul(x) checked_div(x) checked_rem(x) checked_div_euclid(x) checked_rem_euclid(x)
    checked_shl(n) checked_shr(n) checked_neg() checked_pow(3) checked_ilog2() checked_ilog10()
}

methods! { UNSIGNED: u8 u16 u32 u64; |x, _n, o|
    div_ceil(x) next_multiple_of(x) is_multiple_of(x) next_power_of_two() wrapping_add_signed(o) saturating_add_signed(o)
    overflowing_add_signed(o) checked_add_signed(o) wrapping_sub_signed(o) saturating_sub_signed(o)
    overflowing_sub_signed(o) checked_sub_signed(o) cast_signed() checked_next_power_of_two() checked_next_multiple_of(x)
}

methods! { BYTES: u8; |x, _n, _o|
    is_ascii() is_ascii_digit() is_ascii_hexdigit() is_ascii_alphabetic() is_ascii_alphanumeric() is_ascii_uppercase()
    is_ascii_lowercase() is_ascii_graphic() is_ascii_punctuation() is_ascii_whitespace() is_ascii_control()
    to_ascii_uppercase() to_ascii_lowercase()
}

methods! { SIGNED: i8 i16 i32 i64; |x, _n, o|
    abs() signum() is_positive() is_negative() unsigned_abs() wrapping_abs() saturating_abs() overflowing_abs()
    saturating_neg() wrapping_add_unsigned(o) wrapping_sub_unsigned(o) saturating_add_unsigned(o)
    saturating_sub_unsigned(o) overflowing_add_unsigned(o) overflowing_sub_unsigned(o) cast_unsigned()
    checked_abs() checked_isqrt() checked_add_unsigned(o) checked_sub_unsigned(o)
}

methods! { FLOATS: f16 bf16 f32 f64; |x, _n, _o|
    floor() ceil() trunc() round() round_ties_even() fract() abs() signum() copysign(x) is_sign_positive()
    is_sign_negative() min(x) max(x) clamp(x, x) midpoint(x) next_up() next_down() is_nan() is_finite() is_infinite()
    is_normal() is_subnormal() to_bits() mul_add(x, x) sqrt() recip() powi(3) powf(x) hypot(x) div_euclid(x) rem_euclid(x)
    to_degrees() to_radians() exp() exp2() exp_m1() ln() log2() log10() sin() cos() sin_cos() tan() tanh()
}

/// The names in the table that begins with `heading`.
fn named<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let at = page.find(&format!("| {heading} | |")).unwrap_or_else(|| panic!("a table of {heading}"));
    let rows = page[at..].lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect()
}

#[test]
fn the_page_names_what_is_there() {
    let page = include_str!("../../../guide/types.md");
    let tables = [
        ("every integer", INTEGERS),
        ("unsigned integers", UNSIGNED),
        ("`u8`", BYTES),
        ("signed integers", SIGNED),
        ("floats", FLOATS),
    ];
    for (heading, methods) in tables {
        // A function and not a method, for which the lists have no form; the tests of floats call it.
        let page: BTreeSet<&str> =
            named(page, heading).into_iter().filter(|name| *name != "from_bits").collect();
        let called: BTreeSet<&str> = methods.iter().copied().collect();
        let (missing, more) = (page.difference(&called), called.difference(&page));
        let faults: Vec<String> = (missing.map(|name| format!("`{name}` has no call in this file")))
            .chain(more.map(|name| format!("`{name}` is not in gcn-dsl/guide/types.md")))
            .collect();
        assert!(faults.is_empty(), "the table of {heading}: {}", faults.join("; "));
    }
}
