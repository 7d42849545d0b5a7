//! Matrix instructions of RDNA: WMMA and SWMMAC.
//!
//! Numerics. The details of the hardware's arithmetic are not public: neither the order nor the width of its additions has been published,
//! and on gfx11.5 they are known to differ from f32 additions. Here products are added to C in ascending order of k, each step a fused
//! multiply-add in f32; 16-bit results are rounded once, at the end. Denormals are kept regardless of MODE, and NaN results are the default
//! NaN. Integers are exact and wrap around, or saturate with `clamp`. EXEC is ignored.

use std::sync::Arc;

use gcn_isa::layout::{ElemType, ElementPlace, Matrix, Shape, shape, shape_on};
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
use crate::fp::{NAN32, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, fma32_each};

/// The number of rows and columns.
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
    let shape = |wave| Subtarget::new(target, wave).and_then(|on| shape_on(inst.desc, on));
    // The shapes for the wave sizes of the target differ only in the places of the elements.
    let shapes: Option<Vec<_>> = target.wave_sizes().iter().map(|wave| shape(*wave)).collect();
    let layouts = |shapes: &[&'static Shape]| {
        shapes.iter().map(|shape| Some((shape.wave, Layout::new(shape)?))).collect::<Option<Vec<_>>>()
    };
    let known = shapes.and_then(|shapes| Some((*shapes.first()?, layouts(&shapes)?)));
    Some(match known {
        Some((shape, layouts)) => Ok(Arc::new(WaveMatrix { shape, layouts, target })),
        None => Err(NO_LAYOUT.to_owned()),
    })
}

/// The places of the elements in the registers of waves of one size.
struct Layout {
    /// The places of A's elements, by k and then by row.
    a: Vec<[ElementPlace; N]>,
    /// The places of B's elements, by k and then by column.
    b: Vec<[ElementPlace; N]>,
    /// The places of C's and D's elements, by row and then by column.
    acc: [[ElementPlace; N]; N],
    /// The places of the indices, by group of four k and then by row.
    index: Vec<[ElementPlace; N]>,
    index_set_bits: u8,
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
        let rows: Vec<_> =
            (0..N).map(|row| line(&|col| place(Matrix::D, row, col))).collect::<Option<_>>()?;
        Some(Layout {
            a: (0..k).map(|k| line(&|row| place(Matrix::A, row, k))).collect::<Option<_>>()?,
            b: (0..k).map(|k| line(&|col| place(Matrix::B, k, col))).collect::<Option<_>>()?,
            acc: rows.try_into().ok()?,
            index: groups.map(|k| line(&|row| place(Matrix::Index, row, k))).collect::<Option<_>>()?,
            index_set_bits: if shape.sparse { shape.index_set_bits() } else { 0 },
        })
    }
}

struct WaveMatrix {
    shape: &'static Shape,
    /// For each wave size of the target.
    layouts: Vec<(WaveSize, Layout)>,
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
                let register = self.1.get(usize::from(place.register));
                let word = register.ok_or(Fault::Unsupported("a matrix operand beyond the VGPRs"))?;
                Ok(word[usize::from(place.lane)] >> place.low_bit & mask)
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
        decode: impl Fn(u32) -> T,
    ) -> Result<Tile<T>, Fault> {
        let (source, ty, shift) = (self.acc_source(s), self.shape.acc, self.acc_shift(s));
        let registers = Registers::of(cx, &source);
        let mut tile = [[T::default(); N]; N];
        for (values, places) in tile.iter_mut().zip(&self.layout(cx.w.size()).acc) {
            for (value, place) in values.iter_mut().zip(places) {
                let place = ElementPlace { low_bit: place.low_bit + shift, ..*place };
                *value = decode(registers.get(place, ty)?);
            }
        }
        Ok(tile)
    }

    fn write(&self, cx: &mut Cx<'_>, s: &Step, bits: impl Fn(usize, usize) -> u32) {
        let shift = self.acc_shift(s);
        for (row, places) in self.layout(cx.w.size()).acc.iter().enumerate() {
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
        decode: [&dyn Fn(u32, usize) -> T; 2],
    ) -> Result<[[[T; N]; K]; 2], Fault> {
        let layout = self.layout(cx.w.size());
        let mut tiles = [[[T::default(); N]; K]; 2];
        let registers = Registers::of(cx, &s.src[1]);
        for (k, places) in layout.b.iter().enumerate() {
            for (value, place) in tiles[1][k].iter_mut().zip(places) {
                *value = decode[1](registers.get(*place, self.shape.b)?, k);
            }
        }
        let registers = Registers::of(cx, &s.src[0]);
        if !self.shape.sparse {
            for (k, places) in layout.a.iter().enumerate() {
                for (value, place) in tiles[0][k].iter_mut().zip(places) {
                    *value = decode[0](registers.get(*place, self.shape.a)?, k);
                }
            }
            return Ok(tiles);
        }
        let indices = Registers::of(cx, &s.src[2]);
        let shift = layout.index_set_bits * s.inst.mods.index_key;
        if u32::from(shift) + u32::from(layout.index_set_bits) > 32 {
            return Err(Fault::Unsupported("an index_key beyond the index register"));
        }
        for (group, places) in layout.index.iter().enumerate() {
            for (row, place) in places.iter().enumerate() {
                let place = ElementPlace { low_bit: place.low_bit + shift, ..*place };
                let index = indices.get(place, ElemType::I32)?;
                let pair = layout.a[4 * group][row];
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
        let [a, b] = self.inputs(cx, s, [&a, &b])?;
        let (of_acc, signs) = (widen(self.shape.acc), Signs::of(s, 2));
        // For C, the modifiers have the same meaning as for scalar operands: neg_lo negates, and neg_hi takes the absolute value.
        let acc = |bits: u32| {
            let value = of_acc(bits);
            let value = if signs.high { value.abs() } else { value };
            if signs.low { -value } else { value }
        };
        let mut tile = self.accumulators(cx, s, acc)?;
        host::run(Multiply { a: &a, b: &b, k: usize::from(self.shape.k), tile: &mut tile });
        self.write(cx, s, |row, col| {
            let sum = tile[row][col];
            let sum = if sum.is_nan() { f32::from_bits(NAN32) } else { sum };
            match self.shape.acc {
                ElemType::F16 => f32_to_f16(sum).into(),
                ElemType::Bf16 => f32_to_bf16(sum).into(),
                _ => sum.to_bits(),
            }
        });
        Ok(())
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
        let [a, b] = self.inputs(cx, s, [&a, &b])?;
        let mut tile = self.accumulators(cx, s, |bits| i64::from(bits as i32))?;
        for (a, b) in a.iter().zip(&b).take(usize::from(self.shape.k)) {
            for (row, a) in tile.iter_mut().zip(a) {
                row.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
            }
        }
        let clamp = s.inst.mods.clamp;
        self.write(cx, s, |row, col| {
            let sum = tile[row][col];
            (if clamp { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum }) as u32
        });
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
    is_wave_matrix(row) && shape(row, target).is_some()
}
