//! Matrix instructions of RDNA: WMMA and SWMMAC.
//!
//! Numerics. The details of the hardware's arithmetic are not public: neither the order nor the width of its additions has been published,
//! and on gfx11.5 they are known to differ from f32 additions. Here products are added to C in ascending order of k, each step a fused
//! multiply-add in f32; 16-bit results are rounded once, at the end. Denormals are kept regardless of MODE, and NaN results are the default
//! NaN. Integers are exact and wrap around, or saturate with `clamp`. EXEC is ignored.
//!
//! Scaled products (gfx12.5) are exact. They are added in the same order, and each addition is rounded once.

use std::ops::Range;
use std::sync::Arc;

use gcn_isa::layout::{ElemType, ElementPlace, Matrix, Shape, described_on};
use gcn_isa::table::Class;
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_isa::{Inst, InstDesc, Target};

use crate::core::fault::{Done, Fault};
use crate::core::machine::{Cx, Exec, Step};
use crate::core::operand::Src;
use crate::core::value::Ty;
use crate::core::wave::Lanes;
use crate::fp::host::{self, Work};
use crate::fp::small::{Small, Widening};
use crate::fp::{NAN32, add_exact, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, fma32_each};

/// The number of columns, and of rows that are computed together.
const N: usize = 16;
/// The largest size of the k dimension.
const K: usize = 128;

/// The reason why an instruction without a known layout is refused.
pub(crate) const NO_LAYOUT: &str = "where the elements of its operands are on this target is not modelled";

type Tile<T> = [[T; N]; N];

/// The function of an RDNA matrix instruction; `None` for other instructions.
pub(crate) fn exec(inst: &Inst, target: Target) -> Option<Result<Arc<dyn Exec>, String>> {
    if !is_wave_matrix(inst.desc) {
        return None;
    }
    let described = |wave| Subtarget::new(target, wave).and_then(|on| described_on(inst.desc, on));
    // The shapes for the wave sizes of the target differ only in the places of the elements.
    let shapes: Option<Vec<&Shape>> = target.wave_sizes().iter().map(|wave| described(*wave)).collect();
    let Some(shapes) = shapes else { return Some(Err(NO_LAYOUT.to_owned())) };
    Some(of_shapes(inst, target, &shapes))
}

fn of_shapes(inst: &Inst, target: Target, shapes: &[&Shape]) -> Result<Arc<dyn Exec>, String> {
    let formats = (inst.mods.cbsz, inst.mods.blgp);
    let chosen = |shape: &&Shape| shape.with_formats(formats.0, formats.1);
    let shapes: Option<Vec<Shape>> = shapes.iter().map(chosen).collect();
    let shapes = shapes.ok_or("matrix_a_fmt or matrix_b_fmt names no format")?;
    let shape = *shapes.first().ok_or(NO_LAYOUT)?;
    if shape.formats_chosen && !shape.scaled && (shape.a.bits() == Some(8)) != (shape.b.bits() == Some(8)) {
        return Err(MIXED_WIDTHS.to_owned());
    }
    let layouts = shapes.iter().map(|shape| Some((shape.wave, Layout::new(shape)?)));
    let layouts = layouts.collect::<Option<Vec<_>>>().ok_or(NO_LAYOUT)?;
    let scales = if shape.scaled { Some(Scales::of(inst, &shape, target)?) } else { None };
    Ok(Arc::new(WaveMatrix { shape, layouts, scales, target }))
}

/// The reason why an unscaled product of elements of 8 and of fewer bits is refused. Without such a mixture, the layouts differ only in the
/// order of `k`, which does not affect the result.
const MIXED_WIDTHS: &str = "which elements of 8 bits meet which of 4 or 6 bits is not modelled without scales: AMD's emulator places them \
                            differently than with scales";

/// The scales of A and B.
struct Scales {
    /// The places of A's scales by row, and of B's by column; of each, those of consecutive blocks of `k`.
    places: [Vec<Vec<ElementPlace>>; 2],
    formats: [ScaleFormat; 2],
    /// The number of consecutive `k` that share a scale.
    block: usize,
}

#[derive(Clone, Copy)]
enum ScaleFormat {
    /// A power of two (e8m0).
    Power,
    /// An 8-bit float with 4 bits of exponent.
    Float(Widening),
}

