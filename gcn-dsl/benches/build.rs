//! `Kernel::build` on kernels of growing length: the time of each phase, and its growth. If it is nearly linear, the ratio
//! from each length to the next is about 10.
//!
//! `cargo bench -p gcn-dsl --bench build -- [shape…]`; the environment variable `GCN_BENCH_LENGTHS` (`10000,100000`) sets
//! other lengths. Prints seconds, the ratios between lengths, and the peak memory of each build.

#![allow(missing_docs, reason = "a program of its own")]

use std::sync::OnceLock;
use std::time::Instant;

use gcn_dsl::__private::{
    self as lang, Arguments, Leave, Packer, RegisterLimits, S, Signature, Uniform, V, Var, WholeWorkgroup,
};
use gcn_dsl::launch::DevicePacker;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildOptions, Kernel};
use gcn_test_support::Random;

const LENGTHS: [usize; 3] = [10_000, 100_000, 1_000_000];
/// The number of VGPRs of the kernels that spill.
const FEW_VGPRS: u32 = 32;

/// The shape of a kernel's code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Code {
    /// No control flow; each value has its own variable.
    Straight,
    /// No control flow; the same variables are assigned many times.
    Variables,
    /// No control flow; loads and stores in the whole kernel.
    Memory,
    /// Consecutive short loops.
    Loops,
    /// Consecutive varying branches.
    Branches,
    /// Consecutive nests of this many loops.
    Nests(usize),
    /// Consecutive nests of this many varying branches.
    Ifs(usize),
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    name: &'static str,
    code: Code,
    /// The number of values that are live at once.
    live: usize,
    vgprs: Option<u32>,
}

const fn fits(name: &'static str, code: Code) -> Shape {
    Shape { name, code, live: 20, vgprs: None }
}

const fn spills(name: &'static str, code: Code) -> Shape {
    Shape { name, code, live: 80, vgprs: Some(FEW_VGPRS) }
}

const SHAPES: [Shape; 14] = [
    fits("straight", Code::Straight),
    fits("variables", Code::Variables),
    fits("memory", Code::Memory),
    fits("loops", Code::Loops),
    fits("branches", Code::Branches),
    fits("nests", Code::Nests(8)),
    fits("ifs", Code::Ifs(8)),
    fits("deep", Code::Nests(100)),
    spills("straight-spilled", Code::Straight),
    spills("variables-spilled", Code::Variables),
    spills("loops-spilled", Code::Loops),
    spills("branches-spilled", Code::Branches),
    spills("nests-spilled", Code::Nests(8)),
    spills("deep-spilled", Code::Nests(100)),
];

/// A kernel of about this many instructions.
#[derive(Clone, Copy)]
struct Long {
    shape: Shape,
    length: usize,
}

impl Kernel for Long {
    type Args<'a> = ();
    type DeviceArgs<'a> = ();

    fn signature(&self) -> Signature {
        let s = Signature::new("long", &[], [64, 1, 1]);
        s.value::<u32>("n").slice::<f32>("x").slice_mut::<f32>("y")
    }

    fn trace(&self, arguments: &mut Arguments) {
        let n = arguments.value::<u32>();
        let x = arguments.slice::<f32>();
        let y = arguments.slice_mut::<f32>();
        let lane = lang::lane_id();
        let mut random = Random::new(1);
        let start: Vec<V<f32>> = (0..self.shape.live as u32).map(|k| lang::load(&x, lane + 64 * k)).collect();
        let end: Vec<V<f32>> = match self.shape.code {
            Code::Straight => straight(&mut random, self.length, start),
            Code::Memory => {
                let mut pool = start;
                for k in 0..self.length as u32 / 4 {
                    let (a, b) = (random.below(pool.len()), random.below(pool.len()));
                    let sum = pool[a] + lang::load(&y, lane + 64 * k);
                    lang::store(&y, lane + 64 * k + 1, sum * pool[b]);
                    pool[b] = sum;
                }
                pool
            }
            code => {
                let flow = WholeWorkgroup::new();
                let pool: Vec<Var<V<f32>, WholeWorkgroup>> =
                    start.into_iter().map(|v| Var::declare(&flow, v)).collect();
                let mut body = Body { random, n, lane, pool, left: self.length };
                while body.left > 0 {
                    body.write(code);
                }
                body.pool.iter().map(Var::get).collect()
            }
        };
        end.into_iter().enumerate().for_each(|(k, v)| lang::store(&y, lane + 64 * k as u32, v));
    }

    fn pack<'b, 'a: 'b>((): &'b mut Self::Args<'a>, _packer: &mut Packer<'b>) {}

    fn pack_device<'b, 'a: 'b>((): &'b mut Self::DeviceArgs<'a>, _packer: &mut DevicePacker<'b>) {}
}

fn straight(random: &mut Random, length: usize, mut pool: Vec<V<f32>>) -> Vec<V<f32>> {
    for _ in 0..length {
        let (a, b, at) = (random.below(pool.len()), random.below(pool.len()), random.below(pool.len()));
        pool[at] = pool[a] + pool[b];
    }
    pool
}

