//! Tests kernels that fault: the launch gives an error, and the process continues.

use crate::api::{P, code, device, hip, ok};
use crate::kernels::{add, buffer, function, module, words};

#[test]
fn a_kernel_that_fails_stops_the_device_until_it_is_reset() {
    let _device = device();
    let module = module();
    for (kernel, expected) in
        [("beyond", code::ILLEGAL_ADDRESS), ("stop", code::LAUNCH_FAILURE), ("never", code::TIME_OUT)]
    {
        let handle = function(module, kernel);
        let launched = hip::hipModuleLaunchKernel(handle, 1, 1, 1, 64, 1, 1, 0, 0, 0, 0);
        assert_eq!(launched, expected, "{kernel}");
        assert_eq!(hip::hipPeekAtLastError(), expected);
        assert_eq!(hip::hipDeviceSynchronize(), expected);
        assert_eq!(hip::hipStreamSynchronize(0), expected);
        let mut place = 0 as P;
        assert_eq!(hip::hipMalloc(&raw mut place as P, 4), expected);
        // Another device still works.
        ok(hip::hipSetDevice(1));
        ok(hip::hipDeviceSynchronize());
        ok(hip::hipSetDevice(0));
        ok(hip::hipDeviceReset());
        ok(hip::hipDeviceSynchronize());
        let at = buffer(&[1; 64]);
        ok(add(function(module, "add"), at, 1, 0));
        assert_eq!(words(at, 1), [2]);
    }
}
