//! Test programs of the suite `matrix`: one matrix instruction in the harness of `bench`.

use gcn_emit::encode::encode_inst;
use gcn_isa::layout::{self, Controls, Layout, Matrix};
use gcn_isa::mods::Modifiers;
use gcn_isa::operand::Inline;
use gcn_isa::table::{InstDesc, OperandKinds};
use gcn_isa::{Inst, Operand, Target};

use crate::bench::{Bench, Surroundings, plain};
use crate::builder::Builder;
use crate::case::{Case, mode, modify, print, special};
use crate::form::Form;
use crate::launch::LANES;
use crate::random::Random;

/// The matrix instructions of `target` whose layout is known.
pub fn forms(target: Target) -> Vec<Form> {
    Form::all(target).filter(|form| layout::shape_on(form.row, form.on).is_some()).collect()
}

/// Program number `variant` for a form. Variant 0 has the form's default modifiers, rounds to nearest, keeps denormals, and multiplies
/// ordinary values. In the others, modifiers, MODE and the accumulator are random, and the inputs contain no special values, a few of them,
/// or mostly special values. `rounded` allows directed rounding.
///
/// # Errors
/// The error of the encoder or the linker, if no program could be made.
pub fn case(form: Form, seed: u64, variant: u32, rounded: bool) -> Result<Case, String> {
    let Form { row, on } = form;
    let mut random = Random::of(seed, &form.name(), variant);
    let inst = instruction(row, on.target, &mut random, variant > 0)?;
    let mode = mode(variant, rounded, &mut random);
    // Not always: if every input is special, most sums are NaN or infinite.
    let specials = if variant == 0 { 0 } else { random.one_of(&[0, 1, 64]) };
    let mut bench = Bench::new(on, &[&inst], &[], &[], &mut random);
    if !row.is_matrix() {
        // WMMA is defined only if every lane is active (RDNA3 ISA, *WMMA*).
        bench = bench.with_all_lanes();
    }
    let bench = bench.with_vectors(|| match random.below(64) < specials {
        true => special(&mut random),
        false => plain(&mut random),
    });
    let instruction = print(&inst, on);
    let body = format!("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), {mode:#x}\ns_nop 7\n{instruction}");
    let launch =
        bench.launch(&body, Surroundings::Alone).map_err(|error| format!("{instruction}: {error}"))?;
    Ok(Case { instruction, mode, launch, bench: Some(bench) })
}

/// An instruction of the form that the encoder accepts, with random modifiers if `varied`.
fn instruction(
    row: &'static InstDesc,
    target: Target,
    random: &mut Random,
    varied: bool,
) -> Result<Inst, String> {
    const TRIES: usize = 8; // the one after them is plain
    let mut refusal = "its operands have no registers".to_owned();
    for attempt in 0..=TRIES {
        let varied = varied && attempt < TRIES;
        let Some(mut inst) = Builder::default().inst(row, target, random, false, varied) else { continue };
        if varied {
            vary(&mut inst, target, random);
        }
        match encode_inst(&inst, target) {
            Ok(_) => return Ok(inst),
            Err(error) => refusal = error.to_string(),
        }
    }
    Err(refusal)
}

/// Chooses random modifiers among those whose effect is documented for the instruction, and an accumulator that is the destination or a
/// constant.
fn vary(inst: &mut Inst, target: Target, random: &mut Random) {
    let Some(shape) = layout::shape(inst.desc, target) else { return };
    if !inst.desc.is_matrix() {
        // WMMA has the modifiers of packed math.
        modify(inst, random);
    }
    let mods = &mut inst.mods;
    let takes = |flag| inst.desc.modifiers.contains(flag);
    if shape.formats_chosen {
        (mods.cbsz, mods.blgp) = (random.below(5) as u8, random.below(5) as u8);
        mods.op_sel = random.below(4) as u8;
    } else if shape.sparse && takes(Modifiers::ABID) {
        // An index set has four bits for each group of four elements of A that a lane holds.
        let bits = usize::from(shape.k) * usize::from(shape.m) / LANES as usize;
        mods.abid = random.below((u32::BITS as usize / bits.max(1)).max(1)) as u8;
    } else {
        if shape.broadcasts_a {
            mods.cbsz = random.below(shape.blocks.ilog2() as usize + 1) as u8;
            mods.abid = random.below(1 << mods.cbsz) as u8;
        }
        if shape.permutes_b || shape.negates {
            mods.blgp = random.below(8) as u8;
        }
    }
    let controls = Controls::of(&inst.mods);
    for (name, matrix) in [("src0", Matrix::A), ("src1", Matrix::B)] {
        let registers = Layout::new(inst.desc, target, matrix, controls).map(|layout| layout.registers());
        let slot = inst.desc.operand_index(name).and_then(|slot| inst.operands.get_mut(slot));
        if let (Some(Operand::Reg(register)), Ok(registers)) = (slot, registers) {
            *register = register.slice(0, registers);
        }
    }
    let [result, accumulator] = ["vdst", "src2"].map(|name| inst.desc.operand_index(name));
    let (Some(result), Some(accumulator)) = (result, accumulator.filter(|_| !shape.sparse)) else { return };
    let takes = |kind| inst.desc.operands[accumulator].kinds.contains(kind);
    match random.below(4) {
        0 if takes(OperandKinds::INLINE_INT) => {
            inst.operands[accumulator] = Operand::Inline(Inline::Int(random.below(81) as i8 - 16));
        }
        1 if takes(OperandKinds::INLINE_FLOAT) => {
            inst.operands[accumulator] = Operand::Inline(Inline::Float(240 + random.below(9) as u8));
        }
        2 => inst.operands[accumulator] = inst.operands[result],
        _ => {}
    }
}
