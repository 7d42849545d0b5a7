//! Builds the kernarg segment: places arguments at the offsets in the metadata, and sets hidden ones as the runtime would.

use gcn_emit::metadata::{AddressSpace, KernelArg, ValueKind};

use super::{Element, Error};
use crate::core::aperture;
use crate::core::grid::Geometry;

/// The sizes of a launch that hidden arguments contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub geometry: Geometry,
    pub dynamic_lds: u32,
    pub provided: Provided,
}

/// Addresses of data that a runtime keeps in memory for kernels and passes in hidden arguments; 0 if the data does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provided {
    /// The buffer through which kernels request services of the host: `printf`, `assert`, memory (`hidden_hostcall_buffer`).
    pub hostcall_buffer: u64,
    /// The heap for device-side `malloc` (`hidden_heap_v1`).
    pub heap: u64,
    /// The state of cooperative launches across several devices (`hidden_multigrid_sync_arg`).
    pub multigrid_sync: u64,
}

/// The value of a hidden argument (LLVM AMDGPU guide, "Code Object V5 Kernel Argument Metadata Map Additions" and the sections before it).
/// Buffers and queues that are not provided are null, so an access to them is reported as out of bounds.
pub(crate) fn hidden(kind: ValueKind, sizes: &Sizes) -> u64 {
    use ValueKind as K;
    let [gx, gy, gz] = sizes.geometry.full().map(u64::from);
    let [wx, wy, wz] = sizes.geometry.size.map(u64::from);
    let [rx, ry, rz] = sizes.geometry.remainder().map(u64::from);
    match kind {
        // Only full workgroups are counted.
        K::HiddenBlockCountX => gx,
        K::HiddenBlockCountY => gy,
        K::HiddenBlockCountZ => gz,
        K::HiddenGroupSizeX => wx,
        K::HiddenGroupSizeY => wy,
        K::HiddenGroupSizeZ => wz,
        K::HiddenRemainderX => rx,
        K::HiddenRemainderY => ry,
        K::HiddenRemainderZ => rz,
        // The dispatch packet always has three dimensions.
        K::HiddenGridDims => 3,
        K::HiddenDynamicLdsSize => sizes.dynamic_lds.into(),
        K::HiddenPrivateBase => aperture::PRIVATE_BASE >> 32,
        K::HiddenHostcallBuffer => sizes.provided.hostcall_buffer,
        K::HiddenHeapV1 => sizes.provided.heap,
        K::HiddenMultigridSyncArg => sizes.provided.multigrid_sync,
        K::HiddenSharedBase => aperture::SHARED_BASE >> 32,
        // Global offsets are always 0.
        _ => 0,
    }
}

/// Writes the hidden arguments to the segment, and returns those that are null.
pub(crate) fn place_hidden<'a>(
    segment: &mut Vec<u8>,
    args: impl IntoIterator<Item = &'a KernelArg>,
    sizes: &Sizes,
) -> Result<Vec<ValueKind>, Error> {
    let mut null = Vec::new();
    for arg in args.into_iter().filter(|a| a.value_kind.is_hidden()) {
        let (kind, name) = (arg.value_kind, kind_name(arg.value_kind));
        let value = hidden(kind, sizes);
        let mut bytes = value.to_le_bytes().to_vec();
        bytes.resize(size(&name, arg)?, 0);
        place(segment, &name, arg, &bytes)?;
        if is_null(kind) && value == 0 {
            null.push(kind);
        }
    }
    Ok(null)
}

/// True for a hidden argument that is null in this simulator but a valid pointer on a real machine.
pub(crate) fn is_null(kind: ValueKind) -> bool {
    use ValueKind as K;
    matches!(
        kind,
        K::HiddenPrintfBuffer
            | K::HiddenHostcallBuffer
            | K::HiddenDefaultQueue
            | K::HiddenCompletionAction
            | K::HiddenMultigridSyncArg
            | K::HiddenHeapV1
            | K::HiddenQueuePtr
    )
}

/// True if the argument is a pointer to memory that the caller of the launch provides.
pub(crate) fn is_pointer(arg: &KernelArg) -> bool {
    arg.value_kind == ValueKind::GlobalBuffer
        || arg.size == 8
            && matches!(
                arg.address_space,
                Some(AddressSpace::Global | AddressSpace::Constant | AddressSpace::Generic)
            )
}

