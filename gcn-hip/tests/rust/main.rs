//! Tests gcn-dsl's devices on the library, through the dynamic loader. They must behave as on gcn-dsl's simulator.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(unsafe_code, reason = "a C library is loaded")]

mod lessons;
mod programs;
mod shared;
#[path = "../../../gcn-dsl/tests/memory/streams/mod.rs"]
mod streams;

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use gcn_dsl::Module;
use gcn_dsl::launch::hip::HipLibrary;
use gcn_dsl::prelude::*;

/// Selects the target of the devices, in child processes of these tests.
const TARGET: &str = "GCN_HIP_TARGET";

/// The path at which cargo puts the library under test.
fn file() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().join("libamdhip64.so")
}

fn library() -> &'static HipLibrary {
    static LIBRARY: OnceLock<HipLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // SAFETY: no other thread of this process reads the environment before the library is loaded.
        unsafe { std::env::set_var("GCN_HIP_DEVICES", "2") };
        // SAFETY: the file is a HIP library.
        unsafe { HipLibrary::load_from(&[file().into()]).unwrap() }
    })
}

/// The devices for the tests of buffers and streams.
fn devices() -> Vec<Device> {
    (0..2).map(|ordinal| Device::of_hip(&library().open(ordinal).unwrap())).collect()
}

/// Set in the child process for the test of faults.
const FAULT: &str = "GCN_HIP_TEST_FAULT";

/// The output of tests that run in a child process.
fn tests(variable: &str, value: &str, arguments: &[&str]) -> String {
    let mut tests = Command::new(std::env::current_exe().unwrap());
    let output = tests.args(arguments).env(variable, value).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

/// After a fault, the device accepts no more work from its process.
#[test]
fn faults_of_kernels_are_errors() {
    if std::env::var_os(FAULT).is_some() {
        let device = &devices()[0];
        streams::misuse::faults_are_reported(device);
        assert!(device.zeroed::<u32>(1).is_err());
        return;
    }
    let text = tests(FAULT, "1", &["--exact", "faults_of_kernels_are_errors"]);
    assert!(text.contains("1 passed"), "{text}");
}

/// Runs all tests again for another target.
#[test]
fn the_same_holds_on_an_older_target() {
    if std::env::var_os(TARGET).is_some() {
        return;
    }
    let text = tests(TARGET, "gfx906", &[]);
    assert_eq!(devices()[0].target(), Target::GFX942);
    assert!(text.contains("streams::modules_hold_several_kernels ... ok"), "{text}");
}

/// Launches, events, streams and shared memory on Radeons, where a wave has 32 lanes.
#[test]
fn the_same_holds_on_radeons() {
    if std::env::var_os(TARGET).is_some() {
        return;
    }
    for target in ["gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201"] {
        let text = tests(
            TARGET,
            target,
            &["launches_", "events_", "two_devices", "a_device_", "streams::", "shared::"],
        );
        for name in [
            "launches_with_slices_of_the_host",
            "a_device_is_of_its_target",
            "streams::modules_hold_several_kernels",
        ] {
            assert!(text.contains(&format!("{name} ... ok")), "{target}: {text}");
        }
    }
}

/// `Device::hip` recognises the GPU by the name that HIP reports, and the device has as many multiprocessors as the simulated one.
#[test]
fn a_device_is_of_its_target() {
    let named = std::env::var(TARGET).unwrap_or("gfx942".to_owned());
    for device in devices() {
        assert_eq!(device.target().name(), named);
        let [units, simulated] = [device.properties(), Device::simulator(device.target()).properties()]
            .map(|properties| properties.unwrap().compute_units);
        assert_eq!(units, simulated);
    }
}

gcn_kernel! {
    #[workgroup(256)]
    fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i < y.len() {
            y[i] = a * x[i] + y[i];
        }
    }

    #[workgroup(64)]
    fn spin(n: u32, x: &mut [f32]) {
        let i = global_id().x;
        let mut sum = x[i];
        for _ in 0..n {
            sum = sum * 0.5 + 1.0;
        }
        x[i] = sum;
    }
}

