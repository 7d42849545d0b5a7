//! Random sequences of calls with null, freed, overlapping, out-of-range and wrong-device arguments.
//!
//! What C demands of a caller is kept: pointers to host memory have room, and names end. All else may be anything. A call must not
//! end the process, panic (`hipErrorUnknown`) or write to memory that it was not given; what is null or dead must be refused; and
//! after a reset the device must work and have all of its memory. `GCN_FUZZ_COUNT` and `GCN_FUZZ_SEED` choose the sequences;
//! `GCN_FUZZ_TRACE=1` says each call before it is made.

use std::collections::{BTreeMap, BTreeSet};

use gcn_test_support::{Random, env};

use crate::api::{P, device, hip, ok, symbol};
use crate::kernels::{self, add, buffer, words};

/// Functions with the kinds of their arguments.
///
/// Capital letters are places for what is made: `P` memory, `S` stream, `E` event, `M` module, `U` function, `G` graph, `X`
/// executable graph, `N` node, `L` pool, `O` anything else. Small ones take such a thing: `p`, `s`, `e`, `m`, `u`, `g`, `x`, `n`, `l`.
/// `z` is a size, `k` a direction, `i` and `f` small numbers, `d` a device, `h` a name, `v` any word, `y` a grid and `b` a block in one dimension, `j` a node that its graph may have lost since, `w` a
/// count of the arrays `a` of handles, `q` arguments, `Q` arguments in a buffer, `r`, `2` and `3` the parameters of a
/// fill and of copies, `c` and `t` functions of the host.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, &str)] = &[
    ("hipMalloc", "Pz"), ("hipMalloc", "Pz"), ("hipMallocManaged", "Pzf"), ("hipHostMalloc", "Pzf"), ("hipExtMallocWithFlags", "Pzf"),
    ("hipMallocPitch", "POzz"), ("hipMemAllocPitch", "POzzi"), ("hipMallocAsync", "Pzs"), ("hipMallocFromPoolAsync", "Pzls"),
    ("hipFree", "p"), ("hipFreeAsync", "ps"), ("hipHostFree", "p"), ("hipHostRegister", "pzf"), ("hipHostUnregister", "p"),
    ("hipHostGetDevicePointer", "Opf"), ("hipHostGetFlags", "Op"), ("hipMemGetInfo", "OO"), ("hipMemGetAddressRange", "OOp"),
    ("hipMemPtrGetInfo", "pO"), ("hipPointerGetAttributes", "Op"), ("hipPointerGetAttribute", "Oip"), ("hipMemPrefetchAsync", "pzds"),
    ("hipMemAdvise", "pzid"), ("hipMemRangeGetAttribute", "Oiipz"), ("hipStreamAttachMemAsync", "spzf"),
    ("hipMemcpy", "ppzk"), ("hipMemcpy", "ppzk"), ("hipMemcpyAsync", "ppzks"), ("hipMemcpyWithStream", "ppzks"),
    ("hipMemcpyDtoH", "ppz"), ("hipMemcpyHtoDAsync", "ppzs"), ("hipMemcpyDtoDAsync", "ppzs"), ("hipMemcpyPeer", "pdpdz"),
    ("hipMemcpyPeerAsync", "pdpdzs"), ("hipMemcpy2D", "pzpzzzk"), ("hipMemcpy2DAsync", "pzpzzzks"), ("hipMemcpy3D", "3"),
    ("hipMemcpy3DAsync", "3s"), ("hipMemcpyParam2D", "2"), ("hipMemcpyParam2DAsync", "2s"), ("hipDrvMemcpy2DUnaligned", "2"),
    ("hipMemcpyToSymbol", "vpzzk"), ("hipMemcpyFromSymbolAsync", "pvzzks"), ("hipGetSymbolAddress", "Ov"), ("hipGetSymbolSize", "Ov"),
    ("hipMemset", "piz"), ("hipMemsetAsync", "pizs"), ("hipMemsetD8", "piz"), ("hipMemsetD16Async", "pizs"), ("hipMemsetD32", "piz"),
    ("hipMemset2D", "pzizz"), ("hipMemset2DAsync", "pzizzs"),
    ("hipModuleGetFunction", "Umh"), ("hipModuleGetFunction", "Umh"), ("hipModuleGetGlobal", "OOmh"), ("hipModuleGetFunctionCount", "Om"),
    ("hipModuleUnload", "m"), ("hipFuncGetAttribute", "Oiu"), ("hipFuncGetAttributes", "Ou"), ("hipFuncSetAttribute", "uii"),
    ("hipModuleLaunchKernel", "uyyybbbfsqQ"), ("hipModuleLaunchKernel", "uyyybbbfsqQ"), ("hipModuleLaunchKernel", "uyyybbbfsqQ"),
    ("hipModuleLaunchCooperativeKernel", "uyyybbbfsq"), ("hipExtModuleLaunchKernel", "uyyybbbfsqQeef"),
    ("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", "Ouiz"), ("hipModuleOccupancyMaxPotentialBlockSize", "OOuzi"),
    ("hipStreamCreate", "S"), ("hipStreamCreateWithFlags", "Sf"), ("hipStreamCreateWithPriority", "Sfi"), ("hipStreamDestroy", "s"),
    ("hipStreamSynchronize", "s"), ("hipStreamQuery", "s"), ("hipStreamWaitEvent", "sef"), ("hipStreamGetFlags", "sO"),
    ("hipStreamGetPriority", "sO"), ("hipStreamGetDevice", "sO"), ("hipStreamGetId", "sO"), ("hipStreamSetAttribute", "siO"),
    ("hipStreamBeginCapture", "si"), ("hipStreamBeginCaptureToGraph", "sgaawi"), ("hipStreamEndCapture", "sG"),
    ("hipStreamIsCapturing", "sO"), ("hipStreamGetCaptureInfo", "sOO"), ("hipStreamGetCaptureInfo_v2", "sOOOOO"),
    ("hipStreamUpdateCaptureDependencies", "sawi"), ("hipThreadExchangeStreamCaptureMode", "O"), ("hipStreamWriteValue32", "spif"),
    ("hipStreamWriteValue64", "spif"), ("hipStreamWaitValue32", "spifi"), ("hipStreamWaitValue64", "spifi"),
    ("hipLaunchHostFunc", "scp"), ("hipStreamAddCallback", "stpf"), ("hipExtStreamCreateWithCUMask", "Siv"),
    ("hipEventCreate", "E"), ("hipEventCreateWithFlags", "Ef"), ("hipEventDestroy", "e"), ("hipEventRecord", "es"),
    ("hipEventRecordWithFlags", "esf"), ("hipEventSynchronize", "e"), ("hipEventQuery", "e"), ("hipEventElapsedTime", "Oee"),
    ("hipGraphCreate", "Gf"), ("hipGraphDestroy", "g"), ("hipGraphClone", "Gg"), ("hipGraphDestroyNode", "n"),
    ("hipGraphAddEmptyNode", "Ngaw"), ("hipGraphAddMemcpyNode1D", "Ngawppzk"), ("hipGraphAddMemsetNode", "Ngawr"),
    ("hipGraphAddMemcpyNode", "Ngaw3"), ("hipGraphAddChildGraphNode", "Ngawg"), ("hipGraphAddEventRecordNode", "Ngawe"),
    ("hipGraphAddEventWaitNode", "Ngawe"), ("hipGraphAddDependencies", "gaaw"), ("hipGraphRemoveDependencies", "gaaw"),
    ("hipGraphGetNodes", "gOO"), ("hipGraphGetRootNodes", "gOO"), ("hipGraphGetEdges", "gOOO"), ("hipGraphNodeGetDependencies", "nOO"),
    ("hipGraphNodeGetDependentNodes", "nOO"), ("hipGraphNodeGetType", "nO"), ("hipGraphInstantiate", "Xgvvi"),
    ("hipGraphInstantiateWithFlags", "Xgf"), ("hipGraphLaunch", "xs"), ("hipGraphUpload", "xs"), ("hipGraphExecDestroy", "x"),
    ("hipGraphMemsetNodeSetParams", "nr"), ("hipGraphExecMemsetNodeSetParams", "xjr"), ("hipGraphMemcpyNodeSetParams1D", "nppzk"),
    ("hipGraphExecMemcpyNodeSetParams1D", "xjppzk"), ("hipGraphMemcpyNodeSetParams", "n3"), ("hipGraphExecMemcpyNodeSetParams", "xj3"),
    ("hipGraphExecUpdate", "xgOO"), ("hipGraphNodeSetEnabled", "xjf"), ("hipGraphNodeGetEnabled", "xjO"), ("hipGraphExecGetFlags", "xO"),
    ("hipGraphKernelNodeGetParams", "nO"), ("hipGraphMemsetNodeGetParams", "nO"), ("hipGraphHostNodeGetParams", "nO"),
    ("hipGraphChildGraphNodeGetGraph", "nO"), ("hipGraphEventRecordNodeGetEvent", "nO"), ("hipGraphEventRecordNodeSetEvent", "ne"),
    ("hipMemPoolCreate", "Lr"), ("hipMemPoolDestroy", "l"), ("hipDeviceGetMemPool", "Ld"), ("hipDeviceGetDefaultMemPool", "Ld"),
    ("hipDeviceSetMemPool", "dl"), ("hipMemPoolTrimTo", "lz"), ("hipMemPoolGetAttribute", "liO"), ("hipMemPoolSetAttribute", "liO"),
    ("hipSetDevice", "d"), ("hipGetDevice", "O"), ("hipGetDeviceCount", "O"), ("hipGetDevicePropertiesR0600", "Od"), ("hipDeviceGet", "Od"),
    ("hipDeviceGetAttribute", "Oid"), ("hipDeviceTotalMem", "Od"), ("hipDeviceGetUuid", "Od"), ("hipDeviceGetByPCIBusId", "Oh"),
    ("hipDeviceComputeCapability", "OOd"), ("hipDeviceGetLimit", "Oi"), ("hipDeviceSetLimit", "iz"), ("hipDeviceCanAccessPeer", "Odd"),
    ("hipDeviceEnablePeerAccess", "df"), ("hipDeviceDisablePeerAccess", "d"), ("hipDeviceGetP2PAttribute", "Oidd"),
    ("hipDeviceSynchronize", ""), ("hipGetLastError", ""), ("hipPeekAtLastError", ""), ("hipGetProcAddress", "hOifO"),
    ("hipDrvGetErrorName", "iO"), ("hipDrvGetErrorString", "iO"), ("hipCtxCreate", "Ofd"), ("hipCtxGetCurrent", "O"),
    ("hipCtxSetCurrent", "v"), ("hipCtxPushCurrent", "v"), ("hipCtxPopCurrent", "O"), ("hipDevicePrimaryCtxRetain", "Od"),
];

