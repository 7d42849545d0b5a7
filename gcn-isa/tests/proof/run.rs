//! Scopes in the order of their size, and the runs over them: on all processors, for a given time, with a record of the tested parts.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gcn_isa::{Program, Target};

use super::graphs::{self, Graph, Layout};
use super::program::Letters;
use super::queues::{ALPHABETS, RDNA_ALPHABETS};
use super::{classes, counters, judge, record, remedies};

/// The alphabets that a scope covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alphabets {
    /// One alphabet with all classes of a target.
    Everything,
    /// The alphabet of each rule of each target.
    Rules,
    /// The alphabets of [`Alphabets::Rules`] whose requirements differ.
    Distinct,
    /// The same alphabets without a second consumer and without a second `s_nop`.
    Core,
    /// A few of these alphabets: one for each way in which rules apply.
    Few,
    /// The alphabets of the counters.
    Counters,
    /// Some of these alphabets, each with only its first four instructions.
    CountersFew,
    /// The alphabets of RDNA's counters.
    RdnaCounters,
    /// One alphabet with all classes of an RDNA processor.
    RemediesEverything,
    /// The alphabet of each rule with a remedy of each instruction set.
    Remedies,
    /// The same alphabets without instructions for distances, without further instructions that end sequences, and without waits for other
    /// dependencies.
    RemediesCore,
    /// A few of these alphabets: one for each kind of sequence.
    RemediesFew,
}

impl Alphabets {
    pub const ALL: [Alphabets; 12] = [
        Alphabets::Everything,
        Alphabets::Rules,
        Alphabets::Distinct,
        Alphabets::Core,
        Alphabets::Few,
        Alphabets::Counters,
        Alphabets::CountersFew,
        Alphabets::RdnaCounters,
        Alphabets::RemediesEverything,
        Alphabets::Remedies,
        Alphabets::RemediesCore,
        Alphabets::RemediesFew,
    ];
}

/// All programs with this number of blocks and at most this number of instructions in each block. Branches are not counted.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    pub blocks: usize,
    pub most: usize,
    pub alphabets: Alphabets,
}

impl fmt::Display for Scope {
    /// Writes the scope as in the record, such as `3x2 Few`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} {:?}", self.blocks, self.most, self.alphabets)
    }
}

const fn scope(alphabets: Alphabets, blocks: usize, most: usize) -> Scope {
    Scope { blocks, most, alphabets }
}

/// The scopes of a thorough run of the tests; an ordinary run omits the rules.
pub const SMALL: [Scope; 8] = [
    scope(Alphabets::Everything, 1, 2),
    scope(Alphabets::Rules, 2, 1),
    scope(Alphabets::Counters, 1, 3),
    scope(Alphabets::Counters, 2, 1),
    scope(Alphabets::RemediesEverything, 1, 2),
    scope(Alphabets::Remedies, 2, 1),
    scope(Alphabets::RdnaCounters, 1, 3),
    scope(Alphabets::RdnaCounters, 2, 1),
];

/// The scopes of a long run, which covers as many of them as its time allows.
pub const LARGE: [Scope; 23] = [
    scope(Alphabets::Rules, 1, 3),
    scope(Alphabets::Distinct, 2, 2),
    scope(Alphabets::Counters, 2, 2),
    scope(Alphabets::Core, 3, 1),
    scope(Alphabets::Counters, 3, 1),
    scope(Alphabets::Everything, 1, 3),
    scope(Alphabets::Few, 4, 1),
    scope(Alphabets::CountersFew, 2, 3),
    scope(Alphabets::Few, 3, 2),
    scope(Alphabets::CountersFew, 4, 1),
    scope(Alphabets::Core, 2, 3),
    scope(Alphabets::CountersFew, 3, 2),
    scope(Alphabets::Few, 3, 3),
    scope(Alphabets::Core, 4, 1),
    scope(Alphabets::Core, 3, 2),
    scope(Alphabets::Remedies, 1, 3),
    scope(Alphabets::RdnaCounters, 2, 2),
    scope(Alphabets::RdnaCounters, 3, 1),
    scope(Alphabets::RemediesCore, 2, 2),
    scope(Alphabets::RemediesCore, 3, 1),
    scope(Alphabets::RemediesFew, 4, 1),
    scope(Alphabets::RemediesFew, 3, 2),
    scope(Alphabets::Few, 4, 2),
];

/// Rules that represent each way in which rules apply: by a distance alone, short and long; by an instruction in between, on both targets
/// that have such rules; by a matrix result that another instruction may partly overwrite; by a clause.
const FEW: [&str; 6] = [
    "gfx900:cdna3.12",
    "gfx900:cdna3.6",
    "gfx908:llvm.gfx908.accvgpr-between",
    "gfx90a:llvm.dgemm.between",
    "gfx942:cdna3.103",
    "gfx900:xnack.clause",
];

