//! Inserts spill code: in an instruction that names a spilled register, that register is replaced by a new one, which
//! is loaded before the instruction and stored after it.
//!
//! If a part of a register's life (a loop, for example) has a piece, the register has been renamed to the piece there
//! before (`split`), and nearby instructions share a register (`stretch`). In all other cases a load is directly before
//! the reader and a store directly after the writer, with no change of EXEC in between. So a masked store changes
//! exactly the lanes that the writer changed, and the home keeps the old value in the other lanes. A write that keeps
//! the inactive lanes of its destination (`keeps_dst`) therefore becomes a plain write and a masked store, and no load
//! is needed.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::super::access::{self, VUse};
use super::super::classes::Classes;
use super::super::live::Numbering;
use super::moves::{Transfer, repeatable};
use super::split::Split;
use super::stretch::Stretch;
use super::work::{Home, HomeId, Kind, Level, Role, TaggedInst, Work, inst, placeholder, runs};
use crate::mir::{Function, MBlock, MInst, MOperand, Op, VReg, VRegInfo, VSlice};
use gcn_isa::RegFile;
use gcn_isa::program::SourceLoc;

/// The position of an instruction in the working function.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub block: usize,
    /// The instruction's number in the function; `None` if it was just inserted.
    pub number: Option<u32>,
}

/// Facts of a round about the function before it is rewritten.
pub(super) struct Round<'a> {
    pub numbers: &'a Numbering,
    pub classes: &'a mut Classes,
    pub split: Split,
    /// The stretches of the block that is being rewritten, by register.
    pub stretches: HashMap<VReg, Vec<Stretch>>,
    /// The number of registers in each class, by root.
    pub members: HashMap<VReg, u32>,
}

