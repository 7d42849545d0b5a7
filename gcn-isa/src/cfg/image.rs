//! A program's code in memory, for the resolution of jumps.

/// A program's code in memory. Addresses may be relative to any base, as long as all of them have the same one.
pub trait Image {
    /// The address of the instruction after a line.
    fn after(&self, line: usize) -> i64;
    /// The literal of a line after linking, where `number` is its value in the text or bytes; `None` if it is not
    /// known.
    fn literal(&self, line: usize, number: u32) -> Option<u32>;
    /// The address that is stored in memory at `address`, if known.
    fn pointer(&self, address: i64) -> Option<i64>;
    /// What code is at an address.
    fn place(&self, address: i64) -> Option<AddressPlace>;
    /// A label name for a line to which a jump leads.
    fn label(&self, line: usize) -> String;
}

/// What code is at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressPlace {
    /// A line of the program.
    Line(usize),
    /// Code that is not part of the program.
    Outside,
}
