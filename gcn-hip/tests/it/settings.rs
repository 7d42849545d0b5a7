//! Tests settings that have no effect in this library but are checked as in ROCm's runtime.

use crate::api::{P, code, device, get, ok};
use crate::fuzz::invoke;
use crate::kernels::{buffer, function, module, words};

/// The setter, the getter, the accepted values, the refused values, and the value that the getter returns afterwards; if that is `None`,
/// the getter returns the value that was set, without unknown bits.
type Setting = (&'static str, &'static str, &'static [P], &'static [P], Option<u32>);

#[test]
fn settings_are_checked_and_kept() {
    let _device = device();
    // Setter, getter, accepted values, refused values, and the value returned afterwards.
    let settings: [Setting; 3] = [
        ("hipDeviceSetCacheConfig", "hipDeviceGetCacheConfig", &[0, 1, 2, 3], &[4, 0xffff_ffff], Some(0)),
        (
            "hipDeviceSetSharedMemConfig",
            "hipDeviceGetSharedMemConfig",
            &[0, 1, 2],
            &[3, 0xffff_ffff],
            Some(1),
        ),
        (
            "hipSetDeviceFlags",
            "hipGetDeviceFlags",
            &[1, 2, 4, 0x18, 0x1c, 0],
            &[3, 5, 7, 0x20, 0x8000_0000],
            None,
        ),
    ];
    for (set, ask, right, wrong, fixed) in settings {
        for value in right {
            ok(invoke(set, &[*value]));
            let expected = fixed.unwrap_or(*value as u32 & 7);
            assert_eq!(get::<u32>(|place| invoke(ask, &[place])), expected, "{set} {value}");
        }
        wrong
            .iter()
            .for_each(|value| assert_eq!(invoke(set, &[*value]), code::INVALID_VALUE, "{set} {value}"));
    }
    let function = function(module(), "add");
    const CARVEOUT: P = 9;
    for (value, code) in
        [(50, 0), (100, 0), (101, code::INVALID_VALUE), (-2i32 as u32 as P, code::INVALID_VALUE)]
    {
        assert_eq!(invoke("hipFuncSetAttribute", &[function, CARVEOUT, value]), code, "{value}");
    }
    assert_eq!(get::<u32>(|place| invoke("hipFuncGetAttribute", &[place, CARVEOUT, function])), 100);
    for (name, last) in [("hipFuncSetCacheConfig", 3), ("hipFuncSetSharedMemConfig", 2)] {
        ok(invoke(name, &[function, last]));
        assert_eq!(invoke(name, &[function, last + 1]), code::INVALID_VALUE, "{name}");
    }
    // 1, `hipOccupancyDisableCachingOverride`, is the only flag.
    let name = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags";
    assert_ne!(get::<u32>(|place| invoke(name, &[place, function, 64, 0, 1])), 0);
    let mut place = [0u32; 2];
    let [first, second] = place.each_mut().map(|place| &raw mut *place as P);
    assert_eq!(invoke(name, &[first, function, 64, 0, 2]), code::INVALID_VALUE);
    let name = "hipModuleOccupancyMaxPotentialBlockSizeWithFlags";
    assert_eq!(invoke(name, &[first, second, function, 0, 0, 2]), code::INVALID_VALUE);
    const UNSUPPORTED_LIMIT: u32 = 215;
    assert_eq!(invoke("hipDeviceSetLimit", &[9, 1024]), UNSUPPORTED_LIMIT);
}

