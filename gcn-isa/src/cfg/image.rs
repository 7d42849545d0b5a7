//! A program's code in memory, for the resolution of jumps.

/// A program's code in memory. Addresses may be relative to any base, as long as all addresses have the same base.
pub trait Image {
    /// The address of the instruction after a line.
    fn after(&self, line: usize) -> i64;
    /// The literal of a line after linking, or `None` if the literal is not known. `number` is the literal's value in the text or in the
    /// bytes.
    fn literal(&self, line: usize, number: u32) -> Option<u32>;
    /// As [`Image::literal`], for a literal of 64 bits.
    fn long_literal(&self, line: usize, number: u64) -> Option<u64>;
    /// The address that is stored in memory at `address`, or `None` if it is not known.
    fn pointer(&self, address: i64) -> Option<i64>;
    /// The code at an address; `None` if it is not known.
    fn place(&self, address: i64) -> Option<AddressPlace>;
    /// A label name for a line that is the target of a jump.
    fn label(&self, line: usize) -> String;
}

/// The code at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressPlace {
    /// A line of the program.
    Line(usize),
    /// Code that is not part of the program.
    Outside,
}
