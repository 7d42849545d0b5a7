//! Launches from a code object and a spec: the kernarg segment, the initial state, errors, and runs on several threads.

use gcn_emit::asm::{Options as Assemble, assemble};
use gcn_sim::launch::{Arg, Buffer, Element, Error, Init, Number, Prepared, Program, Spec, random_bits};
use gcn_sim::{Options, SimError, with_threads};

/// A code object with one kernel, made of its code, descriptor directives, and the metadata of its arguments.
fn object(target: &str, code: &str, directives: &str, args: &[(&str, u32, u32, &str)]) -> Vec<u8> {
    let bytes = args.iter().map(|a| a.1 + a.2).max().unwrap_or(0);
    let offset =
        if target < "gfx90a" && !target.starts_with("gfx94") { "" } else { ".amdhsa_accum_offset 32" };
    let rows: String = args
        .iter()
        .map(|(name, at, size, kind)| {
            format!("      - {{ .name: {name}, .offset: {at}, .size: {size}, .value_kind: {kind} }}\n")
        })
        .collect();
    let text = format!(
        ".amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\n.amdhsa_code_object_version 5\n.globl k\n.p2align 8\n.type k,@function\nk:\n{code}\ns_endpgm\n.rodata\n.amdhsa_kernel k\n\
         .amdhsa_next_free_vgpr 32\n.amdhsa_next_free_sgpr 32\n{offset}\n.amdhsa_kernarg_size {bytes}\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n{directives}\n\
         .end_amdhsa_kernel\n.amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n  - .name: k\n    .symbol: k.kd\n    .kernarg_segment_size: {bytes}\n\
         \x20   .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n    .sgpr_count: 32\n\
         \x20   .vgpr_count: 32\n    .max_flat_workgroup_size: 1024\n    .args:\n{rows}.end_amdgpu_metadata\n"
    );
    assemble("k.s", &text, &Assemble::default()).unwrap_or_else(|e| panic!("{e}")).code_object().unwrap()
}

/// Lane i copies dword i of the kernarg segment to the buffer in the first argument.
const COPY: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\nglobal_load_dword v2, v1, s[0:1]\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v1, v2, s[4:5]";

fn prepare(object: &[u8], spec: &Spec) -> Result<Prepared, Error> {
    Program::load(object, None)?.prepare(spec, ".".as_ref())
}

fn bytes(launch: &Prepared, name: &str) -> Vec<u8> {
    launch.buffer(name).unwrap().bytes
}

#[test]
fn hidden_arguments_are_what_the_runtime_sets() {
    // The offsets are those of code object V5 after one pointer; the values are those that LLVM's guide specifies.
    let args = [
        ("out", 0, 8, "global_buffer"),
        ("bx", 8, 4, "hidden_block_count_x"),
        ("by", 12, 4, "hidden_block_count_y"),
        ("bz", 16, 4, "hidden_block_count_z"),
        ("gx", 20, 2, "hidden_group_size_x"),
        ("gy", 22, 2, "hidden_group_size_y"),
        ("gz", 24, 2, "hidden_group_size_z"),
        ("rx", 26, 2, "hidden_remainder_x"),
        ("ry", 28, 2, "hidden_remainder_y"),
        ("rz", 30, 2, "hidden_remainder_z"),
        ("ox", 48, 8, "hidden_global_offset_x"),
        ("dims", 72, 2, "hidden_grid_dims"),
        ("heap", 104, 8, "hidden_heap_v1"),
        ("lds", 128, 4, "hidden_dynamic_lds_size"),
        ("private", 200, 4, "hidden_private_base"),
        ("shared", 204, 4, "hidden_shared_base"),
        ("queue", 208, 8, "hidden_queue_ptr"),
        ("end", 252, 4, "by_value"),
    ];
    for target in ["gfx90a", "gfx942", "gfx950"] {
        let object = object(target, COPY, "", &args);
        let mut spec = Spec::new([3, 1, 2], [64, 4, 1]).arg("out", Buffer::zeros(Element::U8, 256)).int(
            "end",
            Element::U32,
            0xabcd,
        );
        spec.dynamic_lds = 512;
        let mut launch = prepare(&object, &spec).unwrap();
        launch.run(&Options::default()).unwrap();
        let out = bytes(&launch, "out");
        let word = |at: usize| u32::from_le_bytes(out[at..at + 4].try_into().unwrap());
        assert_eq!([8, 12, 16].map(word), [3, 1, 2]);
        assert_eq!([20, 24, 28, 32].map(word), [64 | 4 << 16, 1, 0, 0]);
        assert_eq!([48, 52, 72, 104, 108, 128, 208, 252].map(word), [0, 0, 3, 0, 0, 512, 0, 0xabcd]);
        assert!(word(200) != word(204) && word(200) != 0 && word(204) != 0);
    }
}

