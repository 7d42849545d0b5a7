//! Loops in which no load can run ahead: the error gives the reason for each load.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn stored(n: u32, y: &mut [u32]) {
        #[pipeline(stages = 2)]
        for k in 1..n {
            y[k * 64 + lane_id()] = y[(k - 1) * 64 + lane_id()];
        }
    }

    #[workgroup(64)]
    fn behind_a_barrier(n: u32, x: &mut [u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = 2)]
        for k in 0..n {
            barrier();
            sum += x[k];
        }
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn chased(n: u32, next: &[u32], y: &mut [u32]) {
        let mut at: V<u32> = lane_id();
        #[pipeline(stages = 2)]
        for _ in 0..n {
            at = next[at];
        }
        y[lane_id()] = at;
    }

    #[workgroup(64)]
    fn nested(n: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = 2)]
        for k in 0..n {
            if sum < 100 {
                sum += x[k * 64 + lane_id()];
            }
        }
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn bypassing(n: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = 2)]
        for k in 0..n {
            sum += x.load_with(k * 64 + lane_id(), Cache::Bypass);
        }
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn ordered(n: u32, x: &mut [u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = 2)]
        for k in 0..n {
            fence(Scope::Agent, Ordering::Acquire);
            sum += x[k * 64 + lane_id()];
        }
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn partly_manual(n: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = 2)]
        for k in 0..n {
            #[schedule(manual)]
            {
                sum += x[k * 64 + lane_id()];
            }
        }
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn without_loads(n: u32, y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = 2)]
        for k in 0..n {
            sum = sum * 3 + k;
        }
        y[lane_id()] = sum;
    }

    #[workgroup(64)]
    fn too_many<const STAGES: usize>(n: u32, x: &[u32], y: &mut [u32]) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = STAGES)]
        for k in 0..n {
            sum += x[k * 64 + lane_id()];
        }
        y[lane_id()] = sum;
    }
}

/// Checks that the error names the attribute's line and the load's line, and contains `why`.
fn refuses<K: Kernel>(kernel: K, attribute: u32, load: Option<u32>, why: &str) {
    for target in super::TARGETS {
        // Not `unwrap_err`, which would print the whole kernel.
        let Err(error) = kernel.build(target) else { panic!("line {attribute}: nothing can run ahead") };
        let error = error.to_string();
        let here = |line: u32| format!("{}:{line}:", file!());
        assert!(error.contains(&here(attribute)), "{error}");
        assert!(load.is_none_or(|load| error.contains(&format!("the load at {}", here(load)))), "{error}");
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn each_load_that_stays_is_named_with_its_reason() {
    refuses(stored, 8, Some(10), "the loop stores to the same memory at");
    refuses(behind_a_barrier, 17, Some(20), "after the barrier at");
    refuses(chased, 28, Some(30), "computed from what the trip itself produces");
    refuses(nested, 38, Some(41), "in a branch or an inner loop");
    refuses(bypassing, 50, Some(52), "`Cache::Bypass` asks for what memory holds at this place");
    refuses(ordered, 60, Some(63), "after the fence at");
    refuses(partly_manual, 71, Some(75), "is `#[schedule(manual)]`");
    refuses(without_loads, 84, None, "the loop loads nothing");
}

#[test]
fn stages_that_are_no_literal_are_checked_when_the_kernel_is_built() {
    for error in [
        too_many::<0>.build(Target::GFX942).unwrap_err(),
        too_many::<1>.build(Target::GFX942).unwrap_err(),
        too_many::<9>.build(Target::GFX942).unwrap_err(),
    ] {
        let error = error.to_string();
        assert!(error.contains("a pipelined loop has 2 to 8 stages, not "), "{error}");
        assert!(error.contains(&format!("{}:94:", file!())), "{error}");
    }
    assert!(too_many::<8>.build(Target::GFX942).is_ok());
}

gcn_kernel! {
    #[workgroup(64)]
    fn raw_and_checked(n: u32, x: *const u32, y: *mut u32) {
        let mut sum: V<u32> = 0;
        #[pipeline(stages = 2)]
        for k in 0..n {
            debug_assert!(sum < 1000);
            sum += x[k * 64 + lane_id()];
        }
        y[lane_id()] = sum;
    }
}

/// An assertion may end the kernel before a trip, and a raw pointer is then not read for that trip. So raw loads do not
/// run ahead of it, but a kernel that builds without assertions must also build with them.
#[test]
fn raw_loads_do_not_pass_what_ends_the_kernel() {
    use gcn_dsl::BuildOptions;
    let build = |debug| {
        let options = BuildOptions { debug, ..BuildOptions::default() };
        raw_and_checked.build_with(Target::GFX942, &options).unwrap()
    };
    assert_eq!(build(false).pipelines()[0].ahead.len(), 1);
    assert!(build(true).pipelines().is_empty());
    let device = Device::simulator(Target::GFX942);
    let (x, y) = (device.alloc::<u32>(64).unwrap(), device.alloc::<u32>(64).unwrap());
    device.write(x, &[2000; 64]).unwrap();
    let error = device.launch(&raw_and_checked, &build(true), Grid::x(1), (3, x, y)).unwrap_err();
    assert!(error.to_string().contains("assertion failed"), "{error}");
}
