//! `gcn_asm!`: kernels in the strict simulator, compared with plain Rust; `check = fix`, compared with the wait
//! inserter and the manual's numbers; programs inserted into programs.

use gcn_dsl::asm::AsmError;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildOptions, WaveSize};
use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::wait::{WaitOptions, insert_waits};
use gcn_isa::{Program, check};

const BOTH: [Target; 2] = [Target::GFX90A, Target::GFX942];

gcn_asm! {
    /// d = a * b for 16 x 16 matrices of f16; b is stored column by column.
    #[workgroup(64)]
    #[targets(gfx90a, gfx942)]
    #[check(fix)]
    fn matmul(a: *const f16, b: *const f16, d: *mut f32) {
        s_load_dwordx4 s[4:7], s[0:1], a;
        s_load_dwordx2 s[8:9], s[0:1], d;
        v_and_b32 v1, 15, v0;
        v_lshrrev_b32 v2, 4, v0;
        v_lshlrev_b32 v3, 5, v1;            // 32 bytes a row
        v_lshl_add_u32 v3, v2, 3, v3;       // 4 elements for each group of 16 lanes
        global_load_dwordx2 v[4:5], v3, s[4:5];
        global_load_dwordx2 v[6:7], v3, s[6:7];
        v_mfma_f32_16x16x16f16 v[8:11], v[4:5], v[6:7], 0;
        v_lshlrev_b32 v12, 2, v1;
        v_lshl_add_u32 v12, v2, 8, v12;
        global_store_dword v12, v8, s[8:9];
        global_store_dword v12, v9, s[8:9] offset:64;
        global_store_dword v12, v10, s[8:9] offset:128;
        global_store_dword v12, v11, s[8:9] offset:192;
        s_endpgm;
    }

    /// y[i] = x[i] + x[i + stride] + … (count terms) + the neighbour's sum, which goes through LDS.
    #[workgroup(64)]
    #[targets(gfx90a, gfx942)]
    #[check(fix)]
    #[lds(64 * 4)]
    fn sums(x: &[u32], y: &mut [u32], stride: u32, count: u32) {
        r"
            s_load_dwordx2 s[4:5], s[0:1], x
            s_load_dwordx2 s[6:7], s[0:1], y
            s_load_dword s8, s[0:1], stride
            s_load_dword s9, s[0:1], x.len + 24     ; count: 24 bytes after the length of x
            v_lshl_add_u32 v1, s2, 6, v0
            v_mov_b32 v3, 0
        again:
            v_lshlrev_b32 v2, 2, v1
            global_load_dword v4, v2, s[4:5]
            v_add_u32 v1, s8, v1
            s_sub_u32 s9, s9, 1
            v_add_u32 v3, v3, v4
            s_cmp_lg_u32 s9, 0
            s_cbranch_scc1 again
            v_lshlrev_b32 v5, 2, v0
            ds_write_b32 v5, v3
            s_barrier
            v_xor_b32 v6, 4, v5
            ds_read_b32 v7, v6
            v_lshl_add_u32 v8, s2, 8, v5
            v_add_u32 v3, v3, v7
            global_store_dword v8, v3, s[6:7]
            s_endpgm
        "
    }

    /// y[i] = a * x[i]. Every wait is written.
    #[workgroup(64)]
    #[targets(gfx90a, gfx942)]
    fn scale(a: f32, x: *const f32, y: *mut f32) {
        s_load_dword s8, s[0:1], a;
        s_load_dwordx4 s[4:7], s[0:1], x;
        v_lshl_add_u32 v0, s2, 6, v0;
        v_lshlrev_b32 v0, 2, v0;
        s_waitcnt lgkmcnt(0);
        global_load_dword v1, v0, s[4:5];
        s_waitcnt vmcnt(0);
        v_mul_f32 v1, s8, v1;
        global_store_dword v0, v1, s[6:7];
        s_endpgm;
    }

    /// A kernel with arguments of several types, to test their positions.
    #[workgroup(64)]
    #[targets(gfx942)]
    fn arguments(a: u8, b: f64, x: &[u8], c: f16, y: *mut f64, z: &mut [f32], d: u32) {
        s_endpgm;
    }
}

const RDNA: [Target; 4] = [Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201];

