//! No name of the user collides with one of the expansion, and names shadow as in Rust.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(ctx: u32, target: u32, flow: u32, args: &mut [u32]) {
        let i = global_id().x;
        let lang = ctx + target;
        let mut __flow = lang;
        let (__if, __loop) = (flow, 2);
        for i in 0..4u32 {
            if i < __if {
                __flow += i * __loop;
            }
        }
        let mut i: V<u32> = i;
        i += 1;
        {
            let i = 3;
            __flow += i;
        }
        args[i] = __flow;
    }

    /// Two kernels in one call, a const parameter with a default, and one that is not there.
    #[workgroup(N, 2)]
    pub fn with_default<const N: u32 = 32>(x: *mut u32) {
        x[global_id().x] = N;
    }

    #[cfg(any())]
    #[workgroup(64)]
    fn absent(x: &[Absent]) {}
}

fn main() {
    kernel.build(Target::GFX90A).unwrap();
    let default: with_default = with_default;
    default.build(Target::GFX942).unwrap();
    with_default::<16>.build(Target::GFX942).unwrap();
}
