//! Live-range splitting: if a loop, or the code between two loops, uses a spilled value, the value gets a register for
//! that part of the function. The register is loaded once before the part and stored once after it.
//!
//! The parts are the regions of `regions`, outermost first. If the register of a part is evicted in turn, the part is
//! split into its inner regions, then into stretches of a block (`stretch`), and finally into single instructions.
//!
//! # Conditions
//! - The load before a part must load all lanes that the part needs. So EXEC must have its initial value at the load,
//!   or must not change within the part.
//! - A single store after a loop, instead of one after each writer, must store all lanes that changed. So EXEC must not
//!   change within the loop; and either the store keeps the home's inactive lanes, or those lanes are undefined.

use gcn_isa::RegFile;
use hashbrown::HashMap;

use super::super::access;
use super::super::classes::Classes;
use super::super::input;
use super::super::live::{self, Liveness, Numbering};
use super::exec::InitialExec;
use super::moves::Transfer;
use super::regions::{ROOT, Region, RegionId, Regions};
use super::work::{Home, HomeId, Kind, Level, Role, Work, placeholder, runs};
use crate::mir::{MInst, MOperand, Op, VReg, VRegInfo, VSlice};

/// Spilled registers with the same home, which are split together.
struct Unit {
    /// The registers in ascending order, each with the dword of the home at which it starts.
    members: Vec<(VReg, u8)>,
    home: HomeId,
    info: VRegInfo,
    /// The first dword of the home that the members cover.
    base: u8,
    /// The region for which the members had a register. Its inner regions are tried now.
    within: RegionId,
    /// For each block that uses the members, in block order: the uses.
    uses: Vec<(usize, Uses)>,
}

/// The accesses of a block to the dwords of a unit.
#[derive(Clone, Copy, Default)]
struct Uses {
    reads: u32,
    writes: u32,
    /// The dwords that are written without keeping the inactive lanes, which are undefined afterwards.
    replaces: u32,
    /// The dwords that moves store to the home; these moves will be removed.
    stored: u32,
}

impl Uses {
    fn and(self, other: Uses) -> Uses {
        Uses {
            reads: self.reads | other.reads,
            writes: self.writes | other.writes,
            replaces: self.replaces | other.replaces,
            stored: self.stored | other.stored,
        }
    }
}

/// A new register for a part of a unit's life.
#[derive(Clone, Copy)]
struct Part {
    /// The first block, and the index in it at which the part begins.
    first: usize,
    begin: usize,
    last: usize,
    reg: VReg,
    home: HomeId,
    base: u8,
    /// The dwords that are stored to the home after each writer (write-through).
    through: u32,
}

/// A load or store at the edge of a part.
#[derive(Clone, Copy)]
pub(super) struct EdgeMove {
    pub store: bool,
    pub home: HomeId,
    pub at: u8,
    pub part: VSlice,
    /// True if inactive lanes of the destination keep their values.
    pub keeps: bool,
}

/// The splits of a round.
#[derive(Default)]
pub(super) struct Split {
    /// For each spilled register, its unit, and the dword of the home at which the register starts.
    of: HashMap<VReg, (usize, u8)>,
    /// The parts of each unit, in block order.
    parts: Vec<Vec<Part>>,
    /// For each block and instruction, the moves before it. Stores come first, because a load at the same point may
    /// read what they store.
    moves: HashMap<(usize, usize), Vec<EdgeMove>>,
}

/// Facts about the function that hold during a round.
pub(super) struct Facts<'a> {
    pub regions: &'a Regions,
    pub numbers: &'a Numbering,
    pub exec: &'a InitialExec,
    pub live: &'a Liveness,
}

