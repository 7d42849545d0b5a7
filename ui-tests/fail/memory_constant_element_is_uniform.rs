//! Errors: a varying value is assigned to a variable that starts as a uniform element, or is declared uniform.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(table: &[f32], x: &mut [f32]) {
        let i = global_id().x;
        let mut sum: S<f32> = table[0];
        if x[i] > 0.0 {
            sum += 1.0;
        }
        sum = sum + x[i];
        x[i] = sum;
    }
}

fn main() {}