impl Scales {
    /// # Errors
    /// The reason, if the simulator does not know the format of the scales.
    fn of(inst: &Inst, shape: &Shape, target: Target) -> Result<Scales, String> {
        let mods = &inst.mods;
        let format = |code: u8| match code {
            0 => Ok(ScaleFormat::Power),
            2 => Ok(ScaleFormat::Float(Widening::of(Small::fp8(target)))),
            _ => Err("scales with five bits of exponent are not modelled".to_owned()),
        };
        // Scales of 16 rows or columns are in either half of the lanes.
        let first = |rows: u16, selected: u8| if usize::from(rows) > N { 0 } else { selected * N as u8 };
        let places = |matrix, rows: u16, selected: u8| -> Option<Vec<Vec<ElementPlace>>> {
            let blocks = shape.k / shape.scale_block;
            let place = |row: u16, block: u16| {
                let (row, col) = if matrix == Matrix::ScaleA { (row, block) } else { (block, row) };
                let place = shape.place(matrix, 0, row, col)?;
                Some(ElementPlace { lane: place.lane + first(rows, selected), ..place })
            };
            (0..rows).map(|row| (0..blocks).map(|block| place(row, block)).collect()).collect()
        };
        Ok(Scales {
            places: [
                places(Matrix::ScaleA, shape.m, mods.matrix_a_scale).ok_or(NO_LAYOUT)?,
                places(Matrix::ScaleB, shape.n, mods.matrix_b_scale).ok_or(NO_LAYOUT)?,
            ],
            formats: [format(mods.matrix_a_scale_fmt)?, format(mods.matrix_b_scale_fmt)?],
            block: shape.scale_block.into(),
        })
    }

    /// The scales of A or B: by row or column, those of consecutive blocks.
    fn values(&self, cx: &Cx<'_>, s: &Step, which: usize) -> Result<Vec<Vec<f64>>, Fault> {
        let source = s.scales[which];
        let registers = Registers::of(cx, &source);
        let value = |place: &ElementPlace| -> Result<f64, Fault> {
            let code = match source {
                Src::Vector(_) => registers.get(*place, ElemType::E8m0)?,
                // An SGPR has the same scales for every row.
                Src::Scalar(first) => {
                    cx.w.s[usize::from(first) + usize::from(place.register)] >> place.low_bit & 0xff
                }
                _ => return Err(Fault::Unsupported("a constant as the scale of a matrix")),
            };
            Ok(match self.formats[which] {
                ScaleFormat::Power if code == 0xff => f64::NAN,
                ScaleFormat::Power => f64::from_bits(u64::from(code + 1023 - 127) << 52),
                ScaleFormat::Float(widening) => widening.value(code).into(),
            })
        };
        self.places[which].iter().map(|blocks| blocks.iter().map(value).collect()).collect()
    }

    /// Adds the scaled products of a part of the rows to `tile`.
    fn multiply(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        (rows, k): (Range<usize>, usize),
        [a, b]: &[[[f32; N]; K]; 2],
        tile: &mut Tile<f32>,
    ) -> Result<(), Fault> {
        let (of_a, of_b) = (self.values(cx, s, 0)?, self.values(cx, s, 1)?);
        for k in 0..k {
            let block = k / self.block;
            for ((row, sums), scale_a) in tile.iter_mut().enumerate().zip(&of_a[rows.clone()]) {
                for ((col, sum), scale_b) in sums.iter_mut().enumerate().zip(&of_b) {
                    let product = f64::from(a[k][row]) * f64::from(b[k][col]);
                    *sum = add_exact(*sum, product * (scale_a[block] * scale_b[block]));
                }
            }
        }
        Ok(())
    }
}

/// The places of the elements in the registers of waves of one size.
struct Layout {
    /// The places of B's elements, by k and then by column.
    b: Vec<[ElementPlace; N]>,
    /// The places of the elements of every 16 rows.
    rows: Vec<Rows>,
    index_set_bits: u8,
    /// The number of bits of the index operand.
    index_bits: u16,
}

/// The places of the elements of 16 rows.
struct Rows {
    /// The first of the rows.
    first: usize,
    /// The places of A's elements, by k and then by row.
    a: Vec<[ElementPlace; N]>,
    /// The places of C's and D's elements, by row and then by column.
    acc: [[ElementPlace; N]; N],
    /// The places of the indices, by group of four k and then by row.
    index: Vec<[ElementPlace; N]>,
}

