//! Saves and restores the values of registers.

use gcn_isa::reg::{RegFile, RegUnit};

use crate::core::machine::Machine;
use crate::core::wave::{Lanes, Mode, Wave};

/// The location of a register in a [`Wave`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// An index into [`Wave::v`].
    Vector(u16),
    /// An index into [`Wave::s`].
    Scalar(u16),
}

impl Slot {
    pub(super) fn of(machine: &Machine, unit: RegUnit) -> Option<Slot> {
        let reg = unit.reg();
        let slot = match reg.file {
            RegFile::Sgpr => return Some(Slot::Scalar(reg.index)),
            RegFile::Vgpr => reg.index,
            RegFile::Agpr => reg.index + machine.state().vgprs as u16,
        };
        (usize::from(slot) < machine.vector_registers()).then_some(Slot::Vector(slot))
    }
}

/// The old and the new value of one register that an instruction writes.
#[derive(Clone, Debug)]
enum Change {
    Vector { slot: u16, old: Box<Lanes>, new: Box<Lanes> },
    Scalar { number: u16, old: u32, new: u32 },
}

/// The old and new values of all registers that an instruction writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    changes: Vec<Change>,
    /// The lanes of vector registers that the instruction writes.
    lanes: u64,
    /// The bits of each register that the instruction leaves unchanged, such as the other half.
    kept: u32,
    mode: Option<(Mode, Mode)>,
}

impl Changes {
    /// Saves the values before the instruction.
    pub(super) fn before(wave: &Wave, slots: &[Slot], with_mode: bool) -> Changes {
        let take = |slot: &Slot| match *slot {
            Slot::Vector(slot) => {
                let old = Box::new(wave.v[usize::from(slot)]);
                Change::Vector { slot, new: old.clone(), old }
            }
            Slot::Scalar(number) => {
                let old = wave.s[usize::from(number)];
                Change::Scalar { number, old, new: old }
            }
        };
        let mode = with_mode.then_some((wave.mode, wave.mode));
        Changes { changes: slots.iter().map(take).collect(), lanes: 0, kept: 0, mode }
    }

    /// Sets the bits that the instruction leaves unchanged in each vector register.
    pub(super) fn keep_bits(&mut self, kept: u32) {
        self.kept = kept;
    }

    /// Saves the values after the instruction.
    pub(super) fn after(&mut self, wave: &Wave, lanes: u64) {
        self.lanes = lanes;
        for change in &mut self.changes {
            match change {
                Change::Vector { slot, new, .. } => **new = wave.v[usize::from(*slot)],
                Change::Scalar { number, new, .. } => *new = wave.s[usize::from(*number)],
            }
        }
        if let Some((_, new)) = &mut self.mode {
            *new = wave.mode;
        }
    }

    /// Saves the values after the instruction again, because it was repeated.
    pub(super) fn again(&mut self, wave: &Wave) {
        self.after(wave, self.lanes);
    }

