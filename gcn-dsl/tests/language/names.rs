//! Names have no meaning of their own: the name of a function does not determine whether its result is varying, nor
//! what it takes.

#![allow(clippy::manual_contains, reason = "the same text in a kernel and on the host")]

use gcn_dsl::prelude::*;

/// Kernels that call functions of these names, declared in another macro call and in the same one.
macro_rules! named {
    ($in:ident: $start:ident $own:ident $gives:ident) => {
        mod $in {
            mod elsewhere {
                use gcn_dsl::prelude::*;

                gcn_kernel! {
                    #[device]
                    pub fn $start(k: u32) -> u32 {
                        k * 16
                    }

                    #[device]
                    pub fn $gives(k: V<u32>) -> V<u32> {
                        k * 16
                    }
                }
            }

            use elsewhere::{$gives, $start};
            use gcn_dsl::prelude::*;

            gcn_kernel! {
                #[device]
                fn $own(k: u32) -> u32 {
                    k * 3
                }

                #[workgroup(64)]
                pub fn kernel(n: u32, x: &[f32], y: &mut [f32]) {
                    let l = local_id().x;
                    let mut start = 0;
                    let mut row = 0;
                    if n > 3 {
                        start = $start(n);
                        row = $own(n);
                    }
                    // Only where all lanes are active.
                    if start < 100 {
                        barrier();
                    }
                    for _ in 0..row {
                        barrier();
                    }
                    let mut count = $start(n);
                    if x[l] > 0.5 {
                        count = $gives(l);
                    }
                    y[l] = x[start + l] + x[row] + count as f32;
                }
            }
        }
    };
}
named!(plain: first_of_row rows_of places_of);
named!(of_the_prelude: row_start shuffle_rows wave_sums);
named!(exactly: lane_mask select quad_permute);
named!(of_all: wave_sum read_lane any);
named!(of_numbers: max min abs);

#[test]
fn renaming_every_function_changes_nothing() {
    for target in [Target::GFX90A, Target::GFX942] {
        let code = plain::kernel.build(target).unwrap().assembly(Comments::None);
        for other in [
            of_the_prelude::kernel.build(target).unwrap().assembly(Comments::None),
            exactly::kernel.build(target).unwrap().assembly(Comments::None),
            of_all::kernel.build(target).unwrap().assembly(Comments::None),
            of_numbers::kernel.build(target).unwrap().assembly(Comments::None),
        ] {
            assert_eq!(code, other, "{target}");
        }
    }
}

/// A kernel whose functions, methods, fields, closures and variables have these names.
macro_rules! named_all {
    ($in:ident: $of_all:ident $of_lanes:ident $bump:ident $test:ident $field:ident $closure:ident $k:ident) => {
        mod $in {
            use gcn_dsl::prelude::*;

            gcn_kernel! {
                #[device]
                struct Counter { $field: V<u32>, limit: V<u32> }

                #[device]
                impl Counter {
                    fn $bump(&mut self, by: V<u32>) -> V<u32> {
                        self.$field += by;
                        self.$field
                    }

                    fn $test(&mut self, x: &[u32], i: V<u32>) -> V<bool> {
                        self.$field += x[i];
                        self.$field > self.limit
                    }
                }

                #[device]
                fn $of_all(v: u32, w: u32) -> u32 {
                    v * 2 + w
                }

                #[device]
                fn $of_lanes(v: V<u32>, w: V<u32>) -> V<u32> {
                    v ^ w
                }

                #[workgroup(64)]
                pub fn kernel(n: u32, x: &[u32], y: &mut [u32]) {
                    let i = global_id().x;
                    let $closure = |v: u32| v + 3;
                    let mut counter = Counter { $field: x[i], limit: n };
                    let mut sum = 0;
                    for $k in 0..$of_all(n, 1) {
                        sum += x[$of_all($k, n)] + counter.$bump($of_lanes(i, 5));
                    }
                    if i < n && counter.$test(x, i) {
                        sum += $closure(i) + $closure(n);
                    }
                    y[i] = sum + counter.$field;
                }

                // This kernel has the name of a variable of the other one.
                #[workgroup(64)]
                fn $k(x: &[u32], y: &mut [u32]) {
                    let i = global_id().x;
                    y[i] = x[i];
                }
            }

            #[test]
            fn the_other_kernel_runs() {
                let mut y = vec![0; 64];
                $k.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&[3; 64], &mut y)).unwrap();
                assert_eq!(y, [3; 64]);
            }
        }
    };
}
named_all!(plain_all: twice mixed step exceeds count plus k);
named_all!(convergent: workgroup_sum barrier max min x workgroup_max i_);
named_all!(of_targets: mfma splat abs clamp y mfma_scale n_);
named_all!(of_memory: add offset overflowing_add get len set_priority row);
named_all!(of_arrays: contains fill position copy_from_slice any map zip);
named_all!(of_options: unwrap_or cmp then_some ok_or rev compare_exchange fold);
named_all!(of_memory_all: atomic load_async get_mut load_vector store_with fill_from chunks);
named_all!(of_lanes: shuffle select fetch_add iter default lane_id v);
named_all!(of_numbers_all: from_bits sqrt from saturating_sub f32 exp x_);

