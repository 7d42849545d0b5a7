//! Misuse that is rejected, and the messages.

use gcn_dsl::prelude::*;
use gcn_dsl::{LaunchError, Module};
use gcn_emit::object::ObjectError;

use super::super::devices;
use super::{add, double, sum_of_both, through_pointers};

gcn_kernel! {
    #[workgroup(64)]
    fn bytes(from: &[u8], to: &mut [u8]) {
        let i = lane_id();
        to[i] = from[i];
    }
}

#[test]
fn ranges_and_lengths() {
    for device in devices() {
        let (stream, mut x) = (device.stream().unwrap(), device.zeroed::<u32>(8).unwrap());
        let range = |start, end| format!("elements {start}..{end} do not lie in device memory of 8 elements");
        assert_eq!(x.slice(3..9).unwrap_err().to_string(), range(3, 9));
        assert_eq!(x.slice_mut(9..).unwrap_err().to_string(), range(9, 8));
        assert_eq!(x.split_at_mut(9).unwrap_err().to_string(), range(0, 9));
        #[allow(clippy::reversed_empty_ranges, reason = "that is what is refused")]
        let reversed = x.slice(5..4).unwrap_err();
        assert_eq!(reversed.to_string(), range(5, 4));
        assert_eq!(x.slice(..=usize::MAX).unwrap_err().to_string(), range(0, usize::MAX));
        let length = "7 elements cannot be copied to 8 elements; pass slices of the same length";
        assert_eq!(x.copy_from_slice(&[0; 7]).unwrap_err().to_string(), length);
        assert_eq!(stream.upload(&[0; 7], &mut x).unwrap_err().to_string(), length);
        let y = device.zeroed::<u32>(7).unwrap();
        assert_eq!(stream.copy(&y, &mut x).unwrap_err().to_string(), length);
        assert!(matches!(device.buffer::<u64>(usize::MAX / 4), Err(LaunchError::Memory(_))));
    }
}

