//! Lessons with debug information: LLVM finds no error in it, and the machine code is the same as without.

use std::time::Instant;

use gcn_dsl::{BuildCause, BuildOptions};
use gcn_test_support::env::is_thorough;

use crate::llvm;

/// With `--nocapture` the test also prints the cost of debug information: the bytes of all objects and the seconds of
/// all builds, without and with it.
#[test]
fn lessons_with_source_lines_verify_on_every_target() {
    let verifier = llvm::tool("llvm-dwarfdump");
    let folder = llvm::Scratch::new();
    let path = folder.file("lesson.hsaco");
    let mut built = 0;
    let (mut bytes, mut seconds) = ([0, 0], [0.0, 0.0]);
    for (lesson, target) in crate::lessons_on_targets() {
        let what = format!("{} on {target}", lesson.name);
        let mut code = Vec::new();
        for source_lines in [false, true] {
            let start = Instant::now();
            let kernel = match (lesson.build_with)(
                target,
                &BuildOptions { source_lines, ..BuildOptions::default() },
            ) {
                Ok(kernel) => kernel,
                Err(e) if matches!(e.cause, BuildCause::Target { .. }) => continue,
                Err(e) => panic!("{what}: {e}"),
            };
            seconds[usize::from(source_lines)] += start.elapsed().as_secs_f64();
            bytes[usize::from(source_lines)] += kernel.code_object().len();
            code.push(kernel.code().to_vec());
            if let (true, Some(verifier)) = (source_lines, &verifier) {
                std::fs::write(&path, kernel.code_object()).unwrap();
                llvm::run(verifier, &["--verify"], &[&path]);
                built += 1;
            }
        }
        assert!(code.windows(2).all(|c| c[0] == c[1]), "{what}: debug information changes the code");
    }
    println!("{built} objects: {bytes:?} bytes, built in {seconds:.2?} s");
    assert!(verifier.is_none() || built > if is_thorough() { 25 } else { 8 }, "{built}");
}
