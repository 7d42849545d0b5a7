//! Code object metadata V5: the facts about each kernel that the runtime needs.
//!
//! One set of structures is written in two formats: as YAML for `.amdgpu_metadata` and as `MessagePack` for the
//! `NT_AMDGPU_METADATA` note. Fields are in alphabetical order of their keys, which is the order in which LLVM writes
//! them. Keys and their meaning: LLVM AMDGPU guide, *Code Object V3 Metadata* and its V4 and V5 changes.

mod node;
mod yaml;

use serde::{Deserialize, Serialize};

pub use node::Node;

/// `amdhsa.version` of code object V3.
pub const VERSION_V3: [u32; 2] = [1, 0];
/// `amdhsa.version` of code object V4.
pub const VERSION_V4: [u32; 2] = [1, 1];
/// `amdhsa.version` of code object V5 and V6.
pub const VERSION_V5: [u32; 2] = [1, 2];

/// The metadata of a code object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// One entry per kernel.
    #[serde(rename = "amdhsa.kernels")]
    pub kernels: Vec<KernelMetadata>,
    /// Format strings of device `printf` calls.
    #[serde(rename = "amdhsa.printf", default, skip_serializing_if = "Vec::is_empty")]
    pub printf: Vec<String>,
    /// The triple and target ID; from V4 on.
    #[serde(rename = "amdhsa.target", default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// Major and minor version: `[1, 0]` is V3, `[1, 1]` V4, `[1, 2]` V5 and V6.
    #[serde(rename = "amdhsa.version")]
    pub version: [u32; 2],
}

/// The metadata of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelMetadata {
    /// The number of AGPRs, on targets that have them.
    #[serde(rename = ".agpr_count", default, skip_serializing_if = "Option::is_none")]
    pub agpr_count: Option<u32>,
    /// The arguments in the order of the kernarg segment.
    #[serde(rename = ".args", default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<KernelArg>,
    /// The statically known LDS size of a workgroup in bytes; the launch may add more.
    #[serde(rename = ".group_segment_fixed_size")]
    pub group_segment_fixed_size: u32,
    /// The alignment of the kernarg segment, a power of two.
    #[serde(rename = ".kernarg_segment_align")]
    pub kernarg_segment_align: u32,
    /// The size of the kernarg segment in bytes.
    #[serde(rename = ".kernarg_segment_size")]
    pub kernarg_segment_size: u32,
    /// `normal` (if absent), `init` or `fini`.
    #[serde(rename = ".kind", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The source language.
    #[serde(rename = ".language", default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The version of the source language.
    #[serde(rename = ".language_version", default, skip_serializing_if = "Option::is_none")]
    pub language_version: Option<[u32; 2]>,
    /// The most work-items of a workgroup that the kernel supports.
    #[serde(rename = ".max_flat_workgroup_size")]
    pub max_flat_workgroup_size: u32,
    /// The name in the source.
    #[serde(rename = ".name")]
    pub name: String,
    /// The scratch size of a work-item in bytes.
    #[serde(rename = ".private_segment_fixed_size")]
    pub private_segment_fixed_size: u32,
    /// The workgroup size that a dispatch must have.
    #[serde(rename = ".reqd_workgroup_size", default, skip_serializing_if = "Option::is_none")]
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// The number of SGPRs, including those for VCC, `FLAT_SCRATCH` and `XNACK_MASK`.
    #[serde(rename = ".sgpr_count")]
    pub sgpr_count: u32,
    /// The number of SGPRs stored to spill slots.
    #[serde(rename = ".sgpr_spill_count", default, skip_serializing_if = "Option::is_none")]
    pub sgpr_spill_count: Option<u32>,
    /// The symbol of the kernel descriptor.
    #[serde(rename = ".symbol")]
    pub symbol: String,
    /// 1 if the grid must be a multiple of the workgroup size in each dimension.
    #[serde(rename = ".uniform_work_group_size", default, skip_serializing_if = "Option::is_none")]
    pub uniform_work_group_size: Option<u32>,
    /// True if the code uses a stack of unknown size.
    #[serde(rename = ".uses_dynamic_stack", default, skip_serializing_if = "Option::is_none")]
    pub uses_dynamic_stack: Option<bool>,
    /// The number of VGPRs; on targets with a unified register file, both halves together.
    #[serde(rename = ".vgpr_count")]
    pub vgpr_count: u32,
    /// The number of VGPRs stored to spill slots.
    #[serde(rename = ".vgpr_spill_count", default, skip_serializing_if = "Option::is_none")]
    pub vgpr_spill_count: Option<u32>,
    /// The number of lanes of a wave.
    #[serde(rename = ".wavefront_size")]
    pub wavefront_size: u32,
}

