//! Tests calls, returns and jumps by register: compares [`Flow`] with programs that are really executed.
//!
//! The programs are executed by the interpreter of scalar control flow below, which knows registers, lanes and addresses, but no graphs.

use std::collections::{BTreeMap, BTreeSet};

use gcn_isa::cfg::{AddressPlace, Flow, Image, resolve};
use gcn_isa::program::Jump;
use gcn_isa::{Inst, Operand, Program, Target};
use gcn_test_support::Random;

use crate::golden;

/// The size of every instruction in these tests, in bytes.
const BYTES: i64 = 8;

/// Code at given addresses, with numbers as literals.
struct Laid {
    lines: usize,
}

impl Image for Laid {
    fn after(&self, line: usize) -> i64 {
        BYTES * (line as i64 + 1)
    }

    fn literal(&self, _: usize, number: u32) -> Option<u32> {
        Some(number)
    }

    fn long_literal(&self, _: usize, number: u64) -> Option<u64> {
        Some(number)
    }

    fn pointer(&self, _: i64) -> Option<i64> {
        None
    }

    fn place(&self, address: i64) -> Option<AddressPlace> {
        let line = usize::try_from(address / BYTES).ok()?;
        (address % BYTES == 0 && line < self.lines).then_some(AddressPlace::Line(line))
    }

    fn label(&self, line: usize) -> String {
        format!("at{line}")
    }
}

fn resolved(text: &str) -> Program {
    let mut program = golden::program(text, Target::GFX942);
    let lines = program.lines.len();
    resolve(&mut program, &Laid { lines });
    program
}

/// The lines that control may reach from the end of a block. Blocks without instructions are skipped.
fn next(flow: &Flow, line: usize) -> BTreeSet<usize> {
    let mut open = flow.cfg.blocks[flow.cfg.block_of(line)].succs.clone();
    let mut found = BTreeSet::new();
    while let Some(block) = open.pop() {
        match flow.is_hub(block) {
            true => open.extend(&flow.cfg.blocks[block].succs),
            false => _ = found.insert(flow.cfg.blocks[block].start),
        }
    }
    found
}

fn number(operand: Operand) -> u32 {
    match operand {
        Operand::Literal(n) => n,
        Operand::Inline(gcn_isa::operand::Inline::Int(n)) => i32::from(n) as u32,
        _ => panic!("{operand:?}"),
    }
}

/// The part of a wave's state that determines its control flow.
struct Machine {
    line: usize,
    /// The address of the first line.
    base: u64,
    scalars: [u32; 128],
    lanes: BTreeMap<(u16, u32), u32>,
    carry: bool,
}

impl Machine {
    fn pair(&self, operand: Operand) -> u64 {
        let at = usize::from(operand.reg().unwrap().index);
        u64::from(self.scalars[at + 1]) << 32 | u64::from(self.scalars[at])
    }

    fn set(&mut self, operand: Operand, value: u64, registers: usize) {
        let at = usize::from(operand.reg().unwrap().index);
        for i in 0..registers {
            self.scalars[at + i] = (value >> (32 * i)) as u32;
        }
    }

    fn scalar(&self, operand: Operand) -> u32 {
        operand.reg().map_or_else(|| number(operand), |r| self.scalars[usize::from(r.index)])
    }

    fn address(&self, line: usize) -> u64 {
        self.base.wrapping_add(BYTES as u64 * line as u64)
    }

