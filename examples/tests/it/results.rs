//! For every lesson, target and size, the strict simulator's result equals the reference bit for bit.

use gcn_dsl::BuildCause;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Mode, Options, Sanitize};
use gcn_examples::{Lesson, TARGETS, lessons};

/// The targets of a lesson: also gfx950, if the lesson supports it.
fn targets(lesson: &Lesson) -> Vec<Target> {
    let written = !lesson.build(Target::GFX950).is_err_and(|e| matches!(e.cause, BuildCause::Target { .. }));
    TARGETS.into_iter().chain(written.then_some(Target::GFX950)).collect()
}

fn check(lesson: &Lesson) {
    assert!(lesson.sizes.len() >= 2, "{} is compared on {} sizes", lesson.name, lesson.sizes.len());
    for target in targets(lesson) {
        let kernel = lesson.build(target).unwrap_or_else(|e| panic!("{} on {target}: {e}", lesson.name));
        let device = Device::simulator(target);
        for &size in lesson.sizes {
            let outcome = (lesson.run)(&device, &kernel, size);
            let outcome = outcome.unwrap_or_else(|e| panic!("{} {size} on {target}: {e}", lesson.name));
            assert!(
                outcome.comparison.agrees(),
                "{} {size} on {target}: {}",
                lesson.name,
                outcome.comparison
            );
            assert!(outcome.stats.wave_instructions > 0, "{} {size} on {target} ran nothing", lesson.name);
        }
    }
}

/// Declares a test for each lesson, so that the lessons run concurrently.
macro_rules! lessons {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(&lessons::$name::LESSON);
            }
        )*

        #[test]
        fn no_lesson_is_left_out() {
            let tested = [$(stringify!($name)),*];
            let all: Vec<&str> = lessons::ALL.iter().map(|lesson| lesson.name).collect();
            assert_eq!(all, tested);
        }
    };
}

lessons! {
    saxpy
    vector_add_2d
    block_reduce
    transpose_lds
    gemm_f16
    gemm_f64
    stencil
    convolution
    histogram
    prefix_scan
    gemv
    mandelbrot
    spmv
    softmax
    layernorm
    quantise
    top_k
    philox
    fft
    embedding_scatter
    radix_sort
    gemm_bf16
    gemm_i8
    gemm_batched
    flash_attention
    gemm_wmma
}

#[test]
fn building_twice_gives_the_same_bytes() {
    for lesson in lessons::ALL {
        for target in targets(lesson) {
            let build = || lesson.build(target).unwrap().code_object().to_vec();
            assert_eq!(build(), build(), "{} on {target}", lesson.name);
        }
    }
}

#[test]
fn files_land_where_the_program_runs() {
    let root = std::env::temp_dir().join(format!("gcn-examples-{}", std::process::id()));
    let project = root.join("workspace/package/src");
    std::fs::create_dir_all(&project).unwrap();
    assert_eq!(gcn_examples::folder_for(&project), project.join("target/gcn"));
    std::fs::write(root.join("workspace/package/Cargo.toml"), "[package]\n").unwrap();
    assert_eq!(gcn_examples::folder_for(&project), root.join("workspace/package/target/gcn"));
    std::fs::write(root.join("workspace/Cargo.toml"), "[workspace]\n").unwrap();
    let folder = gcn_examples::folder_for(&project);
    assert_eq!(folder, root.join("workspace/target/gcn"));
    let kernel = lessons::saxpy::LESSON.build(Target::GFX942).unwrap();
    let [assembly, object] = gcn_examples::write(&folder, "saxpy", &kernel).unwrap();
    assert_eq!(assembly, folder.join("saxpy.gfx942.s"));
    assert_eq!(object, folder.join("saxpy.gfx942.hsaco"));
    assert_eq!(std::fs::read(object).unwrap(), kernel.code_object());
    assert_eq!(std::fs::read_to_string(assembly).unwrap(), kernel.assembly(Comments::Explain));
    std::fs::remove_dir_all(root).unwrap();
}

/// The kernarg layout that the README's C program relies on: `float a`, then two times a pointer and a `uint32_t`,
/// aligned as in C. Slices start at multiples of four bytes.
#[test]
fn the_kernarg_segment_is_the_c_struct_of_the_readme() {
    let (x, mut y) = ([1.0; 3], [2.0; 5]);
    let bytes = lessons::saxpy::saxpy.kernarg((3.0, &x, &mut y), &[0x1114, 0x2228]).unwrap();
    let mut want = [0; 40];
    want[..4].copy_from_slice(&3.0f32.to_le_bytes());
    want[8..16].copy_from_slice(&0x1114u64.to_le_bytes());
    want[16..20].copy_from_slice(&3u32.to_le_bytes());
    want[24..32].copy_from_slice(&0x2228u64.to_le_bytes());
    want[32..36].copy_from_slice(&5u32.to_le_bytes());
    assert_eq!(bytes, want);
}

/// Runs the lessons that synchronise waves by more than plain barriers in other modes: with stale values instead of
/// errors, and under every sanitizer, on tiny and ragged sizes.
#[test]
fn matrix_lessons_agree_in_every_mode() {
    let target = Target::GFX942;
    let lessons = lessons::ALL.iter().chain([&lessons::gemm_fp8::LESSON]);
    let mut ran = 0;
    for lesson in lessons.filter(|lesson| lesson.steady.is_some()) {
        let kernel = lesson.build(target).unwrap();
        for (mode, sanitize) in [(Mode::Faithful, Sanitize::empty()), (Mode::Functional, Sanitize::all())] {
            let device = Device::simulator_with(target, Options { mode, sanitize, ..Options::default() });
            for &size in &lesson.sizes[..3] {
                let outcome = (lesson.run)(&device, &kernel, size);
                let outcome = outcome.unwrap_or_else(|e| panic!("{} {size} {mode:?}: {e}", lesson.name));
                assert!(
                    outcome.comparison.agrees(),
                    "{} {size} {mode:?}: {}",
                    lesson.name,
                    outcome.comparison
                );
                ran += 1;
            }
        }
    }
    assert_eq!(ran, 6 * 2 * 3, "five products and attention");
}
