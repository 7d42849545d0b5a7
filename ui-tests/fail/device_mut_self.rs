//! Methods that change what they are called on need a variable.
use gcn_dsl::prelude::*;

mod random {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        pub struct Rng {
            state: V<u32>,
        }

        #[device]
        impl Rng {
            pub fn new(seed: V<u32>) -> Rng {
                Rng { state: seed }
            }

            pub fn next(&mut self) -> V<u32> {
                self.state = self.state * 747796405 + 1;
                self.state
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
    }
}

fn main() {}
