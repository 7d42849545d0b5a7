	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl rows1
	.p2align 8
	.type rows1,@function
; ANCHOR: code
rows1:                                  ; the sum of each row of 16 lanes, one vector
	s_load_dwordx4 s[0:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v0, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v0, s[0:1]
	s_waitcnt vmcnt(0)
	v_add_f32_dpp v1, v1, v1 row_ror:8 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v1, v1, v1 row_ror:4 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v1, v1, v1 row_ror:2 row_mask:0xf bank_mask:0xf
	v_add_f32_dpp v1, v1, v1 row_ror:1 row_mask:0xf bank_mask:0xf
	global_store_dword v0, v1, s[2:3]
	s_endpgm
; ANCHOR_END: code
	.size rows1, .-rows1

	.rodata
	.p2align 6
	.amdhsa_kernel rows1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 2
		.amdhsa_next_free_sgpr 4
		.amdhsa_accum_offset 4
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: rows1
    .symbol: rows1.kd
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: 64
    .wavefront_size: 64
    .sgpr_count: 4
    .vgpr_count: 2
amdhsa.version: [1, 2]
...
	.end_amdgpu_metadata