#[test]
fn renaming_everything_changes_nothing() {
    for target in [Target::GFX906, Target::GFX942] {
        let code = plain_all::kernel.build(target).unwrap().assembly(Comments::None);
        for (names, other) in [
            ("convergent", convergent::kernel.build(target).unwrap().assembly(Comments::None)),
            ("of_targets", of_targets::kernel.build(target).unwrap().assembly(Comments::None)),
            ("of_memory", of_memory::kernel.build(target).unwrap().assembly(Comments::None)),
            ("of_arrays", of_arrays::kernel.build(target).unwrap().assembly(Comments::None)),
            ("of_options", of_options::kernel.build(target).unwrap().assembly(Comments::None)),
            ("of_memory_all", of_memory_all::kernel.build(target).unwrap().assembly(Comments::None)),
            ("of_lanes", of_lanes::kernel.build(target).unwrap().assembly(Comments::None)),
            ("of_numbers_all", of_numbers_all::kernel.build(target).unwrap().assembly(Comments::None)),
        ] {
            assert_eq!(code, other, "{names} on {target}");
        }
    }
    // The two results are equal and also correct.
    let (x, mut y): (Vec<u32>, Vec<u32>) = ((0..64).map(|i| i * 13 % 50).collect(), vec![0; 64]);
    convergent::kernel.launch(&Device::simulator(Target::GFX942), Grid::x(1), (4, &x, &mut y)).unwrap();
    for i in 0..64u32 {
        let (mut field, mut sum) = (x[i as usize], 0u32);
        for k in 0..9 {
            field += i ^ 5;
            sum += x[(k * 2 + 4) as usize] + field;
        }
        if i < 4 {
            field += x[i as usize];
            if field > 4 {
                sum += i + 3 + 4 + 3;
            }
        }
        assert_eq!(y[i as usize], sum + field, "{i}");
    }
}

/// A function that is generic over the elements, with a method of this name that another macro call declares.
macro_rules! named_generic {
    ($in:ident: $method:ident) => {
        mod $in {
            mod elsewhere {
                use gcn_dsl::prelude::*;

                gcn_kernel! {
                    #[device]
                    #[derive(Clone, Copy)]
                    pub struct Held {
                        pub v: V<u32>,
                    }

                    #[device]
                    impl Held {
                        /// `times` is a number of the host.
                        pub fn $method(self, times: usize, and: u32) -> V<u32> {
                            let mut sum = self.v;
                            #[unroll]
                            for _ in 0..times {
                                sum += and;
                            }
                            sum
                        }
                    }
                }
            }

            use elsewhere::Held;
            use gcn_dsl::prelude::*;

            gcn_kernel! {
                #[device]
                fn of_elements<T: Integer>(held: Held, x: V<T>, y: T) -> V<T> {
                    let mut m = x;
                    m = m.max(3).min(200);
                    if held.$method(2, 5) > 50 {
                        m = m.pow(2) + y.max(7).saturating_sub(1).rotate_left(1);
                    }
                    if x > 5 { m.clamp(4, 100) } else { select(x == y, x, 9) }
                }

                #[workgroup(64)]
                pub fn kernel(n: u32, x: &[u32], small: &[u8], y: &mut [u32]) {
                    let i = global_id().x;
                    let held = Held { v: x[i] };
                    y[i] = of_elements(held, x[i], n) + of_elements(held, small[i], 5u8) as u32 * 1000;
                }
            }
        }
    };
}
named_generic!(plain_generic: counted_up);
named_generic!(generic_max: max);
named_generic!(generic_clamp: clamp);
named_generic!(generic_pow: pow);
named_generic!(generic_powi: powi);
named_generic!(generic_fill: fill);
named_generic!(generic_contains: contains);

