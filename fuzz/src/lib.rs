//! What the fuzz targets share.

use gcn_isa::Target;

/// The target that a byte of the input chooses, among all whose code can be read and written.
pub fn target_of(byte: u8) -> Target {
    let all: Vec<Target> = Target::with_instructions().collect();
    all[usize::from(byte) % all.len()]
}

/// Makes a program of a function on bytes. cargo-fuzz calls it with bytes of its own. Without cargo-fuzz the program calls it with
/// the content of each file named on the command line: a file that cargo-fuzz found repeats its fault on any compiler.
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
