//! Writes the values of a spec to memory and to the kernarg segment.

use std::collections::HashMap;
use std::path::Path;

use gcn_emit::metadata::{KernelArg, ValueKind};

use super::fill::fill;
use super::kernarg::{self, Sizes};
use super::program::Program;
use super::{Arg, Buffer, Element, Error, Init, Key, Out, Spec};
use crate::core::error::SimError;
use crate::core::memory::Memory;

/// A buffer that has been written to memory.
#[derive(Debug)]
pub(crate) struct Placed {
    pub name: String,
    pub position: usize,
    pub address: u64,
    pub bytes: usize,
    pub element: Element,
    pub shape: Vec<u64>,
    pub out: Option<Out>,
}

/// Writes arguments to memory and to the kernarg segment.
pub(crate) struct Binder<'s> {
    pub memory: Memory,
    folder: &'s Path,
    pub buffers: Vec<Placed>,
    /// The buffers of the arguments, by their names and positions.
    by_argument: HashMap<String, Bound>,
    /// Values that depend on the buffer of another argument.
    pending: Vec<Pending>,
}

/// The buffer of an argument.
#[derive(Clone, Copy)]
struct Bound {
    address: u64,
    bytes: u64,
    elements: u64,
}

/// The place where a value is to be written.
#[derive(Clone, Copy)]
enum Place {
    /// An offset in the kernarg segment.
    Segment(usize),
    /// An address in memory.
    Memory(u64),
}

impl Place {
    fn plus(self, offset: usize) -> Place {
        match self {
            Place::Segment(at) => Place::Segment(at + offset),
            Place::Memory(at) => Place::Memory(at + offset as u64),
        }
    }
}

/// A value that depends on the buffer of another argument.
struct Pending {
    /// The argument to which the value belongs.
    name: String,
    place: Place,
    /// The size of the value in bytes.
    size: usize,
    /// The argument whose buffer is needed.
    of: Key,
    what: Wanted,
}

/// The property of the buffer that is the value.
#[derive(Clone, Copy)]
enum Wanted {
    /// The buffer's address plus this number of bytes.
    Address(u64),
    /// The buffer's number of elements.
    Count,
}

