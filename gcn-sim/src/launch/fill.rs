//! Creates the initial contents of buffers.

use std::io::Read as _;
use std::path::Path;

use super::spec::random_bits;
use super::{Buffer, Element, Error, Init, Number, npy};
use crate::core::memory::room;

/// The maximum size of a buffer in bytes.
const MOST: u64 = 1 << 36;
/// The maximum size of a file of unknown length, such as a pipe.
const MOST_STREAM: u64 = 1 << 30;

/// The contents and shape of a buffer.
pub(crate) struct Filled {
    pub bytes: Vec<u8>,
    pub shape: Vec<u64>,
}

/// The contents of a buffer of argument `name`; file names are relative to `folder`.
pub(crate) fn fill(name: &str, buffer: &Buffer, folder: &Path) -> Result<Filled, Error> {
    let element = buffer.element;
    let bad = |problem: String| {
        Error::argument(name, problem, format!("write values that `{element}` has, or another type"))
    };
    let (bytes, found) = match &buffer.init {
        Init::Value(value) => {
            let (count, mut one) = (count(name, buffer)?, Vec::new());
            element.put(*value, &mut one).map_err(bad)?;
            let mut bytes = space(name, element, count)?;
            (0..count).for_each(|_| bytes.extend_from_slice(&one));
            (bytes, None)
        }
        Init::Iota { start, step } => {
            let count = count(name, buffer)?;
            (iota(element, *start, *step, count, space(name, element, count)?).map_err(bad)?, None)
        }
        Init::Random { seed, min, max } => {
            let count = count(name, buffer)?;
            let bytes = space(name, element, count)?;
            (random(element, *seed, (*min, *max), count, bytes).map_err(bad)?, None)
        }
        // The caller fills in the addresses later.
        Init::Pointers(values) => (vec![0; values.len() * element.bytes() as usize], None),
        Init::Values(values) => {
            let mut bytes = Vec::with_capacity(values.len() * element.bytes() as usize);
            values.iter().try_for_each(|v| element.put(*v, &mut bytes)).map_err(bad)?;
            (bytes, None)
        }
        Init::Bytes(bytes) => (bytes.clone(), None),
        Init::Raw(path) => (read(name, &folder.join(path))?, None),
        Init::Npy(path) => {
            let path = folder.join(path);
            let (bytes, shape) = array(name, element, &path)?;
            (bytes, Some(shape))
        }
    };
    let shape = shape(name, buffer, found, bytes.len() as u64)?;
    Ok(Filled { bytes, shape })
}

/// A vector with capacity for this many elements. An error if there is not enough memory for the vector and for its copy in simulated
/// memory.
fn space(name: &str, element: Element, count: u64) -> Result<Vec<u8>, Error> {
    let bytes = count.saturating_mul(element.bytes().into());
    let list = room::check(bytes.saturating_mul(2)).and_then(|()| room::vector(bytes));
    list.map_err(|error| Error::argument(name, error.to_string(), "or run it on a larger one"))
}

/// The number of elements according to the shape.
fn count(name: &str, buffer: &Buffer) -> Result<u64, Error> {
    let remedy = "write `\"count\": N` or `\"shape\": [N, M]` with its number of elements";
    let shape = buffer.shape.as_ref();
    let shape = shape.ok_or_else(|| Error::argument(name, "the buffer has no size", remedy))?;
    let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
    count.filter(|n| n.checked_mul(buffer.element.bytes().into()).is_some_and(|b| b <= MOST)).ok_or_else(
        || {
            Error::argument(
                name,
                format!("a buffer of shape {shape:?} has more than 64 GiB"),
                "make it smaller",
            )
        },
    )
}

/// The shape, which must agree with the number of values.
fn shape(name: &str, buffer: &Buffer, found: Option<Vec<u64>>, bytes: u64) -> Result<Vec<u64>, Error> {
    let size = u64::from(buffer.element.bytes());
    if !bytes.is_multiple_of(size) {
        let problem =
            format!("{bytes} bytes are not a whole number of {} ({size} bytes each)", buffer.element);
        return Err(Error::argument(name, problem, "name the right type, or the right file"));
    }
    let there = bytes / size;
    let Some(asked) = &buffer.shape else { return Ok(found.unwrap_or_else(|| vec![there])) };
    let count = count(name, buffer)?;
    if count != there {
        let problem = format!("{count} elements are asked for, the values are {there}");
        return Err(Error::argument(name, problem, "leave `count` and `shape` out, or make them agree"));
    }
    Ok(asked.clone())
}

