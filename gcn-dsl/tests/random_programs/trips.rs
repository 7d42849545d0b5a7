//! Random programs with additional loops that load from memory and whose trip counts are known only at run time, so
//! that several trips are processed at a time. The results must still equal those of the interpreter.

use gcn_dsl::ir::{Bin, Pred};
use gcn_dsl::prelude::{Kernel, Target};
use gcn_dsl::scalar::Elem;
use gcn_test_support::Random;
use gcn_test_support::env::{fuzz_count, fuzz_seed};

use super::ast::{Expr, Id, NUMBERS, Op, Program, Range, SLOTS, Stmt, Ty, VarDecl};
use super::run::{self, Outcome};
use super::trace::Generated;
use super::typing::{has_bin, is_int};
use super::{generate, typing};

/// The number of programs, and the minimum number of loops among them that process several trips.
const COUNT: u64 = 40;
const LEAST_LOOPS: usize = 40;
/// Numbers near which the counters start: small ones, and those near which a counter would wrap.
const NEAR: [i64; 4] = [0, -5, i32::MAX as i64 - 9, u32::MAX as i64 - 9];

struct Adds {
    rng: Random,
    program: Program,
}

impl Adds {
    fn declare(&mut self, ty: Ty, mutable: bool) -> usize {
        self.program.vars.push(VarDecl { ty, mutable });
        self.program.vars.len() - 1
    }

    /// Bounds that are at most 16 apart, in either order, at least one of which depends on an argument.
    fn bounds(&mut self, elem: Elem) -> [Expr; 2] {
        let near = Expr::leaf(Op::Lit(elem, NEAR[self.rng.below(4)] as u64 & 0xffff_ffff));
        let some = |bits: u64| {
            let few = Expr::bin(Bin::And, Expr::leaf(Op::Arg(elem)), Expr::leaf(Op::Lit(elem, bits)));
            Expr::bin(Bin::Add, few, near.clone())
        };
        let ends = [some(15), some(9)];
        match self.rng.below(3) {
            0 => ends,
            _ => [near, ends[self.rng.below(2)].clone()],
        }
    }

    /// The value that a trip loads: one that neighbouring trips also load, an element at a distance, or a uniform
    /// value.
    fn loaded(&mut self, elem: Elem, k: &Expr) -> Expr {
        let local = Expr::leaf(Op::Id(Id::Local));
        let distance = 1 << self.rng.below(4);
        let strided = Expr::bin(Bin::Mul, local.clone(), Expr::u32(distance));
        match self.rng.below(5) {
            0 if elem.bytes() >= 4 => Expr::new(Op::Splat, [Expr::new(Op::Uniform(elem), [k.clone()])]),
            0 | 1 => Expr::leaf(Op::Own(elem, self.rng.below(SLOTS as usize) as u32)),
            2 => Expr::new(Op::In(elem), [Expr::bin(Bin::Add, local, k.clone())]),
            3 => Expr::new(Op::In(elem), [Expr::bin(Bin::Add, strided, k.clone())]),
            _ => {
                let far = Expr::bin(Bin::Mul, k.clone(), Expr::u32(distance));
                Expr::new(Op::In(elem), [Expr::bin(Bin::Add, local, far)])
            }
        }
    }

    fn body(&mut self, acc: usize, elem: Elem, k: &Expr) -> Vec<Stmt> {
        let ops = [Bin::Add, Bin::Sub, Bin::Mul, Bin::Xor, Bin::Min];
        let mut body = Vec::new();
        for _ in 0..1 + self.rng.below(3) {
            let op = ops[self.rng.below(5)];
            let op = if has_bin(op, elem) { op } else { Bin::Add };
            let value = self.loaded(elem, k);
            let value = match self.rng.one_in(3) && is_int(elem) {
                true => Expr::bin(Bin::Add, value, Expr::new(Op::Cast(elem), [k.clone()])),
                false => value,
            };
            let sum = Expr::bin(op, Expr::leaf(Op::Var(acc)), value);
            body.push(Stmt::Set { var: acc, op: None, value: sum });
        }
        if self.rng.one_in(3) {
            let slot = self.rng.below(SLOTS as usize) as u32;
            body.insert(
                self.rng.below(body.len() + 1),
                Stmt::Store { elem, slot, value: Expr::leaf(Op::Var(acc)) },
            );
        }
        body
    }

    /// Inserts a loop somewhere, and a store of its result.
    fn add(&mut self) {
        let elem = NUMBERS[self.rng.below(NUMBERS.len())];
        let counts = [Elem::U32, Elem::I32][self.rng.below(2)];
        let acc = self.declare(Ty::lane(elem), true);
        let var = self.declare(Ty::wave(counts), false);
        let k = Expr::new(Op::Cast(Elem::U32), [Expr::leaf(Op::Var(var))]);
        let range = Range { inclusive: false, reversed: false, step: None, stages: None };
        let [start, end] = self.bounds(counts);
        let init = Expr::leaf(Op::Own(elem, 0));
        let slot = self.rng.below(SLOTS as usize) as u32;
        let stmts = vec![
            Stmt::Let { var: acc, init },
            Stmt::For { var, range, start, end, body: self.body(acc, elem, &k) },
            Stmt::Store { elem, slot, value: Expr::leaf(Op::Var(acc)) },
        ];
        let at = self.rng.below(self.program.body.len() + 1);
        let stmts = match self.rng.one_in(3) {
            true => {
                let some = [Expr::leaf(Op::Id(Id::Lane)), Expr::u32(self.rng.below(70) as u32)];
                vec![Stmt::If { cond: Expr::new(Op::Cmp(Pred::Lt), some), then: stmts, els: Vec::new() }]
            }
            false => stmts,
        };
        self.program.body.splice(at..at, stmts);
    }
}

/// The program with this number and additional loops, and the number of these.
fn with_loops(seed: u64) -> (Program, usize) {
    let mut adds = Adds { rng: Random::new(!seed), program: generate::program(seed) };
    let count = 1 + adds.rng.below(3);
    (0..count).for_each(|_| adds.add());
    (adds.program, count)
}

/// The number of loops with a condition in the built program.
fn loops(program: &Program) -> usize {
    let Ok(built) = Generated(program).build(Target::GFX942) else { return 0 };
    built.ir().matches("do {").count()
}

#[test]
fn several_trips_at_a_time_give_what_the_interpreter_gives() {
    let (first, count) = (fuzz_seed(0), fuzz_count(COUNT));
    let (mut same, mut added, mut several, mut seed) = (0, 0, 0, first);
    while same < count && seed < first + 20 * count {
        let (program, more) = with_loops(seed);
        assert!(typing::is_valid(&program));
        match run::check(&program, &run::gfx9()) {
            Outcome::Same => {
                same += 1;
                added += more;
                // Next to each loop of several trips is one for the remaining trips.
                several += loops(&program).saturating_sub(loops(&generate::program(seed)) + more);
            }
            Outcome::Failure(failure) => panic!("{}", run::report(seed, &program, &failure)),
            Outcome::Unspecified(_) | Outcome::TooLarge | Outcome::Missing => {}
        }
        seed += 1;
    }
    println!("{same} programs: of {added} loops that they got, {several} make several trips at a time");
    assert!(
        same >= count.min(1) && (count < COUNT || several >= LEAST_LOOPS),
        "only {several} loops in {same} programs"
    );
}
