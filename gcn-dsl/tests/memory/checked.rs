//! Indices in builds that check them: an index that is out of bounds stops the kernel and reports its source location,
//! the index and the length. The expected numbers were computed by hand from the index expressions.

use gcn_dsl::kernel::BuildOptions;
use gcn_dsl::launch::LaunchError;
use gcn_dsl::prelude::*;

fn checks() -> BuildOptions {
    BuildOptions { check_bounds: true, ..BuildOptions::default() }
}

/// Launches a checked build with 128 work-items on each of two targets. Returns the message of the trap.
macro_rules! trapped {
    ($kernel:ident, $($arg:expr),*) => {{
        let mut found = Vec::new();
        for target in [Target::GFX908, Target::GFX942] {
            let device = Device::simulator(target);
            let built = $kernel.build_with(target, &checks()).unwrap();
            found.push(match device.launch(&$kernel, &built, Grid::x(1), ($($arg,)*)) {
                Ok(_) => None,
                Err(LaunchError::Trap { location, message, .. }) => Some((location, message)),
                Err(other) => panic!("{other}"),
            });
        }
        assert_eq!(found[0], found[1]);
        found.remove(0)
    }};
}

/// Checks that the kernel stopped on this line with this message.
#[track_caller]
fn stops(trapped: Option<(String, String)>, line: u32, what: &str) {
    let (location, message) = trapped.expect("an access out of bounds");
    assert!(location.contains(&format!("checked.rs:{line}:")), "{location}, not line {line}");
    assert_eq!(message, format!("an index is outside {what}"));
}

gcn_kernel! {
    #[device]
    #[repr(C)]
    pub struct Row {
        id: u32,
        part: [u32; 4],
    }

    #[workgroup(128)]
    fn reads(x: &[u32], y: &mut [u32], far: u32) {
        let i = local_id().x;
        y[i] = x[i + far];
    }

    #[workgroup(128)]
    fn writes(y: &mut [u32], far: u32) {
        y[local_id().x + far] = 1;
    }

    #[workgroup(128)]
    fn uniform(x: &[u32], y: &mut [u32], far: u32) {
        y[local_id().x] = x[far];
    }

    #[workgroup(128)]
    fn lds(y: &mut [u32], far: u32) {
        let t = Lds::<u32, 128>::new();
        let u = Lds::<u32, 128>::new();
        let i = local_id().x;
        t[i] = i;
        u[i] = i;
        barrier();
        y[i] = t[i + far] + u[i];
    }

    #[workgroup(128)]
    fn rows(y: &mut [u32], row: u32, column: u32) {
        let t = Lds::<[u32; 8], 16>::new();
        let i = local_id().x;
        t[i / 8][i % 8] = i;
        barrier();
        y[i] = t[row + i / 128][column];
    }

    #[workgroup(128)]
    fn private(y: &mut [u32], k: u32) {
        let a = Private::<u32, 8>::filled(3);
        let i = local_id().x;
        a[k + i / 100] = i;
        y[i] = a[i % 8];
    }

    #[workgroup(128)]
    fn row_of_slice(x: &[[u32; 3]], y: &mut [[u32; 3]], k: u32) {
        let i = local_id().x;
        let other = x[i][2 - k];
        y[i][k] = other;
    }

    #[workgroup(128)]
    fn field(x: &mut [Row], k: u32) {
        let i = local_id().x;
        x[i].part[k] = i;
    }

    #[workgroup(128)]
    fn dynamic(y: &mut [u32], n: u32, k: u32) {
        let t = LdsSlice::<u32>::dynamic(n);
        let i = local_id().x;
        if i < n {
            t[i] = i;
        }
        barrier();
        y[i] = t[i.min(k)];
    }

    #[workgroup(128)]
    fn atomics(y: &mut [u32], far: u32) {
        let i = local_id().x;
        y.atomic(i + far).fetch_add(1, Scope::Agent, Ordering::Relaxed);
    }

    #[workgroup(128)]
    fn vectors(x: &[f32], y: &mut [f32], far: u32) {
        let i = local_id().x * 4;
        y.store_vector(i, x.load_vector::<4>(i + far));
    }

    /// Every access that is executed is in bounds.
    #[workgroup(128)]
    fn guarded(x: &[u32], y: &mut [u32], n: u32) {
        let t = Lds::<u32, 64>::new();
        let i = local_id().x;
        if i < 64 {
            t[i] = i;
        }
        barrier();
        let mut sum = t.get(i);
        if i < n && x[i] > 0 {
            sum += x[i];
        }
        if i >= n || x[i] == 0 {
            sum += 1;
        }
        for k in 0..n {
            sum += x[k];
        }
        let mut k = i;
        while k < n {
            sum += x[k];
            k += 16;
        }
        if i < y.len() {
            y[i] = sum;
        }
    }
}

/// The number of the line of this file that contains the text.
fn line_of(text: &str) -> u32 {
    let source = include_str!("checked.rs");
    source.lines().position(|line| line.trim() == text).expect("a line") as u32 + 1
}