#[test]
fn the_receiver_says_what_a_number_beside_a_type_parameter_is() {
    let (x, small): (Vec<u32>, Vec<u8>) = ((0..64).collect(), (0..64).map(|i| i * 3).collect());
    for target in [Target::GFX90A, Target::GFX1201] {
        let code = plain_generic::kernel.build(target).unwrap().assembly(Comments::None);
        for (names, other) in [
            ("max", generic_max::kernel.build(target).unwrap().assembly(Comments::None)),
            ("clamp", generic_clamp::kernel.build(target).unwrap().assembly(Comments::None)),
            ("pow", generic_pow::kernel.build(target).unwrap().assembly(Comments::None)),
            ("powi", generic_powi::kernel.build(target).unwrap().assembly(Comments::None)),
            ("fill", generic_fill::kernel.build(target).unwrap().assembly(Comments::None)),
            ("contains", generic_contains::kernel.build(target).unwrap().assembly(Comments::None)),
        ] {
            assert_eq!(code, other, "{names} on {target}");
        }
        let mut y = vec![0; 64];
        let device = Device::simulator(target);
        generic_pow::kernel.launch(&device, Grid::x(1), (5, &x, &small, &mut y)).unwrap();
        for i in 0..64u32 {
            let of_u32 = match i {
                0..=4 => 9,
                5 => 5,
                _ if i + 10 > 50 => (i * i + 12).clamp(4, 100),
                _ => i.clamp(4, 100),
            };
            let s = small[i as usize];
            let of_u8 = match s {
                0..=4 => 9,
                5 => 5,
                _ if i + 10 > 50 => s.min(200).wrapping_pow(2).wrapping_add(12).clamp(4, 100),
                _ => s.clamp(4, 100),
            };
            assert_eq!(y[i as usize], of_u32 + u32::from(of_u8) * 1000, "{i} on {target}");
        }
    }
}

/// Methods of numbers called as functions, for the methods that are in no list.
macro_rules! methods {
    ($($method:ident)*) => {
        gcn_kernel! {
            #[allow(unused_assignments, reason = "the first value is only of a type")]
            #[workgroup(64)]
            fn as_functions(x: &[f32], y: &mut [f32]) {
                let i = global_id().x;
                let mut at = i;
                $( y[at] = f32::$method(x[i]); at += 64; )*
            }

            #[allow(unused_assignments, reason = "the first value is only of a type")]
            #[workgroup(64)]
            fn as_methods(x: &[f32], y: &mut [f32]) {
                let i = global_id().x;
                let mut at = i;
                $( y[at] = x[i].$method(); at += 64; )*
            }
        }
    };
}
methods!(fract signum next_up to_degrees exp_m1 cos log10);

#[test]
fn every_method_of_a_number_is_a_function() {
    let code = |text: String| text.replace("as_functions", "as_methods");
    let functions = as_functions.build(Target::GFX942).unwrap().assembly(Comments::None);
    let methods = as_methods.build(Target::GFX942).unwrap().assembly(Comments::None);
    assert_eq!(code(functions), code(methods));
}

