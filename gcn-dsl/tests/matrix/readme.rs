//! The README's table of the targets that kernels compile for, tested cell by cell.

use gcn_dsl::prelude::*;
use gcn_isa::target::WaveSize;

const README: &str = include_str!("../../../README.md");

gcn_kernel! {
    #[workgroup(64)]
    fn halves(a: &[f16], b: &[f16], c: &mut [f32]) {
        let (a, b) = (TileA::<f16, 32, 32, 16>::load(row_major(a, 32), 0, 0), TileB::<f16, 32, 32, 16>::load(row_major(b, 32), 0, 0));
        matmul(a, b, Tile::<f32, 32, 32, 16>::zero()).store_to(row_major(c, 32), 0, 0);
    }

    #[workgroup(64)]
    fn floats(a: &[f32], b: &[f32], c: &mut [f32]) {
        let (a, b) = (TileA::<f32, 32, 16, 16>::load(row_major(a, 16), 0, 0), TileB::<f32, 16, 32, 16>::load(row_major(b, 32), 0, 0));
        matmul(a, b, Tile::<f32, 32, 32, 16>::zero()).store_to(row_major(c, 32), 0, 0);
    }
}

/// The processors in a cell such as `gfx908, gfx1010 to gfx1013`.
fn processors(cell: &str) -> Vec<Target> {
    let single = Target::KNOWN.into_iter().filter(|target| target.generic().is_none());
    let singles: Vec<Target> = single.collect();
    let place =
        |name: &str| singles.iter().position(|t| t.name() == name).unwrap_or_else(|| panic!("{name}"));
    let range = |part: &str| match part.split_once(" to ") {
        Some((first, last)) => singles[place(first)..=place(last)].to_vec(),
        None => vec![singles[place(part)]],
    };
    cell.split(", ").flat_map(range).collect()
}

/// For MFMA and for WMMA: true if the kernel contains such an instruction.
fn by(kernel: &impl Kernel, target: Target) -> [bool; 2] {
    let built = kernel.build(target).unwrap_or_else(|e| panic!("{target}: {e}"));
    let text = built.assembly(Comments::None);
    ["v_mfma", "v_wmma"].map(|name| text.contains(name))
}

/// The kind of instruction with which both kernels multiply, as the table writes it.
fn multiplies_by(target: Target) -> &'static str {
    match (by(&halves, target), by(&floats, target)) {
        ([false, false], [false, false]) => "vector instructions",
        ([true, false], [true, false]) => "MFMA",
        ([false, true], [false, false]) => "WMMA; f32 by vector instructions",
        ([false, true], [false, true]) => "WMMA",
        other => panic!("{target}: {other:?}"),
    }
}

#[test]
fn the_table_of_targets_is_true() {
    let table = README.lines().skip_while(|line| !line.starts_with("| family |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    let mut seen = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [family, names, lanes, by] = cells[..] else { panic!("{row}") };
        for target in processors(names) {
            let version = target.version()[0];
            let major = match family.split(':').next() {
                Some("GFX9" | "CDNA") => 9,
                Some("CDNA 5") => 12,
                Some("RDNA 1 and 2") => 10,
                Some("RDNA 3 and 3.5") => 11,
                Some("RDNA 4") => 12,
                _ => panic!("{family}"),
            };
            assert_eq!(version, major, "{target} in {family}");
            assert_eq!(family.starts_with("CDNA:"), target.has_agprs(), "{target} in {family}");
            let waves = match target.wave_sizes() {
                [WaveSize::W64] => "64",
                [WaveSize::W32] => "32",
                [_, _] if target.usual_wave() == WaveSize::W32 => "32, or 64",
                other => panic!("{target}: {other:?}"),
            };
            assert_eq!((lanes, by), (waves, multiplies_by(target)), "{target}");
            seen.push(target);
        }
    }
    let singles: Vec<Target> = Target::KNOWN.into_iter().filter(|t| t.generic().is_none()).collect();
    seen.sort_unstable();
    assert_eq!(seen, singles, "each processor stands there once");
}

/// Tests the sentence above the table.
#[test]
fn kernels_compile_for_the_generic_targets() {
    let generic: Vec<Target> = Target::KNOWN.into_iter().filter(|t| t.generic().is_some()).collect();
    let [first, .., last] = generic[..] else { panic!("{generic:?}") };
    let sentence = format!("the generic ones, `{first}` to `{last}`");
    assert!(README.contains(&sentence), "README: {sentence}");
    generic.into_iter().for_each(|target| {
        multiplies_by(target);
    });
}
