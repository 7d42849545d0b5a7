//! Prints instructions and programs.

use std::fmt::{self, Write as _};

use gcn_isa::table::Class;
use gcn_isa::{Inst, Operand, Program, Target};

use super::modifiers;
use super::operand::InPlace;

/// An instruction that is displayed as its canonical text.
///
/// ```
/// use gcn_emit::{decode::decode_inst, text::InstText};
/// use gcn_isa::Target;
///
/// let (inst, _) = decode_inst(&[0x70, 0x0f, 0x8c, 0xbf], Target::GFX942).unwrap();
/// let text = InstText { inst: &inst, target: Target::GFX942, program: None };
/// assert_eq!(text.to_string(), "s_waitcnt vmcnt(0)");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InstText<'a> {
    /// The instruction.
    pub inst: &'a Inst,
    /// The target, which determines some spellings.
    pub target: Target,
    /// The program that contains the names of labels. Without a program, labels are printed as `.L0`, `.L1` …
    pub program: Option<&'a Program>,
}

impl fmt::Display for InstText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inst = self.inst;
        // VOPD consists of two instructions, each with its own operands.
        let (mnemonic, second) = inst.desc.printed.split_once(" :: ").unwrap_or((inst.desc.printed, ""));
        f.write_str(mnemonic)?;
        let begins_second = if second.is_empty() { None } else { inst.desc.operand_index("vdsty") };
        let mut separator = " ";
        for position in 0..inst.operands.len() {
            if is_silent(inst, position) {
                continue;
            }
            if begins_second == Some(position) {
                write!(f, " :: {second}")?;
                separator = " ";
            }
            f.write_str(separator)?;
            write!(f, "{}", InPlace { inst, position, target: self.target, program: self.program })?;
            separator = ", ";
        }
        modifiers::write(f, inst, self.target)
    }
}

/// True for the operand that the canonical text omits: the code of a plain `s_endpgm`.
fn is_silent(inst: &Inst, position: usize) -> bool {
    inst.desc.class == Class::Endpgm && inst.operands[position] == Operand::Imm(0)
}

/// The comments after the instructions of a printed program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comments {
    /// No comments.
    None,
    /// The note of each line that has one, aligned in one column.
    Explain,
}

/// The usual column of comments, and the largest column to which longer instructions may move it.
const COMMENT_COLUMNS: (usize, usize) = (40, 80);

/// A program's labels and instructions, one per line.
///
/// ```
/// use gcn_emit::text::{Comments, print_program};
/// use gcn_isa::{Inst, Operand, Program, Target, table};
///
/// let mut program = Program::new(Target::GFX942, "spin");
/// let label = program.new_label(".Lloop");
/// program.place(label);
/// let branch = table::find(Target::GFX942, "s_branch").next().unwrap();
/// program.push(Inst::new(branch, [Operand::Label(label)])).note = Some("for ever".into());
/// assert_eq!(print_program(&program, Comments::None), ".Lloop:\n\ts_branch .Lloop\n");
/// assert!(print_program(&program, Comments::Explain).ends_with("; for ever\n"));
/// ```
pub fn print_program(program: &Program, comments: Comments) -> String {
    print_lines(program, comments, |_, _| {})
}

/// As [`print_program`]; `before` writes the text before each instruction.
pub(crate) fn print_lines(
    program: &Program,
    comments: Comments,
    mut before: impl FnMut(&mut String, usize),
) -> String {
    let mut out = String::with_capacity(program.lines.len() * 40);
    let mut labels = program.labels_in_order().into_iter().peekable();
    let column = match comments {
        Comments::Explain => comment_column(program),
        Comments::None => 0,
    };
    for (index, line) in program.lines.iter().enumerate() {
        while let Some((_, label)) = labels.next_if(|l| l.0 <= index) {
            let _ = writeln!(out, "{}:", program.labels[label.0 as usize].name);
        }
        before(&mut out, index);
        out.push('\t');
        let start = out.len();
        let _ = write!(out, "{}", text_of(program, &line.inst));
        if let (Comments::Explain, Some(note)) = (comments, &line.note) {
            let width = out.len() - start;
            let padding = column.saturating_sub(width).max(2);
            // A note is printed on one line, even if it contains line ends.
            let _ = write!(out, "{:padding$}; {}", "", note.replace('\n', " "));
        }
        out.push('\n');
    }
    for (_, label) in labels {
        let _ = writeln!(out, "{}:", program.labels[label.0 as usize].name);
    }
    out
}

fn text_of<'a>(program: &'a Program, inst: &'a Inst) -> InstText<'a> {
    InstText { inst, target: program.target, program: Some(program) }
}

fn comment_column(program: &Program) -> usize {
    let noted = program.lines.iter().filter(|l| l.note.is_some());
    let widest = noted.map(|l| text_of(program, &l.inst).to_string().len() + 2).max().unwrap_or(0);
    widest.clamp(COMMENT_COLUMNS.0, COMMENT_COLUMNS.1)
}
