//! Specs: what they may contain, which errors are reported, and the template for a kernel.

use gcn_emit::asm::{Options as AsmOptions, assemble};
use gcn_sim::launch::{Error, Prepared, Program, Spec};
use gcn_sim::{LaunchError, Options, SimError, Space, timed};

/// A kernel for one wave with this code and these arguments (given as metadata), whose kernarg pointer is in `s[0:1]`.
fn program(args: &[&str], kernarg_bytes: u32, private_bytes: u32, code: &str) -> Program {
    let args: String = args.iter().map(|a| format!("      - {{ {a} }}\n")).collect();
    let text = format!(
        r#".amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.text
.globl k
.p2align 8
.type k,@function
k:
{code}
  s_endpgm
.size k, .-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 32
  .amdhsa_accum_offset 16
  .amdhsa_kernarg_size {kernarg_bytes}
  .amdhsa_private_segment_fixed_size {private_bytes}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: {kernarg_bytes}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: {private_bytes}
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 16
    .max_flat_workgroup_size: 128
    .args:
{args}.end_amdgpu_metadata
"#
    );
    let assembly = assemble("k.s", &text, &AsmOptions::default());
    let object = assembly.unwrap_or_else(|e| panic!("{}", e.render(false))).code_object().unwrap();
    Program::load(&object, None).unwrap()
}

const X: &str = ".name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global";
const X_LEN: &str = ".name: x.len, .offset: 8, .size: 4, .value_kind: by_value, .type_name: u32";
const OUT: &str = ".name: out, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global";
const N: &str = ".name: n, .offset: 24, .size: 4, .value_kind: by_value";

/// A kernel that stores the length of the slice `x` to `out[0]`.
fn length() -> Program {
    let code = "s_load_dword s4, s[0:1], 0x8\ns_load_dwordx2 s[6:7], s[0:1], 0x10\ns_waitcnt lgkmcnt(0)\n\
                v_mov_b32 v0, 0\nv_mov_b32 v1, s4\nglobal_store_dword v0, v1, s[6:7]";
    program(&[X, X_LEN, OUT, N], 28, 0, code)
}

