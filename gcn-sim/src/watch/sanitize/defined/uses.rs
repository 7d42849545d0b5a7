//! The uses in which undefined bits matter: addresses, branches, EXEC, and stores that others see.

use super::info::{Kind, Source};
use super::now::Now;
use super::{Bits, M0, Word};
use crate::core::machine::Cx;
use gcn_isa::reg;
use gcn_isa::table::{Class, ImplicitRegs};

/// Undefined bits in a use that matters.
pub(in crate::watch::sanitize) struct Undefined {
    /// The register that contains the bits.
    pub register: String,
    pub lane: Option<u8>,
    /// The reason why their value matters.
    pub why: &'static str,
}

impl Undefined {
    /// An undefined lane of EXEC.
    pub(in crate::watch::sanitize) fn exec(lane: u8) -> Undefined {
        Undefined { register: "exec".to_owned(), lane: Some(lane), why: "it decides whether a lane runs" }
    }

    pub(super) fn at(cx: &Cx<'_>, word: Word, lane: Option<u8>, why: &'static str) -> Undefined {
        let lane = lane.filter(|_| matches!(word, Word::Vector(_)));
        Undefined { register: word.reg(cx.machine).to_string(), lane, why }
    }
}

const ADDRESS: &str = "it is an address";
const BRANCH: &str = "it decides where control goes";
const INDEX: &str = "it chooses registers";
const STATE: &str = "it changes how the wave works";

/// A use of undefined bits, and the bits that count as defined after the use has been reported.
pub(in crate::watch::sanitize) struct Use {
    pub(in crate::watch::sanitize) undefined: Undefined,
    words: Vec<(Word, u64)>,
}

impl Now<'_, '_> {
    /// The first use of undefined bits that matters, if any.
    pub(in crate::watch::sanitize) fn uses(&self) -> Option<Use> {
        match self.info.kind {
            Kind::Memory => self.info.sources.iter().filter(|s| !s.data).find_map(|s| self.whole(s, ADDRESS)),
            Kind::Decides => self.decides(),
            Kind::Computes if self.info.sources.iter().any(|s| s.operand.is_none() && s.control) => {
                self.index()
            }
            Kind::Computes if self.cx.w.mode.gpr_indexing && self.inst.desc.format.is_vop() => self.index(),
            Kind::Computes | Kind::Matrix | Kind::Nothing => None,
        }
    }

    fn index(&self) -> Option<Use> {
        let word = Word::Scalar(M0);
        (self.bits.lanes(word) != 0).then(|| Use {
            undefined: Undefined::at(self.cx, word, None, INDEX),
            words: vec![(word, u64::MAX)],
        })
    }

    /// The use of a source if every bit of it matters; `None` if all are defined.
    fn whole(&self, source: &Source, why: &'static str) -> Option<Use> {
        let exec = self.cx.w.exec();
        // Without active lanes, a vector instruction accesses no memory.
        if exec == 0 && !self.inst.desc.is_smem() && self.info.kind == Kind::Memory {
            return None;
        }
        let lanes = |word: Word| {
            self.bits.lanes(word) & if matches!(word, Word::Vector(_)) { exec } else { u64::MAX }
        };
        let word = source.words().find(|word| lanes(*word) != 0)?;
        let lane = Some(lanes(word).trailing_zeros() as u8);
        let words = source.words().map(|word| (word, exec)).collect();
        Some(Use { undefined: Undefined::at(self.cx, word, lane, why), words })
    }

    fn decides(&self) -> Option<Use> {
        let desc = self.inst.desc;
        if desc.class == Class::GprIdx {
            return None;
        }
        if self.info.reads_scc && self.bits.scc {
            let undefined = Undefined { register: "scc".to_owned(), lane: None, why: BRANCH };
            return Some(Use { undefined, words: Vec::new() });
        }
        if desc.implicit_reads.contains(ImplicitRegs::VCC) {
            return self.vccz();
        }
        let why = if desc.class == Class::Branch { BRANCH } else { STATE };
        self.info.sources.iter().find_map(|source| self.whole(source, why))
    }

    /// The use of VCCZ. A single bit of VCC that is certainly 1 determines that VCC is not 0.
    fn vccz(&self) -> Option<Use> {
        let first = usize::from(reg::VCC.index);
        let count = usize::from(self.cx.machine.state().wave_size.mask_registers());
        let words = || (first..first + count).map(Word::Scalar);
        let certain = (first..first + count)
            .any(|number| self.cx.w.s[number] & !self.bits.bits(Word::Scalar(number), 0) != 0);
        let word = words().find(|word| self.bits.lanes(*word) != 0).filter(|_| !certain)?;
        let undefined = Undefined::at(self.cx, word, None, BRANCH);
        Some(Use { undefined, words: words().map(|word| (word, u64::MAX)).collect() })
    }
}

impl Bits {
    /// Marks the bits of a reported use as defined.
    pub(in crate::watch::sanitize) fn settle(&mut self, reported: &Use) {
        if reported.words.is_empty() {
            self.scc = false;
        }
        reported.words.iter().for_each(|(word, lanes)| self.define(*word, *lanes));
    }
}
