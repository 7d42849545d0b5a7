//! Errors: registers that do not exist, and values that cannot be in these registers.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn names(x: &mut [f32]) {
        let i = local_id().x;
        #[register("vcc")]
        let a = x[i];
        #[register("v256")]
        let b = x[i];
        #[register("v[9:8]")]
        let c = x[i];
        #[register(v10)]
        let d = x[i];
        #[register("s102")]
        let e = 5u32;
        #[register("v10")]
        let (f, g) = (a, b);
        x[i] = a + b + c + d;
    }

    #[workgroup(64)]
    fn alignment(x: &mut [f64]) {
        let i = local_id().x;
        #[register("v[11:12]")]
        let a = x[i];
        #[register("s[6:9]")]
        let b = a > 1.0;
        x[i] = a;
    }

    #[workgroup(64)]
    fn files(n: u32, x: &mut [f32]) {
        let i = local_id().x;
        #[register("s20")]
        let varying = x[i];
        #[register("v20")]
        let uniform = n * 3;
        #[register("a20")]
        let mut neither = x[i];
        x[i] = varying;
    }
}

fn main() {}
