//! Tests programs compiled by clang, with its own start-up code, that run with the library.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gcn_test_support::llvm::tool;

use crate::api::library;

/// The output of a program, and that of the library.
struct Ran {
    success: bool,
    out: String,
    errors: String,
}

/// The targets for which programs are compiled.
const TARGETS: [&str; 6] = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1201"];

/// Compiles a program of `tests/programs` and runs it; `None` if LLVM is not installed.
fn run(name: &str, variables: &[(&str, &str)]) -> Option<Ran> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let (clang, _) = (tool("clang++")?, tool("lld")?);
    // Symbolic links with the names that the linker and the loader look for.
    let number = NUMBER.fetch_add(1, Relaxed);
    let folder = std::env::temp_dir().join(format!("gcn-hip-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for link in ["libamdhip64.so", "libamdhip64.so.7"] {
        std::os::unix::fs::symlink(library(), folder.join(link)).unwrap();
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(format!("{name}.hip"));
    let program = folder.join(name);
    // Compiles to a compressed bundle for several targets, without using any part of ROCm.
    let compiled = Command::new(clang)
        .args(["-x", "hip", "-nogpuinc", "-nogpulib", "-O2", "-g", "--offload-compress"])
        .args(TARGETS.map(|target| format!("--offload-arch={target}")))
        .args(["--hip-link", "-L"])
        .arg(&folder)
        .arg(source)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let mut command = Command::new(&program);
    command.env("LD_LIBRARY_PATH", &folder).envs(variables.iter().copied());
    let out = command.output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Some(Ran { success: out.status.success(), out: text(out.stdout), errors: text(out.stderr) })
}

/// The output that follows from the source: the sums of 4 i + 1 over 1000 elements, two launches, four blocks.
const SUMS: &str = "total 1999000 launches 2 blocks 4\n";

#[test]
fn kernels_constants_and_managed_variables() {
    for target in [""].into_iter().chain(TARGETS) {
        let Some(ran) = run("vector", &[("GCN_HIP_TARGET", target)]) else { return };
        assert_eq!((ran.out.as_str(), ran.errors.as_str()), (SUMS, ""), "{target}");
    }
}

/// A program that compiles its kernel at run time, for the device that it finds.
#[test]
fn a_kernel_is_compiled_for_the_device_while_the_program_runs() {
    for target in TARGETS {
        let Some(clang) = tool("clang++") else { return };
        let clang = clang.to_str().unwrap();
        let Some(ran) = run("rtc", &[("GCN_HIP_TARGET", target), ("GCN_HIP_CLANG", clang)]) else { return };
        let lanes = if target.starts_with("gfx1") { 32 } else { 64 };
        assert_eq!((ran.out, ran.errors), (format!("{target} lanes {lanes} sum 2016\n"), String::new()));
    }
}

#[test]
fn every_mode_gives_the_same_result_and_the_sanitizers_find_nothing() {
    for (name, value) in [("MODE", "strict"), ("MODE", "faithful"), ("TIMED", "1"), ("SANITIZE", "races,lds")]
    {
        for target in ["gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1201"] {
            let variables = [("GCN_HIP_TARGET", target), (&format!("GCN_HIP_{name}"), value)];
            let Some(ran) = run("vector", &variables) else { return };
            assert_eq!((ran.out.as_str(), ran.errors.as_str()), (SUMS, ""), "{target} {name}");
        }
    }
}

#[test]
fn a_target_that_the_program_is_not_for_is_named_with_the_remedy() {
    let Some(ran) = run("vector", &[("GCN_HIP_TARGET", "gfx908")]) else { return };
    assert!(!ran.success && ran.out.contains("hipErrorNoBinaryForGpu"), "{}", ran.out);
    assert!(ran.errors.contains("compile with --offload-arch=gfx908"), "{}", ran.errors);
}

#[test]
fn an_access_out_of_bounds_is_reported_with_kernel_launch_and_line() {
    let Some(ran) = run("beyond", &[]) else { return };
    assert_eq!(ran.out, "launch hipErrorIllegalAddress\nwait hipErrorIllegalAddress\n");
    for part in ["kernel `_Z6beyondPi`, launch 0", "beyond.hip:5", "out of bounds"] {
        assert!(ran.errors.contains(part), "{}", ran.errors);
    }
}

#[test]
fn a_loop_without_end_is_stopped_with_kernel_and_line() {
    let Some(ran) = run("endless", &[("GCN_HIP_LIMIT", "100000")]) else { return };
    assert_eq!(
        ran.out, "launch hipErrorLaunchTimeOut\nwait hipErrorLaunchTimeOut\nthen 7\n",
        "{}",
        ran.errors
    );
    for part in
        ["kernel `_Z7endlessPVi`, launch 0", "endless.hip:5", "exceeds the limit of 100000 instructions"]
    {
        assert!(ran.errors.contains(part), "{}", ran.errors);
    }
}

#[test]
fn the_library_may_be_used_after_main() {
    let Some(ran) = run("late", &[]) else { return };
    assert_eq!(
        (ran.out.as_str(), ran.errors.as_str()),
        ("atexit 7 0\ndestructor 7 0 0 hipErrorInvalidDevice\n", "")
    );
    assert!(ran.success);
}

/// A kernel that faults without sanitizers faults with them as well, and sanitizers stop no other kernel; `gcn run` is told about their
/// findings.
#[test]
fn sanitizers_leave_the_error_as_it_is() {
    let log = std::env::temp_dir().join(format!("gcn-hip-findings-{}", std::process::id()));
    let sanitized = [("GCN_HIP_SANITIZE", "accesses"), ("GCN_HIP_FINDINGS", log.to_str().unwrap())];
    for variables in [&[][..], &sanitized] {
        let Some(ran) = run("finds", variables) else { return };
        assert_eq!(ran.out, "wait hipSuccess\nwait hipErrorIllegalAddress\n", "{}", ran.errors);
    }
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(log).unwrap();
    assert!(text.lines().count() == 2 && text.lines().all(|line| line.contains("out of bounds")), "{text}");
}
