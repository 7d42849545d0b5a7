	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl early
	.p2align 8
	.type early,@function
; ANCHOR: code
early:
	s_load_dwordx2 s[2:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 1.0
	v_mov_b32_e32 v3, 2.0
	v_mov_b32_e32 v4, 0
	v_mov_b32_e32 v5, 0
	v_mov_b32_e32 v6, 0
	v_mov_b32_e32 v7, 0
	s_waitcnt lgkmcnt(0)
	s_nop 1
	v_mfma_f32_4x4x1_16b_f32 v[4:7], v2, v3, v[4:7]
	v_add_f32_e32 v8, v4, v4
	global_store_dword v1, v8, s[2:3]
	s_endpgm
; ANCHOR_END: code
	.size early, .-early

	.rodata
	.p2align 6
	.amdhsa_kernel early
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 8
		.amdhsa_next_free_vgpr 9
		.amdhsa_next_free_sgpr 4
		.amdhsa_accum_offset 12
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: early
    .symbol: early.kd
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: 64
    .wavefront_size: 64
    .sgpr_count: 4
    .vgpr_count: 9
amdhsa.version: [1, 2]
...
	.end_amdgpu_metadata