fn iota(
    element: Element,
    start: Number,
    step: Number,
    count: u64,
    mut bytes: Vec<u8>,
) -> Result<Vec<u8>, String> {
    let (first, each) = if element.is_float() { (0, 0) } else { (whole(start)?, whole(step)?) };
    for i in 0..count {
        if element.is_float() {
            let value = start.as_f64() + step.as_f64() * i as f64;
            // A float type rounds any value, so this cannot fail.
            let _ = element.put(Number::Float(value), &mut bytes);
        } else {
            let value = first.wrapping_add(each.wrapping_mul(i.into()));
            bytes.extend(value.to_le_bytes().iter().take(element.bytes() as usize));
        }
    }
    Ok(bytes)
}

/// The number as an integer; an error if it has a fraction.
fn whole(number: Number) -> Result<i128, String> {
    match number {
        Number::Int(value) => Ok(value),
        Number::Float(value) if value.fract() == 0.0 && value.abs() < 1e38 => Ok(value as i128),
        Number::Float(value) => Err(format!("{value} is not an integer")),
        Number::Bits(bits) => Ok(bits.into()),
    }
}

fn random(
    element: Element,
    seed: u64,
    (min, max): (Number, Number),
    count: u64,
    mut bytes: Vec<u8>,
) -> Result<Vec<u8>, String> {
    if element.is_float() {
        let (min, width) = (min.as_f64(), max.as_f64() - min.as_f64());
        if !width.is_finite() || width < 0.0 {
            return Err(format!("there is no range from `min` {min} to `max` {max}"));
        }
        for i in 0..count {
            // 53 random bits, as a fraction in [0, 1).
            let fraction = (random_bits(seed, i) >> 11) as f64 * 2f64.powi(-53);
            element.put(Number::Float(min + width * fraction), &mut bytes)?;
        }
        return Ok(bytes);
    }
    let (min, max) = (whole(min)?, whole(max)?);
    if min > max {
        return Err(format!("there is no range from `min` {min} to `max` {max}"));
    }
    for i in 0..count {
        // The multiplication maps 64 bits uniformly to `width` values, at most 2^64.
        let bits = u128::from(random_bits(seed, i));
        let width = (max - min + 1) as u128;
        let value = min + (bits.wrapping_mul(width) >> 64) as i128;
        element.put(Number::Int(value), &mut bytes)?;
    }
    Ok(bytes)
}

fn read(name: &str, path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error| Error::File { argument: name.to_owned(), path: path.to_path_buf(), error };
    bounded(path).map_err(failed)
}

/// The bytes of a file. An error if there is not enough memory for the bytes and their copy. The size is limited, because a device or a
/// pipe may be endless.
fn bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let too_large = |problem: String| std::io::Error::new(std::io::ErrorKind::FileTooLarge, problem);
    let file = std::fs::File::open(path)?;
    let size = file.metadata().map(|m| if m.is_file() { m.len() } else { 0 })?;
    let most = size.max(MOST_STREAM);
    room::check(size.saturating_mul(2)).map_err(|error| too_large(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// The elements and the shape in a NumPy file.
fn array(name: &str, element: Element, path: &Path) -> Result<(Vec<u8>, Vec<u64>), Error> {
    let file = read(name, path)?;
    let bad = |problem: String| {
        let problem = format!("{}: {problem}", path.display());
        Error::argument(name, problem, "save an array of the buffer's type with `numpy.save`")
    };
    let array = npy::read(&file).map_err(bad)?;
    let same_size = |descr: &str| descr.get(2..) == element.npy().get(2..);
    // A byte type accepts booleans and any other type of one byte. bfloat16 is a 16-bit extension type, of kind V.
    let bits = element == Element::Bf16 && same_size(&array.descr) && array.descr.contains(['V', 'u']);
    let bytes = element == Element::U8 && same_size(&array.descr);
    if array.descr != element.npy() && !bits && !bytes {
        let (found, wanted) = (&array.descr, element.npy());
        return Err(bad(format!("its elements are `{found}`; a buffer of `{element}` needs `{wanted}`")));
    }
    let size = array.shape.iter().try_fold(u64::from(element.bytes()), |n, d| n.checked_mul(*d));
    let data = size.and_then(|size| array.bytes.get(..usize::try_from(size).ok()?));
    let data = data.ok_or_else(|| bad(format!("it ends before an array of shape {:?} does", array.shape)))?;
    Ok((data.to_vec(), array.shape.clone()))
}
