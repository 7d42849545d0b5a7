//! Tests invalid arguments: every function with null and zero arguments only, and with devices, handles and ranges that do not exist.

use std::collections::BTreeSet;

use crate::api::{P, code, device, hip, ok, symbol};
use crate::fuzz::{invoke, invoke_at};
use crate::kernels::buffer;

/// Functions that according to HIP's documentation succeed with null and zero arguments: settings, queries without a result, device 0, the
/// default stream, freeing null, and copies and fills of 0 bytes.
const ACCEPT: &str = "
    hipInit hipSetDevice hipSetDeviceFlags hipSetValidDevices hipDeviceReset hipDeviceSynchronize hipDeviceSetLimit
    hipDeviceSetCacheConfig hipDeviceSetSharedMemConfig hipDeviceGetStreamPriorityRange hipDevicePrimaryCtxRelease
    hipConfigureCall hipSetupArgument hipDeviceGraphMemTrim hipCtxSynchronize hipCtxSetCacheConfig hipCtxSetSharedMemConfig hipProfilerStart hipProfilerStop
    hipGetLastError hipExtGetLastError hipPeekAtLastError
    hipStreamQuery hipStreamQuery_spt hipStreamSynchronize hipStreamSynchronize_spt
    hipFree hipFreeHost hipHostFree
    hipMemcpy hipMemcpy_spt hipMemcpyAsync hipMemcpyAsync_spt hipMemcpyWithStream hipMemcpyPeer hipMemcpyPeerAsync
    hipMemcpyDtoD hipMemcpyDtoDAsync hipMemcpyDtoH hipMemcpyDtoHAsync hipMemcpyHtoD hipMemcpyHtoDAsync
    hipMemcpy2D hipMemcpy2D_spt hipMemcpy2DAsync hipMemcpy2DAsync_spt
    hipMemset hipMemset_spt hipMemsetAsync hipMemsetAsync_spt hipMemsetD8 hipMemsetD8Async hipMemsetD16 hipMemsetD16Async
    hipMemsetD32 hipMemsetD32Async hipMemset2D hipMemset2D_spt hipMemset2DAsync hipMemset2DAsync_spt
    hipMemset3D hipMemset3D_spt hipMemset3DAsync hipMemset3DAsync_spt
";

/// Functions that do not return an error code.
const NO_CODE: [&str; 9] = [
    "hipApiName",
    "hipCreateChannelDesc",
    "hipGetErrorName",
    "hipGetErrorString",
    "hipGetStreamDeviceId",
    "hipKernelNameRef",
    "hipKernelNameRefByPtr",
    "hipRegisterTracerCallback",
    "hiprtcGetErrorString",
];

#[test]
fn null_is_refused_where_something_is_needed() {
    let _device = device();
    let (mut accepted, mut count) = (BTreeSet::new(), 0);
    for row in include_str!("../../data/functions.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [version, name, path, _] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        // Functions with leading underscores are called by the compiler's start-up code only.
        if name.starts_with("__hip") || NO_CODE.contains(&name) {
            continue;
        }
        ok(hip::hipDeviceReset());
        hip::hipGetLastError();
        let found = invoke_at(symbol(name, Some(version)), &[]);
        match found {
            0 => drop(accepted.insert(name)),
            _ if path == "-" => assert_eq!(found, code::NOT_SUPPORTED, "{name}"),
            // `hipErrorUnknown` (999) would mean that the call panicked.
            _ => assert!(found != 999 && found != code::NOT_SUPPORTED, "{name}: {found}"),
        }
        count += 1;
    }
    ok(hip::hipSetDevice(0));
    assert!(count > 500, "{count}");
    assert_eq!(accepted, ACCEPT.split_whitespace().collect());
}

