//! Random structured programs of branches, loops and exits. The result that the simulator computes from the lowered
//! kernel must equal that of an interpreter that executes each lane alone.
//!
//! A program hashes its path through its statements. Each lane has a state, `x`, that every step changes, so a lane
//! that executes a step too many or too few, or in another order, ends with another number. Conditions are bits of the
//! state (varying) or of counters in scalar registers (uniform). Every loop counts its trips in a variable of its own
//! and ends after a maximum number of trips.

use gcn_isa::Target;
use gcn_test_support::{Random, env::fuzz_seeds};

use gcn_dsl::__private::{self as lang, Arguments, Signature, V, with_builder};
use gcn_dsl::ir::build::Builder;
use gcn_dsl::ir::{Bin, Inst, Label, Pred, Region, Stmt, Type, Value, Variable};
use gcn_dsl::launch::DevicePacker;
use gcn_dsl::scalar::Elem;
use gcn_dsl::{Device, Grid, Kernel};

const LANES: usize = 128;
const U32: Type = Type::varying(Elem::U32);
const S32: Type = Type::uniform(Elem::U32);

/// A condition.
#[derive(Clone, Copy, Debug)]
enum Cond {
    /// Bits of the lane's state.
    Lane { shift: u32, mask: u32, equals: u32 },
    /// The argument compared with a constant: the same for all lanes.
    Uniform { shift: u32, mask: u32 },
    /// The uniform trip counter of an enclosing loop; `depth` counts loops from the innermost outwards.
    Trip { depth: usize, at: u32 },
}

impl Cond {
    fn varying(self) -> bool {
        matches!(self, Cond::Lane { .. })
    }
}

/// A statement of a program.
#[derive(Clone, Debug)]
enum Step {
    /// `x = x * a + b`.
    Mix(u32, u32),
    /// `y = y ^ x`, in a second variable.
    Spill,
    /// `out[lane] += x`, which only active lanes may execute.
    Store,
    If(Cond, Vec<Step>, Vec<Step>),
    /// A block with its number.
    Block(u32, Vec<Step>),
    /// An endless loop with a block around each trip. It ends after at most `trips` trips.
    Loop {
        trips: u32,
        outer: u32,
        body: Vec<Step>,
    },
    /// A loop with a condition and a maximum number of trips.
    While {
        trips: u32,
        cond: Cond,
        body: Vec<Step>,
    },
    /// A loop of exactly `trips` trips, for all lanes that do not leave it.
    Count {
        trips: u32,
        body: Vec<Step>,
    },
    Exit(u32),
}

/// Generates programs.
struct Make {
    rng: Random,
    blocks: Vec<u32>,
    labels: u32,
    loops: usize,
    budget: u32,
}

impl Make {
    fn cond(&mut self) -> Cond {
        match self.rng.below(8) {
            0..=3 => {
                let mask = [1, 3, 3, 7, 15][self.rng.below(5)];
                Cond::Lane {
                    shift: self.rng.below(28) as u32,
                    mask,
                    equals: self.rng.below(mask as usize + 1) as u32,
                }
            }
            4..=5 if self.loops > 0 => {
                Cond::Trip { depth: self.rng.below(self.loops), at: self.rng.below(4) as u32 }
            }
            _ => Cond::Uniform { shift: self.rng.below(28) as u32, mask: [1, 3][self.rng.below(2)] },
        }
    }

    fn steps(&mut self, depth: u32) -> Vec<Step> {
        let count = 1 + self.rng.below(4);
        (0..count).map(|_| self.step(depth)).collect()
    }

    fn step(&mut self, depth: u32) -> Step {
        if self.budget == 0 || depth == 0 {
            return self.simple();
        }
        self.budget -= 1;
        match self.rng.below(12) {
            0..=3 => {
                let cond = self.cond();
                let then = self.steps(depth - 1);
                let els = if self.rng.below(2) == 0 { self.steps(depth - 1) } else { Vec::new() };
                Step::If(cond, then, els)
            }
            4..=5 => self.in_block(|m, label| Step::Block(label, m.steps(depth - 1))),
            6..=7 => {
                let trips = 1 + self.rng.below(5) as u32;
                self.in_block(|m, outer| {
                    m.loops += 1;
                    let body = m.steps(depth - 1);
                    m.loops -= 1;
                    Step::Loop { trips, outer, body }
                })
            }
            8 => {
                let (trips, cond) = (1 + self.rng.below(4) as u32, self.cond());
                self.loops += 1;
                let body = self.steps(depth - 1);
                self.loops -= 1;
                Step::While { trips, cond, body }
            }
            9 => {
                let trips = 1 + self.rng.below(4) as u32;
                self.loops += 1;
                let body = self.steps(depth - 1);
                self.loops -= 1;
                Step::Count { trips, body }
            }
            _ => self.simple(),
        }
    }

