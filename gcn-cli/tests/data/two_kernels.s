// Two kernels and a device function for gfx942.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.amdhsa_code_object_version 5
	.set WAVE_LANES, 64

	.text
	.globl fill
	.p2align 8
	.type fill,@function
fill:                                   ; x[i] = value
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v2, s6
	global_store_dword v1, v2, s[4:5]
	s_endpgm
.Lfill_end:
	.size fill, .Lfill_end-fill

	.globl count
	.p2align 8
	.type count,@function
count:
	s_movk_i32 s2, WAVE_LANES - 1
.Lagain:
	s_sub_u32 s2, s2, 1
	s_cmp_lg_u32 s2, 0
	s_cbranch_scc1 .Lagain
	s_endpgm
.Lcount_end:
	.size count, .Lcount_end-count

	.rodata
	.p2align 6
	.amdhsa_kernel fill
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 7
		.amdhsa_accum_offset 4
	.end_amdhsa_kernel
	.p2align 6
	.amdhsa_kernel count
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_next_free_vgpr 1
		.amdhsa_next_free_sgpr 3
		.amdhsa_accum_offset 4
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: fill
    .symbol: fill.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 13
    .vgpr_count: 3
    .max_flat_workgroup_size: 256
    .args:
      - {.name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: value, .offset: 8, .size: 4, .value_kind: by_value}
  - .name: count
    .symbol: count.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 9
    .vgpr_count: 1
    .max_flat_workgroup_size: 64
...
	.end_amdgpu_metadata
