	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl scale
	.p2align 8
	.type scale,@function
scale:
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 4, v0
	s_waitcnt lgkmcnt(0)
	global_load_dwordx4 v[4:7], v0, s[2:3]
.Lagain:
	v_mfma_f32_4x4x1_16b_f32 v[4:7], v1, v2, v[4:7]
	s_sub_u32 s4, s4, 1
	s_cbranch_scc1 .Lagain
	global_store_dwordx4 v0, v[4:7], s[2:3]
	s_endpgm
	.size scale, .-scale

	.rodata
	.p2align 6
	.amdhsa_kernel scale
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 8
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 5
		.amdhsa_accum_offset 8
	.end_amdhsa_kernel
