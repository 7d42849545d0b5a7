//! Addresses of matrix elements, and loads and stores of runs. A *run* is a sequence of elements that are neighbours in
//! a row or a column.

use std::panic::Location;

use gcn_isa::layout::{ByLane, Coordinates};
use smallvec::SmallVec;

use super::format::{MatrixElement, bits};
use super::operand::lane_part;
use super::swizzle::WIDEST;
use crate::ir::{Bin, Inst, Memory, Place, Type, Value};
use crate::lang::memory::lds_row::Groups;
use crate::lang::memory::slice::{Backing, assume_whole_dwords, load_elements, store_elements};
use crate::lang::values::vector::{element, pack};
use crate::lang::{S, V, lt, select, splat, with};
use crate::scalar::Number;

/// The distance from one row or column to the next, in elements.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stride {
    /// Known when the kernel is built.
    Const(u32),
    /// Known at run time, the same in all lanes of the wave.
    Uniform(S<u32>),
}

/// The memory that contains a matrix, and the mapping from coordinates to addresses.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    pub(super) memory: Memory,
    /// The byte offset of the matrix's first element; `None` if the matrix starts at the start of the memory.
    pub(super) start: Option<Value>,
    /// The strides of rows, of columns, and of the matrices of several blocks.
    pub(super) strides: [Stride; 3],
    /// The number of rows and the number of columns; `None` if accesses are not checked against it.
    pub(super) limits: [Option<Limit>; 2],
    /// The XOR swizzle of groups of elements in a row.
    pub(super) swizzle: Option<Xor>,
}

/// The number of rows or columns against which accesses are checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub count: S<u32>,
    /// A common divisor of that number and of the first row or column of every tile.
    pub step: u32,
}

/// An XOR swizzle: moves groups of elements to other positions in the same row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Xor {
    pub groups: Groups,
    /// The dimension that is the row for the swizzle: 0, or 1 if the matrix is transposed.
    pub rows: usize,
}

/// The coordinate of a fragment's first row or column: the sum of a varying, a uniform and a constant part.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) varying: Option<V<u32>>,
    pub(super) uniform: Option<S<u32>>,
    pub(super) constant: u32,
}

impl At {
    const NONE: At = At { varying: None, uniform: None, constant: 0 };

    /// Splits `x` into its constant, uniform and varying parts.
    pub fn new(x: V<u32>) -> At {
        let mut at = At { varying: None, uniform: None, constant: 0 };
        with(|c| {
            let kernel = c.builder.kernel();
            let def = |v: Value| &kernel.def(v).inst;
            let constant = |v: Value| match def(v) {
                Inst::Const(bits) => Some(*bits as u32),
                _ => None,
            };
            let mut value = x.value;
            let mut is_uniform = false;
            loop {
                match def(value) {
                    Inst::Const(bits) => {
                        at.constant = at.constant.wrapping_add(*bits as u32);
                        return;
                    }
                    Inst::Splat(inner) => (value, is_uniform) = (*inner, true),
                    Inst::Bin(Bin::Add, inner, k) if constant(*k).is_some() => {
                        at.constant = at.constant.wrapping_add(constant(*k).unwrap_or(0));
                        value = *inner;
                    }
                    _ if is_uniform => {
                        at.uniform = Some(S::from_value(value));
                        return;
                    }
                    _ => {
                        at.varying = Some(V::from_value(value));
                        return;
                    }
                }
            }
        });
        at
    }

    /// Adds a constant.
    pub fn plus(self, constant: u32) -> At {
        At { constant: self.constant.wrapping_add(constant), ..self }
    }

    /// Adds a varying value.
    #[track_caller]
    pub fn plus_varying(self, more: V<u32>) -> At {
        let varying = Some(self.varying.map_or(more, |v| more + v));
        At { varying, ..self }
    }

    /// The coordinate `self + x`, where `x` depends on the lane.
    #[track_caller]
    fn of(self, x: ByLane) -> V<u32> {
        let mut sum = lane_part(x).unwrap_or_else(|| splat(0u32));
        if let Some(varying) = self.varying {
            sum = sum + varying;
        }
        if let Some(uniform) = self.uniform {
            sum = sum + uniform;
        }
        sum + self.constant.wrapping_add(x.base)
    }
}