struct Body {
    random: Random,
    n: S<u32>,
    lane: V<u32>,
    pool: Vec<Var<V<f32>, WholeWorkgroup>>,
    left: usize,
}

impl Body {
    fn add(&mut self, count: usize) {
        let flow = WholeWorkgroup::new();
        for _ in 0..count {
            let [a, b, at] = [(); 3].map(|()| self.random.below(self.pool.len()));
            self.pool[at].set(&flow, self.pool[a].get() + self.pool[b].get());
        }
        self.left = self.left.saturating_sub(count);
    }

    fn write(&mut self, code: Code) {
        match code {
            Code::Variables => self.add(20),
            Code::Loops => self.nest(1, 16),
            Code::Branches => self.ifs(1, 12),
            Code::Nests(depth) => self.nest(depth, 4),
            Code::Ifs(depth) => self.ifs(depth, 4),
            Code::Straight | Code::Memory => unreachable!("has no variables"),
        }
    }

    /// Nested loops.
    fn nest(&mut self, depth: usize, count: usize) {
        let mut open = Vec::new();
        for _ in 0..depth {
            let range = lang::range(0u32, self.n);
            open.push(lang::for_begin::<_, WholeWorkgroup, Uniform, Uniform>(
                range,
                &WholeWorkgroup::new(),
                false,
                false,
            ));
            self.add(count);
        }
        for guard in open.into_iter().rev() {
            self.add(1);
            guard.end(&Leave::together(), &Leave::together());
        }
        self.left = self.left.saturating_sub(3 * depth);
    }

    /// Nested branches that only some lanes take.
    fn ifs(&mut self, depth: usize, count: usize) {
        let mut open = Vec::new();
        for _ in 0..depth {
            let lane = self.random.below(64) as u32;
            open.push(lang::if_begin(lang::lt(self.lane, lane), &WholeWorkgroup::new()));
            self.add(count);
        }
        for guard in open.into_iter().rev() {
            self.add(1);
            guard.end();
        }
        self.left = self.left.saturating_sub(3 * depth);
    }
}

/// The seconds of each phase, in order.
type Phases = Vec<(&'static str, f64)>;

struct Measured {
    phases: Phases,
    instructions: usize,
    spills: usize,
    /// The peak memory in mebibytes.
    memory: usize,
}

fn measure(shape: Shape, length: usize) -> Measured {
    let registers =
        RegisterLimits { vgprs: shape.vgprs, agprs: shape.vgprs.map(|_| 0), ..Default::default() };
    let options = BuildOptions { registers, ..BuildOptions::default() };
    let mut phases = Phases::new();
    let mut last = seconds();
    let mut observe = |phase| {
        let now = seconds();
        phases.push((phase, now - last));
        last = now;
    };
    let built = Long { shape, length }.build_observed(Target::GFX90A, &options, &mut observe);
    let built = built.expect("it builds");
    let (instructions, spills) = (built.program().lines.len(), built.spills().total());
    drop(built);
    observe("drop");
    Measured { phases, instructions, spills, memory: peak_memory() }
}

/// The CPU time of this thread in seconds, which does not depend on other processes. If it is not available, the time of
/// the clock.
fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let run = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds: Option<f64> = run.and_then(|s| s.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed().as_secs_f64(), |n| n / 1e9)
}

/// The peak memory of this process since the last call, in mebibytes; 0 if it is not available.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
    _ = std::fs::write("/proc/self/clear_refs", "5");
    peak.unwrap_or(0usize) / 1024
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let lengths = std::env::var("GCN_BENCH_LENGTHS");
    let lengths: Vec<usize> = match &lengths {
        Ok(list) => list.split(',').filter_map(|n| n.parse().ok()).collect(),
        Err(_) => LENGTHS.to_vec(),
    };
    for shape in SHAPES.into_iter().filter(|s| wanted.is_empty() || wanted.iter().any(|w| w == s.name)) {
        println!("{}", shape.name);
        let mut before: Option<Measured> = None;
        for &length in &lengths {
            let now = measure(shape, length);
            let total: f64 = now.phases.iter().map(|p| p.1).sum();
            print!("  {:>8} instructions, {:>7} moves", now.instructions, now.spills);
            print!(", {:>5} MiB, {total:8.3} s", now.memory);
            let ratio = |after: f64, before: f64| if before > 0.0 { after / before } else { f64::NAN };
            match &before {
                Some(old) => {
                    let all: f64 = old.phases.iter().map(|p| p.1).sum();
                    let grown = now.instructions as f64 / old.instructions as f64;
                    println!(", x {:.1} for x {grown:.1}", ratio(total, all));
                }
                None => println!(),
            }
            for (i, (phase, seconds)) in now.phases.iter().enumerate() {
                print!("    {phase:<10} {seconds:8.3}");
                match before.as_ref().and_then(|b| b.phases.get(i)) {
                    Some(old) => println!("  x {:.1}", ratio(*seconds, old.1)),
                    None => println!(),
                }
            }
            before = Some(now);
        }
    }
}
