//! A call of every function of `isa` on every target that has it, through allocation, waits, the independent checker and the
//! encoder.

use std::panic::Location;

use gcn_dsl::__private::{self as lang, Arguments, with_builder};
use gcn_dsl::catalog::{self, Effect, Form, Function, ParamKind, Variant};
use gcn_dsl::ir::{Inst, Place, Type, Value};
use gcn_dsl::isa::request::Request;
use gcn_dsl::isa::{BufferFormat, DstUnused, Input, Omod, Options, Sel};
use gcn_dsl::regalloc::{Limits, allocate};
use gcn_dsl::scalar::Elem;
use gcn_dsl::sched::{list, wait};
use gcn_isa::mods::DppControls;
use gcn_isa::table::{InstDesc, Modifiers};
use gcn_isa::{Target, check};
use gcn_test_support::env::fuzz_step;
use smallvec::SmallVec;

/// Values that operands can be made of.
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

/// The type that a signature names.
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

/// One call: a function, the row that it must become, and a modifier beside those of the row's form.
struct Case<'a> {
    f: &'a Function,
    row: &'static InstDesc,
    form: Form,
    modifier: Options,
}

fn has_newbcast_only(row: &InstDesc) -> bool {
    row.dpp_controls == DppControls::ROW_NEWBCAST
}

/// The modifiers without which the row's form does not exist.
fn required(row: &InstDesc) -> Options {
    if has_newbcast_only(row) { Options::new().row_newbcast(1) } else { Options::new() }
}

/// The modifiers that a call of the row's form may have, one at a time, with a value that fits.
fn modifiers(row: &InstDesc) -> Vec<Options> {
    let newbcast = has_newbcast_only(row);
    let new = || required(row);
    let each = [
        (Modifiers::CLAMP, new().clamp()),
        (Modifiers::OMOD, new().omod(Omod::Mul4)),
        (Modifiers::OP_SEL, new().op_sel(1)),
        (Modifiers::OP_SEL_HI, new().op_sel_hi(0)),
        (Modifiers::NEG_LO, new().neg_lo(1)),
        (Modifiers::NEG_HI, new().neg_hi(1)),
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
        (Modifiers::BLGP, new().blgp(1)),
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
                ParamKind::Narrow => inputs.push(pool.vector(8)),
                ParamKind::Uniform(n) => inputs.push(pool.uniform(n)),
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

/// A row of each addressing form of `f` on `target`.
fn forms(f: &Function, target: Target) -> Vec<&'static InstDesc> {
    let mut found: Vec<&'static InstDesc> = Vec::new();
    for &row in f.rows.iter().filter(|row| row.targets.contains(target)) {
        if !found.iter().any(|r| r.form == row.form) {
            found.push(row);
        }
    }
    found
}

fn cases(f: &Function, target: Target) -> Vec<Case<'_>> {
    let mut list = Vec::new();
    for row in forms(f, target) {
        list.push(Case { f, row, form: Form::Short, modifier: required(row) });
    }
    let rows = f.rows.iter().filter(|row| row.targets.contains(target));
    let form = *f.forms().last().unwrap_or(&Form::Short);
    for row in rows.copied() {
        for modifier in modifiers(row) {
            list.push(Case { f, row, form, modifier });
        }
    }
    list
}

/// Compiles a kernel of these calls; the mnemonics of their instructions, in order of the program.
fn compile(target: Target, cases: &[&Case<'_>], schedule: bool) -> Result<Vec<&'static InstDesc>, String> {
    let kernel = lang::trace("k", target, [64, 1, 1], || {
        let pool = Pool::new();
        cases.iter().for_each(|case| case.call(&pool));
    })
    .map_err(|e| e.to_string())?;
    let (mut function, _) = gcn_dsl::lower::lower(&kernel, target, [64, 1, 1]).map_err(|e| e.to_string())?;
    if schedule {
        list::schedule(&mut function).unwrap();
    }
    // Allocation verifies itself in builds with debug assertions; here it must in any.
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

/// True if the program has an instruction for each call.
fn all_there(cases: &[&Case<'_>], found: &[&'static InstDesc]) -> bool {
    let count = |m: &str, v: Variant| found.iter().filter(|d| d.mnemonic == m && d.variant() == v).count();
    cases.iter().all(|case| {
        let calls = cases.iter().filter(|c| c.f.name == case.f.name).count();
        let forms = cases.iter().filter(|c| c.f.name == case.f.name).map(|c| c.row.form);
        let forms_there = forms
            .into_iter()
            .all(|form| found.iter().any(|d| d.mnemonic == case.f.mnemonic && d.form == form));
        count(case.f.mnemonic, case.f.variant) >= calls && forms_there
    })
}

/// By default each function on a third of the targets that have it; on all of them if `GCN_FUZZ_COUNT` is set.
#[test]
fn every_function_builds_on_every_target_that_has_it() {
    const BATCH: usize = 48;
    let step = fuzz_step(3);
    let functions = catalog::functions();
    let mut faults = Vec::new();
    let mut calls = [0; Target::REPRESENTATIVES.len()];
    for (t, target) in Target::REPRESENTATIVES.into_iter().enumerate() {
        let on = |f: &Function, target| f.rows.iter().any(|row| row.targets.contains(target));
        let here = functions.iter().enumerate().filter(|(n, f)| {
            let count = Target::REPRESENTATIVES.into_iter().filter(|other| on(f, *other)).count();
            let earlier = Target::REPRESENTATIVES[..t].iter().filter(|other| on(f, **other)).count();
            // A function that few targets have is not left out.
            on(f, target) && earlier % step == n % step.min(count)
        });
        let here = here.map(|(_, f)| f);
        let cases: Vec<Case<'_>> = here.flat_map(|f| cases(f, target)).collect();
        calls[t] = cases.len();
        for (i, batch) in cases.chunks(BATCH).enumerate() {
            let batch: Vec<&Case<'_>> = batch.iter().collect();
            if compile(target, &batch, i % 2 == 0).is_ok_and(|found| all_there(&batch, &found)) {
                continue;
            }
            for &case in &batch {
                let result = compile(target, &[case], false);
                let name =
                    format!("{target} {} {} {}", case.f.name_of(case.form), case.row.printed, case.row.form);
                match result {
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
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(60)].join("\n"));
    assert!(calls.iter().all(|n| *n > 3000 / step), "{calls:?}");
}
