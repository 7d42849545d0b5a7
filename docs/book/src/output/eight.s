s_load_dwordx8 s[4:11], s[0:1], 0x0
v_mbcnt_lo_u32_b32 v0, -1, 0
v_mbcnt_hi_u32_b32 v0, -1, v0
s_waitcnt lgkmcnt(0)                    ; lgkmcnt(0): s7 loaded by s_load_dwordx8 at line 0 is overwritten by s_mov_b32
s_mov_b32 s7, 0x27000
v_lshlrev_b32_e32 v0, 2, v0
s_mov_b32 s11, 0x27000
s_lshl_b32 s6, s6, 2
buffer_load_dword v1, v0, s[4:7], 0 offen
buffer_load_dword v2, v0, s[4:7], 0 offen offset:256
buffer_load_dword v3, v0, s[4:7], 0 offen offset:512
buffer_load_dword v4, v0, s[4:7], 0 offen offset:768
buffer_load_dword v5, v0, s[4:7], 0 offen offset:1024
buffer_load_dword v6, v0, s[4:7], 0 offen offset:1280
buffer_load_dword v7, v0, s[4:7], 0 offen offset:1536
buffer_load_dword v8, v0, s[4:7], 0 offen offset:1792
s_lshl_b32 s10, s10, 2
s_waitcnt vmcnt(6)                      ; vmcnt(6): v2 loaded by buffer_load_dword at line 9 is read by v_add_u32_e32
v_add_u32_e32 v1, v1, v2
s_waitcnt vmcnt(4)                      ; vmcnt(4): v4 loaded by buffer_load_dword at line 11 is read by v_add3_u32
v_add3_u32 v1, v1, v3, v4
s_waitcnt vmcnt(2)                      ; vmcnt(2): v6 loaded by buffer_load_dword at line 13 is read by v_add3_u32
v_add3_u32 v1, v1, v5, v6
s_waitcnt vmcnt(0)                      ; vmcnt(0): v8 loaded by buffer_load_dword at line 15 is read by v_add3_u32
v_add3_u32 v1, v1, v7, v8
buffer_store_dword v1, v0, s[8:11], 0 offen
s_endpgm
