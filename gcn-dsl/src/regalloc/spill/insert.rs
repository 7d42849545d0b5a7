//! Takes values out of registers: every instruction that names one gets a register of its own for it, loaded before
//! and stored after.
//!
//! Instructions near each other share a register (`stretch`), and so do loops and other parts of a life (`split`), which
//! have been renamed before. Else loads stand directly before the reader and stores directly after the writer, so under the
//! reader's and the writer's EXEC: a store changes the lanes that the writer changed, and the others keep what they held. That makes a write that
//! keeps masked lanes a plain write before a masked store.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::super::access::{self, VUse};
use super::super::classes::Classes;
use super::super::live::Numbering;
use super::moves::{Transfer, repeatable};
use super::split::Split;
use super::stretch::Stretch;
use super::work::{Home, HomeId, Kind, Level, Piece, Role, Work, inst, no_instruction};
use crate::mir::{Function, MBlock, MInst, MOperand, Op, VReg, VRegInfo, VSlice};
use gcn_isa::RegFile;
use gcn_isa::program::SourceLoc;

/// Where an instruction of the working function stands.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub block: usize,
    /// Its number in the function; `None` for one that was put in just now.
    pub number: Option<u32>,
}

/// The round's classes, for what is live where.
pub(super) struct Round<'a> {
    pub numbers: &'a Numbering,
    pub classes: &'a mut Classes,
    pub split: Split,
    /// In the block that is being rewritten: the stretches in which a register serves several instructions.
    pub stretches: HashMap<VReg, Vec<Stretch>>,
    /// How many registers each class has, by root.
    pub members: HashMap<VReg, u32>,
}

impl Round<'_> {
    /// True if no other register shares the place of `reg`.
    fn is_alone(&mut self, reg: VReg) -> bool {
        let (root, _) = self.classes.find(reg);
        self.members.get(&root) == Some(&1)
    }

    /// The stretch that the instruction at `at` is in with `reg`.
    fn stretch(&mut self, at: At, reg: VReg) -> Option<&mut Stretch> {
        let i = (at.number? - self.numbers.inst[at.block]) as usize;
        let list = self.stretches.get_mut(&reg)?;
        let next = list.partition_point(|s| s.last < i);
        list.get_mut(next).filter(|s| s.first <= i)
    }

    /// True if the dword that `reg` gets at `at` is not read after instruction `last` of the same block.
    fn is_dead(&mut self, at: At, last: u32, reg: VReg, dword: u8) -> bool {
        let Some(number) = at.number else { return false };
        // What is live at the end of a block may be read in another block.
        if self.numbers.inst[at.block + 1] == last + 1 {
            return false;
        }
        let (root, offset) = self.classes.find(reg);
        let slot = 2 * number + 1;
        match self.classes.lanes(root)[usize::from(offset + dword)].at(slot) {
            Some(seg) => seg.end <= 2 * last + 2,
            None => false,
        }
    }
}

/// What one instruction does to one register that is gone.
struct Touched {
    reg: VReg,
    home: HomeId,
    /// Where the register begins in its home.
    at: u8,
    /// First dword named and how many from there on.
    lo: u8,
    len: u8,
    align: u8,
    reads: u32,
    writes: u32,
}

impl Work {
    /// Rewrites the function for what is gone now.
    pub fn rewrite_all(&mut self, round: &mut Round<'_>) {
        for b in 0..self.f.blocks.len() {
            let MBlock { insts, loop_depth } = std::mem::take(&mut self.f.blocks[b]);
            let roles = std::mem::take(&mut self.roles[b]);
            let mut out: Vec<Piece> = Vec::with_capacity(insts.len() + insts.len() / 4);
            let first = round.numbers.inst[b];
            let mut code: Vec<Piece> = insts.into_iter().zip(roles).collect();
            let mut stores: Vec<(usize, Transfer)> = Vec::new();
            for (i, (inst, role)) in code.iter_mut().enumerate() {
                let after = round.split.rename(self, (b, i), inst, *role);
                stores.extend(after.into_iter().map(|t| (i, t)));
            }
            round.stretches = if self.plain { HashMap::new() } else { self.stretches(&code) };
            self.pages.clear();
            let mut stores = stores.into_iter().peekable();
            let end = code.len();
            let last_loc = code.last().and_then(|p| p.0.loc);
            for (i, (inst, role)) in code.into_iter().enumerate() {
                let at = At { block: b, number: Some(first + i as u32) };
                self.now = i;
                self.at_edge(round, (b, i), inst.loc, &mut out);
                self.rewrite(round, at, inst, role, &mut out);
                while let Some((_, store)) = stores.next_if(|s| s.0 == i) {
                    self.store(store, &mut out);
                }
            }
            self.now = end;
            self.at_edge(round, (b, end), last_loc, &mut out);
            let (insts, roles) = out.into_iter().unzip();
            self.f.blocks[b] = MBlock { insts, loop_depth };
            self.roles[b] = roles;
        }
        self.begin_lanes();
    }

