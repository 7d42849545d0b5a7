//! Merged accesses: random programs in the simulator, compared with an execution lane by lane in plain Rust; also the
//! number of remaining instructions.

use std::cell::RefCell;

use gcn_dsl::BuildOptions;
use gcn_dsl::prelude::*;
use gcn_test_support::Random;
use gcn_test_support::env::fuzz_seeds;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;
const LANES: usize = 64;
const TURNS: u32 = 3;
/// The number of elements of unchecked memory. Every index of a program is in bounds.
const UNCHECKED: usize = 384;
/// The number that is added to indices of unchecked memory, so that none is negative.
const INSIDE: u32 = 16;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Object {
    /// `&[u32]`.
    Constant,
    First,
    Second,
    /// `&mut [u64]`.
    Wide,
    /// `&mut [u16]`.
    Narrow,
    Lds,
    Raw,
    /// A raw pointer to the same memory.
    Alias,
    Private,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Load,
    Store,
    /// Executed by odd lanes only.
    StoreOdd,
    LoadOdd,
    /// Two elements at once.
    LoadPair,
    StorePair,
    /// `x[turn * 4 + constant]`, which is uniform.
    Uniform,
    Mix,
    Barrier,
}

#[derive(Clone, Copy, Debug)]
struct Op {
    kind: Kind,
    object: Object,
    base: usize,
    constant: i32,
    register: usize,
}

thread_local! {
    static PROGRAM: RefCell<Vec<Op>> = const { RefCell::new(Vec::new()) };
}

fn program() -> Vec<Op> {
    PROGRAM.with_borrow(Clone::clone)
}

gcn_kernel! {
    /// Executes the program. At the end, the registers are written to `out`.
    #[workgroup(64)]
    fn run(
        x: &[u32], y: &mut [u32], z: &mut [u32], w: &mut [u64], h: &mut [u16],
        p: *mut u32, q: *mut u32, out: &mut [u32],
    ) {
        let lane = lane_id();
        let l = Lds::<u32, UNCHECKED>::new();
        let a = Private::<u32, UNCHECKED>::new();
        let mut r: [V<u32>; 4] = [lane, lane * 7, lane ^ 21, lane + 1000];
        #[unroll] for k in 0..6u32 {
            l[lane + k * 64] = lane + k * 64;
        }
        for k in 0..384u32 {
            a[k] = k * 3;
        }
        for turn in 0..TURNS {
            let bases: [V<u32>; 5] = [lane * 4 + turn * 16, lane * 2 + turn * 4, lane + turn, splat(turn * 8), (lane & 0x3c) + 4];
            #[unroll] for op in program() {
                let i = bases[op.base] + op.constant as u32;
                let j = i + INSIDE;
                comptime if op.kind == Kind::Mix {
                    r[op.register] = r[op.register] * 5 + r[op.base % 4];
                }
                comptime if op.kind == Kind::Barrier {
                    barrier();
                }
                comptime if op.kind == Kind::Uniform {
                    r[op.register] += x[turn * 4 + op.constant as u32];
                }
                comptime if op.kind == Kind::Load {
                    r[op.register] += comptime {
                        match op.object {
                            Object::Constant => load(&x, i),
                            Object::First => load(&y, i),
                            Object::Second => load(&z, i),
                            Object::Wide => cast::<u32, _>(load(&w, i)),
                            Object::Narrow => cast::<u32, _>(load(&h, i)),
                            Object::Lds => load(&l, j),
                            Object::Raw => load(&p, j),
                            Object::Alias => load(&q, j),
                            Object::Private => load(&a, j),
                        }
                    };
                }
                comptime if op.kind == Kind::LoadOdd {
                    if (lane & 1) == 1 {
                        r[op.register] += y[i];
                    }
                }
                comptime if op.kind == Kind::LoadPair {
                    r[op.register] += comptime {
                        let pair = match op.object {
                            Object::Constant => x.load_vector::<2>(i),
                            Object::First => y.load_vector::<2>(i),
                            _ => z.load_vector::<2>(i),
                        };
                        pair.get(0) - pair.get(1)
                    };
                }
                comptime if op.kind == Kind::Store {
                    let value = r[op.register];
                    comptime {
                        match op.object {
                            Object::Constant | Object::First => store(&y, i, value),
                            Object::Second => store(&z, i, value),
                            Object::Wide => store(&w, i, cast::<u64, _>(value)),
                            Object::Narrow => store(&h, i, cast::<u16, _>(value)),
                            Object::Lds => store(&l, j, value),
                            Object::Raw => store(&p, j, value),
                            Object::Alias => store(&q, j, value),
                            Object::Private => store(&a, j, value),
                        }
                    };
                }
                comptime if op.kind == Kind::StoreOdd {
                    if (lane & 1) == 1 {
                        y[i] = r[op.register];
                    }
                }
                comptime if op.kind == Kind::StorePair {
                    let pair = Vector::from([r[op.register], r[op.base % 4]]);
                    comptime {
                        match op.object {
                            Object::Constant | Object::First => y.store_vector(i, pair),
                            _ => z.store_vector(i, pair),
                        }
                    };
                }
            }
        }
        #[unroll] for k in 0..4usize {
            out[lane * 4 + k as u32] = r[k];
        }
    }
}

