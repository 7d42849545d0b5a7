//! Errors: items that belong outside of the macro.
use gcn_dsl::prelude::*;

gcn_kernel! {
    trait Shape {
        fn area(self) -> V<f32>;
    }
}

gcn_kernel! {
    enum Colour {
        Red,
        Green,
    }
}

gcn_kernel! {
    const N: u32 = 4;
}

fn main() {}