/// A run of elements; its position depends on the lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// Row, column and block of the first element.
    pub(super) at: [ByLane; 3],
    /// The number of elements.
    pub(super) len: u32,
    /// The direction: 1 if the next element is in the next column, 0 if it is in the next row.
    pub(super) along: usize,
}

impl Run {
    /// Joins elements at consecutive positions into runs.
    pub fn of(places: impl IntoIterator<Item = Coordinates>, along: usize) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for place in places {
            let next = Run { at: [place.row, place.column, place.block], len: 1, along };
            match runs.last_mut() {
                Some(last) if last.goes_on_at(&next) => last.len += 1,
                _ => runs.push(next),
            }
        }
        runs
    }

    fn goes_on_at(&self, next: &Run) -> bool {
        let mut here = self.at;
        here[self.along].base += self.len;
        here == next.at
    }

    /// A run of `len` elements from a fixed position on, the same in all lanes.
    pub fn plain([row, column]: [u32; 2], len: u32, along: usize) -> Run {
        Run { at: [row, column, 0].map(|base| ByLane { base, weights: [0; 6] }), len, along }
    }

    /// The part of the run that has `len` elements from element `from` on.
    pub(super) fn part(&self, from: u32, len: u32) -> Run {
        let mut at = self.at;
        at[self.along].base += from;
        Run { at, len, along: self.along }
    }
}

pub(super) struct Raw {
    memory: Memory,
    start: Option<Value>,
}

impl<T> Backing<T> for Raw {
    fn memory(&self) -> Memory {
        self.memory
    }
    fn start(&self) -> Option<Value> {
        self.start
    }
}

/// A byte offset that is out of bounds of the longest slice, even for the widest access.
const LAST: u32 = 0xffff_fff0;

impl Places {
    pub(super) fn new(memory: Memory, [rows, columns]: [Stride; 2]) -> Places {
        Places {
            memory,
            start: None,
            strides: [rows, columns, Stride::Const(0)],
            limits: [None; 2],
            swizzle: None,
        }
    }

    /// The same mapping for a part of a slice that begins at byte offset `start`.
    pub(super) fn starting_at(self, start: Option<Value>) -> Places {
        Places { start, ..self }
    }

    pub(super) fn raw(&self) -> Raw {
        Raw { memory: self.memory, start: self.start }
    }

    pub(super) fn with_blocks(self, blocks: Stride) -> Places {
        let [rows, columns, _] = self.strides;
        Places { strides: [rows, columns, blocks], ..self }
    }

    pub(super) fn with_swizzle(self, swizzle: Option<Xor>) -> Places {
        Places { swizzle, ..self }
    }

    pub(super) fn transposed(self) -> Places {
        let swap = |[a, b]: [Option<Limit>; 2]| [b, a];
        let [a, b, blocks] = self.strides;
        Places {
            strides: [b, a, blocks],
            limits: swap(self.limits),
            swizzle: self.swizzle.map(|x| Xor { rows: 1 - x.rows, ..x }),
            ..self
        }
    }

    /// The number of elements, of a run of `len` elements, that one access can move.
    fn together(&self, along: usize, bytes: impl Fn(u32) -> u32, len: u32) -> u32 {
        if !matches!(self.strides[along], Stride::Const(1)) {
            return 1;
        }
        let most = self.swizzle.map_or(len, |x| x.groups.width.min(len));
        // An access must be entirely inside or entirely outside the limit.
        let whole = |n: u32| self.limits[along].is_none_or(|limit| limit.step.is_multiple_of(n));
        (1..=most).rev().find(|n| matches!(bytes(*n), 4 | 8 | 12 | WIDEST) && whole(*n)).unwrap_or(1)
    }