#[test]
fn parts_that_begin_within_a_dword() {
    for device in devices() {
        let (stream, x, mut y) = (
            device.stream().unwrap(),
            device.upload(&[1u8, 2, 3, 4, 5, 6]).unwrap(),
            device.zeroed(6).unwrap(),
        );
        let error = bytes.launch(&stream, Grid::x(1), (&x.slice(3..).unwrap(), &mut y)).unwrap_err();
        let text = "kernel `bytes`, argument `from`: the slice begins 3 bytes after a multiple of 4; begin it at a \
                    multiple of 4 elements";
        assert_eq!(error.to_string(), text);
        bytes.launch(&stream, Grid::x(1), (&x.slice(4..).unwrap(), &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [5, 6, 0, 0, 0, 0]);
    }
}

#[test]
fn what_belongs_to_another_device() {
    for device in devices() {
        let other = Device::simulator(device.target());
        let (stream, there) = (device.stream().unwrap(), other.stream().unwrap());
        let mut x = device.zeroed::<u32>(8).unwrap();
        let mut y = other.zeroed::<u32>(8).unwrap();
        let built = add.build(device.target()).unwrap();
        let kernel = device.load(&built).unwrap();
        let event = there.record().unwrap();
        let text = |what| format!("{what} belongs to another device; make it with the device that uses it");
        let errors = [
            (stream.launch(&kernel, Grid::x(1), (1, &mut y)).map(drop), "the buffer"),
            (there.launch(&kernel, Grid::x(1), (1, &mut y)).map(drop), "the loaded kernel"),
            (stream.upload(&[0; 8], &mut y), "the buffer"),
            (there.zero(&mut x), "the buffer"),
            (there.download(&x).map(drop), "the buffer"),
            (stream.copy(&x, &mut y), "the buffer"),
            (stream.wait(&event), "the event"),
            (event.elapsed_since(&stream.record().unwrap()).map(drop), "the event"),
        ];
        for (result, what) in errors {
            assert_eq!(result.unwrap_err().to_string(), text(what));
        }
        let wrong = Device::simulator(Target::GFX900);
        assert!(matches!(wrong.load(&built), Err(LaunchError::WrongTarget { .. })));
        let module = Module::new(&[&built]).unwrap();
        assert!(matches!(wrong.load_module(&module), Err(LaunchError::WrongTarget { .. })));
    }
}

/// Safe code can swap a view with a buffer; the assumptions of the compiler still have to be true.
#[test]
fn memory_that_overlaps() {
    for device in devices() {
        let stream = device.stream().unwrap();
        let (mut x, mut y) = (device.zeroed::<u32>(64).unwrap(), device.zeroed::<u32>(64).unwrap());
        std::mem::swap(&mut *x.slice_mut(..).unwrap(), &mut *y);
        let one = device.upload(&[1; 64]).unwrap();
        let error = sum_of_both.launch(&stream, Grid::x(1), (&one, &x, &mut y)).unwrap_err();
        assert!(matches!(error, LaunchError::Overlap { mutable: "out", other: "b", .. }), "{error}");
    }
}

#[test]
fn addresses_that_are_freed_are_those_of_alloc() {
    for device in devices() {
        let x = device.zeroed::<u32>(8).unwrap();
        assert!(matches!(device.free(x.as_ptr()), Err(LaunchError::Memory(_))));
        let pointer = device.alloc::<u32>(8).unwrap();
        device.free(pointer).unwrap();
        assert!(matches!(device.free(pointer), Err(LaunchError::Memory(_))));
        assert_eq!(x.to_vec().unwrap(), [0; 8]);
    }
}

#[test]
fn grids() {
    for device in devices() {
        let (stream, mut x) = (device.stream().unwrap(), device.zeroed::<u32>(8).unwrap());
        let kernel = device.load(&add.build(device.target()).unwrap()).unwrap();
        let empty = stream.launch(&kernel, Grid::xy(1, 0), (1, &mut x)).unwrap_err();
        assert!(matches!(empty, LaunchError::EmptyGrid { .. }), "{empty}");
        let large = stream.launch(&kernel, Grid::x(1 << 24), (1, &mut x)).unwrap_err();
        assert!(matches!(large, LaunchError::GridTooLarge { .. }), "{large}");
    }
}

/// A fault of a kernel is reported by the launch, or at the latest when the stream is waited for. Afterwards, a GPU
/// accepts no more work from the process.
pub fn faults_are_reported(device: &Device) {
    let (stream, nowhere) = (device.stream().unwrap(), DevicePtr::<u32>::from_address(0x1000));
    let x = device.zeroed::<u32>(64).unwrap();
    let fault = through_pointers.launch(&stream, Grid::x(1), (nowhere, x.as_ptr()));
    let error = fault.map(drop).and_then(|()| stream.synchronize()).unwrap_err();
    assert!(
        matches!(error.to_string().as_str(), text if text.contains("memory access") || text.contains("0x1000")),
        "{error}"
    );
    drop((x, stream));
}

#[test]
fn kernels_that_do_not_go_together() {
    for device in devices() {
        let target = device.target();
        let built = add.build(target).unwrap();
        assert!(matches!(Module::new(&[]), Err(ObjectError::NoKernels)));
        assert!(matches!(Module::new(&[&built, &built]), Err(ObjectError::DuplicateSymbol { .. })));
        let elsewhere = double::<f32>.build(Target::GFX900).unwrap();
        assert!(matches!(Module::new(&[&built, &elsewhere]), Err(ObjectError::MixedTargets { .. })));
        let module = device.load_module(&Module::new(&[&built]).unwrap()).unwrap();
        let error = module.kernel(&double::<f32>.build(target).unwrap()).unwrap_err();
        let text = "the module has no kernel `double_f32` built as this one is; it has add";
        assert_eq!(error.to_string(), text);
        let options = gcn_dsl::BuildOptions { xnack: gcn_dsl::Feature::Off, ..Default::default() };
        if let Ok(otherwise) = add.build_with(target, &options) {
            assert!(module.kernel(&otherwise).is_err());
        }
    }
}
