//! Values and variables by number, their types, and the operators on them.

use gcn_isa::RegFile;
use gcn_isa::target::WaveSize;

use crate::scalar::Elem;

/// An SSA value, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub u32);

/// A mutable variable, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub u32);

/// The target of an exit, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub u32);

/// An LDS array, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LdsId(pub u32);

/// An array of each lane's own, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PrivateId(pub u32);

/// Where a value lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// One value per wave, in SGPRs.
    Uniform,
    /// One value per lane, in VGPRs (a `bool` is a lane mask in an SGPR pair).
    Varying,
    /// A matrix accumulator, in AGPRs.
    Acc,
}

/// The type of a value or variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// Where it lives.
    pub place: Place,
    /// Element type.
    pub elem: Elem,
    /// How many elements; more than one only for short vectors, fragments and accumulators.
    pub count: u8,
}

impl Type {
    /// One integer of 32 bits in each lane.
    pub fn is_varying_word(self) -> bool {
        self.count == 1 && self.place == Place::Varying && matches!(self.elem, Elem::I32 | Elem::U32)
    }

    /// One integer of fewer than 32 bits.
    pub fn is_narrow_integer(self) -> bool {
        self.count == 1 && self.elem.is_narrow_integer()
    }

    /// One uniform element.
    pub const fn uniform(elem: Elem) -> Type {
        Type { place: Place::Uniform, elem, count: 1 }
    }

    /// One element per lane.
    pub const fn varying(elem: Elem) -> Type {
        Type { place: Place::Varying, elem, count: 1 }
    }

    /// Dwords of registers per lane (or per wave for uniform values). Elements narrower than a dword are
    /// packed only in vectors of several.
    pub const fn dwords(self) -> u8 {
        if self.count == 1 {
            self.elem.dwords()
        } else {
            (self.count as u32 * self.elem.bytes()).div_ceil(4) as u8
        }
    }

    /// The registers that hold a value in a wave of 64 lanes: as many as the value has in the IR, where a mask of lanes has 64 bits.
    pub const fn registers(self) -> (RegFile, u8) {
        self.registers_in(WaveSize::W64)
    }

    /// The registers that hold a value: which file, and how many. A varying condition is a mask of lanes.
    pub const fn registers_in(self, wave: WaveSize) -> (RegFile, u8) {
        match self.place {
            Place::Uniform => (RegFile::Sgpr, self.dwords()),
            Place::Varying if matches!(self.elem, Elem::Bool) => (RegFile::Sgpr, wave.mask_registers()),
            Place::Varying => (RegFile::Vgpr, self.dwords()),
            Place::Acc => (RegFile::Agpr, self.dwords()),
        }
    }
}

/// Two-operand arithmetic.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bin {
    Add,
    Sub,
    Mul,
    /// Upper half of the product of integers of 32 bits, or of two `u64` that each lane has: the pass `products` expands the latter.
    MulHi,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    Max,
}

impl Bin {
    /// The operands may change places.
    pub fn commutes(self) -> bool {
        use Bin::{Add, And, Max, Min, Mul, MulHi, Or, Xor};
        matches!(self, Add | Mul | MulHi | And | Or | Xor | Min | Max)
    }
}

/// One-operand arithmetic.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Un {
    Neg,
    Not,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// Round to nearest, ties to even.
    Rndne,
    /// Approximate reciprocal (`v_rcp_*`).
    Rcp,
    /// 2^32 divided by a `u32`, rounded down so little that the estimated quotient is at most two too small.
    Reciprocal,
    /// Approximate base-2 exponential (`v_exp_*`).
    Exp2,
    /// Approximate base-2 logarithm (`v_log_*`).
    Log2,
    /// Approximate reciprocal square root (`v_rsq_*`).
    Rsq,
    /// Approximate sine of an angle in turns (`v_sin_*`).
    Sin,
    /// Approximate cosine of an angle in turns (`v_cos_*`).
    Cos,
}

/// A comparison.
#[allow(missing_docs, reason = "the names say it")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pred {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}
