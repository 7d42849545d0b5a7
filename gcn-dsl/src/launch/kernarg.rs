//! Lays out the arguments of a launch in the bytes of the kernarg segment.

use super::LaunchError;
use crate::kernel::BuiltKernel;
use crate::lang::{PackedArg, Signature, SignatureArg, SignatureArgKind};

/// Like [`kernarg_bytes`], and checks the slices that the kernel requires to end with a whole dword.
pub(super) fn kernarg_of(
    built: &BuiltKernel,
    args: &[PackedArg<'_>],
    addresses: &[u64],
) -> Result<Vec<u8>, LaunchError> {
    refuse_partial_dwords(built, args)?;
    kernarg_bytes(built.signature(), args, addresses)
}

/// The address and size of a slice on the device.
#[derive(Clone, Copy)]
struct Resident {
    address: u64,
    len: usize,
    bytes: u64,
}

/// Lays out arguments according to the [`Signature`]. `addresses` are the device addresses of the copies of the host
/// slices, in order.
///
/// # Errors
/// [`LaunchError`] if arguments or addresses do not match the signature.
pub fn kernarg_bytes(
    signature: &Signature,
    args: &[PackedArg<'_>],
    addresses: &[u64],
) -> Result<Vec<u8>, LaunchError> {
    let count = |what, expected, found| {
        if expected == found {
            return Ok(());
        }
        Err(LaunchError::ArgumentCount { kernel: signature.name.clone(), what, expected, found })
    };
    count("arguments", signature.args.len(), args.len())?;
    let copied = args.iter().filter(|a| matches!(a, PackedArg::Slice { .. })).count();
    count("slice addresses", copied, addresses.len())?;
    let slices = residents(args, addresses);
    refuse_overlap(signature, &slices)?;
    let mut out = vec![0; signature.kernarg_bytes() as usize];
    for ((declared, arg), slice) in signature.args.iter().zip(args).zip(slices) {
        let mut put = |at: u32, bytes: &[u8]| {
            let at = at as usize;
            out[at..at + bytes.len()].copy_from_slice(bytes);
        };
        match (declared.kind, arg, slice) {
            (SignatureArgKind::Value, PackedArg::Value(bytes), _)
                if bytes.len() as u32 == declared.elem.bytes() =>
            {
                put(declared.offset, &extended(declared, bytes));
            }
            (SignatureArgKind::Slice | SignatureArgKind::SliceMut, _, Some(slice)) => {
                put(declared.offset, &slice.address.to_le_bytes());
                put(declared.offset + 8, &elements(signature, declared, slice)?.to_le_bytes());
            }
            (SignatureArgKind::Pointer | SignatureArgKind::PointerMut, PackedArg::Pointer(address), _) => {
                put(declared.offset, &address.to_le_bytes());
            }
            _ => {
                return Err(LaunchError::ArgumentKind {
                    kernel: signature.name.clone(),
                    argument: declared.name,
                    expected: format!("{:?} of {}", declared.kind, declared.elem),
                });
            }
        }
    }
    Ok(out)
}

/// For each argument that is a slice, its address and size; `None` for other arguments.
fn residents(args: &[PackedArg<'_>], addresses: &[u64]) -> Vec<Option<Resident>> {
    let mut addresses = addresses.iter();
    let resident = |arg: &PackedArg<'_>| match arg {
        PackedArg::Slice { len, bytes, .. } => {
            let address = addresses.next().copied().unwrap_or_default();
            Some(Resident { address, len: *len, bytes: bytes.len() as u64 })
        }
        PackedArg::Buffer { len, bytes, address } => {
            Some(Resident { address: *address, len: *len, bytes: *bytes as u64 })
        }
        PackedArg::Value(_) | PackedArg::Pointer(_) => None,
    };
    args.iter().map(resident).collect()
}

/// The length of a slice in elements, as the kernel receives it; an error if the slice is too large for a buffer
/// resource.
fn elements(signature: &Signature, declared: &SignatureArg, slice: Resident) -> Result<u32, LaunchError> {
    let (kernel, argument) = (signature.name.clone(), declared.name);
    let over = slice.address % 4;
    if over != 0 {
        let multiple = (4 / declared.elem.bytes()).max(1);
        return Err(LaunchError::Misaligned { kernel, argument, over, multiple });
    }
    match (u32::try_from(slice.bytes), u32::try_from(slice.len)) {
        (Ok(_), Ok(len)) => Ok(len),
        _ => Err(LaunchError::SliceTooLong { kernel, argument, bytes: slice.bytes }),
    }
}

/// Rejects overlapping slices: the compiler assumes that the memory of a `&mut [T]` argument is not accessible through
/// other arguments.
fn refuse_overlap(signature: &Signature, slices: &[Option<Resident>]) -> Result<(), LaunchError> {
    let slices =
        signature.args.iter().zip(slices).filter_map(|(declared, slice)| Some((declared, (*slice)?)));
    let slices: Vec<_> = slices.map(|(d, s)| (d, s.address, s.address + s.bytes)).collect();
    for (i, (mutable, start, end)) in slices.iter().enumerate() {
        let others = slices.iter().enumerate().filter(|(j, _)| *j != i);
        let met =
            others.map(|(_, other)| other).find(|(_, from, to)| from < end && start < to && start < end);
        if let Some((other, ..)) = met.filter(|_| mutable.kind == SignatureArgKind::SliceMut) {
            return Err(LaunchError::Overlap {
                kernel: signature.name.clone(),
                mutable: mutable.name,
                other: other.name,
            });
        }
    }
    Ok(())
}

/// Rejects slices that end within a dword if the kernel requires slices that end with a whole dword.
fn refuse_partial_dwords(built: &BuiltKernel, args: &[PackedArg<'_>]) -> Result<(), LaunchError> {
    let whole = built.ir.whole_dword_arguments();
    for (declared, arg) in built.signature().args.iter().zip(args) {
        let (len, bytes) = match arg {
            PackedArg::Slice { len, bytes, .. } => (*len, bytes.len()),
            PackedArg::Buffer { len, bytes, .. } => (*len, *bytes),
            PackedArg::Value(_) | PackedArg::Pointer(_) => continue,
        };
        if !bytes.is_multiple_of(4) && whole.contains(&declared.offset) {
            return Err(LaunchError::PartialDword {
                kernel: built.name().to_owned(),
                argument: declared.name,
                len,
                elem: declared.elem,
                multiple: 4 / declared.elem.bytes(),
            });
        }
    }
    Ok(())
}

/// Sign- or zero-extends a value that is narrower than a dword, as in registers.
fn extended(declared: &SignatureArg, bytes: &[u8]) -> Vec<u8> {
    let fill = match bytes.last() {
        Some(top) if declared.elem.is_signed() && !declared.elem.is_float() && *top >= 0x80 => 0xff,
        _ => 0,
    };
    let mut out = bytes.to_vec();
    out.resize(bytes.len().max(4), fill);
    out
}