#[test]
fn preloaded_arguments_are_in_registers() {
    // The prologue of 256 bytes, which only older firmware executes, would store 1. The kernel after it stores what was preloaded: dwords 2
    // and 3, in the SGPRs after the kernarg pointer in s[0:1].
    let code = "s_load_dwordx2 s[6:7], s[0:1], 0x0\ns_mov_b32 s2, 1\ns_mov_b32 s3, 1\ns_branch main\n.p2align 8\nmain:\n\
                s_load_dwordx2 s[6:7], s[0:1], 0x0\nv_mov_b32 v0, 0\nv_mov_b32 v2, s2\nv_mov_b32 v3, s3\nv_mov_b32 v4, s4\ns_waitcnt lgkmcnt(0)\nglobal_store_dwordx3 v0, v[2:4], s[6:7]";
    let preload = ".amdhsa_user_sgpr_kernarg_preload_length 2\n.amdhsa_user_sgpr_kernarg_preload_offset 2\n.amdhsa_system_sgpr_workgroup_id_x 1";
    let args = [("out", 0, 8, "global_buffer"), ("a", 8, 4, "by_value"), ("b", 12, 4, "by_value")];
    let object = object("gfx942", code, preload, &args);
    let spec = Spec::new([1, 1, 1], [64, 1, 1])
        .arg("out", Buffer::zeros(Element::U32, 3))
        .int("a", Element::U32, 77)
        .float("b", Element::F32, 1.5);
    let mut launch = prepare(&object, &spec).unwrap();
    launch.run(&Options::default()).unwrap();
    let out: Vec<_> = launch.buffer("out").unwrap().numbers().collect();
    assert_eq!(out, [77, i128::from(1.5f32.to_bits()), 0].map(Number::Int));
}

#[test]
fn arguments_by_name_position_and_structure() {
    let args = [("out", 0, 8, "global_buffer"), ("s", 8, 24, "by_value"), ("p", 32, 8, "global_buffer")];
    let object = object("gfx942", COPY, "", &args);
    let members = vec![
        (None, Arg::Scalar(Element::U8, Number::Int(7))),
        (None, Arg::Scalar(Element::F32, Number::Float(0.5))),
        (Some(16), Arg::Scalar(Element::F64, Number::Float(-2.0))),
    ];
    let spec = Spec::new([1, 1, 1], [10, 1, 1])
        .arg(0, Buffer::zeros(Element::U8, 40))
        .arg("s", Arg::Struct(members))
        .arg("p", Arg::Same("out".into(), 4));
    let mut launch = prepare(&object, &spec).unwrap();
    launch.run(&Options::default()).unwrap();
    let out = bytes(&launch, "out");
    let expected = [&[7, 0, 0, 0][..], &0.5f32.to_le_bytes(), &[0; 8], &(-2f64).to_le_bytes()].concat();
    assert_eq!(out[8..32], expected);
    let pointer = |at: usize| u64::from_le_bytes(out[at..at + 8].try_into().unwrap());
    assert_eq!(pointer(32), pointer(0) + 4);
}

