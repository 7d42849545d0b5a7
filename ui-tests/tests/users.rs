//! The programs that newcomers write, compiled by cargo as their own: the messages are those that cargo's users read. The programs of
//! `tests/ui.rs` have rustc alone, which is faster.

#[test]
fn users() {
    trybuild::TestCases::new().compile_fail("users/*.rs");
}