    /// The moves before and after parts of values that stand before an instruction.
    fn at_edge(
        &mut self,
        round: &mut Round<'_>,
        (block, i): (usize, usize),
        loc: Option<SourceLoc>,
        out: &mut Vec<Piece>,
    ) {
        for m in round.split.moves_at(block, i) {
            let role = Role::Before(m.home);
            let t = Transfer { home: m.home, at: m.at, part: m.part, keeps: m.keeps, role, loc };
            if m.store {
                self.store(t, out);
                continue;
            }
            let mut moves = Vec::new();
            self.load(t, &mut moves);
            self.push_loads(round, At { block, number: None }, m.home, moves, out);
        }
    }

    /// Where the value of an operand is if its register is gone.
    pub fn homed(&self, operand: MOperand) -> Option<(VSlice, HomeId, u8)> {
        match operand {
            MOperand::Virt(s) => self.gone(s.reg).map(|(home, at)| (s, home, at + s.start)),
            MOperand::Fixed(_) => None,
        }
    }

    fn rewrite(&mut self, round: &mut Round<'_>, at: At, i: MInst, role: Role, out: &mut Vec<Piece>) {
        if self.is_unused(&i) {
            return;
        }
        if !i.operands.iter().any(|&o| self.homed(o).is_some()) {
            out.push((i, role));
            return;
        }
        // The move between a piece of a value and the value's home, which are the same now.
        let at_home = |o: &MOperand| self.homed(*o).is_some_and(|(_, home, _)| role.home() == Some(home));
        if i.operands.iter().any(at_home) {
            self.outdated(round, at, &i);
            self.without_between(&i, out);
            return;
        }
        // The only instruction that makes a value which is made again where it is read.
        let made =
            self.homed(i.operands[0]).is_some_and(|h| matches!(self.homes[h.1 as usize], Home::Again(_)));
        if made && repeatable(&i) {
            Self::nothing(&i, role, out);
            return;
        }
        match i.op {
            Op::Undef => self.undefined(&i, role, out),
            Op::Copy if self.direct(round, at, &i, role, out) => {}
            _ => self.around(round, at, i, role, out),
        }
    }

    /// A load from the home that has gone: what is there is newer than what a register of its stretch holds.
    fn outdated(&self, round: &mut Round<'_>, at: At, load: &MInst) {
        for u in access::uses(&self.f, load).iter().filter(|u| u.write) {
            if let Some(s) = round.stretch(at, u.slice.reg) {
                s.valid &= !access::mask(u.slice);
            }
        }
    }

    /// What stands for an own instruction that became other moves or nothing.
    fn nothing(i: &MInst, role: Role, out: &mut Vec<Piece>) {
        if role == Role::Own {
            out.push((no_instruction(i.loc), role));
        }
    }

    fn undefined(&mut self, i: &MInst, role: Role, out: &mut Vec<Piece>) {
        if let Some((slice, home, at)) = self.homed(i.operands[0])
            && let Home::Reg(slot) = self.homes[home as usize]
        {
            let there = VSlice { reg: slot, start: at, len: slice.len };
            out.push((inst(Op::Undef, &[MOperand::Virt(there)], i.loc), role.before(home)));
        }
        Self::nothing(i, role, out);
    }

