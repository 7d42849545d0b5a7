//! The specification of counters: what an explicit-state model of outstanding operations allows.
//!
//! Each counter has a queue of operations that were issued and may not be done. While all in it are of one kind that returns in
//! order, the oldest is done first; otherwise any of them may be done at any time, and the order is not trusted again until the
//! counter was waited to 0. A wait for n ends when n are left, whichever they are. Every choice is followed. An instruction is wrong
//! if in some state an operation is outstanding that it must not meet.
//!
//! What each instruction issues is written down here by hand ([`OPERATIONS`]; CDNA3 ISA section 4.4, LLVM's AMDGPU guide).

use std::collections::{BTreeSet, HashSet};

use gcn_isa::table::Access;
use gcn_isa::{Inst, Operand, Program, Reg, RegFile, Target};

use super::program::Paths;

/// A counter: its place in a state.
const VM: usize = 0;
const LGKM: usize = 1;
const EXP: usize = 2;
/// The value of a field of `s_waitcnt` that waits for nothing.
pub const NO_WAIT: [usize; 3] = [63, 15, 7];

/// What operations are told apart by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Memory,
    Flat,
    Lds,
    Scalar,
    Message,
    Gds,
    GdsData,
}

impl Kind {
    fn is_in_order(self) -> bool {
        matches!(self, Kind::Memory | Kind::Lds | Kind::Gds)
    }
}

/// What is to be waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Debt {
    Nothing,
    /// The first operand is written when the operation is done.
    Result,
    /// Vector operands are read until it is done.
    Data,
    /// LDS is written when it is done, in the order of the instructions.
    LdsWrite,
    /// LDS is written when data arrives from memory.
    LdsDma,
}

/// An operation: counter, kind, by how much the counter goes up, what is owed.
type Operation = (usize, Kind, usize, Debt);

/// What each instruction of the alphabets issues.
const OPERATIONS: &[(&str, &[Operation])] = &[
    ("global_load_dword", &[(VM, Kind::Memory, 1, Debt::Result)]),
    ("global_load_short_d16", &[(VM, Kind::Memory, 1, Debt::Result)]),
    ("global_store_dword", &[(VM, Kind::Memory, 1, Debt::Nothing)]),
    ("global_load_lds_dword", &[(VM, Kind::Memory, 1, Debt::LdsDma)]),
    ("flat_load_dword", &[(VM, Kind::Flat, 1, Debt::Result), (LGKM, Kind::Flat, 1, Debt::Result)]),
    ("ds_read_b32", &[(LGKM, Kind::Lds, 1, Debt::Result)]),
    ("ds_write_b32", &[(LGKM, Kind::Lds, 1, Debt::LdsWrite)]),
    ("s_load_dword", &[(LGKM, Kind::Scalar, 1, Debt::Result)]),
    ("s_load_dwordx2", &[(LGKM, Kind::Scalar, 2, Debt::Result)]),
    ("s_sendmsg", &[(LGKM, Kind::Message, 1, Debt::Nothing)]),
    ("ds_add_u32", &[(LGKM, Kind::Gds, 1, Debt::Nothing), (EXP, Kind::GdsData, 1, Debt::Data)]),
];

/// Small alphabets for counters: on which target, under which name, of which instructions.
pub const ALPHABETS: &[(Target, &str, &[&str])] = &[
    (Target::GFX942, "in-order", &[LOAD0, LOAD1, USE0, "s_waitcnt vmcnt(1)", USE1, STORE]),
    (Target::GFX942, "flat", &[LOAD0, "flat_load_dword v1, v[8:9]", USE0, "s_waitcnt vmcnt(1)", USE1, READ1]),
    (Target::GFX942, "flat-overwritten", &["flat_load_dword v0, v[8:9]", LOAD0, USE0, "s_waitcnt vmcnt(0)"]),
    (
        Target::GFX90A,
        "lds-scalar",
        &[READ1, "s_load_dword s0, s[4:5], 0x0", USE1, "s_waitcnt lgkmcnt(1)", USE_S],
    ),
    (
        Target::GFX908,
        "scalar-wide",
        &["s_load_dwordx2 s[0:1], s[4:5], 0x0", "ds_read_b32 v0, v10", USE_S, USE0, "s_waitcnt lgkmcnt(1)"],
    ),
    (
        Target::GFX906,
        "overwrite",
        &[
            LOAD0,
            "global_load_short_d16 v0, v[8:9], off",
            "v_mov_b32_e32 v0, v20",
            "ds_read_b32 v0, v10",
            USE0,
        ],
    ),
    (
        Target::GFX900,
        "gds",
        &[
            "ds_add_u32 v10, v0 gds",
            "ds_read_b32 v1, v10",
            "v_mov_b32_e32 v0, v20",
            USE1,
            "s_waitcnt expcnt(0)",
        ],
    ),
    (
        Target::GFX908,
        "barrier-drains",
        &[LOAD0, "ds_write_b32 v10, v20", "s_barrier", USE0, "s_waitcnt lgkmcnt(0)"],
    ),
    (
        Target::GFX942,
        "barrier-lds",
        &[
            "ds_write_b32 v10, v20",
            "global_load_lds_dword v[8:9], off",
            "s_barrier",
            STORE,
            "s_waitcnt vmcnt(0)",
        ],
    ),
    (
        Target::GFX90A,
        "invalidate",
        &[LOAD0, STORE, "buffer_wbinvl1_vol", USE0, "s_sendmsg sendmsg(MSG_INTERRUPT)"],
    ),
];

