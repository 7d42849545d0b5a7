//! Calls every function of `isa` on every target that has it. The calls go through register allocation, wait insertion,
//! the independent checker and the encoder.

use std::panic::Location;

use gcn_dsl::__private::{self as lang, Arguments, Tracing, with_builder};
use gcn_dsl::catalog::{self, Effect, Form, Function, ParamKind, Variant};
use gcn_dsl::ir::{Inst, Place, Type, Value};
use gcn_dsl::isa::request::Request;
use gcn_dsl::isa::{BufferFormat, DstUnused, Input, Omod, Options, Sel};
use gcn_dsl::regalloc::{Limits, allocate};
use gcn_dsl::scalar::Elem;
use gcn_dsl::sched::{list, wait};
use gcn_isa::mods::{DppControls, Modifier};
use gcn_isa::table::{Format, InstDesc, Modifiers};
use gcn_isa::target::{Family, Subtarget, WaveSize};
use gcn_isa::{Target, check};
use gcn_test_support::env::fuzz_step;
use smallvec::SmallVec;

/// The values that are used as operands.
struct Pool {
    lane: Value,
    word: Value,
}

fn loc() -> &'static Location<'static> {
    Location::caller()
}

impl Pool {
    fn new() -> Pool {
        let mut args = Arguments::default();
        Pool { word: args.value::<u32>().to_value(), lane: lang::lane_id().to_value() }
    }

    fn tuple(of: Value, place: Place, dwords: u8) -> Value {
        if dwords == 1 {
            return of;
        }
        let ty = Type { place, elem: Elem::U32, count: dwords };
        with_builder(|b| b.value(Inst::Concat((0..dwords).map(|_| of).collect()), ty, None))
    }

    fn vector(&self, dwords: u8) -> Input {
        Input::value(Pool::tuple(self.lane, Place::Varying, dwords))
    }

    fn uniform(&self, dwords: u8) -> Input {
        Input::value(Pool::tuple(self.word, Place::Uniform, dwords))
    }
}

/// The type that a signature refers to by this name.
fn type_of(text: &str) -> Type {
    let elem = |name: &str| {
        let all = [Elem::Bool, Elem::I16, Elem::U16, Elem::I32, Elem::U32, Elem::I64, Elem::U64, Elem::F16];
        let all = all.into_iter().chain([Elem::Bf16, Elem::F32, Elem::F64]);
        all.into_iter().find(|e| e.name() == name).unwrap_or_else(|| panic!("{text}"))
    };
    let (head, rest) = text.trim_end_matches('>').split_once('<').unwrap();
    match head {
        "V" => Type::varying(elem(rest)),
        "S" => Type::uniform(elem(rest)),
        "Sgprs" => Type { place: Place::Uniform, elem: Elem::U32, count: rest.parse().unwrap() },
        "Vector" => {
            let (name, count) = rest.split_once(", ").unwrap();
            Type { place: Place::Varying, elem: elem(name), count: count.parse().unwrap() }
        }
        _ => panic!("{text}"),
    }
}

/// One call: a function, the row to which it must be lowered, and a modifier in addition to those of the row's form.
struct Case<'a> {
    f: &'a Function,
    row: &'static InstDesc,
    form: Form,
    modifier: Options,
}

fn has_newbcast_only(row: &InstDesc) -> bool {
    row.dpp_controls == DppControls::ROW_NEWBCAST
}

/// The modifiers that the row's form requires.
fn required(row: &InstDesc) -> Options {
    match row.modifiers.contains(Modifiers::DPP8) {
        true => Options::new().dpp8([7, 6, 5, 4, 3, 2, 1, 0]),
        false if has_newbcast_only(row) => Options::new().row_newbcast(1),
        false => Options::new(),
    }
}