    /// A copy that is a load, a store or nothing. False if it is neither.
    fn direct(&mut self, round: &mut Round<'_>, at: At, i: &MInst, role: Role, out: &mut Vec<Piece>) -> bool {
        let [dst, src] = i.operands[..] else { return false };
        let (to, from) = (self.homed(dst), self.homed(src));
        let mut shared =
            |h: &Option<(VSlice, HomeId, u8)>| h.is_some_and(|h| round.stretch(at, h.0.reg).is_some());
        let same = to.zip(from).is_some_and(|(a, b)| (a.1, a.2) == (b.1, b.2));
        if !same && (shared(&to) || shared(&from)) {
            return false;
        }
        let file = |o: MOperand, f: &Function| match o {
            MOperand::Virt(s) => Some(f.info(s.reg).file),
            MOperand::Fixed(_) => None,
        };
        let (transfer, store) = match (to, from) {
            (Some(to), Some(from)) if (to.1, to.2) == (from.1, from.2) => {
                // The home has it; what a register of another destination held is old.
                if to.0.reg != from.0.reg
                    && let Some(s) = round.stretch(at, to.0.reg)
                {
                    s.valid &= !access::mask(to.0);
                }
                Self::nothing(i, role, out);
                return true;
            }
            (Some((_, home, at)), None) => match src {
                MOperand::Virt(part) if self.takes(home, part, file(src, &self.f)) => {
                    ((home, at, part), true)
                }
                _ => return false,
            },
            (None, Some((_, home, at))) => match dst {
                MOperand::Virt(part) if self.takes(home, part, file(dst, &self.f)) => {
                    ((home, at, part), false)
                }
                _ => return false,
            },
            _ => return false,
        };
        let (home, first, part) = transfer;
        let keeps = i.keeps_dst && file(dst, &self.f) != Some(RegFile::Sgpr);
        // A move of a piece to its home stays one when the home moves.
        let moved = if role == Role::Own { role.before(home) } else { role };
        let t = Transfer { home, at: first, part, keeps, role: moved, loc: i.loc };
        if store {
            if !matches!(self.homes[home as usize], Home::Again(_)) {
                self.store(t, out);
            }
        } else {
            let mut moves = Vec::new();
            self.load(t, &mut moves);
            self.push_loads(round, at, home, moves, out);
        }
        Self::nothing(i, role, out);
        true
    }

    /// Loads; what makes a value again may itself read what is gone.
    fn push_loads(
        &mut self,
        round: &mut Round<'_>,
        at: At,
        home: HomeId,
        moves: Vec<Piece>,
        out: &mut Vec<Piece>,
    ) {
        if matches!(self.homes[home as usize], Home::Again(_)) {
            for (i, role) in moves {
                self.rewrite(round, At { number: None, ..at }, i, role, out);
            }
        } else {
            out.extend(moves);
        }
    }

    /// True if `part` of a register of `file` can be moved from and to the home directly.
    fn takes(&self, home: HomeId, part: VSlice, file: Option<RegFile>) -> bool {
        match &self.homes[home as usize] {
            Home::Reg(_) => file.is_some_and(|f| f != RegFile::Sgpr),
            Home::Frame(_) | Home::Lds(_) => file.is_some_and(|f| f != RegFile::Sgpr),
            Home::Lanes(_) => file == Some(RegFile::Sgpr),
            Home::Again(how) => {
                let MOperand::Virt(dst) = how.operands[0] else { return false };
                dst.len == part.len && Some(self.f.info(dst.reg).file) == file
            }
        }
    }

