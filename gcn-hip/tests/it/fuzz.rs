//! Tests random sequences of calls with null, freed, overlapping, out-of-range and wrong-device arguments.
//!
//! Arguments satisfy what C requires of any caller: pointers to host memory point to enough memory, and strings are terminated. Everything
//! else may be invalid. A call must not end the process, panic (`hipErrorUnknown`), or write to memory that it was not given; it must
//! refuse null and destroyed objects; and after a reset the device must work and have all of its memory. `GCN_FUZZ_COUNT` and
//! `GCN_FUZZ_SEED` select the sequences; with `GCN_FUZZ_TRACE=1` each call is printed before it is made.

mod arguments;
mod functions;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use gcn_test_support::{Random, env};

use crate::api::{P, device, hip, ok, symbol};
use crate::kernels::{self, add, buffer, words};
use arguments::plain;
use functions::{FUNCTIONS, LENIENT};

/// The number of calls in a sequence.
const CALLS: usize = 40;
/// The size of the host memory that stands for the program's own. Pointers into it leave half of this size before and after them.
const OWN: usize = 1 << 20;
/// Initial contents of a buffer that no call may change.
const CANARY: [u32; 64] = [0xfeed_beef; 64];

/// The objects that the sequence has created, by the letter of their kind. Destroyed objects stay in the list and are marked.
struct Sequence {
    random: Random,
    made: BTreeMap<char, Vec<(P, bool)>>,
    own: Vec<u64>,
    /// Arguments in memory, kept until the end because the runtime may still read them later.
    kept: Vec<Box<[u64]>>,
    /// `wrong`: the current call has an argument that must be refused. `live`: all its memory arguments are in existing allocations.
    wrong: bool,
    live: bool,
    /// The fat binary that registered a variable; its host symbol is this address.
    binary: P,
    /// The functions that have succeeded at least once.
    succeeded: BTreeSet<&'static str>,
}

impl Sequence {
    fn new(seed: u64, module: P) -> Sequence {
        let mut sequence = Sequence {
            random: Random::new(seed),
            made: BTreeMap::from([('m', vec![(module, true)])]),
            own: vec![0; OWN / 8],
            kept: Vec::new(),
            wrong: false,
            live: true,
            binary: 0,
            succeeded: BTreeSet::new(),
        };
        sequence.binary = register(sequence.variable());
        sequence.begin(module);
        sequence
    }

    /// Creates some objects of each kind for the calls to use.
    fn begin(&mut self, module: P) {
        let name = self.room(vec![u64::from_le_bytes(*b"add\0\0\0\0\0")]);
        let mut make = |kind: char, name: &str, arguments: &[P]| {
            let place = self.room(vec![0]);
            ok(invoke(name, &[&[place], arguments].concat()));
            let made = unsafe { (place as *const P).read_volatile() };
            self.made.entry(kind).or_default().push((made, true));
            made
        };
        let [(memory, event), _] = [(); 2].map(|()| {
            let (memory, event) = (make('p', "hipMalloc", &[65_536]), make('e', "hipEventCreate", &[]));
            ok(hip::hipEventRecord(event, 0));
            (memory, event)
        });
        make('p', "hipHostMalloc", &[300, 0]);
        make('p', "hipMallocManaged", &[4096, 1]);
        make('s', "hipStreamCreate", &[]);
        let function = make('u', "hipModuleGetFunction", &[module, name]);
        make('l', "hipDeviceGetDefaultMemPool", &[0]);
        let [child, graph] = [(); 2].map(|()| make('g', "hipGraphCreate", &[0]));
        // Adds a node of each kind.
        let values = [memory, 3];
        let arguments = [values.as_ptr() as P, values.as_ptr() as P + 8];
        let launch = [1 << 32 | 64, 1, 0, function, 1 << 32 | 1, 1, arguments.as_ptr() as P, 0];
        let (fill, call) = ([memory, 4, 1, 0, 7, 16], [plain as *const () as P, 0]);
        make('n', "hipGraphAddEmptyNode", &[graph, 0, 0]);
        make('n', "hipGraphAddChildGraphNode", &[graph, 0, 0, child]);
        make('n', "hipGraphAddEventRecordNode", &[graph, 0, 0, event]);
        make('n', "hipGraphAddHostNode", &[graph, 0, 0, call.as_ptr() as P]);
        make('n', "hipGraphAddMemcpyNode1D", &[graph, 0, 0, memory, memory + 64, 64, 3]);
        make('n', "hipGraphAddMemsetNode", &[graph, 0, 0, fill.as_ptr() as P]);
        make('n', "hipGraphAddKernelNode", &[graph, 0, 0, launch.as_ptr() as P]);
        make('x', "hipGraphInstantiate", &[graph, 0, 0, 0]);
        let registered = self.room(Vec::new());
        ok(invoke("hipHostRegister", &[registered, 4096, 0]));
        self.made.insert('7', vec![(registered, true)]);
    }

