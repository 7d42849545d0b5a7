//! Errors of encoding.

use std::fmt;

use gcn_isa::{Inline, Inst, Operand, Target};

use crate::fields::check::OperandFault;

/// An instruction that cannot be encoded: which one, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}`{mnemonic}` on {target}: {fault}", line.map(|l| format!("instruction {l}: ")).unwrap_or_default())]
pub struct EncodeError {
    /// Index of the line in the program, if there is one.
    pub line: Option<usize>,
    /// The mnemonic as printed.
    pub mnemonic: &'static str,
    /// The target.
    pub target: Target,
    /// The reason.
    #[source]
    pub fault: EncodeFault,
}

impl EncodeError {
    pub(crate) fn new(inst: &Inst, target: Target, fault: EncodeFault) -> EncodeError {
        EncodeError { line: None, mnemonic: inst.desc.printed, target, fault }
    }
}

/// The reason why an instruction cannot be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeFault {
    /// The row is not for the target.
    #[error("the target has no such instruction in this form")]
    WrongTarget,
    /// Too many or too few operands.
    #[error("takes {want} operands, {have} given")]
    OperandCount {
        /// The row's number of operands.
        want: usize,
        /// The instruction's.
        have: usize,
    },
    /// An operand.
    #[error("operand `{name}` = {}: {fault}", Plain(*.operand))]
    Operand {
        /// The operand's name in the table.
        name: &'static str,
        /// The operand.
        operand: Operand,
        /// The problem.
        #[source]
        fault: OperandFault,
    },
    /// A modifier.
    #[error("modifier `{name}`: {fault}")]
    Modifier {
        /// The modifier's name.
        name: &'static str,
        /// The problem.
        #[source]
        fault: ModifierFault,
    },
    /// More than one scalar value over the constant bus.
    #[error(
        "reads {}: {} may read {}; copy one into a VGPR first",
        scalars(.read),
        if *.limit == 1 { "a vector instruction" } else { "this vector instruction" },
        if *.limit == 1 { "one SGPR or literal".to_owned() } else { format!("{} SGPRs and literals", .limit) }
    )]
    ConstantBus {
        /// The scalar sources, one more than there may be.
        read: Vec<Operand>,
        /// How many there may be.
        limit: usize,
    },
    /// Two different literals.
    #[error(
        "has the literals {} and {}: only one fits; move one into a register first",
        Plain(*.first), Plain(*.second)
    )]
    TwoLiterals {
        /// One value.
        first: Operand,
        /// The other.
        second: Operand,
    },
    /// A branch to a label that stands nowhere.
    #[error("the target label `{label}` is not placed")]
    UnplacedLabel {
        /// The label's name.
        label: String,
    },
    /// A branch further than 16 bits of dwords reach.
    #[error("`{label}` is {distance} dwords away; a branch reaches -32768..=32767")]
    BranchTooFar {
        /// The label's name.
        label: String,
        /// Dwords from the next instruction.
        distance: i64,
    },
}

impl EncodeFault {
    pub(crate) fn operand(inst: &Inst, index: usize, fault: OperandFault) -> EncodeFault {
        EncodeFault::Operand { name: inst.desc.operands[index].name, operand: inst.operands[index], fault }
    }
}

/// An error in a modifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModifierFault {
    /// The row does not have it, or not this value of it.
    #[error("the value {value} is not accepted by this instruction")]
    NotAccepted {
        /// The value.
        value: u32,
    },
    /// The form requires it.
    #[error("this form of the instruction always has it")]
    Required,
    /// Out of range.
    #[error("{value} is outside {lo}..={hi}")]
    Range {
        /// The value.
        value: i64,
        /// Smallest value.
        lo: i64,
        /// Largest value.
        hi: i64,
    },
    /// A DPP control that this instruction does not have.
    #[error("dpp_ctrl {ctrl:#x} is not accepted by this instruction")]
    DppControl {
        /// The control.
        ctrl: u16,
    },
    /// It cannot stand with something else.
    #[error("cannot be combined with {with}; {remedy}")]
    Conflict {
        /// The modifier with which it conflicts.
        with: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
}

/// `s0, s1 and 0x1234`.
fn scalars(read: &[Operand]) -> String {
    let names: Vec<String> = read.iter().map(|operand| Plain(*operand).to_string()).collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.join(", "),
    }
}

/// An operand outside any instruction, for messages.
pub(crate) struct Plain(pub Operand);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Operand::Reg(reg) => write!(f, "{reg}"),
            Operand::Inline(inline @ (Inline::Int(_) | Inline::Float(240..=248))) => write!(f, "{inline}"),
            Operand::Inline(Inline::Float(code)) => write!(f, "float constant {code}"),
            Operand::Literal(value) => write!(f, "{value:#x}"),
            Operand::Literal64(value) => write!(f, "{value:#x}"),
            Operand::Imm(value) => write!(f, "{value}"),
            Operand::Special(special) => f.write_str(special.name()),
            Operand::Label(label) => write!(f, "label {}", label.0),
            Operand::Off => f.write_str("off"),
        }
    }
}