    fn in_block(&mut self, f: impl FnOnce(&mut Self, u32) -> Step) -> Step {
        let label = self.labels;
        self.labels += 1;
        self.blocks.push(label);
        let step = f(self, label);
        self.blocks.pop();
        step
    }

    fn simple(&mut self) -> Step {
        match self.rng.below(8) {
            0..=2 if !self.blocks.is_empty() => {
                let exit = Step::Exit(*self.rng.pick(&self.blocks));
                match self.rng.below(8) {
                    0 => exit,
                    _ => {
                        let mut then = vec![exit];
                        if self.rng.below(3) == 0 {
                            then.insert(0, Step::Mix(self.rng.next_u32() | 1, self.rng.next_u32()));
                        }
                        let els = if self.rng.below(4) == 0 { vec![Step::Spill] } else { Vec::new() };
                        Step::If(self.cond(), then, els)
                    }
                }
            }
            3 => Step::Spill,
            4 => Step::Store,
            _ => Step::Mix(self.rng.next_u32() | 1, self.rng.next_u32()),
        }
    }
}

fn program(seed: u64) -> Vec<Step> {
    let rng = Random::new(seed);
    let mut make = Make { rng, blocks: Vec::new(), labels: 0, loops: 0, budget: 14 };
    // A block around the whole program, as for `return`.
    vec![
        make.in_block(|m, label| Step::Block(label, (0..3).flat_map(|_| m.steps(5)).collect())),
        Step::Mix(3, 1),
    ]
}

/// The state of one lane.
struct Lane {
    x: u32,
    y: u32,
    out: u32,
    argument: u32,
    trips: Vec<u32>,
}

/// Where execution continues after a statement.
enum Next {
    On,
    Exit(u32),
}

impl Lane {
    fn holds(&self, cond: Cond) -> bool {
        match cond {
            Cond::Lane { shift, mask, equals } => self.x >> shift & mask == equals,
            Cond::Uniform { shift, mask } => self.argument >> shift & mask == 0,
            Cond::Trip { depth, at } => self.trips[self.trips.len() - 1 - depth] == at,
        }
    }

    fn steps(&mut self, steps: &[Step]) -> Next {
        for step in steps {
            if let Next::Exit(label) = self.step(step) {
                return Next::Exit(label);
            }
        }
        Next::On
    }

    fn trip(&mut self, body: &[Step]) -> Next {
        let next = self.steps(body);
        if let Some(trip) = self.trips.last_mut() {
            *trip += 1;
        }
        next
    }

    fn step(&mut self, step: &Step) -> Next {
        match step {
            Step::Mix(a, b) => self.x = self.x.wrapping_mul(*a).wrapping_add(*b),
            Step::Spill => self.y ^= self.x,
            Step::Store => self.out = self.out.wrapping_add(self.x),
            Step::If(cond, then, els) => {
                let branch = if self.holds(*cond) { then } else { els };
                return self.steps(branch);
            }
            Step::Block(label, body) => match self.steps(body) {
                Next::Exit(l) if l != *label => return Next::Exit(l),
                _ => {}
            },
            Step::Loop { trips, outer, body } => {
                self.trips.push(0);
                let mut next = Next::On;
                while self.trips.last() < Some(trips) {
                    if let Next::Exit(l) = self.trip(body) {
                        next = if l == *outer { Next::On } else { Next::Exit(l) };
                        break;
                    }
                }
                self.trips.pop();
                return next;
            }
            Step::While { trips, cond, body } => {
                self.trips.push(0);
                let mut next = Next::On;
                while self.holds(*cond) && self.trips.last() < Some(trips) {
                    if let Next::Exit(l) = self.trip(body) {
                        next = Next::Exit(l);
                        break;
                    }
                }
                self.trips.pop();
                return next;
            }
            Step::Count { trips, body } => {
                self.trips.push(0);
                let mut next = Next::On;
                while self.trips.last() < Some(trips) {
                    if let Next::Exit(l) = self.trip(body) {
                        next = Next::Exit(l);
                        break;
                    }
                }
                self.trips.pop();
                return next;
            }
            Step::Exit(label) => return Next::Exit(*label),
        }
        Next::On
    }
}

/// The program, to be built as a kernel.
#[derive(Clone, Copy)]
struct RandomKernel<'p> {
    steps: &'p [Step],
}

