//! Choice of the target's instruction for a product of two factors.

use std::panic::Location;

use gcn_isa::layout::{self, Arrangement, Controls, ElemType, Layout, Matrix, Shape};
use gcn_isa::table::{InstDesc, Modifiers};
use gcn_isa::target::Subtarget;
use gcn_isa::{Target, TargetSet};

use super::{MfmaOptions, SparseIndex};
use crate::ir::{Call, Inst, Value};
use crate::lang::context::Context;
use crate::lang::matrix::operand::{here, is_format};
use crate::lang::with;

/// The shape and the formats of a product, for which an instruction is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lang::matrix) struct Product {
    pub formats: [ElemType; 3],
    /// M, N, K and the number of blocks.
    pub size: [usize; 4],
    pub sparse: bool,
    pub scaled: bool,
}

impl Product {
    /// The product of the `f8f6f4` instructions (gfx950), whose fields select the formats.
    pub fn f8f6f4(size: [usize; 4], scaled: bool) -> Product {
        let formats = [ElemType::F8f6f4, ElemType::F8f6f4, ElemType::F32];
        Product { formats, size, sparse: false, scaled }
    }

    /// The instruction of `on` for this product, with its shape; `None` if there is none.
    pub fn instruction(&self, on: Subtarget) -> Option<(&'static InstDesc, &'static Shape)> {
        layout::instructions_on(on).iter().find(|i| self.is(i.1)).copied()
    }

    fn is(&self, shape: &Shape) -> bool {
        let size: [usize; 4] = [shape.m.into(), shape.n.into(), shape.k.into(), shape.blocks.into()];
        self.has_formats(shape)
            && size == self.size
            && (shape.sparse, shape.scaled) == (self.sparse, self.scaled)
    }

    fn has_formats(&self, shape: &Shape) -> bool {
        let formats = [shape.a, shape.b, shape.acc];
        formats.into_iter().zip(self.formats).all(|(operand, language)| is_format(operand, language))
    }

    /// The targets that have an instruction for this product.
    pub fn targets(&self) -> TargetSet {
        Target::KNOWN.into_iter().filter(|t| self.instruction((*t).into()).is_some()).collect()
    }

    /// For an error message: the shapes on `on` that have the same element types.
    fn near(&self, on: Subtarget) -> String {
        let like = layout::instructions_on(on)
            .iter()
            .filter(|(_, s)| (s.sparse, s.scaled) == (self.sparse, self.scaled) && self.has_formats(s));
        let names: Vec<String> = like.map(|(_, s)| size([s.m, s.n, s.k, s.blocks.into()])).collect();
        names.join(", ")
    }

    fn missing(&self, on: Subtarget) -> String {
        let target = on.target;
        let [a, b, acc] = self.formats.map(ElemType::name);
        let [m, n, k, blocks] = self.size.map(|x| x as u16);
        let near = self.near(on);
        let near =
            if near.is_empty() { "has none for these types".to_owned() } else { format!("has {near}") };
        let firsts = self.targets().targets().filter(|target| target.is_first_of_its_set());
        let on: Vec<&str> = firsts.map(Target::name).collect();
        format!(
            "{target} has no matrix instruction of {} for {a} times {b} into {acc}; {target} {near}, and {} {} this one",
            size([m, n, k, blocks]),
            on.join(", "),
            if on.len() == 1 { "has" } else { "have" }
        )
    }
}

fn size([m, n, k, blocks]: [u16; 4]) -> String {
    match blocks {
        1 => format!("{m}x{n}x{k}"),
        _ => format!("{m}x{n}x{k} in {blocks} blocks"),
    }
}

