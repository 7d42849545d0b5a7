//! Data-parallel primitives (DPP): the source lane for each lane.

use gcn_isa::{Dpp, Inst};

use crate::core::value::LANES;
use crate::core::wave::Lanes;

/// How an instruction permutes the lanes of source 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Permutation {
    pattern: Pattern,
    /// A mask of the rows of 16 lanes that are written.
    row_mask: u8,
    /// A mask of the banks of 4 lanes in each row that are written.
    bank_mask: u8,
    /// If true, a lane without a source lane reads 0; otherwise it keeps the destination.
    bound_ctrl: bool,
    /// If true, lanes that are not active in EXEC can be read.
    fetch_inactive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// The field `dpp_ctrl`.
    Ctrl(u16),
    /// For each lane of a group of eight, three bits with the lane of the group that it reads.
    Eight(u32),
}

impl Permutation {
    /// The permutation of an instruction; `None` for one without DPP.
    pub(crate) fn of(inst: &Inst) -> Option<Permutation> {
        let mods = &inst.mods;
        if inst.desc.format.is_dpp8() {
            // DPP8 has no `bound_ctrl`: a lane that reads an inactive lane reads 0 (RDNA3 ISA, "DPP8").
            let all = Permutation::from(Dpp { ctrl: 0, row_mask: 0xf, bank_mask: 0xf, bound_ctrl: true });
            return Some(Permutation { pattern: Pattern::Eight(mods.dpp8), fetch_inactive: mods.fi, ..all });
        }
        mods.dpp.map(|dpp| Permutation { fetch_inactive: mods.fi, ..dpp.into() })
    }

    /// Calls `f` for each lane with its source lane, or `None` if that is out of range or inactive.
    fn each(&self, exec: u64, mut f: impl FnMut(usize, Option<usize>)) {
        let readable = if self.fetch_inactive { u64::MAX } else { exec };
        for lane in 0..LANES {
            let from = match self.pattern {
                Pattern::Ctrl(ctrl) => source(ctrl, lane),
                Pattern::Eight(lanes) => Some(lane / 8 * 8 + (lanes >> (lane % 8 * 3) & 7) as usize),
            };
            f(lane, from.filter(|from| readable >> from & 1 == 1));
        }
    }

    /// The permuted value of a register; 0 in lanes without a source lane.
    pub(crate) fn of_words(&self, exec: u64, lanes: &Lanes) -> Lanes {
        let mut out = [0; LANES];
        self.each(exec, |lane, from| out[lane] = from.map_or(0, |from| lanes[from]));
        out
    }

    /// As [`Permutation::of_words`], for register pairs.
    pub(crate) fn of_pairs(&self, exec: u64, lanes: &[u64; LANES]) -> [u64; LANES] {
        let mut out = [0; LANES];
        self.each(exec, |lane, from| out[lane] = from.map_or(0, |from| lanes[from]));
        out
    }

    /// A mask of the lanes that are written: enabled by the row and bank masks and, without `bound_ctrl`, with an active source lane.
    pub(crate) fn written(&self, exec: u64) -> u64 {
        let mut mask = 0u64;
        self.each(exec, |lane, from| {
            let enabled = self.row_mask >> (lane / 16) & 1 == 1 && self.bank_mask >> (lane / 4 % 4) & 1 == 1;
            mask |= u64::from(enabled && (from.is_some() || self.bound_ctrl)) << lane;
        });
        mask
    }
}

impl From<Dpp> for Permutation {
    fn from(dpp: Dpp) -> Permutation {
        let Dpp { ctrl, row_mask, bank_mask, bound_ctrl } = dpp;
        Permutation { pattern: Pattern::Ctrl(ctrl), row_mask, bank_mask, bound_ctrl, fetch_inactive: false }
    }
}

/// The lane that `lane` reads under a DPP control; `None` if there is no such lane.
fn source(ctrl: u16, lane: usize) -> Option<usize> {
    let (row, place) = (lane / 16 * 16, lane % 16);
    let n = (ctrl & 0xf) as usize;
    match ctrl {
        // quad_perm
        0x000..=0x0ff => Some(lane / 4 * 4 + (ctrl as usize >> (lane % 4 * 2) & 3)),
        // row_shl, row_shr, row_ror
        0x101..=0x10f => (place + n < 16).then_some(lane + n),
        0x111..=0x11f => place.checked_sub(n).map(|p| row + p),
        0x121..=0x12f => Some(row + (place + 16 - n) % 16),
        // wave_shl, wave_rol, wave_shr, wave_ror, all by one
        0x130 => (lane + 1 < LANES).then_some(lane + 1),
        0x134 => Some((lane + 1) % LANES),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + LANES - 1) % LANES),
        // row_mirror, row_half_mirror
        0x140 => Some(row + 15 - place),
        0x141 => Some(lane / 8 * 8 + 7 - lane % 8),
        // row_bcast:15 copies the last lane of each row to the next row, row_bcast:31 the last lane of the lower half to the upper half.
        0x142 => row.checked_sub(1),
        0x143 => (lane >= 32).then_some(31),
        // row_newbcast, row_share
        0x150..=0x15f => Some(row + n),
        // row_xmask
        0x160..=0x16f => Some(row + (place ^ n)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dpp_controls_name_their_source_lanes() {
        assert_eq!(source(0xe4, 37), Some(37));
        assert_eq!(source(0x1b, 4), Some(7));
        assert_eq!((source(0x101, 14), source(0x101, 15)), (Some(15), None));
        assert_eq!((source(0x111, 17), source(0x111, 16)), (Some(16), None));
        assert_eq!((source(0x121, 16), source(0x12f, 16)), (Some(31), Some(17)));
        assert_eq!((source(0x130, 15), source(0x130, 63)), (Some(16), None));
        assert_eq!((source(0x134, 63), source(0x13c, 0)), (Some(0), Some(63)));
        assert_eq!((source(0x138, 0), source(0x138, 32)), (None, Some(31)));
        assert_eq!((source(0x140, 16), source(0x141, 9)), (Some(31), Some(14)));
        assert_eq!((source(0x142, 0), source(0x142, 40)), (None, Some(31)));
        assert_eq!((source(0x143, 31), source(0x143, 63)), (None, Some(31)));
        assert_eq!((source(0x153, 50), source(0x165, 50)), (Some(51), Some(55)));
    }
}