impl Split {
    /// Splits the registers that were spilled in this round.
    pub fn of_round(work: &mut Work, facts: &Facts<'_>, classes: &mut Classes, spilled: &[VReg]) -> Split {
        let mut split = Split::default();
        let mut units: Vec<Unit> = Vec::new();
        let mut by_home: HashMap<HomeId, usize> = HashMap::new();
        for &reg in spilled {
            let Some((home, at)) = work.spilled(reg) else { continue };
            let unit = match work.kinds[reg.0 as usize] {
                Kind::Piece(.., Level::Region(within)) => {
                    Some(Unit { base: at, ..Unit::new(home, work.f.info(reg), within) })
                }
                Kind::Value => {
                    let (root, _) = classes.find(reg);
                    // If a class must start at an odd offset of its alignment (because it is part of an aligned tuple),
                    // a separate register cannot represent it.
                    (classes.align(root).1 == 0).then(|| Unit::new(home, aligned(classes, root), ROOT))
                }
                _ => None,
            };
            let Some(unit) = unit else { continue };
            let fresh = units.len();
            let index = match unit.within {
                ROOT => *by_home.entry(home).or_insert(fresh),
                _ => fresh,
            };
            if index == fresh {
                units.push(unit);
            }
            units[index].members.push((reg, at));
            split.of.insert(reg, (index, at));
        }
        split.note_uses(work, facts.numbers, &mut units);
        for unit in &units {
            let mut parts = Vec::new();
            let skip = if unit.within == ROOT { 0 } else { work.skip_levels };
            split.choose(work, facts, unit, unit.within, skip, &mut parts);
            parts.sort_by_key(|p| (p.first, p.begin));
            split.parts.push(parts);
        }
        split.moves.values_mut().for_each(|m| m.sort_by_key(|m| !m.store));
        split
    }

    fn note_uses(&self, work: &Work, numbers: &Numbering, units: &mut [Unit]) {
        if units.is_empty() {
            return;
        }
        for (b, roles) in work.roles.iter().enumerate() {
            for (uses, role) in numbers.uses_of(b).zip(roles) {
                for u in uses {
                    let Some(&(unit, at)) = self.of.get(&u.slice.reg) else { continue };
                    let unit = &mut units[unit];
                    let mask = access::mask(u.slice) << (at - unit.base);
                    let reads = if u.read { mask } else { 0 };
                    let writes = if u.write && !u.undef { mask } else { 0 };
                    let uses = match role.home() == Some(unit.home) {
                        true => Uses { stored: reads, ..Uses::default() },
                        false => Uses { reads, writes, replaces: writes & !reads, stored: 0 },
                    };
                    match unit.uses.last_mut() {
                        Some((last, known)) if *last == b => *known = known.and(uses),
                        _ => unit.uses.push((b, uses)),
                    }
                }
            }
        }
    }

    /// Gives the unit registers for the parts of a region. A part that does not qualify is divided into its inner
    /// regions; so is every part on the first `skip` levels.
    fn choose(
        &mut self,
        work: &mut Work,
        facts: &Facts<'_>,
        unit: &Unit,
        within: RegionId,
        skip: usize,
        parts: &mut Vec<Part>,
    ) {
        let &Region { first, last, parts: ref inner, .. } = facts.regions.get(within);
        let mut rest = unit.uses.partition_point(|u| u.0 < first);
        // Visit only the parts that use the unit, by binary search, because a function may have thousands of parts.
        while let Some(&(block, _)) = unit.uses.get(rest).filter(|u| u.0 <= last) {
            let Some(&id) = inner.get(inner.partition_point(|&p| facts.regions.get(p).last < block)) else {
                return;
            };
            let region = facts.regions.get(id);
            let from = rest;
            rest += unit.uses[from..].partition_point(|u| u.0 <= region.last);
            let named = &unit.uses[from..rest];
            let remat = matches!(work.homes[unit.home as usize], Home::Remat(_));
            // Within a single block, stretches do the same without a register for the whole part.
            let blocks = named.iter().filter(|u| u.1.reads | u.1.writes != 0).count();
            let wanted = if region.is_loop { blocks > 0 } else { blocks > 1 && !remat };
            if !wanted {
                continue;
            }
            let uses = named.iter().fold(Uses::default(), |all, u| all.and(u.1));
            let part = if skip == 0 { self.part(work, facts, unit, id, uses) } else { None };
            match part {
                Some(part) => parts.push(part),
                None => self.choose(work, facts, unit, id, skip.saturating_sub(1), parts),
            }
        }
    }

