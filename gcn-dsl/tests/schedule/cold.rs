//! `cold_path()`: which code moves to the end of the kernel, and that the results are the same.

use gcn_dsl::prelude::*;

gcn_kernel! {
    /// Cold bodies of uniform and varying conditions, an `else`, one nested in another, one with a loop, and one at the
    /// end of a loop's body.
    #[workgroup(64)]
    fn rare<const COLD: bool>(n: u32, x: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        let mut sum: V<u32> = 0;
        for k in 0..n {
            let value = x[64 * k + i];
            if any(value > 90) {
                comptime if COLD { cold_path() }
                sum += 1000;
                if value > 95 {
                    comptime if COLD { cold_path() }
                    let mut left = value;
                    while left > 95 {
                        left -= 1;
                        sum += 10_000;
                    }
                }
            }
            if k % 2 == 0 {
                sum += value;
            } else {
                comptime if COLD { cold_path() }
                sum += 2 * value;
            }
            if all(value > 3) {
                sum += 3;
            } else {
                sum += 5;
            }
            if value == 7 {
                comptime if COLD { cold_path() }
                y[64 + i] = k;
            }
        }
        y[i] = sum;
    }

    /// The instructions of a manual schedule stay in their order.
    #[workgroup(64)]
    fn manual(n: u32, y: &mut [u32]) {
        let i = local_id().x;
        #[schedule(manual)]
        {
            if n > 3 {
                cold_path();
                y[i] = 5;
            }
        }
    }
}

fn reference(n: u32, x: &[u32]) -> Vec<u32> {
    let mut y = vec![0; 128];
    for k in 0..n {
        let row = &x[64 * k as usize..][..64];
        for (i, &value) in row.iter().enumerate() {
            if row.iter().any(|x| *x > 90) {
                y[i] += 1000 + 10_000 * value.saturating_sub(95);
            }
            y[i] += if k % 2 == 0 { value } else { 2 * value };
            y[i] += if row.iter().all(|x| *x > 3) { 3 } else { 5 };
            if value == 7 {
                y[64 + i] = k;
            }
        }
    }
    y
}

#[test]
fn rarely_executed_code_computes_the_same_at_the_end() {
    let mut x: Vec<u32> =
        (0..8 * 64).map(|i: u32| i.wrapping_mul(2_654_435_761) >> 25).map(|x| x % 91).collect();
    // Rows 1, 4 and 5 have large numbers, rows 2 and 5 none below 4.
    (x[64 + 9], x[4 * 64 + 1], x[5 * 64]) = (99, 97, 91);
    x[2 * 64..3 * 64].iter_mut().for_each(|x| *x = 50);
    x[5 * 64..6 * 64].iter_mut().for_each(|x| *x = (*x).max(4));
    for target in Target::REPRESENTATIVES {
        for n in [0, 1, 2, 8] {
            let run = |device: &Device| {
                let (mut cold, mut plain) = (vec![0; 128], vec![0; 128]);
                rare::<true>.launch(device, Grid::x(1), (n, &x, &mut cold)).unwrap();
                rare::<false>.launch(device, Grid::x(1), (n, &x, &mut plain)).unwrap();
                (cold, plain)
            };
            let (cold, plain) = run(&Device::simulator(target));
            assert_eq!(cold, reference(n, &x), "{target}, {n} rows");
            assert_eq!(plain, cold, "{target}, {n} rows");
        }
    }
}

/// The number of instructions after `s_endpgm`.
fn after_the_end(text: &str) -> usize {
    let code = text.lines().take_while(|line| !line.contains(".section"));
    let after = code.skip_while(|line| !line.contains("s_endpgm")).skip(1);
    after.filter(|line| line.starts_with('\t') && !line.starts_with("\t.")).count()
}

#[test]
fn only_what_is_marked_moves() {
    for target in Target::REPRESENTATIVES {
        let text = |cold: bool| {
            let built = if cold {
                rare::<true>.build(target).map(gcn_dsl::BuiltKernel::into_any)
            } else {
                rare::<false>.build(target).map(gcn_dsl::BuiltKernel::into_any)
            };
            built.unwrap().assembly(Comments::None)
        };
        let (cold, plain) = (text(true), text(false));
        assert_eq!(after_the_end(&plain), 0, "{target}: {plain}");
        // Three bodies and the `else`, with their branches back.
        assert!(after_the_end(&cold) >= 12, "{target}: {cold}");
        let fixed = manual.build(target).unwrap().assembly(Comments::None);
        assert_eq!(after_the_end(&fixed), 0, "{target}: {fixed}");
    }
}