    /// Executes an instruction. Returns `None` at the end of the program.
    fn step(&mut self, program: &Program, rng: &mut Random) -> Option<()> {
        let inst: &Inst = &program.lines[self.line].inst;
        let o = &inst.operands;
        let behind = self.address(self.line + 1);
        let label = |operand: Operand| match operand {
            Operand::Label(label) => program.labels[label.0 as usize].at.unwrap(),
            _ => panic!("{operand:?}"),
        };
        let mut next = self.line + 1;
        let mut jump = None;
        match inst.desc.mnemonic {
            "s_getpc_b64" => self.set(o[0], behind, 2),
            "s_mov_b64" => self.set(o[0], self.pair(o[1]), 2),
            "s_mov_b32" => self.set(o[0], u64::from(self.scalar(o[1])), 1),
            "s_add_u32" | "s_addc_u32" => {
                let carry = inst.desc.mnemonic == "s_addc_u32" && self.carry;
                let sum = u64::from(self.scalar(o[1])) + u64::from(self.scalar(o[2])) + u64::from(carry);
                self.carry = sum >> 32 != 0;
                self.set(o[0], sum, 1);
            }
            "v_writelane_b32" => {
                let value = self.scalar(o[1]);
                self.lanes.insert((o[0].reg().unwrap().index, number(o[2])), value);
            }
            "v_readlane_b32" => {
                let value = self.lanes.get(&(o[1].reg().unwrap().index, number(o[2]))).copied().unwrap_or(0);
                self.set(o[0], u64::from(value), 1);
            }
            "s_call_b64" => {
                self.set(o[0], behind, 2);
                next = label(o[1]);
            }
            "s_swappc_b64" => {
                jump = Some(self.pair(o[1]));
                self.set(o[0], behind, 2);
            }
            "s_setpc_b64" => jump = Some(self.pair(o[0])),
            "s_cbranch_scc1" if rng.one_in(2) => next = label(o[0]),
            "s_endpgm" => return None,
            _ => {}
        }
        if let Some(address) = jump {
            let offset = address.wrapping_sub(self.base);
            assert_eq!(offset % BYTES as u64, 0, "a jump into an instruction");
            next = (offset / BYTES as u64) as usize;
        }
        self.line = next;
        (next < program.lines.len()).then_some(())
    }
}

/// The way in which a function preserves its return address across calls.
#[derive(Clone, Copy)]
enum Saved {
    Scalars,
    Lanes,
    /// The function does not preserve it and therefore returns to a wrong address after a call.
    Not,
}

/// A program under construction. Unless `cyclic` is true, functions call only later functions.
struct Source<'r> {
    rng: &'r mut Random,
    lines: Vec<String>,
    /// Lines whose literals are the distance from a line to a function or label: (line of `s_add_u32`, name).
    distances: Vec<(usize, String)>,
    labels: BTreeMap<String, usize>,
    count: usize,
    cyclic: bool,
    /// For each function: the lines after its calls, the functions to which it jumps, its returns.
    sites: Vec<BTreeSet<usize>>,
    tails: Vec<BTreeSet<usize>>,
    returns: Vec<Vec<usize>>,
}