#[test]
fn an_index_out_of_bounds_stops_the_kernel() {
    let x: Vec<u32> = (0..128).collect();
    let mut y = vec![0; 128];
    assert_eq!(trapped!(reads, &x, &mut y, 0), None);
    let line = line_of("y[i] = x[i + far];");
    stops(trapped!(reads, &x, &mut y, 1000), line, "a slice: index 1000, length 128");
    // Only the last lane of the second wave is out of bounds.
    stops(trapped!(reads, &x, &mut y, 1), line, "a slice: index 128, length 128");
    stops(trapped!(reads, &x, &mut y[..64], 0), line, "a slice: index 64, length 64");
    // An index whose byte offset overflows.
    stops(trapped!(reads, &x, &mut y, 1 << 30), line, "a slice: index 1073741824, length 128");
    stops(trapped!(reads, &x, &mut y, u32::MAX), line, "a slice: index 4294967295, length 128");
    let line = line_of("y[local_id().x + far] = 1;");
    stops(trapped!(writes, &mut y, 100), line, "a slice: index 128, length 128");
    assert_eq!(trapped!(writes, &mut y, 0), None);
    let line = line_of("y[local_id().x] = x[far];");
    stops(trapped!(uniform, &x, &mut y, 128), line, "a slice: index 128, length 128");
    assert_eq!(trapped!(uniform, &x, &mut y, 127), None);
}

#[test]
fn arrays_rows_and_fields_have_their_own_bounds() {
    let mut y = vec![0; 128];
    assert_eq!(trapped!(lds, &mut y, 0), None);
    // The index is in the next array, which must not be read.
    stops(
        trapped!(lds, &mut y, 1),
        line_of("y[i] = t[i + far] + u[i];"),
        "an LDS array: index 128, length 128",
    );
    let line = line_of("y[i] = t[row + i / 128][column];");
    assert_eq!(trapped!(rows, &mut y, 15, 7), None);
    stops(trapped!(rows, &mut y, 16, 0), line, "an LDS array: index 16, length 16");
    stops(trapped!(rows, &mut y, 0, 8), line, "an array: index 8, length 8");
    let line = line_of("a[k + i / 100] = i;");
    assert_eq!(trapped!(private, &mut y, 6), None);
    stops(trapped!(private, &mut y, 7), line, "a private array: index 8, length 8");
    let x = vec![[1, 2, 3]; 128];
    let mut z = vec![[0; 3]; 128];
    assert_eq!(trapped!(row_of_slice, &x, &mut z, 2), None);
    stops(
        trapped!(row_of_slice, &x, &mut z, 3),
        line_of("let other = x[i][2 - k];"),
        "an array: index 4294967295, length 3",
    );
    stops(
        trapped!(row_of_slice, &x[..100], &mut z, 0),
        line_of("let other = x[i][2 - k];"),
        "a slice: index 100, length 100",
    );
    stops(
        trapped!(row_of_slice, &x, &mut z[..1], 1),
        line_of("y[i][k] = other;"),
        "a slice: index 1, length 1",
    );
    let mut of_fields = vec![Row { id: 0, part: [0; 4] }; 128];
    assert_eq!(trapped!(field, &mut of_fields, 3), None);
    stops(trapped!(field, &mut of_fields, 4), line_of("x[i].part[k] = i;"), "an array: index 4, length 4");
    stops(
        trapped!(field, &mut of_fields[..127], 0),
        line_of("x[i].part[k] = i;"),
        "a slice: index 127, length 127",
    );
    stops(
        trapped!(atomics, &mut y, 1),
        line_of("y.atomic(i + far).fetch_add(1, Scope::Agent, Ordering::Relaxed);"),
        "a slice: index 128, length 128",
    );
    let (a, mut b) = (vec![0.0; 512], vec![0.0; 512]);
    let line = line_of("y.store_vector(i, x.load_vector::<4>(i + far));");
    assert_eq!(trapped!(vectors, &a, &mut b, 0), None);
    stops(trapped!(vectors, &a, &mut b, 4), line, "a slice: index 512, length 512");
}

#[test]
fn lds_of_the_launch_has_the_length_that_the_kernel_says() {
    let mut y = vec![0; 128];
    for (k, expected) in [(63, None), (64, Some("an LDS slice: index 64, length 64"))] {
        let device = Device::simulator(Target::GFX942);
        let built = dynamic.build_with(Target::GFX942, &checks()).unwrap();
        let grid = Grid::x(1).with_dynamic_lds(64 * 4);
        let found = match device.launch(&dynamic, &built, grid, (&mut y, 64, k)) {
            Err(LaunchError::Trap { message, .. }) => Some(message),
            other => other.map(|_| None).unwrap(),
        };
        assert_eq!(found, expected.map(|text| format!("an index is outside {text}")));
    }
}

#[test]
fn what_is_inside_where_it_happens_does_not_stop() {
    let x: Vec<u32> = (0..100).collect();
    let mut y = vec![0; 90];
    assert_eq!(trapped!(guarded, &x, &mut y, 100), None);
    let sum: u32 = x.iter().sum();
    let strided = |i: u32| (i..100).step_by(16).sum::<u32>();
    let expected = (0..90).map(|i| i * u32::from(i < 64) + i + u32::from(i == 0) + sum + strided(i));
    assert_eq!(y, expected.collect::<Vec<u32>>());
}

#[test]
fn other_builds_have_no_checks() {
    let built = reads.build(Target::GFX942).unwrap();
    assert!(!built.assembly(Comments::None).contains("s_trap"));
    let debug = reads.build_with(Target::GFX942, &checks()).unwrap().assembly(Comments::None);
    assert_eq!(debug.matches("s_trap 2").count(), 2);
    // A debugger on a GPU stops at the trap and finds its line.
    assert!(debug.contains(".loc"), "{debug}");
}
