//! What the compiler says to a user who errs. Each program in `fail/` must not compile, with exactly the messages in the
//! `.stderr` beside it; those in `tests/pass/` are the neighbours that do. After an intended change of a message run with
//! `TRYBUILD=overwrite` and read the diff.

#[test]
fn ui() {
    trybuild::TestCases::new().compile_fail("fail/*.rs");
}
