//! The arguments and the size of a launch.

use std::path::PathBuf;

use super::{Element, Number};

/// Grid, workgroup and arguments of a launch. [`Spec::from_json`] reads one; `docs/sim.md` describes the format.
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
    /// The kernel's name, where the code object has several.
    pub kernel: Option<String>,
    /// Workgroups in x, y and z.
    pub grid: Option<[u32; 3]>,
    /// Work-items in x, y and z instead. The last workgroup in a dimension is partial where they are not a multiple of the
    /// workgroup.
    pub global: Option<[u32; 3]>,
    /// Work-items of a workgroup in x, y and z. Kernels that require a size need none.
    pub workgroup: Option<[u32; 3]>,
    /// LDS bytes of a workgroup in addition to those in the descriptor.
    pub dynamic_lds: u32,
    /// Scratch bytes of a work-item; without it those in the descriptor, and [`super::DYNAMIC_STACK`] more where the
    /// metadata declares the stack dynamic.
    pub scratch: Option<u32>,
    /// Arguments that the spec does not name are zero instead of an error.
    pub rest_zero: bool,
    /// The arguments.
    pub args: Vec<(Key, Arg)>,
}

/// Which argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Key {
    /// By its name in the metadata.
    Name(String),
    /// By its place among the arguments that are not hidden, from 0.
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
    /// A number of a type.
    Scalar(Element, Number),
    /// A number of the type in the metadata.
    Untyped(Number),
    /// These bytes.
    Bytes(Vec<u8>),
    /// A structure: members one after the other, each at the next multiple of its size, or at its own offset.
    Struct(Vec<(Option<u32>, Arg)>),
    /// A null pointer.
    Null,
    /// A pointer to memory of its own.
    Buffer(Buffer),
    /// A pointer into the buffer of another argument, this many bytes from its begin.
    Same(Key, u64),
    /// The number of elements of another argument's buffer.
    Count(Key),
}

impl From<Buffer> for Arg {
    fn from(buffer: Buffer) -> Arg {
        Arg::Buffer(buffer)
    }
}

/// Memory that an argument points to.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// Type of the elements.
    pub element: Element,
    /// Sizes of the dimensions, slowest first; `None` where the values say it.
    pub shape: Option<Vec<u64>>,
    /// Its initial contents.
    pub init: Init,
    /// Its output after the run.
    pub out: Option<Out>,
}

/// The initial contents of a buffer.
#[derive(Clone, PartialEq, Debug)]
pub enum Init {
    /// The same everywhere.
    Value(Number),
    /// `start`, `start + step`, …; integers wrap around.
    Iota {
        /// Element 0.
        start: Number,
        /// The difference between successive elements.
        step: Number,
    },
    /// Evenly distributed, the same for the same seed: see [`random_bits`].
    Random {
        /// The seed.
        seed: u64,
        /// Least value.
        min: Number,
        /// Greatest value; of floats, one that is not reached.
        max: Number,
    },
    /// These.
    Values(Vec<Number>),
    /// These bytes.
    Bytes(Vec<u8>),
    /// Values of 8 bytes each: addresses of other buffers ([`Arg::Same`]), of buffers that are made for them
    /// ([`Arg::Buffer`]), null and 64-bit numbers.
    Pointers(Vec<Arg>),
    /// Those of a NumPy file.
    Npy(PathBuf),
    /// The bytes of a file.
    Raw(PathBuf),
}

/// The output of a buffer after the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Out {
    /// Its elements are shown.
    Show,
    /// It is written to a file: `.npy` by its name, otherwise its bytes.
    File(PathBuf),
}

impl Spec {
    /// A launch without arguments.
    pub fn new(grid: [u32; 3], workgroup: [u32; 3]) -> Spec {
        Spec { grid: Some(grid), workgroup: Some(workgroup), ..Spec::default() }
    }

    /// With an argument, by name or position.
    #[must_use]
    pub fn arg(mut self, key: impl Into<Key>, arg: impl Into<Arg>) -> Spec {
        self.args.push((key.into(), arg.into()));
        self
    }

    /// With the next argument by position.
    #[must_use]
    pub fn next(self, arg: impl Into<Arg>) -> Spec {
        let position = self.args.len();
        self.arg(position, arg)
    }

    /// With an argument of type `i32` and the like.
    #[must_use]
    pub fn int(self, key: impl Into<Key>, element: Element, value: i128) -> Spec {
        self.arg(key, Arg::Scalar(element, Number::Int(value)))
    }

    /// With a floating-point argument.
    #[must_use]
    pub fn float(self, key: impl Into<Key>, element: Element, value: f64) -> Spec {
        self.arg(key, Arg::Scalar(element, Number::Float(value)))
    }
}

impl Buffer {
    /// `count` elements, all `value`.
    pub fn filled(element: Element, count: u64, value: Number) -> Buffer {
        Buffer { element, shape: Some(vec![count]), init: Init::Value(value), out: None }
    }

    /// `count` elements, all zero.
    pub fn zeros(element: Element, count: u64) -> Buffer {
        Buffer::filled(element, count, Number::Int(0))
    }

    /// 0, 1, 2, …
    pub fn iota(element: Element, count: u64) -> Buffer {
        let init = Init::Iota { start: Number::Int(0), step: Number::Int(1) };
        Buffer { init, ..Buffer::zeros(element, count) }
    }

    /// These bytes.
    pub fn bytes(element: Element, bytes: Vec<u8>) -> Buffer {
        Buffer { element, shape: None, init: Init::Bytes(bytes), out: None }
    }

    /// These numbers, rounded to the type.
    pub fn floats(element: Element, values: impl IntoIterator<Item = f64>) -> Buffer {
        let values = values.into_iter().map(Number::Float).collect();
        Buffer { element, shape: None, init: Init::Values(values), out: None }
    }

    /// The same buffer, shown at the end.
    #[must_use]
    pub fn shown(self) -> Buffer {
        Buffer { out: Some(Out::Show), ..self }
    }
}

/// The random bits of element `index`: the `index`-th number (from 0) of SplitMix64 with this seed (G. Steele, D. Lea and
/// C. Flood, "Fast splittable pseudorandom number generators").
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
