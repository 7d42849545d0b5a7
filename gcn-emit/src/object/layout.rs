//! The code and descriptors of several kernels in one object.

use gcn_isa::Target;

use super::ObjectError;
use crate::descriptor::KernelDescriptor;
use crate::encode::{Encoded, S_NOP, encode_program};
use crate::kernel::{KernelSpec, constants_offset};

/// The alignment of a kernel's first instruction (guide, `KERNEL_CODE_ENTRY_BYTE_OFFSET`).
pub(crate) const KERNEL_ALIGN: u64 = 256;
/// The alignment of the padding after the last kernel.
pub(crate) const END_ALIGN: u64 = 64;
/// The number of `s_nop` after the last instruction of an object, after alignment to [`END_ALIGN`]. From gfx90a on, instruction prefetch
/// may read past the last instruction, so memory must exist there. LLVM's compiler emits 256 for these targets and none for older ones.
pub(crate) const fn trailing_nops(target: Target) -> u32 {
    if target.has_unified_agprs() { 256 } else { 0 }
}

/// The contents of `.text`, and the position of each kernel.
pub(super) struct Code {
    pub(super) bytes: Vec<u8>,
    pub(super) kernels: Vec<Span>,
    /// The code of each kernel, with the byte offset of each line.
    pub(super) encoded: Vec<Encoded>,
}

/// A range of a section.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// Encodes the kernels one after the other.
pub(super) fn code(kernels: &[KernelSpec]) -> Result<Code, ObjectError> {
    let mut code = Code { bytes: Vec::new(), kernels: Vec::new(), encoded: Vec::new() };
    for kernel in kernels {
        pad(&mut code.bytes, KERNEL_ALIGN);
        let encoded = encode_program(&kernel.program).map_err(|error| ObjectError::Encode {
            kernel: kernel.name().to_owned(),
            error: Box::new(error),
        })?;
        code.kernels.push(Span { offset: code.bytes.len() as u64, size: encoded.bytes.len() as u64 });
        code.bytes.extend_from_slice(&encoded.bytes);
        append_constants(&mut code.bytes, kernel, encoded.bytes.len());
        code.encoded.push(encoded);
    }
    let nops = kernels.first().map_or(0, |k| trailing_nops(k.target()));
    if nops > 0 {
        pad(&mut code.bytes, END_ALIGN);
        (0..nops).for_each(|_| code.bytes.extend_from_slice(&S_NOP.to_le_bytes()));
    }
    Ok(code)
}

/// The code of `kernel`, followed by the data that it reads.
pub fn with_constants(kernel: &KernelSpec, code: &[u8]) -> Vec<u8> {
    let mut bytes = code.to_vec();
    append_constants(&mut bytes, kernel, code.len());
    bytes
}

/// Appends the constants of `kernel`, whose code has just been appended.
fn append_constants(bytes: &mut Vec<u8>, kernel: &KernelSpec, code: usize) {
    if !kernel.constants.is_empty() {
        (0..constants_padding(code)).for_each(|_| bytes.extend_from_slice(&S_NOP.to_le_bytes()));
        bytes.extend_from_slice(&kernel.constants);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
}

/// The number of `s_nop` between code and constants.
pub(crate) fn constants_padding(code: usize) -> usize {
    (constants_offset(code as u64) as usize - code) / 4
}

/// Pads code, whose size is a multiple of 4 bytes, with `s_nop`.
fn pad(bytes: &mut Vec<u8>, align: u64) {
    while !(bytes.len() as u64).is_multiple_of(align) {
        bytes.extend_from_slice(&S_NOP.to_le_bytes());
    }
}

/// The contents of `.rodata`: the descriptors. Only the linker knows their distances to the code.
pub(super) fn descriptors(kernels: &[KernelSpec]) -> Vec<u8> {
    kernels.iter().flat_map(|kernel| KernelDescriptor::of(kernel, 0).to_bytes()).collect()
}
