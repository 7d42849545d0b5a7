//! A kernel's result against the reference's.

use std::fmt;

/// Result elements.
pub trait Element: Copy {
    /// Nearest f64.
    fn value(self) -> f64;
    /// True if both are the same bit for bit.
    fn same_bits(self, other: Self) -> bool;
}

impl Element for f32 {
    fn value(self) -> f64 {
        f64::from(self)
    }
    fn same_bits(self, other: f32) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Element for f64 {
    fn value(self) -> f64 {
        self
    }
    fn same_bits(self, other: f64) -> bool {
        self.to_bits() == other.to_bits()
    }
}

/// How far a result is from the reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Elements compared.
    pub elements: usize,
    /// Elements that differ in at least one bit, and elements that only one side has.
    pub different: usize,
    /// The first of them.
    pub first: Option<usize>,
    /// Largest absolute difference; infinite where one side only is not a number.
    pub max_error: f64,
}

impl Comparison {
    /// Compares element by element.
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

    /// True if every element is the reference's bit for bit.
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
                write!(f, ", {} of {} elements differ, first at index {first}", self.different, self.elements)
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

        let nan = Comparison::of(&[f64::NAN], &[1.0]);
        assert_eq!(nan.to_string(), "maximum error inf, 1 of 1 elements differ, first at index 0");
    }
}
