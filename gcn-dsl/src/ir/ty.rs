//! Values and variables by number, their types, and the arithmetic operations on them.

use gcn_isa::RegFile;
use gcn_isa::target::WaveSize;

use crate::scalar::Elem;

/// An SSA value, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub u32);

/// A mutable variable, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub u32);

/// The label of a block, the target of exits, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub u32);

/// An LDS array, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LdsId(pub u32);

/// A private array, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PrivateId(pub u32);

/// The kind of registers that contain a value, which implies whether the value is uniform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// One value per wave, in SGPRs.
    Uniform,
    /// One value per lane, in VGPRs; a `bool` is a lane mask in an SGPR pair.
    Varying,
    /// A matrix accumulator, in AGPRs.
    Acc,
}

/// The type of a value or variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// Uniform, varying or accumulator.
    pub place: Place,
    /// The element type.
    pub elem: Elem,
    /// The number of elements; more than one only for short vectors, fragments and accumulators.
    pub count: u8,
}

impl Type {
    /// True for a varying 32-bit integer.
    pub fn is_varying_word(self) -> bool {
        self.count == 1 && self.place == Place::Varying && matches!(self.elem, Elem::I32 | Elem::U32)
    }

    /// True for a single integer of fewer than 32 bits.
    pub fn is_narrow_integer(self) -> bool {
        self.count == 1 && self.elem.is_narrow_integer()
    }

    /// The type of one uniform element.
    pub const fn uniform(elem: Elem) -> Type {
        Type { place: Place::Uniform, elem, count: 1 }
    }

    /// The type of one element per lane.
    pub const fn varying(elem: Elem) -> Type {
        Type { place: Place::Varying, elem, count: 1 }
    }

    /// The number of 32-bit registers per lane (per wave for uniform values). Elements of fewer than 32 bits are packed
    /// only if there are several.
    pub const fn dwords(self) -> u8 {
        if self.count == 1 {
            self.elem.dwords()
        } else {
            (self.count as u32 * self.elem.bytes()).div_ceil(4) as u8
        }
    }

    /// The register file and the number of registers in a wave of 64 lanes. The IR uses these numbers for every wave
    /// size, because its lane masks have 64 bits.
    pub const fn registers(self) -> (RegFile, u8) {
        self.registers_in(WaveSize::W64)
    }

    /// The register file and the number of registers for this wave size, which determines the size of lane masks.
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
    /// The upper half of the product of two 32-bit integers, or of two varying `u64`, which the pass `products`
    /// expands.
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
    /// True if the operands may be exchanged.
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
    /// Rounds to the nearest integer, ties to even.
    Rndne,
    /// Approximate reciprocal (`v_rcp_*`).
    Rcp,
    /// 2^32 divided by a `u32`, slightly too small, so that a quotient estimated with it is too small by at most two.
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

impl Pred {
    /// The comparison of integers that is true exactly if this one is false.
    pub fn negated(self) -> Pred {
        match self {
            Pred::Lt => Pred::Ge,
            Pred::Le => Pred::Gt,
            Pred::Gt => Pred::Le,
            Pred::Ge => Pred::Lt,
            Pred::Eq => Pred::Ne,
            Pred::Ne => Pred::Eq,
        }
    }

    /// The comparison that gives the same result with its operands exchanged.
    pub fn mirrored(self) -> Pred {
        match self {
            Pred::Lt => Pred::Gt,
            Pred::Le => Pred::Ge,
            Pred::Gt => Pred::Lt,
            Pred::Ge => Pred::Le,
            Pred::Eq | Pred::Ne => self,
        }
    }
}
