//! Files of other kinds, recognised by their first bytes, so that an error message can name the kind of a rejected
//! file.

/// A kind of file that this crate does not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Foreign {
    /// The kind of the file.
    pub what: &'static str,
    /// The suggested action.
    pub remedy: &'static str,
    /// The offset of the bytes that identify the kind.
    pub offset: u64,
}

const HOST: &str = "code for GPUs in it would be in a section `.hip_fatbin` of an ELF file";
const OTHER_MACHINE: &str = "AMD's GPUs do not run it";
const COMPILE: &str = "compile for `amdgcn-amd-amdhsa`";

/// Identifying bytes, and their offset.
type Mark = (usize, &'static [u8]);

const ELF: Mark = (0, b"\x7fELF");
const AMDGPU: Mark = (18, &[0xe0, 0]);

/// The marks of each kind, the most distinctive one last; the description of the kind; and the suggested action.
const KINDS: &[(&[Mark], &str, &str)] = &[
    (&[(0, b"MZ")], "a program or library of Windows (PE)", HOST),
    (&[(0, b"\xcf\xfa\xed\xfe")], "a program or library of macOS (Mach-O)", HOST),
    (&[(0, b"\xce\xfa\xed\xfe")], "a program or library of macOS (Mach-O, 32 bits)", HOST),
    (&[(0, b"\xca\xfe\xba\xbe")], "a program or library of macOS (Mach-O for several processors)", HOST),
    (&[(0, b"!<arch>\n")], "an archive of objects", "take its members out with `ar x`"),
    (&[(0, b"!<thin>\n")], "a thin archive, which names objects", "give the objects"),
    (&[(0, b"BC\xc0\xde")], "LLVM bitcode", "compile it with `clang -target amdgcn-amd-amdhsa -x ir`"),
    (&[(0, b"\x03\x02\x23\x07")], "SPIR-V", "compile the source for `amdgcn-amd-amdhsa`"),
    (&[(0, b"\0asm")], "WebAssembly", OTHER_MACHINE),
    (&[(0, b"PK\x03\x04")], "a ZIP archive, as Python's wheels are", "unpack it with `unzip`"),
    (&[ELF, AMDGPU, (4, &[1])], "code for R600 (ELF of 32 bits), which is not supported", COMPILE),
    (
        &[ELF, AMDGPU, (7, &[0])],
        "code without an operating system (EI_OSABI 0), which is not supported",
        COMPILE,
    ),
    (&[ELF, AMDGPU, (7, &[0x41])], "code for AMD's PAL (graphics), which is not supported", COMPILE),
    (&[ELF, AMDGPU, (7, &[0x42])], "code for Mesa 3D, which is not supported", COMPILE),
    (&[ELF, (18, &[3, 0])], "an ELF file for x86", OTHER_MACHINE),
    (&[ELF, (18, &[62, 0])], "an ELF file for x86-64", OTHER_MACHINE),
    (&[ELF, (18, &[40, 0])], "an ELF file for Arm", OTHER_MACHINE),
    (&[ELF, (18, &[183, 0])], "an ELF file for AArch64", OTHER_MACHINE),
    (&[ELF, (18, &[243, 0])], "an ELF file for RISC-V", OTHER_MACHINE),
    (&[ELF, (18, &[21, 0])], "an ELF file for PowerPC", OTHER_MACHINE),
    (&[ELF, (18, &[2, 1])], "an ELF file for LoongArch", OTHER_MACHINE),
    (&[ELF, (18, &[190, 0])], "an ELF file for NVIDIA's GPUs (CUDA)", OTHER_MACHINE),
    (&[ELF, (18, &[247, 0])], "an ELF file for BPF", OTHER_MACHINE),
];

/// The kind of a file; `None` if it is not a known kind that this crate cannot read.
///
/// ```
/// use gcn_emit::object::foreign;
///
/// assert!(foreign(b"MZ\x90\0").unwrap().what.contains("Windows"));
/// assert_eq!(foreign(b"s_nop 0"), None);
/// ```
pub fn foreign(bytes: &[u8]) -> Option<Foreign> {
    let has = |(at, mark): &Mark| bytes.get(*at..).is_some_and(|rest| rest.starts_with(mark));
    let (marks, what, remedy) = *KINDS.iter().find(|(marks, ..)| marks.iter().all(has))?;
    let offset = marks.last().map_or(0, |(at, _)| *at as u64);
    Some(Foreign { what, remedy, offset })
}