#[test]
fn what_is_wrong_is_named() {
    let args =
        [("x", 0, 8, "global_buffer"), ("n", 8, 4, "by_value"), ("q", 16, 8, "hidden_hostcall_buffer")];
    let object = object("gfx942", COPY, "", &args);
    let spec = |json: &str| -> String {
        let spec = Spec::from_json(json);
        spec.and_then(|s| prepare(&object, &s).map(|_| ()))
            .map_or_else(|e| e.to_string(), |()| "no error".to_owned())
    };
    let head = r#""grid": [1], "workgroup": [64]"#;
    for (json, expected) in [
        (
            format!("{{{head}}}"),
            "argument `x`: the spec has no value for argument 0; write `\"x\": {\"buffer\": \"f32\", \"count\": N}`, or `\"rest\": \"zero\"`",
        ),
        (
            format!(r#"{{{head}, "args": {{"y": 1}}}}"#),
            "argument `y`: the kernel has no such argument; the arguments are x, n",
        ),
        (
            format!(r#"{{{head}, "args": {{"n": 1}}, "rest": "zero"}}"#),
            "argument `n`: the metadata does not say what type it has; write `{\"i32\": 5}` with the type",
        ),
        (
            format!(r#"{{{head}, "args": {{"n": {{"i64": 1}}}}, "rest": "zero"}}"#),
            "argument `n`: it has 4 bytes, the value has 8; write {\"i32\": …} or {\"u32\": …} or {\"f32\": …}",
        ),
        (
            format!(r#"{{{head}, "args": {{"n": {{"u8": 256}}}}, "rest": "zero"}}"#),
            "argument `n`: 256 is not in the range of u8, 0 to 255; write a value that the type has",
        ),
        (
            format!(r#"{{{head}, "args": {{"x": {{"buffer": "f32"}}}}, "rest": "zero"}}"#),
            "argument `x`: the buffer has no size; write `\"count\": N` or `\"shape\": [N, M]` with its number of elements",
        ),
        (
            format!(r#"{{{head}, "args": {{"x": {{"buffer": "f33", "count": 1}}}}}}"#),
            "argument `x`: there is no type `f33`; the types are i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64; write `\"buffer\": \"f32\"` with the type of its elements",
        ),
        (
            format!(
                r#"{{{head}, "args": {{"x": {{"buffer": "u8", "count": 3, "init": [1, 2]}}}}, "rest": "zero"}}"#
            ),
            "argument `x`: 3 elements are asked for, the values are 2; leave `count` and `shape` out, or make them agree",
        ),
        (
            r#"{"workgroup": [64], "rest": "zero"}"#.to_owned(),
            "spec: there is no grid; write `\"grid\": [X, Y, Z]`, in workgroups, or `\"global\"`, in work-items",
        ),
        (
            r#"{"grid": 4, "rest": "zero", "workgroup": [1025]}"#.to_owned(),
            "spec: a workgroup of 1025 work-items is more than the kernel is compiled for; write `\"workgroup\": [X, Y, Z]` of at most 1024 work-items",
        ),
        (
            r#"{"grids": 4}"#.to_owned(),
            "spec: there is no key `grids`; the keys are kernel, grid, global, workgroup, dynamic_lds, scratch, rest, args, comment",
        ),
    ] {
        assert_eq!(spec(&json), expected, "{json}");
    }
    // The same argument is given twice, by name and by position.
    let twice = Spec::new([1; 3], [64, 1, 1]).int("n", Element::U32, 1).int(1, Element::U32, 1);
    assert_eq!(
        prepare(&object, &twice).unwrap_err().to_string(),
        "argument `1`: it is given twice; leave one out"
    );
}

#[test]
fn addresses_in_errors_are_said_in_terms_of_arguments() {
    let args = [("x", 0, 8, "global_buffer"), ("q", 8, 8, "hidden_hostcall_buffer")];
    let beyond = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v0, s[4:5]";
    let null = "s_load_dwordx2 s[4:5], s[0:1], 0x8\ns_waitcnt lgkmcnt(0)\ns_load_dword s6, s[4:5], 0x10";
    for (code, note) in [
        (beyond, "the address is 0 bytes past the 40 bytes of `x`"),
        (
            null,
            "the address is null or close to it; the simulator sets the hidden arguments hidden_hostcall_buffer to null",
        ),
    ] {
        let object = object("gfx942", code, "", &args);
        let spec = Spec::new([1; 3], [64, 1, 1]).arg("x", Buffer::zeros(Element::U32, 10));
        let error = prepare(&object, &spec).unwrap().run(&Options::default()).unwrap_err();
        let Error::Sim { error, note: Some(found) } = error else { panic!("{error}") };
        assert!(matches!(*error, SimError::OutOfBounds(_)), "{error}");
        assert_eq!(found, note);
    }
}

#[test]
fn an_instruction_that_is_not_reached_is_no_error() {
    // A register beyond the allocation, after a branch that depends on an argument.
    let code = "s_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s4, 0\ns_cbranch_scc1 end\nv_mov_b32 v40, 0\nend:";
    let object = object("gfx942", code, "", &[("n", 0, 4, "by_value")]);
    let program = Program::load(&object, None).unwrap();
    assert_eq!(program.machine().faults().count(), 1);
    for (n, fails) in [(0, false), (1, true)] {
        let spec = Spec::new([1; 3], [64, 1, 1]).int("n", Element::U32, n);
        let result = program.prepare(&spec, ".".as_ref()).unwrap().run(&Options::default());
        assert_eq!(result.is_err(), fails, "{result:?}");
        if let Err(Error::Sim { error, .. }) = result {
            assert!(matches!(*error, SimError::Register { allocated: 32, .. }), "{error}");
        }
    }
}

#[test]
fn generators_give_what_they_say() {
    let object = object("gfx942", COPY, "", &[("x", 0, 8, "global_buffer")]);
    let values = |init: &str, element: &str| -> Vec<String> {
        let json = format!(
            r#"{{"grid": 1, "workgroup": 64, "args": [{{"buffer": "{element}", "count": 4, "init": {init}}}]}}"#
        );
        let launch = prepare(&object, &Spec::from_json(&json).unwrap()).unwrap();
        launch.buffer_at(0).unwrap().numbers().map(|n| n.to_string()).collect()
    };
    assert_eq!(values(r#""ones""#, "f16"), ["1"; 4]);
    assert_eq!(values(r#"{"iota": {"start": 254}}"#, "u8"), ["254", "255", "0", "1"]);
    assert_eq!(values(r#"{"iota": {"start": 1, "step": -0.5}}"#, "bf16"), ["1", "0.5", "0", "-0.5"]);
    assert_eq!(values(r#"[1, "inf", "nan", "0x3c00"]"#, "f16"), ["1", "inf", "NaN", "1"]);
    assert_eq!(values(r#"{"value": -3}"#, "i64"), ["-3"; 4]);
    // SplitMix64: the upper 53 bits are a fraction of the range.
    let expected: Vec<_> = (0..4)
        .map(|i| (2.0 * ((random_bits(9, i) >> 11) as f64 / (1u64 << 53) as f64) - 1.0).to_string())
        .collect();
    assert_eq!(values(r#"{"random": {"seed": 9}}"#, "f64"), expected);
    let within = values(r#"{"random": {"seed": 3, "min": -2, "max": 2}}"#, "i32");
    assert!(within.iter().all(|n| (-2..=2).contains(&n.parse::<i32>().unwrap())), "{within:?}");
}

#[test]
fn files_go_in_and_out() {
    let folder = std::env::temp_dir().join(format!("gcn-sim-launch-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let object = object("gfx942", COPY, "", &[("out", 0, 8, "global_buffer"), ("x", 8, 8, "global_buffer")]);
    let spec = |x: &str| {
        let json = format!(
            r#"{{"grid": 1, "workgroup": 1, "args": {{"out": {{"buffer": "u32", "count": 1}}, "x": {x}}}}}"#
        );
        Spec::from_json(&json).unwrap()
    };
    let program = Program::load(&object, None).unwrap();
    let made = program
        .prepare(&spec(r#"{"buffer": "i16", "shape": [2, 3], "init": "iota"}"#), &folder)
        .unwrap()
        .buffer("x")
        .unwrap();
    for name in ["x.npy", "x.bin"] {
        let path = folder.join(name);
        std::fs::write(&path, made.file(&path)).unwrap();
    }
    let npy = program.prepare(&spec(r#"{"buffer": "i16", "init": {"npy": "x.npy"}}"#), &folder).unwrap();
    assert_eq!(npy.buffer("x").unwrap(), made);
    let raw = program.prepare(&spec(r#"{"buffer": "i16", "init": {"raw": "x.bin"}}"#), &folder).unwrap();
    assert_eq!((raw.buffer("x").unwrap().bytes, raw.buffer("x").unwrap().shape), (made.bytes, vec![6]));
    let wrong =
        program.prepare(&spec(r#"{"buffer": "f32", "init": {"npy": "x.npy"}}"#), &folder).unwrap_err();
    assert!(wrong.to_string().contains("its elements are `<i2`; a buffer of `f32` needs `<f4`"), "{wrong}");
    let none = program.prepare(&spec(r#"{"buffer": "f32", "init": {"raw": "none"}}"#), &folder).unwrap_err();
    assert!(matches!(none, Error::File { ref argument, .. } if argument == "x"), "{none}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Many workgroups on one thread and on several: the same bytes, the same counts, the same first error.
#[test]
fn threads_change_nothing() {
    // Each work-item adds its number to a sum of its workgroup in LDS and stores the sum; from a limit on, the store is out of bounds.
    let code = "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v1, 0\nds_add_u32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v2, v1\n\
                s_lshl_b32 s6, s2, 9\nv_lshlrev_b32 v3, 2, v0\nv_add_u32 v3, s6, v3\ns_waitcnt lgkmcnt(0)\nv_mul_lo_u32 v2, v2, s2\nglobal_store_dword v3, v2, s[4:5]";
    let directives = ".amdhsa_group_segment_fixed_size 16\n.amdhsa_system_sgpr_workgroup_id_x 1";
    let object = object("gfx942", code, directives, &[("x", 0, 8, "global_buffer")]);
    let program = Program::load(&object, None).unwrap();
    assert!(!program.machine().depends_on_order());
    let run = |groups: u64, threads: usize| {
        let spec = Spec::new([300, 1, 1], [128, 1, 1]).arg("x", Buffer::zeros(Element::U32, groups * 128));
        let mut launch = program.prepare(&spec, ".".as_ref()).unwrap();
        let options = Options { parallel: threads > 1, ..Options::default() };
        let stats = with_threads(Some(threads), || launch.run(&options));
        (stats.map_err(|e| e.to_string()), bytes(&launch, "x"))
    };
    let (stats, out) = run(300, 1);
    let stats = stats.unwrap();
    assert_eq!((stats.waves, stats.wave_instructions), (600, 600 * 13));
    let word = |at: usize| u32::from_le_bytes(out[4 * at..4 * at + 4].try_into().unwrap());
    assert!((0..300 * 128).all(|i| word(i) == 127 * 128 / 2 * (i as u32 / 128)));
    let failed = run(250, 1).0.unwrap_err();
    assert!(failed.contains("workgroup 250,0,0"), "{failed}");
    for threads in [2, 3, 8] {
        for _ in 0..3 {
            assert_eq!(run(300, threads), (Ok(stats.clone()), out.clone()));
            assert_eq!(run(250, threads).0, Err(failed.clone()));
        }
    }
}

#[test]
fn a_random_buffer_of_a_library_caller() {
    let init = Init::Random { seed: 1, min: Number::Int(-1), max: Number::Int(1) };
    let buffer = Buffer { init, ..Buffer::zeros(Element::F32, 100) };
    let object = object("gfx942", COPY, "", &[("x", 0, 8, "global_buffer")]);
    let launch = prepare(&object, &Spec::new([1; 3], [2, 1, 1]).arg("x", buffer)).unwrap();
    let values: Vec<f64> =
        launch.buffer("x").unwrap().numbers().map(|n| n.to_string().parse().unwrap()).collect();
    assert!(values.iter().all(|v| (-1.0..=1.0).contains(v)) && values.iter().any(|v| *v < -0.5));
}
