//! Error: a method of another `gcn_kernel!` that changes its receiver, under a name of Rust's arrays, without `&mut`.
mod random {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        pub struct Sequence {
            pub n: V<u32>,
        }

        #[device]
        impl Sequence {
            pub fn last(&mut self) -> V<u32> {
                self.n += 1;
                self.n
            }
        }
    }
}

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn counts(x: &mut [u32]) {
        let i = global_id().x;
        let mut sequence = random::Sequence { n: x[i] };
        x[i] = (&mut sequence).last();
        x[i] += sequence.last();
    }
}

fn main() {}
