//! Wait states that are filled with other instructions; also, code that must not change: an order that the user asked
//! for.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuildOptions, BuiltKernel};

const TARGETS: [Target; 3] = [Target::GFX90A, Target::GFX942, Target::GFX950];

gcn_kernel! {
    /// A lane number that the vector ALU computes; instructions that do not depend on it come after its use.
    #[workgroup(64)]
    #[schedule(manual)]
    fn by_hand(x: &mut [u32]) {
        let i = local_id().x;
        let first = read_first_lane(i & 63);
        let got = read_lane(i * 5, first);
        x[i] = got + ((i ^ 0x1234) + (i << 3));
    }

    #[workgroup(64)]
    fn fenced(x: &mut [u32]) {
        let i = local_id().x;
        sched_barrier();
        let first = read_first_lane(i & 63);
        let got = read_lane(i * 5, first);
        sched_barrier();
        x[i] = got + ((i ^ 0x1234) + (i << 3));
    }

    /// The same code, but the compiler may order it.
    #[workgroup(64)]
    fn free(x: &mut [u32]) {
        let i = local_id().x;
        let first = read_first_lane(i & 63);
        let got = read_lane(i * 5, first);
        x[i] = got + ((i ^ 0x1234) + (i << 3));
    }
}

fn options(fill: bool) -> BuildOptions {
    BuildOptions { fill, ..BuildOptions::default() }
}

fn states(kernel: &BuiltKernel) -> usize {
    kernel.report().waits.states
}

fn place(kernel: &BuiltKernel, start: &str) -> usize {
    let at = kernel.program().lines.iter().position(|l| l.inst.desc.mnemonic.starts_with(start));
    at.unwrap_or_else(|| panic!("{start}\n{}", kernel.assembly(Comments::None)))
}

#[test]
fn a_manual_schedule_is_left_alone() {
    for target in TARGETS {
        let build = |fill| by_hand.build_with(target, &options(fill)).unwrap();
        assert!(states(&build(true)) > 0, "{target}: the lane number's states");
        assert_eq!(build(true).program(), build(false).program(), "{target}");
    }
}

#[test]
fn nothing_crosses_a_barrier_of_the_scheduler() {
    for target in TARGETS {
        let kernel = fenced.build_with(target, &options(true)).unwrap();
        assert!(
            place(&kernel, "v_xor") > place(&kernel, "v_readlane"),
            "{}",
            kernel.assembly(Comments::None)
        );
        assert!(states(&kernel) > 0, "{target}");
    }
}

#[test]
fn what_may_move_fills_and_computes_the_same() {
    for target in TARGETS {
        let [on, off] = [true, false].map(|fill| free.build_with(target, &options(fill)).unwrap());
        assert!(states(&on) <= states(&off), "{target}");
        assert!(
            states(&on) < states(&by_hand.build(target).unwrap()),
            "{target}: {}",
            on.assembly(Comments::None)
        );
        for kernel in [on, off] {
            let mut x = vec![0u32; 64];
            Device::simulator(target).launch(&free, &kernel, Grid::x(1), (&mut x,)).unwrap();
            // The first lane is lane 0.
            assert!((0..64).all(|i| x[i as usize] == (i ^ 0x1234) + (i << 3)), "{target}: {x:?}");
        }
    }
}