    /// A host address that is registered as the symbol of the variable `total`.
    fn variable(&self) -> P {
        self.own.as_ptr() as P + 64
    }

    fn below(&mut self, count: usize) -> usize {
        self.random.below(count)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Makes one random call.
    fn call(&mut self, seed: u64) {
        let (name, kinds) = FUNCTIONS[self.below(FUNCTIONS.len())];
        (self.wrong, self.live) = (false, true);
        let mut arguments = [0; 14];
        for (place, kind) in arguments.iter_mut().zip(kinds.chars()) {
            *place = self.argument(kind);
        }
        // Host memory in a copy is large enough for the contents of an allocation, but not for more.
        let flat = kinds.chars().filter(|kind| *kind == 'z').count() == 1;
        if name == "hipHostRegister" || kinds.contains('p') && (!self.live || !flat) {
            let sizes = arguments.iter_mut().zip(kinds.chars()).filter(|(_, kind)| *kind == 'z');
            sizes.for_each(|(size, _)| *size %= 300);
        }
        if env::is_set("GCN_FUZZ_TRACE") {
            eprintln!("seed {seed}: {name}({kinds}) {arguments:x?}");
        }
        let code = invoke(name, &arguments);
        let said = || format!("seed {seed}: {name} {arguments:x?} gave {code}");
        assert_ne!(code, 999, "{}: it panicked", said());
        assert_eq!(invoke("hipDrvGetErrorName", &[code as usize, self.kept_place()]), 0, "{}", said());
        let null = |kind: char| kind.is_ascii_uppercase() && kind != 'O' && kind != 'Q';
        let null = arguments.iter().zip(kinds.chars()).any(|(argument, kind)| null(kind) && *argument == 0);
        if (null || self.wrong) && !LENIENT.contains(&name) {
            assert_ne!(code, 0, "{}: an argument is null or dead", said());
        }
        if code == 0 {
            self.succeeded.insert(name);
            self.note(name, kinds, &arguments);
        }
    }

    /// Destroys the objects that survive a device reset, so that later sequences do not become slower.
    fn end(&self) {
        const DESTROY: [(char, &str); 5] = [
            ('7', "hipHostUnregister"),
            ('x', "hipGraphExecDestroy"),
            ('g', "hipGraphDestroy"),
            ('e', "hipEventDestroy"),
            ('l', "hipMemPoolDestroy"),
        ];
        for (kind, destroy) in DESTROY {
            let made = self.made.get(&kind).map_or(&[][..], Vec::as_slice);
            // The default pool cannot be destroyed.
            for (handle, _) in made.iter().filter(|made| made.1) {
                invoke(destroy, &[*handle]);
            }
        }
        invoke("__hipUnregisterFatBinary", &[self.binary]);
    }

    /// An address for a result that the test does not read.
    fn kept_place(&mut self) -> P {
        self.own.as_mut_ptr() as P
    }

    /// Records the objects that a call has created or destroyed.
    fn note(&mut self, name: &str, kinds: &str, arguments: &[P]) {
        for (argument, kind) in arguments.iter().zip(kinds.chars()) {
            if kind.is_ascii_uppercase() && !matches!(kind, 'O' | 'Q') {
                let kept = self.kept.iter().rev().find(|kept| kept.as_ptr() as P == *argument).unwrap();
                // SAFETY: this test owns the box. The read is volatile because the call wrote to it without the compiler's knowledge.
                let made = unsafe { kept.as_ptr().read_volatile() } as P;
                if made != 0 {
                    let all = self.made.entry(kind.to_ascii_lowercase()).or_default();
                    all.retain(|(handle, _)| *handle != made);
                    all.push((made, true));
                }
            }
        }
        const ENDS: [&str; 8] = [
            "Destroy",
            "Free",
            "FreeAsync",
            "HostFree",
            "Unload",
            "ExecDestroy",
            "DestroyNode",
            "Unregister",
        ];
        if ENDS.iter().any(|end| name.ends_with(end)) && name != "hipMemPoolDestroy" {
            let kind = kinds.chars().next().unwrap();
            let all = self.made.entry(kind).or_default();
            all.iter_mut().filter(|(handle, _)| *handle == arguments[0]).for_each(|made| made.1 = false);
        }
        // A module's functions and a graph's nodes disappear with it. The test does not track which belong to which, and forgets all of
        // them.
        let gone = match name {
            "hipModuleUnload" => Some('u'),
            "hipGraphDestroy" => Some('n'),
            _ => None,
        };
        if let Some(gone) = gone {
            self.made.remove(&gone);
        }
    }
}

/// Calls a function whose arguments are all words. Functions ignore surplus arguments.
pub fn invoke(name: &str, a: &[P]) -> u32 {
    let address = symbol(name, None);
    assert_ne!(address, 0, "{name}");
    invoke_at(address, a)
}

/// As [`invoke`], for a function's address.
pub fn invoke_at(address: P, a: &[P]) -> u32 {
    type Function = unsafe extern "C" fn(P, P, P, P, P, P, P, P, P, P, P, P, P, P) -> u32;
    // SAFETY: in this calling convention, words are passed in registers and then on the stack, in order, and the caller removes them.
    let function: Function = unsafe { std::mem::transmute(address) };
    let a = |n: usize| a.get(n).copied().unwrap_or(0);
    // SAFETY: the arguments satisfy what C requires of a caller; the library must tolerate everything else.
    unsafe {
        function(a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8), a(9), a(10), a(11), a(12), a(13))
    }
}

