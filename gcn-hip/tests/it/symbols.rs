//! The library's symbols.

use crate::api::{code, hip, symbol};

/// The table is that of ROCm's version script; glibc finds each name with its version, as programs ask for it, and without one, as
/// `dlsym` does.
#[test]
fn every_function_has_the_version_that_programs_ask_for() {
    let table = include_str!("../../data/functions.tsv");
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for row in rows {
        let [version, name, _] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        assert_ne!(symbol(name, Some(version)), 0, "{row}");
        assert_ne!(symbol(name, None), 0, "{row}");
        assert_eq!(symbol(name, Some("hip_9.9")), 0, "{row}");
        count += 1;
    }
    assert!(count > 500, "{count}");
}

#[test]
fn what_is_missing_says_so() {
    let _device = crate::api::device();
    assert_eq!(hip::hipTexRefGetFlags(0, 0), code::NOT_SUPPORTED);
    assert_eq!(hip::hipGetLastError(), code::NOT_SUPPORTED);
    assert_eq!(hip::hipGetLastError(), 0);
}