use gcn_dsl::__private::{cast, load, store};

fn random_program(rng: &mut Random) -> Vec<Op> {
    use Object as O;
    const OBJECTS: [Object; 9] =
        [O::Constant, O::First, O::Second, O::Wide, O::Narrow, O::Lds, O::Raw, O::Alias, O::Private];
    const KINDS: [Kind; 12] = [
        Kind::Load,
        Kind::Load,
        Kind::Load,
        Kind::Store,
        Kind::Store,
        Kind::StoreOdd,
        Kind::LoadOdd,
        Kind::LoadPair,
        Kind::StorePair,
        Kind::Uniform,
        Kind::Mix,
        Kind::Barrier,
    ];
    let mut ops = Vec::new();
    for _ in 0..3 + rng.below(8) {
        let mut op = Op {
            kind: KINDS[rng.below(KINDS.len())],
            object: OBJECTS[rng.below(OBJECTS.len())],
            base: rng.below(5),
            constant: rng.below(24) as i32 - 8,
            register: rng.below(4),
        };
        ops.push(op);
        // Neighbouring elements, in any order.
        for _ in 0..rng.below(5) {
            op.constant = (op.constant + [1, 1, 2, -1][rng.below(4)]).clamp(-8, 15);
            op.register = rng.below(4);
            ops.push(op);
        }
    }
    ops
}

/// The memory of a run.
#[derive(Clone, PartialEq, Debug)]
struct State {
    x: Vec<u32>,
    y: Vec<u32>,
    z: Vec<u32>,
    w: Vec<u64>,
    h: Vec<u16>,
    p: Vec<u32>,
    out: Vec<u32>,
}

impl State {
    fn new(rng: &mut Random) -> State {
        let mut numbers = |n: usize| (0..n).map(|_| rng.below(1 << 31) as u32).collect::<Vec<_>>();
        State {
            x: numbers(211),
            y: numbers(203),
            z: numbers(301),
            w: numbers(150).into_iter().map(u64::from).collect(),
            h: numbers(181).into_iter().map(|x| x as u16).collect(),
            p: numbers(UNCHECKED),
            out: vec![0; 4 * LANES],
        }
    }