/// The element type of a pointer, from its source type in the metadata, such as `float*`, `&[f32]` or `&mut [[u8; 12]]`. Also returns the
/// number of such elements in one element of the kernel.
pub(crate) fn pointee(arg: &KernelArg) -> Option<(Element, u32)> {
    let name = arg.type_name.as_deref()?;
    let name = name.trim_start_matches(['&', '[']).trim_end_matches(['*', ']', ' ']);
    let name = name.trim_start_matches("mut ").trim_start_matches(['[', '*']).trim_start_matches("const ");
    let (element, count) = match name.trim_start_matches("mut ").trim_start_matches('[').split_once("; ") {
        Some((element, count)) => (element, count.parse().ok().filter(|count| *count > 0)?),
        None => (name, 1),
    };
    Some((element.parse().ok()?, count))
}

/// The scalar type of an argument, from its source type in the metadata.
pub(crate) fn scalar(arg: &KernelArg) -> Option<Element> {
    let element: Element = arg.type_name.as_deref()?.parse().ok()?;
    (element.bytes() == arg.size || arg.size == 4 && element.bytes() < 4).then_some(element)
}

/// A scalar type of this size, for templates of kernels whose metadata contains no types.
pub(crate) fn guess(bytes: u32) -> Element {
    match bytes {
        1 => Element::U8,
        2 => Element::U16,
        8 => Element::I64,
        _ => Element::I32,
    }
}

/// The argument whose elements `arg` counts: a slice `x` of a Rust kernel is passed as a pointer and its length, `x.len`.
pub(crate) fn counted<'a>(args: &[&'a KernelArg], arg: &'a KernelArg) -> Option<&'a str> {
    let of = arg.name.as_deref()?.strip_suffix(".len")?;
    let pointer = args.iter().any(|a| a.name.as_deref() == Some(of) && is_pointer(a));
    Some(of).filter(|_| pointer && arg.value_kind == ValueKind::ByValue && matches!(arg.size, 4 | 8))
}

/// The size of an argument in bytes; an error if the kernarg segment would become too large.
pub(crate) fn size(name: &str, arg: &KernelArg) -> Result<usize, Error> {
    let end = (arg.offset as usize).saturating_add(arg.size as usize);
    if end > MOST_SEGMENT {
        let problem = format!("it has {} bytes at offset {:#x} of the arguments", arg.size, arg.offset);
        return Err(Error::argument(
            name,
            problem,
            "the metadata is broken: kernels have 1 MiB of arguments at most",
        ));
    }
    Ok(arg.size as usize)
}

/// Writes an argument's bytes at its offset, padded with zeros.
pub(crate) fn place(segment: &mut Vec<u8>, name: &str, arg: &KernelArg, bytes: &[u8]) -> Result<(), Error> {
    let narrow = arg.size == 4 && bytes.len() < 4 && arg.value_kind == ValueKind::ByValue;
    if bytes.len() != arg.size as usize && !narrow {
        let problem = format!("it has {} bytes, the value has {}", arg.size, bytes.len());
        return Err(Error::argument(name, problem, size_remedy(arg)));
    }
    let start = arg.offset as usize;
    let end = start + size(name, arg)?;
    segment.resize(segment.len().max(end), 0);
    if let Some(place) = segment.get_mut(start..start + bytes.len()) {
        place.copy_from_slice(bytes);
    }
    Ok(())
}

/// The maximum size of a kernarg segment in bytes.
pub(crate) const MOST_SEGMENT: usize = 1 << 20;

fn size_remedy(arg: &KernelArg) -> String {
    if is_pointer(arg) {
        return "it is a pointer: write `{\"buffer\": \"f32\", \"count\": N}`".to_owned();
    }
    let named = arg.type_name.as_deref().map(|t| format!(" (it is a `{t}`)")).unwrap_or_default();
    let fitting: Vec<_> =
        Element::all().filter(|e| e.bytes() == arg.size).map(|e| format!("{{\"{e}\": …}}")).collect();
    if fitting.is_empty() {
        return format!("write `{{\"struct\": […]}}` or `{{\"bytes\": \"…\"}}` of that size{named}");
    }
    format!("write {}{named}", fitting.join(" or "))
}

/// The name of an argument kind in the metadata.
pub(crate) fn kind_name(kind: ValueKind) -> String {
    let debug = format!("{kind:?}");
    let mut name = String::new();
    for c in debug.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}