/// The modifiers that a call of the row's form may have, one at a time, each with a valid value.
fn modifiers(row: &InstDesc) -> Vec<Options> {
    let newbcast = has_newbcast_only(row);
    // The first of the operands that accept the modifier.
    let lowest = |modifier| {
        let bits = row.accepted_bits(modifier) as u8;
        bits & bits.wrapping_neg()
    };
    let new = || required(row);
    let each = [
        (Modifiers::CLAMP, new().clamp()),
        (Modifiers::OMOD, new().omod(Omod::Mul4)),
        (Modifiers::OP_SEL, new().op_sel(lowest(Modifier::OpSel))),
        (Modifiers::OP_SEL_HI, new().op_sel_hi(0)),
        (Modifiers::NEG_LO, new().neg_lo(lowest(Modifier::NegLo))),
        (Modifiers::NEG_HI, new().neg_hi(lowest(Modifier::NegHi))),
        (Modifiers::DPP_CTRL, if newbcast { new().row_newbcast(3) } else { new().row_shr(3) }),
        (Modifiers::ROW_MASK, new().row_mask(5)),
        (Modifiers::BANK_MASK, new().bank_mask(6)),
        (Modifiers::BOUND_CTRL, new().bound_ctrl()),
        (Modifiers::DST_SEL, new().dst_sel(Sel::Word1)),
        (Modifiers::DST_UNUSED, new().dst_unused(DstUnused::Pad)),
        (Modifiers::SRC0_SEL, new().src0_sel(Sel::Byte3)),
        (Modifiers::SRC1_SEL, new().src1_sel(Sel::Word0)),
        (Modifiers::GLC, new().glc()),
        (Modifiers::SLC, new().slc()),
        (Modifiers::SCC, new().scc()),
        (Modifiers::GDS, new().gds()),
        (Modifiers::CBSZ, new().cbsz(1)),
        (Modifiers::ABID, new().abid(1)),
        (Modifiers::DLC, new().dlc()),
        (Modifiers::TH, new().th(if row.required.contains(Modifiers::TH) { 3 } else { 2 })),
        (Modifiers::SCOPE, new().scope(2)),
        (Modifiers::BYTE_SEL, new().byte_sel(2)),
        (Modifiers::INDEX_KEY, new().index_key(1)),
        (Modifiers::FI, new().fi()),
        (Modifiers::BLGP, new().blgp(1)),
        (Modifiers::MATRIX_A_FMT, new().matrix_a_fmt(1)),
        (Modifiers::MATRIX_B_FMT, new().matrix_b_fmt(1)),
        (Modifiers::MATRIX_A_SCALE, new().matrix_a_scale(1)),
        (Modifiers::MATRIX_B_SCALE, new().matrix_b_scale(1)),
        (Modifiers::MATRIX_A_SCALE_FMT, new().matrix_a_scale_fmt(1)),
        (Modifiers::MATRIX_B_SCALE_FMT, new().matrix_b_scale_fmt(1)),
        (Modifiers::MATRIX_A_REUSE, new().matrix_a_reuse()),
        (Modifiers::MATRIX_B_REUSE, new().matrix_b_reuse()),
        (Modifiers::SCALE_SEL, new().scale_sel(1)),
    ];
    let own = row.modifiers - row.required;
    each.into_iter().filter(|(flag, _)| own.contains(*flag)).map(|(_, option)| option).collect()
}