/// The README's snippet prints exactly what it prints on the simulator.
#[test]
fn launches_with_slices_of_the_host() {
    let x: Vec<f32> = (0..1000).map(|i| i as f32 * 0.37).collect();
    let on = |device: &Device| {
        let mut y: Vec<f32> = x.iter().map(|x| 1.0 / (1.0 + x)).collect();
        let stats = saxpy.launch(device, Grid::x(4), (1.7, &x, &mut y)).unwrap();
        assert_eq!(stats.workgroups, 4);
        y.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    for device in devices() {
        assert_eq!(on(&device), on(&Device::simulator(device.target())));
    }
}

#[test]
fn events_have_times() {
    for device in devices() {
        let spinning = device.load(&spin.build(device.target()).unwrap()).unwrap();
        let (stream, mut x) = (device.stream().unwrap(), device.zeroed(64).unwrap());
        let start = stream.record().unwrap();
        stream.launch(&spinning, Grid::x(1), (10_000, &mut x)).unwrap();
        let end = stream.record().unwrap();
        assert!(!end.elapsed_since(&start).unwrap().is_zero());
        assert!(matches!(start.elapsed_since(&end), Err(gcn_dsl::LaunchError::EventOrder)));
        assert_eq!(x.to_vec().unwrap(), [2.0; 64]);
    }
}

/// Two devices of one library: the memory of one cannot be used on the other, and the caller's current device does not change.
#[test]
fn two_devices() {
    let devices = devices();
    let [one, two] = devices.as_slice() else { unreachable!() };
    let x = one.zeroed::<u32>(8).unwrap();
    assert!(matches!(two.stream().unwrap().download(&x), Err(gcn_dsl::LaunchError::OtherDevice { .. })));
    for current in [1, 0] {
        assert_eq!(set_device(current), 0);
        let mut y = [1.0; 4];
        for device in [one, two] {
            let stream = device.stream().unwrap();
            let mut z = device.upload(&[2.0f32; 4]).unwrap();
            saxpy.launch(&stream, Grid::x(1), (1.0, &device.upload(&y).unwrap(), &mut z)).unwrap();
            y.copy_from_slice(&z.to_vec().unwrap());
            assert_eq!(get_device(), current);
        }
        assert_eq!(y, [5.0; 4]);
    }
}

fn set_device(ordinal: i32) -> i32 {
    // SAFETY: the library is loaded already; the type is that of the function.
    unsafe {
        let library = libloading::Library::new(file()).unwrap();
        library.get::<extern "C" fn(i32) -> i32>(b"hipSetDevice").unwrap()(ordinal)
    }
}

fn get_device() -> i32 {
    let mut ordinal = -1;
    // SAFETY: the library is loaded already; the type is that of the function, which writes `ordinal`.
    unsafe {
        let library = libloading::Library::new(file()).unwrap();
        library.get::<unsafe extern "C" fn(*mut i32) -> i32>(b"hipGetDevice").unwrap()(&raw mut ordinal);
    }
    ordinal
}

/// `hipModuleLoadData` loads a module with several kernels, and each can be found by its name.
#[test]
fn modules_are_code_objects_of_hip() {
    let device = library().open(0).unwrap();
    let (saxpys, spins) = (saxpy.build(device.target()).unwrap(), spin.build(device.target()).unwrap());
    let module = Module::new(&[&saxpys, &spins]).unwrap();
    let loaded = device.load_module(module.code_object()).unwrap();
    for name in ["saxpy", "spin"] {
        assert_eq!(loaded.function(name).unwrap().name(), name);
    }
    let error = loaded.function("add").unwrap_err();
    assert_eq!(error.to_string(), "the code object has no kernel `add`; it has saxpy, spin");
}
