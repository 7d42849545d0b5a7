//! What the compiler says to a user who errs. Each program in `fail/` must not compile, with exactly the messages in the
//! `.stderr` beside it; those in `pass/` are the neighbours that do. After an intended change of a message run with
//! `TRYBUILD=overwrite` and read the diff.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*.rs");
}
