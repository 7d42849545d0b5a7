//! Assembly with operands, traps, assertions and printed values.

use gcn_dsl::kernel::BuildOptions;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuiltKernel, LaunchError};

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

fn line_of(text: &str) -> String {
    let line = include_str!("embed.rs").lines().position(|l| l.contains(text)).unwrap() + 1;
    format!("embed.rs:{line}:")
}

fn debug_build<K: Kernel>(kernel: K, debug: bool) -> BuiltKernel<K> {
    kernel.build_with(Target::GFX942, &BuildOptions { debug, ..BuildOptions::default() }).unwrap()
}

gcn_kernel! {
    #[workgroup(64)]
    fn assembly(n: u32, x: &[f32], u: &[u32], y: &mut [f32], z: &mut [u32]) {
        let i = global_id().x;
        let (a, b) = (x[i], x[i + 64]);
        y[i] = asm! {
            a = in(a), b = in(b), r = out;
            v_mul_f32 {t}, {a}, 2.0;
            v_fma_f32 {r}, -{t}, |{b}|, {a};
        };
        let mut sum = a;
        sum = asm! { s = inout(sum), b = in(b); v_add_f32 {s}, {s}, {b}; v_add_f32 {s}, {s}, {s}; };
        y[i + 64] = sum;
        // A 64-bit sum of 32-bit halves, with the carry in VCC.
        let (low, high) = asm! {
            al = in(u[i]), bl = in(u[i + 64]), ah = in(i), low = out, high = out;
            v_add_co_u32  {low}, vcc, {al}, {bl};
            v_addc_co_u32 {high}, vcc, {ah}, 7, vcc;
        };
        z[i] = low;
        z[i + 64] = high;
        // SCC is passed from line to line.
        let (l, h) = asm! {
            n = in(n), l = out, h = out;
            s_add_u32  {l}, {n}, 0xffff_fff0;
            s_addc_u32 {h}, {n}, 0;
        };
        z[i + 128] = l;
        z[i + 192] = h;
    }
}

