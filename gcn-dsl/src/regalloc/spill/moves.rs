//! Spill code: the moves between registers and homes.

use gcn_isa::{Class, InstDesc, Operand, RegFile, SrcSpecial, Target, table};

use super::work::{Home, HomeId, Kind, Level, MAX_GAPS, Role, TaggedInst, Work, inst};
use crate::mir::scratch;
use crate::mir::{MInst, MOperand, Op, VReg, VRegInfo, VSlice};
use gcn_isa::program::SourceLoc;
use gcn_isa::table::Behaviours;

/// A move between `part` of a register and as many dwords of a home, from `at` on.
#[derive(Clone, Copy)]
pub(super) struct Transfer {
    pub home: HomeId,
    pub at: u8,
    pub part: VSlice,
    /// True if inactive lanes of the destination keep their values.
    pub keeps: bool,
    pub role: Role,
    pub loc: Option<SourceLoc>,
}

/// The number of instructions for which an SGPR with a page address is reused. The bound keeps the SGPR's life short.
const PAGE_SERVES: usize = 32;

/// The table row of a scratch access to `len` dwords.
fn row(target: Target, store: bool, len: u8, form: &str) -> Option<&'static InstDesc> {
    let name = match (store, len) {
        (false, 1) => "scratch_load_dword",
        (false, 2) => "scratch_load_dwordx2",
        (false, _) => "scratch_load_dwordx4",
        (true, 1) => "scratch_store_dword",
        (true, 2) => "scratch_store_dwordx2",
        (true, _) => "scratch_store_dwordx4",
    };
    table::find_operation(target, name).find(|row| row.form == form)
}

impl Work {
    /// Loads a value from its home.
    pub fn load(&mut self, t: Transfer, out: &mut Vec<TaggedInst>) {
        self.transfer(t, false, out);
    }

    /// Stores a value to its home.
    pub fn store(&mut self, t: Transfer, out: &mut Vec<TaggedInst>) {
        self.transfer(t, true, out);
    }

    fn transfer(&mut self, t: Transfer, store: bool, out: &mut Vec<TaggedInst>) {
        let in_memory = matches!(self.homes[t.home as usize], Home::Frame(_) | Home::Lds(_));
        if in_memory && !self.reaches_memory(self.f.info(t.part.reg).file) {
            return self.through_vgprs(t, store, out);
        }
        match self.homes[t.home as usize].clone() {
            Home::Reg(slot) => {
                let there = MOperand::Virt(VSlice { reg: slot, start: t.at, len: t.part.len });
                let here = MOperand::Virt(t.part);
                let operands = if store { [there, here] } else { [here, there] };
                let keeps_dst = t.keeps;
                out.push((MInst { keeps_dst, ..inst(Op::Copy, &operands, t.loc) }, t.role));
            }
            Home::Lanes(lanes) => {
                let name = if store { "v_writelane_b32" } else { "v_readlane_b32" };
                let Some(row) = table::find_operation(self.f.on(), name).next() else { return };
                for k in 0..t.part.len {
                    let (reg, lane) = lanes[usize::from(t.at + k)];
                    let number = MOperand::Fixed(Operand::const32(u32::from(lane)));
                    let there = MOperand::Virt(VSlice { reg, start: 0, len: 1 });
                    let here = MOperand::Virt(VSlice { start: t.part.start + k, len: 1, ..t.part });
                    let operands = if store { [there, here, number] } else { [here, there, number] };
                    out.push((inst(Op::Machine(row, row.default_mods()), &operands, t.loc), t.role));
                }
            }
            Home::Frame(first) => {
                let mut k = 0;
                while k < t.part.len {
                    let len = self.width(t.part, k);
                    let part = VSlice { start: t.part.start + k, len, ..t.part };
                    self.memory(Transfer { part, ..t }, first + u32::from(t.at + k), store, out);
                    k += len;
                }
            }
            Home::Lds(first) => {
                let Some(lds) = self.limits.spill.lds else { return };
                let name = if store { "ds_write_b32" } else { "ds_read_b32" };
                let Some(row) = table::find_operation(self.f.on(), name).next() else { return };
                let address = MOperand::Virt(VSlice { reg: lds.address, start: 0, len: 1 });
                for k in 0..t.part.len {
                    let here = MOperand::Virt(VSlice { start: t.part.start + k, len: 1, ..t.part });
                    let operands = if store { [address, here] } else { [here, address] };
                    let mut mods = row.default_mods();
                    mods.offset = lds.room.offset(first + u32::from(t.at + k)) as i32;
                    let keeps_dst = t.keeps && !store;
                    out.push((MInst { keeps_dst, ..inst(Op::Machine(row, mods), &operands, t.loc) }, t.role));
                }
            }
            Home::Remat(how) => {
                // Rematerialised values are never stored.
                if !store {
                    let mut remat = MInst { keeps_dst: t.keeps, loc: t.loc, ..*how };
                    remat.operands[0] = MOperand::Virt(t.part);
                    out.push((remat, t.role));
                }
            }
        }
    }