gcn_kernel! {
    #[device]
    fn first_bit(v: V<u32>) -> V<u32> {
        loop {
            if v > 3 {
                return 1;
            }
            return 2;
        }
    }

    #[workgroup(64)]
    fn literals_leave(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = first_bit(x[i]);
    }

    #[workgroup(64)]
    fn beside(n: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let mixed = [n, x[i], 3];
        let turned = [7, x[i], n, n + 1];
        y[i] = mixed[0] * 100 + mixed[1] * 10 + mixed[2] + turned.iter().sum();
    }
}

#[test]
fn a_literal_that_leaves_takes_the_type_of_the_result() {
    let x: Vec<u32> = (0..64).collect();
    let mut y = vec![0; 64];
    literals_leave.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut y)).unwrap();
    let wanted: Vec<u32> = x.iter().map(|x| if *x > 3 { 1 } else { 2 }).collect();
    assert_eq!(y, wanted);
}

#[test]
fn one_value_for_all_lanes_stands_beside_one_per_lane_in_an_array() {
    let x: Vec<u32> = (0..64).collect();
    let mut y = vec![0; 64];
    beside.launch(&Device::simulator(Target::GFX942), Grid::x(1), (5, &x, &mut y)).unwrap();
    let wanted: Vec<u32> = x.iter().map(|x| 500 + x * 10 + 3 + 7 + x + 5 + 6).collect();
    assert_eq!(y, wanted);
}

gcn_kernel! {
    #[workgroup(64)]
    fn as_on_the_host(n: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x as usize;
        let k = x[i] as usize;
        let table = [3u32, 5, 7, 11];
        let list = [x[i] % 7, n, 2];
        let pair = match (k % 2, n) {
            (0, 5) => 1,
            (_, _) => 2,
        };
        let folded = list.iter().fold(0, |a, b| a ^ b);
        let some = list.iter().any(|v| *v == 6) as u32;
        let every = list.iter().all(|v| *v < 6) as u32;
        let equal = ([x[i] % 2, n] == [1, 5]) as u32;
        let sum = (0..4u32).map(|k| x[i] >> k).sum::<u32>();
        let few = matches!(x[i] % 10, 2..=4 | 7) as u32;
        let held = match &list {
            [a, _, c] => a * c,
        };
        let shifts = u32::from(x[i] as u8);
        y[i] = table[k % 4] + pair * 10 + folded * 100 + some + every * 3 + equal * 7 + sum + few * 11 + held + shifts;
    }
}