impl<'s> Binder<'s> {
    pub(crate) fn new(memory: Memory, folder: &'s Path) -> Binder<'s> {
        Binder { memory, folder, buffers: Vec::new(), by_argument: HashMap::new(), pending: Vec::new() }
    }

    /// Creates the kernarg segment. Also returns the hidden arguments that are null.
    pub(crate) fn bind(
        &mut self,
        program: &Program,
        spec: &Spec,
        sizes: &Sizes,
    ) -> Result<(Vec<u8>, Vec<ValueKind>), Error> {
        let mut segment = vec![0; (program.kernarg_bytes() as usize).min(kernarg::MOST_SEGMENT)];
        let null = kernarg::place_hidden(&mut segment, program.all_args(), sizes)?;
        let explicit: Vec<&KernelArg> = program.args().collect();
        if explicit.is_empty() && !spec.args.is_empty() {
            self.without_metadata(program, spec, &mut segment)?;
        } else {
            let fixed_lds = program.machine().state().lds_bytes;
            self.explicit(&explicit, spec, fixed_lds, &mut segment)?;
        }
        for pending in std::mem::take(&mut self.pending) {
            let value = self.resolve(&pending)?.to_le_bytes();
            let value = value.get(..pending.size).unwrap_or(&value);
            match pending.place {
                Place::Segment(at) => {
                    if let Some(place) = segment.get_mut(at..at + value.len()) {
                        place.copy_from_slice(value);
                    }
                }
                Place::Memory(address) => self.memory.write(address, value).map_err(SimError::from)?,
            }
        }
        Ok((segment, null))
    }

    /// Computes a value that depends on the buffer of another argument. All buffers must be in memory.
    fn resolve(&self, pending: &Pending) -> Result<u64, Error> {
        let Pending { name, of, size, .. } = pending;
        let missing =
            || Error::argument(name, format!("`{of}` has no buffer"), "name an argument that has a buffer");
        let buffer = self.by_argument.get(&of.to_string()).ok_or_else(missing)?;
        match pending.what {
            Wanted::Address(offset) if offset > buffer.bytes => {
                let problem = format!("`offset` {offset} is past the {} bytes of `{of}`", buffer.bytes);
                Err(Error::argument(name, problem, "write a smaller one"))
            }
            Wanted::Address(offset) => Ok(buffer.address + offset),
            Wanted::Count if *size < 8 && buffer.elements >> (8 * size) != 0 => {
                let problem = format!("`{of}` has {} elements, which do not fit it", buffer.elements);
                Err(Error::argument(name, problem, "make the buffer smaller"))
            }
            Wanted::Count => Ok(buffer.elements),
        }
    }

    fn explicit(
        &mut self,
        args: &[&KernelArg],
        spec: &Spec,
        fixed_lds: u32,
        segment: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let values = assign(args, spec)?;
        for (position, (arg, value)) in args.iter().zip(values).enumerate() {
            let name = arg.name.clone().unwrap_or_else(|| position.to_string());
            let size = kernarg::size(&name, arg)?;
            let length = kernarg::counted(args, arg).filter(|of| self.by_argument.contains_key(*of));
            let length = length.map(|of| Arg::Count(of.into()));
            let bytes = match value.or(length.as_ref()) {
                // Dynamic LDS starts after the static LDS.
                None if arg.value_kind == ValueKind::DynamicSharedPointer => {
                    let align = arg.pointee_align.unwrap_or(16).clamp(1, 1 << 16);
                    let start = fixed_lds.next_multiple_of(align).to_le_bytes();
                    start.into_iter().chain(std::iter::repeat(0)).take(size).collect()
                }
                None if spec.rest_zero => vec![0; size],
                None => return Err(missing(&name, position, arg)),
                Some(value) => {
                    self.value(&name, position, Some(arg), value, Place::Segment(arg.offset as usize))?
                }
            };
            kernarg::place(segment, &name, arg, &bytes)?;
        }
        Ok(())
    }

    /// Lays out the arguments of a kernel without metadata in order, each at the next multiple of its size.
    fn without_metadata(
        &mut self,
        program: &Program,
        spec: &Spec,
        segment: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut members = Vec::new();
        for (at, (key, value)) in spec.args.iter().enumerate() {
            if *key != Key::Position(at) {
                let problem = format!("the metadata of `{}` has no argument of this name", program.name());
                return Err(Error::argument(key.to_string(), problem, "write `args` as a list, in order"));
            }
            members.push((None, value.clone()));
        }
        let bytes = self.structure("args", 0, &members, Place::Segment(0))?;
        segment.resize(segment.len().max(bytes.len()), 0);
        segment.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        Ok(())
    }

    /// The bytes of a value at offset `at` of the segment.
    fn value(
        &mut self,
        name: &str,
        position: usize,
        arg: Option<&KernelArg>,
        value: &Arg,
        at: Place,
    ) -> Result<Vec<u8>, Error> {
        let bad = |problem: String| Error::argument(name, problem, "write a value that the type has");
        let mut bytes = Vec::new();
        match value {
            Arg::Scalar(element, number) => element.put(*number, &mut bytes).map_err(bad)?,
            Arg::Untyped(number) => {
                let element = arg.and_then(kernarg::scalar);
                let remedy = "write `{\"i32\": 5}` with the type";
                let unknown = || Error::argument(name, "the metadata does not say what type it has", remedy);
                element.ok_or_else(unknown)?.put(*number, &mut bytes).map_err(bad)?;
            }
            Arg::Bytes(given) => bytes.clone_from(given),
            Arg::Struct(members) => return self.structure(name, position, members, at),
            Arg::Null => bytes.extend([0; 8]),
            Arg::Buffer(buffer) => {
                // In the metadata a structure is an array of bytes, but the kernel counts whole structures.
                let whole = arg.and_then(kernarg::pointee).filter(|(_, numbers)| *numbers > 1);
                let unit =
                    whole.map_or(buffer.element.bytes(), |(element, n)| element.bytes().saturating_mul(n));
                bytes.extend(self.buffer(name, position, buffer, unit)?.to_le_bytes());
            }
            Arg::Same(key, offset) => {
                bytes.extend([0; 8]);
                self.later(name, at, bytes.len(), key, Wanted::Address(*offset));
            }
            Arg::Count(key) => {
                bytes.resize(arg.map_or(8, |a| a.size as usize), 0);
                self.later(name, at, bytes.len(), key, Wanted::Count);
            }
        }
        Ok(bytes)
    }

    fn later(&mut self, name: &str, place: Place, size: usize, of: &Key, what: Wanted) {
        self.pending.push(Pending { name: name.to_owned(), place, size, of: of.clone(), what });
    }

    /// Writes a buffer to memory and returns its address. `unit` is the size of an element for arguments that count elements.
    fn buffer(&mut self, name: &str, position: usize, buffer: &Buffer, unit: u32) -> Result<u64, Error> {
        let filled = fill(name, buffer, self.folder)?;
        let address = self.memory.try_alloc(filled.bytes.len()).map_err(SimError::from)?;
        self.memory.write(address, &filled.bytes).map_err(SimError::from)?;
        let bytes = filled.bytes.len();
        let elements = bytes as u64 / u64::from(unit);
        let bound = Bound { address, bytes: bytes as u64, elements };
        self.by_argument.insert(name.to_owned(), bound);
        // All buffers in an array of pointers belong to the same argument; the first one stands for it.
        self.by_argument.entry(position.to_string()).or_insert(bound);
        self.buffers.push(Placed {
            name: name.to_owned(),
            position,
            address,
            bytes,
            element: buffer.element,
            shape: filled.shape,
            out: buffer.out.clone(),
        });
        if let Init::Pointers(values) = &buffer.init {
            self.pointers(name, position, (address, buffer.element), values)?;
        }
        Ok(address)
    }

    /// Resolves the elements of a buffer of pointers to other buffers.
    fn pointers(
        &mut self,
        name: &str,
        position: usize,
        (address, element): (u64, Element),
        values: &[Arg],
    ) -> Result<(), Error> {
        const POINTER: usize = 8;
        let wide = "a pointer has 8 bytes, as elements of type u64 have";
        if element.bytes() as usize != POINTER {
            return Err(Error::argument(name, format!("its elements are {element}"), wide));
        }
        for (index, value) in values.iter().enumerate() {
            let (place, inner) = (address + (index * POINTER) as u64, format!("{name}[{index}]"));
            let number = match value {
                Arg::Untyped(number) => Arg::Scalar(element, *number),
                other => other.clone(),
            };
            let bytes = self.value(&inner, position, None, &number, Place::Memory(place))?;
            if bytes.len() != POINTER {
                return Err(Error::argument(inner, format!("it has {} bytes", bytes.len()), wide));
            }
            self.memory.write(place, &bytes).map_err(SimError::from)?;
        }
        Ok(())
    }

    fn structure(
        &mut self,
        name: &str,
        position: usize,
        members: &[(Option<u32>, Arg)],
        at: Place,
    ) -> Result<Vec<u8>, Error> {
        let mut out: Vec<u8> = Vec::new();
        let mut widest = 1;
        for (number, (offset, member)) in members.iter().enumerate() {
            let inner = format!("{name}.{number}");
            let inner = if name == "args" { number.to_string() } else { inner };
            // A member without an offset is aligned: a number to its size; pointers, counts and structures to 8 bytes; raw bytes and
            // untyped numbers not at all.
            let align = match member {
                Arg::Scalar(element, _) => element.bytes() as usize,
                Arg::Bytes(_) | Arg::Untyped(_) => 1,
                _ => 8,
            };
            widest = widest.max(align);
            let start = offset.map_or_else(|| out.len().next_multiple_of(align), |o| o as usize);
            if start > kernarg::MOST_SEGMENT {
                return Err(Error::argument(inner, format!("`at` is {start}"), "write a smaller offset"));
            }
            let bytes = self.value(&inner, position, None, member, at.plus(start))?;
            out.resize(out.len().max(start + bytes.len()), 0);
            if let Some(place) = out.get_mut(start..start + bytes.len()) {
                place.copy_from_slice(&bytes);
            }
        }
        out.resize(out.len().next_multiple_of(widest), 0);
        Ok(out)
    }
}

/// For each argument, its value in the spec; `None` if the spec gives none.
fn assign<'s>(args: &[&KernelArg], spec: &'s Spec) -> Result<Vec<Option<&'s Arg>>, Error> {
    let mut values: Vec<Option<&Arg>> = vec![None; args.len()];
    for (key, value) in &spec.args {
        let position = find(args, key)?;
        let Some(slot) = values.get_mut(position) else { continue };
        if slot.replace(value).is_some() {
            return Err(Error::argument(key.to_string(), "it is given twice", "leave one out"));
        }
    }
    Ok(values)
}

