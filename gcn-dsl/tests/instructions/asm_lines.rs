//! Lines of `asm!` whose operands or modifiers are not plain registers and numbers: addresses of two registers, loads
//! to LDS, constants of each type, and operands for which assemblers have names. The results are compared with plain
//! Rust, and the text is checked by LLVM.

use std::io::Write as _;
use std::process::{Command, Stdio};

use gcn_dsl::BuiltKernel;
use gcn_dsl::isa::{Sgprs, halves};
use gcn_dsl::prelude::*;
use gcn_test_support::llvm::tool;

gcn_kernel! {
    /// Records of 8 bytes: lane `i` reads the dwords of record `63 - i`.
    #[workgroup(64)]
    fn records(x: *const u32, y: &mut [u32]) {
        let i = local_id().x;
        let [low, high] = halves(x);
        let (count, format): (u32, u32) = (64, 0x0002_7000);
        let resource = Sgprs::from([low, high | 8 << 16, count, format]);
        let (a, b, c) = asm! {
            record = in(63 - i), byte = in(i % 2 * 4), x = in(resource), a = out, b = out, c = out;
            buffer_load_dword {a}, [{record}, {byte}], {x}, 0 idxen offen;
            buffer_load_dword {b}, {record}, {x}, 0 idxen offset:4;
            tbuffer_load_format_x {c}, [{record}, {byte}], {x}, 0 format:[BUF_DATA_FORMAT_32, BUF_NUM_FORMAT_UINT] idxen offen;
        };
        y[i] = a;
        y[i + 64] = b;
        y[i + 128] = c;
    }

    /// Loads to LDS, at the address in M0 plus four bytes per lane.
    #[workgroup(64)]
    fn to_lds(x: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        let shared = Lds::<u32, 256>::new();
        shared[i] = 0;
        barrier();
        let (first, second) = asm! {
            m0 = in(shared.address()), o = in((63 - i) * 4), x = in(x), at = in(shared.address() + i * 4), a = out, b = out;
            buffer_load_dword {o}, {x}, 0 offen lds;
            s_add_u32 m0, m0, 0x80;
            // The offset is added to both the memory address and the LDS address.
            buffer_load_dword {o}, {x}, 0 offen offset:256 lds;
            s_waitcnt vmcnt(0);
            ds_read_b32 {a}, {at};
            ds_read_b32 {b}, {at} offset:384;
        };
        y[i] = first;
        y[i + 64] = second;
        y[i + 128] = shared[i];
    }

    /// The same from global memory.
    #[workgroup(64)]
    #[targets(gfx942, gfx950)]
    fn global_to_lds(x: *const u32, y: &mut [u32]) {
        let i = local_id().x;
        let shared = Lds::<u32, 64>::new();
        asm! {
            m0 = in(shared.address()), o = in((63 - i) * 4), x = in(x);
            global_load_lds_dword {o}, {x};
        };
        barrier();
        y[i] = shared[i];
    }

    #[workgroup(64)]
    #[targets(gfx950)]
    fn wide_to_lds(x: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        let shared = Lds::<u32, 256>::new();
        asm! {
            m0 = in(shared.address()), o = in((63 - i) * 16), x = in(x);
            buffer_load_dwordx4 {o}, {x}, 0 offen lds;
        };
        barrier();
        for k in 0..4u32 {
            y[i * 4 + k] = shared[i * 4 + k];
        }
    }

    /// The meaning of a number depends on the operand.
    #[workgroup(64)]
    #[targets(gfx900, gfx906, gfx908, gfx90a)]
    fn constants(h: &[f16], s: &[f32], d: &[f64], yh: &mut [f16], ys: &mut [f32], yd: &mut [f64], yp: &mut [u32]) {
        let i = local_id().x;
        yh[i] = asm! { h = in(h[i]), r = out; v_add_f16 {r}, {h}, 0.5; };
        yh[i + 64] = asm! { h = in(h[i]), r = out; v_mul_f16_e64 {r}, 0.1, {h} clamp; };
        yh[i + 128] = asm! { h = in(h[i]), r = out; v_madak_f16 {r}, {h}, {h}, 3.5; };
        ys[i] = asm! { s = in(s[i]), r = out; v_madak_f32 {r}, {s}, {s}, -3.5; };
        ys[i + 64] = asm! { s = in(s[i]), r = out; v_fma_f32 {r}, neg({s}), abs({s}), 2.0; };
        yd[i] = asm! { d = in(d[i]), r = out; v_add_f64 {r}, {d}, 0.5; };
        // A literal is the high half of the f64.
        yd[i + 64] = asm! { d = in(d[i]), r = out; v_add_f64 {r}, {d}, 0x4024_0000; };
        let pair = Vector::<f16, 2>::from([h[i], h[i]]);
        // The constant is the low half, and both halves read it.
        yp[i] = asm! { p = in(pair), r = out; v_pk_add_f16 {p}, {p}, 1.0 op_sel_hi:[1, 0]; v_mov_b32 {r}, {p}; };
    }

    /// Fields for which assemblers have names, and values that the host knows.
    #[workgroup(64)]
    fn words(u: &[u32], y: &mut [u32], #[host] far: i32) {
        let i = local_id().x;
        let shared = Lds::<u32, 128>::new();
        let (mode, seven, nine, greater) = asm! {
            mode = out, seven = out, nine = out, greater = out;
            s_getreg_b32 {mode}, hwreg(HW_REG_MODE, 4, 4);
            s_movk_i32 {seven}, 7;
            s_mov_b32 {nine}, {seven};
            s_addk_i32 {nine}, 2;
            s_cmpk_gt_u32 {nine}, 8;
            s_cselect_b32 {greater}, 1, 0;
            s_nop 3;
            s_sleep 1;
            s_setprio 1;
        };
        y[i] = mode;
        y[i + 64] = (seven as u32) + (nine as u32) * 16 + greater * 256;
        y[i + 128] = asm! { u = in(u[i]), r = out; ds_swizzle_b32 {r}, {u} offset:swizzle(SWAP, 1); };
        let byte = asm! { u = in(u[i]), r = out; v_add_u32_sdwa {r}, sext({u}), {u} dst_sel:DWORD src0_sel:BYTE_0 src1_sel:BYTE_1; };
        y[i + 192] = byte;
        y[i + 256] = asm! {
            at = in(shared.address() + i * 4), u = in(u[i]), far = in(far), r = out;
            ds_write_b32 {at}, {u} offset:{far};
            s_waitcnt lgkmcnt(0) & vmcnt(0);
            ds_read_b32 {r}, {at} offset:{far};
        };
    }

    /// One block of a product whose addend is 0, and one with a negated operand.
    #[workgroup(64)]
    #[targets(gfx942, gfx950)]
    fn products(x: &[f64], w: &[f32], y: &mut [f64], z: &mut [f32]) {
        let i = local_id().x;
        let f = w[i];
        let sums = asm! { a = in(f), r = out; v_mfma_f32_4x4x1_16b_f32 {r}, {a}, {a}, 1.0; };
        z[i] = sums.get(0);
        y[i] = asm! { a = in(x[i]), c = in(x[i + 64]), r = out; v_mfma_f64_4x4x4_4b_f64 {r}, {a}, {a}, {c} neg:[1, 0, 0]; };
    }
}

