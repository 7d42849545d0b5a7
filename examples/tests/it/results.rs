//! Every lesson, target and size: the strict simulator's result is the reference's bit for bit.

use gcn_dsl::prelude::*;
use gcn_examples::{Lesson, TARGETS, lessons};

fn check(lesson: &Lesson) {
    assert!(lesson.sizes.len() >= 2, "{} is compared on {} sizes", lesson.name, lesson.sizes.len());
    for target in TARGETS {
        let kernel = (lesson.build)(target).unwrap_or_else(|e| panic!("{} on {target}: {e}", lesson.name));
        let device = Device::simulator(target);
        for &size in lesson.sizes {
            let outcome = (lesson.run)(&device, &kernel, size);
            let outcome = outcome.unwrap_or_else(|e| panic!("{} {size} on {target}: {e}", lesson.name));
            assert!(
                outcome.comparison.is_exact(),
                "{} {size} on {target}: {}",
                lesson.name,
                outcome.comparison
            );
            assert!(outcome.stats.wave_instructions > 0, "{} {size} on {target} ran nothing", lesson.name);
        }
    }
}

#[test]
fn saxpy() {
    check(&lessons::saxpy::LESSON);
}

#[test]
fn vector_add_2d() {
    check(&lessons::vector_add_2d::LESSON);
}

#[test]
fn block_reduce() {
    check(&lessons::block_reduce::LESSON);
}

#[test]
fn transpose_lds() {
    check(&lessons::transpose_lds::LESSON);
}

#[test]
fn gemm_f16() {
    check(&lessons::gemm_f16::LESSON);
}

#[test]
fn gemm_f64() {
    check(&lessons::gemm_f64::LESSON);
}

#[test]
fn building_twice_gives_the_same_bytes() {
    for lesson in lessons::ALL {
        for target in TARGETS {
            let build = || (lesson.build)(target).unwrap().code_object().to_vec();
            assert_eq!(build(), build(), "{} on {target}", lesson.name);
        }
    }
}

#[test]
fn files_land_in_the_workspace() {
    let kernel = (lessons::saxpy::LESSON.build)(Target::GFX942).unwrap();
    let [assembly, object] = gcn_examples::write("saxpy", &kernel).unwrap();
    assert!(
        assembly.ends_with("target/gcn/saxpy.gfx942.s") && object.ends_with("target/gcn/saxpy.gfx942.hsaco")
    );
    assert_eq!(std::fs::read(object).unwrap(), kernel.code_object());
    assert_eq!(std::fs::read_to_string(assembly).unwrap(), kernel.assembly(Comments::Explain));
}

/// The layout that README's C program relies on: `float a`, then twice a pointer and a `uint32_t`, as C aligns them.
#[test]
fn the_kernarg_segment_is_the_c_struct_of_the_readme() {
    let (x, mut y) = ([1.0; 3], [2.0; 5]);
    let bytes = lessons::saxpy::saxpy.kernarg((3.0, &x, &mut y), &[0x1111, 0x2222]).unwrap();
    let mut want = [0; 40];
    want[..4].copy_from_slice(&3.0f32.to_le_bytes());
    want[8..16].copy_from_slice(&0x1111u64.to_le_bytes());
    want[16..20].copy_from_slice(&3u32.to_le_bytes());
    want[24..32].copy_from_slice(&0x2222u64.to_le_bytes());
    want[32..36].copy_from_slice(&5u32.to_le_bytes());
    assert_eq!(bytes, want);
}
