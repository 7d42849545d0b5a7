//! The function that is being allocated with some of its values in memory.

use gcn_isa::RegFile;
use gcn_isa::program::SourceLoc;
use hashbrown::HashMap;

use super::super::Limits;
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

    /// Same, behind it.
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
    /// A stretch of the life of a value whose home this is, from this dword of the home on.
    Piece(HomeId, u8),
}

/// Where a value is that has no register.
#[derive(Clone, Debug)]
pub(super) enum Home {
    /// In a register of the other vector file.
    Reg(VReg),
    /// In scratch memory, from this dword of the frame on.
    Frame(u32),
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
    /// Dwords of the frame.
    pub frame: u32,
    /// Nothing that only saves instructions is done.
    pub plain: bool,
    pub limits: Limits,
    /// The VGPR that takes the next SGPR, and its next lane.
    lanes: Option<(VReg, u8)>,
    /// VGPRs for lanes that were not there in the last round.
    pub new_lanes: Vec<VReg>,
    /// Whether the other vector file has registers for values of VGPRs, of AGPRs.
    pub room: [bool; 2],
    /// SGPRs that hold the addresses of pages of the frame, and from which instruction on.
    pub pages: Vec<(u32, VReg, usize)>,
    /// The instruction of the block that is being rewritten.
    pub now: usize,
    /// The homes that are slots.
    pub slots: HashMap<VReg, HomeId>,
    /// By virtual register: where it is if it has been taken out of registers for good.
    pub gone: Vec<Option<(HomeId, u8)>>,
}

/// For the moves at the entry that belong to no home.
pub(super) const NO_HOME: HomeId = u32::MAX;

impl Work {
    pub fn new(f: &Function, limits: &Limits) -> Work {
        Work {
            roles: f.blocks.iter().map(|b| vec![Role::Own; b.insts.len()]).collect(),
            kinds: vec![Kind::Value; f.vregs.len()],
            homes: Vec::new(),
            frame: limits.spill.frame.map_or(0, |bytes| bytes.div_ceil(4)),
            limits: *limits,
            plain: false,
            lanes: None,
            new_lanes: Vec::new(),
            room: [limits.spill.agprs && f.target.has_agprs(); 2],
            pages: Vec::new(),
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
        if let Some(of) = self.slots.remove(&reg)
            && let Home::Frame(first) = self.homes[home as usize]
        {
            self.homes[of as usize] = Home::Frame(first + u32::from(at));
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

    /// The home of a value of `info`, in lanes, in the other vector file or in memory.
    pub fn new_home(&mut self, info: VRegInfo, in_memory: bool) -> HomeId {
        let other = match info.file {
            RegFile::Sgpr => {
                let lanes = (0..info.len).map(|_| self.next_lane()).collect();
                return self.add_home(Home::Lanes(lanes));
            }
            RegFile::Vgpr => RegFile::Agpr,
            RegFile::Agpr => RegFile::Vgpr,
        };
        if in_memory || !self.has_room(info.file) {
            let first = self.frame;
            self.frame += u32::from(info.len);
            return self.add_home(Home::Frame(first));
        }
        let slot = self.new_vreg(VRegInfo { file: other, align: 1, ..info }, Kind::Slot);
        let home = self.add_home(Home::Reg(slot));
        self.slots.insert(slot, home);
        home
    }

    fn next_lane(&mut self) -> (VReg, u8) {
        let (reg, lane) = match self.lanes {
            Some(next) => next,
            None => {
                let reg = self.new_vreg(VRegInfo { file: RegFile::Vgpr, len: 1, align: 1 }, Kind::Lanes);
                self.new_lanes.push(reg);
                (reg, 0)
            }
        };
        self.lanes = (lane < 63).then_some((reg, lane + 1));
        (reg, lane)
    }
}

/// An instruction of the allocator.
pub(super) fn inst(op: Op, operands: &[MOperand], loc: Option<SourceLoc>) -> MInst {
    MInst { op, operands: operands.iter().copied().collect(), keeps_dst: false, loc }
}
