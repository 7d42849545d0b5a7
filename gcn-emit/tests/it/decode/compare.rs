//! Runs our decoder and LLVM's on the same words, and classifies the differences.

use gcn_emit::decode::decode_inst;
use gcn_emit::text::InstText;
use gcn_isa::Target;

use super::oracle::{Answer, ask, assemble, block};

/// A word for which the two decoders give different results.
#[derive(Clone, Debug)]
pub struct Difference {
    pub target: Target,
    pub word: Vec<u8>,
    /// The text and length, or the error.
    pub ours: Result<(String, usize), String>,
    pub theirs: Answer,
    /// True if LLVM's assembler produces these bytes from LLVM's text.
    pub theirs_is_canonical: bool,
    /// True if LLVM's assembler produces these bytes from our text.
    pub ours_is_canonical: bool,
}

/// The numbers of words by the results of both decoders, and the differences.
#[derive(Default)]
pub struct Outcome {
    pub illegal: usize,
    pub legal: usize,
    pub differences: Vec<Difference>,
}

pub fn compare(target: Target, words: &[Vec<u8>]) -> Outcome {
    let mut outcome = Outcome::default();
    for (word, theirs) in words.iter().zip(ask(target, words)) {
        let ours = match decode_inst(&block(word), target) {
            Ok((inst, length)) => Ok((InstText { inst: &inst, target, program: None }.to_string(), length)),
            Err(error) => Err(error.fault.to_string()),
        };
        match (&ours, &theirs) {
            (Err(_), Answer::Illegal) => outcome.illegal += 1,
            (Ok(ours), Answer::Inst { text, length, doubtful: false })
                if (&ours.0, &ours.1) == (text, length) =>
            {
                outcome.legal += 1;
            }
            _ => outcome.differences.push(Difference {
                target,
                word: word.clone(),
                ours,
                theirs,
                theirs_is_canonical: false,
                ours_is_canonical: false,
            }),
        }
    }
    canonical(target, &mut outcome.differences);
    outcome
}

/// Asks LLVM's assembler about the texts.
fn canonical(target: Target, differences: &mut [Difference]) {
    let theirs: Vec<&str> = differences
        .iter()
        .map(|d| match &d.theirs {
            Answer::Inst { text, .. } => text.as_str(),
            _ => "s_nop 0x7eee",
        })
        .collect();
    let ours: Vec<&str> = differences
        .iter()
        .map(|d| d.ours.as_ref().map_or("s_nop 0x7eee", |(text, _)| text.as_str()))
        .collect();
    let (theirs, ours) = (assemble(target, &theirs), assemble(target, &ours));
    for ((difference, theirs), ours) in differences.iter_mut().zip(theirs).zip(ours) {
        let is_it = |code: Option<Vec<u8>>| code.is_some_and(|c| block(&difference.word).starts_with(&c));
        difference.theirs_is_canonical = is_it(theirs);
        difference.ours_is_canonical = is_it(ours);
    }
}

impl Difference {
    /// LLVM's text.
    pub fn text(&self) -> &str {
        match &self.theirs {
            Answer::Inst { text, .. } => text,
            _ => "",
        }
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.target)?;
        for dword in self.word.chunks(4) {
            let value = dword.iter().rev().fold(0u32, |value, byte| value << 8 | u32::from(*byte));
            write!(f, " {value:08x}")?;
        }
        match &self.ours {
            Ok((text, length)) => {
                write!(f, ": ours `{text}` ({length} bytes, assembles: {})", self.ours_is_canonical)?;
            }
            Err(fault) => write!(f, ": ours refused: {fault}")?,
        }
        match &self.theirs {
            Answer::Inst { text, length, .. } => {
                write!(f, ", LLVM `{text}` ({length} bytes, assembles: {})", self.theirs_is_canonical)
            }
            other => write!(f, ", LLVM {other:?}"),
        }
    }
}
