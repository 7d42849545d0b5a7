//! The specification of counters: the behaviour that an explicit-state model of outstanding operations allows.
//!
//! Each counter has a queue of operations that were issued and are perhaps not done yet. While all operations in the queue are of one kind
//! that returns in order, the oldest operation is done first. Otherwise any operation may be done at any time, and the order is not assumed
//! again until a wait has brought the counter to 0. A wait for n ends when n operations are left, whichever these are. The model follows
//! every choice. An instruction is wrong if, in some state, an operation is outstanding that must be done before the instruction.
//!
//! The tables [`GFX9`] and [`RDNA`] state which operations each instruction issues. They were written by hand (from CDNA3 ISA section 4.4,
//! RDNA 2 to 4 ISA sections 4.4 and 5.6, and LLVM's AMDGPU guide), and so was the position of each counter in the operand of each wait.

use std::collections::{BTreeSet, HashSet};

use gcn_isa::table::Access;
use gcn_isa::target::Generation;
use gcn_isa::{Inst, Operand, Program, Reg, RegFile, Target};

use super::program::Paths;

/// The position of the vector memory counter in a state. The constants below are the positions of the other counters.
const VM: usize = 0;
const LGKM: usize = 1;
const EXP: usize = 2;
/// The counter of stores, from GFX10 on.
const VS: usize = 3;
/// The counter of scalar loads and messages on GFX12; there, LGKM is the counter of LDS.
const KM: usize = 4;
/// The number of counters.
pub const COUNTERS: usize = 5;
/// The counter value that waits for nothing.
const FREE: usize = usize::MAX;
/// The value [`FREE`] for every counter.
pub const NO_WAIT: [usize; COUNTERS] = [FREE; COUNTERS];

/// The kinds of operations that the model distinguishes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Memory,
    Flat,
    Lds,
    Scalar,
    Message,
    Gds,
    GdsData,
    Store,
    Direct,
}

impl Kind {
    fn is_in_order(self) -> bool {
        matches!(self, Kind::Memory | Kind::Lds | Kind::Gds | Kind::Store | Kind::Direct)
    }
}

/// The effect of an operation for which later instructions must wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Debt {
    Nothing,
    /// The first operand is written when the operation is done.
    Result,
    /// The vector operands are read at any time until the operation is done.
    Data,
    /// LDS is written when the operation is done. Such writes happen in the order of the instructions.
    LdsWrite,
    /// LDS is written when data arrives from memory.
    LdsDma,
}

/// An operation: its counter, its kind, the amount by which it increases the counter, and its effect.
type Operation = (usize, Kind, usize, Debt);

