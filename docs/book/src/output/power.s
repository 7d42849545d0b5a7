s_load_dwordx4 s[4:7], s[0:1], 0x8
v_mov_b32_e32 v1, 1.0
s_load_dword s0, s[0:1], 0x0
s_waitcnt lgkmcnt(0)
s_mov_b32 s7, 0x27000
s_mov_b32 s1, 0
s_lshl_b32 s6, s6, 2
s_lshl_b32 s2, s2, 6
v_add_lshl_u32 v0, s2, v0, 2
buffer_load_dword v2, v0, s[4:7], 0 offen
s_cmp_lt_u32 0, s0
s_cbranch_scc0 .LBB0_4
s_waitcnt vmcnt(0)
.LBB0_2:
s_add_u32 s1, s1, 1
v_mul_f32_e32 v1, v1, v2
s_cmp_gt_u32 s0, s1
s_cbranch_scc1 .LBB0_2
.LBB0_4:
buffer_store_dword v1, v0, s[4:7], 0 offen
s_endpgm
