//! Programs that compile: the correct forms of the programs in `fail`.
#![allow(
    unused,
    clippy::all,
    reason = "a program shows a form: what it declares need not be used, or be the shortest way"
)]

macro_rules! programs {
    ($($name:ident)*) => {
        $(mod $name;)*

        #[test]
        fn programs_that_are_right_compile_and_run() {
            $($name::main();)*
        }
    };
}

programs! {
    as_in_rust
    asm_neighbours
    atomics
    closures_and_conditions
    control
    instructions
    lanes_and_types
    memory
    names
    names_of_the_host
    neighbours
    register_pins
    schedules
}
