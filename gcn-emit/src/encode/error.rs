//! Errors of encoding.

use std::fmt;

use gcn_isa::{Inline, Inst, Operand, Target};

use crate::fields::check::OperandFault;

/// The error for an instruction that cannot be encoded: the instruction and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}`{mnemonic}` on {target}: {fault}", line.map(|l| format!("instruction {l}: ")).unwrap_or_default())]
pub struct EncodeError {
    /// The index of the line in the program, if there is one.
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

/// Why an instruction cannot be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeFault {
    /// The row does not apply to the target.
    #[error("the target has no such instruction in this form")]
    WrongTarget,
    /// There are too many or too few operands.
    #[error("takes {want} operands, {have} given")]
    OperandCount {
        /// The row's number of operands.
        want: usize,
        /// The instruction's number of operands.
        have: usize,
    },
    /// An operand has an error.
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
    /// A modifier has an error.
    #[error("modifier `{name}`: {fault}")]
    Modifier {
        /// The modifier's name.
        name: &'static str,
        /// The problem.
        #[source]
        fault: ModifierFault,
    },
    /// The instruction reads more scalar values than the constant bus can transfer.
    #[error(
        "reads {}: {} may read {}; copy one into a VGPR first",
        scalars(.read),
        if *.limit == 1 { "a vector instruction" } else { "this vector instruction" },
        if *.limit == 1 { "one SGPR or literal".to_owned() } else { format!("{} SGPRs and literals", .limit) }
    )]
    ConstantBus {
        /// The scalar sources, one more than allowed.
        read: Vec<Operand>,
        /// The number that is allowed.
        limit: usize,
    },
    /// The instruction has two different literals.
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
    /// A branch leads to a label that has not been placed.
    #[error("the target label `{label}` is not placed")]
    UnplacedLabel {
        /// The label's name.
        label: String,
    },
    /// A branch is out of the range of a 16-bit number of dwords.
    #[error(
        "`{label}` is {distance} dwords away; a branch reaches -32768..=32767: branch to an `s_branch {label}` within that reach"
    )]
    BranchTooFar {
        /// The label's name.
        label: String,
        /// The distance in dwords from the next instruction.
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
    /// The row does not have the modifier, or does not accept this value.
    #[error("the value {value} is not accepted by this instruction")]
    NotAccepted {
        /// The value.
        value: u32,
    },
    /// The form requires the modifier.
    #[error("this form of the instruction always has it")]
    Required,
    /// The value is out of range.
    #[error("{value} is outside {lo}..={hi}")]
    Range {
        /// The value.
        value: i64,
        /// The smallest permitted value.
        lo: i64,
        /// The largest permitted value.
        hi: i64,
    },
    /// The instruction does not have this DPP control.
    #[error("dpp_ctrl {ctrl:#x} is not accepted by this instruction")]
    DppControl {
        /// The control.
        ctrl: u16,
    },
    /// The modifier conflicts with another one.
    #[error("cannot be combined with {with}; {remedy}")]
    Conflict {
        /// The modifier with which it conflicts.
        with: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
}

/// The operands as a list in words: `s0, s1 and 0x1234`.
fn scalars(read: &[Operand]) -> String {
    let names: Vec<String> = read.iter().map(|operand| Plain(*operand).to_string()).collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.join(", "),
    }
}

/// An operand without an instruction, for messages.
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
