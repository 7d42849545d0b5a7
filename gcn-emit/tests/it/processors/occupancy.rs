//! Compares the number of waves on a SIMD with what `llc` prints.

use gcn_emit::occupancy::{Mode, Usage, occupancy_in};

use super::{machine, rows};

const OCCUPANCY: &[u8] = include_bytes!("../../../../gcn-isa/tests/data/occupancy.tsv.gz");

/// Two differences from `llc` are expected. For more LDS than a compute unit has, `llc` says that one wave fits. If a workgroup's LDS is
/// not a whole number of blocks, `llc` counts more waves than fit, because it divides by the requested number of bytes (a comment in
/// `AMDGPUSubtarget.cpp` asks whether there is a granularity). For whole blocks both agree.
#[test]
fn simds_hold_as_many_waves_as_llvm_says() {
    let (mut checked, mut rounded) = (0, 0);
    for row in rows(OCCUPANCY) {
        let [target, wave, mode, resource, from, to, waves, ..] = &row[..] else { panic!("{row:?}") };
        let Some((target, wave)) = machine(target, wave) else { continue };
        let waves: u32 = waves.parse().unwrap();
        let workgroup_processor = match mode.as_str() {
            "wgp" => true,
            "cu" | "" => false,
            // VGPRs are counted for each SIMD.
            "default" => target.has_workgroup_processors(),
            other => panic!("{other}"),
        };
        let mode = Mode { wave, workgroup_processor };
        assert!(Mode::all(target).any(|known| known == mode), "{row:?}");
        let mut whole_blocks = true;
        for count in [from, to].map(|n| n.parse::<u32>().unwrap()) {
            let (vgprs, lds_bytes, items) =
                if resource.starts_with("VGPRs") { (count, 0, wave.lanes()) } else { (1, count, 256) };
            if lds_bytes > target.lds_per_cu() && !target.has_workgroup_processors() {
                continue;
            }
            let usage = Usage { vgprs, sgprs: 1, lds_bytes, waves_per_workgroup: items / wave.lanes() };
            let held = occupancy_in(target, mode, usage).waves_per_simd;
            let block = target.lds_granule();
            if lds_bytes % block != 0 && held != waves {
                assert!(held < waves, "{row:?}");
                let whole = Usage { lds_bytes: lds_bytes / block * block, ..usage };
                assert_eq!(occupancy_in(target, mode, whole).waves_per_simd, waves, "{row:?}");
                whole_blocks = false;
                continue;
            }
            assert_eq!(held, waves, "{row:?}: {count}");
        }
        if whole_blocks {
            checked += 1;
        } else {
            rounded += 1;
        }
    }
    assert_eq!((checked, rounded), (1399 + 70, 59));
}