/// Emits the instruction of `product`. `operands` are A, B, C and any further operands that the instruction reads;
/// `acc` is the accumulator that the result replaces.
pub(in crate::lang::matrix) fn multiply(
    product: Product,
    operands: &[Value],
    acc: Value,
    options: Result<(Controls, u8), String>,
    loc: &'static Location<'static>,
) -> Value {
    with(|context| {
        full_waves(context, loc);
        let target = context.target;
        let Some((row, shape)) = product.instruction(here(context)) else {
            context.fail(loc, product.missing(here(context)));
            return acc;
        };
        let (controls, negated) = match options {
            Ok(options) => options,
            Err(what) => {
                context.fail(loc, what);
                return acc;
            }
        };
        // On RDNA a separate field, not `abid`, selects the set of a sparse instruction's index.
        let controls = match shape.arrangement {
            Arrangement::Mfma => controls,
            _ if shape.sparse => Controls { index_key: controls.abid, abid: 0, ..controls },
            _ => controls,
        };
        let judged = Controls { blgp: controls.blgp | negated, ..controls };
        if (shape.arrangement == Arrangement::Mfma || shape.sparse)
            && let Err(fault) = Layout::new(row, target, Matrix::D, judged)
        {
            context.fail(loc, fault.to_string());
            return acc;
        }
        if controls.blgp != 0 && shape.negates || negated != 0 && !shape.negates {
            let what = format!(
                "{} on {target} does not {}",
                row.mnemonic,
                if negated == 0 { "permute B" } else { "negate: f64 instructions do, since gfx942" }
            );
            context.fail(loc, what);
            return acc;
        }
        let ty = context.builder.kernel().ty(acc);
        let mut call = Call::plain(row.mnemonic, operands.iter().copied(), ty);
        call.arg_mods.neg = negated;
        give(&mut call, controls);
        // The integer WMMA instructions have a modifier that makes 8-bit and 4-bit elements signed.
        let signed = [shape.a, shape.b].map(|format| matches!(format, ElemType::Iu8 | ElemType::Iu4));
        if signed.contains(&true) {
            call.given.mods.neg_lo = u8::from(signed[0]) | u8::from(signed[1]) << 1;
            call.given.set |= Modifiers::NEG_LO;
        }
        context.value(Inst::Machine(Box::new(call)), ty, loc)
    })
}

/// Sets the instruction's fields that are not at their default.
fn give(call: &mut Call, controls: Controls) {
    let given = &mut call.given;
    let mods = &mut given.mods;
    let bits = |shift: u8| (controls.scale_a >> shift & 1) | (controls.scale_b >> shift & 1) << 1;
    let fields = [
        (Modifiers::CBSZ, &mut mods.cbsz, controls.cbsz),
        (Modifiers::ABID, &mut mods.abid, controls.abid),
        (Modifiers::BLGP, &mut mods.blgp, controls.blgp),
        (Modifiers::INDEX_KEY, &mut mods.index_key, controls.index_key),
        (Modifiers::OP_SEL, &mut mods.op_sel, bits(0)),
        (Modifiers::OP_SEL_HI, &mut mods.op_sel_hi, bits(1)),
    ];
    for (flag, field, value) in fields {
        if value != 0 {
            *field = value;
            given.set |= flag;
        }
    }
}

fn full_waves(context: &mut Context, loc: &'static Location<'static>) {
    let lanes: u32 = context.workgroup.iter().product();
    let wave = context.wave.lanes();
    if !lanes.is_multiple_of(wave) {
        let message = format!(
            "matrix instructions need full waves, but the workgroup of {lanes} is not a multiple of {wave}"
        );
        context.fail(loc, message);
    }
}

/// Emits a dense product: the operands in assembly order are A, B, C.
pub(in crate::lang::matrix) fn dense(
    product: Product,
    [a, b, c]: [Value; 3],
    options: MfmaOptions,
    loc: &'static Location<'static>,
) -> Value {
    multiply(product, &[a, b, c], c, options.controls(), loc)
}

/// Emits a sparse product. The instruction reads and writes its accumulator, which therefore comes first.
pub(in crate::lang::matrix) fn sparse(
    product: Product,
    [a, b, c]: [Value; 3],
    index: SparseIndex,
    loc: &'static Location<'static>,
) -> Value {
    let controls = Controls { abid: index.set, ..Controls::default() };
    multiply(product, &[c, a, b, index.value().value], c, Ok((controls, 0)), loc)
}
