//! The HIP loader: with a library that does not exist, one that is not HIP, a fake without a GPU, and the real one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use gcn_dsl::launch::hip::{HipDevice, HipError, HipFunction, HipLibrary};
use gcn_dsl::prelude::*;
use gcn_emit::kernel::{KernelSpec, UserSgprs, WorkgroupSize};
use gcn_emit::metadata::KernelArg;
use gcn_emit::object::write_code_object;
use gcn_emit::text::parse_program;
use gcn_test_support::skipped;

#[allow(unsafe_code, reason = "the names are those of no library, of libc, and of the stand-in")]
fn load_from(names: &[OsString]) -> Result<HipLibrary, HipError> {
    // SAFETY: libc's initialisers have run already, and the fake library has the signatures of HIP.
    unsafe { HipLibrary::load_from(names) }
}

#[allow(unsafe_code, reason = "the arguments are those of the kernel `record`")]
fn launch(
    device: &HipDevice,
    kernel: &HipFunction,
    grid: [u32; 3],
    workgroup: [u32; 3],
    dynamic_lds: u32,
    kernarg: &[u8],
) -> Result<(), HipError> {
    // SAFETY: the address in the arguments is that of a sufficiently large buffer, or the launch is rejected.
    unsafe { device.launch(kernel, grid, workgroup, dynamic_lds, kernarg) }
}