/// The operations that each instruction of GFX9's alphabets issues.
const GFX9: &[(&str, &[Operation])] = &[
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

/// The operations of RDNA's instructions. FLAT operations are in order with the other operations on their counters. GFX12 has a separate
/// counter for scalar loads and messages.
const RDNA: &[(&str, &[Operation])] = &[
    ("global_load_dword", &[(VM, Kind::Memory, 1, Debt::Result)]),
    ("global_load_b32", &[(VM, Kind::Memory, 1, Debt::Result)]),
    ("global_store_dword", &[(VS, Kind::Store, 1, Debt::Nothing)]),
    ("global_store_b32", &[(VS, Kind::Store, 1, Debt::Nothing)]),
    ("flat_load_dword", &[(VM, Kind::Memory, 1, Debt::Result), (LGKM, Kind::Lds, 1, Debt::Result)]),
    ("flat_load_b32", &[(VM, Kind::Memory, 1, Debt::Result), (LGKM, Kind::Lds, 1, Debt::Result)]),
    ("flat_store_dword", &[(VS, Kind::Store, 1, Debt::Nothing), (LGKM, Kind::Lds, 1, Debt::LdsWrite)]),
    ("flat_store_b32", &[(VS, Kind::Store, 1, Debt::Nothing), (LGKM, Kind::Lds, 1, Debt::LdsWrite)]),
    ("ds_read_b32", &[(LGKM, Kind::Lds, 1, Debt::Result)]),
    ("ds_load_b32", &[(LGKM, Kind::Lds, 1, Debt::Result)]),
    ("ds_write_b32", &[(LGKM, Kind::Lds, 1, Debt::LdsWrite)]),
    ("ds_store_b32", &[(LGKM, Kind::Lds, 1, Debt::LdsWrite)]),
    ("lds_direct_load", &[(EXP, Kind::Direct, 1, Debt::Result)]),
    ("ds_direct_load", &[(EXP, Kind::Direct, 1, Debt::Result)]),
    ("s_load_dword", &[(LGKM, Kind::Scalar, 1, Debt::Result)]),
    ("s_load_b32", &[(LGKM, Kind::Scalar, 1, Debt::Result)]),
    ("s_load_dwordx2", &[(LGKM, Kind::Scalar, 2, Debt::Result)]),
    ("s_load_b64", &[(LGKM, Kind::Scalar, 2, Debt::Result)]),
    ("s_sendmsg", &[(LGKM, Kind::Message, 1, Debt::Nothing)]),
];
const GFX12: &[(&str, &[Operation])] = &[
    ("s_load_b32", &[(KM, Kind::Scalar, 1, Debt::Result)]),
    ("s_load_b64", &[(KM, Kind::Scalar, 2, Debt::Result)]),
    ("s_sendmsg", &[(KM, Kind::Message, 1, Debt::Nothing)]),
];

/// A small alphabet for counters: its target, its name, and its instructions.
pub type Alphabet = (Target, &'static str, &'static [&'static str]);

/// The alphabets of GFX9.
pub const ALPHABETS: &[Alphabet] = &[
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

/// The alphabets of RDNA.
pub const RDNA_ALPHABETS: &[Alphabet] = &[
    (Target::GFX1010, "in-order", &[LOAD0, LOAD1, USE0, "s_waitcnt vmcnt(1)", USE1, STORE]),
    (
        Target::GFX1030,
        "flat",
        &[LOAD0, "flat_load_dword v0, v[8:9]", USE0, "s_waitcnt vmcnt(1)", READ1, USE1],
    ),
    (
        Target::GFX1030,
        "lds-scalar",
        &[READ1, "s_load_dword s0, s[4:5], null", USE1, "s_waitcnt lgkmcnt(1)", USE_S],
    ),
    (
        Target::GFX1030,
        "barrier",
        &[
            "ds_write_b32 v10, v20",
            STORE,
            "s_barrier",
            "flat_store_dword v[8:9], v20",
            "s_waitcnt_vscnt null, 0x0",
        ],
    ),
    (
        Target::GFX1100,
        "in-order",
        &[B32_LOAD0, B32_LOAD1, USE0, "s_waitcnt vmcnt(1)", USE1, "global_store_b32 v[8:9], v20, off"],
    ),
    (
        Target::GFX1100,
        "direct",
        &[
            "lds_direct_load v0 wait_vdst:0",
            B32_READ1,
            USE0,
            "lds_direct_load v1 wait_vdst:0",
            "s_waitcnt expcnt(1)",
            USE1,
        ],
    ),
    (
        Target::GFX1150,
        "lds-scalar",
        &[B32_READ1, "s_load_b64 s[0:1], s[4:5], null", USE1, "s_waitcnt lgkmcnt(1)", USE_S],
    ),
    (
        Target::GFX1150,
        "barrier",
        &["ds_store_b32 v10, v20", B32_LOAD0, "s_barrier", USE0, "s_waitcnt lgkmcnt(0)"],
    ),
    (
        Target::GFX1200,
        "unordered",
        &[B32_LOAD0, B32_LOAD1, USE0, "s_wait_loadcnt 0x1", USE1, "global_store_b32 v[8:9], v20, off"],
    ),
    (
        Target::GFX1200,
        "lds-scalar",
        &[B32_READ1, "s_load_b32 s0, s[4:5], null", USE1, "s_wait_dscnt 0x1", USE_S, "s_wait_kmcnt 0x0"],
    ),
    (
        Target::GFX1200,
        "flat",
        &[B32_LOAD0, "flat_load_b32 v0, v[8:9]", USE0, "s_wait_loadcnt_dscnt 0x101", B32_READ1, USE1],
    ),
    (
        Target::GFX1200,
        "direct",
        &[
            "ds_direct_load v0 wait_va_vdst:0 wait_vm_vsrc:0",
            B32_READ1,
            USE0,
            "s_wait_expcnt 0x0",
            "s_sendmsg sendmsg(MSG_INTERRUPT)",
        ],
    ),
];

const B32_LOAD0: &str = "global_load_b32 v0, v[8:9], off";
const B32_LOAD1: &str = "global_load_b32 v1, v[8:9], off";
const B32_READ1: &str = "ds_load_b32 v1, v10";
const LOAD0: &str = "global_load_dword v0, v[8:9], off";
const LOAD1: &str = "global_load_dword v1, v[8:9], off";
const STORE: &str = "global_store_dword v[8:9], v20, off";
const READ1: &str = "ds_read_b32 v1, v10";
const USE0: &str = "v_mov_b32_e32 v30, v0";
const USE1: &str = "v_mov_b32_e32 v31, v1";
const USE_S: &str = "s_mov_b32 s10, s0";

fn operations(inst: &Inst) -> &'static [Operation] {
    let tables: &[_] = match inst.desc.instruction_set().generation() {
        Generation::GFX9 => &[GFX9],
        Generation::GFX12 => &[GFX12, RDNA],
        _ => &[RDNA],
    };
    let issued = tables.iter().copied().flatten().find(|o| o.0 == inst.desc.mnemonic);
    issued.map_or(&[], |o| o.1)
}

/// The counters of a wait. For each counter, the bits of the operand that hold its value, the lowest first.
fn fields(inst: &Inst) -> Vec<(usize, Vec<u32>)> {
    let bits = |counter: usize, from: u32, count: u32| (counter, (from..from + count).collect());
    let split = || (VM, vec![0, 1, 2, 3, 14, 15]);
    match (inst.desc.mnemonic, inst.desc.instruction_set().generation()) {
        ("s_waitcnt", Generation::GFX9) => vec![split(), bits(LGKM, 8, 4), bits(EXP, 4, 3)],
        ("s_waitcnt", Generation::GFX10) => vec![split(), bits(LGKM, 8, 6), bits(EXP, 4, 3)],
        ("s_waitcnt", _) => vec![bits(VM, 10, 6), bits(LGKM, 4, 6), bits(EXP, 0, 3)],
        ("s_waitcnt_vscnt" | "s_wait_storecnt", _) => vec![bits(VS, 0, 6)],
        ("s_wait_loadcnt", _) => vec![bits(VM, 0, 6)],
        ("s_wait_dscnt", _) => vec![bits(LGKM, 0, 6)],
        ("s_wait_kmcnt", _) => vec![bits(KM, 0, 5)],
        ("s_wait_expcnt", _) => vec![bits(EXP, 0, 3)],
        ("s_wait_loadcnt_dscnt", _) => vec![bits(VM, 8, 6), bits(LGKM, 0, 6)],
        ("s_wait_storecnt_dscnt", _) => vec![bits(VS, 8, 6), bits(LGKM, 0, 6)],
        _ => Vec::new(),
    }
}

/// The values for which an instruction waits, by counter.
pub fn waits(inst: &Inst) -> Option<[usize; COUNTERS]> {
    let fields = fields(inst);
    let imm = inst.operands.iter().find_map(|o| if let Operand::Imm(imm) = o { Some(*imm) } else { None });
    let imm = imm.filter(|_| !fields.is_empty())?;
    let mut waits = NO_WAIT;
    for (counter, bits) in fields {
        let value = bits.iter().rev().fold(0, |value, bit| value << 1 | (imm >> bit & 1) as usize);
        waits[counter] = if value + 1 == 1 << bits.len() { FREE } else { value };
    }
    Some(waits)
}

/// The wait with other values for its counters.
pub fn with_waits(mut inst: Inst, waits: [usize; COUNTERS]) -> Inst {
    for (counter, bits) in fields(&inst) {
        let value = waits[counter].min((1 << bits.len()) - 1);
        for operand in &mut inst.operands {
            if let Operand::Imm(imm) = operand {
                for (place, bit) in bits.iter().enumerate() {
                    *imm = *imm & !(1 << bit) | ((value >> place & 1) as i64) << bit;
                }
            }
        }
    }
    inst
}

/// An outstanding operation: its line, and its index among the operations of the line.
type Issued = (usize, usize);

/// The operations on one counter, the oldest first. An entry also includes the operations that no wait of the program distinguishes from
/// the oldest.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Queue {
    places: Vec<BTreeSet<Issued>>,
    /// The kinds of the operations that were issued since the queue was last empty, one bit for each.
    kinds: u16,
}

/// A program and the information about it that the model needs.
pub struct Model<'a> {
    program: &'a Program,
    /// For each counter, the largest value for which the program waits.
    longest: [usize; COUNTERS],
}

impl<'a> Model<'a> {
    pub fn new(program: &'a Program) -> Model<'a> {
        let all = program.lines.iter().filter_map(|l| waits(&l.inst));
        let longest = |c: usize| all.clone().map(|w| w[c]).filter(|v| *v < FREE).max().unwrap_or(0);
        let longest = std::array::from_fn(longest);
        Model { program, longest }
    }

    /// The lines that some path reaches while an operation is outstanding that must be done before the line.
    pub fn wrong(&self, paths: &Paths) -> BTreeSet<usize> {
        let mut wrong = BTreeSet::new();
        let mut seen = HashSet::new();
        let mut open: Vec<(usize, [Queue; COUNTERS])> =
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
                // Before GFX12, results that come only from memory return in the order of the instructions.
                let from_memory = operations(inst).iter().all(|o| o.1 == Kind::Memory);
                let in_order = target.instruction_set().generation() != Generation::GFX12;
                let follows = kind == Kind::Memory && issues(Kind::Memory) && from_memory && in_order;
                // A load that preserves half of its register reads the register when its data arrives.
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

    /// The states that are possible after a line.
    fn after(&self, line: usize, mut state: [Queue; COUNTERS]) -> Vec<[Queue; COUNTERS]> {
        let inst = &self.program.lines[line].inst;
        if let Some(waits) = waits(inst) {
            let mut all = vec![state];
            for (counter, most) in waits.into_iter().enumerate() {
                let each = |state: [Queue; COUNTERS]| {
                    let left = self.waited(&state[counter], most);
                    left.into_iter().map(move |queue| {
                        let mut state = state.clone();
                        state[counter] = queue;
                        state
                    })
                };
                all = all.into_iter().flat_map(each).collect();
            }
            return all;
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

    /// The queues that are possible when at most `most` operations are left.
    fn waited(&self, queue: &Queue, most: usize) -> Vec<Queue> {
        let places = &queue.places;
        if most == FREE || (places.len() <= most && most > 0) {
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

    /// Keeps queues finite without changing what a wait of the program may leave. If the order is known, no wait distinguishes the two
    /// oldest operations of a queue that exceeds the largest wait by two. If the order is unknown, another operation of the same line makes
    /// no difference if as many such operations are left as the largest wait allows.
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

/// Every selection of `count` of `places`, without duplicates.
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