/// What the parts of the kernel need.
struct Emit {
    x: Variable,
    y: Variable,
    argument: Value,
    out: lang::Slice<u32, lang::Writable>,
    lane: V<u32>,
    labels: Vec<(u32, Label)>,
    trips: Vec<Variable>,
}

fn value(inst: Inst, ty: Type) -> Value {
    with_builder(|b| b.value(inst, ty, None))
}

fn constant(bits: u32, ty: Type) -> Value {
    with_builder(|b| b.constant(u64::from(bits), ty))
}

fn read(var: Variable) -> Value {
    with_builder(|b| b.read(var, None))
}

fn write(var: Variable, v: Value) {
    with_builder(|b| b.write(var, v, None));
}

impl Emit {
    fn cond(&self, cond: Cond) -> Value {
        let (varying, uniform) = (Type::varying(Elem::Bool), Type::uniform(Elem::Bool));
        let field = |v: Value, ty: Type, shift: u32, mask: u32| {
            let shifted = value(Inst::Bin(Bin::Shr, v, constant(shift, ty)), ty);
            value(Inst::Bin(Bin::And, shifted, constant(mask, ty)), ty)
        };
        match cond {
            Cond::Lane { shift, mask, equals } => {
                let bits = field(read(self.x), U32, shift, mask);
                value(Inst::Cmp(Pred::Eq, bits, constant(equals, U32)), varying)
            }
            Cond::Uniform { shift, mask } => {
                let bits = field(self.argument, S32, shift, mask);
                value(Inst::Cmp(Pred::Eq, bits, constant(0, S32)), uniform)
            }
            Cond::Trip { depth, at } => {
                let trip = read(self.trips[self.trips.len() - 1 - depth]);
                value(Inst::Cmp(Pred::Eq, trip, constant(at, S32)), uniform)
            }
        }
    }

    /// A counter that starts at 0.
    fn count_from_0(&mut self) -> Variable {
        let counter = with_builder(|b| b.declare(S32));
        write(counter, constant(0, S32));
        self.trips.push(counter);
        counter
    }

    /// Increments the counter and compares it with the bound.
    fn count(&self, counter: Variable, pred: Pred, trips: u32) -> Value {
        let next = value(Inst::Bin(Bin::Add, read(counter), constant(1, S32)), S32);
        write(counter, next);
        value(Inst::Cmp(pred, next, constant(trips, S32)), Type::uniform(Elem::Bool))
    }

    fn steps(&mut self, steps: &[Step]) {
        steps.iter().for_each(|s| self.step(s));
    }

    fn region(&mut self, varying: bool, steps: &[Step]) -> Region {
        with_builder(|b| b.open(varying));
        self.steps(steps);
        with_builder(|b| b.close(varying))
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Mix(a, b) => {
                let product = value(Inst::Bin(Bin::Mul, read(self.x), constant(*a, U32)), U32);
                write(self.x, value(Inst::Bin(Bin::Add, product, constant(*b, U32)), U32));
            }
            Step::Spill => {
                let both = value(Inst::Bin(Bin::Xor, read(self.y), read(self.x)), U32);
                write(self.y, both);
            }
            Step::Store => {
                let old: V<u32> = lang::load(&self.out, self.lane);
                lang::store(&self.out, self.lane, old + V::from_value(read(self.x)));
            }
            Step::If(cond, then, els) => {
                let (c, varying) = (self.cond(*cond), cond.varying());
                let then = self.region(varying, then);
                let els = self.region(varying, els);
                with_builder(|b| b.stmt(Stmt::If { cond: c, then, els }));
            }
            Step::Block(label, body) => {
                let l = with_builder(Builder::open_block);
                self.labels.push((*label, l));
                self.steps(body);
                self.labels.pop();
                with_builder(|b| b.close_block(l));
            }
            Step::Loop { trips, outer, body } => {
                let l = with_builder(Builder::open_block);
                self.labels.push((*outer, l));
                let counter = self.count_from_0();
                with_builder(|b| b.open(true));
                self.steps(body);
                let done = self.count(counter, Pred::Ge, *trips);
                with_builder(|b| {
                    let leave = Region { stmts: vec![Stmt::Exit(l)] };
                    b.stmt(Stmt::If { cond: done, then: leave, els: Region::default() });
                    let body = b.close(true);
                    b.stmt(Stmt::Loop { body });
                });
                self.trips.pop();
                self.labels.pop();
                with_builder(|b| b.close_block(l));
            }
            Step::While { trips, cond, body } => {
                let counter = self.count_from_0();
                with_builder(|b| b.open(true));
                let bounded = value(
                    Inst::Cmp(Pred::Lt, read(counter), constant(*trips, S32)),
                    Type::uniform(Elem::Bool),
                );
                let holds = self.cond(*cond);
                let (bounded, ty) = match cond.varying() {
                    true => {
                        (value(Inst::Splat(bounded), Type::varying(Elem::Bool)), Type::varying(Elem::Bool))
                    }
                    false => (bounded, Type::uniform(Elem::Bool)),
                };
                let both = value(Inst::Bin(Bin::And, holds, bounded), ty);
                let head = with_builder(|b| b.close(true));
                with_builder(|b| b.open(true));
                self.steps(body);
                self.count(counter, Pred::Lt, *trips);
                with_builder(|b| {
                    let body = b.close(true);
                    b.stmt(Stmt::While { head, cond: both, body });
                });
                self.trips.pop();
            }
            Step::Count { trips, body } => {
                let counter = self.count_from_0();
                with_builder(|b| b.open(true));
                self.steps(body);
                let again = self.count(counter, Pred::Lt, *trips);
                with_builder(|b| {
                    let body = b.close(true);
                    b.stmt(Stmt::DoWhile { body, cond: again });
                });
                self.trips.pop();
            }
            Step::Exit(label) => {
                let found =
                    self.labels.iter().rev().find(|l| l.0 == *label).expect("exits are inside their blocks");
                with_builder(|b| b.exit(found.1));
            }
        }
    }
}

