//! Device memory: sizes that no machine has, empty allocations, and threads that share a device.

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

gcn_kernel! {
    #[workgroup(64)]
    fn scaled(by: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = x[i] * by;
    }
}

#[test]
fn arguments_are_passed_from_variables_as_they_are() {
    let device = Device::simulator(Target::GFX942);
    let x: Vec<u32> = (0..64).collect();
    let doubled: Vec<u32> = x.iter().map(|x| 2 * x).collect();
    let (mut y, mut array, mut boxed) = (vec![0; 64], [0; 64], vec![0; 64].into_boxed_slice());
    let args = (2, &x, &mut y);
    scaled.launch(&device, Grid::x(1), args).unwrap();
    let shared = std::sync::Arc::<[u32]>::from(&x[..]);
    let args = (2, &shared, &mut array);
    scaled.launch(&device, Grid::x(1), args).unwrap();
    // A buffer that is only read may also be borrowed mutably.
    let mut read = x.clone();
    let args = (2, &mut read, &mut boxed);
    device.launch(&scaled, &scaled.build(Target::GFX942).unwrap(), Grid::x(1), args).unwrap();
    assert_eq!((&y[..], &array[..], &boxed[..]), (&doubled[..], &doubled[..], &doubled[..]));

    let stream = device.stream().unwrap();
    let (from, mut to) = (device.upload(&x).unwrap(), device.zeroed(64).unwrap());
    let args = (2, &from, &mut to);
    scaled.launch(&stream, Grid::x(1), args).unwrap();
    assert_eq!(to.to_vec().unwrap(), doubled);
}
