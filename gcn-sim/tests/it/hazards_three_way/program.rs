//! Random programs with random control flow that terminates on every path.
//!
//! Branches depend only on registers that data instructions never write: the bits of [`CHOICES`], which each run gets as an argument, and a
//! counter for each backward edge, which is shifted right until it is 0. [`super::path`] interprets only these registers, and so determines
//! the path of a run without executing anything else.

use gcn_emit::text::parse_program;
use gcn_isa::InstructionSet;
use gcn_isa::counters::{Counter, WaitCnt};
use gcn_isa::operand::Inline;
use gcn_isa::{Inst, Label, Line, Operand, Program, Reg, Target, hazards, table};
use gcn_test_support::Random;

use super::draw::Palette;

/// The SGPR whose bits determine branches.
pub const CHOICES: Reg = Reg::s(90, 1);
/// Counters of backward edges: the number of one bits is the number of remaining trips.
pub const COUNTERS: [Reg; 6] =
    [Reg::s(88, 1), Reg::s(89, 1), Reg::s(92, 1), Reg::s(93, 1), Reg::s(94, 1), Reg::s(95, 1)];

/// The maximum number of attempts to generate an instruction that depends on an earlier one.
const TRIES: usize = 10;

/// Sets the address registers from the arguments (see [`super::run`]), copies them to where the restoring instructions read them, and waits
/// until nothing is outstanding and no rule applies to earlier instructions.
fn prologue(target: Target) -> String {
    let mut text = String::from(
        "s_load_dwordx4 s[8:11], s[0:1], 0x0
         s_load_dwordx4 s[12:15], s[0:1], 0x10
         s_load_dword s90, s[0:1], 0x20
         v_mbcnt_lo_u32_b32 v42, -1, 0
         v_mbcnt_hi_u32_b32 v42, -1, v42
         v_lshlrev_b32_e32 v57, 3, v42
         v_lshlrev_b32_e32 v42, 4, v42
         v_add_u32_e32 v57, 0x8000, v57
         v_add_u32_e32 v58, 0xa000, v42
         v_mov_b32_e32 v43, v42
         v_mov_b32_e32 v51, 0
         s_waitcnt lgkmcnt(0)
         s_mov_b32 m0, s11
         s_mov_b64 s[80:81], s[8:9]
         s_mov_b64 s[82:83], s[10:11]
         s_mov_b64 s[84:85], s[12:13]
         s_mov_b64 s[86:87], s[14:15]
         v_add_u32_e32 v40, s8, v42
         v_mov_b32_e32 v41, s9\n",
    );
    let copies = [(44, "s8"), (45, "s9"), (46, "s10"), (47, "s12"), (48, "s13"), (49, "s14"), (50, "s15")];
    let copies = copies.into_iter().map(|(to, from)| (to, from.to_owned()));
    for (to, from) in copies.chain((0..4).map(|i| (52 + i, format!("v{}", 40 + i)))) {
        text += &format!("v_mov_b32_e32 v{to}, {from}\n");
    }
    for counter in COUNTERS {
        text += &format!("s_movk_i32 {counter}, 0x3\n");
    }
    if target.has_agprs() {
        text += "v_accvgpr_write_b32 a63, v42\n";
    }
    text + "s_nop 15\ns_nop 15\n"
}

fn start(target: Target) -> Program {
    parse_program(&prologue(target), target, "test").expect("the prologue")
}

/// A program of the prologue and `inst`.
pub fn single(target: Target, inst: &Inst) -> Program {
    let mut program = start(target);
    program.push(inst.clone());
    let end = table::find(target, "s_endpgm").next().expect("an instruction of every target");
    program.push(Inst::new(end, [Operand::Imm(0)]));
    program
}

/// Generates random programs.
pub struct Writer<'a> {
    palette: &'a Palette,
    rng: Random,
    start: Program,
}

impl<'a> Writer<'a> {
    pub fn new(target: Target, palette: &'a Palette, seed: u64) -> Writer<'a> {
        Writer { palette, rng: Random::new(seed), start: start(target) }
    }

    /// The next program, and the length of the prologue with which it starts.
    pub fn next(&mut self) -> (Program, usize) {
        let mut body = Body {
            program: self.start.clone(),
            palette: self.palette,
            rng: &mut self.rng,
            counters: COUNTERS.to_vec(),
            placed: Vec::new(),
            open: Vec::new(),
        };
        let length = 4 + body.rng.below(20);
        body.sequence(length, 0);
        for label in std::mem::take(&mut body.open) {
            body.program.place(label);
        }
        body.emit("s_endpgm", [Operand::Imm(0)]);
        (body.program, self.start.lines.len())
    }
}

/// A program under construction.
struct Body<'a> {
    program: Program,
    palette: &'a Palette,
    rng: &'a mut Random,
    /// Counters that no edge uses so far.
    counters: Vec<Reg>,
    /// Labels that have been placed, to which backward edges can go.
    placed: Vec<Label>,
    /// Labels that have not been placed yet, to which branches already go.
    open: Vec<Label>,
}