#[test]
fn a_missing_library_names_what_was_tried_and_the_remedy() {
    let names = ["libnot-hip.so", "/nowhere/libnot-hip.so.6"].map(OsString::from);
    let error = load_from(&names).unwrap_err();
    let HipError::LibraryNotFound { tried } = &error else { panic!("{error}") };
    assert_eq!(
        tried.iter().map(|t| t.0.as_str()).collect::<Vec<_>>(),
        ["libnot-hip.so", "/nowhere/libnot-hip.so.6"]
    );
    let text = error.to_string();
    for part in ["libnot-hip.so (", "/nowhere/libnot-hip.so.6 (", "install ROCm", "GCN_HIP_LIBRARY"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn another_library_is_told_apart() {
    let error = load_from(&["libc.so.6".into()]).unwrap_err();
    let expected = HipError::MissingFunction { library: "libc.so.6".into(), function: "hipInit" };
    assert_eq!(error, expected);
}

/// The real library; `None` without it, in which case the calling test is skipped. Panics instead if
/// `GCN_REQUIRE_HIP=1`.
fn real_library() -> Option<HipLibrary> {
    match HipLibrary::load() {
        Ok(library) => Some(library),
        Err(error) => {
            let required = std::env::var_os("GCN_REQUIRE_HIP").is_some_and(|v| v == "1");
            assert!(!required, "GCN_REQUIRE_HIP=1, but {error}");
            skipped(&error.to_string(), "install ROCm and have a GPU that it knows");
            None
        }
    }
}

/// Runs a kernel if there is a GPU; otherwise the error has to say that there is none.
#[test]
fn the_real_library_opens_a_device_or_says_that_there_is_none() {
    let Some(library) = real_library() else { return };
    match library.open(0) {
        Ok(device) => store_on(&device),
        Err(error @ HipError::NoDevice { .. }) => {
            let text = error.to_string();
            for part in [library.name(), "finds no GPU", "/dev/kfd", "simulator"] {
                assert!(text.contains(part), "{text}");
            }
            println!("{text}");
        }
        Err(HipError::Unsupported { source, .. }) => {
            skipped(&source.to_string(), "have a GPU for which kernels can be built");
        }
        Err(error) => panic!("{error}"),
    }
}

/// A kernel with the arguments `out` and `n`, which stores `n` to `out`.
fn recording(target: Target) -> Vec<u8> {
    let code = "
        s_load_dwordx2 s[2:3], s[0:1], 0x0
        s_load_dword s4, s[0:1], 0x8
        v_mov_b32_e32 v0, 0
        s_waitcnt lgkmcnt(0)
        v_mov_b32_e32 v1, s4
        global_store_dword v0, v1, s[2:3]
        s_endpgm";
    let program = parse_program(code, target, "record").unwrap();
    let mut kernel = KernelSpec::new(program, WorkgroupSize::AtMost(1024));
    kernel.user_sgprs = UserSgprs::KERNARG_SEGMENT_PTR;
    kernel.kernarg_bytes = 16;
    kernel.args = vec![KernelArg::global_buffer("out", 0), KernelArg::by_value("n", 8, 4)];
    write_code_object(&[kernel]).unwrap()
}

fn kernarg(address: u64, n: u32) -> Vec<u8> {
    [&address.to_le_bytes()[..], &n.to_le_bytes(), &[0; 4]].concat()
}

fn store_on(device: &HipDevice) {
    println!("{device:?}");
    let out = device.alloc(4).unwrap();
    out.write(0, &[0; 4]).unwrap();
    let module = device.load_module(&recording(device.target())).unwrap();
    let kernel = module.function("record").unwrap();
    launch(device, &kernel, [1; 3], [1; 3], 0, &kernarg(out.address(), 0x1234_5678)).unwrap();
    device.synchronize().unwrap();
    let mut found = [0; 4];
    out.read(0, &mut found).unwrap();
    assert_eq!(u32::from_le_bytes(found), 0x1234_5678);
}

/// A fake library, compiled with the properties structure of HIP 5 only or with both.
struct Fake {
    dir: PathBuf,
    file: PathBuf,
}

impl Fake {
    fn compile(name: &str, hip6: bool) -> Option<Fake> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/fake_hip.rs");
        let dir = std::env::temp_dir().join(format!("gcn-dsl-hip-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join("libfake_hip.so");
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        rustc.args(["--edition=2024", "--crate-type=cdylib", "-Copt-level=1", "-Anon_snake_case"]);
        rustc.args(["-Aunpredictable_function_pointer_comparisons", "--check-cfg=cfg(hip6)"]);
        if hip6 {
            rustc.arg("--cfg=hip6");
        }
        match rustc.arg("-o").arg(&file).arg(source).output() {
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                Some(Fake { dir, file })
            }
            Err(error) => {
                skipped(&format!("rustc cannot be run: {error}"), "have `rustc` in PATH");
                None
            }
        }
    }

    fn load(&self) -> HipLibrary {
        load_from(&["libnot-hip.so".into(), self.file.clone().into()]).unwrap()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

#[test]
fn memory_modules_and_launches_reach_the_library_as_its_header_says() {
    let Some(fake) = Fake::compile("calls", true) else { return };
    let library = fake.load();
    assert_eq!(library.name(), fake.file.to_str().unwrap());
    assert_eq!(library.device_count(), Ok(2));
    let device = library.open(0).unwrap();
    assert_eq!((device.target(), device.ordinal()), (Target::GFX942, 0));
    assert_eq!(device.target_id().to_string(), "gfx942:sramecc+:xnack-");

    let out = device.alloc(36).unwrap();
    assert_eq!((out.len(), out.is_empty()), (36, false));
    out.write(4, &[1, 2, 3, 4]).unwrap();
    let mut read = [0; 8];
    out.read(2, &mut read).unwrap();
    assert_eq!(read, [0, 0, 1, 2, 3, 4, 0, 0]);

    let module = device.load_module(&recording(Target::GFX942)).unwrap();
    let kernel = module.function("record").unwrap();
    drop(module); // The function keeps it loaded.
    launch(&device, &kernel, [7, 6, 5], [64, 2, 1], 512, &kernarg(out.address(), 99)).unwrap();
    device.synchronize().unwrap();
    let mut words = [0; 36];
    out.read(0, &mut words).unwrap();
    let words: Vec<u32> = words.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    assert_eq!(words, [7, 6, 5, 64, 2, 1, 512, 16, 99]);

    let alive = alive(&fake);
    assert_eq!(alive(), 2);
    drop((out, kernel));
    assert_eq!(alive(), 0, "everything is freed");
}

/// The last owner of a module is dropped before its kernel has finished. The fake library rejects unloading a module
/// that is in use.
#[test]
fn a_module_outlives_what_it_has_started() {
    let Some(fake) = Fake::compile("outlives", true) else { return };
    let device = fake.load().open(0).unwrap();
    let out = device.alloc(36).unwrap();
    let alive = alive(&fake);
    for synchronised in [false, true] {
        let kernel = device.load_module(&recording(Target::GFX942)).unwrap().function("record").unwrap();
        launch(&device, &kernel, [1; 3], [1; 3], 0, &kernarg(out.address(), 1)).unwrap();
        if synchronised {
            device.synchronize().unwrap();
        }
        drop(kernel);
        assert_eq!(alive(), 1, "the buffer is left");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn record(out: &mut [u32]) {
        out[lane_id()] = 0;
    }
}

#[test]
fn a_kernel_that_is_loaded_is_launched_with_one_call() {
    let Some(fake) = Fake::compile("one-call", true) else { return };
    let device = Device::of_hip(&fake.load().open(0).unwrap());
    let (alive, calls) = (number(&fake, b"fake_hip_alive"), number(&fake, b"fake_hip_calls"));
    let stream = device.stream().unwrap();
    let kernel = device.load(&record.build(device.target()).unwrap()).unwrap();
    let mut out = device.zeroed::<u32>(9).unwrap();
    let before = calls();
    for n in 1..=10 {
        stream.launch(&kernel, Grid::xy(n, 2), (&mut out,)).unwrap();
        assert_eq!(calls(), before + i32::try_from(n).unwrap());
    }
    assert_eq!(out.to_vec().unwrap(), [10, 2, 1, 64, 1, 1, 0, 16, 9]);
    // Code that is already loaded is not loaded again.
    let before = (calls(), alive());
    device.load(&record.build(device.target()).unwrap()).unwrap();
    assert_eq!((calls(), alive()), before);
    drop((out, kernel, stream, device));
    assert_eq!(alive(), 0, "everything is freed");
}

/// A launch finds the code that an earlier one has built and loaded. Code objects of other compilers load beside it, through a `Device` and
/// through the `HipDevice` under it.
#[test]
#[allow(unsafe_code, reason = "the arguments are those of the kernel `record`")]
fn a_launch_keeps_what_it_has_built_and_foreign_code_loads_beside_it() {
    let Some(fake) = Fake::compile("kept", true) else { return };
    let hip = fake.load().open(0).unwrap();
    let device = Device::of_hip(&hip);
    let calls = number(&fake, b"fake_hip_calls");
    let stream = device.stream().unwrap();
    let mut out = device.zeroed::<u32>(9).unwrap();
    record.launch(&stream, Grid::x(1), (&mut out,)).unwrap();
    for n in 2..5 {
        let before = calls();
        record.launch(&stream, Grid::x(n), (&mut out,)).unwrap();
        assert_eq!(calls(), before + 1, "only the launch itself");
    }
    stream.synchronize().unwrap();

    // SAFETY: the kernel writes to the buffer that it is given.
    let object = unsafe { device.load_object(&recording(device.target())) }.unwrap();
    let kernel = object.kernel::<(DevicePtr<u32>, u32)>("record").unwrap();
    kernel.launch(Grid::xyz(7, 6, 5), [64, 2, 1], (out.as_mut_ptr(), 99)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [7, 6, 5, 64, 2, 1, 0, 12, 99]);

    let kernel = hip.load_module(&recording(hip.target())).unwrap().function("record").unwrap();
    launch(&hip, &kernel, [3, 2, 1], [64, 1, 1], 0, &kernarg(out.as_mut_ptr().address(), 98)).unwrap();
    hip.synchronize().unwrap();
    assert_eq!(out.to_vec().unwrap(), [3, 2, 1, 64, 1, 1, 0, 16, 98]);
}

/// Returns the number of objects that the fake library was not asked to free.
fn alive(fake: &Fake) -> impl Fn() -> i32 {
    number(fake, b"fake_hip_alive")
}

/// Calls a function of the fake library that returns a number.
#[allow(unsafe_code, reason = "a call of the test's own C function")]
fn number(fake: &Fake, name: &'static [u8]) -> impl Fn() -> i32 + use<> {
    // SAFETY: the library is loaded already; its function takes no arguments and returns an int.
    let library = unsafe { libloading::Library::new(&fake.file).unwrap() };
    // SAFETY: as above.
    move || unsafe { library.get::<extern "C" fn() -> i32>(name).unwrap()() }
}

#[test]
fn misuse_is_an_error_before_it_reaches_the_library() {
    let Some(fake) = Fake::compile("misuse", false) else { return };
    let library = fake.load();
    assert_eq!(library.open(2).unwrap_err(), HipError::NoSuchDevice { ordinal: 2, count: 2 });
    let error = library.open(1).unwrap_err();
    assert!(matches!(error, HipError::Unsupported { ordinal: 1, .. }), "{error}");
    assert!(error.to_string().contains("gfx1310"), "{error}");

    let device = library.open(0).unwrap();
    let buffer = device.alloc(8).unwrap();
    let range = |offset, bytes| HipError::OutOfRange { offset, bytes, len: 8 };
    assert_eq!(buffer.write(5, &[0; 4]).unwrap_err(), range(5, 4));
    assert_eq!(buffer.read(usize::MAX, &mut [0; 4]).unwrap_err(), range(usize::MAX, 4));
    assert_eq!(buffer.read(8, &mut []), Ok(()));
    let (empty, another) = (device.alloc(0).unwrap(), device.alloc(0).unwrap());
    assert!(empty.is_empty() && empty.address() != 0 && empty.address() != another.address());
    assert_eq!(empty.write(0, &[1]).unwrap_err(), HipError::OutOfRange { offset: 0, bytes: 1, len: 0 });

    let wrong = device.load_module(&recording(Target::GFX90A)).unwrap_err();
    assert!(wrong.to_string().contains("for gfx90a, the GPU is a gfx942:sramecc+:xnack-"), "{wrong}");
    let broken = device.load_module(&recording(Target::GFX942)[..100]).unwrap_err();
    assert!(matches!(broken, HipError::CodeObject(_)), "{broken}");

    let module = device.load_module(&recording(Target::GFX942)).unwrap();
    let absent = module.function("saxpy").unwrap_err();
    assert_eq!(absent.to_string(), "the code object has no kernel `saxpy`; it has record");
    let kernel = module.function("record").unwrap();
    let short = launch(&device, &kernel, [1; 3], [1; 3], 0, &[0; 11]).unwrap_err();
    assert_eq!(short, HipError::KernargTooShort { kernel: "record".into(), expected: 12, found: 11 });
    let other = fake.load().open(0).unwrap();
    let error = launch(&other, &kernel, [1; 3], [1; 3], 0, &kernarg(0, 0)).unwrap_err();
    assert_eq!(error, HipError::OtherDevice { kernel: "record".into() });
}

#[test]
fn errors_of_the_library_name_the_call() {
    let Some(fake) = Fake::compile("errors", true) else { return };
    let device = fake.load().open(0).unwrap();
    let error = device.alloc(usize::MAX / 2).unwrap_err();
    assert_eq!(error.to_string(), "hipMalloc failed with error 2: out of memory");
    let module = device.load_module(&recording(Target::GFX942)).unwrap();
    let kernel = module.function("record").unwrap();
    let error = launch(&device, &kernel, [1; 3], [1025, 1, 1], 0, &kernarg(0, 0)).unwrap_err();
    assert_eq!(error.to_string(), "hipModuleLaunchKernel failed with error 719: unspecified launch failure");
}