gcn_asm! {
    /// The sum of each lane's number in its wave and that of its neighbour, which is passed through LDS.
    #[workgroup(64)]
    #[targets(gfx1030, gfx1100, gfx1151, gfx1201)]
    #[check(fix)]
    #[wave(64)]
    #[lds(64 * 4)]
    fn lanes_of_64(y: *mut u32) {
        s_load_dwordx2 s[4:5], s[0:1], y;
        v_mbcnt_lo_u32_b32 v1, -1, 0;
        v_mbcnt_hi_u32_b32 v1, -1, v1;
        v_lshlrev_b32 v2, 2, v0;
        ds_write_b32 v2, v1;
        v_xor_b32 v3, 4, v2;
        ds_read_b32 v4, v3;
        v_add_nc_u32 v4, v4, v1;
        global_store_dword v2, v4, s[4:5];
        s_endpgm;
    }

    /// The same, in waves of the default size.
    #[workgroup(64)]
    #[targets(gfx1030, gfx1100, gfx1151, gfx1201)]
    #[check(fix)]
    #[lds(64 * 4)]
    fn lanes_of_32(y: *mut u32) {
        s_load_dwordx2 s[4:5], s[0:1], y;
        v_mbcnt_lo_u32_b32 v1, -1, 0;
        v_mbcnt_hi_u32_b32 v1, -1, v1;
        v_lshlrev_b32 v2, 2, v0;
        ds_write_b32 v2, v1;
        v_xor_b32 v3, 4, v2;
        ds_read_b32 v4, v3;
        v_add_nc_u32 v4, v4, v1;
        global_store_dword v2, v4, s[4:5];
        s_endpgm;
    }
}

#[test]
fn kernels_of_rdna_run_in_both_sizes_of_waves() {
    for target in RDNA {
        let device = Device::simulator(target);
        let y = device.alloc::<u32>(64).unwrap();
        for lanes in [32, 64] {
            match lanes {
                32 => lanes_of_32.launch(&device, Grid::x(1), (y,)).unwrap(),
                _ => lanes_of_64.launch(&device, Grid::x(1), (y,)).unwrap(),
            };
            let expected: Vec<u32> = (0..64).map(|i| i % lanes + (i ^ 1) % lanes).collect();
            assert_eq!(device.read(y, 64).unwrap(), expected, "{target} {lanes}");
        }
        let other = BuildOptions { wave: Some(WaveSize::W32), ..BuildOptions::default() };
        let error = lanes_of_64.build_with(target, &other).unwrap_err().to_string();
        assert!(error.contains("for waves of 64 lanes, not 32"), "{error}");
        assert!(lanes_of_32.build_with(target, &other).is_ok());
        let mut program = lanes_of_64::PROGRAM.program(target).unwrap();
        let error = lanes_of_32::PROGRAM.splice(&mut program, 0).unwrap_err();
        assert_eq!(error, AsmError::Wave { says: 32, asked: 64 });
    }
}

#[test]
fn a_matrix_product_equals_rust() {
    let element = |i: usize, factor: usize| ((i * factor + 3) % 17) as f32 - 8.0;
    let a: Vec<f32> = (0..256).map(|i| element(i, 7)).collect();
    let b: Vec<f32> = (0..256).map(|i| element(i, 11)).collect();
    let half = |v: &[f32]| v.iter().map(|x| f16::from_f32(*x)).collect::<Vec<_>>();
    for target in BOTH {
        let device = Device::simulator(target);
        let (at, bt, d) = (
            device.alloc::<f16>(256).unwrap(),
            device.alloc::<f16>(256).unwrap(),
            device.alloc::<f32>(256).unwrap(),
        );
        device.write(at, &half(&a)).unwrap();
        device.write(bt, &half(&b)).unwrap();
        matmul.launch(&device, Grid::x(1), (at, bt, d)).unwrap();
        let found = device.read(d, 256).unwrap();
        for (row, column) in (0..16).flat_map(|r| (0..16).map(move |c| (r, c))) {
            let expected: f32 = (0..16).map(|k| a[row * 16 + k] * b[column * 16 + k]).sum();
            assert_eq!(found[row * 16 + column], expected, "{target} {row} {column}");
        }
    }
}

