//! Errors in declarations and uses of device enums.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    enum Borrowed<'a> {
        One(V<u32>),
    }

    #[device]
    enum Named<T> {
        One { value: T },
    }

    #[device]
    #[derive(PartialEq)]
    enum Derived {
        A,
    }

    #[device]
    enum Numbered {
        A = 1,
    }

    #[device]
    enum Shouted {
        RED,
    }

    #[device]
    enum Empty {}

    #[device]
    fn stays(x: Option<V<u32>>) -> V<u32> {
        let Some(x) = x else { trap(); };
        let y = None;
        match x {
            1 | n => n,
        }
    }

    #[workgroup(64)]
    fn argument(x: Option<f32>, y: &mut [f32]) {
        y[0] = 1.0;
    }

    #[workgroup(64)]
    fn outcome(x: Result<f32, u32>, y: &mut [f32]) {
        y[0] = 1.0;
    }

    #[workgroup(64)]
    fn in_memory(x: &[Derived], y: &mut [f32]) {
        y[0] = 1.0;
    }
}

gcn_kernel! {
    enum Plain {
        A,
    }

    #[workgroup(64)]
    fn k(y: &mut [f32]) {
        y[0] = 1.0;
    }
}

fn main() {}