    /// A register for the unit in this region, with its loads and stores; `None` if EXEC does not permit one.
    fn part(
        &mut self,
        work: &mut Work,
        facts: &Facts<'_>,
        unit: &Unit,
        id: RegionId,
        uses: Uses,
    ) -> Option<Part> {
        let region = facts.regions.get(id);
        let masked = unit.info.file != RegFile::Sgpr;
        let places = entries(work, facts, unit, region, masked)?;
        let begin = if region.is_loop { 0 } else { places.first()?.1 };
        let leaving = region.exits.iter().fold(uses.stored, |all, &e| all | unit.live_in(facts, e));
        let stored = uses.writes & leaving;
        let remat = matches!(work.homes[unit.home as usize], Home::Remat(_));
        // A rematerialised value has no home that a write in the region could update.
        if remat && uses.writes != 0 {
            return None;
        }
        let all_lanes = facts.exec.at(region.first, 0);
        let stays = !masked || region.same_exec && (uses.replaces == 0 || all_lanes);
        // Use one store at each exit on two conditions. First, all exits are reached only from the loop; otherwise the
        // store would also run if the loop did not. Second, no earlier move in the region has stored to the home;
        // otherwise a reader of the home inside the region, where the smaller part was not live, would find an old
        // value.
        let after = region.is_loop && region.own_exits && stays && uses.stored == 0;
        // A store at an exit also runs if no writer has run. It then stores the values that were loaded, so load these
        // dwords, too.
        let needed = uses.reads | if after { stored } else { 0 };
        let loads = needed & unit.live_in(facts, region.first);
        let reg = work.new_vreg(unit.info, Kind::Piece(unit.home, unit.base, Level::Region(id)));
        let mut edge = |at, store, mask| {
            for (start, len) in runs(mask) {
                let part = VSlice { reg, start, len };
                let keeps = store && masked && !all_lanes;
                let moved = EdgeMove { store, home: unit.home, at: unit.base + start, part, keeps };
                self.moves.entry(at).or_default().push(moved);
            }
        };
        places.into_iter().for_each(|at| edge(at, false, loads));
        if after {
            for &exit in &region.exits {
                edge((exit, 0), true, uses.writes & unit.live_in(facts, exit));
            }
        }
        Some(Part {
            first: region.first,
            begin,
            last: region.last,
            reg,
            home: unit.home,
            base: unit.base,
            through: if after { 0 } else { stored },
        })
    }

    /// Removes and returns the moves before instruction `at` of a block.
    pub fn moves_at(&mut self, block: usize, at: usize) -> Vec<EdgeMove> {
        self.moves.remove(&(block, at)).unwrap_or_default()
    }

    /// Replaces the spilled registers in an instruction by the registers of parts. Returns the stores that must follow
    /// the instruction.
    pub fn rename(&self, work: &Work, (b, i): (usize, usize), inst: &mut MInst, role: Role) -> Vec<Transfer> {
        let mut stores = Vec::new();
        let is_split = |o: &MOperand| matches!(o, MOperand::Virt(s) if self.of.contains_key(&s.reg));
        if self.of.is_empty() || !inst.operands.iter().any(is_split) {
            return stores;
        }
        // All members of the unit share the register of a part: one member may have a value where another is undefined.
        if let (Op::Undef, [MOperand::Virt(s)]) = (&inst.op, &inst.operands[..])
            && self.slice(*s, b, i, role).is_some()
        {
            *inst = placeholder(inst.loc);
            return stores;
        }
        let uses = access::uses(&work.f, inst);
        let vector = |reg| work.f.info(reg).file != RegFile::Sgpr;
        for u in uses.iter().filter(|u| u.write && !u.undef) {
            let Some((part, slice)) = self.slice(u.slice, b, i, role) else { continue };
            let keeps = inst.keeps_dst && vector(part.reg);
            for (start, len) in runs(access::mask(slice) & part.through) {
                let at = part.base + start;
                let part_of = VSlice { reg: part.reg, start, len };
                let role = role.after(part.home);
                stores.push(Transfer { home: part.home, at, part: part_of, keeps, role, loc: inst.loc });
            }
        }
        for operand in &mut inst.operands {
            if let MOperand::Virt(s) = operand
                && let Some((_, slice)) = self.slice(*s, b, i, role)
            {
                *s = slice;
            }
        }
        stores
    }

