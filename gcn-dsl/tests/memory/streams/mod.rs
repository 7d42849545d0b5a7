//! Buffers, streams, events and modules. The tests of the simulated HIP library also run this file on its devices: all
//! devices that `super::devices` returns behave in the same way.

pub mod misuse;
mod prepared;

use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError, Module};

use super::devices;

gcn_kernel! {
    #[workgroup(256)]
    fn square(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        if i < y.len() {
            y[i] = x[i] * x[i];
        }
    }

    #[workgroup(256)]
    fn add(n: u32, x: &mut [u32]) {
        let i = global_id().x;
        if i < x.len() {
            x[i] += n;
        }
    }

    #[workgroup(256)]
    fn double<T: Arithmetic>(x: &mut [T]) {
        let i = global_id().x;
        if i < x.len() {
            x[i] = x[i] + x[i];
        }
    }

    #[device]
    #[repr(C)]
    #[derive(PartialEq)]
    struct Particle {
        position: [f32; 3],
        id: u32,
    }

    #[workgroup(64)]
    fn fall(by: f32, from: &[Particle], to: &mut [Particle]) {
        let i = global_id().x;
        if i < to.len() {
            let mut p = from[i];
            p.position[1] -= by;
            to[i] = p;
        }
    }

    #[workgroup(64)]
    fn through_pointers(x: *const u32, y: *mut u32) {
        let i = local_id().x;
        y[i] = x[i] + 1;
    }

    #[workgroup(64)]
    fn sum_of_both(a: &[u32], b: &[u32], out: &mut [u32]) {
        let i = local_id().x;
        out[i] = a[i] + b[i];
    }
}

/// Numbers whose squares are not all exact in f32.
fn numbers() -> Vec<f32> {
    (0..1000).map(|i| i as f32 / 7.0).collect()
}

#[test]
fn kernels_pass_buffers_on() {
    for device in devices() {
        let (stream, host) = (device.stream().unwrap(), numbers());
        let (x, mut y) = (device.upload(&host).unwrap(), device.zeroed::<f32>(1000).unwrap());
        let mut z = device.buffer::<f32>(1000).unwrap();
        assert_eq!((x.len(), x.bytes(), x.is_empty()), (1000, 4000, false));
        square.launch(&stream, Grid::x(4), (&x, &mut y)).unwrap();
        square.launch(&stream, Grid::x(4), (&y, &mut z)).unwrap();
        let mut expected: Vec<f32> = host.iter().map(|x| x * x).collect();
        assert_eq!(y.to_vec().unwrap(), expected);
        expected.iter_mut().for_each(|x| *x *= *x);
        assert_eq!(z.to_vec().unwrap(), expected);
        // The result of a launch with slices of the host.
        let (mut once, mut twice) = (vec![0.0; 1000], vec![0.0; 1000]);
        square.launch(&device, Grid::x(4), (&host, &mut once)).unwrap();
        square.launch(&device, Grid::x(4), (&once, &mut twice)).unwrap();
        assert_eq!(twice, expected);
        assert_eq!(x.to_vec().unwrap(), host);
    }
}

#[test]
fn elements_may_be_structs() {
    for device in devices() {
        let particle = |i: u32, y: f32| Particle { position: [i as f32, y, -1.0], id: i };
        let particles: Vec<_> = (0..100).map(|i| particle(i, 10.0)).collect();
        let (from, mut to) = (device.upload(&particles).unwrap(), device.zeroed(100).unwrap());
        fall.launch(&device.stream().unwrap(), Grid::x(2), (2.5, &from, &mut to)).unwrap();
        let expected: Vec<_> = (0..100).map(|i| particle(i, 7.5)).collect();
        assert_eq!(to.to_vec().unwrap(), expected);
        // Arrays of numbers are elements, too.
        assert_eq!(device.upload(&[[1u16, 2], [3, 4]]).unwrap().to_vec().unwrap(), [[1, 2], [3, 4]]);
    }
}