impl Kernel for RandomKernel<'_> {
    type Args<'a> = (u32, &'a mut [u32], &'a mut [u32]);
    type DeviceArgs<'a> = ();

    fn signature(&self) -> Signature {
        Signature::new("random", &[], [LANES as u32, 1, 1])
            .value::<u32>("argument")
            .slice_mut::<u32>("state")
            .slice_mut::<u32>("out")
    }

    fn trace(&self, args: &mut Arguments) {
        let argument = args.value::<u32>();
        let state = args.slice_mut::<u32>();
        let out = args.slice_mut::<u32>();
        let lane = lang::global_id().x;
        let first: V<u32> = lang::load(&state, lane);
        let [x, y] = [first.to_value(), constant(0, U32)].map(|init| {
            let var = with_builder(|b| b.declare(U32));
            write(var, init);
            var
        });
        let mut emit =
            Emit { x, y, argument: argument.to_value(), out, lane, labels: Vec::new(), trips: Vec::new() };
        emit.steps(self.steps);
        let (x, y): (V<u32>, V<u32>) = (V::from_value(read(x)), V::from_value(read(y)));
        lang::store(&state, lane, x ^ (y * 0x9e37_79b1));
    }

    fn pack<'b, 'a: 'b>(args: &'b mut Self::Args<'a>, packer: &mut lang::Packer<'b>) {
        packer.value(args.0);
        packer.slice_mut(args.1);
        packer.slice_mut(args.2);
    }

    fn pack_device<'b, 'a: 'b>((): &'b mut Self::DeviceArgs<'a>, _packer: &mut DevicePacker<'b>) {}
}

fn agree(seed: u64, target: Target) -> Result<(), String> {
    let steps = program(seed);
    let mut rng = Random::new(!seed);
    let argument = rng.next_u32();
    let first = rng.words::<LANES>(&[]).to_vec();
    let expected: Vec<(u32, u32)> = first
        .iter()
        .map(|x| {
            let mut lane = Lane { x: *x, y: 0, out: 0, argument, trips: Vec::new() };
            lane.steps(&steps);
            (lane.x ^ lane.y.wrapping_mul(0x9e37_79b1), lane.out)
        })
        .collect();
    let (mut state, mut out) = (first, vec![0; LANES]);
    let kernel = RandomKernel { steps: &steps };
    let text = || {
        kernel.build(target).map(|k| format!("{}\n{}", k.ir(), k.assembly(gcn_emit::text::Comments::None)))
    };
    kernel
        .launch(&Device::simulator(target), Grid::x(1), (argument, &mut state, &mut out))
        .map_err(|e| format!("{e}\n{:#?}\n{}", kernel.steps, text().unwrap_or_default()))?;
    let wrong = (0..LANES).filter(|i| (state[*i], out[*i]) != expected[*i]).count();
    if wrong > 0 {
        return Err(format!("{wrong} lanes differ\n{:#?}\n{}", kernel.steps, text().unwrap_or_default()));
    }
    Ok(())
}

#[test]
fn random_programs_of_branches_loops_and_exits() {
    for seed in fuzz_seeds(1, 100) {
        let target = super::TARGETS[seed as usize % 2];
        if let Err(e) = agree(seed, target) {
            panic!("seed {seed}, {target}: {e}");
        }
    }
}
