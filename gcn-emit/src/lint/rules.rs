//! The lints.

use gcn_isa::hazards::Grade;

/// A kind of lint.
#[derive(PartialEq, Eq, Debug)]
pub struct LintRule {
    /// The name of the rule, which begins with `kernel.`.
    pub id: &'static str,
    /// The rule in words.
    pub title: &'static str,
    /// The quality of the rule's evidence: *certain* if the hardware cannot do what the code requires, *documented* if the code object
    /// contradicts the guide or itself, *cautious* if there may be a reason that is not visible in the file.
    pub grade: Grade,
    /// The citation of the source.
    pub cite: &'static str,
}

const DESCRIPTOR: &str = "LLVM AMDGPU guide, kernel descriptor";
const INITIAL: &str = "LLVM AMDGPU guide, initial kernel execution state";
const METADATA: &str = "LLVM AMDGPU guide, code object metadata";
const MEMORY: &str = "LLVM AMDGPU guide, memory model";
const SCALAR_OFFSET: &str = "MI100 ISA section 8.1; LLVM 22, SIInstrInfo::verifyInstruction";
const LOADER: &str = "LLVM AMDGPU guide, code object metadata; ROCm/hip issue 2342";

macro_rules! rules {
    ($($name:ident = $id:literal, $title:literal, $grade:ident, $cite:ident;)*) => {
        $(
            pub(super) static $name: LintRule =
                LintRule { id: $id, title: $title, grade: Grade::$grade, cite: $cite };
        )*

        /// Every lint.
        pub static ALL: &[&LintRule] = &[$(&$name),*];
    };
}

rules! {
    VGPRS = "kernel.vgprs", "a VGPR is used that the kernel does not have", Certain, DESCRIPTOR;
    AGPRS = "kernel.agprs", "an AGPR is used that the kernel does not have", Certain, DESCRIPTOR;
    ACCUM_OFFSET = "kernel.accum-offset", "a VGPR is used that lies where the AGPRs are", Documented, DESCRIPTOR;
    SGPRS = "kernel.sgprs", "an SGPR is used that the kernel does not have", Certain, DESCRIPTOR;
    RESERVED_SGPRS = "kernel.reserved-sgprs",
        "an SGPR is used that holds VCC, FLAT_SCRATCH or XNACK_MASK", Documented, DESCRIPTOR;
    LDS_LIMIT = "kernel.lds-limit", "more LDS is used than a workgroup can have", Certain, DESCRIPTOR;
    LDS = "kernel.lds", "an LDS offset lies beyond the LDS of the kernel", Cautious, DESCRIPTOR;
    SCRATCH = "kernel.scratch", "scratch is used that the kernel does not have", Documented, DESCRIPTOR;
    KERNARG = "kernel.kernarg", "an argument is loaded from beyond the kernarg segment", Documented, DESCRIPTOR;
    KERNARG_TAIL = "kernel.kernarg-tail",
        "a load begins in the kernarg segment and ends beyond it", Cautious, DESCRIPTOR;
    SGPR_UNSET = "kernel.sgpr-unset",
        "an address is read from an SGPR that neither the dispatcher nor the code has set", Documented, INITIAL;
    WORKITEM_ID = "kernel.workitem-id",
        "a work-item id is read that the descriptor does not ask for", Documented, INITIAL;
    WORKGROUP = "kernel.workgroup", "no workgroup of the size that the kernel allows fits a compute unit",
        Documented, DESCRIPTOR;
    METADATA_REGISTERS = "kernel.metadata-registers",
        "the metadata have more registers than the descriptor", Documented, METADATA;
    METADATA_MEMORY = "kernel.metadata-memory",
        "metadata and descriptor differ in LDS, scratch or arguments", Documented, METADATA;
    METADATA_WAVE = "kernel.metadata-wave", "the wave size is not that of the descriptor", Documented, METADATA;
    METADATA_WORKGROUP = "kernel.metadata-workgroup",
        "the workgroup size of the metadata is impossible", Documented, METADATA;
    TG_SPLIT = "kernel.tg-split", "LDS is used in threadgroup split mode, in which none is allocated", Documented, MEMORY;
    SCALAR_STORE_OFFSET = "kernel.scalar-store-offset",
        "the offset of a scalar store or atomic stands in a register other than M0", Documented, SCALAR_OFFSET;
    SCALAR_WRITE_BACK = "kernel.scalar-write-back",
        "a kernel may end with a scalar store that is not written back", Documented, MEMORY;
    NO_METADATA = "kernel.no-metadata", "there are no metadata, without which HIP loads no kernel", Documented,
        LOADER;
    METADATA_VERSION = "kernel.metadata-version",
        "the metadata are of another version than the code object", Documented, METADATA;
    METADATA_TARGET = "kernel.metadata-target", "the metadata name another target", Documented, METADATA;
    METADATA_VALUE_TYPE = "kernel.metadata-value-type",
        "an argument of the metadata has the deprecated `.value_type`", Cautious, METADATA;
    METADATA_ARGUMENT = "kernel.metadata-argument",
        "an argument of the metadata lies beyond the kernarg segment", Documented, METADATA;
}