impl Layout {
    fn new(shape: &Shape) -> Option<Layout> {
        let place = |matrix, row: usize, col: usize| shape.place(matrix, 0, row as u16, col as u16);
        let line = |at: &dyn Fn(usize) -> Option<ElementPlace>| {
            let places: Vec<_> = (0..N).map(at).collect::<Option<_>>()?;
            <[ElementPlace; N]>::try_from(places).ok()
        };
        let k = usize::from(shape.k);
        let groups = if shape.sparse { (0..k).step_by(4) } else { (0..0).step_by(4) };
        let rows = |first: usize| -> Option<Rows> {
            let results = (first..first + N).map(|row| line(&|col| place(Matrix::D, row, col)));
            let index = groups.clone().map(|k| line(&|row| place(Matrix::Index, first + row, k)));
            Some(Rows {
                first,
                a: (0..k).map(|k| line(&|row| place(Matrix::A, first + row, k))).collect::<Option<_>>()?,
                acc: results.collect::<Option<Vec<_>>>()?.try_into().ok()?,
                index: index.collect::<Option<_>>()?,
            })
        };
        Some(Layout {
            b: (0..k).map(|k| line(&|col| place(Matrix::B, k, col))).collect::<Option<_>>()?,
            rows: (0..shape.m.into()).step_by(N).map(rows).collect::<Option<_>>()?,
            index_set_bits: if shape.sparse { shape.index_set_bits() } else { 0 },
            index_bits: 32 * u16::from(shape.registers(Matrix::Index).unwrap_or(0)),
        })
    }
}

struct WaveMatrix {
    shape: Shape,
    /// For each wave size of the target.
    layouts: Vec<(WaveSize, Layout)>,
    scales: Option<Scales>,
    target: Target,
}

/// The sign modifiers of an operand.
#[derive(Clone, Copy)]
struct Signs {
    /// The operand's bit of `neg_lo`, and that of `neg_hi`.
    low: bool,
    high: bool,
}

impl Signs {
    fn of(s: &Step, i: u32) -> Signs {
        Signs { low: s.inst.mods.neg_lo >> i & 1 == 1, high: s.inst.mods.neg_hi >> i & 1 == 1 }
    }
}

/// Reads the bits of an operand's elements by their places.
struct Registers<'c>(&'c Src, &'c [Lanes]);

impl<'c> Registers<'c> {
    fn of(cx: &'c Cx<'_>, src: &'c Src) -> Registers<'c> {
        match src {
            Src::Vector(slot) => Registers(src, &cx.w.v[usize::from(*slot)..]),
            _ => Registers(src, &[]),
        }
    }

    /// The element at a place. A constant has the same element at every place.
    fn get(&self, place: ElementPlace, ty: ElemType) -> Result<u32, Fault> {
        let mask = u32::MAX >> (32 - place.bits);
        match self.0 {
            Src::Vector(_) => {
                let word = |register: u8| {
                    let register = self.1.get(usize::from(register));
                    let word = register.ok_or(Fault::Unsupported("a matrix operand beyond the VGPRs"))?;
                    Ok::<u64, Fault>(word[usize::from(place.lane)].into())
                };
                let mut bits = word(place.register)?;
                // An element of 6 bits may continue in the next register.
                if place.low_bit + place.bits > 32 {
                    bits |= word(place.register + 1)? << 32;
                }
                Ok((bits >> place.low_bit) as u32 & mask)
            }
            Src::Const(c) => Ok(match ty {
                ElemType::F16 => c.narrow(Ty::F16),
                ElemType::Bf16 => c.packed_bf16() & 0xffff,
                _ => c.narrow(Ty::B32),
            }),
            _ => Err(Fault::Unsupported("a matrix operand of this kind")),
        }
    }
}

impl WaveMatrix {
    fn layout(&self, lanes: usize) -> &Layout {
        let of_wave = self.layouts.iter().find(|(wave, _)| wave.lanes() as usize == lanes);
        // A wave has one of the sizes of its target.
        &of_wave.unwrap_or(&self.layouts[0]).1
    }

    /// The operand C: source 2, or the destination in a sparse instruction.
    fn acc_source(&self, s: &Step) -> Src {
        if self.shape.sparse { Src::Vector(s.vdst) } else { s.src[2] }
    }

    /// The bit position of 16-bit elements in the registers of C and D on RDNA 3, which depends on `op_sel`.
    fn acc_shift(&self, s: &Step) -> u8 {
        if s.inst.mods.op_sel >> 2 & 1 == 1 { 16 } else { 0 }
    }

