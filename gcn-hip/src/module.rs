//! Loaded code objects, and fat binaries that are loaded when needed.

use std::collections::HashMap;
use std::sync::Arc;

use gcn_emit::object::{ObjectError, bundle, container};
use gcn_emit::target_id::{Feature, TargetId};
use gcn_sim::launch::{Object, Program};

use gcn_isa::Target;

use crate::error::{Error, Result};
use crate::heap::{Heap, Kind};
use crate::host::Ptr;

/// A loaded code object.
pub(crate) struct Module {
    pub object: Object,
    pub base: Ptr,
    pub device: usize,
    /// The kernels that have been looked up: the handle of each, by name.
    pub functions: HashMap<String, u64>,
}

/// A kernel.
pub(crate) struct Function {
    pub program: Arc<Program>,
    pub name: String,
    pub device: usize,
    /// `hipFuncAttributeMaxDynamicSharedMemorySize`.
    pub most_dynamic_lds: Option<u32>,
    /// `hipFuncAttributePreferredSharedMemoryCarveout` in percent, which has no effect.
    pub carveout: u32,
}

/// A fat binary that clang's start-up code has registered for a source file.
pub(crate) struct FatBinary {
    pub image: &'static [u8],
    /// For each device on which the binary has been needed, its module, or the error of loading it.
    pub modules: HashMap<usize, Result<u64>>,
    pub managed: Vec<Managed>,
}

/// A `__managed__` variable: the symbol on the device is a pointer to it.
pub(crate) struct Managed {
    pub name: String,
    pub at: Ptr,
}

/// A host symbol that stands for a kernel or variable of a fat binary.
#[derive(Clone)]
pub(crate) struct Symbol {
    pub binary: u64,
    pub name: String,
}

/// The target IDs in a bundle that can be simulated.
pub(crate) fn targets(image: &[u8]) -> Vec<TargetId> {
    let mut found = Vec::new();
    for bundle in container::bundles(image).into_iter().flatten().flatten() {
        let entries = bundle.entries().unwrap_or_default();
        found.extend(entries.iter().filter_map(|entry| entry.target_id));
    }
    found
}

/// Loads a code object into memory. From a bundle, loads the code object that fits `device_id`.
pub(crate) fn load(heap: &mut Heap, bytes: &[u8], device: usize, device_id: TargetId) -> Result<Module> {
    if !bundle::is_bundle(bytes) {
        return load_object(heap, bytes, device, device_id);
    }
    let (found, there) = fitting(bytes, device_id).map_err(|error| {
        eprintln!("gcn-hip: the fat binary cannot be read: {error}");
        Error::InvalidImage
    })?;
    let found = found.ok_or_else(|| {
        let there = there.join(", ");
        eprintln!(
            "gcn-hip: no code object for {device_id} among {there}; compile with --offload-arch={target}, or choose another \
             device with GCN_HIP_TARGET (`gcn run --target`)",
            target = device_id.target,
        );
        Error::NoBinaryForGpu
    })?;
    load_object(heap, &found, device, device_id)
}

/// From a file of bundles, the code object that runs on the device, preferring the most specific feature settings; also returns the names
/// of all entries.
fn fitting(
    bytes: &[u8],
    device_id: TargetId,
) -> std::result::Result<(Option<Vec<u8>>, Vec<String>), ObjectError> {
    let set = |f: Feature| u8::from(f != Feature::Any);
    let (mut found, mut there): (Option<(u8, Vec<u8>)>, Vec<String>) = (None, Vec::new());
    for bundle in container::bundles(bytes)? {
        for entry in bundle?.entries()? {
            there.push(entry.name.to_owned());
            let Some(id) = entry.target_id.filter(|id| id.runs_on(device_id)) else { continue };
            let settings = set(id.xnack) + set(id.sramecc);
            if found.as_ref().is_none_or(|(most, _)| settings >= *most) {
                found = Some((settings, entry.bytes.to_vec()));
            }
        }
    }
    Ok((found.map(|(_, object)| object), there))
}

/// True for a code object that is for an AMD GPU, but not for a supported target.
fn is_of_another_device(bytes: &[u8]) -> bool {
    const AMDGPU: u16 = 224;
    let half = |at: usize| bytes.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    let mach = bytes.get(48).copied().map(u32::from);
    half(18) == Some(AMDGPU) && !Target::KNOWN.into_iter().any(|target| Some(target.elf_mach()) == mach)
}

fn load_object(heap: &mut Heap, bytes: &[u8], device: usize, device_id: TargetId) -> Result<Module> {
    let mut place = Err(Error::OutOfMemory);
    let loaded = Object::load(bytes, |size| {
        place = heap.alloc(Kind::Image, device, size, 0);
        place.map_or(0, Ptr::address)
    });
    let free = |heap: &mut Heap| {
        if let Ok(base) = place {
            // Cannot fail, because the memory was just allocated.
            let _ = heap.free(base, &[Kind::Image], Error::InvalidValue);
        }
    };
    let object = match loaded {
        Ok(object) => object,
        Err(error) => {
            free(heap);
            eprintln!("gcn-hip: {error}");
            return Err(if is_of_another_device(bytes) {
                Error::NoBinaryForGpu
            } else {
                Error::InvalidImage
            });
        }
    };
    let base = place?;
    if !object.target_id().runs_on(device_id) {
        free(heap);
        eprintln!("gcn-hip: a code object for {} does not run on {device_id}", object.target_id());
        return Err(Error::NoBinaryForGpu);
    }
    crate::host::put(base, object.image());
    Ok(Module { object, base, device, functions: HashMap::new() })
}