#[test]
fn a_loop_and_lds_equal_rust() {
    let x: Vec<u32> = (0..1000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let sum = |i: usize| (0..5).fold(0u32, |s, k| s.wrapping_add(x[i + k * 130]));
    let expected: Vec<u32> = (0..128).map(|i| sum(i).wrapping_add(sum(i ^ 1))).collect();
    for target in BOTH {
        let mut y = vec![0; 128];
        sums.launch(&Device::simulator(target), Grid::x(2), (&x, &mut y, 130, 5)).unwrap();
        assert_eq!(y, expected, "{target}");
    }
}

/// Shows that the simulator would have detected a missing wait.
#[test]
fn without_the_inserted_waits_the_simulator_objects() {
    for target in BOTH {
        let built = sums.build(target).unwrap();
        let mut program = built.program().clone();
        let is_wait = |l: &gcn_isa::Line| matches!(l.inst.desc.mnemonic, "s_waitcnt" | "s_nop");
        assert!(program.lines.iter().filter(|l| is_wait(l)).all(|l| l.note.is_some() && l.loc.is_none()));
        assert!(program.lines.iter().filter(|l| !is_wait(l)).all(|l| l.note.is_none() && l.loc.is_some()));
        let kept: Vec<usize> = (0..program.lines.len()).filter(|i| !is_wait(&program.lines[*i])).collect();
        for label in &mut program.labels {
            label.at = label.at.map(|at| kept.iter().filter(|k| **k < at).count());
        }
        program.lines.retain(|l| !is_wait(l));
        let bare = built.with_program(program).unwrap();
        let (x, mut y) = (vec![1; 1000], vec![0; 128]);
        let run = Device::simulator(target).launch(&sums, &bare, Grid::x(2), (&x, &mut y, 130, 5));
        assert!(run.is_err(), "{target}");
    }
}

/// Wait states from the manuals: the result of an XDL instruction of 8 passes (gfx90a) may be read after 11, one of 4
/// passes (gfx942) after 7. Two instructions are already in between.
#[test]
fn wait_states_of_the_product_are_the_manuals() {
    for (target, nop) in [(Target::GFX90A, "\ts_nop 8\n"), (Target::GFX942, "\ts_nop 4\n")] {
        let text = matmul::PROGRAM.assembly(target, Comments::None).unwrap();
        assert_eq!(text.matches("s_nop").count(), 1, "{text}");
        assert!(text.contains(nop), "{text}");
        let explained = matmul::PROGRAM.assembly(target, Comments::Explain).unwrap();
        let line = include_str!("asm.rs")
            .lines()
            .position(|l| l.contains("v_mfma_f32_16x16x16f16 v[8:11]"))
            .unwrap()
            + 1;
        assert!(explained.contains(&format!("at line {line} (")), "{line}: {explained}");
    }
}

fn insts(program: &Program) -> Vec<String> {
    let text = gcn_emit::text::print_program(program, Comments::None);
    text.lines().map(str::to_owned).collect()
}

/// The same text for the macro and for the library.
macro_rules! fixed {
    ($target:ident, $text:literal) => {
        (gcn_asm!(target = $target, check = fix, $text), stringify!($target), $text)
    };
}

/// The macro inserts the same waits at compile time as the inserter at run time, and the checker accepts the result.
#[test]
fn fix_gives_what_the_inserter_gives() {
    let cases = [
        fixed!(
            gfx900,
            "s_mov_b32 m0, s0\n v_readlane_b32 s4, v0, 3\n v_mov_b32 v1, s4\n v_readlane_b32 s5, v1, s4\n s_endpgm"
        ),
        fixed!(
            gfx908,
            "v_accvgpr_write_b32 a0, v0\n v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]\n v_accvgpr_read_b32 v2, a1\n s_endpgm"
        ),
        fixed!(
            gfx90a,
            "v_mfma_f64_16x16x4f64 v[0:7], v[8:9], v[10:11], v[0:7]\n global_store_dwordx2 v12, v[0:1], s[0:1]\n s_endpgm"
        ),
        fixed!(
            gfx942,
            "a: global_load_dword v1, v0, s[0:1]\n s_cbranch_scc0 b\n v_mov_b32 v2, v1\n b: v_mov_b32 v3, v1\n s_cbranch_vccz a\n s_endpgm"
        ),
        fixed!(
            gfx950,
            "v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]\n v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[8:9], v[0:3]\n s_nop 0\n v_add_f32 v1, v1, v0\n s_endpgm"
        ),
    ];
    for (asm, target, text) in cases {
        let target: Target = target.parse().unwrap();
        let mut expected = parse_program(text, target, "asm").unwrap();
        let inserted = insert_waits(&mut expected, &WaitOptions::default());
        assert!(!inserted.is_empty(), "{text}: a case without waits shows nothing");
        let program = asm.program(target).unwrap();
        assert_eq!(insts(&program), insts(&expected));
        let report = check::check(&program);
        assert!(report.is_clean(), "{report}");
        assert_eq!(asm.code(target).unwrap(), encode_program(&expected).unwrap().bytes);
        assert_eq!(asm.targets().collect::<Vec<_>>(), [target]);
    }
}

#[test]
fn lines_know_their_place_in_this_file() {
    let program = scale::PROGRAM.program(Target::GFX942).unwrap();
    let place = program.lines[7].loc.unwrap();
    let line = include_str!("asm.rs").lines().nth(place.line as usize - 1).unwrap();
    assert!(place.file.ends_with("asm.rs"));
    assert_eq!(line[place.column as usize - 1..].trim_end(), "v_mul_f32 v1, s8, v1;");
    // The same in a text of several lines.
    let program = sums::PROGRAM.program(Target::GFX942).unwrap();
    let load = program.lines.iter().find(|l| l.inst.desc.mnemonic == "ds_read_b32").unwrap().loc.unwrap();
    let line = include_str!("asm.rs").lines().nth(load.line as usize - 1).unwrap();
    assert_eq!(&line[load.column as usize - 1..], "ds_read_b32 v7, v6");
}

#[test]
fn arguments_are_where_the_signature_says() {
    let offsets: Vec<u32> = arguments.signature().args.iter().map(|a| a.offset).collect();
    // `gcn-dsl-macros` tests the macro's own computation with the same arguments.
    assert_eq!(offsets, [0, 8, 16, 28, 32, 40, 52]);
}

#[test]
fn programs_are_put_into_programs() {
    // Doubles v1 three times.
    let double = gcn_asm!(
        targets = [gfx90a, gfx942],
        s_mov_b32 s3, 3;
    again:
        v_add_f32 v1, v1, v1;
        s_sub_u32 s3, s3, 1;
        s_cmp_lg_u32 s3, 0;
        s_cbranch_scc1 again;
    );
    for target in BOTH {
        let built = scale.build(target).unwrap();
        let mut program = built.program().clone();
        let store = program.lines.iter().position(|l| l.inst.desc.mnemonic == "global_store_dword").unwrap();
        double.splice(&mut program, store).unwrap();
        double.splice(&mut program, store).unwrap();
        assert_eq!(
            program.labels.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(),
            ["again", "again_asm"]
        );
        insert_waits(&mut program, &WaitOptions::default());
        assert!(check::check(&program).is_clean());
        let built = built.with_program(program).unwrap();
        let device = Device::simulator(target);
        let (x, y) = (device.alloc::<f32>(64).unwrap(), device.alloc::<f32>(64).unwrap());
        device.write(x, &(0..64u8).map(f32::from).collect::<Vec<_>>()).unwrap();
        device.launch(&scale, &built, Grid::x(1), (0.5, x, y)).unwrap();
        let expected: Vec<f32> = (0..64u8).map(|i| f32::from(i) * 0.5 * 64.0).collect();
        assert_eq!(device.read(y, 64).unwrap(), expected);
    }
}

#[test]
fn what_is_not_there_is_an_error() {
    let asm = gcn_asm!(targets = [gfx90a, gfx942], s_nop 0;);
    let error = asm.program(Target::GFX908).unwrap_err();
    assert_eq!(error.to_string(), "this assembly is not written for gfx908: its targets are gfx90a, gfx942");
    let mut program = Program::new(Target::GFX942, "k");
    let error = asm.splice(&mut program, 1).unwrap_err();
    assert_eq!(error.to_string(), "there is no line 1 in a program of 0 lines; give a place from 0 to 0");
    asm.splice(&mut program, 0).unwrap();
    assert_eq!(program.lines.len(), 1);
    assert!(scale.build(Target::GFX950).is_err());
}
