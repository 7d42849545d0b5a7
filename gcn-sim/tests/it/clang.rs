//! Compares kernels compiled by clang 22 at -O3 with references in plain Rust, in functional and in strict mode.

mod integers;
mod lanes;
mod matrix;
mod memory;
mod numerics;

use std::collections::HashMap;
use std::io::Read;
use std::sync::LazyLock;

use gcn_isa::Target;
use gcn_sim::Options;
use gcn_sim::launch::{Arg, Buffer, Element as Type, Prepared, Program, Spec};
use gcn_test_support::Random;
use half::f16;

/// The code object of each kernel.
static KERNELS: LazyLock<HashMap<(String, Target), Vec<u8>>> = LazyLock::new(|| {
    let mut all = Vec::new();
    let packed = &include_bytes!("../data/clang22.objects.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_end(&mut all).unwrap();
    let (mut rest, mut kernels) = (all.as_slice(), HashMap::new());
    // Each object is preceded by a line with its name and size.
    while let Some(end) = rest.iter().position(|b| *b == b'\n') {
        let (name, size) = std::str::from_utf8(&rest[..end]).unwrap().split_once('\t').unwrap();
        let target: Target = name.split('-').next().unwrap().parse().unwrap();
        let (object, after) = rest[end + 1..].split_at(size.parse().unwrap());
        for kernel in gcn_emit::object::read_code_object(object).unwrap().kernels {
            kernels.insert((kernel.name.to_owned(), target), object.to_vec());
        }
        rest = after;
    }
    kernels
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
    program: Program,
    spec: Spec,
    options: Options,
    launch: Option<Prepared>,
}

impl Run {
    /// Copies data to a buffer, which becomes the next argument; returns its position.
    fn buffer<T: Element>(&mut self, data: &[T]) -> usize {
        let mut bytes = Vec::new();
        data.iter().for_each(|x| x.put(&mut bytes));
        let position = self.spec.args.len();
        self.spec.args.push((position.into(), Buffer::bytes(Type::U8, bytes).into()));
        position
    }

    fn arg<T: Element>(&mut self, value: T) {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        let position = self.spec.args.len();
        self.spec.args.push((position.into(), Arg::Bytes(bytes)));
    }

    fn go(&mut self, grid: [u32; 3], size: u32) {
        let spec = Spec { grid: Some(grid), workgroup: Some([size, 1, 1]), ..self.spec.clone() };
        let (name, id) = (self.program.name(), self.program.target_id());
        let launch = self.program.prepare(&spec, ".".as_ref());
        let mut launch = launch.unwrap_or_else(|e| panic!("{name} on {id}: {e}"));
        launch.run(&self.options).unwrap_or_else(|e| panic!("{name} on {id}: {e}"));
        self.launch = Some(launch);
    }

    fn read<T: Element>(&self, position: usize, count: usize) -> Vec<T> {
        let output = self.launch.as_ref().unwrap().buffer_at(position).unwrap();
        output.bytes.chunks_exact(size_of::<T>()).take(count).map(T::get).collect()
    }
}

/// Runs `test` on every target that has the kernel, in both modes.
fn on_each(kernel: &str, test: impl Fn(&mut Run)) {
    let mut runs = 0;
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        let Some(object) = KERNELS.get(&(kernel.to_owned(), target)) else { continue };
        for options in [Options::default(), Options::strict()] {
            let program = Program::load(object, Some(kernel)).unwrap();
            let spec = Spec { rest_zero: true, ..Spec::default() };
            test(&mut Run { program, spec, options, launch: None });
            runs += 1;
        }
    }
    assert!(runs > 0, "{kernel} did not run");
}

fn floats(seed: u64, count: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (random.next_u64() % 65_536) as f32 / 8192.0 - 4.0).collect()
}

fn words(seed: u64, count: usize) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.next_u64() as u32).collect()
}

/// Halves with few significant bits, so that their sums are exact in f32.
fn halves(seed: u64, count: usize) -> Vec<f16> {
    let mut random = Random::new(seed);
    (0..count).map(|_| f16::from_f32((random.next_u64() % 17) as f32 / 4.0 - 2.0)).collect()
}

fn close(a: f32, b: f32, tolerance: f32) -> bool {
    (a - b).abs() <= tolerance * (1.0 + b.abs())
}