    /// True if memory instructions can access registers of `file`. They can access AGPRs only if AGPRs and VGPRs are
    /// one file.
    fn reaches_memory(&self, file: RegFile) -> bool {
        file == RegFile::Vgpr || file == RegFile::Agpr && self.f.target.has_unified_agprs()
    }

    /// Emits a move between memory and AGPRs, for targets whose memory instructions cannot access AGPRs. The move goes
    /// dword by dword, so that one free VGPR is enough.
    fn through_vgprs(&mut self, t: Transfer, store: bool, out: &mut Vec<TaggedInst>) {
        for k in 0..t.part.len {
            let reg = self.new_vreg(VRegInfo { file: RegFile::Vgpr, len: 1, align: 1 }, Kind::Temp);
            self.staging.insert(reg);
            let staging = VSlice { reg, start: 0, len: 1 };
            let there = MOperand::Virt(VSlice { start: t.part.start + k, len: 1, ..t.part });
            let memory = Transfer { at: t.at + k, part: staging, keeps: t.keeps && store, ..t };
            let copy = |operands: [MOperand; 2], keeps_dst| {
                (MInst { keeps_dst, ..inst(Op::Copy, &operands, t.loc) }, t.role)
            };
            if store {
                out.push(copy([MOperand::Virt(staging), there], false));
                self.transfer(memory, true, out);
            } else {
                self.transfer(memory, false, out);
                out.push(copy([there, MOperand::Virt(staging)], t.keeps));
            }
        }
    }

    /// The staging VGPR that an operand names; `None` if it names none.
    fn staging(&self, operand: &MOperand) -> Option<VReg> {
        match operand {
            MOperand::Virt(s) => Some(s.reg).filter(|reg| self.staging.contains(reg)),
            MOperand::Fixed(_) => None,
        }
    }

    /// Removes the memory access that belongs to the copy between an AGPR and its staging VGPR, because the AGPR itself
    /// is now spilled. A load is the last instruction of `out`; a store comes later, and is recorded in `dead_staging`.
    pub fn drop_staging(&mut self, copy: &MInst, out: &mut Vec<TaggedInst>) {
        let [to, from] = &copy.operands[..] else { return };
        self.dead_staging.extend(self.staging(to));
        if let Some(loaded) = self.staging(from)
            && out.last().and_then(|load| self.staging(load.0.operands.first()?)) == Some(loaded)
        {
            out.pop();
        }
    }

    /// True if `inst` stores a staging VGPR whose copy from an AGPR was removed.
    pub fn feeds_dead_store(&self, inst: &MInst) -> bool {
        inst.operands.iter().any(|o| self.staging(o).is_some_and(|reg| self.dead_staging.contains(&reg)))
    }

    /// The number of dwords that one memory access can move, from dword `k` of `part` on.
    fn width(&self, part: VSlice, k: u8) -> u8 {
        let even = (part.start + k).is_multiple_of(2) && self.f.info(part.reg).align.is_multiple_of(2);
        let aligned = even || !self.f.target.needs_even_vgpr_tuples();
        match part.len - k {
            4.. if aligned => 4,
            2.. if aligned => 2,
            _ => 1,
        }
    }

