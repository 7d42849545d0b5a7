//! Grids whose number of work-items is not a multiple of the workgroup size: `partial.cl`, compiled by clang.

use std::io::Read as _;

use gcn_sim::launch::{Buffer, Element, Prepared, Program, Spec};
use gcn_sim::{Grid, LaunchError, Machine, Memory, Options, Sanitize, SimError, timed};

const OBJECTS: [&[u8]; 2] =
    [include_bytes!("../data/partial-gfx90a.co.gz"), include_bytes!("../data/partial-gfx942.co.gz")];

fn program(packed: &[u8], kernel: &str) -> Program {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    Program::load(&bytes, Some(kernel)).unwrap()
}

fn numbers(prepared: &Prepared, position: usize) -> Vec<u32> {
    let bytes = prepared.buffer_at(position).unwrap().bytes;
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// What each work-item must find, by its position in the grid: the size of its workgroup, its lane, and the active lanes.
fn expected(items: [u32; 3], size: [u32; 3]) -> Vec<u32> {
    let mut out = vec![0; 4 * items.iter().product::<u32>() as usize];
    for z in 0..items[2] {
        for y in 0..items[1] {
            for x in 0..items[0] {
                let at = [x, y, z];
                // The part of the workgroup that is inside the grid.
                let own: Vec<u32> = (0..3)
                    .map(|d| (at[d] / size[d] * size[d]..items[d]).len().min(size[d] as usize) as u32)
                    .collect();
                let item: Vec<u32> = (0..3).map(|d| at[d] % size[d]).collect();
                let flat = item[0] + own[0] * (item[1] + own[1] * item[2]);
                let left = own.iter().product::<u32>() - flat / 64 * 64;
                let active = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
                let found =
                    [own[0] | own[1] << 10 | own[2] << 20, flat % 64, active as u32, (active >> 32) as u32];
                let place = 4 * (x + items[0] * (y + items[1] * z)) as usize;
                out[place..place + 4].copy_from_slice(&found);
            }
        }
    }
    out
}

#[test]
fn the_last_workgroups_have_the_work_items_that_are_left() {
    let cases = [
        ([100, 1, 1], [64, 1, 1]),
        ([200, 1, 1], [128, 1, 1]),
        ([70, 9, 5], [16, 8, 2]),
        ([33, 20, 1], [32, 8, 1]),
        ([64, 3, 3], [32, 2, 2]),
    ];
    for packed in OBJECTS {
        let program = program(packed, "partial");
        for (items, size) in cases {
            let count = items.iter().product::<u32>();
            let spec = Spec { global: Some(items), workgroup: Some(size), ..Spec::default() };
            let spec = spec.next(Buffer::zeros(Element::U32, u64::from(4 * count)));
            let prepare = || program.prepare(&spec, ".".as_ref()).unwrap();
            for options in [Options::default(), Options::strict(), Options::faithful()] {
                let mut prepared = prepare();
                let stats = prepared.run(&options).unwrap();
                assert_eq!(numbers(&prepared, 0), expected(items, size), "{items:?} {size:?}");
                assert!(stats.waves >= u64::from(count.div_ceil(64)));
            }
            let mut prepared = prepare();
            let report = prepared.run_timed(&timed::Config::one_cu()).unwrap();
            assert_eq!(numbers(&prepared, 0), expected(items, size), "{items:?} {size:?}, timed");
            assert_eq!(report.waves, prepare().run(&Options::default()).unwrap().waves);
        }
    }
}

/// A barrier does not wait for waves that a partial workgroup does not have.
#[test]
fn barriers_of_a_partial_workgroup_are_for_its_own_waves() {
    for packed in OBJECTS {
        let spec = Spec {
            global: Some([600, 1, 1]),
            workgroup: Some([256, 1, 1]),
            dynamic_lds: 4,
            ..Spec::default()
        };
        let spec = spec.next(Buffer::iota(Element::U32, 600)).next(Buffer::zeros(Element::U32, 600));
        for options in
            [Options::strict(), Options { sanitize: Sanitize::all(), findings: 8, ..Options::default() }]
        {
            let mut prepared = program(packed, "sums").prepare(&spec, ".".as_ref()).unwrap();
            let stats = prepared.run(&options).unwrap();
            assert!(stats.findings.is_empty(), "{}", stats.findings[0]);
            // Two workgroups have four waves, and one has two.
            assert_eq!(stats.waves, 10);
            let sum = |from: u32, to: u32| (from..to).sum::<u32>();
            let sums = [sum(0, 256), sum(256, 512), sum(512, 600)];
            let expected: Vec<u32> = (0..600).map(|item| sums[item / 256]).collect();
            assert_eq!(numbers(&prepared, 1), expected);
        }
    }
}

#[test]
fn grids_that_cannot_be_are_refused() {
    let program = program(OBJECTS[1], "partial");
    let spec = |grid, global, workgroup| Spec {
        grid,
        global,
        workgroup: Some(workgroup),
        rest_zero: true,
        ..Spec::default()
    };
    let error = |spec: Spec| program.prepare(&spec, ".".as_ref()).unwrap_err().to_string();
    assert!(error(spec(Some([1; 3]), Some([1; 3]), [1; 3])).contains("both `grid` and `global`"));
    assert!(error(spec(None, None, [1; 3])).contains("there is no grid"));
    let less = error(spec(None, Some([63, 1, 1]), [64, 1, 1]));
    assert!(less.contains("[63, 1, 1] work-items is smaller than a workgroup of [64, 1, 1]"), "{less}");
    let machine: &Machine = program.machine();
    let run =
        |grid: Grid, size| gcn_sim::run(machine, &mut Memory::new(), grid, size, &[], &Options::default());
    let many = run(Grid::Workgroups([1 << 30, 1, 1]), [64, 1, 1]);
    assert!(matches!(many, Err(SimError::Launch(LaunchError::TooManyItems { .. }))), "{many:?}");
    let empty = run(Grid::Items([64, 0, 1]), [64, 1, 1]);
    assert!(matches!(empty, Err(SimError::Launch(LaunchError::EmptyGrid(_)))), "{empty:?}");
}
