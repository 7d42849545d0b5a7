//! The bytes of the kernarg segment.

use super::LaunchError;
use crate::lang::{PackedArg, Signature, SignatureArg, SignatureArgKind};

/// Lays out arguments as [`Signature`] says; `addresses` are those of the slices, in order.
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
    let slices = args.iter().filter(|a| matches!(a, PackedArg::Slice { .. })).count();
    count("slice addresses", slices, addresses.len())?;
    let mut out = vec![0; signature.kernarg_bytes() as usize];
    refuse_overlap(signature, args, addresses)?;
    let mut addresses = addresses.iter();
    for (declared, arg) in signature.args.iter().zip(args) {
        let mut put = |at: u32, bytes: &[u8]| {
            let at = at as usize;
            out[at..at + bytes.len()].copy_from_slice(bytes);
        };
        match (declared.kind, arg) {
            (SignatureArgKind::Value, PackedArg::Value(bytes))
                if bytes.len() as u32 == declared.elem.bytes() =>
            {
                put(declared.offset, &extended(declared, bytes));
            }
            (SignatureArgKind::Slice | SignatureArgKind::SliceMut, PackedArg::Slice { len, bytes, .. }) => {
                let address = addresses.next().copied().unwrap_or_default();
                let too_long = |_| LaunchError::SliceTooLong {
                    kernel: signature.name.clone(),
                    argument: declared.name,
                    bytes: bytes.len() as u64,
                };
                u32::try_from(bytes.len()).map_err(too_long)?;
                let len = u32::try_from(*len).map_err(too_long)?;
                put(declared.offset, &address.to_le_bytes());
                put(declared.offset + 8, &len.to_le_bytes());
            }
            (SignatureArgKind::Pointer | SignatureArgKind::PointerMut, PackedArg::Pointer(address)) => {
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

/// The compiler relies on it that nothing else reaches what a `&mut [T]` argument reaches.
fn refuse_overlap(
    signature: &Signature,
    args: &[PackedArg<'_>],
    addresses: &[u64],
) -> Result<(), LaunchError> {
    let slices = signature.args.iter().zip(args).filter_map(|(declared, arg)| match arg {
        PackedArg::Slice { bytes, .. } => Some((declared, bytes.len() as u64)),
        _ => None,
    });
    let slices: Vec<_> = slices.zip(addresses).map(|((d, bytes), at)| (d, *at, at + bytes)).collect();
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

/// Values narrower than a dword are extended as registers hold them.
fn extended(declared: &SignatureArg, bytes: &[u8]) -> Vec<u8> {
    let fill = match bytes.last() {
        Some(top) if declared.elem.is_signed() && !declared.elem.is_float() && *top >= 0x80 => 0xff,
        _ => 0,
    };
    let mut out = bytes.to_vec();
    out.resize(bytes.len().max(4), fill);
    out
}
