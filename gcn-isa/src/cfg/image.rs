//! A program's code in memory, as needed to resolve its jumps.

/// The program's code in memory. Addresses may count from any base, but all from the same one.
pub trait Image {
    /// The address after the instruction of a line.
    fn after(&self, line: usize) -> i64;
    /// The literal of a line, given as `number` in its text or bytes, after linking; `None` if it is not known.
    fn literal(&self, line: usize, number: u32) -> Option<u32>;
    /// The address stored in memory at an address, if known.
    fn pointer(&self, address: i64) -> Option<i64>;
    /// The code at an address.
    fn place(&self, address: i64) -> Option<AddressPlace>;
    /// A name for a line to which a jump leads.
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