/// Checks that LLVM assembles the text to the same bytes.
fn llvm_takes(kernel: &BuiltKernel, target: Target) {
    let Some(mc) = tool("llvm-mc") else { return };
    let mut child = Command::new(mc)
        .args(["-triple=amdgcn-amd-amdhsa", &format!("-mcpu={target}"), "-filetype=obj", "-o", "/dev/null"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(kernel.assembly(Comments::None).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{target}: {}", String::from_utf8_lossy(&output.stderr));
}

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(0x0977_1ee3)).collect()
}

fn on_device(device: &Device, x: &[u32]) -> gcn_dsl::DevicePtr<u32> {
    let at = device.alloc::<u32>(x.len()).unwrap();
    device.write(at, x).unwrap();
    at
}

#[test]
fn an_index_and_an_offset_address_a_record() {
    let x = numbers(128);
    for target in Target::REPRESENTATIVES {
        let device = Device::simulator(target);
        let (from, mut y) = (on_device(&device, &x), vec![0; 192]);
        records.launch(&device, Grid::x(1), (from, &mut y)).unwrap();
        for i in 0..64 {
            let record = 2 * (63 - i);
            let expected = [x[record + i % 2], x[record + 1], x[record + i % 2]];
            assert_eq!([y[i], y[i + 64], y[i + 128]], expected, "{target} {i}");
        }
        let built = records.build(target).unwrap();
        assert!(built.assembly(Comments::None).contains("idxen offen"));
        llvm_takes(&built, target);
    }
}

#[test]
fn loads_go_to_lds_where_m0_says() {
    let x = numbers(256);
    for target in Target::REPRESENTATIVES {
        let device = Device::simulator(target);
        let mut y = vec![0; 192];
        to_lds.launch(&device, Grid::x(1), (&x[..128], &mut y)).unwrap();
        let expected: Vec<u32> =
            [63, 127, 63].into_iter().flat_map(|last| (0..64).map(move |i| last - i)).map(|i| x[i]).collect();
        assert_eq!(y, expected, "{target}");
        let built = to_lds.build(target).unwrap();
        assert_eq!(built.assembly(Comments::None).matches(" lds\n").count(), 2);
        llvm_takes(&built, target);
    }
    for target in [Target::GFX942, Target::GFX950] {
        let device = Device::simulator(target);
        let (from, mut y) = (on_device(&device, &x), vec![0; 64]);
        global_to_lds.launch(&device, Grid::x(1), (from, &mut y)).unwrap();
        assert_eq!(y, (0..64).map(|i| x[63 - i]).collect::<Vec<u32>>(), "{target}");
        llvm_takes(&global_to_lds.build(target).unwrap(), target);
    }
    let mut y = vec![0; 256];
    wide_to_lds.launch(&Device::simulator(Target::GFX950), Grid::x(1), (&x, &mut y)).unwrap();
    assert_eq!(y, (0..256).map(|n| x[(63 - n / 4) * 4 + n % 4]).collect::<Vec<u32>>());
    llvm_takes(&wide_to_lds.build(Target::GFX950).unwrap(), Target::GFX950);
}

#[test]
fn constants_are_of_the_type_of_their_operand() {
    let s: Vec<f32> = (0..64).map(|i| i as f32 / 4.0 - 3.0).collect();
    let (h, d): (Vec<f16>, Vec<f64>) = s.iter().map(|x| (f16::from_f32(*x), f64::from(*x))).unzip();
    for target in [Target::GFX900, Target::GFX90A] {
        let (mut yh, mut ys, mut yd, mut yp) =
            (vec![f16::ZERO; 192], vec![0.0; 128], vec![0.0; 128], vec![0; 64]);
        let device = Device::simulator(target);
        constants.launch(&device, Grid::x(1), (&h, &s, &d, &mut yh, &mut ys, &mut yd, &mut yp)).unwrap();
        for i in 0..64 {
            // All of these are exact except the product with 0.1, which is the exact product rounded once.
            let tenth = f16::from_f64(f64::from(f16::from_f64(0.1)) * d[i]).max(f16::ZERO).min(f16::ONE);
            let square = s[i] * s[i];
            let expected = [f16::from_f32(s[i] + 0.5), tenth, f16::from_f32(square + 3.5)];
            assert_eq!([yh[i], yh[i + 64], yh[i + 128]], expected, "{target} {i}");
            assert_eq!([ys[i], ys[i + 64]], [square - 3.5, -s[i] * s[i].abs() + 2.0], "{target} {i}");
            assert_eq!([yd[i], yd[i + 64]], [d[i] + 0.5, d[i] + 10.0], "{target} {i}");
            let one = u32::from(f16::from_f32(s[i] + 1.0).to_bits());
            assert_eq!(yp[i], one | one << 16, "{target} {i}");
        }
        llvm_takes(&constants.build(target).unwrap(), target);
    }
}

#[test]
fn words_of_the_assembler_are_numbers() {
    let u = numbers(64);
    for target in Target::REPRESENTATIVES {
        let mut y = vec![0; 320];
        let kernel = words { far: 64 };
        kernel.launch(&Device::simulator(target), Grid::x(1), (&u, &mut y)).unwrap();
        for i in 0..64 {
            // Denormals of both widths are preserved.
            assert_eq!(y[i], 0xf, "{target}");
            assert_eq!(y[i + 64], 7 + 9 * 16 + 256, "{target}");
            assert_eq!(y[i + 128], u[i ^ 1], "{target} {i}");
            let bytes = (i32::from(u[i] as i8) as u32).wrapping_add(u[i] >> 8 & 0xff);
            assert_eq!(y[i + 192], bytes, "{target} {i}");
            assert_eq!(y[i + 256], u[i], "{target} {i}");
        }
        llvm_takes(&kernel.build(target).unwrap(), target);
    }
}

/// Blocks of 4 x 4: lane `4 b + r` has row r of A and column r of B of block b. The f64 instruction has K = 4 and four
/// blocks, and each group of 16 lanes has one K.
#[test]
fn matrix_lines_take_constants_and_signs() {
    let w: Vec<f32> = (0..64).map(|i| (i * 7 % 13) as f32 - 6.0).collect();
    let x: Vec<f64> = (0..128).map(|i| (i * 5 % 17) as f64 - 8.0).collect();
    for target in [Target::GFX942, Target::GFX950] {
        let (mut y, mut z) = (vec![0.0; 64], vec![0.0; 64]);
        products.launch(&Device::simulator(target), Grid::x(1), (&x, &w, &mut y, &mut z)).unwrap();
        for i in 0..64 {
            // Register 0 is row 0 of the block.
            assert_eq!(z[i], w[i / 4 * 4] * w[i] + 1.0, "{target} {i}");
        }
        let built = products.build(target).unwrap();
        assert!(built.assembly(Comments::None).contains("neg:[1,0,0]"));
        llvm_takes(&built, target);
    }
}
