//! Code that the tests and benches of all crates share. It depends on none of these crates, so that each of them can use it. It is never
//! published: `cargo package` drops dev-dependencies without a version.

pub mod browser;
pub mod compiled;
pub mod env;
pub mod llvm;
mod random;
pub mod skip;
pub mod stored;

pub use random::Random;
pub use skip::skipped;
