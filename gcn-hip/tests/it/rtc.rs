//! Tests kernels compiled at run time with clang alone, without any part of ROCm.

use std::ffi::{CStr, CString};

use gcn_test_support::llvm::tool;

use crate::api::{P, device, get, hip, ok};
use crate::fuzz::invoke;
use crate::kernels::{add, buffer, function, words};

/// Arrays of C strings in the form that C functions take.
fn strings(texts: &[&str]) -> (Vec<CString>, Vec<P>) {
    let owned: Vec<_> = texts.iter().map(|text| CString::new(*text).unwrap()).collect();
    let places = owned.iter().map(|text| text.as_ptr() as P).collect();
    (owned, places)
}

/// An `hiprtc` program with a header, and the options that make it independent of ROCm.
fn program(source: &str) -> P {
    let (_source, places) = strings(&[source, "kernels.cu"]);
    let (_header, headers) = strings(&["#define KERNEL extern \"C\" __attribute__((global))"]);
    let (_name, names) = strings(&["gpu/kernel.h"]);
    get(|place| {
        let arguments = [place, places[0], places[1], 1, headers.as_ptr() as P, names.as_ptr() as P];
        invoke("hiprtcCreateProgram", &arguments)
    })
}

fn compile(program: P, options: &[&str]) -> u32 {
    let (_options, places) = strings(&[&["-nogpuinc", "-nogpulib"], options].concat());
    invoke("hiprtcCompileProgram", &[program, places.len(), places.as_ptr() as P])
}

fn log(program: P) -> String {
    let size: usize = get(|place| invoke("hiprtcGetProgramLogSize", &[program, place]));
    let mut text = vec![0u8; size + 1];
    ok(invoke("hiprtcGetProgramLog", &[program, text.as_mut_ptr() as P]));
    CStr::from_bytes_until_nul(&text).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_kernel_is_compiled_and_run() {
    let (Some(_), Some(_)) = (tool("clang++"), tool("lld")) else { return };
    let _device = device();
    let program = program(
        "#include <gpu/kernel.h>\nKERNEL void add(int *p, int n) { p[__builtin_amdgcn_workitem_id_x()] += n * BY; }\n",
    );
    assert_eq!(compile(program, &["-DBY=3", "--gpu-architecture=gfx942"]), 0, "{}", log(program));
    let size: usize = get(|place| invoke("hiprtcGetCodeSize", &[program, place]));
    let code = vec![0u8; size];
    ok(invoke("hiprtcGetCode", &[program, code.as_ptr() as P]));
    ok(invoke("hiprtcDestroyProgram", &[(&raw const program) as P]));
    let module: P = get(|place| hip::hipModuleLoadData(place, code.as_ptr() as P));
    let at = buffer(&[5; 64]);
    ok(add(function(module, "add"), at, 4, 0));
    assert_eq!(words(at, 64), [17; 64]);
    ok(hip::hipModuleUnload(module));
}

/// A kernel in one program calls a function of another. Their bitcode is linked, with an option for the compiler.
#[test]
fn bitcode_is_linked() {
    const BITCODE: usize = 100;
    let (Some(_), Some(_)) = (tool("clang++"), tool("lld")) else { return };
    let _device = device();
    let sources = [
        "__attribute__((device)) int twice(int n);\n#include <gpu/kernel.h>\n\
         KERNEL void add(int *p, int n) { p[__builtin_amdgcn_workitem_id_x()] += twice(n); }\n",
        "__attribute__((device)) int twice(int n) { return 2 * n; }\n",
    ];
    let link: P = {
        let (_texts, options) = strings(&["-mllvm", "-inline-threshold=1"]);
        let (keys, values) = ([10_000u32, 10_001], [options.as_ptr() as P, 2]);
        let arguments = [2, keys.as_ptr() as P, values.as_ptr() as P];
        get(|place| invoke("hiprtcLinkCreate", &[&arguments[..], &[place]].concat()))
    };
    for source in sources {
        let program = program(source);
        let mut size = 0usize;
        let place = &raw mut size as P;
        assert_eq!(invoke("hiprtcGetBitcodeSize", &[program, place]), 4, "not compiled");
        assert_eq!(compile(program, &["-fgpu-rdc", "--gpu-architecture=gfx942"]), 0, "{}", log(program));
        assert_eq!(invoke("hiprtcGetBitcodeSize", &[program, 0]), 3);
        ok(invoke("hiprtcGetBitcodeSize", &[program, place]));
        let code = vec![0u8; size];
        ok(invoke("hiprtcGetBitcode", &[program, code.as_ptr() as P]));
        let data = [link, BITCODE, code.as_ptr() as P, size, 0, 0, 0, 0];
        ok(invoke("hiprtcLinkAddData", &data));
        assert_eq!(invoke("hiprtcLinkAddData", &[link, 0, data[2], size, 0, 0, 0, 0]), 3, "no bitcode");
        ok(invoke("hiprtcDestroyProgram", &[(&raw const program) as P]));
    }
    let (_path, paths) = strings(&["nowhere.bc"]);
    assert_eq!(invoke("hiprtcLinkAddFile", &[link, BITCODE, paths[0], 0, 0, 0]), 2);
    let (mut linked, mut size) = (0 as P, 0usize);
    ok(invoke("hiprtcLinkComplete", &[link, &raw mut linked as P, &raw mut size as P]));
    let module: P = get(|place| hip::hipModuleLoadData(place, linked));
    let at = buffer(&[5; 64]);
    ok(add(function(module, "add"), at, 4, 0));
    assert_eq!(words(at, 64), [13; 64]);
    ok(hip::hipModuleUnload(module));
    ok(invoke("hiprtcLinkDestroy", &[link]));
    assert_eq!(invoke("hiprtcLinkDestroy", &[link]), 3);
}

/// The expected codes are those of `hiprtcResult`: invalid input 3, invalid program 4, compilation 6.
#[test]
fn what_cannot_be_compiled_is_said() {
    let (Some(_), Some(_)) = (tool("clang++"), tool("lld")) else { return };
    let broken = program("\nint f() { return nothing; }\n");
    assert_eq!(compile(broken, &[]), 6);
    assert!(log(broken).contains("kernels.cu:2:18: error: use of undeclared identifier 'nothing'"));
    assert_eq!(compile(broken, &["--gpu-architecture=gfx7"]), 6);
    assert_eq!(invoke("hiprtcCompileProgram", &[77, 0, 0]), 4);
    let (_strings, places) = strings(&["", "../escapes.h"]);
    let outside: P = get(|place| {
        let arguments = [place, places[0], 0, 1, places.as_ptr() as P, places[1..].as_ptr() as P];
        invoke("hiprtcCreateProgram", &arguments)
    });
    assert_eq!(compile(outside, &[]), 3);
    for program in [broken, outside] {
        ok(invoke("hiprtcDestroyProgram", &[(&raw const program) as P]));
        assert_eq!(invoke("hiprtcDestroyProgram", &[(&raw const program) as P]), 4);
    }
}