impl Source<'_> {
    fn push(&mut self, line: impl Into<String>) -> usize {
        self.lines.push(line.into());
        self.lines.len() - 1
    }

    fn label(&mut self, name: String) {
        self.labels.insert(name, self.lines.len());
    }

    /// Loads the address of a function or label into a pair of registers.
    fn address(&mut self, of: String) -> &'static str {
        let (low, high, pair) = if self.rng.one_in(2) { (20, 21, "s[20:21]") } else { (24, 25, "s[24:25]") };
        self.push(format!("s_getpc_b64 {pair}"));
        if self.rng.one_in(3) {
            self.push("s_mov_b64 s[26:27], s[30:31]");
        }
        let at = self.push(format!("s_add_u32 s{low}, s{low}, LOW"));
        self.distances.push((at, of));
        self.push(format!("s_addc_u32 s{high}, s{high}, HIGH"));
        pair
    }

    fn call(&mut self, function: usize) {
        if self.rng.one_in(2) {
            self.push(format!("s_call_b64 s[30:31], F{function}"));
        } else {
            let pair = self.address(format!("F{function}"));
            self.push(format!("s_swappc_b64 s[30:31], {pair}"));
        }
        let after = self.lines.len();
        self.sites[function].insert(after);
    }

    fn skip(&mut self, make: impl FnOnce(&mut Self)) {
        let label = format!("L{}", self.lines.len());
        self.push(format!("s_cbranch_scc1 {label}"));
        make(self);
        self.label(label);
    }

    fn save(&mut self, f: usize, how: Saved) {
        match how {
            Saved::Scalars => {
                self.push(format!("s_mov_b64 s[{}:{}], s[30:31]", 4 + 2 * f, 5 + 2 * f));
            }
            Saved::Lanes => {
                self.push(format!("v_writelane_b32 v{f}, s30, 3"));
                self.push(format!("v_writelane_b32 v{f}, s31, 4"));
            }
            Saved::Not => {}
        }
    }

    fn restore(&mut self, f: usize, how: Saved) -> String {
        let pair = format!("s[{}:{}]", 4 + 2 * f, 5 + 2 * f);
        match how {
            Saved::Scalars if self.rng.one_in(2) => return pair,
            Saved::Scalars => _ = self.push(format!("s_mov_b64 s[30:31], {pair}")),
            Saved::Lanes => {
                self.push(format!("v_readlane_b32 s31, v{f}, 4"));
                self.push(format!("v_readlane_b32 s30, v{f}, 3"));
            }
            Saved::Not => {}
        }
        "s[30:31]".to_owned()
    }

    fn leave(&mut self, f: usize, how: Saved) {
        let pair = self.restore(f, how);
        if f == 0 {
            self.push("s_endpgm");
            return;
        }
        let line = self.push(format!("s_setpc_b64 {pair}"));
        self.returns[f].push(line);
    }

    fn callee(&mut self, f: usize) -> Option<usize> {
        let first = if self.cyclic { 1 } else { f + 1 };
        (first < self.count).then(|| first + self.rng.below(self.count - first))
    }

    fn function(&mut self, f: usize) {
        self.label(format!("F{f}"));
        let how = [Saved::Scalars, Saved::Lanes, Saved::Not][self.rng.below(3)];
        self.save(f, how);
        for callee in (1..self.count).filter(|_| f == 0) {
            self.skip(|s| s.call(callee));
        }
        let (mut called, top) = (false, format!("T{f}"));
        self.label(top.clone());
        for _ in 0..1 + self.rng.below(5) {
            let callee = self.callee(f);
            let tails = f > 0 && matches!(how, Saved::Lanes);
            match (self.rng.below(6), callee) {
                (0 | 1, Some(callee)) if f == 0 || !matches!(how, Saved::Not) => {
                    self.call(callee);
                    called = true;
                }
                (2, Some(callee)) if tails => {
                    self.tails[f].insert(callee);
                    self.skip(|s| {
                        let _ = s.restore(f, how);
                        let pair = s.address(format!("F{callee}"));
                        s.push(format!("s_setpc_b64 {pair}"));
                    });
                }
                (3, _) => {
                    let far = format!("B{}", self.lines.len());
                    let pair = self.address(far.clone());
                    self.push(format!("s_setpc_b64 {pair}"));
                    self.push("s_endpgm");
                    self.label(far);
                }
                (4, _) => self.skip(|s| s.leave(f, how)),
                (5, _) if !called => _ = self.push(format!("s_cbranch_scc1 {top}")),
                _ => _ = self.push("s_nop 0"),
            }
        }
        self.leave(f, how);
    }

    fn text(mut self) -> (String, Self) {
        let named: BTreeSet<String> = self.distances.iter().map(|d| d.1.clone()).collect();
        for (line, name) in std::mem::take(&mut self.distances) {
            let high = (line..).find(|l| self.lines[*l].ends_with("HIGH")).unwrap();
            let from = (0..line).rev().find(|l| self.lines[*l].starts_with("s_getpc")).unwrap() + 1;
            let distance = BYTES * (self.labels[&name] as i64 - from as i64);
            self.lines[line] = self.lines[line].replace("LOW", &format!("{:#x}", distance as u32));
            self.lines[high] = self.lines[high].replace("HIGH", &format!("{:#x}", (distance >> 32) as u32));
        }
        let mut text = String::new();
        for (line, statement) in self.lines.iter().enumerate() {
            // An unknown jump could lead to a label that no branch names.
            let is_named =
                |l: &str| named.contains(l) || self.lines.iter().any(|s| s.ends_with(&format!(" {l}")));
            for (label, _) in self.labels.iter().filter(|l| *l.1 == line && is_named(l.0)) {
                text += &format!("{label}:\n");
            }
            text += &format!("{statement}\n");
        }
        (text, self)
    }
}