    /// Loads before, stores after.
    fn around(&mut self, round: &mut Round<'_>, at: At, mut i: MInst, role: Role, out: &mut Vec<Piece>) {
        let (touched, kept) = self.touched(&i);
        let keeps = std::mem::replace(&mut i.keeps_dst, kept);
        let mut stores: Vec<Transfer> = Vec::new();
        for t in touched {
            let info = self.f.info(t.reg);
            // Of a stretch, the whole register; else what the instruction names.
            let shared = round.stretch(at, t.reg).map(|s| (s.piece, s.valid, s.level));
            let (temp, lo, valid) = match shared {
                Some((Some(piece), valid, _)) => (piece, 0, valid),
                Some((None, _, level)) => {
                    (self.new_vreg(info, Kind::Piece(t.home, t.at, Level::Near(level))), 0, 0)
                }
                None => {
                    let made = VRegInfo { file: info.file, len: t.len, align: t.align };
                    (self.new_vreg(made, Kind::Temp), t.lo, 0)
                }
            };
            let mut last = at.number.unwrap_or(0);
            let start = round.numbers.inst[at.block];
            let alone = round.is_alone(t.reg);
            // Written again before anything looks at its home; needed there whatever reads it in a register.
            let (mut again, mut needed) = (0, 0);
            if let Some(s) = round.stretch(at, t.reg) {
                s.piece = Some(temp);
                s.valid |= t.reads | t.writes;
                let (written, stored) = s.after((last - start) as usize);
                needed = stored;
                // Another register with the same home would look for the value there.
                if alone {
                    again = written & !stored;
                    last = start + s.last as u32;
                }
            }
            for operand in &mut i.operands {
                if let MOperand::Virt(s) = operand
                    && s.reg == t.reg
                {
                    *s = VSlice { reg: temp, start: s.start - lo, len: s.len };
                }
            }
            let transfer = |first: u8, len: u8, keeps, role| Transfer {
                home: t.home,
                at: t.at + first,
                part: VSlice { reg: temp, start: first - lo, len },
                keeps,
                role,
                loc: i.loc,
            };
            for (first, len) in runs(t.reads & !valid) {
                let mut moves = Vec::new();
                self.load(transfer(first, len, false, role.before(t.home)), &mut moves);
                self.push_loads(round, at, t.home, moves, out);
            }
            let live = (0..32u8).filter(|&k| t.writes >> k & 1 == 1 && !round.is_dead(at, last, t.reg, k));
            let live = (live.fold(0u32, |mask, k| mask | 1 << k) | t.writes & needed) & !again;
            let masked = keeps && info.file != RegFile::Sgpr;
            stores.extend(runs(live).map(|(first, len)| transfer(first, len, masked, role.after(t.home))));
        }
        out.push((i, role));
        stores.into_iter().for_each(|t| self.store(t, out));
    }

    /// What `i` does to registers that are gone, and whether it still has to keep lanes in registers.
    fn touched(&self, i: &MInst) -> (SmallVec<[Touched; 3]>, bool) {
        let plain = |i: &MInst| access::uses(&self.f, &MInst { keeps_dst: false, ..i.clone() });
        let is_gone = |u: &VUse| self.gone(u.slice.reg).is_some();
        // A masked store keeps the lanes, unless another result stays in a register.
        let vector = |u: &VUse| self.f.info(u.slice.reg).file != RegFile::Sgpr;
        let uses = plain(i);
        let kept = i.keeps_dst && uses.iter().any(|u| u.write && vector(u) && !is_gone(u));
        let uses = if kept { access::uses(&self.f, i) } else { uses };
        let mut list: SmallVec<[Touched; 3]> = SmallVec::new();
        for u in uses.iter().filter(|u| is_gone(u)) {
            let Some((home, at)) = self.gone(u.slice.reg) else { continue };
            let natural = natural_align(&self.f, u.slice);
            let mask = access::mask(u.slice);
            let (reads, writes) = (if u.read { mask } else { 0 }, if u.write { mask } else { 0 });
            match list.iter_mut().find(|t| t.reg == u.slice.reg) {
                Some(t) => {
                    let end = (t.lo + t.len).max(u.slice.start + u.slice.len);
                    t.align = t.align.max(natural).max(self.f.info(t.reg).align);
                    let lo = t.lo.min(u.slice.start);
                    t.lo = lo - lo % t.align;
                    t.len = end - t.lo;
                    t.reads |= reads;
                    t.writes |= writes;
                }
                None => list.push(Touched {
                    reg: u.slice.reg,
                    home,
                    at,
                    lo: u.slice.start,
                    len: u.slice.len,
                    align: natural,
                    reads,
                    writes,
                }),
            }
        }
        (list, kept)
    }
}

/// The alignment that an operand of the width of `slice` needs.
fn natural_align(f: &Function, slice: VSlice) -> u8 {
    match (f.info(slice.reg).file, slice.len) {
        (_, 1) => 1,
        (RegFile::Sgpr, 2) => 2,
        (RegFile::Sgpr, _) => 4,
        _ if f.target.needs_even_vgpr_tuples() => 2,
        _ => 1,
    }
}

/// The runs of ones in `mask`: first bit and length.
pub(super) fn runs(mask: u32) -> impl Iterator<Item = (u8, u8)> {
    let mut at = 0u32;
    std::iter::from_fn(move || {
        let rest = u64::from(mask) >> at;
        if rest == 0 {
            return None;
        }
        let first = at + rest.trailing_zeros();
        let len = (u64::from(mask) >> first).trailing_ones();
        at = first + len;
        Some((first as u8, len as u8))
    })
}
