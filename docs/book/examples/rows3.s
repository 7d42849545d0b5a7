	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl rows3
	.p2align 8
	.type rows3,@function
; ANCHOR: code
rows3:                                  ; the sum of each row of 16 lanes, three vectors
	s_load_dwordx4 s[0:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v0, s[0:1]
	global_load_dword v2, v0, s[0:1] offset:256
	global_load_dword v3, v0, s[0:1] offset:512
	s_waitcnt vmcnt(0)
	v_add_f32_dpp v1, v1, v1 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v2, v2, v2 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v3, v3, v3 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v1, v1, v1 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v2, v2, v2 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v3, v3, v3 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v1, v1, v1 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v2, v2, v2 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v3, v3, v3 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v1, v1, v1 row_ror:1 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v2, v2, v2 row_ror:1 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v3, v3, v3 row_ror:1 row_mask:0xf bank_mask:0xf
	global_store_dword v0, v1, s[2:3]
	global_store_dword v0, v2, s[2:3] offset:256
	global_store_dword v0, v3, s[2:3] offset:512
	s_endpgm
; ANCHOR_END: code
	.size rows3, .-rows3

	.rodata
	.p2align 6
	.amdhsa_kernel rows3
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 4
		.amdhsa_accum_offset 4
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: rows3
    .symbol: rows3.kd
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: 64
    .wavefront_size: 64
    .sgpr_count: 4
    .vgpr_count: 4
amdhsa.version: [1, 2]
...
	.end_amdgpu_metadata
