//! Spilled allocations with one mistake. The verifier has to reject each, unless execution shows no difference.

use gcn_isa::{Operand, RegFile};
use gcn_test_support::Random;
use gcn_test_support::env::{fuzz_count, is_thorough};

use super::exec;
use super::random::crowded;
use super::split::{allocated, inner_loop};
use gcn_dsl::mir::Function;
use gcn_dsl::regalloc::{Allocated, Span, allocate, verify};

/// A change to an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mutation {
    DropLoad,
    DropStore,
    OtherPlace,
    OtherRegister,
}

const MUTATIONS: [Mutation; 4] =
    [Mutation::DropLoad, Mutation::DropStore, Mutation::OtherPlace, Mutation::OtherRegister];

/// The lines that the allocator inserted around instructions of the function.
fn around(a: &Allocated) -> Vec<usize> {
    let mut own = vec![false; a.program.lines.len()];
    a.spans.iter().for_each(|s| own[s.main as usize..s.main_end as usize].fill(true));
    (0..own.len()).filter(|&l| !own[l]).collect()
}

fn is_store(a: &Allocated, line: usize) -> bool {
    let name = a.program.lines[line].inst.desc.printed;
    ["scratch_store", "ds_write", "v_writelane", "v_accvgpr_write"].iter().any(|s| name.starts_with(s))
}

fn is_load(a: &Allocated, line: usize) -> bool {
    let name = a.program.lines[line].inst.desc.printed;
    ["scratch_load", "ds_read", "v_readlane", "v_accvgpr_read"].iter().any(|s| name.starts_with(s))
}

/// Removes a line.
fn without(a: &mut Allocated, line: usize) {
    a.program.lines.remove(line);
    let back = |at: &mut u32| *at -= u32::from(*at as usize > line);
    for Span { start, main, main_end, end } in &mut a.spans {
        [start, main, main_end, end].into_iter().for_each(back);
    }
    a.block_line.iter_mut().for_each(back);
    for at in a.program.labels.iter_mut().filter_map(|l| l.at.as_mut()) {
        *at -= usize::from(*at > line);
    }
}

/// Changes an access to refer to another dword of the frame or to another lane.
fn elsewhere(a: &mut Allocated, line: usize, rng: &mut Random) -> bool {
    let by = 1 + rng.below(3);
    let inst = a.program.lines[line].inst_mut();
    if inst.desc.printed.starts_with("scratch_") {
        inst.mods.offset = (inst.mods.offset + 4 * by as i32) % 4096;
        return true;
    }
    if inst.desc.printed.starts_with("ds_") {
        inst.mods.offset += 256 * by as i32;
        return true;
    }
    match inst.operands.get_mut(2) {
        Some(lane @ Operand::Inline(_)) => {
            let gcn_isa::Operand::Inline(n) = *lane else { return false };
            *lane = Operand::const32((n.bits32() + by as u32) % 64);
            true
        }
        _ => false,
    }
}

/// Changes a register operand.
fn other_register(a: &mut Allocated, line: usize, rng: &mut Random) -> bool {
    let operands = &mut a.program.lines[line].inst_mut().operands;
    let at = rng.below(operands.len());
    let by = 2 * (1 + rng.below(4)) as u16;
    match operands.get_mut(at) {
        Some(Operand::Reg(r)) if r.file != RegFile::Sgpr || r.index + by + u16::from(r.len) < 100 => {
            r.index = if r.index >= by { r.index - by } else { r.index + by };
            true
        }
        _ => false,
    }
}

fn mutate(a: &Allocated, mutation: Mutation, rng: &mut Random) -> Option<Allocated> {
    let wanted = |line: &usize| match mutation {
        Mutation::DropLoad => is_load(a, *line),
        Mutation::DropStore => is_store(a, *line),
        Mutation::OtherPlace | Mutation::OtherRegister => is_load(a, *line) || is_store(a, *line),
    };
    let lines: Vec<usize> = around(a).into_iter().filter(wanted).collect();
    let line = *lines.get(rng.below(lines.len().max(1)))?;
    let mut bad = a.clone();
    let changed = match mutation {
        Mutation::DropLoad | Mutation::DropStore => {
            without(&mut bad, line);
            true
        }
        Mutation::OtherPlace => elsewhere(&mut bad, line, rng),
        Mutation::OtherRegister => other_register(&mut bad, line, rng),
    };
    (changed && bad != *a).then_some(bad)
}

fn run_fails(f: &Function, a: &Allocated) -> bool {
    (0..8).any(|path| exec::run(f, a, 800, path).is_err())
}

#[test]
fn broken_spills_are_refused() {
    // For each mutation: the number of rejected mutants, and of accepted ones. Execution must not find a mistake in an
    // accepted mutant.
    let mut counts = [[0; 2]; MUTATIONS.len()];
    let mut wrong = 0;
    for seed in 0..fuzz_count(30) {
        let (f, limits) = crowded(seed);
        let Ok(good) = allocate(&f, &limits) else { continue };
        let mut rng = Random::new(seed);
        for (count, mutation) in counts.iter_mut().zip(MUTATIONS) {
            for _ in 0..4 {
                let Some(bad) = mutate(&good, mutation, &mut rng) else { continue };
                let refused = verify(&f, &bad).is_err();
                let fails = run_fails(&f, &bad);
                assert!(refused || !fails, "seed {seed}: {mutation:?} is wrong and passes");
                count[usize::from(!refused)] += 1;
                wrong += usize::from(fails);
            }
        }
    }
    println!("refused, passed: {counts:?} of {MUTATIONS:?}; {wrong} are wrong in a run");
    // Many values of these functions are undefined, so many mutants are equivalent to the original; a minimum number of
    // rejected mutants is expected.
    let refused: usize = counts.iter().map(|c| c[0]).sum();
    let many = counts.iter().all(|c| c[0] > 10) && wrong * 10 > refused * 8;
    assert!(many || !is_thorough(), "{counts:?}, {wrong}");
}

/// If every value is defined and read, no load and no store can be removed.
#[test]
fn a_missing_load_or_store_is_refused() {
    let f = inner_loop();
    let good = allocated(&f, 16);
    let lines = around(&good);
    assert!(lines.len() >= 12, "{lines:?}");
    for line in lines {
        let mut bad = good.clone();
        without(&mut bad, line);
        assert!(verify(&f, &bad).is_err(), "line {line}");
    }
}
