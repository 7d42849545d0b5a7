//! Raw pointers as in CUDA: to structs and arrays, in variables, in arrays, made from numbers, and cast to another type
//! with `as`. The reference is plain Rust.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[repr(C)]
    struct Pair {
        a: f32,
        b: u32,
        c: [u32; 3],
    }

    #[workgroup(64)]
    fn walk(x: *const f32, pairs: *const Pair, rows: *const [f32; 4], address: u64, n: u32, y: *mut f32) {
        let mut p = x; // one for all lanes
        let mut sum: f32 = 0.0;
        for _ in 0..n {
            sum += p[lane_id()];
            p = p.add(64);
        }
        let mut own = x; // each lane's own
        for k in 0..n {
            sum += unsafe { *own };
            own = own.add(lane_id() + k);
        }
        let bits: u32 = unsafe { *((x as *const u8).add(lane_id() * 4) as *const u32) };
        let second = (address as *const f32)[1];
        let pair = pairs[lane_id() % 2];
        let mut out: *mut f32 = y;
        out = out.add(lane_id());
        unsafe {
            *out = sum + bits as f32 + second + pair.a * pair.b as f32 + rows[lane_id() % 2][3];
        }
    }

    /// Writes elements and their parts through pointers.
    #[workgroup(64)]
    fn change(pairs: *mut Pair, rows: *mut [f32; 4]) {
        let i = lane_id();
        let own = pairs.add(i);
        let mut pair = pairs[i];
        pair.b += i;
        pairs[i] = pair;
        pairs[i].a = 2.0;
        own[64].a += 1.0;
        pairs.add(i)[0].c[i % 3] = 9;
        pairs[i].c[2] += 1;
        rows[i][i % 4] = 5.0;
        rows[i][0] += 0.5;
    }

    /// The pointers to several tensors are numbers in one argument.
    #[workgroup(64)]
    fn add_all(tensors: [[u64; 2]; 3], n: u32) {
        let tensor = workgroup_id().x;
        let terms = [tensors[0][tensor] as *mut f32, tensors[1][tensor] as *mut f32];
        let sum = tensors[2][tensor] as *mut f32;
        for i in (lane_id()..n).step_by(64) {
            sum[i] = 0.0;
            for k in 0..2 {
                sum[i] += terms[k][i];
                terms[k][i] = 0.0;
            }
        }
    }
}

#[test]
fn pointers_to_structs_and_in_variables() {
    let x: Vec<f32> = (0..64 * 8).map(|i| (i % 13) as f32).collect();
    for target in [Target::GFX900, Target::GFX90A, Target::GFX950] {
        let device = Device::simulator(target);
        let numbers = device.upload(&x).unwrap();
        let pairs =
            device.upload(&[Pair { a: 2.0, b: 3, c: [0; 3] }, Pair { a: 0.5, b: 8, c: [0; 3] }]).unwrap();
        let rows = device.upload(&[[1.0f32, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]).unwrap();
        let mut y = device.zeroed::<f32>(64).unwrap();
        let address = numbers.as_ptr().address();
        let arguments = (numbers.as_ptr(), pairs.as_ptr(), rows.as_ptr(), address, 4, y.as_mut_ptr());
        walk.launch(&device, Grid::x(1), arguments).unwrap();
        for (lane, y) in y.to_vec().unwrap().into_iter().enumerate() {
            let mut sum: f32 = (0..4).map(|k| x[lane + 64 * k]).sum();
            let mut at = 0;
            for k in 0..4 {
                sum += x[at];
                at += lane + k;
            }
            let others = x[1] + [6.0, 4.0][lane % 2] + [4.0, 8.0][lane % 2];
            assert_eq!(y, sum + x[lane].to_bits() as f32 + others, "{target} {lane}");
        }
    }
}

#[test]
fn pointers_in_arrays() {
    let device = Device::simulator(Target::GFX942);
    let host: Vec<Vec<f32>> = (0..6).map(|t| (0..100).map(|i| (t * 100 + i) as f32).collect()).collect();
    let buffers: Vec<DeviceBuffer<f32>> = host.iter().map(|x| device.upload(x).unwrap()).collect();
    let address = |k: usize, tensor: usize| buffers[k * 2 + tensor].as_ptr().address();
    let tensors = std::array::from_fn(|k| std::array::from_fn(|tensor| address(k, tensor)));
    add_all.launch(&device, Grid::x(2), (tensors, 100)).unwrap();
    for tensor in 0..2 {
        let sums: Vec<f32> = host[tensor].iter().zip(&host[2 + tensor]).map(|(a, b)| a + b).collect();
        assert_eq!(buffers[4 + tensor].to_vec().unwrap(), sums);
        assert_eq!(buffers[tensor].to_vec().unwrap(), [0.0; 100]);
    }
}

#[test]
fn pointers_write_parts() {
    let device = Device::simulator(Target::GFX942);
    let mut pairs = device.upload(&[Pair { a: 1.0, b: 10, c: [1; 3] }; 128]).unwrap();
    let mut rows = device.upload(&[[1.0f32; 4]; 64]).unwrap();
    change.launch(&device, Grid::x(1), (pairs.as_mut_ptr(), rows.as_mut_ptr())).unwrap();
    let (pairs, rows) = (pairs.to_vec().unwrap(), rows.to_vec().unwrap());
    for i in 0..64 {
        assert_eq!((pairs[i].a, pairs[i].b), (2.0, 10 + i as u32));
        assert_eq!((pairs[64 + i].a, pairs[64 + i].b), (2.0, 10));
        let mut c = [1; 3];
        c[i % 3] = 9;
        c[2] += 1;
        assert_eq!((pairs[i].c, pairs[64 + i].c), (c, [1; 3]));
        let mut row = [1.0; 4];
        row[i % 4] = 5.0;
        row[0] += 0.5;
        assert_eq!(rows[i], row);
    }
}
