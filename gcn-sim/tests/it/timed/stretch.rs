//! Where possible, the scheduler skips arbitration for scalar code. With a timeline it simulates every slot individually; the report must
//! be the same.

use gcn_test_support::Random;

use super::Case;

/// Instructions of every kind that can compete with scalar code on a SIMD.
const OTHERS: [&str; 14] = [
    "v_add_u32 v1, v2, v3",
    "v_readfirstlane_b32 s20, v1",
    "v_cmp_lt_u32 vcc, v2, v3",
    "v_rcp_f32 v4, v4",
    "ds_write_b32 v2, v3",
    "ds_read_b32 v5, v2",
    "global_load_dword v6, v2, s[2:3]",
    "s_load_dword s21, s[2:3], 0x40",
    "s_waitcnt vmcnt(0) lgkmcnt(0)",
    "s_nop 3",
    "s_barrier",
    "s_setprio 2",
    "s_setprio 0",
    "s_sleep 1",
];
const SCALAR: [&str; 5] = [
    "s_add_u32 s6, s7, s8",
    "s_and_b64 s[10:11], s[6:7], s[8:9]",
    "s_mul_i32 s12, s6, 0x12345",
    "s_cmp_lt_u32 s6, s7",
    "s_and_b64 s[14:15], vcc, s[6:7]",
];

fn body(random: &mut Random) -> String {
    let mut lines = Vec::new();
    for _ in 0..4 + random.next_u64() % 40 {
        let other = random.next_u64().is_multiple_of(5);
        let list = if other { &OTHERS[..] } else { &SCALAR[..] };
        lines.push(list[random.next_u64() as usize % list.len()]);
    }
    lines.join("\n")
}

#[test]
fn scalar_stretches_come_out_as_slot_by_slot() {
    let mut random = Random::new(11);
    let mut scalar = 0;
    for _ in 0..150 {
        let (first, second) = (body(&mut random), body(&mut random));
        let text = format!(
            "s_load_dwordx2 s[2:3], s[0:1], 0x0\nv_lshlrev_b32 v2, 2, v0\ns_mov_b32 s4, {}\ns_waitcnt lgkmcnt(0)\n{first}\nloop:\n{second}\n\
             s_waitcnt vmcnt(0) lgkmcnt(0)\ns_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 loop\ns_endpgm",
            1 + random.next_u64() % 6
        );
        let waves = [1, 2, 4, 7, 8, 16][random.next_u64() as usize % 6];
        let mut case = Case::new(text).waves(waves).groups(1 + random.next_u64() as u32 % 6);
        let (slots, memory) = case.run_with_memory();
        assert_eq!(slots.events_dropped, 0);
        case.config.timeline = 0;
        let (stretches, same) = case.run_with_memory();
        let json = |report: &gcn_sim::timed::TimedReport| report.json().unwrap();
        assert!(json(&slots) == json(&stretches) && memory == same, "{waves} waves:\n{}", case.text);
        scalar += slots.instructions;
    }
    assert!(scalar > 100_000, "{scalar}");
}