    /// The lanes in which the value of any vector register differs from its old value.
    pub(super) fn changed_lanes(&self, wave: &Wave) -> u64 {
        let mut lanes = 0;
        for change in &self.changes {
            if let Change::Vector { slot, old, .. } = change {
                let now = &wave.v[usize::from(*slot)];
                (0..now.len()).filter(|l| now[*l] != old[*l]).for_each(|l| lanes |= 1 << l);
            }
        }
        lanes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    fn find(&self, slot: Slot) -> Option<&Change> {
        self.changes.iter().find(|c| match (c, slot) {
            (Change::Vector { slot, .. }, Slot::Vector(wanted)) => *slot == wanted,
            (Change::Scalar { number, .. }, Slot::Scalar(wanted)) => *number == wanted,
            _ => false,
        })
    }

    /// Restores all old values.
    pub(super) fn undo(&self, wave: &mut Wave) {
        for change in &self.changes {
            match change {
                Change::Vector { slot, old, .. } => wave.v[usize::from(*slot)] = **old,
                Change::Scalar { number, old, .. } => wave.s[usize::from(*number)] = *old,
            }
        }
    }

    /// Writes all new values, in the written lanes.
    pub(super) fn land(&self, wave: &mut Wave) {
        self.changes.iter().for_each(|change| put(wave, change, self.lanes, self.kept));
    }

    /// Writes the new value of one register.
    pub(super) fn land_one(&self, wave: &mut Wave, slot: Slot) {
        if let Some(change) = self.find(slot) {
            put(wave, change, self.lanes, self.kept);
        }
    }

    /// Replaces the new value of a register by the one in `other`.
    pub(super) fn replace_one(&mut self, other: &Changes, slot: Slot) {
        let mine = self.changes.iter_mut().find_map(|c| match (c, slot) {
            (Change::Vector { slot, new, .. }, Slot::Vector(wanted)) if *slot == wanted => Some(new),
            _ => None,
        });
        if let (Some(mine), Some(Change::Vector { new, .. })) = (mine, other.find(slot)) {
            for lane in (0..new.len()).filter(|lane| other.lanes >> lane & 1 == 1) {
                mine[lane] = new[lane];
            }
        }
    }

    /// Restores the old value of a register in the lanes that still contain the instruction's result. Returns false if there are no such
    /// lanes.
    pub(super) fn hide(&self, wave: &mut Wave, slot: Slot) -> bool {
        match self.find(slot) {
            Some(Change::Vector { slot, old, new }) => {
                let register = &mut wave.v[usize::from(*slot)];
                let mut hidden = false;
                for lane in 0..register.len() {
                    if self.lanes >> lane & 1 == 1 && register[lane] == new[lane] {
                        register[lane] = old[lane];
                        hidden = true;
                    }
                }
                hidden
            }
            Some(Change::Scalar { number, old, new }) => {
                let register = &mut wave.s[usize::from(*number)];
                let hidden = *register == *new;
                if hidden {
                    *register = *old;
                }
                hidden
            }
            None => false,
        }
    }

    /// Restores the old value of MODE if MODE still has the instruction's result; otherwise returns false.
    pub(super) fn hide_mode(&self, wave: &mut Wave) -> bool {
        match self.mode {
            Some((old, new)) if wave.mode == new => {
                wave.mode = old;
                true
            }
            _ => false,
        }
    }
}

fn put(wave: &mut Wave, change: &Change, lanes: u64, kept: u32) {
    match change {
        Change::Vector { slot, new, .. } => {
            let register = &mut wave.v[usize::from(*slot)];
            for lane in (0..register.len()).filter(|lane| lanes >> lane & 1 == 1) {
                register[lane] = register[lane] & kept | new[lane] & !kept;
            }
        }
        Change::Scalar { number, new, .. } => wave.s[usize::from(*number)] = *new,
    }
}

/// The true values of registers while an instruction sees old ones.
#[derive(Default)]
pub(super) struct Hidden {
    vectors: Vec<(u16, Box<Lanes>)>,
    scalars: Vec<(u16, u32)>,
    mode: Option<Mode>,
}

impl Hidden {
    /// Saves the true value of a register, unless it has already been saved.
    pub(super) fn keep(&mut self, wave: &Wave, slot: Slot) {
        match slot {
            Slot::Vector(slot) if self.vectors.iter().all(|(s, _)| *s != slot) => {
                self.vectors.push((slot, Box::new(wave.v[usize::from(slot)])));
            }
            Slot::Scalar(n) if self.scalars.iter().all(|(s, _)| *s != n) => {
                self.scalars.push((n, wave.s[usize::from(n)]));
            }
            _ => {}
        }
    }

    pub(super) fn keep_mode(&mut self, wave: &Wave) {
        self.mode.get_or_insert(wave.mode);
    }

    /// Restores the true values, except where an instruction that writes `written` in `lanes` has stored newer ones.
    pub(super) fn restore(self, wave: &mut Wave, written: &[Slot], lanes: u64, mode_written: bool) {
        for (slot, value) in self.vectors {
            let keep = if written.contains(&Slot::Vector(slot)) { lanes } else { 0 };
            let register = &mut wave.v[usize::from(slot)];
            for lane in (0..register.len()).filter(|lane| keep >> lane & 1 == 0) {
                register[lane] = value[lane];
            }
        }
        for (number, value) in self.scalars.into_iter().filter(|s| !written.contains(&Slot::Scalar(s.0))) {
            wave.s[usize::from(number)] = value;
        }
        if let Some(mode) = self.mode.filter(|_| !mode_written) {
            wave.mode = mode;
        }
    }
}
