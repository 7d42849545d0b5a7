//! Dense matrix instructions.

use std::marker::PhantomData;
use std::ops::Range;

use gcn_isa::Target;
use gcn_isa::inst::Mods;
use gcn_isa::layout::{self, ElemType, Matrix, Shape};

use super::elements::{Acc, Decoder, Sum, flushes_denormals, product_is_exact};
use super::{Line, Registers, input_lines, result_lines};
use crate::core::fault::{Done, Fault, Next, Outcome};
use crate::core::machine::{Cx, Exec, Step};
use crate::core::operand::Src;
use crate::core::value::LANES;
use crate::core::wave::Lanes;
use crate::fp::host::{self, Work};

/// The number of consecutive k that are widened at a time.
pub(super) const STRETCH: usize = 16;

/// The data for reading A or B: a line of elements for each block and k, with broadcasts applied.
pub(super) struct Input {
    pub(super) decoder: Decoder,
    pub(super) lines: Vec<Line>,
    /// For each lane, the lane from which its elements come; `None` if lanes are not permuted.
    pub(super) lanes: Option<[u8; LANES]>,
}

impl Input {
    /// Reads and widens the elements of some lines into the first entries of `out`.
    // Loops are used instead of `array::map` here and below, because `map` is not inlined into code for the host's wide vectors.
    #[inline(always)]
    fn read<T: Sum, const N: usize>(
        &self,
        registers: &Registers<'_>,
        lines: Range<usize>,
        out: &mut [[T; N]],
    ) {
        let out = &mut out[..lines.len()];
        for (out, line) in out.iter_mut().zip(&self.lines[lines]) {
            let own: [u32; N] = self.words(registers.get(line.register, false), *line);
            let (mut low, mut high) = ([0; N], [0; N]);
            let shift = u32::from(line.low_bit);
            low.iter_mut().zip(own).for_each(|(low, own)| *low = own >> shift);
            if self.decoder.ty == ElemType::F64 {
                high = self.words(registers.get(line.register, true), *line);
            } else if shift + self.decoder.bits() > 32 {
                // 6-bit elements may continue in the next register.
                let next: [u32; N] = self.words(registers.get(line.register + 1, false), *line);
                low.iter_mut().zip(next).for_each(|(low, next)| *low |= next << (32 - shift));
            }
            for i in 0..N {
                out[i] = T::raw(low[i], high[i]);
            }
        }
        T::widen(&self.decoder, out.as_flattened_mut());
    }

    /// The dwords of a line, with the permutation of lanes applied.
    #[inline(always)]
    fn words<const N: usize>(&self, register: &Lanes, line: Line) -> [u32; N] {
        let Some(lanes) = &self.lanes else { return side_by_side(register, line) };
        let mut words = [0; N];
        let from = lanes[line.lanes(N)].iter().map(|lane| register[usize::from(*lane)]);
        words.iter_mut().zip(from).for_each(|(to, from)| *to = from);
        words
    }
}

/// A dense matrix instruction with its operand layouts.
pub(super) struct Dense<T> {
    pub(super) shape: Shape,
    pub(super) a: Input,
    pub(super) b: Input,
    /// The lines of D, one for each block and row.
    d_lines: Vec<Line>,
    flush_result: bool,
    pub(super) exact_product: bool,
    /// The operands to negate: bit 0 for A, bit 1 for B, bit 2 for C.
    negations: u8,
    accumulator: PhantomData<T>,
}

impl<T: Acc> Dense<T> {
    pub(super) fn new(shape: Shape, target: Target, mods: &Mods) -> Result<Dense<T>, String> {
        let missing = || "its layout is not regular".to_owned();
        if shape.m != shape.n {
            return Err(missing());
        }
        let k = usize::from(shape.k);
        let plain = input_lines(&shape, Matrix::A).ok_or_else(missing)?;
        // In f8f6f4 instructions, the fields `cbsz` and `blgp` contain the formats of A and B instead of a broadcast and a permutation.
        let (cbsz, blgp) = if shape.formats_chosen { (0, 0) } else { (mods.cbsz, mods.blgp) };
        let source = |block: u8| usize::from(layout::a_source_block(cbsz, mods.abid, block)) * k;
        let a_lines = (0..shape.blocks).flat_map(|b| plain[source(b)..source(b) + k].to_vec()).collect();
        let permute = |lane: usize| layout::b_source_lane(blgp, lane as u8);
        Ok(Dense {
            a: Input { decoder: Decoder::new(shape.a, target), lines: a_lines, lanes: None },
            b: Input {
                decoder: Decoder::new(shape.b, target),
                lines: input_lines(&shape, Matrix::B).ok_or_else(missing)?,
                lanes: (blgp != 0).then(|| std::array::from_fn(permute)),
            },
            d_lines: result_lines(&shape).ok_or_else(missing)?,
            flush_result: flushes_denormals(shape.a, target),
            exact_product: product_is_exact(shape.a) && product_is_exact(shape.b),
            negations: if shape.negates { mods.neg } else { 0 },
            shape,
            accumulator: PhantomData,
        })
    }
}