/// Every function with a device argument refuses a device that does not exist: `D` stands for the device, `O` for the address of a result.
#[test]
fn devices_that_do_not_exist() {
    let _device = device();
    const FUNCTIONS: &str = "
        hipSetDevice D, hipDeviceGet O D, hipGetDevicePropertiesR0600 O D, hipDeviceGetAttribute O 0 D, hipDeviceTotalMem O D,
        hipDeviceGetUuid O D, hipDeviceComputeCapability O O D, hipDeviceGetPCIBusId O 64 D, hipDeviceGetName O 64 D,
        hipDeviceCanAccessPeer O D 0, hipDeviceCanAccessPeer O 0 D, hipDeviceEnablePeerAccess D 0, hipDeviceDisablePeerAccess D,
        hipDeviceGetP2PAttribute O 1 0 D, hipDeviceGetDefaultMemPool O D,
        hipMemcpyPeer 0 D 0 0 0, hipMemcpyPeerAsync 0 0 0 D 0 0, hipDevicePrimaryCtxRetain O D, hipDevicePrimaryCtxRelease D,
        hipDevicePrimaryCtxGetState D O O, hipCtxCreate O 0 D";
    let place = [0u64; 256];
    for function in FUNCTIONS.split(',') {
        for wrong in [2, 64, u32::MAX as P] {
            let mut words = function.split_whitespace();
            let name = words.next().unwrap();
            let argument = |word| match word {
                "D" => wrong,
                "O" => place.as_ptr() as P,
                number => number.parse().unwrap(),
            };
            let arguments: Vec<P> = words.map(argument).collect();
            assert_eq!(invoke(name, &arguments), code::INVALID_DEVICE, "{name} {wrong:#x}");
        }
    }
}

/// Freed memory, and ranges that exceed an allocation by one byte, are refused: `F` was freed, `M` has 4,096 bytes, `H` is host memory.
#[test]
fn memory_that_is_not_there() {
    let _device = device();
    let (memory, freed, host) = (buffer(&[7; 1024]), buffer(&[7; 1024]), vec![1u32; 2048]);
    ok(hip::hipFree(freed));
    const CALLS: &str = "
        hipFree F 1, hipFreeAsync F 0 1, hipHostFree M 1, hipHostFree F 1, hipFree H 1, hipHostUnregister M 713,
        hipMemcpy F H 4 1 1, hipMemcpy H F 4 2 1, hipMemcpy M F 4 3 1, hipMemcpy M H 4097 1 1, hipMemcpy H M 4097 2 1,
        hipMemcpy M H 4 5 21, hipMemcpyAsync M H 4097 1 0 1, hipMemcpyDtoH H F 4 1, hipMemcpyHtoD M H 4097 1,
        hipMemcpyDtoD M F 4 1, hipMemcpyPeer M 0 F 0 4 1, hipMemcpyPeer M 0 H 0 4097 1, hipMemset F 0 1 1, hipMemset M 0 4097 1,
        hipMemsetAsync M 0 4097 0 1, hipMemsetD8 M 0 4097 1, hipMemsetD16 M 0 2049 1, hipMemsetD32 M 0 1025 1,
        hipMemset2D M 64 0 65 2 1, hipMemset2D M 64 0 64 65 1, hipMemcpy2D M 64 H 64 65 1 1 12, hipMemcpy2D M 64 H 64 64 65 1 1,
        hipMemPtrGetInfo F H 1, hipMemGetAddressRange H H F 500, hipHostGetDevicePointer H M 0 1, hipHostRegister M 64 0 712";
    for call in CALLS.split(',') {
        let mut words: Vec<&str> = call.split_whitespace().collect();
        let expected: u32 = words.pop().unwrap().parse().unwrap();
        let argument = |word: &&str| match *word {
            "M" => memory,
            "F" => freed,
            "H" => host.as_ptr() as P,
            number => number.parse().unwrap(),
        };
        let arguments: Vec<P> = words[1..].iter().map(argument).collect();
        assert_eq!(invoke(words[0], &arguments), expected, "{call}");
    }
    assert_eq!(crate::kernels::words(memory, 1024), [7; 1024]);
    assert!(host.iter().all(|word| *word == 1));
    ok(hip::hipFree(memory));
}
