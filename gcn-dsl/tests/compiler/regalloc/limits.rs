//! Tests what fits into the registers, what does not, and the error messages.

use gcn_isa::{RegFile, Target};

use super::build::{Build, slice};
use super::hand::allocated;
use gcn_dsl::mir::{Function, VReg};
use gcn_dsl::regalloc::{AllocError, Limits, allocate};

/// `count` values of `len` VGPRs and `singles` of one that are live at once, plus the address.
fn crowd(target: Target, len: u8, count: usize, singles: usize) -> Function {
    let mut b = Build::new(target);
    let p = b.v(1);
    b.undef(p);
    let load = |b: &mut Build, len: u8| -> VReg {
        let r = b.v(len);
        match len {
            1 => b.load(r, p),
            _ => (0..len / 4).for_each(|k| {
                b.inst("ds_read_b128", &[&slice(r, 4 * k, 4), &p]);
            }),
        }
        r
    };
    let wide: Vec<_> = (0..count).map(|_| load(&mut b, len)).collect();
    let narrow: Vec<_> = (0..singles).map(|_| load(&mut b, 1)).collect();
    for r in wide {
        (0..len / 4).for_each(|k| {
            b.inst("ds_write_b128", &[&p, &slice(r, 4 * k, 4)]);
        });
    }
    for r in narrow {
        b.inst("ds_write_b32", &[&p, &r]);
    }
    b.end()
}

#[test]
fn pressure_at_the_limit_fits() {
    // 15 * 16 + 15 + 1 = 256, including the address.
    let a = allocated(&crowd(Target::GFX942, 16, 15, 15));
    assert_eq!((a.pressure.vgpr.peak, a.usage.vgprs), (256, 256));
    // Seven tuples of 32 and 31 singles.
    assert_eq!(allocated(&crowd(Target::GFX908, 32, 7, 31)).usage.vgprs, 256);
    assert_eq!(allocated(&crowd(Target::GFX90A, 4, 63, 3)).usage.vgprs, 256);
}

#[test]
fn one_more_is_an_error_that_names_the_place() {
    let f = crowd(Target::GFX942, 16, 15, 16);
    let error = allocate(&f, &Limits::default()).unwrap_err();
    let AllocError::DoesNotFit { file, peak, limit, tuple, at, live, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!((*file, *peak, *limit, *tuple), (RegFile::Vgpr, 257, 256, None));
    // The undef of the address, 15 * 4 loads, and the 16th single value.
    let at = at.unwrap();
    assert_eq!((at.block, at.inst, at.loc.unwrap().line), (0, 1 + 60 + 15, 1 + 60 + 16));
    assert_eq!(live.len(), 15 + 16 + 1);
    assert_eq!((live[0].reg, live[0].dwords), (VReg(1), 16));
    assert_eq!(
        error.to_string(),
        "kernel `k`: 257 VGPRs are live at k.rs:77:1, but only 256 are available; the widest values there: 16 dwords from \
         k.rs:2:1, 16 dwords from k.rs:6:1, 16 dwords from k.rs:10:1, 16 dwords from k.rs:14:1, 16 dwords from k.rs:18:1, 16 \
         dwords from k.rs:22:1; use a smaller tile, fewer accumulators or less unrolling"
    );
}

/// Eight single values, every second of which is live together with a tuple of four. If registers were assigned in
/// order of definition, no four consecutive registers would be free.
#[test]
fn fragmentation_is_avoided_by_placing_tuples_first() {
    let mut b = Build::new(Target::GFX942);
    let p = b.v(1);
    b.undef(p);
    let singles: Vec<_> = (0..8).map(|_| b.v(1)).collect();
    for &s in &singles {
        b.load(s, p);
    }
    for s in singles.iter().skip(1).step_by(2) {
        b.inst("ds_write_b32", &[&p, s]);
    }
    let four = b.v(4);
    b.inst("ds_read_b128", &[&four, &p]);
    b.inst("ds_write_b128", &[&p, &four]);
    for s in singles.iter().step_by(2) {
        b.inst("ds_write_b32", &[&p, s]);
    }
    let f = b.end();
    let a = allocate(&f, &Limits { vgprs: 9, ..Limits::default() }).unwrap();
    assert_eq!((a.pressure.vgpr.peak, a.usage.vgprs), (9, 9));
}

#[test]
fn smaller_limits_are_kept() {
    let f = crowd(Target::GFX942, 4, 7, 3);
    for vgprs in 32..40 {
        let a = allocate(&f, &Limits { vgprs, ..Limits::default() }).unwrap();
        assert!(a.usage.vgprs <= vgprs);
    }
    let error = allocate(&f, &Limits { vgprs: 31, ..Limits::default() }).unwrap_err();
    assert!(matches!(error, AllocError::DoesNotFit { peak: 32, limit: 31, tuple: None, .. }), "{error}");
}

#[test]
fn a_unified_file_is_shared() {
    let mut b = Build::new(Target::GFX90A);
    let (x, y) = (b.v(32), b.a(32));
    b.copy(&x, &super::build::int(0));
    b.copy(&y, &x);
    b.copy(&x, &y);
    b.copy(&y, &x);
    b.inst("ds_write_b128", &[&slice(x, 0, 1), &slice(y, 4, 4)]);
    let f = b.end();
    let fits = |total_vector| allocate(&f, &Limits { total_vector, ..Limits::default() }).is_ok();
    // 32 registers of each file are live at once.
    assert_eq!([65, 64, 63].map(fits), [true, true, false]);
}

#[test]
fn agprs_do_not_exist_before_gfx908() {
    let mut b = Build::new(Target::GFX906);
    let x = b.a(1);
    b.undef(x);
    b.copy(&x, &super::build::int(0));
    let error = allocate(&b.end(), &Limits::default()).unwrap_err();
    assert!(matches!(error, AllocError::DoesNotFit { file: RegFile::Agpr, limit: 0, .. }), "{error}");
}

/// No time is measured, but the test would not finish if the allocation time were quadratic.
#[test]
fn a_long_function_is_no_trouble() {
    let mut b = Build::new(Target::GFX942);
    let p = b.v(1);
    let acc = b.a(16);
    b.undef(p);
    b.copy(&acc, &super::build::int(0));
    let mut window: Vec<VReg> = Vec::new();
    let mut chain = acc;
    while b.f.blocks[0].insts.len() < 50_000 {
        let (x, y, t, next) = (b.v(2), b.v(2), b.v(1), b.a(16));
        b.inst("ds_read_b64", &[&x, &p]);
        b.inst("ds_read_b64", &[&y, &p]);
        b.inst("v_mfma_f32_32x32x8_f16", &[&next, &x, &y, &chain]);
        b.inst("v_add_f32_e32", &[&t, &slice(x, 0, 1), &slice(y, 1, 1)]);
        chain = next;
        window.push(t);
        if window.len() > 100 {
            b.inst("ds_write_b32", &[&p, &window.remove(0)]);
        }
    }
    b.inst("ds_write_b128", &[&p, &slice(chain, 0, 4)]);
    let f = b.end();
    let a = allocate(&f, &Limits::default()).unwrap();
    assert_eq!((a.moves, a.usage.agprs), (16, 16));
}
