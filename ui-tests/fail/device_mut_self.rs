//! Errors: a method with `&mut self` is called on something other than a mutable variable or a part of one.
use gcn_dsl::prelude::*;

mod random {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        pub struct Rng {
            state: V<u32>,
            calls: u32,
        }

        #[device]
        #[repr(C)]
        pub struct Cell {
            n: u32,
        }

        #[device]
        impl Cell {
            pub fn advance(&mut self) -> V<u32> {
                self.n += 1;
                self.n
            }
        }

        #[device]
        impl Rng {
            pub fn new(seed: V<u32>) -> Rng {
                Rng { state: seed, calls: 0 }
            }

            pub fn next(&mut self) -> V<u32> {
                self.state = self.state * 747796405 + 1;
                self.state
            }

            pub fn count(&mut self) -> u32 {
                self.calls += 1;
                self.calls
            }
        }

        #[workgroup(64)]
        fn not_a_variable(y: &mut [u32]) {
            let i = global_id().x;
            let rng = Rng::new(i);
            y[i] = rng.next();
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn from_elsewhere(y: &mut [u32]) {
        let i = global_id().x;
        let mut rng = random::Rng::new(i);
        y[i] = rng.next();
        if y[i] > 3 {
            y[i] += rng.count();
        }
    }

    #[workgroup(64)]
    fn a_copy(y: &mut [u32], cells: &mut [random::Cell]) {
        let i = global_id().x;
        y[i] += cells[i].advance();
    }

    #[workgroup(64)]
    fn not_mutable(y: &mut [u32]) {
        let rng = random::Rng::new(global_id().x);
        y[0] = rng.next();
    }
}

fn main() {}