/// A kernel argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelArg {
    /// How the kernel accesses the data behind the pointer: `read_only`, `write_only` or `read_write`.
    #[serde(rename = ".actual_access", default, skip_serializing_if = "Option::is_none")]
    pub actual_access: Option<String>,
    /// The address space of a pointer.
    #[serde(rename = ".address_space", default, skip_serializing_if = "Option::is_none")]
    pub address_space: Option<AddressSpace>,
    /// True for a pointer to constant data.
    #[serde(rename = ".is_const", default, skip_serializing_if = "Option::is_none")]
    pub is_const: Option<bool>,
    /// The name in the source.
    #[serde(rename = ".name", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The byte offset in the kernarg segment.
    #[serde(rename = ".offset")]
    pub offset: u32,
    /// The alignment of the memory to which a `dynamic_shared_pointer` points.
    #[serde(rename = ".pointee_align", default, skip_serializing_if = "Option::is_none")]
    pub pointee_align: Option<u32>,
    /// The number of bytes in the kernarg segment.
    #[serde(rename = ".size")]
    pub size: u32,
    /// The type in the source.
    #[serde(rename = ".type_name", default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// How the runtime sets up the argument.
    #[serde(rename = ".value_kind")]
    pub value_kind: ValueKind,
    /// Deprecated and unused.
    #[serde(rename = ".value_type", default, skip_serializing_if = "Option::is_none")]
    pub value_type: Option<String>,
}

impl KernelArg {
    /// An argument that is copied into the kernarg segment.
    pub fn by_value(name: impl Into<String>, offset: u32, size: u32) -> KernelArg {
        KernelArg { name: Some(name.into()), offset, size, ..KernelArg::default() }
    }

    /// A pointer to global memory: 8 bytes.
    pub fn global_buffer(name: impl Into<String>, offset: u32) -> KernelArg {
        KernelArg {
            address_space: Some(AddressSpace::Global),
            value_kind: ValueKind::GlobalBuffer,
            ..KernelArg::by_value(name, offset, 8)
        }
    }

    /// This argument with its source type.
    #[must_use]
    pub fn typed(self, type_name: impl Into<String>) -> KernelArg {
        KernelArg { type_name: Some(type_name.into()), ..self }
    }
}

/// Address spaces of pointer arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the memory spaces of the guide, by their names")]
pub enum AddressSpace {
    Private,
    Global,
    Constant,
    Local,
    Generic,
    Region,
}

/// How the runtime sets up an argument (`.value_kind`). The values of hidden arguments come from the runtime itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the value kinds of the guide, by their names")]
pub enum ValueKind {
    /// Copied into the kernarg segment.
    #[default]
    ByValue,
    /// A pointer to global memory.
    GlobalBuffer,
    /// The LDS address of memory whose size the launch specifies.
    DynamicSharedPointer,
    Sampler,
    Image,
    Pipe,
    Queue,
    HiddenGlobalOffsetX,
    HiddenGlobalOffsetY,
    HiddenGlobalOffsetZ,
    HiddenNone,
    HiddenPrintfBuffer,
    HiddenHostcallBuffer,
    HiddenDefaultQueue,
    HiddenCompletionAction,
    HiddenMultigridSyncArg,
    HiddenBlockCountX,
    HiddenBlockCountY,
    HiddenBlockCountZ,
    HiddenGroupSizeX,
    HiddenGroupSizeY,
    HiddenGroupSizeZ,
    HiddenRemainderX,
    HiddenRemainderY,
    HiddenRemainderZ,
    HiddenGridDims,
    HiddenHeapV1,
    HiddenDynamicLdsSize,
    HiddenPrivateBase,
    HiddenSharedBase,
    HiddenQueuePtr,
    /// A kind that this version of the crate does not know.
    #[serde(other)]
    Unknown,
}

impl ValueKind {
    /// True for an argument whose value comes from the runtime and not from the caller.
    pub fn is_hidden(self) -> bool {
        (ValueKind::HiddenGlobalOffsetX..=ValueKind::HiddenQueuePtr).contains(&self)
    }
}

/// The bytes are not the `MessagePack` of code object metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("code object metadata: {0}")]
pub struct MetadataError(String);

impl Metadata {
    /// The `MessagePack` of the `NT_AMDGPU_METADATA` note: the same bytes as LLVM produces from [`Metadata::to_yaml`].
    pub fn to_msgpack(&self) -> Vec<u8> {
        // This does not fail: writing to a vector cannot fail, and every type here can be written as MessagePack.
        rmp_serde::to_vec_named(self).unwrap_or_default()
    }

    /// Parses the `MessagePack` of a note. Unknown keys are ignored here; [`Node`] keeps them.
    ///
    /// # Errors
    /// [`MetadataError`] if the bytes end early, are not `MessagePack`, or lack a required key.
    pub fn from_msgpack(bytes: &[u8]) -> Result<Metadata, MetadataError> {
        rmp_serde::from_slice(bytes).map_err(|e| MetadataError(e.to_string()))
    }

    /// The YAML document for `.amdgpu_metadata`, from `---` to `...`.
    pub fn to_yaml(&self) -> String {
        Node::from_msgpack(&self.to_msgpack()).map(|node| node.to_yaml()).unwrap_or_default()
    }
}
