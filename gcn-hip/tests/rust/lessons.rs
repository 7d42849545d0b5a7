//! Runs the lessons on the library; each must give the same result as on gcn-dsl's simulator.

use gcn_dsl::BuildCause;
use gcn_dsl::prelude::*;
use gcn_examples::{TARGETS, lessons};
use gcn_test_support::env::is_full_run;

use crate::{TARGET, devices, file, tests};

/// Runs all lessons in two sizes (in all sizes if `GCN_FUZZ_COUNT` is set). Most results equal the reference bit for bit, here and on the
/// simulator; the others differ from it in the same elements and by the same amounts.
#[test]
fn lessons_give_on_hip_what_they_give_on_the_simulator() {
    let hip = &devices()[0];
    if !TARGETS.contains(&hip.target()) {
        return;
    }
    let (target, simulator) = (hip.target(), Device::simulator(hip.target()));
    let (mut ran, mut exact) = (0, 0);
    for lesson in lessons::ALL {
        let kernel = match lesson.build(target) {
            Err(error) if matches!(error.cause, BuildCause::Target { .. }) => continue,
            built => built.unwrap(),
        };
        let sizes = if is_full_run() { lesson.sizes } else { &lesson.sizes[..2] };
        for &size in sizes {
            let on = |device: &Device| {
                let outcome = (lesson.run)(device, &kernel, size);
                outcome.unwrap_or_else(|error| panic!("{} {size}: {error}", lesson.name)).comparison
            };
            let comparison = on(hip);
            assert!(comparison.agrees(), "{} {size}: {comparison}", lesson.name);
            assert_eq!(comparison, on(&simulator), "{} {size}", lesson.name);
            ran += 1;
            exact += u32::from(comparison.is_exact());
        }
    }
    println!("{target}: {ran} runs, {exact} the reference's bit for bit");
    // All lessons without exponentials are exact.
    assert!(ran > 45 && exact * 4 > ran * 3, "{exact} of {ran}");
}

#[test]
fn the_same_holds_on_gfx90a() {
    if std::env::var_os(TARGET).is_some() {
        return;
    }
    let text = tests(
        TARGET,
        "gfx90a",
        &["--exact", "lessons::lessons_give_on_hip_what_they_give_on_the_simulator", "--nocapture"],
    );
    assert!(text.contains("gfx90a: ") && text.contains("1 passed"), "{text}");
}

/// The lessons' programs run on the device that `GCN_DEVICE` selects; on HIP, only for the device's own target.
#[test]
fn examples_run_on_the_device_that_is_named() {
    const DEVICE: &str = "GCN_DEVICE";
    if std::env::var_os(DEVICE).is_some() {
        let code = gcn_examples::teach_with(&lessons::saxpy::LESSON, std::iter::empty());
        assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
        return;
    }
    let run = |device: &str| {
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", "lessons::examples_run_on_the_device_that_is_named", "--nocapture"]);
        test.env(DEVICE, device).env("GCN_HIP_LIBRARY", file()).env(TARGET, "gfx90a");
        let output = test.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    };
    let (ok, text) = run("hip:0");
    assert!(ok && text.contains("  ran ") && text.contains("gfx90a") && !text.contains("gfx942"), "{text}");
    let (ok, text) = run("simulator");
    assert!(ok && text.contains("gfx90a") && text.contains("gfx942"), "{text}");
    for (wrong, said) in [("gpu", "GCN_DEVICE=gpu names no device"), ("hip:7", "there is no GPU number 7")] {
        let (ok, text) = run(wrong);
        assert!(!ok && text.contains(said), "{text}");
    }
}