/// Prepares the kernel with `args` as the arguments of a spec; or the error.
fn prepare(program: &Program, args: &str) -> Result<Prepared, Error> {
    let text = format!(r#"{{"grid": 1, "workgroup": 64, "args": {args}}}"#);
    program.prepare(&Spec::from_json(&text)?, ".".as_ref())
}

fn problem(program: &Program, args: &str) -> String {
    prepare(program, args).err().map_or_else(|| panic!("{args} is accepted"), |e| e.to_string())
}

fn word(prepared: &Prepared, name: &str) -> u32 {
    let bytes = prepared.buffer(name).unwrap().bytes;
    u32::from_le_bytes(bytes[..4].try_into().unwrap())
}

/// If the length were 0, the slice would be empty and the kernel would silently do nothing.
#[test]
fn the_length_of_a_slice_is_that_of_its_buffer() {
    let program = length();
    let args = |len: &str| {
        format!(
            r#"{{"x": {{"buffer": "f64", "shape": [7, 11]}}, {len} "out": {{"buffer": "u32", "count": 1}}, "n": {{"i32": 1}}}}"#
        )
    };
    for (len, expected) in [
        ("", 77),
        (r#""x.len": {"count": "x"},"#, 77),
        (r#""x.len": {"count": 2},"#, 1),
        (r#""x.len": {"u32": 5},"#, 5),
    ] {
        let mut prepared = prepare(&program, &args(len)).unwrap();
        prepared.run(&Options::strict()).unwrap();
        assert_eq!(word(&prepared, "out"), expected, "{len}");
    }
    let nothing = problem(&program, &args(r#""x.len": {"count": "n"},"#));
    assert!(nothing.contains("`n` has no buffer"), "{nothing}");
}

/// In the metadata a structure is an array of bytes; here 144 bytes are the blocks of a quantised matrix.
#[test]
fn the_length_of_a_slice_of_structures_counts_structures() {
    let code = "s_load_dword s4, s[0:1], 0x8\ns_load_dwordx2 s[6:7], s[0:1], 0x10\ns_waitcnt lgkmcnt(0)\n\
                v_mov_b32 v0, 0\nv_mov_b32 v1, s4\nglobal_store_dword v0, v1, s[6:7]";
    let arg = |ty: &str| format!("{X}, .type_name: '{ty}'");
    for (ty, bytes) in
        [("&[[u8; 144]]", 144), ("&mut [[f32; 3]]", 12), ("*const [u8; 16]", 16), ("&[f16]", 2)]
    {
        let program = program(&[&arg(ty), X_LEN, OUT, N], 28, 0, code);
        // By default a buffer has as many elements as the workgroup has work-items.
        let mut prepared =
            program.prepare(&Spec::from_json(&program.template()).unwrap(), ".".as_ref()).unwrap();
        prepared.run(&Options::strict()).unwrap();
        assert_eq!(word(&prepared, "out"), 128, "{ty}");
        if bytes != 2 {
            let args = format!(
                r#"{{"x": {{"buffer": "u8", "count": {}}}, "out": {{"buffer": "u32", "count": 1}}, "n": {{"i32": 1}}}}"#,
                5 * bytes
            );
            let mut prepared = prepare(&program, &args).unwrap();
            prepared.run(&Options::strict()).unwrap();
            assert_eq!(word(&prepared, "out"), 5, "{ty}");
        }
    }
}

#[test]
fn the_template_runs_as_it_is() {
    let program = length();
    let template = program.template();
    for part in
        [r#""workgroup": [128, 1, 1]"#, r#""x.len": {"count":"x"}"#, r#""x": {"buffer": "f32", "count": 128"#]
    {
        assert!(template.contains(part), "{template}");
    }
    assert!(!template.contains("dynamic_lds"), "{template}");
    let marked = Spec::from_json(&format!("\u{feff}{template}")).unwrap();
    assert_eq!(marked, Spec::from_json(&template).unwrap(), "a byte order mark says nothing");
    let mut prepared = program.prepare(&marked, ".".as_ref()).unwrap();
    prepared.run(&Options::strict()).unwrap();
    // The template's buffer has type f32; the kernel stores an integer.
    assert_eq!(word(&prepared, "out"), 128);
}

/// LDS that the code uses although the descriptor allocates none is provided by the launch; so is LDS to which an argument refers.
#[test]
fn the_template_names_dynamic_lds() {
    let named =
        |args: &[&str], code: &str| program(args, 32, 0, code).template().contains("\"dynamic_lds\": 0");
    assert!(named(&[], "v_mov_b32 v0, 0\nds_write_b32 v0, v0"));
    assert!(named(&[".offset: 0, .size: 4, .value_kind: hidden_dynamic_lds_size"], ""));
    // A permutation of lanes is an LDS instruction that needs no LDS.
    assert!(!named(&[], "v_mov_b32 v0, 0\nds_bpermute_b32 v1, v0, v0") && !named(&[], "v_mov_b32 v0, 0"));
}

/// A kernel that Triton compiled, according to the producer in its debug information: the pointers that Triton's launcher appends are null.
#[test]
fn the_template_knows_what_triton_adds() {
    let pointer =
        |at: u32| format!(".offset: {at}, .size: 8, .value_kind: global_buffer, .address_space: global");
    let args = [0, 8, 16, 24].map(pointer);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let end = "s_endpgm\n.section .debug_str,\"MS\",@progbits,1\n.asciz \"triton\"\n.text\ns_nop 0";
    let template = program(&args, 32, 0, end).template();
    for part in [r#""1": {"buffer""#, "\"2\": null", "\"3\": null"] {
        assert!(template.contains(part), "{template}");
    }
    assert!(!program(&args, 32, 0, "").template().contains("null"));
}

#[test]
fn buffers_hold_pointers_to_others() {
    // out[0] = *x[1], where x is an array of pointers.
    let code = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_load_dwordx2 s[6:7], s[0:1], 0x10\ns_waitcnt lgkmcnt(0)\n\
                s_load_dwordx2 s[4:5], s[4:5], 0x8\ns_waitcnt lgkmcnt(0)\ns_load_dword s8, s[4:5], 0x4\ns_waitcnt lgkmcnt(0)\n\
                v_mov_b32 v0, 0\nv_mov_b32 v1, s8\nglobal_store_dword v0, v1, s[6:7]";
    let program = program(&[X, X_LEN, OUT, N], 28, 0, code);
    let run = |elements: &str| {
        let args = format!(
            r#"{{"x": {{"buffer": "u64", "init": {elements}}}, "out": {{"buffer": "u32", "init": [3, 4, 5]}}, "n": {{"i32": 0}}}}"#
        );
        let mut prepared = prepare(&program, &args).unwrap_or_else(|e| panic!("{e}"));
        prepared.run(&Options::strict()).unwrap();
        word(&prepared, "out")
    };
    assert_eq!(run(r#"[null, {"same": "out"}]"#), 4);
    assert_eq!(run(r#"[0, {"same": "out", "offset": 4}, null]"#), 5);
    assert_eq!(run(r#"[{"same": "x"}, {"buffer": "u32", "init": [8, 9]}]"#), 9);
    let wrong = |x: &str| problem(&program, &format!(r#"{{"x": {x}, "out": null, "n": {{"i32": 0}}}}"#));
    let narrow = wrong(r#"{"buffer": "u32", "init": [{"same": "x"}]}"#);
    assert!(narrow.contains("a pointer has 8 bytes"), "{narrow}");
    let unknown = wrong(r#"{"buffer": "u64", "init": [{"same": "y"}]}"#);
    assert!(unknown.contains("argument `x[0]`: `y` has no buffer"), "{unknown}");
}

#[test]
fn what_a_spec_cannot_mean_is_refused() {
    let program = length();
    let with = |x: &str| {
        format!(r#"{{"x": {x}, "x.len": 1, "out": {{"buffer": "u32", "count": 4}}, "n": {{"i32": 1}}}}"#)
    };
    for (x, why) in [
        (r#"{"buffer": "f32", "count": 1, "count": 2}"#, "the key `count` is there twice"),
        (
            r#"{"buffer": "f32", "count": 8, "init": {"random": {"min": "nan"}}}"#,
            "no range from `min` NaN to `max` 1",
        ),
        (
            r#"{"buffer": "f32", "count": 8, "init": {"random": {"max": "inf"}}}"#,
            "no range from `min` -1 to `max` inf",
        ),
        (
            r#"{"buffer": "f32", "count": 8, "init": {"random": {"min": 2}}}"#,
            "no range from `min` 2 to `max` 1",
        ),
        (r#"{"buffer": "i32", "count": 8, "init": {"random": {"min": "nan"}}}"#, "NaN is not an integer"),
        (r#"{"buffer": "i32", "count": 8, "init": {"iota": {"step": 0.5}}}"#, "0.5 is not an integer"),
        (
            r#"{"same": "out", "offset": 18446744073709551615}"#,
            "`offset` 18446744073709551615 is past the 16 bytes of `out`",
        ),
        (r#"{"same": "out", "offset": 17}"#, "`offset` 17 is past the 16 bytes of `out`"),
        (r#"{"same": "out", "offset": -1}"#, "`offset` is not a number of bytes from 0"),
        (r#"{"bytes": ""}"#, "`bytes` is empty"),
        (r#"{"buffer": "f32", "shape": [100000, 1000000]}"#, "more than 64 GiB"),
    ] {
        let error = problem(&program, &with(x));
        assert!(error.contains(why), "{x}: {error}");
    }
    assert!(prepare(&program, &with(r#"{"same": "out", "offset": 16}"#)).is_ok(), "the end of a buffer");
    let twice = Spec::from_json(r#"{"grid": 1, "grid": 2}"#).unwrap_err().to_string();
    assert!(twice.contains("the key `grid` is there twice; leave one out at line 1"), "{twice}");
}

/// The limit is that of LLVM 22, which reports for a larger frame: "stack frame size (140004) exceeds limit (131056)", on every target.
#[test]
fn scratch_is_limited_as_on_hardware() {
    let error_of = |private_bytes: u32, scratch: Option<u32>, code: &str| {
        let spec = Spec { scratch, ..Spec::new([1; 3], [64, 1, 1]) };
        let mut prepared = program(&[], 0, private_bytes, code).prepare(&spec, ".".as_ref()).unwrap();
        let runs = [
            prepared.run(&Options::default()).err(),
            prepared.run(&Options { parallel: true, ..Options::strict() }).err(),
            prepared.run_timed(&timed::Config::default()).err(),
        ];
        let [one, two, timed] = runs.map(|error| match error? {
            Error::Sim { error, .. } => Some(*error),
            other => panic!("{other}"),
        });
        assert!(one == two && one == timed, "{one:?} {two:?} {timed:?}");
        one
    };
    let error = |private_bytes, scratch| error_of(private_bytes, scratch, "");
    assert_eq!(error(131_056, None), None);
    assert_eq!(error(16, Some(131_056)), None);
    for (asked, private_bytes, scratch) in [
        (131_060, 131_060, None),
        (131_057, 0, Some(131_057)),
        (u32::MAX, 0, Some(u32::MAX)),
        (u32::MAX - 3, u32::MAX - 3, None),
    ] {
        let expected = LaunchError::Scratch { asked, available: 131_056 };
        assert_eq!(error(private_bytes, scratch), Some(SimError::Launch(expected)));
    }
    assert_eq!(error_of(64, None, "scratch_store_dword off, v0, off offset:60"), None);
    match error_of(64, None, "scratch_store_dword off, v0, off offset:61") {
        Some(SimError::OutOfBounds(oob)) => assert_eq!((oob.space, oob.address), (Space::Scratch, 61)),
        other => panic!("{other:?}"),
    }
}

/// Timed mode allocates the scratch memory of all resident workgroups at once.
#[test]
fn scratch_that_this_machine_has_no_memory_for_is_refused() {
    let spec = Spec { scratch: Some(131_056), ..Spec::new([1 << 24, 1, 1], [128, 1, 1]) };
    let mut prepared = program(&[], 0, 0, "").prepare(&spec, ".".as_ref()).unwrap();
    let config = timed::Config { cus: Some(1 << 20), simulated_cus: 1 << 20, ..timed::Config::default() };
    let error = prepared.run_timed(&config).unwrap_err().to_string();
    assert!(error.contains("which this machine does not have"), "{error}");
}
