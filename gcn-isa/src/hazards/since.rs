//! A summary of the code between two instructions, with the information on which rules depend.

use super::view::{Kinds, View};
use crate::reg::Reg;

/// A summary of the code between an instruction and a later instruction, if rules may apply to the two.
///
/// ```
/// use gcn_isa::hazards::{Config, Since, View};
/// use gcn_isa::{Inst, Operand, Reg, Target, table};
///
/// let inst = |name, operands: &[Operand]| {
///     let row = table::find_form(Target::GFX908, name, "").unwrap();
///     View::new(Target::GFX908, &Inst::new(row, operands.iter().copied()))
/// };
/// let write = inst("v_mov_b32_e32", &[Reg::v(2, 1).into(), Reg::v(3, 1).into()]);
/// let move_acc = inst("v_accvgpr_write_b32", &[Reg::a(0, 1).into(), Reg::v(4, 1).into()]);
/// let store = inst("ds_write_b32", &[Reg::v(1, 1).into(), Reg::v(2, 1).into()]);
/// let since = Since::NOTHING.past(&write, &move_acc);
/// assert_eq!(write.required_since(&store, Config::default(), since).map(|n| n.states), Some(2));
/// assert!(write.required(&store, Config::default()).is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Since {
    /// The registers that the first instruction owns and that have not been overwritten since. Bit i stands for the i-th register of
    /// [`View::owned`]. If a register has been overwritten, no rule about the first instruction's write of it applies.
    live: u32,
    /// The kinds of the instructions in between, for rules that require an instruction between two others
    /// ([`Link::Crossing`](super::Link::Crossing)).
    crossed: Kinds,
}

impl Since {
    /// The summary of no code, or of code that does not affect any rule.
    pub const NOTHING: Since = Since { live: u32::MAX, crossed: Kinds::empty() };

    /// A summary with these fields: see [`Since::live`] and [`Since::crossed`].
    pub fn new(live: u32, crossed: Kinds) -> Since {
        Since { live, crossed }
    }

    /// A summary of instructions of these kinds, none of which overwrites a register.
    pub fn across(crossed: Kinds) -> Since {
        Since { crossed, ..Since::NOTHING }
    }

    /// A summary of this code followed by `later`. `first` is the instruction before the code.
    #[must_use]
    #[inline]
    pub fn past(self, first: &View, later: &View) -> Since {
        self.past_owned(first.owned(), later)
    }

    /// The same as [`Since::past`], for a first instruction that owns the registers `owned`.
    #[inline]
    pub(crate) fn past_owned(self, owned: Option<Reg>, later: &View) -> Since {
        let live = owned.map_or(self.live, |mine| self.live & !later.overwritten_of(mine));
        Since { live, crossed: self.crossed | later.crossing() }
    }

    /// True if every rule that applies to an instruction after `other` also applies to it after this code.
    pub fn covers(self, other: Since) -> bool {
        self.live | other.live == self.live && self.crossed.contains(other.crossed)
    }

    /// The owned registers that have not been overwritten. Bit i stands for the i-th register; all bits are set if no register has been
    /// overwritten.
    pub fn live(self) -> u32 {
        self.live
    }

    /// The kinds of the instructions in between that rules depend on.
    pub fn crossed(self) -> Kinds {
        self.crossed
    }
}