    /// An SGPR with the address of a page of the frame. It is reused for [`PAGE_SERVES`] instructions. Its home is
    /// [`Home::Remat`]: if the SGPR is evicted, the address is recomputed.
    fn page(&mut self, address: u32, t: Transfer, out: &mut Vec<TaggedInst>) -> MOperand {
        let now = self.now;
        self.pages.retain(|p| now - p.2 < PAGE_SERVES);
        if let Some(page) = self.pages.iter().find(|p| p.0 == address) {
            return MOperand::Virt(VSlice { reg: page.1, start: 0, len: 1 });
        }
        let home = self.homes.len() as HomeId;
        let info = VRegInfo { file: RegFile::Sgpr, len: 1, align: 1 };
        let reg = self.new_vreg(info, Kind::Piece(home, 0, Level::Stretch(MAX_GAPS.len())));
        let base = MOperand::Virt(VSlice { reg, start: 0, len: 1 });
        let how = inst(Op::Copy, &[base, MOperand::Fixed(Operand::const32(address))], t.loc);
        self.add_home(Home::Remat(how.clone().into()));
        let role = match t.role {
            Role::After(_) => Role::After(home),
            _ => Role::Before(home),
        };
        out.push((how, role));
        self.pages.push((address, reg, now));
        base
    }

    /// Emits one access to the frame.
    fn memory(&mut self, t: Transfer, dword: u32, store: bool, out: &mut Vec<TaggedInst>) {
        let (bytes, target) = (4 * dword, self.f.target);
        let off = MOperand::Fixed(Operand::Off);
        let reach = scratch::reach(target);
        let direct = (bytes < reach).then(|| row(target, store, t.part.len, "noaddr")).flatten();
        let (row, saddr, offset) = match direct {
            Some(row) => (row, off, bytes),
            None => {
                let Some(row) = row(target, store, t.part.len, "saddr") else { return };
                let base = self.page(bytes / reach * reach, t, out);
                (row, base, bytes % reach)
            }
        };
        let mut mods = row.default_mods();
        mods.offset = offset as i32;
        let data = MOperand::Virt(t.part);
        let operands = if store { [off, data, saddr] } else { [data, off, saddr] };
        let keeps_dst = t.keeps && !store;
        out.push((MInst { keeps_dst, ..inst(Op::Machine(row, mods), &operands, t.loc) }, t.role));
    }
}

/// True if the instruction gives the same result wherever it is repeated, as long as its source registers keep their
/// values: it is a pure function of them and writes no flag.
pub(super) fn repeatable(inst: &MInst) -> bool {
    if inst.keeps_dst {
        return false;
    }
    let constant = |o: &MOperand| match o {
        MOperand::Fixed(Operand::Inline(_) | Operand::Literal(_)) => true,
        MOperand::Fixed(Operand::Special(s)) => {
            matches!(s, SrcSpecial::SharedBase | SrcSpecial::PrivateBase)
        }
        _ => false,
    };
    let virt = |o: &MOperand| matches!(o, MOperand::Virt(_));
    match inst.op {
        Op::Copy => virt(&inst.operands[0]) && inst.operands.get(1).is_some_and(|o| constant(o) || virt(o)),
        Op::Machine(desc, mods) => {
            let plain = mods.dpp.is_none() && mods.sdwa.is_none() && !desc.keeps_other_half();
            let pure = matches!(desc.class, Class::Valu | Class::Salu)
                && desc.implicit_writes.is_empty()
                && !desc.entry.behaviours.intersects(Behaviours::READS_PC | Behaviours::SKIPS_VECTOR);
            // The instruction may read EXEC and MODE implicitly. EXEC decides in which lanes the result is computed,
            // and a reader needs only the lanes that are active where it reads.
            let quiet = !desc.implicit_reads.intersects(
                table::ImplicitRegs::all() - table::ImplicitRegs::EXEC - table::ImplicitRegs::MODE,
            );
            let access = desc.operands.iter().enumerate().all(|(i, o)| {
                let read = o.access == table::Access::Read;
                if i == 0 { o.access == table::Access::Write } else { read }
            });
            let operands = inst.operands.iter().skip(1).all(|o| constant(o) || virt(o));
            plain && pure && quiet && access && operands && inst.operands.first().is_some_and(virt)
        }
        _ => false,
    }
}
