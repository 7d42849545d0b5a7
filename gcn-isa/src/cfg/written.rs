//! Computes the registers that each function may overwrite. The result for a function includes the functions that it calls.

use std::collections::BTreeMap;

use super::flow::{Callee, End};
use super::returns::Search;
use super::values::Slot;
use crate::inst::Inst;
use crate::program::Program;
use crate::reg::RegFile;
use crate::table::Behaviours;

use super::Cfg;

/// A set of scalar and vector registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Written {
    scalars: u128,
    vectors: [u128; 2],
}

impl Written {
    /// All registers.
    const ALL: Written = Written { scalars: u128::MAX, vectors: [u128::MAX; 2] };

    /// The registers that a function may overwrite by LLVM's convention (LLVM 22, `llc` with calls, and the AMDGPU
    /// guide, *Non-Kernel Functions*): all except `s[30:105]` and, from `v40` on, every second group of eight VGPRs.
    const BY_CONVENTION: Written = Written {
        scalars: !(((1 << 106) - 1) & !((1 << 30) - 1)),
        vectors: [0x00ff_00ff_00ff_00ff_00ff_00ff_ffff_ffff, 0x00ff_00ff_00ff_00ff_00ff_00ff_00ff_00ff],
    };

    fn add(&mut self, other: Written) {
        self.scalars |= other.scalars;
        self.vectors[0] |= other.vectors[0];
        self.vectors[1] |= other.vectors[1];
    }

    fn common(mut self, other: Written) -> Written {
        self.scalars &= other.scalars;
        self.vectors[0] &= other.vectors[0];
        self.vectors[1] &= other.vectors[1];
        self
    }

    fn add_inst(&mut self, inst: &Inst) {
        if inst.desc.does(Behaviours::DESTINATION_BY_M0) {
            self.add(Written::ALL);
        }
        for written in inst.writes().iter().map(|w| w.reg) {
            for register in written.index..written.end() {
                let bit = 1u128.checked_shl(u32::from(register % 128)).unwrap_or(0);
                match written.file {
                    RegFile::Sgpr => self.scalars |= bit,
                    RegFile::Vgpr => self.vectors[usize::from(register / 128).min(1)] |= bit,
                    RegFile::Agpr => {}
                }
            }
        }
    }

    /// True if the value in the slot may be overwritten.
    pub fn contains(&self, slot: Slot) -> bool {
        let bit = |register: u16| 1u128 << (register % 128);
        match slot {
            Slot::Scalar(register) => self.scalars & bit(register) != 0,
            Slot::Lane(register, _) => self.vectors[usize::from(register / 128).min(1)] & bit(register) != 0,
        }
    }
}

/// The registers that each function writes, by the block of its entry.
pub(super) struct Functions {
    written: BTreeMap<usize, Written>,
    /// The registers that a call with an unknown destination may overwrite.
    unknown: Written,
}

/// The maximum number of rounds that add the sets of called functions to the sets of their callers. A function with a longer chain of calls
/// is assumed to write all registers.
const ROUNDS: usize = 32;

impl Functions {
    /// Computes the set of each function. `by_convention` has the entries of functions that code outside the program may call. If
    /// `optimistic` is true, a jump with an unknown destination is assumed to stay in its function, and a call with an unknown destination
    /// is assumed to overwrite nothing.
    pub fn of(
        program: &Program,
        cfg: &Cfg,
        ends: &[End],
        by_convention: &[usize],
        optimistic: bool,
    ) -> Functions {
        let callees = ends.iter().filter_map(|end| match end {
            End::Call(Callee::Block(callee)) => Some(*callee),
            _ => None,
        });
        let mut written: BTreeMap<usize, Written> = callees.map(|c| (c, Written::default())).collect();
        let unknown = if optimistic { Written::default() } else { Written::BY_CONVENTION };
        let mut search = Search::new(program, cfg, ends);
        let own: Vec<Written> = cfg.blocks.iter().map(|b| own(program, b.start..b.end)).collect();
        let mut calls: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (&function, written) in &mut written {
            let Some(body) = search.from(&[function]).filter(|body| optimistic || !body.is_open) else {
                *written = Written::ALL;
                continue;
            };
            for &block in &body.blocks {
                written.add(own[block]);
                match ends[block] {
                    End::Call(Callee::Block(callee)) => calls.entry(function).or_default().push(callee),
                    End::Call(Callee::Unknown) => written.add(unknown),
                    End::Call(Callee::Outside) | End::TailCall => written.add(Written::BY_CONVENTION),
                    _ => {}
                }
            }
        }
        let mut functions = Functions { written, unknown };
        functions.close(&calls);
        for function in by_convention {
            if let Some(written) = functions.written.get_mut(function) {
                *written = written.common(Written::BY_CONVENTION);
            }
        }
        functions
    }

    /// Adds the sets of called functions to the sets of their callers, until no set changes. Several rounds are necessary because functions
    /// may be recursive.
    fn close(&mut self, calls: &BTreeMap<usize, Vec<usize>>) {
        for round in 0..=ROUNDS {
            let mut changed = false;
            for (caller, callees) in calls {
                let mut all = self.written[caller];
                callees.iter().for_each(|callee| all.add(self.written[callee]));
                // The limit is reached. A set that still grows becomes the set of all registers, which is safe; one more round adds it to
                // the sets of the callers.
                if round == ROUNDS && all != self.written[caller] {
                    all = Written::ALL;
                }
                changed |= self.written.insert(*caller, all) != Some(all);
            }
            if !changed {
                return;
            }
        }
        self.written.values_mut().for_each(|w| *w = Written::ALL);
    }

    /// The registers that a call may overwrite.
    pub fn written_by(&self, callee: Callee) -> Written {
        match callee {
            Callee::Block(function) => self.written.get(&function).copied().unwrap_or(Written::ALL),
            Callee::Outside => Written::BY_CONVENTION,
            Callee::Unknown => self.unknown,
        }
    }
}

fn own(program: &Program, lines: std::ops::Range<usize>) -> Written {
    let mut written = Written::default();
    program.lines[lines].iter().for_each(|line| written.add_inst(&line.inst));
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `llc-22 -mtriple=amdgcn -mcpu=gfx942`: a value that is live across a call stays in one of these registers.
    #[test]
    fn the_convention_keeps_what_llvm_keeps() {
        let kept = |slot| !Written::BY_CONVENTION.contains(slot);
        let scalars: Vec<u16> = (0..128).filter(|r| kept(Slot::Scalar(*r))).collect();
        assert_eq!((scalars[0], scalars.len(), scalars.last()), (30, 76, Some(&105)));
        let vectors: Vec<u16> = (0..256).filter(|r| kept(Slot::Lane(*r, 0))).collect();
        let expected: Vec<u16> = (40..256).filter(|r| (r - 40) / 8 % 2 == 0).collect();
        assert_eq!(vectors, expected);
    }
}
