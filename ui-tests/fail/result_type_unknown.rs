//! Error: calls whose results have a type that nothing determines.
use gcn_dsl::prelude::*;

fn anything<T: Default>() -> T {
    T::default()
}

gcn_kernel! {
    #[workgroup(64)]
    fn unknown(y: &mut [u32]) {
        let i = global_id().x;
        let a = anything();
        let b = Default::default();
        y[i] = i;
    }
}

fn main() {}
