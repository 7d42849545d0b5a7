//! Kernels out of a code object, whoever wrote it.

mod file;

use std::collections::HashMap;

use object::elf;

use super::{ObjectError, ReadFault, note};
use crate::descriptor::{DESCRIPTOR_BYTES, KernelDescriptor};
use crate::metadata::{KernelMetadata, Metadata};
use crate::target_id::TargetId;
use file::{File, Symbol};

/// A code object that was read.
#[derive(Clone, Debug)]
pub struct CodeObject<'d> {
    /// Processor and feature settings.
    pub target_id: TargetId,
    /// `EI_ABIVERSION`: 1 is code object V3, 2 V4, 3 V5, 4 V6.
    pub abi_version: u8,
    /// The kernels, in the order of the symbol table.
    pub kernels: Vec<KernelCode<'d>>,
    /// The metadata note, if there is one.
    pub metadata: Option<Metadata>,
}

/// A kernel of a code object.
#[derive(Clone, Debug)]
pub struct KernelCode<'d> {
    /// The name: the descriptor's symbol without `.kd`.
    pub name: &'d str,
    /// The kernel descriptor.
    pub descriptor: KernelDescriptor,
    /// Address of the first instruction in the object.
    pub address: u64,
    /// The machine code, as far as the entry symbol's size says; without that size, up to the next function or the end of
    /// the segment, padding included.
    pub code: &'d [u8],
    /// The kernel's metadata, if there is any.
    pub metadata: Option<KernelMetadata>,
}

impl<'d> CodeObject<'d> {
    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&KernelCode<'d>> {
        self.kernels.iter().find(|k| k.name == name)
    }
}

/// Reads a linked code object (V3 to V6). Nothing is executed or allocated by what the file claims: any bytes give a code
/// object or an error.
///
/// # Errors
/// [`ObjectError::Read`] with the offset, what is wrong there, and what to do.
pub fn read_code_object(bytes: &[u8]) -> Result<CodeObject<'_>, ObjectError> {
    let file = File::parse(bytes)?;
    let metadata = metadata(&file)?;
    let symbols = file.symbols()?;
    let functions = functions(&symbols);
    let mut by_symbol: HashMap<&str, &KernelMetadata> = HashMap::new();
    for kernel in metadata.iter().flat_map(|m| &m.kernels) {
        by_symbol.insert(&kernel.symbol, kernel);
    }
    let mut kernels = Vec::new();
    for symbol in &symbols {
        if let Some(name) = symbol.name.strip_suffix(".kd")
            && symbol.kind == elf::STT_OBJECT
            && symbol.is_defined
        {
            let metadata = by_symbol.get(symbol.name).map(|m| (*m).clone());
            kernels.push(KernelCode { metadata, ..kernel(&file, &functions, symbol, name)? });
        }
    }
    Ok(CodeObject { target_id: file.target_id, abi_version: file.abi_version, kernels, metadata })
}

fn metadata(file: &File<'_>) -> Result<Option<Metadata>, ObjectError> {
    for (offset, section) in file.notes()? {
        let fault = |at: usize, fault| ObjectError::Read { offset: offset + at as u64, fault };
        let found = note::find_metadata(section).map_err(|e| fault(e.at, ReadFault::Note(e.what)))?;
        if let Some(bytes) = found {
            return Metadata::from_msgpack(bytes).map(Some).map_err(|e| fault(0, e.into()));
        }
    }
    Ok(None)
}

/// Function symbols by address.
struct Functions<'s, 'd> {
    sorted: Vec<&'s Symbol<'d>>,
}

fn functions<'s, 'd>(symbols: &'s [Symbol<'d>]) -> Functions<'s, 'd> {
    let mut sorted: Vec<_> = symbols.iter().filter(|s| s.kind == elf::STT_FUNC && s.is_defined).collect();
    sorted.sort_by_key(|s| s.address);
    Functions { sorted }
}

impl Functions<'_, '_> {
    /// The size of the function at `address`: what its symbol says, else the distance to the next function.
    fn size_at(&self, address: u64) -> Option<u64> {
        let first = self.sorted.partition_point(|s| s.address < address);
        let next = self.sorted.partition_point(|s| s.address <= address);
        let sized = self.sorted[first..next].iter().map(|s| s.size).find(|size| *size > 0);
        sized.or_else(|| self.sorted.get(next).map(|s| s.address - address))
    }
}

fn kernel<'d>(
    file: &File<'d>,
    functions: &Functions<'_, 'd>,
    symbol: &Symbol<'d>,
    name: &'d str,
) -> Result<KernelCode<'d>, ObjectError> {
    let unmapped = |what, address, bytes| ObjectError::Read {
        offset: symbol.entry_offset,
        fault: ReadFault::Unmapped { what, kernel: name.to_owned(), address, bytes },
    };
    let size = DESCRIPTOR_BYTES as u64;
    let descriptor = file
        .loaded(symbol.address, Some(size))
        .and_then(|bytes| bytes.first_chunk::<DESCRIPTOR_BYTES>())
        .map(KernelDescriptor::from_bytes)
        .ok_or_else(|| unmapped("the descriptor", symbol.address, size))?;
    let address = symbol.address.wrapping_add_signed(descriptor.kernel_code_entry_byte_offset);
    let size = functions.size_at(address);
    let code = file.loaded(address, size).ok_or_else(|| unmapped("the code", address, size.unwrap_or(0)))?;
    Ok(KernelCode { name, descriptor, address, code, metadata: None })
}
