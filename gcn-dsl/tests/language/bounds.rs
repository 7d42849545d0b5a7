//! Constant indices and numbers that are out of range: the build reports an error at the user's source line.

use gcn_dsl::prelude::*;

/// Kernels with one fault each, and the message of the build.
macro_rules! faults {
    ($args:tt; $($name:ident: { $($body:tt)* } => $message:literal;)*) => {
        gcn_kernel! {
            $(
                #[allow(unused_variables, reason = "each has its own use for them")]
                #[workgroup(64)]
                #[targets(HasMfma)]
                fn $name $args { $($body)* }
            )*
        }

        #[test]
        fn numbers_outside_are_errors_of_the_build() {
            let built = [$((stringify!($name), $name.build(Target::GFX90A).map(|_| ()), $message)),*];
            for (name, built, message) in built {
                let error = built.expect_err(name).to_string();
                assert!(error.contains(message), "{error}");
                assert!(error.contains("bounds.rs:"), "{error}");
            }
        }
    };
}
faults! {
    (n: u32, x: &[f32], y: &mut [f32], u: &mut [u32]);
    lds_read: { let l = Lds::<f32, 64>::new(); y[lane_id()] = l[64]; }
        => "index 64 of an array of 64: they are numbered from 0 to 63";
    lds_write: { let l = Lds::<f32, 64>::new(); l[70] = 1.0; }
        => "index 70 of an array of 64";
    lds_vector: { let l = Lds::<f32, 64>::new(); y.store_vector(lane_id() * 4, l.load_vector::<4>(62u32)); }
        => "index 65 of an array of 64";
    private_read: { let p = Private::<f32, 4>::new(); p[0] = 1.0; y[lane_id()] = p[4]; }
        => "index 4 of an array of 4";
    registers: { let a = [x[lane_id()], x[lane_id() + 1]]; y[lane_id()] = a[2]; }
        => "element 2 of an array of 2: they are numbered from 0 to 1";
    vector: { y[lane_id()] = x.load_vector::<4>(lane_id() * 4).get(4); }
        => "element 4 of a vector of 4";
    vector_with: { let v = x.load_vector::<2>(lane_id() * 2).with(2, 1.0); y.store_vector(lane_id() * 2, v); }
        => "element 2 of a vector of 2";
    acc: { y[lane_id()] = Acc::<f32, 32, 32>::zero().get(16); }
        => "element 16 of a lane's 16";
    lane_read: { y[0] = read_lane(x[lane_id()], 64); }
        => "lane 64 of a wave: they are numbered from 0 to 63";
    lane_write: { y[lane_id()] = write_lane(x[lane_id()], 99, 1.0); }
        => "lane 99 of a wave";
    divided: { u[lane_id()] = lane_id() / 0; }
        => "this divides by zero";
    remainder: { u[lane_id()] = n % 0; }
        => "this divides by zero";
    shifted: { u[lane_id()] = lane_id() << 40; }
        => "this shifts a `u32` by 40, and it has 32 bits: shift by at most 31, or use `wrapping_shl`";
    shifted_back: { u[lane_id()] = n >> 32; }
        => "this shifts a `u32` by 32";
}

gcn_kernel! {
    /// Code that is never executed is not an error, and neither is code with explicit wrapping.
    #[workgroup(64)]
    fn right(y: &mut [f32], u: &mut [u32]) {
        let l = Lds::<f32, 64>::new();
        l[lane_id()] = 1.0;
        barrier();
        let mut sum: V<f32> = 0.0;
        #[unroll] for k in 0..64u32 {
            comptime if k + 1 < 64 { sum += l[k + 1] } else { sum += 0.5 }
        }
        let count: S<u32> = 63;
        if count > 63 {
            sum += l[64];
        }
        if count < 64 {
            sum += 1.0;
        } else {
            sum += l[65];
        }
        y[lane_id()] = sum;
        u[lane_id()] = lane_id().wrapping_shl(33) + (lane_id() << 31).wrapping_shr(63);
    }
}

#[test]
fn code_that_never_runs_may_say_anything() {
    for target in Target::REPRESENTATIVES {
        let (mut y, mut u) = (vec![0.0; 64], vec![0; 64]);
        right.launch(&Device::simulator(target), Grid::x(1), (&mut y, &mut u)).unwrap();
        assert_eq!(y, [64.5; 64]);
        assert!((0u32..64).all(|lane| u[lane as usize] == 2 * lane + lane % 2), "{u:?}");
    }
}
