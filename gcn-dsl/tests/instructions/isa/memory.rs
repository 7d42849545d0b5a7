//! Memory instructions: every family, addressing form and kind of atomic operation.

use gcn_dsl::isa::{self, Bothen, Idxen, Off, Offen, Options};
use gcn_dsl::prelude::*;

use super::{TARGETS, assert_text, numbers};

gcn_kernel! {
    /// LDS atomics that return, two addresses at once, loads of halves.
    #[workgroup(64)]
    fn lds(x: &[u32], out: &mut [u32]) {
        let counter = Lds::<u32, 64>::new();
        let i = local_id().x;
        let n = x.len();
        let base = counter.address();
        counter[i] = x[i];
        barrier();
        let address = i * 4 + base;
        out[i] = isa::ds_add_rtn_u32(address, 5u32, 0);
        out[i + n] = isa::ds_cmpst_rtn_b32(address, x[i] + 5, 77u32, 0);
        let pair = isa::ds_read2_b32(base, 3, 60);
        out[i + 2 * n] = pair.get(0);
        out[i + 3 * n] = pair.get(1);
        out[i + 4 * n] = isa::ds_read_u16_d16_hi(x[i], address, 0);
        out[i + 5 * n] = isa::ds_read_u8_d16(x[i], address, 0);
        out[i + 6 * n] = isa::ds_wrxchg_rtn_b32(address, i + 1, 0);
        isa::ds_write_b8(address, 1u32, 3);
        out[i + 7 * n] = counter[i];
    }
}

