//! The working function: the function that is being allocated, with the spill code that previous rounds have added.

use gcn_isa::RegFile;
use gcn_isa::program::SourceLoc;
use hashbrown::{HashMap, HashSet};

use super::super::Limits;
use super::super::segs::Segs;
use super::regions::RegionId;
use super::share::Shared;
use crate::mir::{Function, MInst, MOperand, Op, VReg, VRegInfo, VSlice};

pub(super) use super::role::{HomeId, Role};

/// The role of a virtual register of the working function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A register of the original function.
    Value,
    /// A register that is live only around a single instruction. It must be in a machine register.
    Temp,
    /// A register of one vector file that is the home of values of the other file.
    Slot,
    /// A VGPR whose lanes are homes of SGPRs.
    Lanes,
    /// A piece: a register for a part of the life of the value with this home. It starts at this dword of the home.
    Piece(HomeId, u8, Level),
}

/// The size of a piece. A piece that gets no register is replaced by smaller ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    /// A loop, or the code between two loops.
    Region(RegionId),
    /// Nearby instructions of one block; the number is an index into [`MAX_GAPS`].
    Stretch(usize),
}

/// For each level of stretches, the largest number of instructions between two that share a register. The first level
/// joins the whole block.
pub(super) const MAX_GAPS: [usize; 3] = [usize::MAX, 64, 8];

impl Kind {
    /// The level and the gap of the stretches that replace a register of this kind, after skipping `skip` levels;
    /// `None` if the register is replaced by registers for single instructions.
    pub fn stretch_level(self, skip: usize) -> Option<(usize, usize)> {
        let level = match self {
            Kind::Piece(_, _, Level::Stretch(level)) => level + 1 + skip,
            // The only instructions that name a slot are moves between the slot and pieces. They become moves between
            // the pieces and memory, and need no register.
            Kind::Slot => return None,
            _ => 0,
        };
        MAX_GAPS.get(level).map(|&near| (level, near))
    }
}

/// The kinds of homes of spilled values.
#[derive(Clone, Debug)]
pub(super) enum Home {
    /// In a register of the other vector file.
    Reg(VReg),
    /// In scratch memory, from this dword of the frame on.
    Frame(u32),
    /// In LDS, from this slot on.
    Lds(u32),
    /// In lanes of VGPRs, one for each dword.
    Lanes(Vec<(VReg, u8)>),
    /// Nowhere: the value is rematerialised by this instruction, whose first operand is the destination.
    Remat(Box<MInst>),
}

/// An instruction with its role.
pub(super) type TaggedInst = (MInst, Role);

/// The working function.
pub(super) struct Work {
    pub f: Function,
    /// The role of each instruction, by block and index.
    pub roles: Vec<Vec<Role>>,
    /// The kind of each virtual register.
    pub kinds: Vec<Kind>,
    pub homes: Vec<Home>,
    /// The first dword of the frame for spilled values.
    frame_start: u32,
    frame: Shared,
    /// True if techniques that only save instructions must not be used.
    pub conservative: bool,
    /// The number of region levels that splitting skips in this round.
    pub skip_levels: usize,
    pub limits: Limits,
    /// The slots of LDS.
    pub lds: Shared,
    /// The lanes of all registers in `lane_regs`, 64 for each register.
    lanes: Shared,
    lane_regs: Vec<VReg>,
    /// The lane registers that were added in this round.
    pub new_lanes: Vec<VReg>,
    /// Two flags: true if there are free AGPRs for spilled VGPRs, and true if there are free VGPRs for spilled AGPRs.
    pub room: [bool; 2],
    /// The SGPRs that contain addresses of pages of the frame: for each, the address, the register, and the index of
    /// the instruction that set the register.
    pub pages: Vec<(u32, VReg, usize)>,
    /// The index, in its block, of the instruction that is being rewritten.
    pub now: usize,
    /// The VGPRs through which AGPRs are stored to and loaded from memory, on targets whose memory instructions cannot
    /// access AGPRs. Each of these VGPRs is written once and read once.
    pub staging: HashSet<VReg>,
    /// The staging registers whose AGPR was itself spilled, so that the value that they should store is already in its
    /// home.
    pub dead_staging: HashSet<VReg>,
    /// For each slot, the home that it implements.
    pub slots: HashMap<VReg, HomeId>,
    /// For each virtual register that has been evicted: its home, and the dword of the home at which the register
    /// starts. An entry never changes.
    pub spilled: Vec<Option<(HomeId, u8)>>,
}

/// Stands for a home in moves at the entry that have none.
pub(super) const NO_HOME: HomeId = u32::MAX;

impl Work {
    pub fn new(f: &Function, limits: &Limits) -> Work {
        let mut kinds = vec![Kind::Value; f.vregs.len()];
        // The register with the address of the LDS slots cannot itself be spilled to LDS.
        if let Some(kind) = limits.spill.lds.and_then(|lds| kinds.get_mut(lds.address.0 as usize)) {
            *kind = Kind::Temp;
        }
        Work {
            roles: f.blocks.iter().map(|b| vec![Role::Own; b.insts.len()]).collect(),
            kinds,
            homes: Vec::new(),
            frame_start: limits.spill.frame.map_or(0, |bytes| bytes.div_ceil(4)),
            frame: Shared::default(),
            lds: Shared::default(),
            limits: *limits,
            conservative: false,
            skip_levels: 0,
            lanes: Shared::default(),
            lane_regs: Vec::new(),
            new_lanes: Vec::new(),
            room: [limits.spill.agprs && f.target.has_agprs(); 2],
            pages: Vec::new(),
            staging: HashSet::new(),
            dead_staging: HashSet::new(),
            slots: HashMap::new(),
            now: 0,
            spilled: Vec::new(),
            f: f.clone(),
        }
    }

