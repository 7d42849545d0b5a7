//! Tests error messages and their positions.

use gcn_emit::asm::{Diagnostic, Diagnostics, Options, assemble};

fn errors(source: &str) -> Diagnostics {
    let options = Options { target: Some("gfx942".parse().unwrap()), ..Options::default() };
    assemble("f.s", source, &options).unwrap_err()
}

/// Source, line, column, length, and a part of the expected message or help.
type Case = (&'static str, u32, u32, u32, &'static str);

const CASES: [Case; 62] = [
    ("s_nop 0\n\ts_nopp 1\n", 2, 2, 6, "no instruction `s_nopp`; the nearest name is `s_nop`"),
    ("é: s_nop 0\né: v_mov_b32 q0, v1\n", 2, 1, 1, "`é` is already defined"),
    ("\t.globel a\n", 1, 2, 7, "did you mean `.global`?"),
    ("\t.amdhsa_next_free_vgpr 3\n", 1, 2, 22, "stands outside `.amdhsa_kernel`"),
    ("\t.amdhsa_kernl k\n", 1, 2, 13, "did you mean `.amdhsa_kernel`?"),
    (".include \"x\"\n", 1, 10, 3, "no files are read here"),
    (
        ".amdgpu_metadata\namdhsa.version: [1, 5000000000]\namdhsa.kernels: []\n.end_amdgpu_metadata\n",
        2,
        21,
        10,
        "`amdhsa.version[1]` has to be from 0 to 4294967295",
    ),
    (
        ".amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n  - .name: é\n    .kernarg_segment_size: -8\n    .symbol: k.kd\n.end_amdgpu_metadata\n",
        5,
        28,
        2,
        "`amdhsa.kernels[0]: .kernarg_segment_size` has to be",
    ),
    // llvm-mc 22 does not check the type of this value and writes the string, which readers reject because they require a number.
    (
        ".amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n  - .name: k\n    .symbol: k.kd\n    .kernarg_segment_size: 0\n    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    .kernarg_segment_align: 4\n    .wavefront_size: 64\n    .sgpr_count: 1\n    .vgpr_count: 1\n    .max_flat_workgroup_size: 1\n    .agpr_count: x\n.end_amdgpu_metadata\n",
        14,
        18,
        1,
        "`amdhsa.kernels[0]: .agpr_count` has to be",
    ),
    (
        ".amdgpu_metadata\namdhsa.version: [1, 2]\n.end_amdgpu_metadata\n",
        2,
        1,
        0,
        "`amdhsa.kernels` is missing",
    ),
    (
        "\n.section .note,\"a\"\n.long 7, 99, 32\n.asciz \"AMDGPU\"\n.long 0\n",
        2,
        1,
        18,
        "a note that cannot be read, at byte 0",
    ),
    (".amd_kernel_code_t\n", 1, 1, 18, "code object V2; describe the kernel with `.amdhsa_kernel`"),
    (".end_amd_kernel_code_t\n", 1, 1, 22, "code object V2"),
    (".amdgpu_hsa_kernel k\n", 1, 1, 18, "code object V2; describe the kernel with `.amdhsa_kernel`"),
    (".amdgpu_hsa_module_global x\n", 1, 1, 25, "code object V2"),
    (".amdgpu_hsa_program_global x\n", 1, 1, 26, "code object V2"),
    (".hsa_code_object_version 2,1\n", 1, 1, 24, "code object V2; write `.amdgcn_target` and"),
    (".hsa_code_object_isa 9,0,0,\"AMD\",\"AMDGPU\"\n", 1, 1, 20, "code object V2"),
    (
        ".amd_amdgpu_isa \"x\"\n",
        1,
        1,
        15,
        "V2 and those of PAL name their processor so; write `.amdgcn_target`",
    ),
    (".amd_amdgpu_hsa_metadata\n", 1, 1, 24, "the metadata of code object V2; write `.amdgpu_metadata`"),
    (".end_amd_amdgpu_hsa_metadata\n", 1, 1, 28, "code object V2"),
    (".amdgpu_runtime_metadata\n", 1, 1, 24, "the metadata of code object V2"),
    (".amdgpu_pal_metadata\n", 1, 1, 20, "the metadata of AMD's PAL"),
    (".amd_amdgpu_pal_metadata x\n", 1, 1, 24, "the metadata of AMD's PAL"),
    (".amdhsa_code_object_version 3\n", 1, 29, 1, "code object version 3 is not supported; write 4, 5 or 6"),
    (".amdhsa_code_object_version 2\n", 1, 29, 1, "code object version 2 is not supported; write 4, 5 or 6"),
    ("image_load v0, v0, s[0:7]\n", 1, 1, 10, "graphics instructions"),
    ("image_sample_lz v0, v0, s[0:7], s[8:11]\n", 1, 1, 15, "graphics instructions"),
    ("exp mrt0 v0, v0, v0, v0\n", 1, 1, 3, "graphics instructions"),
    ("v_interp_p1_f32 v0, v1, attr0.x\n", 1, 1, 15, "graphics instructions"),
    ("v_interp_mov_f32 v0, p10, attr0.x\n", 1, 1, 16, "graphics instructions"),
    ("expand v0\n", 1, 1, 6, "has no instruction `expand`"),
    (".cfi_startproc\n.cfi_personality 0, f\n.cfi_endproc\n", 2, 1, 16, "no exceptions; leave it out"),
    (".cfi_startproc\n.data\n.cfi_undefined 1\n", 3, 1, 16, "in another section than its `.cfi_startproc`"),
    (".cfi_startproc\n.cfi_undefined vcc\n.cfi_endproc\n", 2, 16, 3, "or its number in debug information"),
    (".file 2 \"a\"\n.file 3 \"a\"\n", 1, 1, 11, "file number 1 is missing"),
    (".file 1 \"a\"\n.loc 1 2 65536\n", 2, 10, 5, "the column"),
    (".long 1, 5/0\n", 1, 11, 1, "division by zero"),
    (".long (1\n", 1, 9, 0, "expected `)`"),
    (".byte 256\n", 1, 7, 3, "from -128 to 255, not 256"),
    (".byte a\na = 300\n", 1, 7, 1, "from -128 to 255, not 300"),
    (".long a@foo\n", 1, 9, 3, "unknown relocation `@foo`"),
    (".ascii \"a\n", 1, 8, 2, "the string is not closed"),
    (".ascii \"a\\q\"\n", 1, 10, 2, "unknown escape sequence"),
    (".section foo,\"aZ\"\n", 1, 14, 4, "unknown section flag `Z`"),
    (".section foo,\"a\"\n.section foo,\"aw\"\n", 2, 1, 17, "section `foo` has flags 0x2 already"),
    (".popsection\n", 1, 1, 11, "without a section to go back to"),
    (".org 8\n.org 4\n", 2, 1, 6, "cannot go back from offset 8 to 4"),
    (".fill 0x7fffffff\n", 1, 1, 16, "grows by more than"),
    (".long 1f\n", 1, 7, 2, "no label"),
    ("s_branch nowhere\n", 1, 1, 16, "`nowhere` is not defined"),
    ("s_branch .Lx\n.fill 40000, 4, 0\n.Lx:\n", 1, 1, 12, "a branch reaches"),
    ("x = y\ny = x\n.long x\n", 3, 7, 1, "depends on itself"),
    ("/* a\n", 1, 1, 2, "the comment is not closed"),
    (".data\na:\n.text\nb:\n.long b, b-c, a-.\nc:\n.quad b-a\n", 5, 14, 3, ""),
    (".bss\n.long 1\n", 2, 7, 1, "occupies no bytes in the file"),
    (".loc 3 1\n", 1, 6, 1, "file number 3 has no `.file` directive"),
    (".amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n", 1, 16, 27, "the file is for `gfx90a`"),
    (".amdhsa_kernel k\ns_nop 0\n.end_amdhsa_kernel\n", 2, 1, 5, "expected `.amdhsa_…`"),
    (
        ".amdhsa_kernel k\n.amdhsa_next_fre_vgpr 1\n.end_amdhsa_kernel\n",
        2,
        1,
        21,
        "did you mean `.amdhsa_next_free_vgpr`?",
    ),
    (
        ".amdhsa_kernel k\n.amdhsa_next_free_vgpr 1\n.end_amdhsa_kernel\n",
        1,
        1,
        16,
        "`.amdhsa_next_free_sgpr` is missing",
    ),
    (".amdgpu_metadata\nfoo: [\n.end_amdgpu_metadata\n", 2, 6, 0, "metadata:"),
];

