//! Error: an `impl Index` in a kernel. It has to give a reference, and values of the device are none.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[derive(Clone, Copy)]
    struct Four { a: [V<u32>; 4] }

    #[device]
    impl std::ops::Index<usize> for Four {
        type Output = V<u32>;
        fn index(&self, k: usize) -> &V<u32> {
            &self.a[k]
        }
    }
}

fn main() {}
