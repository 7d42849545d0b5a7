//! Memory of a device: sizes that no machine has, empty allocations, threads that share a device.

use gcn_dsl::prelude::*;

const fn shared<T: Send + Sync>() {}
const _: () = shared::<Device>();

#[test]
fn sizes_that_no_machine_has_are_errors() {
    let device = Device::simulator(Target::GFX942);
    // 2^61 + 2 elements of 8 bytes would be 16 bytes if the product wrapped.
    let wrapped = device.alloc::<f64>((1 << 61) + 2).unwrap_err().to_string();
    assert!(wrapped.contains("2305843009213693954 elements of 8 bytes"), "{wrapped}");
    let large = device.alloc::<u8>(1 << 60).unwrap_err().to_string();
    assert!(large.contains("this machine does not have"), "{large}");
    let pointer = device.alloc::<f64>(2).unwrap();
    for len in [3, 1 << 40, 1 << 61, usize::MAX] {
        assert!(device.read(pointer, len).is_err(), "{len}");
    }
    assert_eq!(device.read(pointer, 2).unwrap().len(), 2);
}

#[test]
fn empty_allocations_have_addresses_of_their_own() {
    let device = Device::simulator(Target::GFX942);
    let [a, b] = [(); 2].map(|()| device.alloc::<u32>(0).unwrap());
    assert_ne!(a.address(), b.address());
    assert!(device.read(a, 0).unwrap().is_empty() && device.read(a, 1).is_err());
    device.free(a).unwrap();
    device.free(b).unwrap();
}

#[test]
fn threads_share_a_device() {
    let device = Device::simulator(Target::GFX90A);
    std::thread::scope(|scope| {
        for number in 0..4u32 {
            let device = &device;
            scope.spawn(move || {
                let pointer = device.alloc::<u32>(1).unwrap();
                device.write(pointer, &[number]).unwrap();
                assert_eq!(device.read(pointer, 1).unwrap(), [number]);
            });
        }
    });
}
