//! The function that is being allocated with some of its values in memory.

use gcn_isa::RegFile;
use gcn_isa::program::SourceLoc;
use gcn_isa::target::WAVE_SIZE;
use hashbrown::{HashMap, HashSet};

use super::super::Limits;
use super::super::segs::Segs;
use super::regions::RegionId;
use super::share::Shared;
use crate::mir::{Function, MInst, MOperand, Op, VReg, VRegInfo, VSlice};

/// Where values are that have no register.
pub(super) type HomeId = u32;

/// What an instruction of the working function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// It stands for the instruction of the original function that has the same number among its like.
    Own,
    /// A move that belongs before the next own one, from or to this home.
    Before(HomeId),
    /// A move that belongs to the own one before it.
    After(HomeId),
}

impl Role {
    /// The role of a move that is put beside an instruction of this role.
    pub fn before(self, home: HomeId) -> Role {
        match self {
            Role::Own | Role::Before(_) => Role::Before(home),
            Role::After(_) => Role::After(home),
        }
    }

    /// The same, after it.
    pub fn after(self, home: HomeId) -> Role {
        match self {
            Role::Own | Role::After(_) => Role::After(home),
            Role::Before(_) => Role::Before(home),
        }
    }

    pub fn home(self) -> Option<HomeId> {
        match self {
            Role::Own => None,
            Role::Before(home) | Role::After(home) => Some(home),
        }
    }
}

/// What a virtual register of the working function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// One of the original function.
    Value,
    /// One that lives around an instruction and has to have a register.
    Temp,
    /// Registers of one vector file that hold values of the other.
    Slot,
    /// A VGPR whose lanes hold SGPRs.
    Lanes,
    /// A part of the life of a value whose home this is, from this dword of the home on.
    Piece(HomeId, u8, Level),
}

/// How large a part of a value's life is. What has no register for a part may have one for a smaller part in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    /// A loop, or the code between two.
    Region(RegionId),
    /// Instructions of one block, of which two that follow each other are so near (index to [`NEAR`]).
    Near(usize),
}

/// So many instructions may lie between two that share a register, by level.
pub(super) const NEAR: [usize; 3] = [usize::MAX, 64, 8];

impl Kind {
    /// How near instructions have to be to share a register when a register of this kind has gone, so many levels further in
    /// than the next: the level and the distance.
    pub fn near(self, skip: usize) -> Option<(usize, usize)> {
        let level = match self {
            Kind::Piece(_, _, Level::Near(level)) => level + 1 + skip,
            // Moves between a slot and pieces become moves between these and memory.
            Kind::Slot => return None,
            _ => 0,
        };
        NEAR.get(level).map(|&near| (level, near))
    }
}

/// Where a value is that has no register.
#[derive(Clone, Debug)]
pub(super) enum Home {
    /// In a register of the other vector file.
    Reg(VReg),
    /// In scratch memory, from this dword of the frame on.
    Frame(u32),
    /// In LDS, from this slot on.
    Lds(u32),
    /// Each dword in a lane.
    Lanes(Vec<(VReg, u8)>),
    /// Nowhere: it is made again where it is needed, by this instruction, whose first operand is the destination.
    Again(Box<MInst>),
}

/// An instruction with its role.
pub(super) type Piece = (MInst, Role);

/// The working function.
pub(super) struct Work {
    pub f: Function,
    /// By block and instruction.
    pub roles: Vec<Vec<Role>>,
    /// By virtual register.
    pub kinds: Vec<Kind>,
    pub homes: Vec<Home>,
    /// First dword of the frame that is for values.
    frame_start: u32,
    frame: Shared,
    /// Nothing that only saves instructions is done.
    pub plain: bool,
    /// So many levels of parts are skipped.
    pub haste: usize,
    pub limits: Limits,
    /// Slots of LDS.
    pub lds: Shared,
    /// Lanes by number, and the VGPR of each 64.
    lanes: Shared,
    lane_regs: Vec<VReg>,
    /// VGPRs for lanes that were not there in the last round.
    pub new_lanes: Vec<VReg>,
    /// Whether the other vector file has registers for values of VGPRs, of AGPRs.
    pub room: [bool; 2],
    /// SGPRs that hold the addresses of pages of the frame, and from which instruction on.
    pub pages: Vec<(u32, VReg, usize)>,
    /// The instruction of the block that is being rewritten.
    pub now: usize,
    /// VGPRs between memory and AGPRs that memory instructions cannot name, each loaded and read once.
    pub between: HashSet<VReg>,
    /// Those of them whose AGPR has gone itself: what is stored of it is in its home already.
    pub unused: HashSet<VReg>,
    /// The homes that are slots.
    pub slots: HashMap<VReg, HomeId>,
    /// By virtual register: where it is if it has been taken out of registers for good.
    pub gone: Vec<Option<(HomeId, u8)>>,
}

