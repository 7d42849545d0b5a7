//! Checks that every executed opcode has a test: a test contains its name, or the opcode belongs to a family whose names a test composes.

use std::collections::BTreeSet;

use gcn_isa::Target;
use gcn_sim::{Grade, MatrixArithmetic, coverage, fidelity, fidelity_of};

/// The sources of the tests of instructions.
const TESTS: [(&str, &str); 20] = [
    ("bytes", include_str!("bytes.rs")),
    ("clang::integers", include_str!("clang/integers.rs")),
    ("clang::lanes", include_str!("clang/lanes.rs")),
    ("clang::matrix", include_str!("clang/matrix.rs")),
    ("clang::memory", include_str!("clang/memory.rs")),
    ("clang::numerics", include_str!("clang/numerics.rs")),
    ("errata", include_str!("errata.rs")),
    ("float", include_str!("float.rs")),
    ("harness", include_str!("harness.rs")),
    ("int", include_str!("int.rs")),
    ("kernels", include_str!("kernels.rs")),
    ("lanes", include_str!("lanes.rs")),
    ("matrix", include_str!("matrix.rs")),
    ("memory", include_str!("memory.rs")),
    ("rest", include_str!("rest.rs")),
    ("scalar", include_str!("scalar.rs")),
    ("scaled", include_str!("scaled.rs")),
    ("small", include_str!("small.rs")),
    ("typed", include_str!("typed.rs")),
    ("vector", include_str!("vector.rs")),
];

/// Families of opcodes whose names a test composes: prefix, suffix, and the test, which loops over the members.
const FAMILIES: &[(&str, &str, &str)] = &[
    ("global_load_lds_", "", "typed::loads_to_lds"),
    ("global_load_", "", "rest::every_load_of_every_segment"),
    ("flat_load_", "", "rest::every_load_of_every_segment"),
    ("scratch_load_lds_", "", "typed::loads_to_lds"),
    ("scratch_load_", "", "rest::every_load_of_every_segment"),
    ("buffer_load_format_", "", "typed::formats_and_component_selection_come_from_the_resource"),
    ("buffer_store_format_", "", "typed::formats_and_component_selection_come_from_the_resource"),
    ("tbuffer_load_format_", "", "typed::typed_loads_of_every_format"),
    ("tbuffer_store_format_", "", "typed::typed_stores_of_every_format"),
    ("buffer_load_", "", "rest::every_load_of_every_segment"),
    ("global_store_", "", "rest::every_store_of_every_segment"),
    ("flat_store_", "", "rest::every_store_of_every_segment"),
    ("scratch_store_", "", "rest::every_store_of_every_segment"),
    ("buffer_store_", "", "rest::every_store_of_every_segment"),
    ("global_atomic_", "", "rest::every_atomic_of_every_segment"),
    ("flat_atomic_", "", "rest::every_atomic_of_every_segment"),
    ("buffer_atomic_", "", "rest::every_atomic_of_every_segment"),
    ("s_atomic_", "", "typed::scalar_atomics"),
    ("s_buffer_atomic_", "", "typed::scalar_atomics"),
    ("ds_", "_tr_b4", "typed::transposing_reads"),
    ("ds_", "_tr_b6", "typed::transposing_reads"),
    ("ds_", "_tr_b8", "typed::transposing_reads"),
    ("ds_", "_tr_b16", "typed::transposing_reads"),
    ("ds_wrxchg2", "", "typed::exchanges_of_two"),
    ("ds_read_", "", "rest::every_read_of_lds"),
    ("v_cmp_", "", "lanes::every_compare_of_every_type"),
    ("v_cmpx_", "", "lanes::every_compare_of_every_type"),
    ("v_mfma_", "_f8f6f4", "scaled::every_pair_of_formats"),
    ("v_mfma_", "", "matrix::every_matrix_instruction_multiplies_matrices"),
    ("v_smfmac_", "", "matrix::every_matrix_instruction_multiplies_matrices"),
    ("ds_", "", "rest::every_atomic_of_lds"),
    ("v_permlane", "_swap_b32", "lanes"),
    ("s_buffer_load_", "", "typed::scalar_stores"),
    ("s_buffer_store_", "", "typed::scalar_stores"),
    ("s_load_dwordx", "", "rest::long_scalar_loads_and_other_ends"),
    ("s_scratch_", "", "typed::scalar_stores"),
    ("v_cvt_", "", "small"),
];

