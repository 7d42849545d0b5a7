//! What CUs share: the lines of an L2 and of the Infinity Cache, and what the caller specifies about CUs that are not simulated.

use gcn_sim::timed::{Config, TimedReport};

use super::Case;

/// Every workgroup loads the same 64 KiB, or its own if `own`. Each wave in turn loads 256 bytes.
fn loads(own: bool) -> Case {
    let part = if own { "s_lshl_b32 s3, s2, 16" } else { "s_mov_b32 s3, 0" };
    let text = format!(
        "s_load_dwordx2 s[4:5], s[0:1], 0x0\n{part}\nv_lshlrev_b32 v1, 2, v0\nv_add_u32 v1, s3, v1\ns_movk_i32 s6, 256
        s_waitcnt lgkmcnt(0)\nloop:\nglobal_load_dword v2, v1, s[4:5]\nv_add_u32 v1, 0x100, v1\ns_sub_u32 s6, s6, 1
        s_cmp_lg_u32 s6, 0\ns_cbranch_scc1 loop\ns_waitcnt vmcnt(0)\ns_endpgm"
    );
    let case = Case::new(text).groups(16);
    let config = Config { cus: Some(16), timeline: 0, ..case.config.clone() };
    Case { config, ..case }
}

/// Simulates `simulated` of 16 CUs, with `per_l2` CUs for each L2.
fn run(own: bool, simulated: u32, per_l2: u32) -> TimedReport {
    let mut case = loads(own).set(&format!("device.cus-per-l2={per_l2}"));
    case.config.simulated_cus = simulated;
    case.run()
}

#[test]
fn simulated_cus_are_those_of_an_l2_first() {
    let cus = |simulated, per_l2| {
        let mut cus: Vec<u32> = run(true, simulated, per_l2).by_wave.iter().map(|wave| wave.cu).collect();
        cus.sort_unstable();
        cus
    };
    // With two L2 caches, workgroups are assigned to them in turn.
    assert_eq!(cus(4, 8), [0, 2, 4, 6]);
    assert_eq!(cus(10, 8), [0, 1, 2, 3, 4, 6, 8, 10, 12, 14]);
    assert_eq!(cus(100, 16).len(), 16);
    let mut config = Config { cus: Some(16), ..Config::default() };
    config.set("device.cus-per-l2=7").unwrap();
    assert_eq!(config.cus_of_an_l2(gcn_isa::Target::GFX942), 6);
}

/// Lines that all CUs need are fetched from memory once; if the CUs have separate L2 caches, the others fetch them from the Infinity Cache.
#[test]
fn lines_are_shared_in_the_l2_and_the_infinity_cache() {
    const BYTES: u64 = 1 << 16;
    let (alone, together, apart) = (run(false, 1, 16), run(false, 4, 16), run(false, 4, 1));
    assert!((BYTES..BYTES + 2048).contains(&alone.memory.memory_bytes), "{}", alone.memory.memory_bytes);
    assert_eq!(together.memory.memory_bytes, alone.memory.memory_bytes);
    assert_eq!(together.memory.l2.misses, alone.memory.l2.misses);
    // Three further L2 caches each fetch the lines of 128 bytes that the first one fetches.
    assert_eq!(apart.memory.l2.misses, 4 * alone.memory.l2.misses);
    assert!(apart.memory.infinity_cache.hits >= 3 * BYTES / 128, "{:?}", apart.memory.infinity_cache);
    assert_eq!(apart.memory.memory_bytes, alone.memory.memory_bytes);
    // Data that each CU has for itself are not shared.
    assert!(run(true, 4, 16).memory.memory_bytes >= 4 * BYTES);
}

/// One CU with `l2.reuse` fetches from memory only the share of the lines for which it is assumed to be the first CU.
#[test]
fn reuse_stands_for_the_cus_that_are_not_simulated() {
    let bytes = |setting: &str| loads(false).set(setting).run().memory.memory_bytes as f64;
    let alone = bytes("l2.reuse=1");
    for setting in ["l2.reuse=4", "mall.reuse=4"] {
        let share = bytes(setting) / alone;
        assert!((share - 0.25).abs() < 0.05, "{setting}: {share}");
    }
    let cycles = |setting: &str| loads(false).set(setting).run().cycles;
    assert!(cycles("l2.reuse=16") < cycles("l2.reuse=1"));
}
