//! Programs as a newcomer writes them, compiled by cargo, so that the messages are those that users see. The programs
//! of `tests/ui.rs` are compiled by rustc alone, which is faster.

#[test]
fn users() {
    trybuild::TestCases::new().compile_fail("users/*.rs");
}
