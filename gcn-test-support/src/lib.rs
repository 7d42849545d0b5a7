//! Shared by the tests and benches of all crates. It knows nothing of them, so that each of them can use it, and is never
//! published: `cargo package` drops dependencies for development that have no version.

pub mod browser;
pub mod compiled;
pub mod env;
pub mod llvm;
mod random;
pub mod skip;
pub mod stored;

pub use random::Random;
pub use skip::skipped;
