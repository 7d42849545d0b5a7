//! Kernels of another compiler: clang 22 at -O3, against references in plain Rust, in functional and in strict mode.

mod integers;
mod lanes;
mod matrix;
mod memory;
mod numerics;

use std::collections::HashMap;
use std::io::Read;
use std::sync::LazyLock;

use gcn_isa::Target;
use gcn_sim::{KernelState, Machine, Memory, Options, run};
use half::f16;

use super::harness::Random;

/// Descriptor and code of each kernel.
static KERNELS: LazyLock<HashMap<(String, Target), (Vec<u8>, Vec<u8>)>> = LazyLock::new(|| {
    let mut text = String::new();
    let packed = &include_bytes!("../data/clang22.tsv.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let hex =
        |s: &str| (0..s.len() / 2).map(|i| u8::from_str_radix(&s[2 * i..2 * i + 2], 16).unwrap()).collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        ((cells[0].to_owned(), cells[1].parse().unwrap()), (hex(cells[2]), hex(cells[3])))
    };
    text.lines().skip(1).map(row).collect()
});

/// An element of a buffer.
trait Element: Copy {
    fn put(self, out: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! elements {
    ($($ty:ty),*) => {$(
        impl Element for $ty {
            fn put(self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> $ty {
                <$ty>::from_le_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}

elements!(u8, u16, u32, i32, u64, f32, f64, f16);

/// A kernel with its buffers and arguments.
struct Run {
    machine: Machine,
    memory: Memory,
    kernarg: Vec<u8>,
    options: Options,
}

impl Run {
    /// Copies data to a buffer that becomes the next argument.
    fn buffer<T: Element>(&mut self, data: &[T]) -> u64 {
        let mut bytes = Vec::new();
        data.iter().for_each(|x| x.put(&mut bytes));
        let address = self.memory.alloc(bytes.len());
        self.memory.write(address, &bytes).unwrap();
        self.arg(address);
        address
    }

    fn arg<T: Element>(&mut self, value: T) {
        self.kernarg.resize(self.kernarg.len().next_multiple_of(size_of::<T>()), 0);
        value.put(&mut self.kernarg);
    }

    fn go(&mut self, grid: [u32; 3], size: u32) {
        run(&self.machine, &mut self.memory, grid, [size, 1, 1], &self.kernarg, &self.options)
            .unwrap_or_else(|e| panic!("{e}"));
    }

    fn read<T: Element>(&self, address: u64, count: usize) -> Vec<T> {
        let bytes = self.memory.read(address, count * size_of::<T>()).unwrap();
        bytes.chunks_exact(size_of::<T>()).map(T::get).collect()
    }
}

/// Runs `test` on every target that has the kernel, in both modes.
fn on_each(kernel: &str, test: impl Fn(&mut Run)) {
    let mut runs = 0;
    for target in [Target::GFX90A, Target::GFX942] {
        let Some((descriptor, code)) = KERNELS.get(&(kernel.to_owned(), target)) else { continue };
        for options in [Options::default(), Options::strict()] {
            let state = KernelState::from_descriptor(descriptor, target).unwrap();
            // Scratch by buffer resource (gfx90a) is not simulated.
            if state.user_sgprs.private_segment_buffer {
                continue;
            }
            let machine =
                Machine::new(target, code, state).unwrap_or_else(|e| panic!("{kernel} on {target}: {e}"));
            test(&mut Run { machine, memory: Memory::new(), kernarg: Vec::new(), options });
            runs += 1;
        }
    }
    assert!(runs > 0, "{kernel} did not run");
}

fn floats(seed: u64, count: usize) -> Vec<f32> {
    let mut random = Random(seed);
    (0..count).map(|_| (random.next() % 65_536) as f32 / 8192.0 - 4.0).collect()
}

fn words(seed: u64, count: usize) -> Vec<u32> {
    let mut random = Random(seed);
    (0..count).map(|_| random.next() as u32).collect()
}

/// Halves of a few bits, so that sums are exact in f32.
fn halves(seed: u64, count: usize) -> Vec<f16> {
    let mut random = Random(seed);
    (0..count).map(|_| f16::from_f32((random.next() % 17) as f32 / 4.0 - 2.0)).collect()
}

fn close(a: f32, b: f32, tolerance: f32) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}
