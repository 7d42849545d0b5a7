//! Errors in assembly text.

use gcn_isa::{Target, TargetSet, table};

use crate::encode::EncodeFault;

/// The error for a text that is not an instruction or program: the position and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {fault}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The reason.
    #[source]
    pub fault: ParseFault,
}

impl ParseError {
    /// An error at a byte offset of a one-line text.
    pub(super) fn at(line_text: &str, at: usize, fault: ParseFault) -> ParseError {
        let before = line_text.get(..at).unwrap_or(line_text);
        ParseError { line: 1, column: before.chars().count() + 1, fault }
    }
}

/// An error in the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseFault {
    /// The grammar requires something else at this position.
    #[error("expected {0}")]
    Expected(&'static str),
    /// No target has such a mnemonic.
    #[error("{target} has no instruction `{mnemonic}`{}", nearest_hint(*.target, .mnemonic))]
    UnknownMnemonic {
        /// The target.
        target: Target,
        /// The mnemonic as written.
        mnemonic: String,
    },
    /// A graphics instruction, which a target outside of this crate's tables may have.
    #[error("`{mnemonic}`: graphics instructions (images, exports, interpolation) are not supported")]
    Graphics {
        /// The mnemonic as written.
        mnemonic: String,
    },
    /// Other targets have the mnemonic.
    #[error("`{mnemonic}` exists on {} only, not on {target}", target_list(*.targets))]
    OtherTarget {
        /// The target.
        target: Target,
        /// The mnemonic.
        mnemonic: String,
        /// The targets that have it.
        targets: TargetSet,
    },
    /// No form of the instruction has this many operands.
    #[error("`{mnemonic}` takes {want} operands, {have} given: {operands}")]
    OperandCount {
        /// The instruction.
        mnemonic: &'static str,
        /// The number of operands of the form.
        want: usize,
        /// The number of operands in the text.
        have: usize,
        /// The names of the form's operands.
        operands: String,
    },
    /// An operand that its slot does not accept.
    #[error("operand `{name}` of `{mnemonic}`: {problem}")]
    Operand {
        /// The instruction, in the form that came closest.
        mnemonic: &'static str,
        /// The operand's name in the table.
        name: &'static str,
        /// The problem with it.
        problem: String,
    },
    /// A modifier that the instruction does not accept.
    #[error("modifier `{name}` of `{mnemonic}`: {problem}")]
    Modifier {
        /// The instruction, in the form that came closest.
        mnemonic: &'static str,
        /// The modifier as written.
        name: String,
        /// The problem with it.
        problem: &'static str,
    },
    /// A value of a modifier that no instruction accepts.
    #[error("modifier `{name}`: {problem}")]
    ModifierValue {
        /// The modifier's name.
        name: String,
        /// The problem with the value.
        problem: &'static str,
    },
    /// A modifier that the form requires is missing.
    #[error("`{mnemonic}` needs {what}")]
    Missing {
        /// The instruction.
        mnemonic: &'static str,
        /// The requirement.
        what: &'static str,
    },
    /// The text is complete, but the encoding cannot represent it.
    #[error("`{mnemonic}`: {fault}")]
    Encode {
        /// The instruction, in the form that came closest.
        mnemonic: &'static str,
        /// The reason.
        #[source]
        fault: EncodeFault,
    },
    /// An expression without a usable value, or an argument of a function such as `hwreg(…)`.
    #[error("{0}")]
    Expression(String),
    /// A register that does not exist.
    #[error("{0}")]
    Register(String),
    /// A label that is used but not defined.
    #[error("the label `{0}` is not defined")]
    UndefinedLabel(String),
    /// A label that is defined twice.
    #[error("the label `{name}` is already defined in line {line}")]
    DuplicateLabel {
        /// The label.
        name: String,
        /// The line of its first definition.
        line: usize,
    },
    /// A directive.
    #[error(
        "the directive `{0}` is not understood here: the text may hold instructions, labels and comments"
    )]
    Directive(String),
    /// A block comment without an end.
    #[error("the comment is not closed")]
    OpenComment,
}

/// The nearest known mnemonic, for the message. It is computed only when the message is written, because comparing with all names takes
/// long, and only few of many errors are displayed.
fn nearest_hint(target: Target, mnemonic: &str) -> String {
    let names = table::rows_on(target).flat_map(|row| [row.mnemonic, row.printed]);
    let near = nearest(&mnemonic.to_ascii_lowercase(), names);
    near.map(|name| format!("; the nearest name is `{name}`")).unwrap_or_default()
}

/// The known name with the smallest edit distance, if the distance is small enough for a typing error.
pub(crate) fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    // No known name is longer. The limit bounds the time, which is proportional to the product of the lengths.
    if name.len() > 64 {
        return None;
    }
    let (length, limit) = (name.chars().count(), 1 + name.len() / 5);
    let edits = |known: &'static str| (strsim::levenshtein(name, known), known);
    let near = known.filter(|known| known.len().abs_diff(length) <= limit).map(edits);
    near.filter(|(edits, _)| *edits <= limit).min().map(|(_, known)| known)
}

fn target_list(targets: TargetSet) -> String {
    targets.targets().map(Target::name).collect::<Vec<_>>().join(", ")
}
