//! The arguments and the size of a launch.

use std::path::PathBuf;

use super::{Element, Number};

/// The grid, the workgroup size and the arguments of a launch. [`Spec::from_json`] parses one; `docs/sim.md` describes the format.
///
/// ```
/// use gcn_sim::launch::{Arg, Buffer, Element, Number, Spec};
///
/// let spec = Spec::new([4, 1, 1], [64, 1, 1])
///     .arg("a", Arg::Scalar(Element::F32, Number::Float(2.0)))
///     .arg("x", Buffer::iota(Element::F32, 256))
///     .arg("y", Buffer::zeros(Element::F32, 256));
/// assert_eq!(spec.args.len(), 3);
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Spec {
    /// The kernel's name; needed if the code object has several.
    pub kernel: Option<String>,
    /// The number of workgroups in x, y and z.
    pub grid: Option<[u32; 3]>,
    /// Alternatively, the number of work-items in x, y and z. If it is not a multiple of the workgroup size in a dimension, the last
    /// workgroup in that dimension is partial.
    pub global: Option<[u32; 3]>,
    /// The workgroup size in x, y and z; optional for kernels that require a certain size.
    pub workgroup: Option<[u32; 3]>,
    /// The LDS size in bytes in addition to that in the descriptor.
    pub dynamic_lds: u32,
    /// The scratch size of a work-item in bytes. The default is the size in the descriptor, plus [`super::DYNAMIC_STACK`] if the metadata
    /// declares a dynamic stack.
    pub scratch: Option<u32>,
    /// If true, arguments without a value are zero; otherwise they are an error.
    pub rest_zero: bool,
    /// The arguments and their values.
    pub args: Vec<(Key, Arg)>,
}

/// Identifies an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Key {
    /// By its name in the metadata.
    Name(String),
    /// By its position, from 0, not counting hidden arguments.
    Position(usize),
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::Name(name) => f.write_str(name),
            Key::Position(position) => write!(f, "{position}"),
        }
    }
}

impl From<&str> for Key {
    fn from(name: &str) -> Key {
        Key::Name(name.to_owned())
    }
}

impl From<usize> for Key {
    fn from(position: usize) -> Key {
        Key::Position(position)
    }
}

/// The value of an argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// A number of the given type.
    Scalar(Element, Number),
    /// A number whose type the metadata determines.
    Untyped(Number),
    /// These bytes, for an argument of any type.
    Bytes(Vec<u8>),
    /// A structure: its members follow each other, each at the next multiple of its size or at the given offset.
    Struct(Vec<(Option<u32>, Arg)>),
    /// A null pointer.
    Null,
    /// A pointer to a new buffer.
    Buffer(Buffer),
    /// A pointer into the buffer of another argument, this many bytes after its start.
    Same(Key, u64),
    /// The number of elements of another argument's buffer.
    Count(Key),
}

impl From<Buffer> for Arg {
    fn from(buffer: Buffer) -> Arg {
        Arg::Buffer(buffer)
    }
}

/// A buffer that an argument points to.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// The type of the elements.
    pub element: Element,
    /// The dimensions, slowest first; `None` if they follow from the initial contents.
    pub shape: Option<Vec<u64>>,
    /// The initial contents.
    pub init: Init,
    /// The output of the buffer after the run, if requested.
    pub out: Option<Out>,
}

/// The initial contents of a buffer.
#[derive(Clone, PartialEq, Debug)]
pub enum Init {
    /// The same value in all elements.
    Value(Number),
    /// The values `start`, `start + step`, …; integers wrap around.
    Iota {
        /// The value of element 0.
        start: Number,
        /// The difference between successive elements.
        step: Number,
    },
    /// Uniformly distributed values, reproducible from the seed: see [`random_bits`].
    Random {
        /// The seed of the generator.
        seed: u64,
        /// The minimum.
        min: Number,
        /// The maximum; for floats it is exclusive.
        max: Number,
    },
    /// The given values.
    Values(Vec<Number>),
    /// The given bytes.
    Bytes(Vec<u8>),
    /// 8-byte values: addresses of other arguments' buffers ([`Arg::Same`]), addresses of new buffers ([`Arg::Buffer`]), null, and 64-bit
    /// numbers.
    Pointers(Vec<Arg>),
    /// The contents of a NumPy file.
    Npy(PathBuf),
    /// The raw bytes of a file.
    Raw(PathBuf),
}

/// What happens to a buffer's contents after the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Out {
    /// The elements are printed.
    Show,
    /// The contents are written to a file: in NumPy's format if the name ends in `.npy`, otherwise as raw bytes.
    File(PathBuf),
}

impl Spec {
    /// A launch without arguments.
    pub fn new(grid: [u32; 3], workgroup: [u32; 3]) -> Spec {
        Spec { grid: Some(grid), workgroup: Some(workgroup), ..Spec::default() }
    }

    /// Adds the argument with this name or position.
    #[must_use]
    pub fn arg(mut self, key: impl Into<Key>, arg: impl Into<Arg>) -> Spec {
        self.args.push((key.into(), arg.into()));
        self
    }

    /// Adds the next argument by position.
    #[must_use]
    pub fn next(self, arg: impl Into<Arg>) -> Spec {
        let position = self.args.len();
        self.arg(position, arg)
    }

    /// Adds an argument of an integer type.
    #[must_use]
    pub fn int(self, key: impl Into<Key>, element: Element, value: i128) -> Spec {
        self.arg(key, Arg::Scalar(element, Number::Int(value)))
    }

    /// Adds an argument of a floating-point type.
    #[must_use]
    pub fn float(self, key: impl Into<Key>, element: Element, value: f64) -> Spec {
        self.arg(key, Arg::Scalar(element, Number::Float(value)))
    }
}

impl Buffer {
    /// A buffer of `count` elements that are all `value`.
    pub fn filled(element: Element, count: u64, value: Number) -> Buffer {
        Buffer { element, shape: Some(vec![count]), init: Init::Value(value), out: None }
    }

    /// A buffer of `count` zeros.
    pub fn zeros(element: Element, count: u64) -> Buffer {
        Buffer::filled(element, count, Number::Int(0))
    }

    /// A buffer with the elements 0, 1, 2, …
    pub fn iota(element: Element, count: u64) -> Buffer {
        let init = Init::Iota { start: Number::Int(0), step: Number::Int(1) };
        Buffer { init, ..Buffer::zeros(element, count) }
    }

    /// A buffer with these bytes.
    pub fn bytes(element: Element, bytes: Vec<u8>) -> Buffer {
        Buffer { element, shape: None, init: Init::Bytes(bytes), out: None }
    }

    /// A buffer with these numbers, rounded to the element type.
    pub fn floats(element: Element, values: impl IntoIterator<Item = f64>) -> Buffer {
        let values = values.into_iter().map(Number::Float).collect();
        Buffer { element, shape: None, init: Init::Values(values), out: None }
    }

    /// This buffer, set to be printed after the run.
    #[must_use]
    pub fn shown(self) -> Buffer {
        Buffer { out: Some(Out::Show), ..self }
    }
}

/// The random bits of element `index`: number `index` (from 0) of the sequence of SplitMix64 with this seed (G. Steele, D. Lea and C.
/// Flood, "Fast splittable pseudorandom number generators").
///
/// ```
/// // The generator's known first output for seed 0.
/// assert_eq!(gcn_sim::launch::random_bits(0, 0), 0xe220_a839_7b1d_cdaf);
/// ```
pub fn random_bits(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