    /// A new virtual register.
    pub fn new_vreg(&mut self, info: VRegInfo, kind: Kind) -> VReg {
        self.f.vregs.push(info);
        self.kinds.push(kind);
        VReg(self.f.vregs.len() as u32 - 1)
    }

    /// True if values of `file` can be spilled to the other vector file.
    pub fn has_room(&self, file: RegFile) -> bool {
        match file {
            RegFile::Sgpr => false,
            RegFile::Vgpr => self.room[0],
            RegFile::Agpr => self.room[1],
        }
    }

    /// The home of `reg`, and the dword of the home at which `reg` starts; `None` if `reg` was not evicted.
    pub fn spilled(&self, reg: VReg) -> Option<(HomeId, u8)> {
        self.spilled.get(reg.0 as usize).copied().flatten()
    }

    /// Records that `reg` is evicted: its value is at dword `at` of `home` from now on.
    pub fn assign_home(&mut self, reg: VReg, home: HomeId, at: u8) {
        let i = reg.0 as usize;
        if self.spilled.len() <= i {
            self.spilled.resize(i + 1, None);
        }
        self.spilled[i] = Some((home, at));
        // If an evicted register is a slot, the values in it move along: the home that the slot implemented is now the
        // same place in memory.
        if let Some(of) = self.slots.remove(&reg) {
            match self.homes[home as usize] {
                Home::Frame(first) => self.homes[of as usize] = Home::Frame(first + u32::from(at)),
                Home::Lds(first) => self.homes[of as usize] = Home::Lds(first + u32::from(at)),
                _ => {}
            }
        }
    }

    /// Marks new lane registers as undefined at the entry. `v_writelane_b32` keeps the other lanes and therefore reads
    /// its destination; without this definition the register would be live-in at the entry.
    pub fn begin_lanes(&mut self) {
        for reg in std::mem::take(&mut self.new_lanes) {
            let slice = VSlice { reg, start: 0, len: 1 };
            self.f.blocks[0].insts.insert(0, inst(Op::Undef, &[MOperand::Virt(slice)], None));
            self.roles[0].insert(0, Role::Before(NO_HOME));
        }
    }

    /// Adds a home.
    pub fn add_home(&mut self, home: Home) -> HomeId {
        self.homes.push(home);
        self.homes.len() as u32 - 1
    }

    /// The number of dwords in the frame.
    pub fn frame_dwords(&self) -> u32 {
        self.frame_start + self.frame.len()
    }

    /// A home for a value of type `info` that is live during `life`: in lanes, in the other vector file, or in memory.
    pub fn new_home(&mut self, info: VRegInfo, life: &[Segs], in_memory: bool) -> HomeId {
        let other = match info.file {
            RegFile::Sgpr => {
                let lanes = life.iter().map(|dword| self.lane(std::slice::from_ref(dword))).collect();
                return self.add_home(Home::Lanes(lanes));
            }
            RegFile::Vgpr => RegFile::Agpr,
            RegFile::Agpr => RegFile::Vgpr,
        };
        if in_memory || !self.has_room(info.file) {
            let slots = self.limits.spill.lds.map_or(0, |lds| lds.room.slots);
            if let Some(first) = self.lds.place_below(slots, life, !self.conservative) {
                return self.add_home(Home::Lds(first));
            }
            let first = self.frame_start + self.frame.place(life, !self.conservative);
            return self.add_home(Home::Frame(first));
        }
        let slot = self.new_vreg(VRegInfo { file: other, align: 1, ..info }, Kind::Slot);
        let home = self.add_home(Home::Reg(slot));
        self.slots.insert(slot, home);
        home
    }

    fn lane(&mut self, life: &[Segs]) -> (VReg, u8) {
        let number = self.lanes.place(life, !self.conservative);
        let lanes = self.f.wave.lanes() as usize;
        if self.lane_regs.len() <= number as usize / lanes {
            let reg = self.new_vreg(VRegInfo { file: RegFile::Vgpr, len: 1, align: 1 }, Kind::Lanes);
            self.new_lanes.push(reg);
            self.lane_regs.push(reg);
        }
        (self.lane_regs[number as usize / lanes], (number as usize % lanes) as u8)
    }
}

/// An instruction that the allocator adds.
pub(super) fn inst(op: Op, operands: &[MOperand], loc: Option<SourceLoc>) -> MInst {
    MInst { op, operands: operands.iter().copied().collect(), keeps_dst: false, loc }
}

/// An instruction that stands for an original instruction that was replaced by nothing.
pub(super) fn placeholder(loc: Option<SourceLoc>) -> MInst {
    inst(Op::Order, &[], loc)
}

/// The runs of set bits in `mask`: the first bit and the length of each.
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