impl Round<'_> {
    /// True if `reg` is alone in its class, and thus is the only register with its home.
    fn is_alone(&mut self, reg: VReg) -> bool {
        let (root, _) = self.classes.find(reg);
        self.members.get(&root) == Some(&1)
    }

    /// The stretch of `reg` that contains the instruction at `at`; `None` if there is none.
    fn stretch(&mut self, at: At, reg: VReg) -> Option<&mut Stretch> {
        let i = (at.number? - self.numbers.inst[at.block]) as usize;
        let list = self.stretches.get_mut(&reg)?;
        let next = list.partition_point(|s| s.last < i);
        list.get_mut(next).filter(|s| s.first <= i)
    }

    /// True if some register in the class of `reg` has a value in this dword before the instruction at `at`.
    fn is_live_before(&mut self, at: At, reg: VReg, dword: u8) -> bool {
        let Some(number) = at.number else { return true };
        let (root, offset) = self.classes.find(reg);
        self.classes.lanes(root)[usize::from(offset + dword)].at(2 * number).is_some()
    }

    /// True if the value that `reg` gets in this dword at `at` is not read after instruction `last` of the same block.
    fn is_dead(&mut self, at: At, last: u32, reg: VReg, dword: u8) -> bool {
        let Some(number) = at.number else { return false };
        // A value that is live out of the block may be read in another one. Its segment may continue into the next
        // block, so the end of the segment alone does not show where the value is read last.
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

/// The way in which an instruction accesses a spilled register.
struct Touched {
    reg: VReg,
    home: HomeId,
    /// The dword of the home at which the register starts.
    at: u8,
    /// The first dword that is accessed, and the number of dwords.
    lo: u8,
    len: u8,
    align: u8,
    reads: u32,
    writes: u32,
}

impl Work {
    /// Rewrites the function for the registers that are spilled in this round.
    pub fn rewrite_all(&mut self, round: &mut Round<'_>) {
        for b in 0..self.f.blocks.len() {
            let MBlock { insts, loop_depth } = std::mem::take(&mut self.f.blocks[b]);
            let roles = std::mem::take(&mut self.roles[b]);
            let mut out: Vec<TaggedInst> = Vec::with_capacity(insts.len() + insts.len() / 4);
            let first = round.numbers.inst[b];
            let mut code: Vec<TaggedInst> = insts.into_iter().zip(roles).collect();
            let mut stores: Vec<(usize, Transfer)> = Vec::new();
            for (i, (inst, role)) in code.iter_mut().enumerate() {
                let after = round.split.rename(self, (b, i), inst, *role);
                stores.extend(after.into_iter().map(|t| (i, t)));
            }
            round.stretches = if self.conservative { HashMap::new() } else { self.stretches(&code) };
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

    /// Emits the moves that `split` has placed before an instruction, at the edges of pieces.
    fn at_edge(
        &mut self,
        round: &mut Round<'_>,
        (block, i): (usize, usize),
        loc: Option<SourceLoc>,
        out: &mut Vec<TaggedInst>,
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

    /// The operand's register slice, its home, and the dword of the home at which the register starts; `None` if the
    /// operand's register is not spilled.
    pub fn homed(&self, operand: MOperand) -> Option<(VSlice, HomeId, u8)> {
        match operand {
            MOperand::Virt(s) => self.spilled(s.reg).map(|(home, at)| (s, home, at + s.start)),
            MOperand::Fixed(_) => None,
        }
    }

    fn rewrite(&mut self, round: &mut Round<'_>, at: At, i: MInst, role: Role, out: &mut Vec<TaggedInst>) {
        if self.feeds_dead_store(&i) {
            return;
        }
        if !i.operands.iter().any(|&o| self.homed(o).is_some()) {
            out.push((i, role));
            return;
        }
        // This is a move between a piece and its home, and the piece is now spilled itself. Source and destination are
        // then the same, so the move disappears.
        let at_home = |o: &MOperand| self.homed(*o).is_some_and(|(_, home, _)| role.home() == Some(home));
        if i.operands.iter().any(at_home) {
            self.invalidate(round, at, &i);
            self.drop_staging(&i, out);
            return;
        }
        // This instruction is the only definition of a rematerialised value. Its readers recompute the value, so the
        // definition disappears.
        let made =
            self.homed(i.operands[0]).is_some_and(|h| matches!(self.homes[h.1 as usize], Home::Remat(_)));
        if made && repeatable(&i) {
            Self::leave_placeholder(&i, role, out);
            return;
        }
        match i.op {
            Op::Undef => self.undefined(round, at, &i, role, out),
            Op::Copy if self.direct(round, at, &i, role, out) => {}
            _ => self.load_and_store_around(round, at, i, role, out),
        }
    }

    /// For a load from a home that disappears because its register is spilled. The home may contain a newer value than
    /// the shared register of the stretch, so the next reader must load the value again.
    fn invalidate(&self, round: &mut Round<'_>, at: At, load: &MInst) {
        for u in access::uses(&self.f, load).iter().filter(|u| u.write) {
            if let Some(s) = round.stretch(at, u.slice.reg) {
                s.valid &= !access::mask(u.slice);
            }
        }
    }

    /// Emits a placeholder for an original instruction (one with [`Role::Own`]) that was replaced by moves or by
    /// nothing.
    fn leave_placeholder(i: &MInst, role: Role, out: &mut Vec<TaggedInst>) {
        if role == Role::Own {
            out.push((placeholder(i.loc), role));
        }
    }

    /// For an `Op::Undef` of a spilled register: marks those dwords of the home as undefined in which no other register
    /// of the class has a value.
    fn undefined(&mut self, round: &mut Round<'_>, at: At, i: &MInst, role: Role, out: &mut Vec<TaggedInst>) {
        if let Some((slice, home, first)) = self.homed(i.operands[0])
            && let Home::Reg(slot) = self.homes[home as usize]
        {
            let named = (0..slice.len).filter(|k| !round.is_live_before(at, slice.reg, slice.start + k));
            for (start, len) in runs(named.fold(0, |mask, k| mask | 1 << k)) {
                let there = VSlice { reg: slot, start: first + start, len };
                out.push((inst(Op::Undef, &[MOperand::Virt(there)], i.loc), role.before(home)));
            }
        }
        Self::leave_placeholder(i, role, out);
    }

    /// Replaces a copy by a load, a store or nothing, without a temporary register. Returns false if that is
    /// impossible.
    fn direct(
        &mut self,
        round: &mut Round<'_>,
        at: At,
        i: &MInst,
        role: Role,
        out: &mut Vec<TaggedInst>,
    ) -> bool {
        let [dst, src] = i.operands[..] else { return false };
        let (to, from) = (self.homed(dst), self.homed(src));
        let mut shared =
            |h: &Option<(VSlice, HomeId, u8)>| h.is_some_and(|h| round.stretch(at, h.0.reg).is_some());
        let same = to.zip(from).is_some_and(|(a, b)| (a.1, a.2) == (b.1, b.2));
        // In a stretch, the newest value may be in the shared register only, so that the home is outdated. The general
        // case handles that.
        if !same && (shared(&to) || shared(&from)) {
            return false;
        }
        let file = |o: MOperand, f: &Function| match o {
            MOperand::Virt(s) => Some(f.info(s.reg).file),
            MOperand::Fixed(_) => None,
        };
        let (transfer, store) = match (to, from) {
            (Some(to), Some(from)) if (to.1, to.2) == (from.1, from.2) => {
                // Both sides have the same home, which already contains the value. A copy that the destination's
                // stretch has loaded before is now outdated.
                if to.0.reg != from.0.reg
                    && let Some(s) = round.stretch(at, to.0.reg)
                {
                    s.valid &= !access::mask(to.0);
                }
                Self::leave_placeholder(i, role, out);
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
        // A move of a piece keeps its role, even though the home of the piece is now elsewhere.
        let moved = if role == Role::Own { role.before(home) } else { role };
        let t = Transfer { home, at: first, part, keeps, role: moved, loc: i.loc };
        if store {
            if !matches!(self.homes[home as usize], Home::Remat(_)) {
                self.store(t, out);
            }
        } else {
            let mut moves = Vec::new();
            self.load(t, &mut moves);
            self.push_loads(round, at, home, moves, out);
        }
        Self::leave_placeholder(i, role, out);
        true
    }

    /// Emits loads. If a rematerialising instruction itself reads spilled registers, it is rewritten like any other
    /// instruction.
    fn push_loads(
        &mut self,
        round: &mut Round<'_>,
        at: At,
        home: HomeId,
        moves: Vec<TaggedInst>,
        out: &mut Vec<TaggedInst>,
    ) {
        if matches!(self.homes[home as usize], Home::Remat(_)) {
            for (i, role) in moves {
                self.rewrite(round, At { number: None, ..at }, i, role, out);
            }
        } else {
            out.extend(moves);
        }
    }

    /// True if `part` of a register of `file` can be moved to and from the home directly.
    fn takes(&self, home: HomeId, part: VSlice, file: Option<RegFile>) -> bool {
        match &self.homes[home as usize] {
            Home::Reg(_) => file.is_some_and(|f| f != RegFile::Sgpr),
            Home::Frame(_) | Home::Lds(_) => file.is_some_and(|f| f != RegFile::Sgpr),
            Home::Lanes(_) => file == Some(RegFile::Sgpr),
            Home::Remat(how) => {
                let MOperand::Virt(dst) = how.operands[0] else { return false };
                dst.len == part.len && Some(self.f.info(dst.reg).file) == file
            }
        }
    }

    /// Emits loads before the instruction and stores after it, which is the general case.
    fn load_and_store_around(
        &mut self,
        round: &mut Round<'_>,
        at: At,
        mut i: MInst,
        role: Role,
        out: &mut Vec<TaggedInst>,
    ) {
        let (touched, kept) = self.touched(&i);
        let keeps = std::mem::replace(&mut i.keeps_dst, kept);
        let mut stores: Vec<Transfer> = Vec::new();
        for t in touched {
            let info = self.f.info(t.reg);
            // In a stretch, the new register replaces the whole spilled register; otherwise only the dwords that the
            // instruction names.
            let shared = round.stretch(at, t.reg).map(|s| (s.piece, s.valid, s.level));
            let (temp, lo, valid) = match shared {
                Some((Some(piece), valid, _)) => (piece, 0, valid),
                Some((None, _, level)) => {
                    (self.new_vreg(info, Kind::Piece(t.home, t.at, Level::Stretch(level))), 0, 0)
                }
                None => {
                    let made = VRegInfo { file: info.file, len: t.len, align: t.align };
                    (self.new_vreg(made, Kind::Temp), t.lo, 0)
                }
            };
            let mut last = at.number.unwrap_or(0);
            let start = round.numbers.inst[at.block];
            let alone = round.is_alone(t.reg);
            // Find the dwords whose store can be omitted and those whose store must stay. A dword that is overwritten
            // later in the stretch, before anything reads it from its home, need not be stored now. A dword that a
            // removed move would have stored must be stored, since its piece expects it in the home.
            let (mut overwritten, mut needed) = (0, 0);
            if let Some(s) = round.stretch(at, t.reg) {
                s.piece = Some(temp);
                s.valid |= t.reads | t.writes;
                let (written, stored) = s.after((last - start) as usize);
                needed = stored;
                // Another register with the same home could read the value there before.
                if alone {
                    overwritten = written & !stored;
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
            let live = (live.fold(0u32, |mask, k| mask | 1 << k) | t.writes & needed) & !overwritten;
            let masked = keeps && info.file != RegFile::Sgpr;
            stores.extend(runs(live).map(|(first, len)| transfer(first, len, masked, role.after(t.home))));
        }
        out.push((i, role));
        stores.into_iter().for_each(|t| self.store(t, out));
    }

    /// The accesses of `i` to spilled registers. The flag is true if `i` must still keep the inactive lanes of a result
    /// that is not spilled.
    fn touched(&self, i: &MInst) -> (SmallVec<[Touched; 3]>, bool) {
        let plain = |i: &MInst| access::uses(&self.f, &MInst { keeps_dst: false, ..i.clone() });
        let is_spilled = |u: &VUse| self.spilled(u.slice.reg).is_some();
        // A masked store keeps the inactive lanes in the home, so the instruction itself need not keep them. But if a
        // second result stays in a register, that register's inactive lanes must be kept.
        let vector = |u: &VUse| self.f.info(u.slice.reg).file != RegFile::Sgpr;
        let uses = plain(i);
        let kept = i.keeps_dst && uses.iter().any(|u| u.write && vector(u) && !is_spilled(u));
        let uses = if kept { access::uses(&self.f, i) } else { uses };
        let mut list: SmallVec<[Touched; 3]> = SmallVec::new();
        for u in uses.iter().filter(|u| is_spilled(u)) {
            let Some((home, at)) = self.spilled(u.slice.reg) else { continue };
            let natural = natural_align(&self.f, u.slice);
            let mask = access::mask(u.slice);
            let (reads, writes) = (if u.read { mask } else { 0 }, if u.write { mask } else { 0 });
            match list.iter_mut().find(|t| t.reg == u.slice.reg) {
                Some(t) => {
                    let end = (t.lo + t.len).max(u.slice.start + u.slice.len);
                    t.align = t.align.max(natural).max(self.f.info(t.reg).align);
                    // If several operands share one register, the register covers all of them, and starts at a dword
                    // that keeps the widest operand aligned.
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

/// The alignment that the hardware requires of an operand as wide as `slice`.
fn natural_align(f: &Function, slice: VSlice) -> u8 {
    match (f.info(slice.reg).file, slice.len) {
        (_, 1) => 1,
        (RegFile::Sgpr, 2) => 2,
        (RegFile::Sgpr, _) => 4,
        _ if f.target.needs_even_vgpr_tuples() => 2,
        _ => 1,
    }
}