/// A way to add the products of an instruction to a block of the accumulator with `N` columns. `FUSED`: the host has a fused multiply-add.
/// `R` is the number of rows that are kept in the host's registers at a time.
pub(super) trait Products<T> {
    /// The minimum and maximum number of rows of a matrix.
    const ROWS: [u16; 2];

    /// Adds the products to `acc`.
    fn add<const FUSED: bool, const N: usize, const R: usize>(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        block: usize,
        acc: &mut [[T; N]; N],
    ) -> Result<(), Fault>;
}

impl<T: Acc> Dense<T> {
    /// The registers of A and B.
    #[inline(always)]
    pub(super) fn inputs<'c>(&self, cx: &'c Cx<'_>, s: &Step) -> Result<[Registers<'c>; 2], Fault> {
        let wide = T::WORDS == 2;
        Ok([Registers::of(cx, &s.src[0], wide)?, Registers::of(cx, &s.src[1], wide)?])
    }

    /// Reads and widens the elements of these lines of A and of B.
    // A loop over both operands, so that the code for every format is generated only once for each size.
    #[inline(always)]
    pub(super) fn read<'o, const N: usize>(
        &self,
        registers: &[Registers<'_>; 2],
        lines: [Range<usize>; 2],
        out: &'o mut [[[T::Sum; N]; STRETCH]; 2],
    ) -> [&'o mut [[T::Sum; N]]; 2] {
        let counts = [lines[0].len(), lines[1].len()];
        for (((input, registers), lines), out) in
            [&self.a, &self.b].into_iter().zip(registers).zip(lines).zip(out.iter_mut())
        {
            input.read(registers, lines, out);
        }
        let [a, b] = out;
        [&mut a[..counts[0]], &mut b[..counts[1]]]
    }
}

/// Computes acc + a * b, adding the products in ascending order of k and rounding once per product.
#[inline(always)]
pub(super) fn multiply<T: Acc, const FUSED: bool, const N: usize, const R: usize>(
    a: &[[T::Sum; N]],
    b: &[[T::Sum; N]],
    acc: &mut [[T; N]; N],
    exact_product: bool,
) {
    for (at, rows) in acc.as_chunks_mut::<R>().0.iter_mut().enumerate() {
        // The tile stays in registers throughout the loop.
        let mut tile = [[T::Sum::default(); N]; R];
        for (sum, acc) in tile.as_flattened_mut().iter_mut().zip(rows.as_flattened()) {
            *sum = acc.begin();
        }
        for (a, b) in a.iter().zip(b) {
            for (r, sum) in tile.iter_mut().enumerate() {
                T::Sum::steps::<FUSED>(sum, a[R * at + r], b, exact_product);
            }
        }
        for (acc, sum) in rows.as_flattened_mut().iter_mut().zip(tile.as_flattened()) {
            *acc = acc.end(*sum);
        }
    }
}

/// Splits `len` values of k, from `start` on, into ranges of at most `STRETCH` values.
pub(super) fn stretches(start: usize, len: usize) -> impl Iterator<Item = Range<usize>> {
    (start..start + len).step_by(STRETCH).map(move |at| at..(at + STRETCH).min(start + len))
}

/// Zeroed arrays for widened elements of A and B.
#[inline(always)]
pub(super) fn room<T: Sum, const N: usize>() -> [[[T; N]; STRETCH]; 2] {
    [[[T::default(); N]; STRETCH]; 2]
}

impl<T: Acc> Products<T> for Dense<T> {
    const ROWS: [u16; 2] = if T::WORDS == 1 { [4, 32] } else { [4, 16] };

    #[inline(always)]
    fn add<const FUSED: bool, const N: usize, const R: usize>(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        block: usize,
        acc: &mut [[T; N]; N],
    ) -> Result<(), Fault> {
        let k = usize::from(self.shape.k);
        let neg = self.negations;
        let registers = self.inputs(cx, s)?;
        let mut widened = room::<T::Sum, N>();
        for lines in stretches(block * k, k) {
            let [a, b] = self.read(&registers, [lines.clone(), lines], &mut widened);
            // Negating B has the same effect as negating A.
            if (neg ^ neg >> 1) & 1 == 1 {
                a.as_flattened_mut().iter_mut().for_each(|x| *x = x.negated());
            }
            multiply::<T, FUSED, N, R>(a, b, acc, self.exact_product);
        }
        Ok(())
    }
}

