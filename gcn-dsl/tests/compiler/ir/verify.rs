//! Tests that the verifier finds every kind of fault that a pass could introduce, and names the violated rule.

use gcn_dsl::ir::text::parse;
use gcn_dsl::ir::verify::verify;
use gcn_dsl::ir::{Inst, Kernel, Place, Region, Stmt, Value};
use gcn_test_support::Random;

/// A kernel with `body` after definitions of values that `body` may use: a resource, a varying and a uniform word,
/// floats, conditions.
fn kernel(body: &str) -> String {
    format!(
        "kernel k {{
  lds0: 256 bytes at 0
  var0: v.u32
  var1: s.u32
  %0: s.u32x4 = kernarg +0
  %1: v.u32 = local_id 0
  %2: s.u32 = kernarg +16
  %3: v.f32 = load buffer %0[%1]
  %4: s.u32x2 = kernarg +20
  %5: v.bool = cmp.lt %1, %1
  %6: s.bool = cmp.lt %2, %2
{body}
}}"
    )
}

#[test]
fn what_is_well_formed_passes() {
    let bodies = [
        "",
        "if %5 {\n store buffer %0[%1], %3\n }",
        "if %6 {\n barrier\n }",
        "while {\n %10: s.bool = cmp.lt %2, %2\n } %10 {\n %11: s.bool = cmp.eq %10, %10\n barrier\n }",
        "l0: {\n if %6 {\n exit l0\n }\n barrier\n }",
        "l0: {\n if %5 {\n exit l0\n }\n }\n barrier",
        // A divergent exit in one branch does not affect the lanes in the other branch.
        "l0: {\n if %6 {\n if %5 {\n exit l0\n }\n } else {\n barrier\n }\n }",
        // No lane reaches the condition, whose value was removed with the code after the exit.
        "l0: {\n do {\n exit l0\n } while %10\n }",
        "store lds0[%1], %3\n %10: s.u64 = ballot %5\n %11: v.bool = bitcast %10",
    ];
    for body in bodies {
        let parsed = parse(&kernel(body)).unwrap_or_else(|e| panic!("{e}\n{body}"));
        verify(&parsed).unwrap_or_else(|e| panic!("{e}\n{body}"));
    }
}