fn source(rng: &mut Random, cyclic: bool) -> Source<'_> {
    let count = 2 + rng.below(5);
    let mut source = Source {
        rng,
        lines: Vec::new(),
        distances: Vec::new(),
        labels: BTreeMap::new(),
        count,
        cyclic,
        sites: vec![BTreeSet::new(); count],
        tails: vec![BTreeSet::new(); count],
        returns: vec![Vec::new(); count],
    };
    (0..count).for_each(|f| source.function(f));
    source
}

/// Runs a program and compares every step between blocks with the graph.
fn run(program: &Program, flow: &Flow, rng: &mut Random, name: &str) -> usize {
    let mut machine = Machine {
        line: 0,
        base: rng.next_u64() & !7,
        scalars: [0; 128],
        lanes: BTreeMap::new(),
        carry: false,
    };
    let mut steps = 0;
    for _ in 0..300 {
        let from = machine.line;
        if machine.step(program, rng).is_none() {
            break;
        }
        let block = &flow.cfg.blocks[flow.cfg.block_of(from)];
        if from + 1 == block.end {
            let known = next(flow, from);
            assert!(known.contains(&machine.line), "{name}: {from} to {}, not {known:?}", machine.line);
            steps += 1;
        }
    }
    steps
}

#[test]
fn every_step_that_is_taken_is_an_edge() {
    let (mut steps, mut returned) = (0, 0);
    for seed in 0..1500 {
        let rng = &mut Random::new(seed);
        let (text, _) = source(rng, seed % 2 == 1).text();
        let program = resolved(&text);
        let flow = Flow::of(&program);
        let name = format!("seed {seed}\n{text}");
        (0..4).for_each(|_| steps += run(&program, &flow, rng, &name));
        returned += program.lines.iter().filter(|l| matches!(l.jump, Some(Jump::Back { .. }))).count();
    }
    assert!(steps > 20_000 && returned > 1000, "{steps} {returned}");
}

/// Tests that all control flow is known if functions do not call each other recursively. A return then leads to the calls of its own
/// function and of the functions that end by jumping to it.
#[test]
fn a_return_leads_to_its_own_calls_only() {
    let mut checked = 0;
    for seed in 0..1500 {
        let rng = &mut Random::new(seed);
        let (text, source) = source(rng, false).text();
        let program = resolved(&text);
        let flow = Flow::of(&program);
        assert_eq!(flow.unknown_exits().collect::<Vec<_>>(), [0usize; 0], "seed {seed}\n{text}");
        // Later functions return to the callers of earlier functions.
        let mut sites = source.sites.clone();
        for f in 0..source.count {
            for tail in &source.tails[f] {
                let more = sites[f].clone();
                sites[*tail].extend(more);
            }
        }
        let starts: BTreeSet<usize> = (0..source.count).map(|f| source.labels[&format!("F{f}")]).collect();
        for (f, sites) in sites.iter().enumerate() {
            for line in &source.returns[f] {
                assert_eq!(next(&flow, *line), *sites, "seed {seed}: return at {line}\n{text}");
                checked += 1;
            }
            for after in &source.sites[f] {
                let callee = next(&flow, after - 1);
                assert_eq!(callee.len(), 1, "seed {seed}: call before {after}\n{text}");
                assert!(callee.is_subset(&starts), "seed {seed}: call before {after}\n{text}");
            }
        }
    }
    assert!(checked > 2000, "{checked}");
}