#[test]
fn parts_of_buffers_are_arguments() {
    for device in devices() {
        let stream = device.stream().unwrap();
        let adding = device.load(&add.build(device.target()).unwrap()).unwrap();
        let mut x = device.zeroed::<u32>(12).unwrap();
        stream.launch(&adding, Grid::x(1), (1, &mut x.slice_mut(2..=4).unwrap())).unwrap();
        stream
            .launch(&adding, Grid::x(1), (10, &mut x.slice_mut(4..).unwrap().slice_mut(..2).unwrap()))
            .unwrap();
        let (mut low, mut high) = x.split_at_mut(6).unwrap();
        stream.copy(&low, &mut high).unwrap();
        stream.zero(&mut low).unwrap();
        assert_eq!(x.slice(8..12).unwrap().to_vec().unwrap(), [1, 1, 11, 10]);
        assert_eq!(x.to_vec().unwrap(), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 11, 10]);
        x.slice_mut(1..3).unwrap().copy_from_slice(&[7, 8]).unwrap();
        assert_eq!(x.slice(..4).unwrap().to_vec().unwrap(), [0, 7, 8, 0]);
    }
}

#[test]
fn nothing_is_a_buffer_too() {
    for device in devices() {
        let (stream, mut none) = (device.stream().unwrap(), device.upload::<u32>(&[]).unwrap());
        add.launch(&stream, Grid::x(1), (1, &mut none)).unwrap();
        stream.upload(&[], &mut none).unwrap();
        stream.zero(&mut none).unwrap();
        assert!(stream.download(&none).unwrap().wait().unwrap().is_empty());
        assert!(none.slice(0..0).unwrap().to_vec().unwrap().is_empty());
    }
}

/// Several streams use one buffer, in the order in which the program starts the work.
#[test]
fn streams_take_turns_with_a_buffer() {
    for device in devices() {
        let streams: Vec<_> = (0..3).map(|_| device.stream().unwrap()).collect();
        let adding = device.load(&add.build(device.target()).unwrap()).unwrap();
        let doubling = device.load(&double::<u32>.build(device.target()).unwrap()).unwrap();
        let mut x = device.zeroed::<u32>(300).unwrap();
        let mut expected = 0u32;
        for n in 0..30u32 {
            let (one, other) = (&streams[n as usize % 3], &streams[(n as usize + 1) % 3]);
            one.launch(&adding, Grid::x(2), (n, &mut x)).unwrap();
            other.launch(&doubling, Grid::x(2), (&mut x,)).unwrap();
            expected = expected.wrapping_add(n).wrapping_mul(2);
        }
        assert_eq!(streams[0].download(&x).unwrap().wait().unwrap(), [expected; 300]);
    }
}

#[test]
fn copies_take_what_is_there_when_their_turn_comes() {
    for device in devices() {
        let stream = device.stream().unwrap();
        let adding = device.load(&add.build(device.target()).unwrap()).unwrap();
        let mut x = device.buffer::<u32>(64).unwrap();
        let mut host = vec![5; 64];
        stream.upload(&host, &mut x).unwrap();
        host.fill(0); // `upload` has taken the elements.
        let before = stream.download(&x).unwrap();
        stream.launch(&adding, Grid::x(1), (1, &mut x)).unwrap();
        let after = stream.download(&x).unwrap();
        stream.zero(&mut x).unwrap();
        stream.synchronize().unwrap();
        assert_eq!((after.wait().unwrap(), before.wait().unwrap()), (vec![6; 64], vec![5; 64]));
        assert_eq!(x.to_vec().unwrap(), [0; 64]);
    }
}

/// Memory that is in use stays valid, whatever is dropped or forgotten, in any order.
#[test]
fn what_is_in_use_outlives_its_owner() {
    for device in devices() {
        let adding = device.load(&add.build(device.target()).unwrap()).unwrap();
        for order in 0..4 {
            let stream = device.stream().unwrap();
            let mut x = device.upload(&[1u32; 1000]).unwrap();
            stream.launch(&adding, Grid::x(4), (1, &mut x)).unwrap();
            let download = stream.download(&x).unwrap();
            match order {
                0 => drop(download),
                1 => std::mem::forget(download),
                2 => {
                    drop((stream, x));
                    assert_eq!(download.wait().unwrap(), [2; 1000]);
                }
                _ => {
                    std::mem::forget(x);
                    drop(stream);
                    assert_eq!(download.wait().unwrap(), [2; 1000]);
                }
            }
        }
    }
}

