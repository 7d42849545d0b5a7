s_load_dwordx8 s[4:11], s[0:1], 0x0
s_load_dwordx4 s[12:15], s[0:1], 0x20
v_mbcnt_lo_u32_b32 v0, -1, 0
v_mbcnt_hi_u32_b32 v0, -1, v0
s_waitcnt lgkmcnt(0)                    ; lgkmcnt(0): s7 loaded by s_load_dwordx8 at line 0 is overwritten by s_mov_b32
s_mov_b32 s7, 0x27000
s_mov_b32 s11, 0x27000
s_mov_b32 s15, 0x27000
v_lshlrev_b32_e32 v1, 2, v0
s_lshl_b32 s6, s6, 2
s_lshl_b32 s10, s10, 2
s_lshl_b32 s14, s14, 2
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 .LBB0_2
v_mul_u32_u24_e32 v0, v0, v0
buffer_store_dword v0, v1, s[4:7], 0 offen
buffer_wbl2 sc1
s_waitcnt vmcnt(0) lgkmcnt(0)
v_mov_b32_e32 v0, 1
buffer_store_dword v0, off, s[8:11], 0 sc1
s_branch .LBB0_6
.LBB0_2:
.LBB0_3:
buffer_load_dword v0, off, s[8:11], 0 sc1
s_waitcnt vmcnt(0)
buffer_inv sc1
v_readfirstlane_b32 s0, v0
s_cmp_eq_u32 s0, 0
s_cbranch_scc0 .LBB0_5
s_branch .LBB0_3
.LBB0_5:
buffer_load_dword v0, v1, s[4:7], 0 offen
s_waitcnt vmcnt(0)                      ; vmcnt(0): v0 loaded by buffer_load_dword at line 28 is read by buffer_store_dword
buffer_store_dword v0, v1, s[12:15], 0 offen
.LBB0_6:
s_endpgm
