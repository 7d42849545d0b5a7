global_load_dwordx4 v[100:103], v[200:201], off
global_load_dwordx4 v[104:107], v[200:201], off offset:16
ds_read_b128 v[108:111], v204
ds_read_b128 v[112:115], v204 offset:16
s_load_dwordx4 s[20:23], s[8:9], 0x10
v_mfma_f32_32x32x8_f16 v[0:15], v[100:101], v[108:109], v[0:15]
v_mfma_f32_32x32x8_f16 v[16:31], v[102:103], v[108:109], v[16:31]
v_mfma_f32_32x32x8_f16 v[0:15], v[104:105], v[110:111], v[0:15]
v_mfma_f32_32x32x8_f16 v[16:31], v[106:107], v[112:113], v[16:31]
v_cmp_gt_u32_e64 s[30:31], s20, v205
v_cndmask_b32_e64 v120, 0, v121, s[30:31]
v_readfirstlane_b32 s24, v120
s_add_u32 s25, s24, s21
v_mov_b32_e32 v122, s25
buffer_load_dword v123, v122, s[12:15], s24 offen
v_add_f32_e32 v124, v0, v16
v_exp_f32_e32 v125, v124
v_pk_mul_f32 v[126:127], v[124:125], v[124:125]
ds_write_b64 v204, v[126:127]
v_add_u32_e32 v200, 64, v200
global_store_dwordx4 v[202:203], v[0:3], off
v_mov_b32_e32 v1, v123