    /// The index in memory of the element at `at + x`.
    #[track_caller]
    pub(super) fn index(&self, [row, column]: [At; 2], x: [ByLane; 3]) -> V<u32> {
        let at = [row, column, At::NONE];
        if let Some(xor) = self.swizzle {
            return self.swizzled(xor, [row, column], x);
        }
        let (mut lane, mut uniform, mut constant): (Option<V<u32>>, Option<S<u32>>, u32) = (None, None, 0);
        let mut add_v = |part: V<u32>| lane = Some(lane.map_or(part, |sum| sum + part));
        for d in 0..3 {
            let stride = self.strides[d];
            let times = |v: V<u32>| match stride {
                Stride::Const(s) => v * s,
                Stride::Uniform(s) => v * s,
            };
            if let Some(part) = lane_part(x[d]) {
                add_v(times(part));
            }
            if let Some(part) = at[d].varying {
                add_v(times(part));
            }
        }
        let mut add_s = |part: S<u32>| uniform = Some(uniform.map_or(part, |sum| sum + part));
        for d in 0..3 {
            let known = at[d].constant.wrapping_add(x[d].base);
            if let Some(part) = at[d].uniform {
                add_s(match self.strides[d] {
                    Stride::Const(s) => part * s,
                    Stride::Uniform(s) => part * s,
                });
            }
            match self.strides[d] {
                Stride::Const(s) => constant = constant.wrapping_add(known.wrapping_mul(s)),
                Stride::Uniform(s) if known != 0 => add_s(s * known),
                Stride::Uniform(_) => {}
            }
        }
        let sum = match (lane, uniform) {
            (Some(lane), Some(uniform)) => lane + uniform,
            (Some(lane), None) => lane,
            (None, Some(uniform)) => splat(uniform),
            (None, None) => splat(0u32),
        };
        sum + constant
    }

    #[track_caller]
    fn swizzled(&self, xor: Xor, at: [At; 2], x: [ByLane; 3]) -> V<u32> {
        let (row, col) = (at[xor.rows].of(x[xor.rows]), at[1 - xor.rows].of(x[1 - xor.rows]));
        let Groups { width, period, rows } = xor.groups;
        // The swizzle depends only on `row % repeat`. Reducing the constants modulo `repeat` lets rows whose distance
        // is a multiple of `repeat` share the computation.
        let repeat = period * rows;
        let low = At { constant: at[xor.rows].constant % repeat, ..at[xor.rows] };
        let mut line = x[xor.rows];
        line.base %= repeat;
        let low = low.of(line) & (repeat - rows);
        let moved = if width >= rows { low * (width / rows) } else { low / (rows / width) };
        let pitch = match self.strides[xor.rows] {
            Stride::Const(s) => row * s,
            Stride::Uniform(s) => row * s,
        };
        pitch + (col ^ moved)
    }

    /// Splits `runs` into parts that one access can move.
    fn accesses(&self, runs: &[Run], bytes: impl Fn(u32) -> u32) -> Vec<Run> {
        let mut parts = Vec::new();
        for run in runs {
            let mut done = 0;
            while done < run.len {
                let n = self.together(run.along, &bytes, run.len - done);
                parts.push(run.part(done, n));
                done += n;
            }
        }
        parts
    }

    /// The index of an element. If the element is outside the matrix, an index that is out of bounds of the memory.
    #[track_caller]
    fn checked(&self, at: [At; 2], x: [ByLane; 3], bytes: u32) -> V<u32> {
        let mut index = self.index(at, x);
        for d in 0..2 {
            if let Some(limit) = self.limits[d] {
                let inside = lt(at[d].of(x[d]), limit.count);
                index = match self.start {
                    // `start` will be added to the byte offset; that sum must not wrap around.
                    Some(start) => select(inside, index, (LAST - S::<u32>::from_value(start)) / bytes),
                    None => select(inside, index, LAST / bytes),
                };
            }
        }
        index
    }

    /// Loads the elements of `runs` and concatenates them.
    #[track_caller]
    pub(super) fn load<T: MatrixElement>(&self, at: [At; 2], runs: &[Run]) -> Value {
        if let Some(value) = self.load_transposed::<T>(at, runs) {
            return value;
        }
        self.load_bits::<T::Memory>(at, runs, bits(T::FORMAT))
    }

