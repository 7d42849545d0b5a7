	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
later:
	v_mfma_f32_4x4x1_16b_f32 v[4:7], v2, v3, v[4:7]
	v_mov_b32_e32 v9, 0
	v_mov_b32_e32 v10, 0
	v_mov_b32_e32 v11, 0
	v_add_f32_e32 v8, v4, v4
	s_endpgm
