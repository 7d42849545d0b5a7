//! Loops that copy tiles to LDS and multiply: where the loads of later tiles are issued, and which wave keeps the
//! matrix pipe.

use gcn_dsl::lang::matrix::Spread;
use gcn_dsl::prelude::*;

const TARGETS: [Target; 3] = [Target::GFX90A, Target::GFX942, Target::GFX950];

gcn_kernel! {
    /// c = a * b for a 64 x 64 tile. `a` has rows of `depth` elements, `b` has columns of `depth` elements.
    #[workgroup(256)]
    #[targets(HasMfma)]
    fn product<const STAGES: usize, const PRIORITY: u8>(depth: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let (row, col) = (wave_id() / 2 * 32, wave_id() % 2 * 32);
        let left = LdsTile::<f16, 64, 64, Spread>::new();
        let right = LdsTile::<f16, 64, 64, Spread>::new();
        let mut acc = Tile::<f32, 32, 32>::zero();
        #[pipeline(stages = STAGES)]
        for k in (0..depth).step_by(64) {
            left.put(left.fetch(row_major(a, depth), 0, k));
            right.put(right.fetch(row_major(b, depth), 0, k));
            barrier();
            comptime if PRIORITY > 0 { set_priority(PRIORITY) }
            let x = TileA::<f16, 32, 64>::load(left, row, 0);
            let y = TileB::<f16, 64, 32>::load(right.transposed(), 0, col);
            acc = matmul(x, y, acc);
            barrier();
        }
        acc.store_to(row_major(c, 64), row, col);
    }
}

/// The classes of the loop's instructions, in order, without repetition.
fn order(text: &str) -> String {
    let kinds = [
        ("ds_write", 'W'),
        ("buffer_load", 'L'),
        ("s_barrier", 'B'),
        ("ds_read", 'R'),
        ("v_mfma", 'M'),
        ("s_setprio 1", '+'),
        ("s_setprio 0", '-'),
    ];
    let body = text
        .lines()
        .skip_while(|line| !line.contains("ds_write"))
        .take_while(|line| !line.contains("s_cbranch"));
    let mut found: Vec<char> = body
        .filter_map(|line| kinds.iter().find(|(name, _)| line.contains(name)).map(|(_, kind)| *kind))
        .collect();
    found.dedup();
    found.into_iter().collect()
}

#[test]
fn later_loads_start_when_the_stores_are_under_way() {
    for target in TARGETS {
        let built = product::<2, 0>.build(target).unwrap();
        let text = built.assembly(Comments::None);
        let order = order(&text);
        let (stored, rest) = order.split_once('B').unwrap();
        // The stores are in order, followed by the loads, all before the barrier; there are none between the products.
        assert_eq!(stored, "WL", "{target}: {text}");
        assert!(!rest.contains('L'), "{target}: {order}");
        // The code contains the loop's body once; with one more stage, twice.
        let products = |text: &str| text.matches("v_mfma").count();
        let twice = product::<3, 0>.build(target).unwrap().assembly(Comments::None);
        assert_eq!(products(&twice), 2 * products(&text), "{target}");
    }
}

#[test]
fn a_wave_keeps_the_matrix_pipe_from_its_first_product_to_the_last() {
    for target in TARGETS {
        let text = product::<2, 0>.build(target).unwrap().assembly(Comments::None);
        let order = order(&text);
        let (_, products) = order.split_once('B').unwrap();
        let before = products.split_once('+').unwrap();
        assert!(before.0.ends_with('M') && before.0.matches('M').count() == 1, "{target}: {order}");
        let (kept, after) = before.1.split_once('-').unwrap();
        assert!(kept.contains('M') && kept.ends_with('M') && after == "B", "{target}: {order}");
        // Priorities that the user sets are kept.
        let own = product::<2, 2>.build(target).unwrap().assembly(Comments::None);
        assert_eq!(own.matches("s_setprio").count(), 1, "{target}");
    }
}

#[test]
fn the_results_are_right_for_any_number_of_trips() {
    for target in TARGETS {
        for depth in [0u32, 64, 128, 192, 320] {
            let number = |i: u32| f16::from_f32((i * 7 % 11) as f32 - 5.0);
            let a: Vec<f16> = (0..64 * depth).map(number).collect();
            let b: Vec<f16> = (0..64 * depth).map(|i| number(i + 3)).collect();
            let want = |row: u32, col: u32| -> f32 {
                (0..depth)
                    .map(|k| a[(row * depth + k) as usize].to_f32() * b[(col * depth + k) as usize].to_f32())
                    .sum()
            };
            let want: Vec<f32> = (0..64 * 64).map(|i| want(i / 64, i % 64)).collect();
            let device = Device::simulator(target);
            let mut c = vec![f32::NAN; 64 * 64];
            product::<2, 0>.launch(&device, Grid::x(1), (depth, &a, &b, &mut c)).unwrap();
            assert_eq!(c, want, "{target}, depth {depth}");
            product::<4, 0>.launch(&device, Grid::x(1), (depth, &a, &b, &mut c)).unwrap();
            assert_eq!(c, want, "{target}, depth {depth}, four stages");
        }
    }
}