/// Alphabets of counters with order, without order, and mixed.
const COUNTERS_FEW: [&str; 3] = ["in-order", "flat", "lds-scalar"];

/// Rules with remedies that represent each kind: with one step, for a certain register and for all registers; with two steps, connected by
/// a register pair and by the same register; with three steps; with a remedy that is a field, a count or wait states.
const REMEDIES_FEW: [&str; 7] = [
    "gfx1010:w32:rdna1.vmem-to-scalar.load",
    "gfx1010:w32:rdna1.lds-branch-vmem",
    "gfx1030:w32:llvm.atomic-denorm-mode",
    "gfx1100:w64:rdna3.mask-write",
    "gfx1100:w64:rdna3.partial-forwarding",
    "gfx1100:w32:rdna3.lds-direct-valu",
    "gfx1200:w32:rdna.read-sgpr.valu-result",
];

/// An alphabet of any kind.
pub enum Family {
    States(classes::Family),
    Counters(counters::Family),
    Remedies(remedies::Family),
}

impl Family {
    pub fn all(alphabets: Alphabets) -> Vec<Family> {
        let of_remedies = |all: Vec<remedies::Family>| all.into_iter().map(Family::Remedies).collect();
        let states = match alphabets {
            Alphabets::Everything => Target::REPRESENTATIVES.map(classes::everything).into_iter().collect(),
            Alphabets::Rules => classes::all_families(),
            Alphabets::Distinct => classes::distinct(classes::all_families()),
            Alphabets::Core => {
                classes::distinct(classes::all_families().iter().map(classes::Family::core).collect())
            }
            Alphabets::Few => {
                let few = classes::all_families().into_iter().filter(|f| FEW.contains(&&*f.name));
                few.map(|f| f.core()).collect()
            }
            Alphabets::RemediesEverything => return of_remedies(remedies::everythings()),
            Alphabets::Remedies => return of_remedies(remedies::families()),
            Alphabets::RemediesCore => {
                return of_remedies(remedies::families().iter().map(remedies::Family::core).collect());
            }
            Alphabets::RemediesFew => return of_remedies(remedies::named(&REMEDIES_FEW)),
            Alphabets::Counters => {
                return counters::families(ALPHABETS, 6).into_iter().map(Family::Counters).collect();
            }
            Alphabets::RdnaCounters => {
                return counters::families(RDNA_ALPHABETS, 6).into_iter().map(Family::Counters).collect();
            }
            Alphabets::CountersFew => {
                let is_one = |f: &counters::Family| COUNTERS_FEW.iter().any(|name| f.name.ends_with(name));
                return counters::families(ALPHABETS, 4)
                    .into_iter()
                    .filter(is_one)
                    .map(Family::Counters)
                    .collect();
            }
        };
        states.into_iter().map(Family::States).collect()
    }

    fn name(&self) -> &str {
        match self {
            Family::States(f) => &f.name,
            Family::Counters(f) => &f.name,
            Family::Remedies(f) => &f.name,
        }
    }

    fn letters(&self) -> &Letters {
        match self {
            Family::States(f) => &f.letters,
            Family::Counters(f) => &f.letters,
            Family::Remedies(f) => &f.letters,
        }
    }

    fn judge(&self, program: &Program) -> Result<usize, String> {
        match self {
            Family::States(f) => judge::judge(f, program),
            Family::Counters(f) => counters::judge(f, program),
            Family::Remedies(f) => remedies::judge(f, program),
        }
    }
}

/// The amount of work that was done.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    pub programs: u64,
    /// The number of programs into which waits were inserted.
    pub waiting: u64,
    /// The number of waits that were found necessary.
    pub waits: u64,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.programs += other.programs;
        self.waiting += other.waiting;
        self.waits += other.waits;
    }
}

/// The approximate maximum number of programs in a part of a scope.
const PART: usize = 100_000;

/// All block bodies of up to `most` letters out of `letters`.
fn bodies(letters: usize, most: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..most {
        let longer =
            all[from..].iter().flat_map(|b| (0..letters as u8).map(move |l| [&b[..], &[l]].concat()));
        let longer: Vec<Vec<u8>> = longer.collect();
        from = all.len();
        all.extend(longer);
    }
    all
}

/// Judges every program with one layout. A block from which control continues in the next block has at least one instruction; otherwise it
/// would not be a block.
fn each_program(layout: &Layout, bodies: &[Vec<u8>], mut judge: impl FnMut(&[&[u8]])) {
    let first = |block: usize| usize::from(layout.ends[block] == graphs::End::RunsOn);
    let blocks = layout.ends.len();
    let mut at: Vec<usize> = (0..blocks).map(first).collect();
    loop {
        let chosen: Vec<&[u8]> = at.iter().map(|i| &bodies[*i][..]).collect();
        judge(&chosen);
        let Some(turn) = (0..blocks).find(|b| at[*b] + 1 < bodies.len()) else { return };
        at[turn] += 1;
        (0..turn).for_each(|b| at[b] = first(b));
    }
}