impl Body<'_> {
    /// Adds about `length` instructions, including branches.
    fn sequence(&mut self, length: usize, depth: usize) {
        let mut left = length;
        while left > 0 {
            if !self.open.is_empty() && self.rng.below(4) == 0 {
                let label = self.open.swap_remove(self.rng.below(self.open.len()));
                self.place(label);
            }
            let part = 1 + self.rng.below(left.min(7));
            match self.rng.below(18) {
                0 | 1 if depth < 3 => self.choice(part, depth),
                2 | 3 if depth < 3 => self.turns(part, depth),
                4 => self.jump_ahead(),
                5 => self.jump_back(),
                6 => self.known_condition(),
                7 => self.wait(),
                _ => self.straight(part),
            }
            left -= part;
        }
    }

    /// Adds data instructions, most of which depend on one of the two before them.
    fn straight(&mut self, length: usize) {
        for _ in 0..length {
            let before = self.program.lines.len().saturating_sub(2);
            let mut inst = self.palette.next(self.rng);
            for _ in 0..self.rng.below(TRIES) {
                let bound = |line: &Line| hazards::required(self.program.target, &line.inst, &inst).is_some();
                if self.program.lines[before..].iter().any(bound) {
                    break;
                }
                inst = self.palette.next(self.rng);
            }
            self.program.push(inst);
        }
    }

    /// Adds a wait of random strength, which is part of the original program.
    fn wait(&mut self) {
        let vm = *self.rng.pick(&[0, 1, 2, 3, 63]);
        let lgkm = *self.rng.pick(&[0, 1, 2, 15]);
        let counters = [(Counter::Vm, vm), (Counter::Lgkm, lgkm)];
        let waits =
            counters.into_iter().filter(|(counter, value)| *value < counter.capacity(InstructionSet::GFX900));
        let wait = waits.fold(WaitCnt::NONE, |wait, (counter, value)| counter.set(wait, value));
        self.emit("s_waitcnt", [Operand::Imm(wait.immediate(InstructionSet::GFX900).into())]);
    }

    /// Adds an `if`, with or without `else`.
    fn choice(&mut self, length: usize, depth: usize) {
        let (other, end) = (self.program.new_label("else"), self.program.new_label("end"));
        self.condition();
        self.branch("s_cbranch_scc0", other);
        self.sequence(length, depth + 1);
        if self.rng.below(2) == 0 {
            self.branch("s_branch", end);
            self.place(other);
            self.sequence(1 + length / 2, depth + 1);
        } else {
            self.place(other);
        }
        self.place(end);
    }

    /// Adds a loop of one to three trips.
    fn turns(&mut self, length: usize, depth: usize) {
        let Some(counter) = self.counters.pop() else { return self.straight(length) };
        let turns = *self.rng.pick(&[1, 3, 7]);
        self.emit("s_movk_i32", [counter.into(), Operand::Imm(turns)]);
        let head = self.program.new_label("head");
        self.place(head);
        self.sequence(length, depth + 1);
        self.count_down(counter);
        self.branch("s_cbranch_scc1", head);
    }

    /// Adds a branch to some later place, possibly into a loop.
    fn jump_ahead(&mut self) {
        let label = self.program.new_label("ahead");
        self.condition();
        let name = *self.rng.pick(&["s_cbranch_scc0", "s_cbranch_scc1"]);
        self.branch(name, label);
        self.open.push(label);
    }

    /// Adds a branch to some earlier place, possibly into a loop.
    fn jump_back(&mut self) {
        if self.placed.is_empty() {
            return self.straight(1);
        }
        let Some(counter) = self.counters.pop() else { return self.straight(1) };
        self.count_down(counter);
        let label = *self.rng.pick(&self.placed);
        self.branch("s_cbranch_scc1", label);
    }

    /// Adds a branch on VCC or EXEC, which the line before it sets.
    fn known_condition(&mut self) {
        let label = self.program.new_label("known");
        let value = Operand::Inline(Inline::Int(*self.rng.pick(&[0, -1])));
        let (register, value, branches) = match self.rng.below(3) {
            0 => (gcn_isa::reg::EXEC, Inline::Int(-1).into(), ["s_cbranch_execz", "s_cbranch_execnz"]),
            _ => (gcn_isa::reg::VCC, value, ["s_cbranch_vccz", "s_cbranch_vccnz"]),
        };
        self.emit("s_mov_b64", [register.into(), value]);
        let name = *self.rng.pick(&branches);
        self.branch(name, label);
        self.open.push(label);
    }

    /// Adds code that sets SCC from a bit of the choices: always the same bit, or one that changes from trip to trip of a loop.
    fn condition(&mut self) {
        let bit = match self.rng.below(2) {
            0 => Inline::Int(self.rng.below(32) as i8).into(),
            _ => Operand::Reg(*self.rng.pick(&COUNTERS)),
        };
        self.emit("s_bitcmp1_b32", [CHOICES.into(), bit]);
    }

    /// Adds code that counts a trip in `counter`, and sets SCC if more trips remain.
    fn count_down(&mut self, counter: Reg) {
        self.emit("s_lshr_b32", [counter.into(), counter.into(), Inline::Int(1).into()]);
    }

    fn branch(&mut self, name: &str, to: Label) {
        self.emit(name, [Operand::Label(to)]);
    }

    fn place(&mut self, label: Label) {
        self.program.place(label);
        self.placed.push(label);
    }

    fn emit<const N: usize>(&mut self, name: &str, operands: [Operand; N]) {
        let desc = table::find(self.program.target, name).next().expect("an instruction of every target");
        self.program.push(Inst::new(desc, operands));
    }
}
