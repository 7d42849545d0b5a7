//! Code that the fuzz targets share.

use gcn_isa::Target;

/// The target that a byte of the input chooses, among all whose code can be read and written.
pub fn target_of(byte: u8) -> Target {
    let all: Vec<Target> = Target::KNOWN.into_iter().collect();
    all[usize::from(byte) % all.len()]
}

/// Makes a program from a function on bytes. Under cargo-fuzz, the fuzzer calls the function. Without cargo-fuzz, the program calls it with
/// the content of each file named on the command line, so that an input that cargo-fuzz found reproduces the failure with any compiler.
#[macro_export]
macro_rules! target {
    ($run:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|data: &[u8]| $run(data));

        #[cfg(not(fuzzing))]
        fn main() -> std::io::Result<()> {
            std::env::args_os().skip(1).try_for_each(|path| Ok($run(&std::fs::read(path)?)))
        }
    };
}
