//! The textual form of the IR.
//!
//! A kernel is printed as its name, a line for each array, variable and list, and its statements:
//!
//! ```text
//! kernel twice {
//!   var0: v.u32
//!   %0: s.u32x4 = kernarg +0
//!   %1: v.u32 = local_id 0
//!   %2: v.u32 = load buffer %0[%1]
//!   write var0, %2
//! }
//! ```
//!
//! A type consists of a place (`s` uniform, `v` varying, `acc` accumulator), an element type and, after an `x`, the
//! number of elements. Information that only debuggers need is not printed: source locations, names of values, probes.

mod parse;
mod print;

use std::fmt;

use gcn_isa::InstructionSet;
use gcn_isa::counters::Counter;

pub use parse::{ParseError, parse};
pub(super) use print::Text;

use super::{AtomicOp, Bin, Cache, Manner, Pred, Un, wave::Spread};

/// The counter's name in the oldest instruction set that has the counter.
fn counter_name(counter: Counter) -> &'static str {
    InstructionSet::ALL.iter().map(|set| counter.name(*set)).find(|name| !name.is_empty()).unwrap_or_default()
}

/// Types whose values are printed as words.
trait Words: Copy + fmt::Debug + 'static {
    /// All values.
    const ALL: &'static [Self];

    /// The word for a value: the variant's name, with `_` between its parts.
    fn word(self) -> String {
        let mut word = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_uppercase() && !word.is_empty() {
                word.push('_');
            }
            word.push(c.to_ascii_lowercase());
        }
        word
    }

    /// The value for a word; `None` if there is none.
    fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|v| v.word() == word)
    }
}

macro_rules! words {
    ($($ty:ident: $($name:ident)*;)*) => {
        $(impl Words for $ty {
            const ALL: &'static [$ty] = &[$($ty::$name),*];
        })*
    };
}

words! {
    Bin: Add Sub Mul MulHi Div Rem And Or Xor Shl Shr Min Max;
    Un: Neg Not Abs Sqrt Floor Ceil Trunc Rndne Rcp Reciprocal Exp2 Log2 Rsq Sin Cos;
    Pred: Lt Le Gt Ge Eq Ne;
    AtomicOp: Load Store Swap CompareExchange Add Sub Min Max And Or Xor IncWrap DecWrap;
    Spread: Reduce Inclusive Exclusive;
    Cache: Streaming Bypass;
}

/// The suffix of the name of a load or store.
fn manner_word(manner: Manner) -> String {
    match manner {
        Manner::Plain => String::new(),
        Manner::Cached(cache) => format!(".{}", cache.word()),
        Manner::Transposed(bits) => format!(".transposed{bits}"),
    }
}
