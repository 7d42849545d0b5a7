//! Tests kernels that LLVM 22 compiles for RDNA, one for each combination: the part of a sequence that remains after the unnecessary waits
//! are removed.

use std::io::Read as _;

use gcn_isa::Target;
use gcn_isa::memory_model::{Action, Mode, Operation, Ordering, Scope, Sequence, Space, sequence};

const KERNELS: &[u8] = include_bytes!("../../data/rdna/memory-model.tsv.gz");

/// The mnemonics of instructions that invalidate a cache or write it back.
const CACHES: [&str; 4] = ["buffer_gl0_inv", "buffer_gl1_inv", "global_inv", "global_wb"];

/// The bits of an access that the memory model determines. A read-modify-write that returns a value has `glc` for that reason.
fn bits(access: &str, of: Operation) -> String {
    let model = |word: &&str| match *word {
        "glc" => of != Operation::Rmw,
        "dlc" => true,
        word => word.starts_with("scope:"),
    };
    access.split(' ').filter(model).map(|word| format!(" {word}")).collect()
}

/// The instructions of a kernel that belong to the sequence: the cache instructions and the access.
fn left(kernel: &[&str], of: Operation) -> Vec<String> {
    let is_access = |line: &&str| match of {
        Operation::Load => {
            ["global_load", "flat_load", "ds_read", "ds_load"].iter().any(|p| line.starts_with(p))
        }
        Operation::Store => {
            ["global_store", "flat_store", "ds_write", "ds_store"].iter().any(|p| line.starts_with(p))
        }
        Operation::Rmw => ["global_atomic", "flat_atomic", "ds_add"].iter().any(|p| line.starts_with(p)),
        Operation::Fence => false,
    };
    // The store that the test examines is the last one; the store that it releases comes earlier.
    let at = match of {
        Operation::Store => kernel.iter().rposition(is_access),
        _ => kernel.iter().position(is_access),
    };
    let kept = kernel.iter().enumerate().filter_map(|(i, line)| {
        let cache = CACHES.iter().any(|cache| line.starts_with(cache));
        match Some(i) == at {
            true => Some(format!("access{}", bits(line, of))),
            false => cache.then(|| (*line).to_owned()),
        }
    });
    kept.collect()
}

/// The corresponding part of our sequence.
fn ours(made: &Sequence, set: gcn_isa::InstructionSet) -> Vec<String> {
    let caches = |actions: &[Action]| {
        let is_cache = |action: &&Action| matches!(action, Action::Cache { .. });
        actions.iter().filter(is_cache).map(|action| action.on(set)).collect::<Vec<_>>()
    };
    let mut all = caches(&made.before);
    if made.operation != Operation::Fence {
        all.push(format!("access{}", made.bits));
    }
    all.extend(caches(&made.after));
    all
}

#[test]
fn compiled_kernels_have_what_the_sequences_say() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(KERNELS).read_to_string(&mut text).expect("the data file is gzip");
    let mut compared = 0;
    let mut others = Vec::new();
    for row in text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>()) {
        let &[target, mode, operation, ordering, scope, space, code] = &row[..] else { panic!("{row:?}") };
        let target: Target = target.parse().expect("a target");
        let of = match operation {
            "load" => Operation::Load,
            "store" => Operation::Store,
            "atomicrmw add" => Operation::Rmw,
            // A barrier in LLVM IR is compiled with the fence that belongs to it.
            "fence" | "barrier" => Operation::Fence,
            other => {
                others.push(other);
                continue;
            }
        };
        let kernel: Vec<&str> = code.split(" | ").collect();
        let named = Ordering::ALL.into_iter().find(|o| o.name() == ordering);
        let ordering = named.or((operation == "barrier").then_some(Ordering::AcqRel)).expect("an ordering");
        let scope = Scope::ALL.into_iter().find(|s| s.name() == scope).expect("a scope");
        let space = match space {
            "lds" => Space::Local,
            "flat" => Space::Generic,
            _ => Space::Global,
        };
        let modes: &[Mode] = match mode {
            // LLVM was forced to this mode, which gfx1250 lacks.
            "wgp" if !target.has_workgroup_processors() => &[],
            _ if !target.has_workgroup_processors() => &[Mode::Normal],
            "cu" => &[Mode::Normal],
            "wgp" => &[Mode::Wgp],
            _ => &[Mode::Normal, Mode::Wgp],
        };
        for mode in modes {
            let made =
                sequence(target, *mode, of, ordering, scope, space).expect("a sequence").returning(true);
            assert_eq!(ours(&made, target.instruction_set()), left(&kernel, of), "{row:?}");
            compared += 1;
        }
    }
    others.sort_unstable();
    others.dedup();
    let no_atomics = ["load nontemporal", "load volatile", "store nontemporal", "store volatile"];
    assert_eq!((compared, &others[..]), (1200 + 187, &no_atomics[..]));
}