#[test]
fn lines_of_the_host_mean_the_same() {
    let (n, x) = (5, (0..64).map(|i: u32| i * 37 % 101).collect::<Vec<u32>>());
    let mut y = vec![0; 64];
    as_on_the_host.launch(&Device::simulator(Target::GFX942), Grid::x(1), (n, &x, &mut y)).unwrap();
    for i in 0..64usize {
        let k = x[i] as usize;
        let table = [3u32, 5, 7, 11];
        let list = [x[i] % 7, n, 2];
        let pair = match (k % 2, n) {
            (0, 5) => 1,
            (_, _) => 2,
        };
        let folded = list.iter().fold(0, |a, b| a ^ b);
        let some = list.iter().any(|v| *v == 6) as u32;
        let every = list.iter().all(|v| *v < 6) as u32;
        let equal = ([x[i] % 2, n] == [1, 5]) as u32;
        let sum = (0..4u32).map(|k| x[i] >> k).sum::<u32>();
        let few = matches!(x[i] % 10, 2..=4 | 7) as u32;
        let held = match &list {
            [a, _, c] => a * c,
        };
        let shifts = u32::from(x[i] as u8);
        let wanted = table[k % 4]
            + pair * 10
            + folded * 100
            + some
            + every * 3
            + equal * 7
            + sum
            + few * 11
            + held
            + shifts;
        assert_eq!(y[i], wanted, "lane {i}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn rolled(k: u32, a: &[f32], b: &[f32], c: &mut [f32]) {
        let (ty, tx) = (local_id().x / 8, local_id().x % 8);
        let mut acc: [[V<f32>; 8]; 8] = [[0.0; 8]; 8];
        for p in 0..k {
            let mut x: [V<f32>; 8] = [0.0; 8];
            let mut y: [V<f32>; 8] = [0.0; 8];
            for i in 0..8 {
                x[i] = a[p * 64 + ty * 8 + i as u32];
                y[i] = b[p * 64 + tx * 8 + i as u32];
            }
            for i in 0..8 {
                for j in 0..8 {
                    acc[i][j] += x[i] * y[j];
                }
            }
        }
        for i in 0..8 {
            for j in 0..8 {
                c[(ty * 8 + i as u32) * 64 + tx * 8 + j as u32] = acc[i][j];
            }
        }
    }
}

/// If a loop with a known trip count indexes an array in registers, it is straight-line code without selections.
#[test]
fn known_trips_leave_no_selection_in_a_register_array() {
    for target in [Target::GFX90A, Target::GFX942] {
        let kernel = rolled.build(target).unwrap();
        let text = kernel.assembly(Comments::None);
        assert_eq!(text.matches("v_cndmask").count() + text.matches("s_cselect").count(), 0, "{target}");
        assert_eq!(kernel.report().dynamic_indices, []);
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn at_indices_of_the_device(n: u32, x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let mut a = [x[i], x[i + 64], x[i + 128], x[i + 192]];
        a[n as usize % 4] += 1;
        for k in 0..4 {
            a[k] *= 3;
        }
        y[i] = a[x[i] as usize % 4];
    }
}

/// The report contains the cost of an index that only the device knows, with its source location.
#[test]
fn the_report_has_indices_that_only_the_device_knows() {
    let report = at_indices_of_the_device.build(Target::GFX942).unwrap().report();
    let places: Vec<u32> = report.dynamic_indices.iter().map(|index| index.at.line).collect();
    let line =
        |of: &str| include_str!("names.rs").lines().position(|line| line.trim() == of).unwrap() as u32 + 1;
    let (written, read) = (line("a[n as usize % 4] += 1;"), line("y[i] = a[x[i] as usize % 4];"));
    assert!(places.contains(&written) && places.contains(&read), "{report}");
    assert!(places.iter().all(|place| [written, read].contains(place)), "{report}");
    // Reading one of four elements takes three selections; an assignment writes or keeps each of four.
    let of = |line| {
        report.dynamic_indices.iter().filter(|i| i.at.line == line).map(|i| i.selections).sum::<usize>()
    };
    assert!(of(read) == 3 && (4..=7).contains(&of(written)), "{report}");
    assert!(report.to_string().contains(&format!("names.rs:{read}:")), "{report}");
}

/// A kernel that calls functions that number lanes, and two of its own functions, by these names.
macro_rules! numbered {
    ($in:ident: $lane:ident = $of_lanes:ident, $item:ident = $of_items:ident, $rows:ident, $step:ident) => {
        mod $in {
            mod elsewhere {
                use gcn_dsl::prelude::*;

                gcn_kernel! {
                    #[device]
                    pub fn $rows(k: u32) -> u32 {
                        k + 2
                    }

                    #[device]
                    pub fn $step(k: u32) -> u32 {
                        k * 5
                    }
                }
            }

            use elsewhere::{$rows, $step};
            use gcn_dsl::prelude::{barrier, gcn_kernel, $of_items as $item, $of_lanes as $lane};

            gcn_kernel! {
                #[workgroup(64)]
                pub fn kernel(n: u32, out: &mut [u32]) {
                    let (lane, item) = ($lane(), $item().x);
                    let (mut odd, mut last, mut total) = (0, 0, 0);
                    // Trips that some lanes end early.
                    for k in 0..n {
                        if k + lane > 40 {
                            continue;
                        }
                        odd += 1;
                        'inner: {
                            if (k ^ lane) & 1 == 0 {
                                break 'inner;
                            }
                            last = k;
                        }
                    }
                    // The value assigned to one of the `let`'s variables contains the others.
                    let (mut a, mut b) = (1u32, 2u32);
                    while a < item && b < 1000 {
                        b = 2 * a + item;
                        a = b + 1;
                    }
                    // Uniform.
                    for _ in 0..$rows(n) {
                        total += $step(n);
                        barrier();
                    }
                    out[item] = (odd + 100 * last) ^ (a << 8) ^ b ^ (total << 20);
                }
            }
        }
    };
}
numbered!(as_in_the_prelude: lane_id = lane_id, global_id = global_id, rows_of, step_of);
numbered!(renamed: l = lane_id, position = global_id, rows, step);
numbered!(exchanged: row_start = lane_id, workgroup_sums = global_id, select, wave_sum);

#[test]
fn what_numbers_the_lanes_may_have_any_name() {
    let n = 9;
    let expected: Vec<u32> = (0..64)
        .map(|lane| {
            let taken: Vec<u32> = (0..n).filter(|k| k + lane <= 40).collect();
            let last = taken.iter().rfind(|k| (*k ^ lane) & 1 != 0).map_or(0, |k| *k);
            let (mut a, mut b) = (1, 2);
            while a < lane && b < 1000 {
                b = 2 * a + lane;
                a = b + 1;
            }
            (taken.len() as u32 + 100 * last) ^ (a << 8) ^ b ^ (((n + 2) * n * 5) << 20)
        })
        .collect();
    for target in [Target::GFX90A, Target::GFX942] {
        let code = as_in_the_prelude::kernel.build(target).unwrap().code().to_vec();
        assert_eq!(code, renamed::kernel.build(target).unwrap().code(), "{target}");
        assert_eq!(code, exchanged::kernel.build(target).unwrap().code(), "{target}");
        let mut out = vec![0; 64];
        renamed::kernel.launch(&Device::simulator(target), Grid::x(1), (n, &mut out)).unwrap();
        assert_eq!(out, expected, "{target}");
    }
}

/// Kernels that call functions of the library, and a device function of another macro call, by these names.
macro_rules! of_all_lanes {
    ($in:ident: $barrier:ident $pending:ident $sum:ident $token:ident $mfma:ident $matmul:ident $spread:ident $own:ident) => {
        mod $in {
            mod elsewhere {
                use gcn_dsl::prelude::*;

                gcn_kernel! {
                    /// A user's own function of this name takes ordinary arguments.
                    #[device]
                    pub fn $own(v: V<f32>) -> V<f32> {
                        v * 3.0
                    }

                    #[device]
                    pub fn $spread(all: AllLanes, x: V<f32>) -> V<f32> {
                        let parts = Lds::<f32, 64>::new();
                        parts[local_id().x] = x;
                        barrier();
                        parts[63 - local_id().x]
                    }
                }
            }

            use elsewhere::$own;
            #[allow(unused_imports, reason = "some are their own names")]
            use gcn_dsl::prelude::{
                Acc, FragA, FragB, Lds, Tile, TileA, TileB, all_lanes as $token, barrier as $barrier,
                barrier_with_reads_pending as $pending, col_major, gcn_kernel, local_id, matmul as $matmul,
                mfma as $mfma, row_major, workgroup_sum as $sum,
            };

            gcn_kernel! {
                #[workgroup(64)]
                #[targets(gfx90a, gfx942)]
                pub fn kernel(a: &[f32], b: &[f32], x: &[f32], y: &mut [f32]) {
                    let l = local_id().x;
                    let shared = Lds::<f32, 64>::new();
                    shared[l] = $own(x[l]);
                    $barrier();
                    let mut other = shared[63 - l];
                    $pending();
                    for _ in 0..2 {
                        other += $sum(x[l]) + elsewhere::$spread($token(), other);
                    }
                    let (left, right) = (
                        FragA::<f32, 32, 2>::load_from(row_major(a, 2), 0, 0),
                        FragB::<f32, 2, 32>::load_from(col_major(b, 2), 0, 0),
                    );
                    $mfma(left, right, Acc::<f32, 32, 32>::zero()).store_to(row_major(y, 32), 2, 0);
                    let (left, right) = (
                        TileA::<f32, 32, 8>::load(row_major(a, 8), 0, 0),
                        TileB::<f32, 8, 32>::load(col_major(b, 8), 0, 0),
                    );
                    $matmul(left, right, Tile::<f32, 32, 32>::zero()).store_to(row_major(y, 32), 34, 0);
                    y[l] = other;
                }
            }
        }
    };
}
of_all_lanes!(by_their_names: barrier barrier_with_reads_pending workgroup_sum all_lanes mfma matmul spread triple);
of_all_lanes!(by_others: sync sync_early total everybody multiply product of_all_lanes times_three);
// The user's functions have names of the library, and the library's functions have each other's names.
of_all_lanes!(crossed: workgroup_count workgroup_max barrier mfma_with matmul all_lanes scaled_from mfma_scale);
of_all_lanes!(in_turn: mfma matmul smfmac barrier workgroup_any all_lanes workgroup_sum barrier_with_reads_pending);

#[test]
fn functions_of_all_lanes_may_have_any_name() {
    for target in [Target::GFX90A, Target::GFX942] {
        let code = by_their_names::kernel.build(target).unwrap().assembly(Comments::None);
        assert!(code.contains("s_barrier") && code.contains("v_mfma_f32_32x32x2"), "{code}");
        for (names, other) in [
            ("by_others", by_others::kernel.build(target).unwrap().assembly(Comments::None)),
            ("crossed", crossed::kernel.build(target).unwrap().assembly(Comments::None)),
            ("in_turn", in_turn::kernel.build(target).unwrap().assembly(Comments::None)),
        ] {
            assert_eq!(code, other, "{names} on {target}");
        }
    }
    // The two results are equal and also correct.
    let x: Vec<f32> = (0..64u8).map(f32::from).collect();
    let (ones, mut y) = (vec![1.0; 256], vec![0.0; 66 * 32]);
    let device = Device::simulator(Target::GFX942);
    crossed::kernel.launch(&device, Grid::x(1), (&ones, &ones, &x, &mut y)).unwrap();
    let sum: f32 = x.iter().sum();
    let mut other: Vec<f32> = x.iter().rev().map(|x| x * 3.0).collect();
    for _ in 0..2 {
        let reversed: Vec<f32> = other.iter().rev().copied().collect();
        other.iter_mut().zip(reversed).for_each(|(o, r)| *o += sum + r);
    }
    assert_eq!(&y[..64], &other);
    assert_eq!(&y[2 * 32..34 * 32], &[2.0; 1024]);
    assert_eq!(&y[34 * 32..], &[8.0; 1024]);
}

gcn_kernel! {
    #[workgroup(64)]
    fn kept_for_later(x: &mut [f32]) {
        let later = barrier;
        let _ = later();
        x[local_id().x] = 1.0;
    }
}

#[test]
fn what_rustc_could_not_check_does_not_build() {
    let error = kept_for_later.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("all lanes must make this call") && error.contains("names.rs"), "{error}");
}

/// Types of the user's with the names of memory of the language: they are uniform.
mod memory_names {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        struct Private {
            n: u32,
        }

        #[device]
        impl Private {
            fn new(n: u32) -> Private {
                Private { n }
            }
            fn get(self) -> u32 {
                self.n
            }
        }

        #[device]
        struct Lds {
            n: [u32; 2],
        }

        #[device]
        impl Lds {
            fn new(n: u32) -> Lds {
                Lds { n: [n, n + 1] }
            }
        }

        #[workgroup(64)]
        pub fn kernel(n: u32, x: &mut [u32]) {
            let (private, lds) = (Private::new(n), Lds::new(n));
            let mut trips = 1u32;
            trips += private.get() + lds.n[1];
            for _ in 0..trips {
                barrier();
            }
            x[global_id().x] = trips;
        }
    }
}

#[test]
fn types_may_have_the_names_of_memory() {
    let mut x = vec![0; 64];
    memory_names::kernel.launch(&Device::simulator(Target::GFX942), Grid::x(1), (3, &mut x)).unwrap();
    assert_eq!(x, [8; 64]);
}
