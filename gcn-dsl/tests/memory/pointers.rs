//! Raw pointers, uniform and varying, and cache hints.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

gcn_kernel! {
    /// Pointer arithmetic in elements, forwards and backwards.
    #[workgroup(64)]
    fn walk(p: *const u16, q: *mut u64, k: u32, out: &mut [u32]) {
        let i = lane_id();
        let middle = p.add(100);
        let each = middle.offset((i as i32) - 32);
        let uniform = p.add(k);
        out[i] = unsafe { *each } as u32 + each[1] as u32 * 65536;
        out[i + 64] = uniform[i] as u32;
        out[i + 128] = unsafe { *uniform.offset(-2) as u32 };
        out[i + 192] = select(each.is_null(), 1u32, 2u32);
        out[i + 256] = ((each as u64) - (p as u64)) as u32;
        out[i + 320] = each.add(i)[3] as u32;

        let mine = q.add(i * 2);
        unsafe { *mine = (i as u64) << 33 };
        mine[1] += 5;
        if i == 63 {
            mine.add(1).atomic().fetch_add(7, Scope::Agent, Ordering::Relaxed);
        }
    }
}

#[test]
fn arithmetic_is_in_elements() {
    let data: Vec<u16> = (0..512).map(|i| (i * 331) as u16).collect();
    let k = 37;
    let expected: Vec<u32> = (0..384)
        .map(|n| {
            let (i, at) = (n % 64, |k: usize| u32::from(data[k]));
            match n / 64 {
                0 => at(68 + i) + (at(69 + i) << 16),
                1 => at(k + i),
                2 => at(k - 2),
                3 => 2,
                4 => 2 * (68 + i as u32),
                _ => at(68 + 2 * i + 3),
            }
        })
        .collect();
    for target in TARGETS {
        let device = Device::simulator(target);
        let (p, q) = (device.alloc::<u16>(512).unwrap(), device.alloc::<u64>(128).unwrap());
        device.write(p, &data).unwrap();
        device.write(q, &vec![1; 128]).unwrap();
        let mut out = vec![0; 384];
        walk.launch(&device, Grid::x(1), (p, q, k as u32, &mut out)).unwrap();
        assert_eq!(out, expected, "{target}");
        let stored = device.read(q, 128).unwrap();
        for i in 0..64 {
            let second = 6 + 7 * u64::from(i == 63);
            assert_eq!(stored[2 * i..2 * i + 2], [(i as u64) << 33, second], "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// A table of addresses, one of which is null.
    #[workgroup(64)]
    fn gather(table: &[u64], sum: &mut [f64]) {
        let i = lane_id();
        let p = LanePtr::<f64, gcn_dsl::lang::ReadOnly>::from_address(table[i]);
        let total: V<f64>;
        if p.is_null() {
            total = -1.0;
        } else {
            let v = p.load_vector::<2>(0);
            total = v.get(0) + v.get(1) + p[2] + p[3];
        }
        sum[i] = total;
    }
}

#[test]
fn addresses_from_memory() {
    for target in TARGETS {
        let device = Device::simulator(target);
        let data = device.alloc::<f64>(256).unwrap();
        device.write(data, &(0..256).map(f64::from).collect::<Vec<_>>()).unwrap();
        let table: Vec<u64> =
            (0..64).map(|i| if i == 7 { 0 } else { data.address() + 8 * (3 * i % 200) }).collect();
        let mut sum = vec![0.0; 64];
        gather.launch(&device, Grid::x(1), (&table, &mut sum)).unwrap();
        for i in 0..64 {
            let first = (3 * i % 200) as f64;
            let expected = if i == 7 { -1.0 } else { 4.0 * first + 6.0 };
            assert_eq!(sum[i as usize], expected, "{target} {i}");
        }
        // The two elements after the vector are also loaded by one instruction.
        let text = gather.build(target).unwrap().assembly(Comments::None);
        assert_eq!(text.matches("global_load_dwordx4").count(), 2, "{text}");
    }
}

gcn_kernel! {
    /// Cache hints for every kind of memory.
    #[workgroup(64)]
    fn hints(x: &[u32], p: *mut u32, y: &mut [u32]) {
        let i = lane_id();
        let once = x.load_with(i, Cache::Streaming) + x.load_vector_with::<2>(i * 2, Cache::Streaming).get(1);
        y.store_with(i, once, Cache::Streaming);
        p.store_with(i, p.load_with(i, Cache::Bypass) + 1, Cache::Bypass);
    }
}

#[test]
fn hints_are_the_bits_of_llvm() {
    let x: Vec<u32> = (0..128).map(|i| i * i).collect();
    for target in TARGETS {
        let text = hints.build(target).unwrap().assembly(Comments::None);
        let has = |mnemonic: &str, bits: &str| {
            text.lines().any(|l| l.contains(mnemonic) && l.trim_end().ends_with(bits))
        };
        let (streaming, load, store) = if target.has_architected_flat_scratch() {
            (" nt", " sc0 sc1", " sc0 sc1")
        } else {
            (" glc slc", " glc", "]")
        };
        assert!(has("buffer_load_dword ", streaming) && has("buffer_store_dword ", streaming), "{text}");
        assert!(has("buffer_load_dwordx2 ", streaming), "{text}");
        assert!(has("global_load_dword ", load) && has("global_store_dword ", store), "{text}");
        let device = Device::simulator(target);
        let p = device.alloc::<u32>(64).unwrap();
        device.write(p, &[5; 64]).unwrap();
        let mut y = vec![0; 64];
        hints.launch(&device, Grid::x(1), (&x, p, &mut y)).unwrap();
        assert_eq!(device.read(p, 64).unwrap(), [6; 64]);
        assert!((0..64).all(|i| y[i] == x[i] + x[2 * i + 1]));
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn slices(a: &[u32], b: &mut [u64], c: &[u32]) {
        b[lane_id()] = (a[lane_id()] + c[lane_id()]) as u64;
    }
}

#[test]
fn overlapping_mutable_slices_are_refused() {
    let (a, mut b, c) = (vec![0; 16], vec![0; 8], vec![0; 16]);
    let mut pack = |at: [u64; 3]| slices.kernarg((&a, &mut b, &c), &at).map_err(|e| e.to_string());
    assert!(pack([0x1000, 0x1040, 0x1080]).is_ok(), "side by side");
    assert!(pack([0x1000, 0x2000, 0x1000]).is_ok(), "what nobody writes may be one");
    for (at, other) in [([0x1000, 0x103c, 0x2000], "`a`"), ([0x1000, 0x2000, 0x1fc4], "`c`")] {
        let error = pack(at).unwrap_err();
        assert!(error.contains("the memory of `b`") && error.contains(other), "{error}");
    }
}
