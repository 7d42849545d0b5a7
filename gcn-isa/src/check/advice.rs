//! Finds waits that are stronger than any rule requires.

mod remedies;
mod states;
mod waits;

use std::fmt;

use super::report::Amount;

pub(super) use remedies::advise as remedies;
pub(super) use states::advise as states;
pub(super) use waits::advise as waits;

/// A wait that is stronger than necessary. With the weaker value, every rule that is satisfied now would still be satisfied on every path,
/// provided that all other waits remain unchanged. Following two pieces of advice at once may therefore be wrong.
///
/// The rules concern registers, barriers and LDS. A wait that orders memory accesses for another wave or for the host has a purpose that no
/// rule covers: see [`Advice::may_order`].
///
/// ```
/// use gcn_isa::{Inst, Operand, Program, Reg, Target, check, table};
///
/// let target = Target::GFX942;
/// let mut program = Program::new(target, "example");
/// let find = |name| table::find(target, name).next().unwrap();
/// program.push(Inst::new(find("s_nop"), [Operand::Imm(4)]));
/// program.push(Inst::new(find("s_endpgm"), []));
/// let advice = check::advice(&program, check::Options::default());
/// assert_eq!(advice[0].to_string(), "line 0: 5 wait states here, 0 are enough");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Advice {
    /// The line of the wait.
    pub line: usize,
    /// The amount for which the program waits.
    pub have: Amount,
    /// The amount that would be sufficient.
    pub enough: Amount,
    /// True if stores or atomics are outstanding on a counter whose wait could be weaker. The wait may then order these operations for
    /// other waves or for the host, which no rule covers.
    pub may_order: bool,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match (self.have, self.enough) {
            (Amount::States(have), Amount::States(enough)) => {
                let plural = if have == 1 { "" } else { "s" };
                let verb = if enough == 1 { "is" } else { "are" };
                write!(f, "{have} wait state{plural} here, {enough} {verb} enough")?;
            }
            (Amount::Wait(have), Amount::Wait(enough)) if enough.wait.is_none() => {
                write!(f, "nothing needs `{have}`")?;
            }
            (Amount::Wait(have), Amount::Wait(enough)) => {
                write!(f, "`{have}` is stronger than needed, `{enough}` is enough")?;
            }
            (Amount::Remedy { fix: have, target }, Amount::Remedy { fix: enough, .. })
                if !enough.is_none() =>
            {
                let [have, enough] = [have, enough].map(|fix| fix.statements(target).join("; "));
                write!(f, "`{have}` is stronger than needed, `{enough}` is enough")?;
            }
            _ => f.write_str("this wait is not needed")?,
        }
        if self.may_order {
            f.write_str(", unless it orders memory for others")?;
        }
        Ok(())
    }
}
