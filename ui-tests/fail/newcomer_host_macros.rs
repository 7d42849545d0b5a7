//! Errors: macros that would act on the host when the kernel is built, where the device was meant.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn talks(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        println!("lane {:?}", i);
        if i >= x.len() {
            panic!("out of bounds");
        }
        for k in 0..4u32 {
            unreachable!();
        }
        let list = vec![x[i]; 3];
        let text = format!("{}", x[i]);
        y[i] = x[i];
    }
}

fn main() {}