    /// Executes the program, all lanes at each step.
    fn interpret(&mut self, ops: &[Op]) {
        let mut l: Vec<u32> = (0..UNCHECKED as u32).collect();
        let mut a: Vec<Vec<u32>> = vec![(0..UNCHECKED as u32).map(|k| k * 3).collect(); LANES];
        let mut r: Vec<[u32; 4]> =
            (0..LANES as u32).map(|lane| [lane, lane * 7, lane ^ 21, lane + 1000]).collect();
        let at = |v: &[u32], i: u32| v.get(i as usize).copied().unwrap_or(0);
        let put = |v: &mut [u32], i: u32, value: u32| {
            if let Some(x) = v.get_mut(i as usize) {
                *x = value;
            }
        };
        for turn in 0..TURNS {
            for op in ops {
                for lane in 0..LANES as u32 {
                    let regs = &mut r[lane as usize];
                    let bases =
                        [lane * 4 + turn * 16, lane * 2 + turn * 4, lane + turn, turn * 8, (lane & 0x3c) + 4];
                    let i = bases[op.base].wrapping_add(op.constant as u32);
                    let j = i.wrapping_add(INSIDE);
                    let (value, other) = (regs[op.register], regs[op.base % 4]);
                    let reg = &mut regs[op.register];
                    let own = &mut a[lane as usize];
                    let odd = lane & 1 == 1;
                    match op.kind {
                        Kind::Mix => *reg = reg.wrapping_mul(5).wrapping_add(other),
                        Kind::Barrier => {}
                        Kind::Uniform => {
                            let i = (turn * 4).wrapping_add(op.constant as u32);
                            *reg = reg.wrapping_add(at(&self.x, i));
                        }
                        Kind::Load => {
                            let loaded = match op.object {
                                Object::Constant => at(&self.x, i),
                                Object::First => at(&self.y, i),
                                Object::Second => at(&self.z, i),
                                Object::Wide => self.w.get(i as usize).map_or(0, |w| *w as u32),
                                Object::Narrow => self.h.get(i as usize).map_or(0, |h| u32::from(*h)),
                                Object::Lds => l[j as usize],
                                Object::Raw | Object::Alias => self.p[j as usize],
                                Object::Private => own[j as usize],
                            };
                            *reg = reg.wrapping_add(loaded);
                        }
                        Kind::LoadOdd if odd => *reg = reg.wrapping_add(at(&self.y, i)),
                        Kind::LoadPair => {
                            let from = match op.object {
                                Object::Constant => &self.x,
                                Object::First => &self.y,
                                _ => &self.z,
                            };
                            // The second element is the next one in memory, not index 0 after u32::MAX.
                            let next = if i == u32::MAX { 0 } else { at(from, i.wrapping_add(1)) };
                            let next = if i > u32::MAX - 8 { 0 } else { next };
                            *reg = reg.wrapping_add(at(from, i).wrapping_sub(next));
                        }
                        Kind::Store => match op.object {
                            Object::Constant | Object::First => put(&mut self.y, i, value),
                            Object::Second => put(&mut self.z, i, value),
                            Object::Wide => {
                                if let Some(w) = self.w.get_mut(i as usize) {
                                    *w = u64::from(value);
                                }
                            }
                            Object::Narrow => {
                                if let Some(h) = self.h.get_mut(i as usize) {
                                    *h = value as u16;
                                }
                            }
                            Object::Lds => l[j as usize] = value,
                            Object::Raw | Object::Alias => self.p[j as usize] = value,
                            Object::Private => own[j as usize] = value,
                        },
                        Kind::StoreOdd if odd => put(&mut self.y, i, value),
                        Kind::StorePair => {
                            let to = match op.object {
                                Object::Constant | Object::First => &mut self.y,
                                _ => &mut self.z,
                            };
                            put(to, i, value);
                            if i <= u32::MAX - 8 {
                                put(to, i + 1, other);
                            }
                        }
                        Kind::LoadOdd | Kind::StoreOdd => {}
                    }
                }
            }
        }
        self.out = r.into_iter().flatten().collect();
    }
}

