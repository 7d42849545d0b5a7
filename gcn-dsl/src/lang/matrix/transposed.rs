//! Loads from LDS that transpose the matrix (gfx950).
//!
//! A lane's part of a factor has consecutive `k`. If the other dimension of the matrix is contiguous, these elements
//! are far apart in memory. With `ds_read_b64_tr_*`, each of 16 lanes loads a run along the contiguous dimension, for a
//! different `k`, and the instruction then exchanges elements so that every lane gets those of its own `k`.

use std::panic::Location;

use gcn_isa::layout::ByLane;
use gcn_isa::table;
use smallvec::SmallVec;

use super::format::{MatrixElement, bits};
use super::place::{At, Places, Run, Stride, in_memory};
use crate::ir::align::Alignment;
use crate::ir::{Inst, Manner, Memory, Place, Type, Value};
use crate::lang::context::Context;
use crate::lang::memory::slice::byte_offset;
use crate::lang::with;
use crate::scalar::Scalar;

/// A transposing load instruction.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    /// The size of an element in bits.
    bits: u32,
    /// The number of elements that a lane addresses, which is also the number that the lane receives.
    each: u32,
    /// The number of consecutive lanes that together address one row of 16 elements.
    across: u32,
}

impl Exchange {
    /// The target's instruction for elements of `bits` bits; `None` if there is none.
    fn here(c: &Context, bits: u32) -> Option<Exchange> {
        let (mnemonic, each) = match bits {
            16 => ("ds_read_b64_tr_b16", 4),
            8 => ("ds_read_b64_tr_b8", 8),
            6 => ("ds_read_b96_tr_b6", 16),
            4 => ("ds_read_b64_tr_b4", 16),
            _ => return None,
        };
        table::find(c.target, mnemonic).next()?;
        Some(Exchange { bits, each, across: 16 / each })
    }

    /// The position that a lane must address so that the exchange gives it `run`. `None` unless the lowest four bits of
    /// the lane's number count columns.
    fn addressed(self, run: &Run) -> Option<[ByLane; 3]> {
        let free = 1 - run.along;
        let low = |x: &ByLane| [x.weights[0], x.weights[1], x.weights[2], x.weights[3]];
        let counts = low(&run.at[free]) == [1, 2, 4, 8]
            && low(&run.at[run.along]) == [0; 4]
            && run.at[2].weights == [0; 6]
            && run.at[free].weights[4..].iter().all(|w| w.is_multiple_of(self.each));
        if !counts || !run.at[free].base.is_multiple_of(self.each) {
            return None;
        }
        let mut at = run.at;
        for bit in 0..4 {
            let lane = 1 << bit;
            // The lanes of one row address its elements in order; the lanes after them address the next `k`.
            let beside = lane < self.across;
            at[free].weights[bit] = if beside { lane * self.each } else { 0 };
            at[run.along].weights[bit] = if beside { 0 } else { lane / self.across };
        }
        Some(at)
    }
}

impl Places {
    /// Loads the elements of `runs` by transposing loads and concatenates them. Returns `None` unless the target has
    /// these loads, the matrix has their alignment, and every lane is active: an inactive lane would not load what
    /// other lanes need.
    #[track_caller]
    pub(super) fn load_transposed<T: MatrixElement>(&self, at: [At; 2], runs: &[Run]) -> Option<Value> {
        let loc = Location::caller();
        let along = runs.first()?.along;
        let exchange = with(|c| {
            let lanes: u32 = c.workgroup.iter().product();
            let all_run = c.builder.divergence() == 0 && lanes.is_multiple_of(c.wave.lanes());
            let exchange = Exchange::here(c, bits(T::FORMAT)).filter(|_| all_run)?;
            self.lies_right(c, at, along, exchange).then_some(exchange)
        })?;
        if !runs.iter().all(|run| run.len.is_multiple_of(exchange.each)) {
            return None;
        }
        let places: Option<Vec<[ByLane; 3]>> = runs
            .iter()
            .flat_map(|run| (0..run.len).step_by(exchange.each as usize).map(move |from| (run, from)))
            .map(|(run, from)| exchange.addressed(&run.part(from, exchange.each)))
            .collect();
        let elem = <T::Memory as Scalar>::ELEM;
        let values = |elements: u32| {
            let count = elements * exchange.bits / (8 * elem.bytes());
            Type { place: Place::Varying, elem, count: count as u8 }
        };
        let mut pieces: SmallVec<[Value; 4]> = SmallVec::new();
        for place in places? {
            let index = in_memory(self.index(at, place), exchange.bits, 8 * elem.bytes());
            let offset = byte_offset::<T::Memory>(&self.raw(), index, loc);
            let manner = Manner::Transposed(exchange.bits as u8);
            let load = Inst::Load { memory: self.memory, offset, manner };
            pieces.push(with(|c| c.value(load, values(exchange.each), loc)));
        }
        let total = runs.iter().map(|run| run.len).sum();
        Some(match pieces[..] {
            [one] => one,
            _ => with(|c| c.value(Inst::Concat(pieces), values(total), loc)),
        })
    }

    /// True if the elements that a lane addresses are contiguous and aligned as the instruction requires.
    fn lies_right(&self, c: &Context, at: [At; 2], along: usize, exchange: Exchange) -> bool {
        let free = 1 - along;
        let Exchange { bits, each, .. } = exchange;
        let Stride::Const(row) = self.strides[along] else { return false };
        // The alignment in bits that the hardware requires for loads of 12 bytes and of 8 bytes.
        let alignment = if bits == 6 { 32 } else { 64 };
        let rows_fit =
            matches!(self.strides[free], Stride::Const(1)) && (row * bits).is_multiple_of(alignment);
        let groups_fit = self.swizzle.is_none_or(|x| x.rows == along && x.groups.width.is_multiple_of(each));
        let same_place = at.iter().all(|at| at.varying.is_none());
        let kernel = c.builder.kernel();
        let aligned =
            at[free].uniform.is_none_or(|x| 1 << Alignment::so_far(kernel).bits(kernel, x.value) >= each);
        matches!(self.memory, Memory::Lds(_))
            && rows_fit
            && groups_fit
            && same_place
            && aligned
            && at[free].constant.is_multiple_of(each)
    }
}