/// Registers a fat binary as clang's start-up code does; `variable` is the address that represents the variable `total`.
fn register(variable: P) -> P {
    static OBJECT: LazyLock<Vec<u8>> = LazyLock::new(kernels::object);
    let wrapper = [u64::from_le_bytes(*b"FPIH\x01\0\0\0"), OBJECT.as_ptr() as u64, 0];
    type Register = unsafe extern "C" fn(P) -> P;
    // SAFETY: the type is that of the function; the code object exists as long as the process, and the name is terminated.
    let binary = unsafe {
        std::mem::transmute::<P, Register>(symbol("__hipRegisterFatBinary", None))(wrapper.as_ptr() as P)
    };
    let name = c"total".as_ptr() as P;
    invoke("__hipRegisterVar", &[binary, variable, name, name, 0, 8, 0, 0]);
    binary
}

/// The number of sequences after which every function has been called successfully at least once.
const SEQUENCES: u64 = 4000;

#[test]
fn no_sequence_of_calls_breaks_the_device() {
    // Set in a separate process for this test, in which no other test has objects.
    const ALONE: &str = "GCN_HIP_FUZZ_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        alone
            .args(["--exact", "fuzz::no_sequence_of_calls_breaks_the_device", "--nocapture"])
            .env(ALONE, "1");
        let out = alone.output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        return;
    }
    let _device = device();
    let (mut succeeded, seeds) = (BTreeSet::new(), env::fuzz_seeds(1, SEQUENCES));
    let before = used_after_reset();
    for seed in seeds.clone() {
        let canary = buffer(&CANARY);
        let module = kernels::module();
        let mut sequence = Sequence::new(seed, module);
        for _ in 0..CALLS {
            sequence.call(seed);
        }
        // After a fault copies fail until the reset, so the memory is read directly: device addresses are addresses of this process.
        // SAFETY: the allocation exists until the reset, and no kernel runs.
        let held = unsafe { std::slice::from_raw_parts(canary as *const u32, CANARY.len()) };
        assert_eq!(held, CANARY, "seed {seed}");
        // Modules stay loaded when the device is reset.
        if sequence.made[&'m'] == [(module, true)] {
            ok(hip::hipModuleUnload(module));
        }
        sequence.end();
        restored(seed, before);
        succeeded.append(&mut sequence.succeeded);
    }
    // Checks that the sequences are effective: every function has succeeded at least once.
    let never: Vec<_> = FUNCTIONS.iter().map(|f| f.0).filter(|f| !succeeded.contains(f)).collect();
    assert!(seeds.count() < SEQUENCES as usize || never.is_empty(), "{never:?}");
}

/// Resets both devices; returns the number of bytes of memory that are still in use.
fn used_after_reset() -> usize {
    for ordinal in [1, 0] {
        ok(hip::hipSetDevice(ordinal));
        ok(hip::hipDeviceReset());
    }
    let (mut free, mut total) = (0usize, 0usize);
    ok(hip::hipMemGetInfo(&raw mut free as P, &raw mut total as P));
    total - free
}

/// Checks that after a reset the devices work, and that no more than `used` bytes are in use.
fn restored(seed: u64, used: usize) {
    assert_eq!(used_after_reset(), used, "seed {seed}: memory is left");
    hip::hipGetLastError();
    let module = kernels::module();
    let at = buffer(&[5; 64]);
    ok(add(kernels::function(module, "add"), at, 2, 0));
    assert_eq!(words(at, 64), [7; 64], "seed {seed}");
    ok(hip::hipFree(at));
    ok(hip::hipModuleUnload(module));
}