/// Runs the program on `target`. Returns the number of executed instructions.
fn simulate(target: Target, merge: bool, ops: &[Op], state: &mut State) -> u64 {
    PROGRAM.replace(ops.to_vec());
    let options = BuildOptions { merge, ..BuildOptions::default() };
    let kernel = run.build_with(target, &options).unwrap();
    let device = Device::simulator(target);
    let p = device.alloc::<u32>(UNCHECKED).unwrap();
    device.write(p, &state.p).unwrap();
    let State { x, y, z, w, h, out, .. } = state;
    let args = (&x[..], &mut y[..], &mut z[..], &mut w[..], &mut h[..], p, p, &mut out[..]);
    let stats = device.launch(&run, &kernel, Grid::x(1), args).unwrap();
    state.p = device.read(p, UNCHECKED).unwrap();
    stats.wave_instructions
}

#[test]
fn random_programs_with_and_without() {
    let (mut plain, mut merged) = (0, 0);
    for seed in fuzz_seeds(1, 24) {
        let mut rng = Random::new(seed);
        let ops = random_program(&mut rng);
        let start = State::new(&mut rng);
        let mut expected = start.clone();
        expected.interpret(&ops);
        let target = TARGETS[seed as usize % 3];
        for merge in [false, true] {
            let mut state = start.clone();
            let executed = simulate(target, merge, &ops, &mut state);
            *(if merge { &mut merged } else { &mut plain }) += executed;
            assert_eq!(state, expected, "seed {seed}, {target}, merge {merge}: {ops:#?}");
        }
    }
    assert!(merged < plain, "merging leaves {merged} of {plain} instructions");
}

/// The number of instructions in the kernel's code whose mnemonic starts with `prefix`.
fn count(kernel: &gcn_dsl::BuiltKernel, prefix: &str) -> usize {
    let text = kernel.assembly(Comments::None);
    text.lines().filter(|line| line.trim_start().starts_with(prefix)).count()
}

gcn_kernel! {
    /// Each lane loads four neighbours and stores four.
    #[workgroup(64)]
    fn four(x: &[f32], a: f32, y: &mut [f32]) {
        let i = global_id().x * 4;
        #[unroll] for k in 0..4u32 {
            y[i + k] = x[i + k] * a;
        }
    }
}

gcn_kernel! {
    /// Neighbours at an index that may be odd, and neighbours after a store to the same slice.
    #[workgroup(64)]
    fn apart(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let sum = x[i] + x[i + 1];
        y[i * 2] = sum;
        let second = y[i * 2 + 1];
        y[i * 2 + 1] = second + y[i * 2];
    }
}

gcn_kernel! {
    /// Sixteen coefficients and the bounds of a row.
    #[workgroup(64)]
    fn table(c: &[f32], x: &mut [f32], row: u32) {
        let mut sum: V<f32> = 0.0;
        #[unroll] for k in 0..16u32 {
            sum += c[row * 16 + k];
        }
        x[global_id().x] = sum;
    }
}

gcn_kernel! {
    /// LDS, with two rows of four elements.
    #[workgroup(64)]
    fn local(x: &mut [f32]) {
        let l = Lds::<f32, 512>::new();
        let i = local_id().x * 8;
        #[unroll] for k in 0..8u32 {
            l[i + k] = x[i + k];
        }
        barrier();
        #[unroll] for k in 0..8u32 {
            x[i + k] = l[504 - i + k];
        }
    }
}

#[test]
fn neighbours_are_one_instruction() {
    for target in TARGETS {
        let kernel = four.build(target).unwrap();
        assert_eq!(count(&kernel, "buffer_load_dwordx4"), 1);
        assert_eq!(count(&kernel, "buffer_store_dwordx4"), 1);
        assert_eq!(count(&kernel, "buffer_"), 2);

        let kernel = apart.build(target).unwrap();
        assert_eq!((count(&kernel, "buffer_load"), count(&kernel, "buffer_store")), (3, 2));

        let kernel = table.build(target).unwrap();
        assert_eq!(count(&kernel, "s_buffer_load_dwordx16"), 1);
        assert_eq!(count(&kernel, "s_buffer_load"), 1);

        let kernel = local.build(target).unwrap();
        assert_eq!((count(&kernel, "ds_write_b128"), count(&kernel, "ds_read_b128")), (2, 2));
        assert_eq!(count(&kernel, "ds_"), 4);
        let mut x: Vec<f32> = (0..512).map(|i| i as f32).collect();
        local.launch(&Device::simulator(target), Grid::x(1), (&mut x,)).unwrap();
        let expected: Vec<f32> = (0..512).map(|i| (504 - i / 8 * 8 + i % 8) as f32).collect();
        assert_eq!(x, expected);
    }
}