#[test]
fn assembly_computes_on_device_values() {
    for (target, n) in TARGETS.into_iter().zip([5u32, 20, 16]) {
        let x: Vec<f32> = (0..128).map(|i| (i as f32 - 60.0) / 4.0).collect();
        let u: Vec<u32> = (0..128).map(|i: u32| i.wrapping_mul(0x0977_1ee3)).collect();
        let (mut y, mut z) = (vec![0.0; 128], vec![0; 256]);
        assembly.launch(&Device::simulator(target), Grid::x(1), (n, &x, &u, &mut y, &mut z)).unwrap();
        for i in 0..64 {
            let (a, b) = (x[i], x[i + 64]);
            assert_eq!((y[i], y[i + 64]), (-(2.0 * a) * b.abs() + a, 2.0 * (a + b)), "{target} {i}");
            let (low, carry) = u[i].overflowing_add(u[i + 64]);
            let (l, h) = n.overflowing_add(0xffff_fff0);
            let expected = [low, i as u32 + 7 + u32::from(carry), l, n + u32::from(h)];
            assert_eq!([z[i], z[i + 64], z[i + 128], z[i + 192]], expected, "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// Memory instructions. `k` is 0.
    #[workgroup(64)]
    fn assembly_of_memory(k: u32, x: *const u32, table: &[f32], count: *mut u32, out: *mut u32) {
        let i = global_id().x;
        let shared = Lds::<u32, 128>::new();
        let (v, w) = asm! {
            o = in(i * 4), x = in(x), v = out, w = out;
            global_load_dword {v}, {o}, {x};
            global_load_dword {w}, {o}, {x} offset:256 slc;
        };
        let pair = asm! {
            at = in(i * 4 + shared.address()), v = in(v), w = in(w), pair = out;
            ds_write2_b32 {at}, {v}, {w} offset1:64;
            ds_read2_b32 {pair}, {at} offset0:64;
        };
        let old = asm! {
            o = in(i * 4), one = in(1u32), count = in(count), old = out;
            global_atomic_add {old}, {o}, {one}, {count} offset:4 glc;
            global_atomic_add {o}, {one}, {count} offset:4;
        };
        let (two, four) = asm! {
            x = in(x), k = in(k), two = out, four = out;
            s_load_dword {two}, {x}, 8;
            s_load_dword {four}, {x}, {k} offset:16;
        };
        let picked = asm! {
            o = in(i * 4), t = in(table), b = out;
            buffer_load_dword {b}, {o}, {t}, 0 offen offset:8;
        };
        asm! {
            o = in(i * 4), out = in(out), a = in(pair.get(0)), b = in(pair.get(1)), c = in(old), d = in(two + four),
            e = in(picked);
            global_store_dword {o}, {a}, {out};
            global_store_dword {o}, {b}, {out} offset:256;
            global_store_dword {o}, {c}, {out} offset:512;
            v_mov_b32 {d}, {d};
            global_store_dword {o}, {d}, {out} offset:768;
            global_store_dword {o}, {e}, {out} offset:1024;
        };
    }

    /// Modifiers.
    #[workgroup(64)]
    fn assembly_with_modifiers(x: &[f32], u: &[u32], y: &mut [f32], z: &mut [u32]) {
        let i = global_id().x;
        y[i] = asm! { x = in(x[i]), r = out; v_add_f32 {r}, {x}, 0.5 clamp; };
        let halves = asm! {
            u = in(u[i]), r = out;
            v_pk_sub_u16 {r}, {u}, {u} op_sel:[1, 0] op_sel_hi:[0, 1];
        };
        z[i] = halves.get(0) as u32 | (halves.get(1) as u32) << 16;
        // A lane whose source would be in another row keeps its old value.
        z[i + 64] = asm! { u = in(u[i]), d = inout(77u32); v_mov_b32_dpp {d}, {u} row_shr:1; };
        z[i + 128] = asm! {
            u = in(u[i]), d = out;
            v_add_u32_dpp {d}, {u}, {u} quad_perm:[1, 0, 3, 2] row_mask:0xf bank_mask:0xf bound_ctrl:0;
        };
        z[i + 192] = asm! {
            u = in(u[i]), s = out;
            v_add_u32_sdwa {s}, {u}, {u} dst_sel:DWORD src0_sel:BYTE_1 src1_sel:WORD_1;
        };
        z[i + 256] = asm! {
            u = in(u[i]), s = inout(0x1111_1111u32);
            v_mov_b32_sdwa {s}, {u} dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3;
        };
    }
}

#[test]
fn assembly_reads_and_writes_memory() {
    for target in TARGETS {
        let device = Device::simulator(target);
        let x: Vec<u32> = (0..128).map(|i: u32| i.wrapping_mul(0x0977_1ee3)).collect();
        let table: Vec<f32> = (0..66).map(|i| i as f32 / 4.0).collect();
        let from = device.alloc::<u32>(128).unwrap();
        device.write(from, &x).unwrap();
        let count = device.alloc::<u32>(65).unwrap();
        device.write(count, &(0..65).map(|i| 100 * i).collect::<Vec<u32>>()).unwrap();
        let out = device.alloc::<u32>(320).unwrap();
        assembly_of_memory.launch(&device, Grid::x(1), (0, from, &table, count, out)).unwrap();
        let (out, count) = (device.read(out, 320).unwrap(), device.read(count, 65).unwrap());
        for i in 0..64 {
            assert_eq!((out[i], out[i + 64]), (x[i + 64], x[i]), "{target} {i}");
            assert_eq!(
                (out[i + 128], count[i + 1]),
                (100 * (i as u32 + 1), 100 * (i as u32 + 1) + 2),
                "{target} {i}"
            );
            assert_eq!(out[i + 192], x[2].wrapping_add(x[4]), "{target} {i}");
            assert_eq!(f32::from_bits(out[i + 256]), table[i + 2], "{target} {i}");
        }
    }
}

#[test]
fn assembly_takes_modifiers() {
    for target in TARGETS {
        let x: Vec<f32> = (0..64).map(|i| i as f32 / 16.0 - 2.0).collect();
        let u: Vec<u32> = (0..64).map(|i: u32| i.wrapping_mul(0x0977_1ee3)).collect();
        let (mut y, mut z) = (vec![0.0; 64], vec![0; 320]);
        assembly_with_modifiers
            .launch(&Device::simulator(target), Grid::x(1), (&x, &u, &mut y, &mut z))
            .unwrap();
        for i in 0..64 {
            assert_eq!(y[i], (x[i] + 0.5).clamp(0.0, 1.0), "{target} {i}");
            let (low, high) = (u[i] as u16, (u[i] >> 16) as u16);
            let halves = [high.wrapping_sub(low), low.wrapping_sub(high)].map(u32::from);
            assert_eq!(z[i], halves[0] | halves[1] << 16, "{target} {i}");
            assert_eq!(z[i + 64], if i % 16 == 0 { 77 } else { u[i - 1] }, "{target} {i}");
            assert_eq!(z[i + 128], u[i ^ 1].wrapping_add(u[i]), "{target} {i}");
            assert_eq!(z[i + 192], (u[i] >> 8 & 0xff) + (u[i] >> 16), "{target} {i}");
            assert_eq!(z[i + 256], 0x1100_1111 | (u[i] >> 24) << 16, "{target} {i}");
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn asserts(limit: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let value = x[i];
        if i > 3 {
            debug_assert!(value < limit, "value below {}", "the limit");
        }
        debug_assert_ne!(limit, 77);
        y[i] = value;
    }

    #[workgroup(64)]
    fn traps(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = 1;
        if x[i] == 9 {
            trap();
        }
        y[i] = 2;
    }
}

fn launch_asserts(debug: bool, limit: u32, x: &[u32]) -> Result<Vec<u32>, LaunchError> {
    let mut y = vec![0; 64];
    let built = debug_build(asserts, debug);
    Device::simulator(Target::GFX942).launch(&asserts, &built, Grid::x(1), (limit, x, &mut y))?;
    Ok(y)
}

#[test]
fn assertions_stop_debug_builds_at_their_line() {
    let x: Vec<u32> = (0..64).collect();
    assert_eq!(launch_asserts(true, 64, &x).unwrap(), x);
    let error = launch_asserts(true, 63, &x).unwrap_err().to_string();
    assert!(error.contains(&line_of("debug_assert!(value <")), "{error}");
    assert!(error.contains("assertion failed: value below the limit"), "{error}");
    // Inactive lanes do not count.
    let mut small = vec![0; 64];
    small[2] = 1000;
    launch_asserts(true, 1, &small).unwrap();
    let error = launch_asserts(true, 77, &x).unwrap_err().to_string();
    assert!(error.contains(&line_of("debug_assert_ne!(limit")), "{error}");
    assert!(error.contains("limit != 77"), "{error}");
    // Without debug, the build contains no trace of them.
    assert_eq!(launch_asserts(false, 77, &x).unwrap(), x);
    assert!(!debug_build(asserts, false).assembly(Comments::None).contains("s_trap"));
}

#[test]
fn traps_stop_where_a_lane_gets_there() {
    for target in TARGETS {
        let (device, mut y) = (Device::simulator(target), vec![0; 64]);
        let mut x: Vec<u32> = vec![8; 64];
        traps.launch(&device, Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!(y, [2; 64]);
        x[63] = 9;
        let Err(LaunchError::Trap { location, .. }) = traps.launch(&device, Grid::x(1), (&x, &mut y)) else {
            panic!("no trap");
        };
        assert!(location.contains(&line_of("            trap();")), "{location}");
    }
}

gcn_kernel! {
    #[workgroup(128)]
    fn shows(n: u32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let v = dbg!(x[i] * 2.0);
        let wide = dbg!((i as u64) << 33);
        let flag = dbg!(n > 3);
        if i % 64 < 2 {
            dbg!((v > 0.0, n));
        }
        for k in 0..dbg!(n) - 3 {
            dbg!(k as i16);
        }
        y[i] = select(flag, v, (wide >> 33) as u32 as f32);
    }

    #[workgroup(128)]
    fn shows_nothing(n: u32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let v = x[i] * 2.0;
        let wide = (i as u64) << 33;
        let flag = n > 3;
        for _ in 0..n - 3 {}
        y[i] = select(flag, v, (wide >> 33) as u32 as f32);
    }
}

#[test]
fn dbg_prints_each_lanes_value_in_the_simulator() {
    let (built, device) = (debug_build(shows, true), Device::simulator(Target::GFX942));
    let x: Vec<f32> = (0..128).map(|i| i as f32 / 4.0 - 8.0).collect();
    let mut y = vec![0.0; 128];
    let stats = device.launch(&shows, &built, Grid::x(1), (5, &x, &mut y)).unwrap();
    for (v, y) in x.iter().zip(&y) {
        assert_eq!(*y, v * 2.0);
    }
    let of = |wave: u32| stats.printed.iter().filter(move |p| p.wave == wave);
    assert_eq!(of(0).count() + of(1).count(), stats.printed.len());
    for wave in 0..2u32 {
        let find = |expression: &str| {
            let mut found = of(wave).filter(|p| p.expression == expression);
            let first = found.next().unwrap_or_else(|| panic!("{expression}: {:?}", stats.printed));
            assert!(found.next().is_none(), "{expression} twice");
            first
        };
        let value = find("x[i] * 2.0");
        assert!(value.location.contains(&line_of("dbg!(x[i] * 2.0)")), "{}", value.location);
        for lane in 0..64u8 {
            let i = wave as usize * 64 + usize::from(lane);
            assert_eq!(value.values[usize::from(lane)], (Some(lane), format!("{:?}", x[i] * 2.0)));
            let wide = &find("(i as u64) << 33").values[usize::from(lane)];
            assert_eq!(*wide, (Some(lane), ((i as u64) << 33).to_string()));
        }
        assert_eq!(find("n > 3").values, [(None, "true".to_owned())]);
        // Only the values of active lanes are printed.
        let positive = |lane: u32| (x[(wave * 64 + lane) as usize] > 0.0).to_string();
        let both = [(Some(0), positive(0)), (Some(1), positive(1))];
        assert_eq!(find("(v > 0.0, n) (value 0)").values, both);
        assert_eq!(find("(v > 0.0, n) (value 1)").values, [(None, "5".to_owned())]);
        let trips: Vec<&str> =
            of(wave).filter(|p| p.expression == "k as i16").map(|p| p.values[0].1.as_str()).collect();
        assert_eq!(trips, ["0", "1"]);
    }
    let text = stats.printed.iter().find(|p| p.expression == "(v > 0.0, n) (value 0)").unwrap().to_string();
    assert!(text.ends_with("workgroup 0,0,0, wave 0: (v > 0.0, n) (value 0) = 0..=1: false"), "{text}");
    // Without debug, the build does not contain it at all.
    let (quiet, none) = (debug_build(shows, false), debug_build(shows_nothing, false));
    assert!(!quiet.assembly(Comments::None).contains("v_xor_b32"));
    assert_eq!(none.report().instructions, quiet.report().instructions);
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Sum,
    Max,
}

gcn_kernel! {
    /// A host value is compared as on the host, and a host `usize` is used as a step.
    #[workgroup(BLOCK)]
    fn in_mode<const BLOCK: usize>(#[host] mode: Mode, x: &[u32], y: &mut [u32]) {
        let mut all: u32 = 0;
        for i in (local_id().x..x.len()).step_by(BLOCK) {
            if mode == Mode::Sum {
                all += x[i];
            } else {
                all = all.max(x[i]);
            }
        }
        let whole = if Mode::Max != mode { workgroup_sum(all) } else { workgroup_max(all) };
        if local_id().x == 0 {
            y[0] = whole;
        }
    }
}

#[test]
fn modes_of_the_host_are_compared() {
    let x: Vec<u32> = (0..1000).map(|i| i * 37 % 1009).collect();
    let device = Device::simulator(Target::GFX90A);
    for (mode, expected) in [(Mode::Sum, x.iter().sum()), (Mode::Max, *x.iter().max().unwrap())] {
        let mut y = [0];
        in_mode::<128> { mode }.launch(&device, Grid::x(1), (&x, &mut y)).unwrap();
        assert_eq!(y, [expected], "{mode:?}");
    }
}