impl Case<'_> {
    fn call(&self, pool: &Pool) {
        let mut request = Request::new(self.f.mnemonic, self.f.variant, Effect::Kept);
        let mut inputs = Vec::new();
        let addressing = Modifiers::OFFEN | Modifiers::IDXEN;
        for p in self.f.params_of(self.form) {
            let slot = self.row.operands.iter().find(|o| o.name == p.name);
            let off = slot.is_some_and(|s| s.dwords == 0);
            match p.kind {
                ParamKind::Old(n) => request = request.old(pool.vector(n)),
                ParamKind::Vector(n) => inputs.push(pool.vector(n)),
                // As many dwords as the format with number 0 or 1 has, which are the widest.
                ParamKind::Narrow => inputs.push(pool.vector(slot.map_or(8, |s| s.dwords))),
                ParamKind::Uniform(n) => {
                    // A mask has the size of the wave.
                    inputs.push(pool.uniform(slot.map_or(n, |s| s.dwords)));
                }
                ParamKind::Buffer | ParamKind::Global | ParamKind::SecondAddress if off => {
                    inputs.push(Input::OFF);
                }
                ParamKind::Buffer | ParamKind::Global => {
                    inputs.push(pool.vector(slot.map_or(1, |s| s.dwords)));
                }
                ParamKind::SecondAddress => inputs.push(pool.uniform(2)),
                ParamKind::Smem if self.row.operand_index("soffset").is_some() => {
                    inputs.push(pool.uniform(1));
                }
                ParamKind::Smem => inputs.push(Input::imm(12)),
                ParamKind::Imm => inputs.push(Input::imm(3)),
                ParamKind::Literal => inputs.push(Input::literal(0x1234)),
                ParamKind::Literal64 => inputs.push(Input::literal64(0x1234_5678_9abc)),
                ParamKind::Scc => {
                    let scc = lang::eq(lang::S::<u32>::from_value(pool.word), 7);
                    request = request.scc(scc);
                }
                ParamKind::Vcc => request = request.vcc(pool.uniform(2)),
                ParamKind::M0 => request = request.m0(pool.uniform(1)),
                ParamKind::Offset => {
                    let (lo, hi) = self.row.offset_range.unwrap_or_default();
                    request = request.set(Options::at(if lo < 0 { lo } else { hi }));
                }
                ParamKind::Offsets => request = request.set(Options::at_both(1, 255)),
                ParamKind::Bitop3 => request = request.set(Options::table(0x96)),
                ParamKind::BufferFormat => {
                    request = request.set(BufferFormat { dfmt: 4, nfmt: 7 }.options());
                }
                ParamKind::Options => {}
            }
        }
        if self.row.form.ends_with("sgpr_imm") {
            request = request.set(Options::at(16));
        }
        let required = self.row.required & addressing;
        let (offen, idxen) = (required.contains(Modifiers::OFFEN), required.contains(Modifiers::IDXEN));
        request = request.set(Options::addressing(offen, idxen)).set(self.modifier);
        let types: SmallVec<[Type; 2]> = self.f.results.iter().map(|r| type_of(&r.ty)).collect();
        request.append(&inputs, types, loc());
    }
}

/// The rows of `f` on a processor, except those with an address that the function does not support: a lane number alone, and a FLAT
/// address in two parts (gfx12.5), for which global instructions have `GlobalAddress`.
fn rows(f: &Function, on: Subtarget) -> impl Iterator<Item = &'static InstDesc> {
    let in_parts = |row: &InstDesc| row.format == Format::VFlat && row.operand_index("saddr").is_some();
    f.rows.iter().copied().filter(move |row| row.is_on(on) && row.form != "noaddr" && !in_parts(row))
}

/// One row for each addressing form of `f` on a processor.
fn forms(f: &Function, on: Subtarget) -> Vec<&'static InstDesc> {
    let mut found: Vec<&'static InstDesc> = Vec::new();
    for row in rows(f, on) {
        if !found.iter().any(|r| r.form == row.form) {
            found.push(row);
        }
    }
    found
}

fn cases(f: &Function, on: Subtarget) -> Vec<Case<'_>> {
    let mut list = Vec::new();
    for row in forms(f, on) {
        list.push(Case { f, row, form: Form::Short, modifier: required(row) });
    }
    let form = *f.forms().last().unwrap_or(&Form::Short);
    for row in rows(f, on) {
        for modifier in modifiers(row) {
            list.push(Case { f, row, form, modifier });
        }
    }
    list
}