#[test]
fn each_fault_is_found_with_its_rule() {
    let faults = [
        // Dominance.
        ("%10: v.u32 = add %1, %11\n %11: v.u32 = add %1, %1", "%11 is used before it is computed"),
        (
            "if %6 {\n %10: v.u32 = add %1, %1\n }\n write var0, %10",
            "%10 is used outside of the region that computes it",
        ),
        ("if %6 {\n %10: v.u32 = add %1, %1\n } else {\n write var0, %10\n }", "outside of the region"),
        (
            "do {\n %10: s.bool = cmp.lt %2, %2\n } while %10\n if %10 {\n barrier\n }",
            "outside of the region",
        ),
        ("write var0, %99", "%99 is used before it is computed"),
        // Types.
        ("%10: v.f32 = add %3, %1", "operand and result have one element type"),
        ("%10: v.f32 = fma %3, %3, %1", "operand and result have one element type"),
        ("%10: v.u32 = cmp.lt %1, %1", "a comparison is a bool"),
        ("%10: v.bool = cmp.lt %1, %3", "the operands have one element type"),
        ("%10: v.f32 = and %3, %3", "has no bitwise operations"),
        ("%10: v.u32 = sqrt %1", "has no such operation"),
        ("%10: v.u32 = shl %1, %3", "the count of a shift is an integer"),
        ("%10: v.u32 = select %1, %1, %1", "the condition is a bool"),
        ("%10: v.u64 = bitcast %1", "have different registers"),
        ("%10: s.u32 = extract %0, 4", "%0 has 4 dwords, not 5"),
        ("%10: s.u32 = concat %2, %2", "the parts have 2 dwords"),
        ("%10: v.u32 = const 0x123456789", "at most 32 bits"),
        ("%10: v.u16x2 = v_pk_add_u16 %1, %1 -> v.u32", "the first result is v.u32"),
        ("%10: v.u32 = result %1, 1", "%1 is not a machine instruction"),
        // Uniform and varying.
        ("%10: s.u32 = add %2, %1", "an operand is v.u32, the result s.u32"),
        ("%10: v.u32 = add %1, %2", "an operand is s.u32, the result v.u32"),
        ("%10: s.u32 = splat %2", "a splat is varying"),
        ("%10: v.u32 = read_first_lane %1", "uniform, not v.u32"),
        ("%10: s.u32 = read_lane %1, %1", "the number of the lane: uniform"),
        ("%10: v.u32 = wave.reduce.add.64 %1", "the reduction of a wave: uniform"),
        ("%10: s.u32 = select %5, %2, %2", "an operand is v.bool"),
        // Memory.
        ("%10: v.u32 = load buffer %4[%1]", "the resource of a buffer has 4 dwords"),
        ("%10: v.u32 = load buffer %0[%2]", "the offset: varying"),
        ("%10: v.u32 = load buffer %0[%3]", "the offset is an integer of 32 bits"),
        ("%10: v.u32 = load global %2[%1]", "the pointer has 64 bits"),
        ("%10: v.u32 = load lds1[%1]", "the kernel has no array lds1"),
        ("%10: v.u32 = load private0[%1]", "the kernel has no array private0"),
        ("store lds0[%1], %2", "what is stored: varying"),
        ("%10: v.u64 = bitcast %5\n %11: v.u32 = load lanes %10[%1]", "have different registers"),
        ("%10: v.u32 = atomic.add.agent.monotonic buffer %0[%1], %3", "the operand is v.u32, not v.f32"),
        // Variables.
        ("write var0, %2", "the value is v.u32, not s.u32"),
        ("%10: s.u32 = read var0", "the result is v.u32, not s.u32"),
        ("%10: v.u32 = read var2", "the kernel has no variable var2"),
        // Flow.
        ("if %1 {\n barrier\n }", "the condition %1 is a bool"),
        ("do {\n } while %5", "the condition %5 is uniform"),
        ("exit l0", "no block around the exit has the label l0"),
        ("l0: {\n exit l0\n barrier\n }", "an exit is the last statement of its region"),
        ("l0: {\n l0: {\n }\n }", "no other block has this label"),
        ("if %5 {\n barrier\n }", "some lanes may not come to the barrier"),
        ("l0: {\n if %5 {\n exit l0\n }\n barrier\n }", "some lanes may not come to the barrier"),
        (
            "l0: {\n do {\n barrier\n if %5 {\n exit l0\n }\n } while %6\n }",
            "some lanes may not come to the barrier",
        ),
        ("while {\n } %5 {\n barrier\n }", "some lanes may not come to the barrier"),
        // A barrier after both branches, and one in the other branch on a later trip.
        (
            "l0: {\n if %6 {\n if %5 {\n exit l0\n }\n } else {\n }\n barrier\n }",
            "some lanes may not come to the barrier",
        ),
        (
            "l0: {\n do {\n if %6 {\n if %5 {\n exit l0\n }\n } else {\n barrier\n }\n } while %6\n }",
            "some lanes may not come to the barrier",
        ),
        ("%10: v.u32 = frobnicate %1", "`frobnicate` is not an instruction"),
    ];
    for (body, rule) in faults {
        let error = match parse(&kernel(body)) {
            Ok(parsed) => verify(&parsed).map_err(|e| e.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let error = error.expect_err(body);
        assert!(error.contains(rule), "{body}\n{error}\nexpected: {rule}");
    }
}

/// Finds each statement of a region and of its nested regions, with the path to it.
fn paths(region: &Region, at: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
    for (i, stmt) in region.stmts.iter().enumerate() {
        for (r, inner) in stmt.regions().into_iter().enumerate() {
            at.extend([i, r]);
            paths(inner, at, all);
            at.truncate(at.len() - 2);
        }
        at.push(i);
        all.push(at.clone());
        at.pop();
    }
}

/// The region that contains the statement at this path, and the statement's index in it.
fn region_of<'k>(mut region: &'k mut Region, path: &[usize]) -> (&'k mut Region, usize) {
    for step in path[..path.len() - 1].chunks(2) {
        region = region.stmts[step[0]].regions_mut().into_iter().nth(step[1]).expect("a region");
    }
    (region, path[path.len() - 1])
}

/// A change that a faulty pass might make to a kernel, at a given path. `None` if it is not applicable there.
type Mutant = fn(&mut Kernel, &[usize], &mut Random) -> Option<()>;

/// The instruction at this path.
fn inst_at(kernel: &mut Kernel, path: &[usize]) -> Option<Value> {
    let (region, i) = region_of(&mut kernel.body, path);
    match region.stmts[i] {
        Stmt::Inst(v) => Some(v),
        _ => None,
    }
}

fn is_used(kernel: &Kernel, of: Value) -> bool {
    let mut used = false;
    kernel.body.each_stmt(&mut |stmt| match stmt {
        Stmt::Inst(v) => kernel.def(*v).inst.operands(|operand| used |= operand == of),
        other => used |= other.condition() == Some(of),
    });
    used
}

/// Removes an instruction whose value is used.
fn drops_a_used_value(kernel: &mut Kernel, path: &[usize], _: &mut Random) -> Option<()> {
    let v = inst_at(kernel, path)?;
    is_used(kernel, v).then_some(())?;
    let (region, i) = region_of(&mut kernel.body, path);
    region.stmts.remove(i);
    Some(())
}

/// Moves an instruction after the next one, which uses its value.
fn swaps_dependent_instructions(kernel: &mut Kernel, path: &[usize], _: &mut Random) -> Option<()> {
    let v = inst_at(kernel, path)?;
    let (region, i) = region_of(&mut kernel.body, path);
    let Some(Stmt::Inst(next)) = region.stmts.get(i + 1).cloned() else { return None };
    let mut depends = false;
    kernel.def(next).inst.operands(|operand| depends |= operand == v);
    depends.then_some(())?;
    region_of(&mut kernel.body, path).0.stmts.swap(i, i + 1);
    Some(())
}

/// Inserts an instruction a second time.
fn duplicates_a_definition(kernel: &mut Kernel, path: &[usize], _: &mut Random) -> Option<()> {
    let v = inst_at(kernel, path)?;
    region_of(&mut kernel.body, path).0.stmts.push(Stmt::Inst(v));
    Some(())
}

/// Moves an instruction into a nested region although an instruction after that region uses its value.
fn sinks_too_far(kernel: &mut Kernel, path: &[usize], _: &mut Random) -> Option<()> {
    let v = inst_at(kernel, path)?;
    is_used(kernel, v).then_some(())?;
    let (region, i) = region_of(&mut kernel.body, path);
    let stmt = region.stmts.remove(i);
    let body = Region { stmts: vec![stmt] };
    region.stmts.insert(i, Stmt::Block { label: gcn_dsl::ir::Label(u32::MAX), body });
    Some(())
}

/// Removes a splat, so that a uniform value is used as a varying one.
fn forgets_a_splat(kernel: &mut Kernel, path: &[usize], _: &mut Random) -> Option<()> {
    let v = inst_at(kernel, path)?;
    let mut operands = Vec::new();
    let inst = kernel.def(v).inst.clone();
    inst.operands(|of| operands.push(of));
    let splat = operands.into_iter().find(|of| matches!(kernel.def(*of).inst, Inst::Splat(_)))?;
    let Inst::Splat(uniform) = kernel.def(splat).inst else { return None };
    kernel.values[v.0 as usize].inst.operands_mut(|of| *of = if *of == splat { uniform } else { *of });
    // Machine instructions accept operands from either register file.
    (!matches!(inst, Inst::Machine(_) | Inst::Splat(_) | Inst::Concat(_))).then_some(())
}

/// Gives a value the element type of another.
fn changes_a_type(kernel: &mut Kernel, path: &[usize], random: &mut Random) -> Option<()> {
    let v = inst_at(kernel, path)?;
    let typed = matches!(
        kernel.def(v).inst,
        Inst::Bin(..)
            | Inst::Fma(..)
            | Inst::Read(_)
            | Inst::Select(..)
            | Inst::Splat(_)
            | Inst::ReadFirstLane(_)
    );
    let ty = kernel.values[v.0 as usize].ty.as_mut().filter(|_| typed)?;
    let others = gcn_dsl::scalar::Elem::ALL.map(|elem| gcn_dsl::ir::Type { elem, ..*ty });
    let other = others[random.within(0, 14) as usize];
    (other.elem != ty.elem).then_some(())?;
    *ty = other;
    Some(())
}

/// Changes a value from uniform to varying or the reverse.
fn changes_a_place(kernel: &mut Kernel, path: &[usize], _: &mut Random) -> Option<()> {
    let v = inst_at(kernel, path)?;
    let checked =
        !matches!(kernel.def(v).inst, Inst::Const(_) | Inst::Wave(_) | Inst::Bitcast(_) | Inst::Concat(_));
    let ty = kernel.values[v.0 as usize].ty.as_mut().filter(|_| checked)?;
    ty.place = match ty.place {
        Place::Uniform => Place::Varying,
        _ => Place::Uniform,
    };
    Some(())
}

/// Refers to a variable, array or value that does not exist.
fn dangles(kernel: &mut Kernel, path: &[usize], _: &mut Random) -> Option<()> {
    let v = inst_at(kernel, path)?;
    let beyond = Value(kernel.values.len() as u32);
    let mut changed = false;
    kernel.values[v.0 as usize].inst.operands_mut(|of| {
        if !changed {
            (*of, changed) = (beyond, true);
        }
    });
    changed.then_some(())
}

/// Inserts a statement after an exit, or an exit outside of its block.
fn misplaces_an_exit(kernel: &mut Kernel, path: &[usize], _: &mut Random) -> Option<()> {
    region_of(&mut kernel.body, path).0.stmts.insert(0, Stmt::Exit(gcn_dsl::ir::Label(u32::MAX)));
    Some(())
}

/// Moves a barrier, or another statement, under a varying condition.
fn diverges_a_barrier(kernel: &mut Kernel, path: &[usize], _: &mut Random) -> Option<()> {
    let v = inst_at(kernel, path)?;
    let ty = kernel.def(v).ty?;
    (ty == gcn_dsl::ir::Type::varying(gcn_dsl::scalar::Elem::Bool)).then_some(())?;
    let barrier = Value(kernel.values.len() as u32);
    kernel.values.push(gcn_dsl::ir::ValueDef { inst: Inst::Barrier, ty: None, loc: None });
    let (region, i) = region_of(&mut kernel.body, path);
    let then = Region { stmts: vec![Stmt::Inst(barrier)] };
    region.stmts.insert(i + 1, Stmt::If { cond: v, then, els: Region::default() });
    Some(())
}

/// Kernels of many kinds: those in the test files of the passes, before and after the pass.
fn kernels() -> Vec<Kernel> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/ir");
    let mut kernels = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of kernels") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a file");
        kernels.extend(text.split("; becomes\n").filter_map(|text| parse(text).ok()));
    }
    assert!(kernels.len() > 20, "{}", kernels.len());
    kernels
}

