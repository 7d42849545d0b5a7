s_load_dwordx4 s[4:7], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
s_mov_b32 s7, 0x27000
v_mov_b32_e32 v1, 0
s_mov_b64 s[0:1], exec
s_lshl_b32 s6, s6, 2
s_lshl_b32 s2, s2, 6
v_add_lshl_u32 v0, s2, v0, 2
buffer_load_dword v2, v0, s[4:7], 0 offen
s_waitcnt vmcnt(0)
v_cmp_gt_u32_e64 s[2:3], v2, 0
s_and_b64 exec, exec, s[2:3]
s_cbranch_execz .LBB0_3
.LBB0_1:
v_lshrrev_b32_e32 v2, 1, v2
v_cmp_gt_u32_e64 s[2:3], v2, 0
v_add_u32_e32 v1, 1, v1
s_and_b64 exec, exec, s[2:3]
s_cbranch_execnz .LBB0_1
.LBB0_3:
s_mov_b64 exec, s[0:1]
buffer_store_dword v1, v0, s[4:7], 0 offen
s_endpgm
