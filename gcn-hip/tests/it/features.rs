//! Tests features that HIP programs use, one program for each: `tests/programs/sdk`, compiled against AMD's headers.
//!
//! As in [`programs`](crate::programs), `GCN_HIP_SDK` is the folder with the headers and device libraries. Each program checks itself and
//! prints `PASS`, or its output must equal the file of the same name with the extension `.expected`.

use std::path::Path;
use std::process::Command;

use gcn_test_support::{llvm::tool, skipped};

use crate::api::library;
use crate::programs::{Compiler, TARGETS};

/// Targets whose waves have 32 lanes, and the programs that fail there because they assume 64 lanes or the LDS size of CDNA.
const RADEONS: [&str; 4] = ["gfx1030", "gfx1100", "gfx1151", "gfx1201"];
const NOT_FOR_RADEONS: [&str; 3] = ["cooperative", "launches", "shuffles"];

#[test]
fn programs_find_what_they_use() {
    let (Some(sdk), Some(clang)) = (std::env::var_os("GCN_HIP_SDK"), tool("clang++")) else {
        skipped("GCN_HIP_SDK is not set", "set GCN_HIP_SDK (docs/hip.md)");
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/sdk");
    // Debian's device libraries support targets up to RDNA 2 only.
    let library_of = |target: &str| format!("bc/oclc_isa_version_{}.bc", target.trim_start_matches("gfx"));
    let (radeons, without): (Vec<_>, Vec<_>) =
        RADEONS.into_iter().partition(|target| Path::new(&sdk).join(library_of(target)).exists());
    if !without.is_empty() {
        skipped(
            &format!("no device library for {}", without.join(", ")),
            "have them in GCN_HIP_SDK (docs/hip.md)",
        );
    }
    let work = std::env::temp_dir().join(format!("gcn-hip-features-{}", std::process::id()));
    std::fs::create_dir_all(&work).unwrap();
    std::os::unix::fs::symlink(library(), work.join("libamdhip64.so.7")).unwrap();
    let mut sources: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "hip"));
    sources.sort();
    let mut wrong = Vec::new();
    for source in sources {
        let name = source.file_stem().unwrap().to_str().unwrap();
        let expected = std::fs::read_to_string(source.with_extension("expected")).ok();
        let radeons = (!NOT_FOR_RADEONS.contains(&name)).then_some((&radeons[..], 32));
        for (targets, lanes) in [(&TARGETS[..], 64)].into_iter().chain(radeons) {
            let program = work.join(format!("{name}.{lanes}"));
            let compiler = Compiler { clang: &clang, sdk: sdk.as_ref(), targets, lanes };
            compiler.run(&folder, &[source.to_str().unwrap()], &[], &program).unwrap();
            for target in targets {
                let mut command = Command::new(&program);
                command.env("LD_LIBRARY_PATH", &work).env("GCN_HIP_TARGET", target);
                // For programs that compile kernels at run time.
                command.env("GCN_HIP_CLANG", &clang).env("ROCM_PATH", &sdk);
                command.env("HIP_DEVICE_LIB_PATH", Path::new(&sdk).join("bc"));
                // Two devices, and a low limit, so that an endless kernel ends soon.
                let out =
                    command.env("GCN_HIP_DEVICES", "2").env("GCN_HIP_LIMIT", "3000000").output().unwrap();
                let text = String::from_utf8_lossy(&out.stdout);
                let right = expected.as_ref().map_or(text.ends_with("PASS\n"), |expected| text == *expected);
                if !right || !out.status.success() {
                    wrong.push(format!("{name} on {target}: {text}{}", String::from_utf8_lossy(&out.stderr)));
                }
            }
        }
    }
    std::fs::remove_dir_all(&work).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