/// For the moves at the entry that belong to no home.
pub(super) const NO_HOME: HomeId = u32::MAX;

impl Work {
    pub fn new(f: &Function, limits: &Limits) -> Work {
        let mut kinds = vec![Kind::Value; f.vregs.len()];
        // The address of what is in LDS is not there itself.
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
            plain: false,
            haste: 0,
            lanes: Shared::default(),
            lane_regs: Vec::new(),
            new_lanes: Vec::new(),
            room: [limits.spill.agprs && f.target.has_agprs(); 2],
            pages: Vec::new(),
            between: HashSet::new(),
            unused: HashSet::new(),
            slots: HashMap::new(),
            now: 0,
            gone: Vec::new(),
            f: f.clone(),
        }
    }

    /// A new virtual register.
    pub fn new_vreg(&mut self, info: VRegInfo, kind: Kind) -> VReg {
        self.f.vregs.push(info);
        self.kinds.push(kind);
        VReg(self.f.vregs.len() as u32 - 1)
    }

    /// True if values of `file` can go to the other vector file.
    pub fn has_room(&self, file: RegFile) -> bool {
        match file {
            RegFile::Sgpr => false,
            RegFile::Vgpr => self.room[0],
            RegFile::Agpr => self.room[1],
        }
    }

    /// Where `reg` is if it has no register any more.
    pub fn gone(&self, reg: VReg) -> Option<(HomeId, u8)> {
        self.gone.get(reg.0 as usize).copied().flatten()
    }

    /// `reg` has no register any more.
    pub fn send(&mut self, reg: VReg, home: HomeId, at: u8) {
        let i = reg.0 as usize;
        if self.gone.len() <= i {
            self.gone.resize(i + 1, None);
        }
        self.gone[i] = Some((home, at));
        // What is in a slot moves with it.
        if let Some(of) = self.slots.remove(&reg) {
            match self.homes[home as usize] {
                Home::Frame(first) => self.homes[of as usize] = Home::Frame(first + u32::from(at)),
                Home::Lds(first) => self.homes[of as usize] = Home::Lds(first + u32::from(at)),
                _ => {}
            }
        }
    }

    /// Writing a lane keeps the others; at the entry there is nothing to keep.
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

    /// Dwords of the frame.
    pub fn frame_dwords(&self) -> u32 {
        self.frame_start + self.frame.len()
    }

    /// The home of a value of `info`, in lanes, in the other vector file or in memory.
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
            if let Some(first) = self.lds.place_below(slots, life, !self.plain) {
                return self.add_home(Home::Lds(first));
            }
            let first = self.frame_start + self.frame.place(life, !self.plain);
            return self.add_home(Home::Frame(first));
        }
        let slot = self.new_vreg(VRegInfo { file: other, align: 1, ..info }, Kind::Slot);
        let home = self.add_home(Home::Reg(slot));
        self.slots.insert(slot, home);
        home
    }

    fn lane(&mut self, life: &[Segs]) -> (VReg, u8) {
        let number = self.lanes.place(life, !self.plain);
        if self.lane_regs.len() <= number as usize / LANES {
            let reg = self.new_vreg(VRegInfo { file: RegFile::Vgpr, len: 1, align: 1 }, Kind::Lanes);
            self.new_lanes.push(reg);
            self.lane_regs.push(reg);
        }
        (self.lane_regs[number as usize / LANES], (number as usize % LANES) as u8)
    }
}

/// Lanes of a VGPR.
const LANES: usize = WAVE_SIZE as usize;

/// An instruction of the allocator.
pub(super) fn inst(op: Op, operands: &[MOperand], loc: Option<SourceLoc>) -> MInst {
    MInst { op, operands: operands.iter().copied().collect(), keeps_dst: false, loc }
}

/// What stands for an instruction that became nothing.
pub(super) fn no_instruction(loc: Option<SourceLoc>) -> MInst {
    inst(Op::Order, &[], loc)
}