#[test]
fn mutants_of_passes_are_found() {
    let mutants: [(&str, Mutant); 10] = [
        ("drops a used value", drops_a_used_value),
        ("swaps dependent instructions", swaps_dependent_instructions),
        ("duplicates a definition", duplicates_a_definition),
        ("sinks too far", sinks_too_far),
        ("forgets a splat", forgets_a_splat),
        ("changes a type", changes_a_type),
        ("changes a place", changes_a_place),
        ("dangles", dangles),
        ("misplaces an exit", misplaces_an_exit),
        ("diverges a barrier", diverges_a_barrier),
    ];
    let mut random = Random::new(1);
    for (name, mutant) in mutants {
        let mut made = 0;
        for original in kernels() {
            verify(&original).unwrap_or_else(|e| panic!("{e}\n{original}"));
            let mut all = Vec::new();
            paths(&original.body, &mut Vec::new(), &mut all);
            for path in all {
                let mut kernel = original.clone();
                if mutant(&mut kernel, &path, &mut random).is_some() {
                    made += 1;
                    assert!(
                        verify(&kernel).is_err(),
                        "{name} at {path:?} of\n{original}\nstays unseen:\n{kernel:?}"
                    );
                }
            }
        }
        assert!(made > 0, "{name}: nowhere");
    }
}