/// Functions that accept what they cannot use: a stream that does not exist is not looked at, and a size of 0 has no pointer.
const LENIENT: &[&str] = &["hipFuncSetAttribute"];

/// Calls of a sequence, and the room for each thing of the host that a call gets.
const CALLS: usize = 40;
const ROOM: usize = 1 << 12;
/// Host memory that stands for the program's own; pointers to it have half of it before and after them.
const OWN: usize = 1 << 20;
/// What no call may change, and what it holds.
const CANARY: [u32; 64] = [0xfeed_beef; 64];

extern "C" fn plain(_: P) {}
extern "C" fn of_stream(_: P, _: u32, _: P) {}

/// The things that the sequence made, by the letter of their kind; the dead ones stay, and are known to be dead.
struct Sequence {
    random: Random,
    made: BTreeMap<char, Vec<(P, bool)>>,
    own: Vec<u64>,
    /// Kept until the end: a call may look at them later.
    kept: Vec<Box<[u64]>>,
    /// Whether an argument of the current call must be refused, and whether all memory is an allocation that lives.
    wrong: bool,
    live: bool,
    /// Functions that have done what they were asked.
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
            succeeded: BTreeSet::new(),
        };
        sequence.begin(module);
        sequence
    }

    /// Some things of each kind, so that there is something to use.
    fn begin(&mut self, module: P) {
        let name = self.room(vec![u64::from_le_bytes(*b"add\0\0\0\0\0")]);
        let mut make = |kind: char, name: &str, arguments: &[P]| {
            let place = self.room(vec![0]);
            ok(invoke(name, &[&[place], arguments].concat()));
            let made = unsafe { (place as *const P).read_volatile() };
            self.made.entry(kind).or_default().push((made, true));
            made
        };
        for _ in 0..2 {
            make('p', "hipMalloc", &[65_536]);
            let event = make('e', "hipEventCreate", &[]);
            ok(hip::hipEventRecord(event, 0));
        }
        make('p', "hipHostMalloc", &[300, 0]);
        make('s', "hipStreamCreate", &[]);
        make('u', "hipModuleGetFunction", &[module, name]);
        make('l', "hipDeviceGetDefaultMemPool", &[0]);
        let graph = make('g', "hipGraphCreate", &[0]);
        make('n', "hipGraphAddEmptyNode", &[graph, 0, 0]);
        make('n', "hipGraphAddEmptyNode", &[graph, 0, 0]);
        make('x', "hipGraphInstantiate", &[graph, 0, 0, 0]);
    }

    fn below(&mut self, count: usize) -> usize {
        self.random.below(count)
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Memory of the host with these words.
    fn room(&mut self, words: Vec<u64>) -> P {
        let mut words = words;
        words.resize(ROOM / 8, 0);
        self.kept.push(words.into());
        self.kept.last().unwrap().as_ptr() as P
    }

    /// Something of a kind that takes things: mostly one that lives.
    fn thing(&mut self, kind: char) -> P {
        if self.one_in(12) {
            let junk = [0, 77, 0x6a00_0000_0010, 1 << 47][self.below(4)];
            // Null is the default stream, and no event.
            self.wrong |= junk != 0 && kind != 'l';
            return junk;
        }
        match self.made.get(&kind) {
            Some(all) if !all.is_empty() => {
                let at = all.len() - 1 - self.random.below(all.len().min(6));
                let (handle, lives) = all[at];
                self.wrong |= !lives;
                handle
            }
            _ => 0,
        }
    }

    fn memory(&mut self) -> P {
        if self.one_in(5) {
            self.live = false;
            return if self.one_in(3) { 0 } else { self.own.as_ptr() as P + OWN / 2 + self.random.below(64) };
        }
        let made = self.made.get(&'p').map_or(&[][..], Vec::as_slice);
        let Some(&(at, lives)) = made.get(made.len().saturating_sub(1 + self.random.below(6))) else {
            self.live = false;
            return 0;
        };
        self.live &= lives;
        // The start, inside, at the end or after it; far after it the allocator has a page that nothing uses.
        let offset = [0, 0, 0, 4, 63, 256, 4096, 70_000][self.random.below(8)];
        self.live &= offset < 256;
        at + offset
    }

    fn size(&mut self) -> P {
        match self.below(8) {
            0 => 0,
            1 => [usize::MAX, 1 << 40, isize::MAX as usize, u32::MAX as usize][self.below(4)],
            2 => 65_536,
            _ => 1 + self.below(300),
        }
    }

    fn argument(&mut self, kind: char) -> P {
        match kind {
            'P' | 'S' | 'E' | 'M' | 'U' | 'G' | 'X' | 'N' | 'L' | 'O' => {
                if self.one_in(16) {
                    return 0;
                }
                let count = if kind == 'O' { self.below(400) as u64 } else { 0 };
                self.room(vec![count])
            }
            's' | 'e' | 'm' | 'u' | 'g' | 'x' | 'n' | 'l' => self.thing(kind),
            'p' => self.memory(),
            'z' => self.size(),
            'k' => self.below(6),
            'i' => [0, 1, 2, 3, 4, 7, 50, 98, u32::MAX as usize, i32::MAX as usize][self.below(10)],
            'f' => [0, 0, 0, 1, 2, 4, 8, 0x4000_0000][self.below(8)],
            'd' => [0, 0, 1, 1, 2, 63, u32::MAX as usize][self.below(7)],
            'y' => [1, 1, 1, 2, 3, 0, u32::MAX as usize][self.below(7)],
            'b' => [1, 1, 1, 2, 64, 0, 1025, u32::MAX as usize][self.below(8)],
            'w' => [0, 1, 2, 3][self.below(4)],
            'v' => [0, 1, 0x6a00_0000_0010, self.own.as_ptr() as P][self.below(4)],
            'c' => [0, plain as *const () as P][self.below(2)],
            't' => [0, of_stream as *const () as P][self.below(2)],
            'h' => self.name(),
            'j' => {
                let wrong = self.wrong;
                let node = self.thing('n');
                self.wrong = wrong;
                node
            }
            'a' => {
                // As many as the count says are looked at, so that a dead one may not matter.
                let wrong = self.wrong;
                let nodes = (0..4).map(|_| self.thing('n') as u64).collect();
                self.wrong = wrong;
                if self.one_in(8) { 0 } else { self.room(nodes) }
            }
            'q' => {
                let at = self.memory() as u64;
                let values = self.room(vec![at, 3]) as u64;
                self.live = true; // Kernels may be given anything.
                if self.one_in(16) { 0 } else { self.room(vec![values, values + 8, values + 8]) }
            }
            'Q' => {
                if !self.one_in(4) {
                    return 0;
                }
                let size = [0, 8, 12, 16, 4096, 1 << 20][self.below(6)];
                let (at, size) = (self.memory() as u64, self.room(vec![size]) as u64);
                self.live = true;
                let values = self.room(vec![at, 3]) as u64;
                let last = [3, 3, 3, 9][self.below(4)];
                self.room(vec![1, values, 2, size, last])
            }
            'r' => self.structure("pzzzzz"),
            '2' => self.structure("zztpp0zzztpp0zzz"),
            '3' => self.structure("0zzzpzzz0zzzpzzzzzzk"),
            _ => unreachable!("{kind}"),
        }
    }

    /// A structure of words of these kinds: `t` is a kind of memory. Sizes are small: what a copy of the host's memory reaches is there.
    fn structure(&mut self, kinds: &str) -> P {
        let words = kinds.chars().map(|kind| match kind {
            'z' => self.below(70),
            't' => self.below(5),
            '0' => 0,
            kind => self.argument(kind),
        });
        let words = words.map(|word| word as u64).collect();
        self.live = false;
        if self.one_in(12) { 0 } else { self.room(words) }
    }

    fn name(&mut self) -> P {
        const NAMES: [&[u8]; 11] = [
            b"add\0",
            b"add\0",
            b"add\0",
            b"add\0",
            b"add\0",
            b"total\0",
            b"hipMalloc\0",
            b"\xff\0",
            b"\0",
            b"beyond\0",
            b"stop\0",
        ];
        if self.one_in(12) {
            return 0;
        }
        let name = if self.one_in(200) { &b"never\0"[..] } else { NAMES[self.below(NAMES.len())] };
        let words = name.chunks(8).map(|c| c.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        let words = words.collect();
        self.room(words)
    }

    /// One call.
    fn call(&mut self, seed: u64) {
        let (name, kinds) = FUNCTIONS[self.below(FUNCTIONS.len())];
        (self.wrong, self.live) = (false, true);
        let mut arguments = [0; 14];
        for (place, kind) in arguments.iter_mut().zip(kinds.chars()) {
            *place = self.argument(kind);
        }
        // The host's side of a copy has room for what an allocation may hold, but not for more.
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

    /// Destroys what outlives a reset, so that sequences do not slow each other down.
    fn end(&self) {
        const DESTROY: [(char, &str); 4] = [
            ('x', "hipGraphExecDestroy"),
            ('g', "hipGraphDestroy"),
            ('e', "hipEventDestroy"),
            ('l', "hipMemPoolDestroy"),
        ];
        for (kind, destroy) in DESTROY {
            let made = self.made.get(&kind).map_or(&[][..], Vec::as_slice);
            // The default pool stays.
            for (handle, _) in made.iter().filter(|made| made.1) {
                invoke(destroy, &[*handle]);
            }
        }
    }

    /// A place for a result that nobody reads.
    fn kept_place(&mut self) -> P {
        self.own.as_mut_ptr() as P
    }

    /// What a call made or ended.
    fn note(&mut self, name: &str, kinds: &str, arguments: &[P]) {
        for (argument, kind) in arguments.iter().zip(kinds.chars()) {
            if kind.is_ascii_uppercase() && !matches!(kind, 'O' | 'Q') {
                let kept = self.kept.iter().rev().find(|kept| kept.as_ptr() as P == *argument).unwrap();
                // SAFETY: the box is ours; the call wrote it behind the compiler's back.
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
        // Functions go with their module, nodes with their graph: it is not followed which.
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

/// Calls a function whose arguments are all words: what is too many stays unread.
pub fn invoke(name: &str, a: &[P]) -> u32 {
    let address = symbol(name, None);
    assert_ne!(address, 0, "{name}");
    invoke_at(address, a)
}

/// The same for a function's address.
pub fn invoke_at(address: P, a: &[P]) -> u32 {
    type Function = unsafe extern "C" fn(P, P, P, P, P, P, P, P, P, P, P, P, P, P) -> u32;
    // SAFETY: the calling convention passes words in registers and then on the stack, in order, and the caller removes them.
    let function: Function = unsafe { std::mem::transmute(address) };
    let a = |n: usize| a.get(n).copied().unwrap_or(0);
    // SAFETY: the arguments keep what C demands; the rest is what the library must stand.
    unsafe {
        function(a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8), a(9), a(10), a(11), a(12), a(13))
    }
}

/// So many that nearly every function is once called as it should be.
const SEQUENCES: u64 = 1500;

#[test]
fn no_sequence_of_calls_breaks_the_device() {
    // In a process of its own, where no handle and no module of another test is alive.
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
        // A fault stays with the device, and then copies fail; the memory is the process's own.
        // SAFETY: the allocation is there until the reset, and no kernel runs.
        let held = unsafe { std::slice::from_raw_parts(canary as *const u32, CANARY.len()) };
        assert_eq!(held, CANARY, "seed {seed}");
        // Modules stay loaded over a reset.
        if sequence.made[&'m'] == [(module, true)] {
            ok(hip::hipModuleUnload(module));
        }
        sequence.end();
        restored(seed, before);
        succeeded.append(&mut sequence.succeeded);
    }
    // The sequences get somewhere: nearly every function has been called as it should be.
    let all: BTreeSet<&str> = FUNCTIONS.iter().map(|function| function.0).collect();
    let never: Vec<_> = all.difference(&succeeded).collect();
    assert!(seeds.count() < SEQUENCES as usize || never.len() < all.len() / 8, "{never:?}");
}

/// Resets both devices; the bytes of memory that are still in use then.
fn used_after_reset() -> usize {
    for ordinal in [1, 0] {
        ok(hip::hipSetDevice(ordinal));
        ok(hip::hipDeviceReset());
    }
    let (mut free, mut total) = (0usize, 0usize);
    ok(hip::hipMemGetInfo(&raw mut free as P, &raw mut total as P));
    total - free
}

/// After a reset the devices have the memory that they had before, and work.
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