gcn_kernel! {
    /// Rows of LDS at constant distances, a loop-invariant address, and a loop-invariant coefficient.
    #[workgroup(64)]
    fn invariant(x: &[f32], c: &[f32], n: u32, y: &mut [f32]) {
        let l = Lds::<f32, 1024>::new();
        let i = local_id().x;
        #[unroll] for k in 0..4u32 {
            l[(k + n) * 64 + i] = x[i * 4 + k];
        }
        barrier();
        let mut sum: V<f32> = 0.0;
        for k in 0..n {
            sum += l[(i ^ 5) + 64 * 3] * c[n * 3] + x[k * 64 + i * n];
        }
        y[i] = sum;
    }
}

#[test]
fn addresses_are_computed_once() {
    for target in TARGETS {
        let text = invariant.build(target).unwrap().assembly(Comments::None);
        // The four rows share one address.
        for offset in ["offset1:64", "offset0:128 offset1:192"] {
            assert!(text.contains(offset), "{offset}: {text}");
        }
        // The loop contains only two loads, the index, the sum and the counter.
        let end = text.rfind("s_cbranch").unwrap();
        let body = &text[text[..end].rfind(":\n").unwrap()..end];
        assert!(
            !body.contains("v_xor") && !body.contains("s_buffer_load") && !body.contains("v_mul_lo"),
            "{text}"
        );
        let x: Vec<f32> = (0..256).map(|i| (i % 17) as f32).collect();
        let c: Vec<f32> = (0..16).map(|i| i as f32 - 4.0).collect();
        let mut y = vec![0.0; 64];
        invariant.launch(&Device::simulator(target), Grid::x(1), (&x, &c, 2, &mut y)).unwrap();
        let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
        for (i, y) in y.iter().enumerate() {
            // Rows 2 to 5 are written; `l` is in row 3, the second of them.
            let l = at((i ^ 5) * 4 + 1);
            let expected: f32 = (0..2).map(|k| l * c[6] + at(k * 64 + i * 2)).sum();
            assert_eq!(*y, expected, "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// A store to one slice, then loads from two others and from the same.
    #[workgroup(64)]
    fn independent(x: &[f32], y: &mut [f32], z: &mut [f32]) {
        let i = global_id().x;
        y[i] = x[i] * 2.0;
        z[i] = x[i + 64] + z[i + 64];
        z[i + 64] = y[63 - i];
    }
}

#[test]
fn accesses_to_other_slices_are_not_waited_for() {
    for target in TARGETS {
        let text = independent.build(target).unwrap().assembly(Comments::None);
        let order: Vec<&str> = text.lines().filter_map(|l| l.trim_start().strip_prefix("buffer_")).collect();
        let first_store = order.iter().position(|l| l.starts_with("store")).unwrap();
        assert_eq!(first_store, 3, "the loads from `x` and `z` come before the store to `y`: {text}");
        assert!(order[4].starts_with("load") || order[5].starts_with("load"), "{text}");
        let x: Vec<f32> = (0..128).map(|i| i as f32).collect();
        let (mut y, mut z) = (vec![0.0; 64], vec![1.0; 128]);
        independent.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y, &mut z)).unwrap();
        for i in 0..64 {
            assert_eq!((y[i], z[i], z[i + 64]), (2.0 * x[i], x[i + 64] + 1.0, 2.0 * x[63 - i]), "{target}");
        }
    }
}