    fn accumulators<T: Copy + Default>(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        rows: &Rows,
        decode: impl Fn(u32) -> T,
    ) -> Result<Tile<T>, Fault> {
        let (source, ty, shift) = (self.acc_source(s), self.shape.acc, self.acc_shift(s));
        let registers = Registers::of(cx, &source);
        let mut tile = [[T::default(); N]; N];
        for (values, places) in tile.iter_mut().zip(&rows.acc) {
            for (value, place) in values.iter_mut().zip(places) {
                let place = ElementPlace { low_bit: place.low_bit + shift, ..*place };
                *value = decode(registers.get(place, ty)?);
            }
        }
        Ok(tile)
    }

    fn write(&self, cx: &mut Cx<'_>, s: &Step, rows: &Rows, bits: impl Fn(usize, usize) -> u32) {
        let shift = self.acc_shift(s);
        for (row, places) in rows.acc.iter().enumerate() {
            for (col, place) in places.iter().enumerate() {
                let mask = u32::MAX >> (32 - place.bits) << (place.low_bit + shift);
                let slot = usize::from(s.vdst) + usize::from(place.register);
                if let Some(register) = cx.w.v.get_mut(slot) {
                    let word = &mut register[usize::from(place.lane)];
                    *word = *word & !mask | bits(row, col) << (place.low_bit + shift);
                }
            }
        }
    }

    /// The elements of A and B, by k. A sparse A is expanded with zeros.
    fn inputs<T: Copy + Default>(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        (layout, rows): (&Layout, &Rows),
        decode: [&dyn Fn(u32, usize) -> T; 2],
    ) -> Result<[[[T; N]; K]; 2], Fault> {
        let mut tiles = [[[T::default(); N]; K]; 2];
        let registers = Registers::of(cx, &s.src[1]);
        for (k, places) in layout.b.iter().enumerate() {
            for (value, place) in tiles[1][k].iter_mut().zip(places) {
                *value = decode[1](registers.get(*place, self.shape.b)?, k);
            }
        }
        let registers = Registers::of(cx, &s.src[0]);
        if !self.shape.sparse {
            for (k, places) in rows.a.iter().enumerate() {
                for (value, place) in tiles[0][k].iter_mut().zip(places) {
                    *value = decode[0](registers.get(*place, self.shape.a)?, k);
                }
            }
            return Ok(tiles);
        }
        let indices = Registers::of(cx, &s.src[2]);
        let shift = layout.index_set_bits * s.inst.mods.index_key;
        if u16::from(shift) + u16::from(layout.index_set_bits) > layout.index_bits {
            return Err(Fault::Unsupported("an index_key beyond the index register"));
        }
        for (group, places) in rows.index.iter().enumerate() {
            for (row, place) in places.iter().enumerate() {
                let place = ElementPlace { low_bit: place.low_bit + shift, ..*place };
                let index = indices.get(place, ElemType::I32)?;
                let pair = rows.a[4 * group][row];
                for second in 0..2 {
                    let bits = pair.bits / 2;
                    let element = ElementPlace { low_bit: pair.low_bit + bits * second, bits, ..pair };
                    let k = 4 * group + (index >> (2 * second) & 3) as usize;
                    tiles[0][k][row] = decode[0](registers.get(element, self.shape.a)?, usize::from(second));
                }
            }
        }
        Ok(tiles)
    }

    fn run_floats(&self, cx: &mut Cx<'_>, s: &Step) -> Result<(), Fault> {
        let widen = |ty: ElemType| self.widening(ty);
        let (of_a, of_b) = (widen(self.shape.a), widen(self.shape.b));
        let [signs_a, signs_b] = [Signs::of(s, 0), Signs::of(s, 1)];
        // neg_lo negates the elements in lower halves of registers and those of 32 bits, and neg_hi those in upper halves.
        let signed = |value: f32, signs: Signs, k: usize| {
            if if k.is_multiple_of(2) { signs.low } else { signs.high } { -value } else { value }
        };
        let modified = |ty: ElemType, value: f32, signs: Signs, k: usize| match ty.bits() {
            Some(16) => signed(value, signs, k),
            Some(32) => signed(value, signs, 0),
            _ => value,
        };
        let a = |bits: u32, k: usize| modified(self.shape.a, of_a(bits), signs_a, k);
        let b = |bits: u32, k: usize| modified(self.shape.b, of_b(bits), signs_b, k);
        let (of_acc, signs) = (widen(self.shape.acc), Signs::of(s, 2));
        // For C, the modifiers have the same meaning as for scalar operands: neg_lo negates, and neg_hi takes the absolute value.
        let acc = |bits: u32| {
            let value = of_acc(bits);
            let value = if signs.high { value.abs() } else { value };
            if signs.low { -value } else { value }
        };
        let layout = self.layout(cx.w.size());
        let k = usize::from(self.shape.k);
        let mut tiles = Vec::with_capacity(layout.rows.len());
        for rows in &layout.rows {
            let inputs = self.inputs(cx, s, (layout, rows), [&a, &b])?;
            let mut tile = self.accumulators(cx, s, rows, acc)?;
            match &self.scales {
                Some(scales) => {
                    scales.multiply(cx, s, (rows.first..rows.first + N, k), &inputs, &mut tile)?;
                }
                None => host::run(Multiply { a: &inputs[0], b: &inputs[1], k, tile: &mut tile }),
            }
            tiles.push((rows, tile));
        }
        // All operands are read before any part of the result is written, because they may be in the same registers.
        for (rows, tile) in tiles {
            self.write_floats(cx, s, rows, &tile);
        }
        Ok(())
    }

