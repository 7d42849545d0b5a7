//! Tests streams and memory shared between gcn-dsl and another user of HIP, in this case the test itself.

use std::ffi::c_void;

use gcn_dsl::prelude::*;
use gcn_dsl::{LaunchError, Stream};

use crate::{devices, file, saxpy};

/// Calls a function of the library whose arguments are words.
fn call(name: &[u8], arguments: [usize; 5]) -> i32 {
    type Function = unsafe extern "C" fn(usize, usize, usize, usize, usize) -> i32;
    // SAFETY: the library is loaded already; the functions that the tests name take words, at most five of them.
    unsafe {
        let library = libloading::Library::new(file()).unwrap();
        let [a, b, c, d, e] = arguments;
        library.get::<Function>(name).unwrap()(a, b, c, d, e)
    }
}

fn made(name: &[u8], rest: [usize; 4]) -> usize {
    let mut place = 0usize;
    let [a, b, c, d] = rest;
    assert_eq!(call(name, [&raw mut place as usize, a, b, c, d]), 0);
    place
}

#[test]
fn streams_and_memory_of_others_are_used_and_left_alone() {
    let device = &devices()[0];
    assert_eq!(device.as_hip().unwrap().ordinal(), 0);
    let (memory, handle) = (made(b"hipMalloc", [4096, 0, 0, 0]), made(b"hipStreamCreate", [0; 4]));
    {
        // SAFETY: the stream belongs to device 0 and is destroyed below.
        let stream: Stream = unsafe { device.wrap_stream(handle as *mut c_void).unwrap() };
        assert_eq!(stream.as_hip(), Some(handle as *mut c_void));
        // SAFETY: the memory exists until it is freed below, and nothing else uses it until then.
        let mut y = unsafe { device.wrap_buffer::<f32>(memory as u64, 1000).unwrap() };
        // SAFETY: the call must fail, since the range overlaps.
        let again = unsafe { device.wrap_buffer::<f32>(memory as u64 + 400, 10) };
        assert!(matches!(again, Err(LaunchError::Memory(_))));
        stream.upload(&[2.0; 1000], &mut y).unwrap();
        let x = device.upload(&[1.0f32; 1000]).unwrap();
        saxpy.launch(&stream, Grid::x(4), (3.0, &x, &mut y)).unwrap();
        stream.synchronize().unwrap();
    }
    // Both still exist, and the memory has the contents that were written.
    assert_eq!(call(b"hipStreamSynchronize", [handle, 0, 0, 0, 0]), 0);
    let mut words = [0f32; 1000];
    assert_eq!(call(b"hipMemcpy", [words.as_mut_ptr() as usize, memory, 4000, 2, 0]), 0);
    assert_eq!(words, [5.0; 1000]);
    assert_eq!(call(b"hipStreamDestroy", [handle, 0, 0, 0, 0]), 0);
    assert_eq!(call(b"hipFree", [memory, 0, 0, 0, 0]), 0);
}

/// Memory allocated by gcn-dsl is used by a HIP call on gcn-dsl's stream.
#[test]
fn own_streams_and_memory_are_given_out() {
    let device = &devices()[0];
    let (stream, y) = (device.stream().unwrap(), device.upload(&[7u32; 16]).unwrap());
    let handle = stream.as_hip().unwrap() as usize;
    assert_eq!(call(b"hipMemsetAsync", [y.as_ptr().address() as usize, 1, 32, handle, 0]), 0);
    stream.synchronize().unwrap();
    assert_eq!(y.to_vec().unwrap(), [[0x0101_0101u32; 8], [7; 8]].concat());
    let simulator = Device::simulator(Target::GFX942);
    assert!(simulator.as_hip().is_none() && simulator.stream().unwrap().as_hip().is_none());
    // SAFETY: the call must fail.
    let error = unsafe { simulator.wrap_stream(std::ptr::null_mut()) }.unwrap_err();
    assert!(matches!(error, LaunchError::OtherDevice { .. }), "{error}");
}

/// Kernels on one device read the memory of another through raw pointers.
#[test]
fn kernels_access_the_memory_of_a_peer() {
    gcn_kernel! {
        #[workgroup(64)]
        fn take(from: *const u32, to: &mut [u32]) {
            let i = local_id().x;
            to[i] = from[i] + 1;
        }
    }
    let devices = devices();
    let [one, two] = devices.as_slice() else { unreachable!() };
    assert!(one.access_peer(two).unwrap() && one.access_peer(two).unwrap() && two.access_peer(one).unwrap());
    assert!(!one.access_peer(&Device::simulator(one.target())).unwrap());
    let (x, mut y) = (two.upload(&[41u32; 64]).unwrap(), one.zeroed::<u32>(64).unwrap());
    take.launch(&one.stream().unwrap(), Grid::x(1), (x.as_ptr(), &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [42; 64]);
    assert_eq!(Device::of_hip(one.as_hip().unwrap()).properties().unwrap(), one.properties().unwrap());
}
