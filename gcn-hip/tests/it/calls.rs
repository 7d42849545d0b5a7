//! Tests random sequences of valid and invalid calls, compared with a model of the memory's contents.

use gcn_test_support::{Random, env};

use crate::api::{P, device, get, hip, ok};
use crate::kernels::{add, function, module};

/// The number of words in a buffer.
const WORDS: usize = 64;

/// A buffer with its expected contents.
struct Buffer {
    at: P,
    words: [u32; WORDS],
}

/// The number of calls in a sequence.
const CALLS: usize = 60;

#[test]
fn sequences_of_calls_do_what_they_say() {
    let _device = device();
    let add_kernel = function(module(), "add");
    for seed in env::fuzz_seeds(1, 40) {
        let mut random = Random::new(seed);
        let mut sequence =
            Sequence { add: add_kernel, buffers: Vec::new(), freed: Vec::new(), streams: vec![0] };
        for _ in 0..CALLS {
            sequence.call(&mut random);
        }
        sequence.end(seed);
    }
}

struct Sequence {
    add: P,
    buffers: Vec<Buffer>,
    freed: Vec<P>,
    streams: Vec<P>,
}

impl Sequence {
    /// Makes one random call, and applies its effect to the model.
    fn call(&mut self, random: &mut Random) {
        let stream = self.streams[random.below(self.streams.len())];
        let chosen = (!self.buffers.is_empty()).then(|| random.below(self.buffers.len()));
        let value = random.next_u32();
        match (random.below(10), chosen) {
            (0, _) | (_, None) => self.allocate(value),
            (1, Some(n)) => {
                let buffer = self.buffers.swap_remove(n);
                ok(hip::hipFree(buffer.at));
                self.freed.push(buffer.at);
            }
            (2, _) => self.streams.push(get(hip::hipStreamCreate)),
            (3, Some(n)) => {
                ok(hip::hipMemsetD32(self.buffers[n].at, value.cast_signed(), WORDS));
                self.buffers[n].words = [value; WORDS];
            }
            (4 | 5, Some(n)) => {
                ok(add(self.add, self.buffers[n].at, value, stream));
                self.buffers[n].words.iter_mut().for_each(|word| *word = word.wrapping_add(value));
            }
            (6, Some(n)) => {
                let from = random.below(self.buffers.len());
                let (start, count) = (random.below(60), 1 + random.below(4));
                let (to_at, from_at) = (self.buffers[n].at, self.buffers[from].at + 4 * start);
                ok(hip::hipMemcpyAsync(to_at, from_at, 4 * count, 3, stream));
                let words = self.buffers[from].words;
                self.buffers[n].words[..count].copy_from_slice(&words[start..start + count]);
            }
            (7, Some(n)) => self.captured(n, value),
            (_, Some(n)) => self.wrong(n, random),
        }
    }

    fn allocate(&mut self, value: u32) {
        let at = get(|place| hip::hipMalloc(place, 4 * WORDS));
        let words = [value; WORDS];
        ok(hip::hipMemcpy(at, words.as_ptr() as P, 4 * WORDS, 1));
        self.freed.retain(|freed| *freed != at);
        self.buffers.push(Buffer { at, words });
    }

    /// Captures an addition in a graph and launches the graph twice.
    fn captured(&mut self, n: usize, value: u32) {
        let stream: P = get(hip::hipStreamCreate);
        ok(hip::hipStreamBeginCapture(stream, 0));
        ok(add(self.add, self.buffers[n].at, value, stream));
        let graph: P = get(|place| hip::hipStreamEndCapture(stream, place));
        let instance: P = get(|place| hip::hipGraphInstantiate(place, graph, 0, 0, 0));
        for _ in 0..2 {
            ok(hip::hipGraphLaunch(instance, 0));
            self.buffers[n].words.iter_mut().for_each(|word| *word = word.wrapping_add(value));
        }
        ok(hip::hipGraphExecDestroy(instance));
        ok(hip::hipGraphDestroy(graph));
        ok(hip::hipStreamDestroy(stream));
    }

    /// Makes a call that must fail and change nothing.
    fn wrong(&self, n: usize, random: &mut Random) {
        let at = self.buffers[n].at;
        let out = [0u32; WORDS];
        let out = out.as_ptr() as P;
        let junk = [0, 1 << 45, 77][random.below(3)];
        let freed = self.freed.last().copied().unwrap_or(0);
        let code = match random.below(12) {
            0 => hip::hipMemcpy(out, freed, 4, 2),
            1 => hip::hipMemcpy(at, out, 4 * WORDS + 1, 1),
            2 => hip::hipMemcpy(at + 4, out, 4 * WORDS, 1),
            3 => hip::hipFree(at + 4),
            4 => hip::hipHostFree(at),
            5 => hip::hipMemset(at, 0, usize::MAX),
            6 => add(self.add, at, 1, junk | 0x1000),
            7 => hip::hipStreamDestroy(junk),
            8 => hip::hipEventRecord(junk, 0),
            9 => hip::hipGraphLaunch(junk, 0),
            10 => hip::hipModuleUnload(junk),
            _ => hip::hipMemcpy2D(at, 4, out, 8, 8, 2, 1),
        };
        assert_ne!(code, 0);
    }

    /// Checks that all buffers have the contents that the model expects.
    fn end(self, seed: u64) {
        for Buffer { at, words } in self.buffers {
            assert_eq!(crate::kernels::words(at, WORDS), words, "seed {seed}");
            ok(hip::hipFree(at));
        }
        self.streams.into_iter().filter(|s| *s != 0).for_each(|stream| ok(hip::hipStreamDestroy(stream)));
        ok(hip::hipDeviceSynchronize());
    }
}