/// True if `text` contains `name` as a word; encoding suffixes count as part of the word.
fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let after = &text[at + name.len()..];
        let after =
            ["_e32", "_e64", "_dpp", "_sdwa"].iter().find_map(|s| after.strip_prefix(s)).unwrap_or(after);
        !text[..at].ends_with(word) && !after.starts_with(word)
    })
}

fn test_of(name: &str) -> Option<&'static str> {
    // In the source, a line break in a string literal is a backslash and a letter, which would join with the word after it.
    let written = TESTS.iter().find(|t| mentions(&t.1.replace("\\n", " "), name)).map(|t| t.0);
    let family = || FAMILIES.iter().find(|f| name.starts_with(f.0) && name.ends_with(f.1)).map(|f| f.2);
    written.or_else(family)
}

#[test]
fn every_executed_opcode_is_tested() {
    let known: BTreeSet<&str> = Target::REPRESENTATIVES.into_iter().flat_map(|t| coverage(t).known).collect();
    let untested: Vec<&str> = known.iter().copied().filter(|name| test_of(name).is_none()).collect();
    assert!(
        untested.is_empty(),
        "{} of {} have no test: {}",
        untested.len(),
        known.len(),
        untested.join(" ")
    );
}

#[test]
fn every_executed_opcode_has_a_fidelity() {
    let known: BTreeSet<&str> = Target::REPRESENTATIVES.into_iter().flat_map(|t| coverage(t).known).collect();
    for target in Target::REPRESENTATIVES {
        let report = fidelity(known.iter().copied(), target, MatrixArithmetic::Hardware);
        assert_eq!(report.len(), known.len());
        for row in &report {
            assert!(!row.witness.is_empty(), "{} has no witness", row.mnemonic);
            assert!(row.grade == Grade::Exact || !row.note.is_empty(), "{}", row.mnemonic);
        }
    }
    assert_eq!(fidelity_of("v_add_nothing", Target::GFX942, MatrixArithmetic::Hardware), None);
}

/// Instructions with a validated model are exact, unless the chain is selected; f32 and f64 always use chains.
#[test]
fn matrix_instructions_are_exact_where_the_hardware_was_compared() {
    use MatrixArithmetic::{Chain, Hardware};
    use Target::{GFX90A, GFX908, GFX942, GFX950};
    let grade = |name, target, matrix| fidelity_of(name, target, matrix).unwrap().grade;
    for (name, target, hardware, chain) in [
        ("v_mfma_i32_32x32x16_i8", GFX942, Grade::Exact, Grade::Exact),
        ("v_mfma_f32_32x32x8_f16", GFX942, Grade::Exact, Grade::Approximate),
        ("v_mfma_f32_32x32x8_f16", GFX950, Grade::Approximate, Grade::Approximate),
        ("v_mfma_f32_16x16x8_xf32", GFX942, Grade::Exact, Grade::Approximate),
        ("v_mfma_f32_32x32x8f16", GFX908, Grade::Exact, Grade::Approximate),
        ("v_mfma_f32_32x32x8f16", GFX90A, Grade::Exact, Grade::Approximate),
        ("v_mfma_f32_32x32x1f32", GFX908, Grade::Exact, Grade::Exact),
        ("v_mfma_f64_16x16x4_f64", GFX942, Grade::Exact, Grade::Exact),
        ("v_smfmac_f32_32x32x16_f16", GFX942, Grade::Approximate, Grade::Approximate),
    ] {
        assert_eq!(grade(name, target, Hardware), hardware, "{name} {target}");
        assert_eq!(grade(name, target, Chain), chain, "{name} {target}");
    }
}
