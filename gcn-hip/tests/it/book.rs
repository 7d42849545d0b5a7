//! Runs the programs of the book's chapter on launching, in C++ and Python, with the library.

use std::path::{Path, PathBuf};
use std::process::Command;

use gcn_dsl::prelude::*;
use gcn_test_support::{llvm::tool, skip::has_program};

use crate::api::library;

gcn_kernel! {
    #[workgroup(256)]
    fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i < y.len() {
            y[i] = a * x[i] + y[i];
        }
    }
}

/// The declarations of HIP's header that the program needs, so that the test does not depend on ROCm.
const HEADER: &str = "#pragma once
#include <cstddef>
typedef int hipError_t;
typedef struct M *hipModule_t;
typedef struct F *hipFunction_t;
enum { hipSuccess, hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2 };
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
#define HIP_LAUNCH_PARAM_END ((void *)3)
extern \"C\" {
const char *hipGetErrorString(hipError_t);
hipError_t hipMalloc(void **, size_t);
hipError_t hipMemcpy(void *, const void *, size_t, int);
hipError_t hipModuleLoad(hipModule_t *, const char *);
hipError_t hipModuleGetFunction(hipFunction_t *, hipModule_t, const char *);
hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 void *, void **, void **);
}
";

/// A folder in which programs run, with the library and the kernel's code object.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("gcn-hip-book-{name}-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("hip")).unwrap();
        for link in ["libamdhip64.so", "libamdhip64.so.7"] {
            std::os::unix::fs::symlink(library(), folder.join(link)).unwrap();
        }
        let kernel = saxpy.build(Target::GFX942).unwrap();
        std::fs::write(folder.join("saxpy.hsaco"), kernel.code_object()).unwrap();
        std::fs::write(folder.join("hip/hip_runtime.h"), HEADER).unwrap();
        Folder(folder)
    }

    /// The output of a program.
    fn run(&self, command: &mut Command) -> String {
        let command = command.current_dir(&self.0).env("LD_LIBRARY_PATH", &self.0);
        let run = command.env("GCN_HIP_TARGET", "gfx942").output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn listing(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/listings/launch").join(name)
}

#[test]
fn the_program_in_cpp_is_right() {
    let (Some(clang), Some(_)) = (tool("clang++"), tool("lld")) else { return };
    let folder = Folder::new("cpp");
    let mut compiler = Command::new(clang);
    compiler
        .args(["-std=c++17", "-O1", "-I.", "-L.", "-o", "saxpy"])
        .arg(listing("saxpy.cpp"))
        .arg("-lamdhip64");
    folder.run(&mut compiler);
    assert_eq!(folder.run(&mut Command::new(folder.0.join("saxpy"))), "right\n");
}

#[test]
fn the_program_in_python_is_right() {
    if !has_program("python3") {
        return;
    }
    let folder = Folder::new("python");
    assert_eq!(folder.run(Command::new("python3").arg(listing("saxpy.py"))), "right\n");
}
