//! Register allocation of functions of growing length: instructions per second, which should not fall with the length.

#![allow(missing_docs, reason = "a program of its own")]

use divan::Bencher;
use divan::counter::ItemsCount;
use gcn_dsl::mir::{Function, MBlock, MInst, MOperand, Op, VReg, VSlice};
use gcn_dsl::regalloc::{LdsFrame, LdsRoom, Limits, SpillTo, allocate};
use gcn_isa::{Inline, Label, Operand, RegFile, Target, table};

fn main() {
    divan::main();
}

const LENGTHS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// A function that is being generated.
struct Writer {
    f: Function,
    state: u64,
    length: usize,
}

impl Writer {
    fn new(target: Target) -> Writer {
        let mut f = Function::new(target, "bench");
        f.blocks.push(MBlock::default());
        Writer { f, state: 0x9e37_79b9_7f4a_7c15, length: 0 }
    }

    /// A pseudo-random number below `n`. The sequence is the same in every run.
    fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % n
    }

    fn reg(&mut self, file: RegFile, len: u8) -> VSlice {
        let reg = self.f.new_vreg(file, len);
        VSlice { reg, start: 0, len }
    }

    fn block(&mut self, loop_depth: u32) -> u32 {
        self.f.blocks.push(MBlock { insts: Vec::new(), loop_depth });
        self.f.blocks.len() as u32 - 1
    }

    fn push(&mut self, op: Op, operands: &[MOperand]) {
        let inst = MInst { op, operands: operands.iter().copied().collect(), keeps_dst: false, loc: None };
        self.f.blocks.last_mut().expect("it starts with a block").insts.push(inst);
        self.length += 1;
    }

    fn inst(&mut self, name: &str, operands: &[MOperand]) {
        let row = table::find_form(self.f.target, name, "").unwrap_or_else(|| panic!("there is no {name}"));
        self.push(Op::Machine(row, row.default_mods()), operands);
    }

    fn constant(&mut self, file: RegFile, len: u8) -> VSlice {
        let reg = self.reg(file, len);
        self.push(Op::Copy, &[MOperand::Virt(reg), MOperand::Fixed(Operand::Inline(Inline::Int(1)))]);
        reg
    }

    /// A loaded value, which cannot be recomputed.
    fn loaded(&mut self, address: VSlice, len: u8) -> VSlice {
        let reg = self.reg(RegFile::Vgpr, len);
        let name = ["ds_read_b32", "ds_read_b64", "", "ds_read_b128"][usize::from(len) - 1];
        self.inst(name, &[MOperand::Virt(reg), MOperand::Virt(address)]);
        reg
    }

    fn add(&mut self, to: VSlice, a: VSlice, b: VSlice) {
        self.inst("v_add_f32_e32", &[MOperand::Virt(to), MOperand::Virt(a), MOperand::Virt(b)]);
    }

    fn store(&mut self, address: VSlice, value: VSlice) {
        self.inst("ds_write_b32", &[MOperand::Virt(address), MOperand::Virt(value)]);
    }

    fn branch_back(&mut self, to: u32, depth: u32) {
        self.inst("s_cbranch_scc1", &[MOperand::Fixed(Operand::Label(Label(to)))]);
        self.block(depth);
    }

    fn end(mut self) -> Function {
        self.inst("s_endpgm", &[MOperand::Fixed(Operand::Imm(0))]);
        self.f
    }
}

/// Straight-line code with `live` values at a time, each read about twice and far from its definition.
fn straight(length: usize, live: usize) -> Function {
    let mut w = Writer::new(Target::GFX90A);
    let address = w.constant(RegFile::Vgpr, 1);
    let mut pool: Vec<VSlice> = (0..live).map(|_| w.loaded(address, 1)).collect();
    while w.length < length {
        let (a, b, at) = (w.below(live), w.below(live), w.below(live));
        let sum = w.reg(RegFile::Vgpr, 1);
        w.add(sum, pool[a], pool[b]);
        pool[at] = sum;
    }
    pool.into_iter().for_each(|v| w.store(address, v));
    w.end()
}