#[test]
fn devices_are_linked_to_each_other() {
    let _device = device();
    let mut place = [0u32; 2];
    let [kind, hops] = place.each_mut().map(|place| &raw mut *place as P);
    let ask = |from: P, to: P| invoke("hipExtGetLinkTypeAndHopCount", &[from, to, kind, hops]);
    ok(ask(0, 1));
    assert_eq!(place, [4, 1]);
    assert_eq!([ask(0, 0), ask(0xffff_ffff, 1)], [code::INVALID_VALUE; 2]);
    assert_eq!([ask(0, 2), ask(2, 0)], [code::INVALID_DEVICE; 2]);
    // A pool can be used on its own device only.
    let pool: P = get(|place| invoke("hipDeviceGetDefaultMemPool", &[place, 1]));
    assert_eq!(invoke("hipDeviceSetMemPool", &[0, pool]), code::INVALID_DEVICE);
    for wrong in [2, 0xffff_ffff] {
        assert_eq!(invoke("hipDeviceSetMemPool", &[wrong, pool]), code::INVALID_VALUE);
        assert_eq!(invoke("hipDeviceGetMemPool", &[kind, wrong]), code::INVALID_VALUE);
    }
}

#[test]
fn launches_may_be_set_up_step_by_step() {
    let _device = device();
    let (at, n) = (buffer(&[1; 64]), 6u32);
    let kernel = function(module(), "add");
    // `dim3` is passed in two registers: x and y in one, z in the other.
    let (grid, block) = ([1 | 1 << 32, 1], [64 | 1 << 32, 1]);
    ok(invoke("hipConfigureCall", &[grid[0], grid[1], block[0], block[1], 0, 0]));
    ok(invoke("hipSetupArgument", &[&raw const n as P, 4, 8]));
    ok(invoke("hipSetupArgument", &[&raw const at as P, 8, 0]));
    assert_eq!(invoke("hipSetupArgument", &[&raw const at as P, 8, 1 << 40]), code::INVALID_VALUE);
    ok(invoke("hipLaunchByPtr", &[kernel]));
    assert_eq!(words(at, 64), [7; 64]);
    // `hipErrorMissingConfiguration`, and `hipErrorInvalidDeviceFunction`.
    assert_eq!(invoke("hipLaunchByPtr", &[kernel]), 52);
    ok(invoke("hipConfigureCall", &[grid[0], grid[1], block[0], block[1], 0, 0]));
    assert_eq!(invoke("hipLaunchByPtr", &[0]), 98);
}

#[test]
fn one_kernel_runs_on_several_devices() {
    let _device = device();
    let mut places = [0; 2];
    let n = 4u32;
    let kernels = [0, 1].map(|device| {
        ok(invoke("hipSetDevice", &[device]));
        places[device] = buffer(&[1; 64]);
        function(module(), "add")
    });
    // A kernel has a different handle on each device, so this launches on the first device only.
    let arguments = [&raw const places[0] as P, &raw const n as P];
    let launch = |device: P| {
        ok(invoke("hipSetDevice", &[device]));
        let stream: P = get(|place| invoke("hipStreamCreate", &[place]));
        // `hipLaunchParams`.
        [kernels[0], 1 | 1 << 32, 1 | 64 << 32, 1 | 1 << 32, arguments.as_ptr() as P, 0, stream]
    };
    let list = [launch(0), launch(1)];
    let name = "hipExtLaunchMultiKernelMultiDevice";
    let run = |list: &[[P; 7]], count: P, flags: P| invoke(name, &[list.as_ptr() as P, count, flags]);
    ok(run(&list, 1, 0));
    assert_eq!(words(places[0], 64), [5; 64]);
    let mut other = list;
    other[1][5] = 64;
    assert_eq!(run(&other, 2, 0), code::INVALID_VALUE);
    other[1] = other[0];
    assert_eq!(run(&other, 2, 0), code::INVALID_VALUE);
    for (count, flags) in [(0, 0), (3, 0), (1, 4)] {
        assert_eq!(run(&list, count, flags), code::INVALID_VALUE);
    }
    assert_eq!(invoke(name, &[0, 1, 0]), code::INVALID_VALUE);
    other[0][6] = 0;
    assert_eq!(run(&other, 1, 0), code::INVALID_HANDLE);
}
