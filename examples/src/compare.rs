//! Comparison of a kernel's result with that of the reference.

use std::fmt;

use gcn_dsl::prelude::f16;

/// An element type of a result.
pub trait Element: Copy {
    /// The value, or the nearest f64 to it.
    fn value(self) -> f64;
    /// True if the two values are bitwise equal.
    fn same_bits(self, other: Self) -> bool;
}

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Element for $t {
            fn value(self) -> f64 {
                self.into()
            }
            fn same_bits(self, other: $t) -> bool {
                self.to_bits() == other.to_bits()
            }
        }
    )*};
}
floats! { f16 f32 f64 }

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Element for $t {
            fn value(self) -> f64 {
                self.into()
            }
            fn same_bits(self, other: $t) -> bool {
                self == other
            }
        }
    )*};
}
integers! { i8 u8 i16 u16 i32 u32 }

/// How a result differs from the reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The number of compared elements.
    pub elements: usize,
    /// The number of elements that differ in at least one bit, or that only one of the two results has.
    pub different: usize,
    /// The index of the first element that differs; `None` if none does.
    pub first: Option<usize>,
    /// Largest absolute difference; infinite where exactly one side is NaN.
    pub max_error: f64,
    /// Largest absolute difference that the lesson tolerates; 0 where its arithmetic is exact.
    pub tolerance: f64,
}

impl Comparison {
    /// Compares two results element by element.
    ///
    /// ```
    /// let comparison = gcn_examples::Comparison::of(&[1.0, 2.0, 3.5], &[1.0, 2.5, 3.5]);
    /// assert_eq!((comparison.different, comparison.first, comparison.max_error), (1, Some(1), 0.5));
    /// ```
    pub fn of<T: Element>(got: &[T], want: &[T]) -> Comparison {
        let missing = got.len().abs_diff(want.len());
        let elements = got.len().max(want.len());
        let mut comparison = Comparison {
            elements,
            different: missing,
            first: (missing > 0).then(|| elements - missing),
            max_error: if missing > 0 { f64::INFINITY } else { 0.0 },
            tolerance: 0.0,
        };
        for (index, (got, want)) in got.iter().zip(want).enumerate().rev() {
            if !got.same_bits(*want) {
                comparison.different += 1;
                comparison.first = Some(index);
                comparison.max_error = comparison.max_error.max(distance(got.value(), want.value()));
            }
        }
        comparison
    }

    /// Sets the tolerance.
    #[must_use]
    pub fn within(self, tolerance: f64) -> Comparison {
        Comparison { tolerance, ..self }
    }

    /// Joins two comparisons: the elements of `other` come after those of `self`, and the smaller tolerance applies.
    #[must_use]
    pub fn and(self, other: Comparison) -> Comparison {
        Comparison {
            elements: self.elements + other.elements,
            different: self.different + other.different,
            first: self.first.or(other.first.map(|first| self.elements + first)),
            max_error: self.max_error.max(other.max_error),
            tolerance: self.tolerance.min(other.tolerance),
        }
    }

    /// True if the result equals the reference bit for bit, or is within the tolerance.
    pub fn agrees(&self) -> bool {
        self.is_exact() || self.tolerance > 0.0 && self.max_error <= self.tolerance
    }

    /// True if every element equals the reference bit for bit.
    pub fn is_exact(&self) -> bool {
        self.different == 0
    }
}

fn distance(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0.0,
        (false, false) if a == b => 0.0, // both the same infinity, or zeros of different sign
        (false, false) => (a - b).abs(),
        _ => f64::INFINITY,
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "maximum error {}", self.max_error)?;
        match self.first {
            None => write!(f, ", all {} elements as in the reference bit for bit", self.elements),
            Some(first) => {
                write!(
                    f,
                    ", {} of {} elements differ, first at index {first}",
                    self.different, self.elements
                )?;
                if self.tolerance > 0.0 {
                    write!(f, "; {} is allowed", self.tolerance)?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_differences_and_missing_elements() {
        let same = Comparison::of(&[1.0f32, f32::NAN], &[1.0, f32::NAN]);
        assert!(same.is_exact());
        assert_eq!(same.to_string(), "maximum error 0, all 2 elements as in the reference bit for bit");

        let zeros = Comparison::of(&[0.0f32], &[-0.0]);
        assert_eq!((zeros.different, zeros.max_error), (1, 0.0));

        let short = Comparison::of(&[1.0f64, 3.0], &[1.0, 2.0, 3.0]);
        assert_eq!((short.different, short.first, short.max_error), (2, Some(1), f64::INFINITY));

        let near = Comparison::of(&[1.0f32, 2.0], &[1.0, 2.5]).and(Comparison::of(&[7u32], &[7]));
        assert_eq!((near.elements, near.different, near.first), (3, 1, Some(1)));
        assert!(!near.agrees() && near.within(0.5).agrees() && !near.within(0.4).agrees());
        assert!(Comparison::of(&[1i8], &[1]).agrees());

        let nan = Comparison::of(&[f64::NAN], &[1.0]);
        assert_eq!(nan.to_string(), "maximum error inf, 1 of 1 elements differ, first at index 0");
    }
}