    /// The part that covers a slice at this instruction, and the corresponding slice of the part's register; `None` if
    /// no part covers it.
    fn slice(&self, s: VSlice, b: usize, i: usize, role: Role) -> Option<(&Part, VSlice)> {
        let &(unit, at) = self.of.get(&s.reg)?;
        let parts = self.parts.get(unit)?;
        let next = parts.partition_point(|p| (p.first, p.begin) <= (b, i));
        let part = next.checked_sub(1).and_then(|n| parts.get(n)).filter(|p| b <= p.last)?;
        // Moves between a spilled register and its home are removed, not renamed.
        (role.home() != Some(part.home))
            .then(|| (part, VSlice { reg: part.reg, start: at - part.base + s.start, len: s.len }))
    }
}

impl Unit {
    fn new(home: HomeId, info: VRegInfo, within: RegionId) -> Unit {
        Unit { members: Vec::new(), home, info, base: 0, within, uses: Vec::new() }
    }

    /// The dwords of the home that are live at a block's entry.
    fn live_in(&self, facts: &Facts<'_>, block: usize) -> u32 {
        let Some(live) = facts.live.live_in.get(block) else { return 0 };
        let moved = |at: u8, dwords: u32| dwords << (at - self.base);
        // A variable that is written many times has as many members as writes. If there are more members than live
        // registers, look up each live register among the members, not vice versa.
        if self.members.len() <= live.len() {
            let mask = |&(reg, at): &(VReg, u8)| moved(at, live::mask_of(live, reg));
            return self.members.iter().map(mask).fold(0, |all, m| all | m);
        }
        let mask = |&(reg, dwords): &(u32, u32)| Some(moved(self.member(VReg(reg))?, dwords));
        live.iter().filter_map(mask).fold(0, |all, m| all | m)
    }

    /// The dword of the home at which the register starts; `None` if it is not a member.
    fn member(&self, reg: VReg) -> Option<u8> {
        self.members.binary_search_by_key(&reg, |m| m.0).ok().map(|i| self.members[i].1)
    }

    fn is_named(&self, inst: &MInst) -> bool {
        inst.operands.iter().any(|o| match o {
            MOperand::Virt(s) => self.member(s.reg).is_some(),
            MOperand::Fixed(_) => false,
        })
    }
}

/// A register description with the width and alignment of the class.
fn aligned(classes: &Classes, root: VReg) -> VRegInfo {
    VRegInfo { align: classes.align(root).0, ..classes.info(root) }
}

/// The positions of a part's loads: for each, the block and the instruction that the load precedes. `None` if EXEC may
/// differ from what the loads need.
fn entries(
    work: &Work,
    facts: &Facts<'_>,
    unit: &Unit,
    region: &Region,
    masked: bool,
) -> Option<Vec<(usize, usize)>> {
    let all_lanes = |(b, i): (usize, usize)| !masked || region.same_exec || facts.exec.at(b, i);
    if region.is_loop {
        let before_branch = |&b: &usize| {
            let insts = &work.f.blocks[b].insts;
            // Put the loads before the branches that end the block. The loads need not be conditional, since the loaded
            // values are not used on other paths.
            let branches = insts.iter().rev().take_while(|i| input::branch_target(i).is_some()).count();
            Some((b, insts.len() - branches)).filter(|&at| all_lanes(at))
        };
        return region.entries.iter().map(before_branch).collect();
    }
    let insts = &work.f.blocks[region.first].insts;
    let at = (0..insts.len()).find(|&i| all_lanes((region.first, i)))?;
    (!insts[..at].iter().any(|i| unit.is_named(i))).then(|| vec![(region.first, at)])
}
