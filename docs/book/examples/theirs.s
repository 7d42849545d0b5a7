	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl sum
	.p2align 8
	.type sum,@function
; ANCHOR: code
sum:                                    ; y[lane] = the sum of x[lane + 64 * k] for k below s6
	s_load_dwordx4 s[0:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, v1
	v_mov_b32_e32 v4, 0
	s_movk_i32 s6, 0x10
	s_waitcnt lgkmcnt(0)
.Lagain:
	s_nop 3
	global_load_dword v3, v1, s[0:1]
	v_add_u32_e32 v1, 0x100, v1
	v_add_f32_e32 v4, v4, v3
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lagain
	global_store_dword v2, v4, s[2:3]
	s_endpgm
; ANCHOR_END: code
	.size sum, .-sum

	.rodata
	.p2align 6
	.amdhsa_kernel sum
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 5
		.amdhsa_next_free_sgpr 7
		.amdhsa_accum_offset 8
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: sum
    .symbol: sum.kd
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: 64
    .wavefront_size: 64
    .sgpr_count: 7
    .vgpr_count: 5
amdhsa.version: [1, 2]
...
	.end_amdgpu_metadata