#[test]
fn events_are_waited_for() {
    for device in devices() {
        let [one, two] = [device.stream().unwrap(), device.stream().unwrap()];
        let pointers = device.load(&through_pointers.build(device.target()).unwrap()).unwrap();
        let (x, y, z) = (
            device.zeroed(64).unwrap(),
            device.zeroed::<u32>(64).unwrap(),
            device.zeroed::<u32>(64).unwrap(),
        );
        // Only the event orders kernels that take raw pointers.
        one.launch(&pointers, Grid::x(1), (x.as_ptr(), y.as_ptr())).unwrap();
        let event = one.record().unwrap();
        two.wait(&event).unwrap();
        two.launch(&pointers, Grid::x(1), (y.as_ptr(), z.as_ptr())).unwrap();
        two.synchronize().unwrap();
        assert!(event.is_done().unwrap());
        event.synchronize().unwrap();
        assert_eq!((y.to_vec().unwrap(), z.to_vec().unwrap()), (vec![1; 64], vec![2; 64]));
    }
}

#[test]
fn modules_hold_several_kernels() {
    for device in devices() {
        let target = device.target();
        let (adds, floats, doubles) = (
            add.build(target).unwrap(),
            double::<f32>.build(target).unwrap(),
            double::<f64>.build(target).unwrap(),
        );
        let module = Module::new(&[&adds, &floats, &doubles]).unwrap();
        let names: Vec<&str> = module.kernels().iter().map(BuiltKernel::name).collect();
        assert_eq!(names, ["add", "double_f32", "double_f64"]);
        let loaded = device.load_module(&module).unwrap();
        let stream = device.stream().unwrap();
        let mut x = device.upload(&[1.5f32, 2.5]).unwrap();
        let mut y = device.upload(&[1e300, -3.0]).unwrap();
        let mut z = device.upload(&[40u32]).unwrap();
        stream.launch(&loaded.kernel(&floats).unwrap(), Grid::x(1), (&mut x,)).unwrap();
        stream.launch(&loaded.kernel(&doubles).unwrap(), Grid::x(1), (&mut y,)).unwrap();
        stream.launch(&loaded.kernel(&adds).unwrap(), Grid::x(1), (2, &mut z)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [3.0, 5.0]);
        assert_eq!(y.to_vec().unwrap(), [2e300, -6.0]);
        assert_eq!(z.to_vec().unwrap(), [42]);
    }
}

/// Code without a kernel type can only be launched as the kernel that it was built from.
#[test]
fn code_without_a_type_is_compared_when_it_is_launched() {
    for device in devices() {
        let built: Vec<BuiltKernel> = vec![
            double::<u32>.build(device.target()).unwrap().into_any(),
            double::<f32>.build(device.target()).unwrap().into_any(),
        ];
        let mut x = [21u32];
        device.launch(&double::<u32>, &built[0], Grid::x(1), (&mut x,)).unwrap();
        assert_eq!(x, [42]);
        let error = device.launch(&double::<u32>, &built[1], Grid::x(1), (&mut x,)).unwrap_err();
        assert!(matches!(&error, LaunchError::OtherKernel { built, .. } if built == "double_f32"), "{error}");
    }
}

/// Threads that know nothing of each other use one buffer.
#[test]
fn threads_share_a_device() {
    for device in devices() {
        let x = device.upload(&[3u32; 256]).unwrap();
        std::thread::scope(|scope| {
            for n in 0..4 {
                let (device, x) = (device.clone(), &x);
                scope.spawn(move || {
                    let stream = device.stream().unwrap();
                    let (zero, mut out) = (device.upload(&[n; 64]).unwrap(), device.zeroed(64).unwrap());
                    for _ in 0..10 {
                        sum_of_both.launch(&stream, Grid::x(1), (x, &zero, &mut out)).unwrap();
                    }
                    assert_eq!(out.to_vec().unwrap(), [n + 3; 64]);
                });
            }
        });
    }
}
