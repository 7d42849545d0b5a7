	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl sum8
	.p2align 8
	.type sum8,@function
; ANCHOR: code
sum8:                                   ; as sum, eight loads in flight
	s_load_dwordx4 s[0:3], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, v1
	v_mov_b32_e32 v4, 0
	s_movk_i32 s6, 0x2
	s_waitcnt lgkmcnt(0)
.Lagain:
	global_load_dword v5, v1, s[0:1]
	global_load_dword v6, v1, s[0:1] offset:256
	global_load_dword v7, v1, s[0:1] offset:512
	global_load_dword v8, v1, s[0:1] offset:768
	global_load_dword v9, v1, s[0:1] offset:1024
	global_load_dword v10, v1, s[0:1] offset:1280
	global_load_dword v11, v1, s[0:1] offset:1536
	global_load_dword v12, v1, s[0:1] offset:1792
	v_add_u32_e32 v1, 0x800, v1
	s_waitcnt vmcnt(7)
	v_add_f32_e32 v4, v4, v5
	s_waitcnt vmcnt(6)
	v_add_f32_e32 v4, v4, v6
	s_waitcnt vmcnt(5)
	v_add_f32_e32 v4, v4, v7
	s_waitcnt vmcnt(4)
	v_add_f32_e32 v4, v4, v8
	s_waitcnt vmcnt(3)
	v_add_f32_e32 v4, v4, v9
	s_waitcnt vmcnt(2)
	v_add_f32_e32 v4, v4, v10
	s_waitcnt vmcnt(1)
	v_add_f32_e32 v4, v4, v11
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v4, v4, v12
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lagain
	global_store_dword v2, v4, s[2:3]
	s_endpgm
; ANCHOR_END: code
	.size sum8, .-sum8

	.rodata
	.p2align 6
	.amdhsa_kernel sum8
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 13
		.amdhsa_next_free_sgpr 7
		.amdhsa_accum_offset 16
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.kernels:
  - .name: sum8
    .symbol: sum8.kd
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: 64
    .wavefront_size: 64
    .sgpr_count: 7
    .vgpr_count: 13
amdhsa.version: [1, 2]
...
	.end_amdgpu_metadata