#[test]
fn errors_name_the_place_and_the_remedy() {
    for (source, line, column, length, message) in CASES {
        if message.is_empty() {
            // A difference whose second label is in the section of the place is a distance, so this line has no error.
            let all = errors(source);
            assert_eq!(all.list[0].line, 7, "{all}");
            continue;
        }
        let all = errors(source);
        let said = |d: &&Diagnostic| format!("{}; {}", d.message, d.help.as_deref().unwrap_or(""));
        let first = all.list.iter().find(|d| said(d).contains(message));
        let first = first.unwrap_or_else(|| panic!("{source}: {all}"));
        if message != "metadata:" {
            assert_eq!((first.line, first.column, first.length), (line, column, length), "{source}: {all}");
        }
    }
}

#[test]
fn all_errors_of_a_file_are_reported() {
    let all = errors("s_nopp 0\n.bogus\ns_branch nowhere\ns_nop 0\n.byte 300\n");
    // The undefined label is detected only at the end of the file, but its error is third in order of lines.
    let lines: Vec<u32> = all.list.iter().map(|d| d.line).collect();
    assert_eq!((lines, all.more), (vec![1, 2, 3, 5], 0));
    let many = errors(&"s_nopp 0\n".repeat(100));
    assert_eq!((many.list.len(), many.more), (20, 80));
    assert!(many.to_string().ends_with("and 80 more"), "{many}");
}

