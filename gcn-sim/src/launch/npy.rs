//! Reads and writes `.npy` files, versions 1 to 3 (NumPy reference, `numpy.lib.format`).

use super::Element;

const MAGIC: &[u8] = b"\x93NUMPY";
/// The header is padded so that the data starts at a multiple of this.
const ALIGN: usize = 64;

/// An array from a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Array<'d> {
    /// The element type in NumPy's notation.
    pub descr: String,
    /// The dimensions, slowest first.
    pub shape: Vec<u64>,
    /// The elements.
    pub bytes: &'d [u8],
}

/// Parses a file.
pub(crate) fn read(file: &[u8]) -> Result<Array<'_>, String> {
    let rest = file.strip_prefix(MAGIC).ok_or("it is not a .npy file: it does not begin with \\x93NUMPY")?;
    let [major, _minor, rest @ ..] = rest else { return Err(cut()) };
    let (length, rest) = match (major, rest) {
        (1, [a, b, rest @ ..]) => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        (2 | 3, [a, b, c, d, rest @ ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        (1..=3, _) => return Err(cut()),
        (other, _) => return Err(format!("its version is {other}; versions 1 to 3 can be read")),
    };
    let (header, bytes) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is not text")?;
    let descr = value(header, "descr")?.trim_matches(['\'', '"']).to_owned();
    if value(header, "fortran_order")? != "False" {
        return Err("its array is in Fortran order; save `numpy.ascontiguousarray(a)`".to_owned());
    }
    Ok(Array { descr, shape: shape(value(header, "shape")?)?, bytes })
}

fn cut() -> String {
    "it ends within its header".to_owned()
}

/// The value of a key in the header, which is a Python dictionary on one line.
fn value<'h>(header: &'h str, key: &str) -> Result<&'h str, String> {
    let missing = || format!("its header has no `{key}`");
    let (_, after) = header.split_once(&format!("'{key}'")).ok_or_else(missing)?;
    let after = after.trim_start().strip_prefix(':').ok_or_else(missing)?.trim_start();
    let end = if after.starts_with('(') { after.find(')').map(|at| at + 1) } else { after.find([',', '}']) };
    Ok(after.get(..end.ok_or_else(missing)?).ok_or_else(missing)?.trim())
}

fn shape(text: &str) -> Result<Vec<u64>, String> {
    let inside = text.trim_matches(['(', ')']).split(',').map(str::trim).filter(|n| !n.is_empty());
    inside.map(|n| n.parse().map_err(|_| format!("its shape `{text}` cannot be read"))).collect()
}

/// Writes a version 1 file.
pub(crate) fn write(element: Element, shape: &[u64], bytes: &[u8]) -> Vec<u8> {
    let mut sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    if shape.len() > 1 {
        sizes.truncate(sizes.len() - 2);
    }
    let mut header = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
        element.npy(),
        sizes.trim_end()
    );
    let before = MAGIC.len() + 4;
    let padded = (before + header.len() + 1).next_multiple_of(ALIGN) - before;
    header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
    header.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend([1, 0]);
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of NumPy 2 for `numpy.save(f, numpy.arange(6, dtype='<i2').reshape(2, 3))`.
    const SAVED: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }                                                          \n\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00";

    #[test]
    fn a_file_of_numpy() {
        let array = read(SAVED).unwrap();
        assert_eq!((array.descr.as_str(), &array.shape[..]), ("<i2", &[2, 3][..]));
        assert_eq!(array.bytes, [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
        assert_eq!(write(Element::I16, &[2, 3], array.bytes), SAVED);
    }

    #[test]
    fn shapes() {
        for shape in [&[][..], &[5], &[2, 3, 4]] {
            let count = shape.iter().product::<u64>() as usize;
            let file = write(Element::U8, shape, &vec![7; count]);
            let array = read(&file).unwrap();
            assert_eq!((&array.shape[..], array.bytes.len()), (shape, count));
            assert_eq!((file.len() - count) % ALIGN, 0);
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let fortran = String::from_utf8_lossy(&SAVED[10..]).replace("False", "True ");
        let fortran = [&SAVED[..10], fortran.as_bytes()].concat();
        for (file, why) in [
            (&b"PK"[..], "not a .npy"),
            (&SAVED[..9], "ends"),
            (&SAVED[..60], "ends"),
            (&b"\x93NUMPY\x04\x00aaaa"[..], "version"),
            (&fortran, "Fortran"),
            (b"\x93NUMPY\x01\x00\x02\x00{}", "descr"),
        ] {
            assert!(read(file).unwrap_err().contains(why), "{why}");
        }
    }
}