/// The same with registers that are written many times.
fn variables(length: usize, live: usize) -> Function {
    let mut w = Writer::new(Target::GFX90A);
    let address = w.constant(RegFile::Vgpr, 1);
    let pool: Vec<VSlice> = (0..live).map(|_| w.loaded(address, 1)).collect();
    while w.length < length {
        let (a, b, at) = (w.below(live), w.below(live), w.below(live));
        w.add(pool[at], pool[a], pool[b]);
    }
    pool.into_iter().for_each(|v| w.store(address, v));
    w.end()
}

/// Consecutive loops of twenty instructions, on variables of which `live` are live through all loops.
fn loops(length: usize, live: usize) -> Function {
    let mut w = Writer::new(Target::GFX90A);
    let address = w.constant(RegFile::Vgpr, 1);
    let pool: Vec<VSlice> = (0..live).map(|_| w.loaded(address, 1)).collect();
    while w.length < length {
        let head = w.block(1);
        let mut sum = w.loaded(address, 1);
        for _ in 0..17 {
            let (a, next) = (w.below(live), w.reg(RegFile::Vgpr, 1));
            w.add(next, sum, pool[a]);
            sum = next;
        }
        let to = w.below(live);
        w.add(pool[to], sum, sum);
        w.branch_back(head, 0);
    }
    pool.into_iter().for_each(|v| w.store(address, v));
    w.end()
}

/// Consecutive nests of `depth` loops.
fn nests(length: usize, depth: u32, live: usize) -> Function {
    let mut w = Writer::new(Target::GFX90A);
    let address = w.constant(RegFile::Vgpr, 1);
    let pool: Vec<VSlice> = (0..live).map(|_| w.loaded(address, 1)).collect();
    while w.length < length {
        let mut heads = Vec::new();
        for level in 0..depth {
            heads.push(w.block(level + 1));
            for _ in 0..5 {
                let (a, b, at) = (w.below(live), w.below(live), w.below(live));
                w.add(pool[at], pool[a], pool[b]);
            }
        }
        for (level, head) in heads.into_iter().enumerate().rev() {
            let (a, b, at) = (w.below(live), w.below(live), w.below(live));
            w.add(pool[at], pool[a], pool[b]);
            w.branch_back(head, level as u32);
        }
    }
    pool.into_iter().for_each(|v| w.store(address, v));
    w.end()
}

/// Tuples of one, two and four registers, read in parts.
fn tuples(length: usize, live: usize) -> Function {
    let mut w = Writer::new(Target::GFX90A);
    let address = w.constant(RegFile::Vgpr, 1);
    let mut pool: Vec<VSlice> = (0..live).map(|i| w.loaded(address, [1, 2, 4][i % 3])).collect();
    let part = |w: &mut Writer, of: VSlice| VSlice { start: w.below(of.len.into()) as u8, len: 1, ..of };
    while w.length < length {
        let at = w.below(live);
        pool[at] = w.loaded(address, pool[at].len);
        for _ in 0..4 {
            let (a, b, at) = (w.below(live), w.below(live), w.below(live));
            let (to, a, b) = (part(&mut w, pool[at]), part(&mut w, pool[a]), part(&mut w, pool[b]));
            w.add(to, a, b);
        }
    }
    for v in pool {
        let v = part(&mut w, v);
        w.store(address, v);
    }
    w.end()
}