    fn write_floats(&self, cx: &mut Cx<'_>, s: &Step, rows: &Rows, tile: &Tile<f32>) {
        self.write(cx, s, rows, |row, col| {
            let sum = tile[row][col];
            let sum = if sum.is_nan() { f32::from_bits(NAN32) } else { sum };
            match self.shape.acc {
                ElemType::F16 => f32_to_f16(sum).into(),
                ElemType::Bf16 => f32_to_bf16(sum).into(),
                _ => sum.to_bits(),
            }
        });
    }

    fn widening(&self, ty: ElemType) -> Box<dyn Fn(u32) -> f32> {
        match ty {
            ElemType::F16 => Box::new(|bits| f16_to_f32(bits as u16)),
            ElemType::Bf16 => Box::new(|bits| bf16_to_f32(bits as u16)),
            _ => match Small::of(ty, self.target).map(Widening::of) {
                Some(widening) => Box::new(move |bits| widening.value(bits)),
                None => Box::new(f32::from_bits),
            },
        }
    }

    fn run_integers(&self, cx: &mut Cx<'_>, s: &Step) -> Result<(), Fault> {
        let unused = 32 - u32::from(self.shape.a.bits().unwrap_or(32));
        let decode = |signed: bool| {
            move |bits: u32, _: usize| {
                let top = bits << unused;
                if signed { i64::from(top as i32 >> unused) } else { i64::from(top >> unused) }
            }
        };
        let (a, b) = (decode(Signs::of(s, 0).low), decode(Signs::of(s, 1).low));
        let layout = self.layout(cx.w.size());
        let clamp = s.inst.mods.clamp;
        // No integer instruction has more than 16 rows, so the result is written after all operands have been read.
        for rows in &layout.rows {
            let [a, b] = self.inputs(cx, s, (layout, rows), [&a, &b])?;
            let mut tile = self.accumulators(cx, s, rows, |bits| i64::from(bits as i32))?;
            for (a, b) in a.iter().zip(&b).take(usize::from(self.shape.k)) {
                for (row, a) in tile.iter_mut().zip(a) {
                    row.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
                }
            }
            self.write(cx, s, rows, |row, col| {
                let sum = tile[row][col];
                (if clamp { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum }) as u32
            });
        }
        Ok(())
    }
}

/// Adds the products in ascending order of k.
struct Multiply<'a> {
    a: &'a [[f32; N]; K],
    b: &'a [[f32; N]; K],
    k: usize,
    tile: &'a mut Tile<f32>,
}

impl Work for Multiply<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) {
        for (a, b) in self.a.iter().zip(self.b).take(self.k) {
            for (row, a) in self.tile.iter_mut().zip(a) {
                if FUSED {
                    row.iter_mut().zip(b).for_each(|(sum, b)| *sum = a.mul_add(*b, *sum));
                } else {
                    fma32_each(row, |col| (*a, b[col]));
                }
            }
        }
    }
}

impl Exec for WaveMatrix {
    fn execute(&self, cx: &mut Cx<'_>, s: &Step) -> Done {
        if self.shape.acc == ElemType::I32 {
            self.run_integers(cx, s)?;
        } else {
            self.run_floats(cx, s)?;
        }
        Ok(())
    }
}

/// True for an RDNA matrix instruction.
pub(crate) fn is_wave_matrix(row: &InstDesc) -> bool {
    matches!(row.class, Class::Wmma | Class::Swmmac)
}

/// True for an RDNA matrix instruction whose layout on `target` is known.
pub(crate) fn is_known(row: &InstDesc, target: Target) -> bool {
    is_wave_matrix(row)
        && target
            .wave_sizes()
            .iter()
            .all(|wave| Subtarget::new(target, *wave).is_some_and(|on| described_on(row, on).is_some()))
}
