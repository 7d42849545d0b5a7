//! Device types and functions that random programs use: a struct with methods, a trait, an enum, functions with closure
//! arguments.

use gcn_dsl::prelude::*;

gcn_kernel! {
    /// Two named numbers.
    #[device]
    pub struct Pair {
        pub count: V<u32>,
        pub level: V<f32>,
    }

    /// A state that can be advanced by steps.
    #[device]
    pub trait Machine {
        fn step(&mut self, by: V<u32>) -> V<u32>;
        fn twice(&mut self, by: V<u32>) -> V<u32>;
        fn peek(&self) -> V<u32>;
    }

    #[device]
    impl Machine for Pair {
        fn step(&mut self, by: V<u32>) -> V<u32> {
            let old = self.count;
            self.count = self.count * 5 + by;
            if old > by {
                self.level = -self.level;
            }
            old
        }

        fn twice(&mut self, by: V<u32>) -> V<u32> {
            let first = self.step(by);
            first ^ self.step(by + 1)
        }

        fn peek(&self) -> V<u32> {
            self.count ^ self.level.to_bits()
        }
    }

    /// Memory in a struct.
    #[device]
    pub struct Rows<'a, T: Number> {
        pub of: &'a [T],
        pub step: u32,
    }

    #[device]
    impl<'a, T: Number> Rows<'a, T> {
        pub fn at(&self, i: V<u32>) -> V<T> {
            self.of[i * self.step]
        }
    }

    /// An enum with several variants.
    #[device]
    pub enum Thing {
        Nothing,
        Number(V<u32>),
        Both { near: V<i32>, far: V<f32> },
        Wide(V<i64>),
    }

    /// An enum with two variants and two parameters.
    #[device]
    pub enum Either<A, B> {
        Left(A),
        Right(B),
    }

    #[device]
    fn reduced(from: Result<V<u32>, V<i32>>, by: V<u32>) -> Result<V<u32>, V<i32>> {
        let left = from?.checked_sub(by).ok_or(-7)?;
        if left % 3 == 1 {
            return Err(left as i32);
        }
        Ok(left * 5 + from?)
    }

    /// The value or the error of a `Result` after three `?`.
    #[device]
    pub fn passed(from: Result<V<u32>, V<i32>>, by: V<u32>) -> V<u32> {
        match reduced(from, by) {
            Ok(x) => x,
            Err(error) => !(error as u32),
        }
    }

    /// Applies the caller's function twice.
    #[device]
    pub fn again<T: Arithmetic>(x: V<T>, f: impl Fn(V<T>) -> V<T>) -> V<T> {
        f(f(x))
    }

    /// The caller's condition selects one of its two functions.
    #[device]
    pub fn either<T: Arithmetic>(
        x: V<T>,
        test: impl Fn(V<T>) -> V<bool>,
        f: impl Fn(V<T>) -> V<T>,
    ) -> Option<V<T>> {
        if test(x) { Some(f(x)) } else { None }
    }
}

/// `Either` with concrete types, by names that other macro calls use in patterns.
pub type Word = Either<V<u32>, V<f32>>;
pub type Long = Either<V<i64>, V<u16>>;

fn host_reduced(from: Result<u32, i32>, by: u32) -> Result<u32, i32> {
    let left = from?.checked_sub(by).ok_or(-7)?;
    if left % 3 == 1 {
        return Err(left as i32);
    }
    Ok(left.wrapping_mul(5).wrapping_add(from?))
}

/// `passed` on the host.
pub fn host_passed(from: Result<u32, i32>, by: u32) -> u32 {
    match host_reduced(from, by) {
        Ok(x) => x,
        Err(error) => !(error as u32),
    }
}
