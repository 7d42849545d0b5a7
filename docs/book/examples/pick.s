	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl pick
	.p2align 8
	.type pick,@function
; ANCHOR: code
pick:                                   ; y[lane] = x of the lane whose number is x[0]
	s_load_dwordx4 s[0:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_dword v2, v1, s[0:1]
	s_waitcnt vmcnt(0)
	v_readfirstlane_b32 s4, v2
	v_readlane_b32 s5, v2, s4
	v_mov_b32_e32 v3, s5
	global_store_dword v1, v3, s[2:3]
	s_endpgm
; ANCHOR_END: code
	.size pick, .-pick

	.rodata
	.p2align 6
	.amdhsa_kernel pick
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 6
		.amdhsa_accum_offset 4
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: pick
    .symbol: pick.kd
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: 64
    .wavefront_size: 64
    .sgpr_count: 6
    .vgpr_count: 4
amdhsa.version: [1, 2]
...
	.end_amdgpu_metadata
