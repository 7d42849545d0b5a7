//! No name of the user collides with one of the expansion, and names are shadowed as in Rust.
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

    /// Two more kernels in the macro call: one has a const parameter with a default, `cfg` removes the other.
    #[workgroup(N, 2)]
    pub fn with_default<const N: u32 = 32>(x: *mut u32) {
        x[global_id().x] = N;
    }

    #[cfg(any())]
    #[workgroup(64)]
    fn absent(x: &[Absent]) {}

    /// A kernel's name, even that of the kernel itself, can be the name of a variable or an argument.
    #[workgroup(64)]
    fn own(kernel: &mut [u32]) {
        let own = global_id().x;
        let (mut with_default, i) = (own, 3);
        with_default += i;
        kernel[own] = with_default;
    }

    /// The names of the DSL, of its types, and of the expansion's internals.
    #[workgroup(64)]
    fn reserved(self_: u32, values: &[u32], guard: &mut [u32]) {
        let (lang, gcn_dsl, builder, var, flow) = (1, 2, 3, 4, self_);
        let mut other: V<u32> = values[lang] + gcn_dsl + builder + var;
        let target = |args: V<u32>| args + flow;
        if other > self_ {
            let then = target(other);
            other = then;
        }
        guard[0] = other;
    }

    /// The same in a device function.
    #[device]
    fn frame(flow: V<u32>, value: u32, args: &mut V<u32>) -> V<u32> {
        let mut own = flow + value;
        *args += 1;
        own += *args;
        own
    }

    #[workgroup(64)]
    fn calls_frame(x: &mut [u32]) {
        let mut call = x[0];
        let frame = frame(x[1], 2, &mut call);
        x[0] = frame + call;
    }

    /// A kernel with a `#[host]` parameter.
    #[workgroup(size)]
    fn sized(#[host] size: u32, #[host] how: How, x: &mut [u32]) {
        comptime if matches!(how, How::Up) {
            x[global_id().x] = size;
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum How {
    Up,
}

/// Types of the user that have the names of DSL types.
mod shadowed {
    use gcn_dsl::prelude::gcn_kernel;

    pub struct S;
    pub struct V;
    pub struct Var;

    gcn_kernel! {
        #[workgroup(64)]
        pub fn shadowed(n: u32, x: &mut [u32]) {
            let mut sum: u32 = 0;
            for i in 0..n {
                sum += i;
            }
            let i = gcn_dsl::lang::lane_id();
            if i < n {
                x[i] = add(sum, 3);
            }
        }

        #[device]
        fn add(a: u32, b: u32) -> u32 {
            a + b
        }
    }
}

pub fn main() {
    kernel.build(Target::GFX90A).unwrap();
    let default: with_default = with_default;
    default.build(Target::GFX942).unwrap();
    with_default::<16>.build(Target::GFX942).unwrap();
    own.build(Target::GFX90A).unwrap();
    reserved.build(Target::GFX90A).unwrap();
    calls_frame.build(Target::GFX90A).unwrap();
    for size in [64, 128] {
        let built = sized { size, how: How::Up }.build(Target::GFX942).unwrap();
        assert_eq!(built.name(), format!("sized_{size}_Up"));
        assert_eq!(built.signature().workgroup, [size, 1, 1]);
    }
    let _ = (shadowed::S, shadowed::V, shadowed::Var);
    shadowed::shadowed.build(Target::GFX942).unwrap();
}