#[test]
fn a_diagnostic_shows_the_line() {
    let shown = errors("\ts_nop 0\n\tv_mov_b32 v0, v300 ; here\n").to_string();
    assert!(shown.starts_with("f.s:2:16: error: "), "{shown}");
    assert!(shown.contains("v_mov_b32 v0, v300 ; here"), "{shown}");
    assert!(shown.contains("^^^"), "{shown}");
}

#[test]
fn the_target_has_to_be_known() {
    let error = assemble("f.s", "s_nop 0\ns_nop 1\n", &Options::default()).unwrap_err();
    assert_eq!(error.list.len(), 1);
    assert_eq!(error.list[0].message, "the target is not known yet");
    for triple in [
        "amdgcn-amd-amdhsa--gfx942",
        "amdgpu9.42-amd-amdhsa-unknown-gfx942",
        "amdgcn-amd-amdhsa-unknown-gfx942",
    ] {
        let source = format!(".amdgcn_target \"{triple}\"\ns_nop 0\n");
        let assembly = assemble("f.s", &source, &Options::default()).unwrap();
        assert_eq!(assembly.module.target_id.to_string(), "gfx942");
    }
}

#[test]
fn instructions_keep_their_place_and_source_line() {
    let source = "\t.file 1 \"d\" \"k.cl\"\n\ts_nop 0\n/* a\n b */\t.loc 1 7 3\nx:\ty: s_nop 1\n.data\n.text\n\ts_mov_b32 s0, 0x12345\n";
    let options =
        Options { target: Some("gfx90a".parse().unwrap()), keep_instructions: true, ..Options::default() };
    let assembly = assemble("f.s", source, &options).unwrap();
    let all: Vec<_> = assembly
        .instructions
        .iter()
        .map(|i| (i.section.0, i.offset, i.length, i.line, i.location.map(|l| (l.file, l.line, l.column))))
        .collect();
    let at = Some((1, 7, 3));
    assert_eq!(all, [(0, 0, 4, 2, None), (0, 4, 4, 5, at), (0, 8, 8, 8, at)]);
    assert_eq!((assembly.files[0].directory.as_str(), assembly.files[0].name.as_str()), ("d", "k.cl"));
}

#[test]
fn a_link_error_leads_to_its_line() {
    let source = ".globl f\n\ts_nop 0\n\ts_add_u32 s0, s0, f@rel32@lo+4\n";
    let options = Options { target: Some("gfx90a".parse().unwrap()), ..Options::default() };
    let assembly = assemble("f.s", source, &options).unwrap();
    let relocation = assembly.module.sections[0].relocations[0];
    let line = assembly.line_of(gcn_emit::object::SectionId(0), relocation.offset);
    assert_eq!(line.map(|l| l.0), Some(3));
}