#[test]
fn lds_atomics_return() {
    let x = numbers(64, 101);
    for target in TARGETS {
        let mut out = vec![0; 64 * 8];
        lds.launch(&Device::simulator(target), Grid::x(1), (&x, &mut out)).unwrap();
        for i in 0..64 {
            assert_eq!(out[i], x[i], "{target} {i}");
            assert_eq!(out[i + 64], x[i].wrapping_add(5), "{target} {i}");
            assert_eq!((out[i + 128], out[i + 192]), (77, 77), "{target} {i}");
            // With SRAM-ECC, which all targets except gfx900 have, the half that is not loaded becomes zero.
            let kept = if target.supports_sramecc() { 0 } else { x[i] };
            assert_eq!(out[i + 256], 77 << 16 | kept & 0xffff, "{target} {i}");
            assert_eq!(out[i + 320], 77 | kept & 0xffff_0000, "{target} {i}");
            assert_eq!(out[i + 384], 77, "{target} {i}");
            let last = i as u32 + 1;
            assert_eq!(out[i + 448], last & 0xff_ffff | 1 << 24, "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// Global loads, stores and atomics with 64-bit addresses, and with a base and an offset.
    #[workgroup(64)]
    fn global(x: *mut u32, y: *mut u32, out: *mut u32) {
        let i = global_id().x;
        let offset = i * 4;
        let [low, high] = isa::halves(x);
        let (low, carry) = isa::v_add_co_u32(low, offset);
        let (high, _) = isa::v_addc_co_u32(high, 0, carry);
        let address = (high as u64) << 32 | (low as u64);
        isa::global_store_dword((offset, out), isa::global_load_dword(address, 0), 0);
        isa::global_store_dword((offset, out), isa::global_atomic_add_rtn((offset, y), 3u32, 0), 256);
        isa::global_atomic_umax((offset, y), 1000u32, 0);
        let pair = Vector::<u32, 2>::from([i, splat(1000u32)]);
        isa::global_store_dword((offset, out), isa::global_atomic_cmpswap_rtn((offset, y), pair, 0), 512);
        let fresh = Options::new().glc();
        isa::global_store_dword((offset, out), isa::global_load_dword_with((offset, y), 0, fresh), 768);
        isa::flat_store_dword(address, isa::flat_atomic_swap_rtn(address, 5u32, 0), 0);
        isa::global_store_dword((offset, out), isa::flat_load_dword(address, 0), 1024);
    }
}

#[test]
fn global_atomics_return_the_old_value() {
    let (x, y) = (numbers(64, 111), numbers(64, 113));
    for target in TARGETS {
        let device = Device::simulator(target);
        let [px, py, po] = [64, 64, 320].map(|n| device.alloc::<u32>(n).unwrap());
        device.write(px, &x).unwrap();
        device.write(py, &y).unwrap();
        global.launch(&device, Grid::x(1), (px, py, po)).unwrap();
        let (out, after) = (device.read(po, 320).unwrap(), device.read(py, 64).unwrap());
        for i in 0..64 {
            let most = y[i].wrapping_add(3).max(1000);
            let last = if most == 1000 { i as u32 } else { most };
            assert_eq!(out[i], x[i], "{target} {i}");
            assert_eq!(out[i + 64], y[i], "{target} {i}");
            assert_eq!((out[i + 128], out[i + 192], after[i]), (most, last, last), "{target} {i}");
            assert_eq!(out[i + 256], x[i], "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// The same memory with a byte offset, with a record index, with both and with neither; atomics through a resource.
    #[workgroup(64)]
    fn buffers(p: *const u32, x: &[u32], y: &mut [u32], out: &mut [u32]) {
        let i = global_id().x;
        let n = x.len();
        out[i] = isa::buffer_load_dword(Offen(i * 4), x, 0, 0);
        out[i + n] = isa::buffer_load_dword(Off, x, 0, 16);
        out[i + 2 * n] = isa::buffer_atomic_add_rtn(7u32, Offen(i * 4), y, 0, 0);
        let pair = Vector::<u32, 2>::from([i, y[i]]);
        out[i + 3 * n] = isa::buffer_atomic_cmpswap_rtn(pair, Offen(i * 4), y, 0, 0);
        isa::buffer_atomic_or(0x8000_0000u32, Offen(i * 4), y, 0, 0);
        out[i + 4 * n] = isa::buffer_load_ubyte_d16_hi(i, Offen(i * 4), x, 0, 1);
        // Records of 8 bytes: the stride is in bits 61:48 of the resource, the size counts records.
        let [low, high] = isa::halves(p);
        let records: u32 = 32;
        let format: u32 = 0x0002_7000;
        let resource = isa::Sgprs::from([low, high | (8 << 16), records, format]);
        out[i + 5 * n] = isa::buffer_load_dword(Idxen(i >> 1), resource, 0, 4);
        out[i + 6 * n] = isa::buffer_load_dword(Bothen(i >> 1, (i & 1) * 4), resource, 0, 0);
        let wide = isa::buffer_load_dwordx4_with(Offen((i & 15) * 16), x, 0, 0, Options::new().slc());
        out[i + 7 * n] = wide.get(3);
    }
}

#[test]
fn buffers_are_addressed_in_four_ways() {
    let (x, y) = (numbers(64, 121), numbers(64, 123));
    for target in TARGETS {
        let device = Device::simulator(target);
        let p = device.alloc::<u32>(64).unwrap();
        device.write(p, &x).unwrap();
        let (mut new, mut out) = (y.clone(), vec![0; 64 * 8]);
        buffers.launch(&device, Grid::x(1), (p, &x, &mut new, &mut out)).unwrap();
        for i in 0..64 {
            assert_eq!((out[i], out[i + 64]), (x[i], x[4]), "{target} {i}");
            assert_eq!(out[i + 128], y[i], "{target} {i}");
            assert_eq!(out[i + 192], y[i].wrapping_add(7), "{target} {i}");
            assert_eq!(new[i], i as u32 | 0x8000_0000, "{target} {i}");
            let kept = if target.supports_sramecc() { 0 } else { i as u32 };
            assert_eq!(out[i + 256], (x[i] >> 8 & 0xff) << 16 | kept, "{target} {i}");
            assert_eq!(out[i + 320], x[i / 2 * 2 + 1], "{target} {i}");
            assert_eq!(out[i + 384], x[i], "{target} {i}");
            assert_eq!(out[i + 448], x[i % 16 * 4 + 3], "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// Loads directly to LDS: the dword of lane `k` is written to M0 + 4 k.
    #[workgroup(64)]
    fn dma(x: &[u32], out: &mut [u32]) {
        let block = Lds::<u32, 128>::new();
        let i = local_id().x;
        isa::buffer_load_dword_lds(Offen((63 - i) * 4), x, 0, block.address(), 0);
        isa::buffer_load_dword_lds(Offen(i * 4), x, 0, block.address() + 256, 0);
        barrier();
        out[i] = block[i];
        out[i + 64] = block[i + 64];
    }
}

#[test]
fn loads_go_straight_to_lds() {
    let x = numbers(64, 131);
    for target in TARGETS {
        let mut out = vec![0; 128];
        dma.launch(&Device::simulator(target), Grid::x(1), (&x, &mut out)).unwrap();
        for i in 0..64 {
            assert_eq!((out[i], out[i + 64]), (x[63 - i], x[i]), "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// Scalar loads with an immediate offset, with a register and with both; the clock.
    #[workgroup(64)]
    fn scalar(x: *const u32, k: u32, out: &mut [u32]) {
        let i = global_id().x;
        let four = isa::s_load_dwordx4(x, 16);
        let two = isa::halves(isa::s_load_dwordx2(x, k));
        let before = isa::s_memtime();
        out[i] = splat(four.get(0)) + splat(four.get(3));
        out[i + 64] = splat(two[1]);
        out[i + 128] = splat(isa::s_load_dword(x, (k, 12)));
        let after = isa::s_memtime();
        out[i + 192] = select(after >= before, 1u32, 0u32);
        isa::s_dcache_wb();
    }
}

#[test]
fn scalar_loads_take_three_kinds_of_offset() {
    let x = numbers(64, 141);
    for target in TARGETS {
        let device = Device::simulator(target);
        let p = device.alloc::<u32>(64).unwrap();
        device.write(p, &x).unwrap();
        let mut out = vec![0; 256];
        scalar.launch(&device, Grid::x(1), (p, 40, &mut out)).unwrap();
        for i in 0..64 {
            assert_eq!(out[i], x[4].wrapping_add(x[7]), "{target}");
            assert_eq!((out[i + 64], out[i + 128], out[i + 192]), (x[11], x[13], 1), "{target}");
        }
        assert_text(
            &scalar.build(target).unwrap(),
            &["s_load_dwordx4", "s_memtime", "offset:0xc", "s_dcache_wb"],
        );
    }
}