/// Scalars that are spilled to lanes of VGPRs.
fn scalars(length: usize, live: usize) -> Function {
    let mut w = Writer::new(Target::GFX90A);
    let base = w.constant(RegFile::Sgpr, 1);
    let mut pool: Vec<VSlice> = Vec::new();
    for _ in 0..live {
        let v = w.reg(RegFile::Sgpr, 1);
        w.inst("s_add_u32", &[MOperand::Virt(v), MOperand::Virt(base), MOperand::Virt(base)]);
        pool.push(v);
    }
    while w.length < length {
        let (a, b, at) = (w.below(live), w.below(live), w.below(live));
        let sum = w.reg(RegFile::Sgpr, 1);
        w.inst("s_add_u32", &[MOperand::Virt(sum), MOperand::Virt(pool[a]), MOperand::Virt(pool[b])]);
        pool[at] = sum;
    }
    let address = w.constant(RegFile::Vgpr, 1);
    for v in pool {
        let value = w.reg(RegFile::Vgpr, 1);
        w.push(Op::Copy, &[MOperand::Virt(value), MOperand::Virt(v)]);
        w.store(address, value);
    }
    w.end()
}

/// Where values without a register are spilled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum To {
    Nowhere,
    Agprs,
    Lds,
    Scratch,
}

/// The number of available VGPRs.
const VGPRS: u16 = 32;
/// Numbers of live values: one that fits into these registers, and one that does not.
const FEW: usize = 24;
const MANY: usize = 96;

fn run(bencher: Bencher<'_, '_>, mut f: Function, to: To) {
    let mut spill = SpillTo { lanes: true, agprs: to == To::Agprs, ..SpillTo::default() };
    if to != To::Nowhere {
        spill.frame = Some(0);
    }
    if to == To::Lds {
        let address: VReg = f.new_vreg(RegFile::Vgpr, 1);
        let whole = MOperand::Virt(address.all(f.info(address)));
        let copy = MInst {
            op: Op::Copy,
            operands: [whole, MOperand::Fixed(Operand::Inline(Inline::Int(4)))].into_iter().collect(),
            keeps_dst: false,
            loc: None,
        };
        f.blocks[0].insts.insert(0, copy);
        spill.lds = Some(LdsFrame {
            address,
            room: LdsRoom { address: 0, first_byte: 0, slot_bytes: 256, slots: 128 },
        });
    }
    let limits = Limits { vgprs: VGPRS, agprs: 128, sgprs: 48, spill, ..Limits::default() };
    let count: usize = f.blocks.iter().map(|b| b.insts.len()).sum();
    bencher
        .counter(ItemsCount::new(count))
        .bench(|| allocate(divan::black_box(&f), &limits).expect("it can be allocated").spills.total());
}

macro_rules! benches {
    ($($name:ident: $to:ident, |$length:ident| $make:expr;)*) => {$(
        #[divan::bench(args = LENGTHS, sample_count = 3, sample_size = 1)]
        fn $name(bencher: Bencher<'_, '_>, $length: usize) {
            run(bencher, $make, To::$to);
        }
    )*};
}

benches! {
    straight_fits: Nowhere, |n| straight(n, FEW);
    straight_agprs: Agprs, |n| straight(n, MANY);
    straight_lds: Lds, |n| straight(n, MANY);
    straight_scratch: Scratch, |n| straight(n, MANY);
    straight_crowd: Scratch, |n| straight(n, 10 * MANY);
    variables_fit: Nowhere, |n| variables(n, FEW);
    variables_scratch: Scratch, |n| variables(n, MANY);
    loops_fit: Nowhere, |n| loops(n, FEW);
    loops_agprs: Agprs, |n| loops(n, MANY);
    loops_scratch: Scratch, |n| loops(n, MANY);
    nests_fit: Nowhere, |n| nests(n, 8, FEW);
    nests_scratch: Scratch, |n| nests(n, 8, MANY);
    deep_fit: Nowhere, |n| nests(n, 100, FEW);
    deep_scratch: Scratch, |n| nests(n, 100, MANY);
    tuples_agprs: Agprs, |n| tuples(n, MANY / 2);
    tuples_lds: Lds, |n| tuples(n, MANY / 2);
    tuples_scratch: Scratch, |n| tuples(n, MANY / 2);
    scalars_lanes: Scratch, |n| scalars(n, MANY);
}