fn jumps(text: &str) -> Vec<Option<Jump>> {
    let program = resolved(text);
    let indirect =
        program.lines.iter().filter(|l| matches!(l.inst.desc.mnemonic, "s_setpc_b64" | "s_swappc_b64"));
    indirect.map(|l| l.jump).collect()
}

/// Tests the additions as LLVM has written them since version 3, with 32-bit distances in two halves, forwards and backwards.
#[test]
fn long_branches_are_resolved() {
    let forwards =
        "s_getpc_b64 s[4:5] | s_add_u32 s4, s4, 0x18 | s_addc_u32 s5, s5, 0 | s_setpc_b64 s[4:5] | s_endpgm";
    assert!(matches!(jumps(forwards)[..], [Some(Jump::To(_))]));
    let backwards = "s_nop 0 | s_getpc_b64 s[4:5] | s_add_u32 s4, s4, 0xfffffff0 | s_addc_u32 s5, s5, -1 | s_setpc_b64 s[4:5]";
    assert!(matches!(jumps(backwards)[..], [Some(Jump::To(_))]));
    let subtracted =
        "s_nop 0 | s_getpc_b64 s[4:5] | s_sub_u32 s4, s4, 16 | s_subb_u32 s5, s5, 0 | s_setpc_b64 s[4:5]";
    assert!(matches!(jumps(subtracted)[..], [Some(Jump::To(_))]));
    // The carry of another addition, another high half, a half that was loaded.
    for broken in [
        "s_getpc_b64 s[4:5] | s_add_u32 s4, s4, 0x20 | s_add_u32 s6, s6, 1 | s_addc_u32 s5, s5, 0 | s_setpc_b64 s[4:5] | s_endpgm",
        "s_getpc_b64 s[4:5] | s_add_u32 s4, s4, 0x18 | s_addc_u32 s5, s7, 0 | s_setpc_b64 s[4:5] | s_endpgm",
        "s_getpc_b64 s[4:5] | s_add_u32 s4, s4, 0x20 | s_addc_u32 s5, s5, 0 | s_load_dword s5, s[8:9], 0x0 | s_setpc_b64 s[4:5] | s_endpgm",
        "s_getpc_b64 s[4:5] | s_add_u32 s4, s4, 0x19 | s_addc_u32 s5, s5, 0 | s_setpc_b64 s[4:5] | s_endpgm",
        "s_getpc_b64 s[4:5] | s_add_u32 s4, s4, 0x20 | s_addc_u32 s5, s5, 0 | s_movreld_b32 s0, s1 | s_setpc_b64 s[4:5] | s_endpgm",
    ] {
        assert_eq!(jumps(broken), [None], "{broken}");
    }
}

#[test]
fn a_function_that_never_returns_is_not_come_back_from() {
    let flow = |text: &str| {
        let program = golden::program(text, Target::GFX942);
        let flow = Flow::of(&program);
        let reached = flow.reachable();
        flow.cfg.blocks.iter().zip(reached).filter(|b| b.0.start < b.0.end).map(|b| b.1).collect::<Vec<_>>()
    };
    let call = "s_call_b64 s[30:31], F | s_nop 1 | s_endpgm | F: ";
    assert_eq!(flow(&format!("{call}| s_endpgm")), [true, false, true]);
    assert_eq!(flow(&format!("{call}| s_branch F")), [true, false, true]);
    assert_eq!(flow(&format!("{call}| s_setpc_b64 s[30:31]")), [true, true, true]);
    // The destination of this jump is unknown.
    assert_eq!(flow(&format!("{call}| s_setpc_b64 s[8:9]")), [true, true, true]);
}
