//! Values in registers that the user chooses.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [f32]) {
        let i = local_id().x;
        #[register("v10")]
        let value: V<f32> = x[i];
        #[register("s[20:21]")]
        let positive = value > 0.0;
        #[register("s30")]
        let mut trips = n;
        while trips > 0 {
            trips = trips - 1;
        }
        #[register("a[0:3]")]
        let acc = Acc::<f32, 16, 16>::zero();
        #[register("v[12:13]")]
        let both = [value, value + 1.0];
        x[i] = select(positive, both[0], both[1]) + acc.get(0);
    }
}

pub fn main() {
    kernel.build(Target::GFX942).unwrap();
}