/// Compiles a kernel with these calls. Returns the rows of its instructions in program order.
fn compile(on: Subtarget, cases: &[&Case<'_>], schedule: bool) -> Result<Vec<&'static InstDesc>, String> {
    let tracing = Tracing { wave: Some(on.wave), ..Tracing::default() };
    let kernel = lang::trace_with("k", on.target, [64, 1, 1], tracing, || {
        let pool = Pool::new();
        cases.iter().for_each(|case| case.call(&pool));
    })
    .map_err(|e| e.to_string())?;
    let (mut function, _) =
        gcn_dsl::lower::lower(&kernel, on.target, [64, 1, 1]).map_err(|e| e.to_string())?;
    if schedule {
        list::schedule(&mut function).unwrap();
    }
    // In builds with debug assertions, the allocator verifies its result; here it is verified in every build.
    let allocated = allocate(&function, &Limits::default()).map_err(|e| e.to_string())?;
    gcn_dsl::regalloc::verify(&function, &allocated).map_err(|e| e.to_string())?;
    let mut program = allocated.program;
    wait::insert_waits(&mut program, &wait::WaitOptions::default());
    let options = check::Options { errata: false, ..check::Options::default() };
    if let Some(finding) = check::check_with(&program, options).findings.first() {
        return Err(finding.to_string());
    }
    gcn_emit::encode::encode_program(&program).map_err(|e| e.to_string())?;
    Ok(program.lines.iter().map(|line| line.inst.desc).collect())
}

/// True if the program contains an instruction for each call.
fn all_there(cases: &[&Case<'_>], found: &[&'static InstDesc]) -> bool {
    let count =
        |m: &str, v: Variant| found.iter().filter(|d| d.entry.mnemonic == m && d.variant() == v).count();
    cases.iter().all(|case| {
        let calls = cases.iter().filter(|c| c.f.name == case.f.name).count();
        let forms = cases.iter().filter(|c| c.f.name == case.f.name).map(|c| c.row.form);
        let forms_there = forms
            .into_iter()
            .all(|form| found.iter().any(|d| d.entry.mnemonic == case.f.mnemonic && d.form == form));
        count(case.f.mnemonic, case.f.variant) >= calls && forms_there
    })
}

/// The faults in calls of these functions on the targets that have them, each function on one in `step` of these
/// targets. Also returns the number of calls on each target.
fn faults(functions: &[&Function], targets: &[Subtarget], step: usize) -> (Vec<String>, Vec<usize>) {
    const BATCH: usize = 48;
    let (mut faults, mut calls) = (Vec::new(), Vec::new());
    for (t, &on) in targets.iter().enumerate() {
        let has = |f: &Function, on| f.rows.iter().any(|row| row.is_on(on));
        let here = functions.iter().enumerate().filter(|(n, f)| {
            let count = targets.iter().filter(|other| has(f, **other)).count();
            let earlier = targets[..t].iter().filter(|other| has(f, **other)).count();
            // A function that only few targets have is tested on at least one of them.
            has(f, on) && earlier % step == n % step.min(count)
        });
        let here = here.map(|(_, f)| *f);
        let cases: Vec<Case<'_>> = here.flat_map(|f| cases(f, on)).collect();
        calls.push(cases.len());
        for (i, batch) in cases.chunks(BATCH).enumerate() {
            let batch: Vec<&Case<'_>> = batch.iter().collect();
            if compile(on, &batch, i % 2 == 0).is_ok_and(|found| all_there(&batch, &found)) {
                continue;
            }
            for &case in &batch {
                let name = case.f.name_of(case.form);
                let name = format!("{} {name} {} {}", on.target, case.row.printed, case.row.form);
                match compile(on, &[case], false) {
                    Err(error) => faults.push(format!("{name}: {error}")),
                    Ok(found) if !all_there(&[case], &found) => {
                        faults.push(format!("{name}: not in the program"));
                    }
                    Ok(_) => {}
                }
            }
        }
    }
    println!("calls per target: {calls:?}");
    (faults, calls)
}

/// By default each function is tested on a third of the targets that have it; on all of them if `GCN_FUZZ_COUNT` is
/// set.
#[test]
fn every_function_builds_on_every_target_that_has_it() {
    let step = fuzz_step(3);
    let functions = catalog::functions();
    let own: Vec<&Function> = functions.iter().filter(|f| f.family == Family::GFX9).collect();
    let (faults, calls) = faults(&own, &Target::REPRESENTATIVES.map(Subtarget::from), step);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(60)].join("\n"));
    assert!(calls.iter().all(|n| *n > 3000 / step), "{calls:?}");
}

/// The functions of instructions that GFX9 lacks, in waves of both sizes.
#[test]
fn functions_of_rdna_build_on_every_target_that_has_them() {
    let step = fuzz_step(3);
    let functions = catalog::functions();
    let own: Vec<&Function> = functions.iter().filter(|f| f.family == Family::RDNA).collect();
    let targets: Vec<Subtarget> = Target::KNOWN
        .into_iter()
        .filter(|target| target.family() == Family::RDNA && target.is_first_of_its_set())
        .flat_map(|target| WaveSize::ALL.into_iter().filter_map(move |wave| Subtarget::new(target, wave)))
        .collect();
    let (faults, calls) = faults(&own, &targets, step);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(60)].join("\n"));
    assert!(calls.iter().sum::<usize>() > 3000 / step, "{calls:?}");
}