impl<T: Acc> Exec for Dense<T> {
    fn execute(&self, cx: &mut Cx<'_>, s: &Step) -> Done {
        host::run(Execution { dense: self, products: self, cx, s }).map(|_| ()).map_err(Box::new)
    }
}

/// Executes an instruction: reads C, adds the products of each block, and writes D.
pub(super) struct Execution<'e, 'c, T, P> {
    pub(super) dense: &'e Dense<T>,
    pub(super) products: &'e P,
    pub(super) cx: &'e mut Cx<'c>,
    pub(super) s: &'e Step,
}

impl<T: Acc, P: Products<T>> Work for Execution<'_, '_, T, P> {
    type Out = Outcome;

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) -> Outcome {
        match self.dense.shape.n {
            4 if P::ROWS[0] == 4 => self.sized::<FUSED, 4, 4>(),
            16 if T::WORDS == 1 => self.sized::<FUSED, 16, 4>(),
            16 => self.sized::<FUSED, 16, 2>(),
            32 if WIDE && P::ROWS[1] == 32 => self.sized::<FUSED, 32, 4>(),
            32 if P::ROWS[1] == 32 => self.sized::<FUSED, 32, 2>(),
            _ => Err(Fault::Unsupported("a matrix of this size")),
        }
    }
}

impl<T: Acc, P: Products<T>> Execution<'_, '_, T, P> {
    /// Executes the instruction for matrices of `N` rows and columns.
    #[inline(always)]
    fn sized<const FUSED: bool, const N: usize, const R: usize>(self) -> Outcome {
        let Execution { dense, products, cx, s } = self;
        // Matrix instructions ignore EXEC.
        let old = Src::Vector(s.vdst);
        let c = if dense.shape.sparse { &old } else { &s.src[2] };
        let registers = Registers::of(cx, c, T::WORDS == 2)?;
        let mut acc: Vec<[T; N]> = load(&registers, &dense.d_lines);
        if dense.negations >> 2 & 1 == 1 {
            acc.as_flattened_mut().iter_mut().for_each(|x| *x = x.negated());
        }
        let blocks = acc.as_chunks_mut::<N>().0.iter_mut().take(usize::from(dense.shape.blocks));
        for (block, acc) in blocks.enumerate() {
            products.add::<FUSED, N, R>(cx, s, block, acc)?;
        }
        store(cx, s, &dense.d_lines, &acc, dense.flush_result);
        Ok(Next::Fall)
    }
}

/// The rows of C. All of C is read before any of D is written, because D may overlap C, A or B.
// A `Vec` rather than an array: clearing an array of this size takes a tenth of the time of a matrix instruction, and these stores delay
// the loads.
#[inline(always)]
fn load<T: Acc, const N: usize>(registers: &Registers<'_>, lines: &[Line]) -> Vec<[T; N]> {
    let row = |line: &Line| {
        let low: [u32; N] = side_by_side(registers.get(line.register, false), *line);
        let high = if T::WORDS == 2 { side_by_side(registers.get(line.register, true), *line) } else { low };
        let mut row = [T::default(); N];
        for i in 0..N {
            row[i] = T::from_words(low[i], high[i]);
        }
        row
    };
    lines.iter().map(row).collect()
}

/// The dwords of a line, as a copy. Since stores to other memory cannot change the copy, the compiler can use wide vectors.
#[inline(always)]
fn side_by_side<const N: usize>(register: &Lanes, line: Line) -> [u32; N] {
    let mut words = [0; N];
    words.copy_from_slice(&register[line.lanes(N)]);
    words
}

/// Writes the rows of D.
#[inline(always)]
fn store<T: Acc, const N: usize>(cx: &mut Cx<'_>, s: &Step, lines: &[Line], rows: &[[T; N]], flush: bool) {
    for (row, line) in rows.iter().zip(lines) {
        let (mut low, mut high) = ([0; N], [0; N]);
        for i in 0..N {
            (low[i], high[i]) = row[i].finished(flush).into_words();
        }
        let slot = usize::from(s.vdst) + usize::from(line.register);
        cx.w.v[slot][line.lanes(N)].copy_from_slice(&low);
        if T::WORDS == 2 {
            cx.w.v[slot + 1][line.lanes(N)].copy_from_slice(&high);
        }
    }
}