/// The position of the argument with this name. A name that no argument has may also be a position number.
fn find(args: &[&KernelArg], key: &Key) -> Result<usize, Error> {
    let named = |name: &str| -> Vec<usize> {
        args.iter().enumerate().filter(|(_, a)| a.name.as_deref() == Some(name)).map(|(at, _)| at).collect()
    };
    let list = || {
        let one = |(at, a): (usize, &&KernelArg)| a.name.clone().unwrap_or_else(|| at.to_string());
        let names: Vec<_> = args.iter().enumerate().map(one).collect();
        format!("the arguments are {}", names.join(", "))
    };
    let position = match key {
        Key::Position(position) => *position,
        Key::Name(name) => match (named(name).as_slice(), name.parse()) {
            ([one], _) => *one,
            ([], Ok(position)) => position,
            ([], Err(_)) => return Err(Error::argument(name, "the kernel has no such argument", list())),
            (several, _) => {
                let problem = format!("there are {} arguments of this name", several.len());
                let remedy = format!("name it by its position, one of {several:?}");
                return Err(Error::argument(name, problem, remedy));
            }
        },
    };
    if position >= args.len() {
        let problem = format!("the kernel has {} arguments, counted from 0", args.len());
        return Err(Error::argument(key.to_string(), problem, list()));
    }
    Ok(position)
}

fn missing(name: &str, position: usize, arg: &KernelArg) -> Error {
    let what = arg.type_name.as_deref().map(|t| format!(" (`{t}`)")).unwrap_or_default();
    let remedy = if kernarg::is_pointer(arg) {
        format!("write `\"{name}\": {{\"buffer\": \"f32\", \"count\": N}}`")
    } else {
        let element = kernarg::scalar(arg).unwrap_or_else(|| kernarg::guess(arg.size));
        format!("write `\"{name}\": {{\"{element}\": …}}`")
    };
    let problem = format!("the spec has no value for argument {position}{what}");
    Error::argument(name, problem, format!("{remedy}, or `\"rest\": \"zero\"`"))
}
