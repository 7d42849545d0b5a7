//! Tests the formulas that are printed for users: their values must equal the locations that the code computes.

use gcn_isa::Target;
use gcn_isa::layout::{self, Matrix, Shape};

/// The value of an expression of numbers, names, `+ * / %` and brackets, with the usual precedence.
struct Expression<'a> {
    rest: &'a str,
    value: &'a dyn Fn(&str) -> u32,
}

fn evaluate(text: &str, value: &dyn Fn(&str) -> u32) -> u32 {
    let mut expression = Expression { rest: text, value };
    let result = expression.sum();
    assert!(expression.rest.trim().is_empty(), "`{}` is left of `{text}`", expression.rest);
    result
}

impl Expression<'_> {
    fn take(&mut self, symbol: char) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.starts_with(symbol);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn sum(&mut self) -> u32 {
        let mut total = self.product();
        while self.take('+') {
            total += self.product();
        }
        total
    }

    fn product(&mut self) -> u32 {
        let mut total = self.atom();
        loop {
            if self.take('*') {
                total *= self.atom();
            } else if self.take('/') {
                total /= self.atom();
            } else if self.take('%') {
                total %= self.atom();
            } else {
                return total;
            }
        }
    }

    fn atom(&mut self) -> u32 {
        if self.take('(') {
            let inner = self.sum();
            assert!(self.take(')'), "a bracket is open before `{}`", self.rest);
            return inner;
        }
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.parse().unwrap_or_else(|_| (self.value)(word))
    }
}

/// The register and the lowest bit, combined into one number of bits, as a formula expresses them.
fn place_in_words(text: &str, value: &dyn Fn(&str) -> u32, element_bits: u32) -> u32 {
    let number = |text: &str| evaluate(text, value);
    if let Some(rest) = text.strip_prefix("two elements for the group of four k at ") {
        let (group, _) = rest.split_once(", each").expect("the element's width");
        return number(group) * element_bits;
    }
    if let Some(rest) = text.strip_prefix("bits from ") {
        return number(rest.strip_suffix(" of the registers taken as one number").expect("the end"));
    }
    if let Some(rest) = text.strip_prefix("registers ") {
        let first = rest.split(" and ").next().expect("the first register");
        return 32 * number(first);
    }
    let rest = text.strip_prefix("register ").expect("a register");
    match rest.split_once(", ") {
        None => 32 * number(rest),
        Some((register, "a byte")) => 32 * number(register),
        Some((register, bits)) => {
            let from = bits.split_once("bits from ").expect("bits").1;
            32 * number(register) + number(from)
        }
    }
}

/// Checks every element. Returns the number of elements.
pub(super) fn check(shape: &Shape, matrix: Matrix, name: &str) -> usize {
    let Some(formulas) = layout::formulas(shape, matrix) else { return 0 };
    let (rows, cols) = shape.extent(matrix).expect("a matrix with formulas");
    let mut count = 0;
    for block in 0..shape.blocks {
        for row in 0..rows {
            for col in 0..cols {
                let (row_n, col_n) = (u32::from(row), u32::from(col));
                let value = |word: &str| match (word, matrix) {
                    ("block", _) => u32::from(block),
                    ("i", _) => row_n,
                    ("j", _) => col_n,
                    ("k", Matrix::B) => row_n,
                    ("k", Matrix::ScaleA) => 32 * col_n,
                    ("k", Matrix::ScaleB) => 32 * row_n,
                    ("k", _) => col_n,
                    _ => panic!("{name} {}: what is `{word}`?", matrix.name()),
                };
                let place = shape.place(matrix, block, row, col).expect("an element");
                let at = format!("{name} {} {block} {row} {col}: {formulas:?}", matrix.name());
                let lane = formulas.lane.split(", and in every").next().expect("the lowest lane");
                assert_eq!(evaluate(lane, &value), u32::from(place.lane), "{at}");
                let bit = 32 * u32::from(place.register) + u32::from(place.low_bit);
                assert_eq!(place_in_words(&formulas.register, &value, u32::from(place.bits)), bit, "{at}");
                count += 1;
            }
        }
    }
    count
}

#[test]
fn printed_formulas_give_the_places() {
    assert_eq!(evaluate("1 + 2 * (7 / 2 % 2) * x", &|_| 5), 11);
    let (mut elements, mut shapes) = (0, 0);
    for target in Target::REPRESENTATIVES {
        for (desc, shape) in layout::matrix_instructions(target) {
            for format in if shape.formats_chosen { 0..5 } else { 0..1 } {
                let shape = shape.with_formats(format, format).expect("a format");
                elements += Matrix::ALL.iter().map(|m| check(&shape, *m, desc.printed)).sum::<usize>();
                shapes += 1;
            }
        }
    }
    assert_eq!((shapes, elements), (177, 560_512));
}