const LOAD0: &str = "global_load_dword v0, v[8:9], off";
const LOAD1: &str = "global_load_dword v1, v[8:9], off";
const STORE: &str = "global_store_dword v[8:9], v20, off";
const READ1: &str = "ds_read_b32 v1, v10";
const USE0: &str = "v_mov_b32_e32 v30, v0";
const USE1: &str = "v_mov_b32_e32 v31, v1";
const USE_S: &str = "s_mov_b32 s10, s0";

fn operations(inst: &Inst) -> &'static [Operation] {
    let issued = OPERATIONS.iter().find(|o| o.0 == inst.desc.mnemonic);
    issued.map_or(&[], |o| o.1)
}

/// What an `s_waitcnt` waits for, by counter.
pub fn waits(inst: &Inst) -> Option<[usize; 3]> {
    let Some(Operand::Imm(imm)) = inst.operands.first().filter(|_| inst.desc.mnemonic == "s_waitcnt") else {
        return None;
    };
    let field = |from: u32, bits: u32| (*imm >> from) as usize & ((1 << bits) - 1);
    Some([field(0, 4) | field(14, 2) << 4, field(8, 4), field(4, 3)])
}

/// The operand of that `s_waitcnt`.
pub fn encoded([vm, lgkm, exp]: [usize; 3]) -> Operand {
    Operand::Imm((vm & 15 | vm >> 4 << 14 | lgkm << 8 | exp << 4) as i64)
}

/// An outstanding operation: its line, and which of the line's operations it is.
type Issued = (usize, usize);

/// The operations on one counter, the oldest first. Those that no wait of the program tells apart from the oldest go with it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Queue {
    places: Vec<BTreeSet<Issued>>,
    /// The kinds issued since it was empty, a bit for each.
    kinds: u8,
}

/// A program, and what the model needs to know of it.
pub struct Model<'a> {
    program: &'a Program,
    /// By counter the largest value that the program waits for.
    longest: [usize; 3],
}