/// The layouts of a scope's graphs: those with the fewest branches and, if there are few blocks, also those with the most branches.
fn layouts(blocks: usize) -> Vec<Layout> {
    let graphs: Vec<Graph> = graphs::graphs(blocks);
    let both = if blocks < 3 { &[false, true][..] } else { &[false] };
    let all: BTreeSet<Layout> =
        graphs.iter().flat_map(|g| both.iter().map(|jumps| graphs::layout(g, *jumps))).collect();
    all.into_iter().collect()
}

/// Some layouts of a scope with every placement of one alphabet. A part is small enough for one line of the record.
pub struct Part {
    /// The key of the part in the record.
    pub key: String,
    family: Rc<Family>,
    bodies: Rc<Vec<Vec<u8>>>,
    layouts: Vec<Layout>,
}

impl Part {
    /// All parts of a scope, in order.
    pub fn all(scope: Scope) -> Vec<Part> {
        let Scope { blocks, most, alphabets } = scope;
        let layouts = layouts(blocks);
        let mut parts = Vec::new();
        for family in Family::all(alphabets) {
            let bodies = Rc::new(bodies(family.letters().body.len(), most));
            let family = Rc::new(family);
            let each = bodies.len().pow(blocks as u32);
            for (number, layouts) in layouts.chunks((PART / each).max(1)).enumerate() {
                let key = format!("{scope}\t{} {number}", family.name());
                let (family, bodies) = (Rc::clone(&family), Rc::clone(&bodies));
                parts.push(Part { key, family, bodies, layouts: layouts.to_vec() });
            }
        }
        parts
    }

    fn go_over(&self) -> Tally {
        let mut tally = Tally::default();
        for layout in &self.layouts {
            each_program(layout, &self.bodies, |chosen| {
                let program = self.family.letters().program(layout, chosen);
                let waits = self.family.judge(&program).unwrap_or_else(|wrong| panic!("{wrong}"));
                tally.add(Tally { programs: 1, waiting: u64::from(waits > 0), waits: waits as u64 });
            });
        }
        tally
    }
}

/// A run on all processors, with its time limit and its record.
#[derive(Default)]
pub struct Run {
    /// The time limit in seconds of processor time.
    seconds: Option<f64>,
    spent: f64,
    record: Option<File>,
    done: BTreeSet<String>,
}

impl Run {
    /// The run that the environment variables `GCN_PROOF_SECONDS` and `GCN_PROOF_RECORD` (a file) specify; `None` without the first
    /// variable.
    pub fn by_environment() -> Option<Run> {
        let setting = |name: &str| std::env::var(name).ok();
        let seconds = setting("GCN_PROOF_SECONDS")?.parse().expect("GCN_PROOF_SECONDS is a number");
        let path = setting("GCN_PROOF_RECORD");
        let text = path.as_ref().and_then(|p| std::fs::read_to_string(p).ok()).unwrap_or_default();
        let done = record::lines(&text).map(|line| line.key).collect();
        let record =
            path.map(|p| OpenOptions::new().create(true).append(true).open(p).expect("the record opens"));
        Some(Run { seconds: Some(seconds), spent: 0.0, record, done })
    }

    /// Tests the parts of `scope`. Returns the tally of the parts tested in this run, and whether all parts of the scope have now been
    /// tested.
    pub fn go_over(&mut self, scope: Scope) -> (Tally, bool) {
        let next = AtomicUsize::new(0);
        let shared = Mutex::new((self, Tally::default(), true));
        // Families cache results and cannot be shared between threads, so each thread creates its own.
        let work = || {
            let parts = Part::all(scope);
            let lock = || shared.lock().expect("no other thread has failed");
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                if lock().0.done.contains(&part.key) {
                    continue;
                }
                if lock().0.is_over() {
                    lock().2 = false;
                    return;
                }
                let before = processor_seconds();
                let tally = part.go_over();
                let seconds = processor_seconds() - before;
                let (run, sum, _) = &mut *lock();
                sum.add(tally);
                run.finish(part, tally, seconds);
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|s| (0..threads).for_each(|_| drop(s.spawn(work))));
        let (_, sum, whole) = shared.into_inner().expect("no thread failed");
        (sum, whole)
    }

    fn is_over(&self) -> bool {
        self.seconds.is_some_and(|s| self.spent > s)
    }

    fn finish(&mut self, part: &Part, tally: Tally, seconds: f64) {
        self.spent += seconds;
        if let Some(record) = &mut self.record {
            let Tally { programs, waiting, waits } = tally;
            writeln!(record, "{}\t{programs}\t{waiting}\t{waits}\t{seconds:.2}", part.key)
                .expect("the record is written");
        }
    }
}

/// The processor time of this thread if the system reports it, otherwise the time of day.
fn processor_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|t| t.split(' ').next()?.parse::<f64>().ok());
    let now = || {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
    };
    nanoseconds.map_or_else(now, |n| n / 1e9)
}
