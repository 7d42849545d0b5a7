s_waitcnt vmcnt(0)                      ; vmcnt(0): v[2:3] loaded by buffer_load_dwordx2 at line 20 is read by v_mfma_f32_32x32x8_f16
v_mfma_f32_32x32x8_f16 a[0:15], v[4:5], v[2:3], 0
s_nop 10                                ; cdna3.106: a0 of v_mfma_f32_32x32x8_f16 at line 22 (8 passes), then v_accvgpr_read_b32: needs 11, had 0
v_accvgpr_read_b32 v1, a0