impl<'a> Model<'a> {
    pub fn new(program: &'a Program) -> Model<'a> {
        let all = program.lines.iter().filter_map(|l| waits(&l.inst));
        let longest = |c: usize| all.clone().map(|w| w[c]).filter(|v| *v < NO_WAIT[c]).max().unwrap_or(0);
        let longest = [VM, LGKM, EXP].map(longest);
        Model { program, longest }
    }

    /// Every line that some path brings to an operation which it must not meet.
    pub fn wrong(&self, paths: &Paths) -> BTreeSet<usize> {
        let mut wrong = BTreeSet::new();
        let mut seen = HashSet::new();
        let mut open: Vec<(usize, [Queue; 3])> =
            paths.roots.iter().map(|r| (*r, Default::default())).collect();
        while let Some((line, state)) = open.pop() {
            if !seen.insert((line, state.clone())) {
                continue;
            }
            let mut outstanding = state.iter().flat_map(|q| q.places.iter().flatten());
            if outstanding.any(|o| self.must_not_meet(*o, line)) {
                wrong.insert(line);
            }
            for state in self.after(line, state) {
                open.extend(paths.next[line].iter().map(|l| (*l, state.clone())));
            }
        }
        wrong
    }

    fn operation(&self, (line, which): Issued) -> Operation {
        operations(&self.program.lines[line].inst)[which]
    }

    fn must_not_meet(&self, issued: Issued, line: usize) -> bool {
        let (inst, target) = (&self.program.lines[line].inst, self.program.target);
        let (counter, kind, _, debt) = self.operation(issued);
        let issues = |k: Kind| operations(inst).iter().any(|o| o.1 == k);
        let all_done = !target.has_back_off_barrier();
        match inst.desc.mnemonic {
            "s_barrier" => return all_done || matches!(debt, Debt::LdsDma | Debt::LdsWrite),
            "buffer_wbinvl1_vol" => return counter == VM,
            _ => {}
        }
        let from = &self.program.lines[issued.0].inst;
        match debt {
            Debt::Nothing | Debt::LdsWrite => false,
            Debt::LdsDma => issues(Kind::Lds) || issues(Kind::Flat),
            Debt::Data => {
                vector_operands(from).iter().any(|d| inst.writes().iter().any(|w| overlap(w.reg, *d)))
            }
            Debt::Result => {
                let Some(result) = from.operands.first().and_then(|o| o.reg()) else { return false };
                let follows = kind == Kind::Memory && issues(Kind::Memory);
                // A load that keeps half of its register reads that when its data arrives.
                let merges = |u: &gcn_isa::inst::RegUse| {
                    follows
                        && u.operand
                            .is_some_and(|i| inst.desc.operands[usize::from(i)].access == Access::ReadWrite)
                };
                let reads = inst.reads().iter().any(|u| overlap(u.reg, result) && !merges(u));
                reads || (!follows && inst.writes().iter().any(|u| overlap(u.reg, result)))
            }
        }
    }

    /// The states that may follow a line.
    fn after(&self, line: usize, mut state: [Queue; 3]) -> Vec<[Queue; 3]> {
        let inst = &self.program.lines[line].inst;
        if let Some(waits) = waits(inst) {
            let [vm, lgkm, exp] = [VM, LGKM, EXP].map(|c| self.waited(&state[c], waits[c], c));
            let rest = lgkm.iter().flat_map(|l| exp.iter().map(move |e| (l, e)));
            return rest
                .flat_map(|(l, e)| vm.iter().map(move |v| [v.clone(), l.clone(), e.clone()]))
                .collect();
        }
        for (which, (counter, kind, units, _)) in operations(inst).iter().enumerate() {
            let queue = &mut state[*counter];
            queue.kinds |= 1 << *kind as u8;
            queue.places.extend((0..*units).map(|_| BTreeSet::from([(line, which)])));
            self.shorten(queue, *counter);
        }
        vec![state]
    }

    fn is_in_order(&self, queue: &Queue) -> bool {
        let mut kinds = queue.places.iter().flatten().map(|o| self.operation(*o).1);
        queue.kinds.is_power_of_two() && kinds.all(Kind::is_in_order)
    }

    /// The queues that may be left when at most `most` are.
    fn waited(&self, queue: &Queue, most: usize, counter: usize) -> Vec<Queue> {
        let places = &queue.places;
        if most >= NO_WAIT[counter] || (places.len() <= most && most > 0) {
            return vec![queue.clone()];
        }
        if most == 0 {
            return vec![Queue::default()];
        }
        let left = |places: Vec<BTreeSet<Issued>>| Queue { places, kinds: queue.kinds };
        if self.is_in_order(queue) {
            return vec![left(places[places.len() - most..].to_vec())];
        }
        choices(places, most).into_iter().map(left).collect()
    }

    /// Keeps queues finite, without a change of what a wait of the program may leave. In order, no wait tells the two oldest of a queue
    /// apart that is longer than any waits for by two; without order, a second operation of the same line adds nothing to as many as are
    /// left.
    fn shorten(&self, queue: &mut Queue, counter: usize) {
        let most = self.longest[counter] + 2;
        if self.is_in_order(queue) {
            while queue.places.len() > most {
                let oldest = queue.places.remove(0);
                queue.places[0].extend(oldest);
            }
            return;
        }
        let mut places: Vec<_> = std::mem::take(&mut queue.places).into_iter().flatten().collect();
        places.sort_unstable();
        let mut at = 1;
        while places.len() > most && at < places.len() {
            if places[at] == places[at - 1] { _ = places.remove(at) } else { at += 1 }
        }
        queue.places = places.into_iter().map(|o| BTreeSet::from([o])).collect();
    }
}

/// Every choice of `count` of `places`, each once.
fn choices(places: &[BTreeSet<Issued>], count: usize) -> Vec<Vec<BTreeSet<Issued>>> {
    let mut all: BTreeSet<Vec<BTreeSet<Issued>>> = BTreeSet::from([Vec::new()]);
    for place in places {
        let longer = |c: &Vec<BTreeSet<Issued>>| [&c[..], std::slice::from_ref(place)].concat();
        let more: Vec<_> = all.iter().filter(|c| c.len() < count).map(longer).collect();
        all.extend(more);
    }
    all.into_iter().filter(|c| c.len() == count).collect()
}

fn overlap(a: Reg, b: Reg) -> bool {
    a.file == b.file && a.index < b.index + u16::from(b.len) && b.index < a.index + u16::from(a.len)
}

fn vector_operands(inst: &Inst) -> Vec<Reg> {
    inst.operands.iter().filter_map(|o| o.reg()).filter(|r| r.file != RegFile::Sgpr).collect()
}