    /// Loads elements of `per` bits from memory with elements of type `M`.
    #[track_caller]
    pub(super) fn load_bits<M: Number>(&self, at: [At; 2], runs: &[Run], per: u32) -> Value {
        let loc = Location::caller();
        let size = M::ELEM.bytes();
        let bytes = |n: u32| if (n * per).is_multiple_of(8) { n * per / 8 } else { u32::MAX };
        let mut pieces: SmallVec<[Value; 4]> = SmallVec::new();
        let mut single: Vec<V<M>> = Vec::new();
        for part in self.accesses(runs, bytes) {
            let index = in_memory(self.checked(at, part.at, size), per, 8 * size);
            let count = (bytes(part.len) / size).max(1) as usize;
            assume_whole_dwords::<M>(self.memory, count);
            let value = load_elements::<M>(&self.raw(), index, count, loc);
            if bytes(part.len) % 4 == 0 {
                pieces.push(value);
            } else {
                single.push(V::from_value(value));
            }
        }
        if !single.is_empty() {
            if per < 8 || !pieces.is_empty() {
                let what = "elements of less than a byte, and runs of odd length, load only where `k` is the matrix's \
                            fast dimension, or from LDS on gfx950 with a first row and column that are multiples of 16 and \
                            the same in all lanes";
                with(|c| c.fail(loc, what.to_owned()));
                return pieces.first().copied().unwrap_or(single[0].value);
            }
            return pack(&single, loc);
        }
        let total: u32 = runs.iter().map(|r| r.len).sum();
        let ty = Type { place: Place::Varying, elem: M::ELEM, count: (total * per / (8 * size)) as u8 };
        match pieces[..] {
            [one] => one,
            _ => with(|c| c.value(Inst::Concat(pieces), ty, loc)),
        }
    }

    /// Loads the elements of `runs` as separate values.
    #[track_caller]
    pub(super) fn load_each<T: Number>(&self, at: [At; 2], runs: &[Run]) -> Vec<V<T>> {
        let loc = Location::caller();
        let size = T::ELEM.bytes();
        let mut elements = Vec::new();
        for part in self.accesses(runs, |n| n * size) {
            let (index, n) = (self.checked(at, part.at, size), part.len as usize);
            assume_whole_dwords::<T>(self.memory, n);
            let value = load_elements::<T>(&self.raw(), index, n, loc);
            elements.extend((0..n).map(|k| V::from_value(element::<T>(value, k, n, loc))));
        }
        elements
    }

    /// Stores a packed value at the coordinate `at`.
    #[track_caller]
    pub(super) fn store_packed<T: Number>(&self, at: [At; 2], value: Value) {
        let index = self.index(at, [ByLane::default(); 3]);
        assume_whole_dwords::<T>(self.memory, usize::MAX);
        store_elements::<T>(&self.raw(), index, value, Location::caller());
    }

    /// Stores elements at the positions of `runs`.
    #[track_caller]
    pub(super) fn store<T: Number>(&self, at: [At; 2], runs: &[Run], elements: &[V<T>]) {
        let loc = Location::caller();
        let size = T::ELEM.bytes();
        let mut rest = elements;
        for part in self.accesses(runs, |n| n * size) {
            let (these, others) = rest.split_at(part.len as usize);
            rest = others;
            let index = self.checked(at, part.at, size);
            assume_whole_dwords::<T>(self.memory, these.len());
            store_elements::<T>(&self.raw(), index, pack(these, loc), loc);
        }
    }
}

/// Converts an index of matrix elements of `bits` bits to an index of memory elements of `memory` bits. A memory
/// element may contain several matrix elements.
#[track_caller]
pub(super) fn in_memory(index: V<u32>, bits: u32, memory: u32) -> V<u32> {
    match (bits, memory) {
        (6, 8) => (index * 3u32) >> 2u32,
        (4, 8) => index >> 1u32,
        _ => index,
    }
}
