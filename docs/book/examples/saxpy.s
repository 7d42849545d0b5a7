	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.amdhsa_code_object_version 5

	.text
	.protected saxpy
	.globl saxpy
	.p2align 8
	.type saxpy,@function
saxpy:
	s_load_dwordx8 s[4:11], s[0:1], 0x8
	v_lshl_add_u32 v0, s2, 8, v0
	s_load_dword s0, s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s7, 0x27000
	s_mov_b32 s11, 0x27000
	v_cmp_lt_u32_e64 s[2:3], v0, s10
	s_lshl_b32 s6, s6, 2
	s_lshl_b32 s10, s10, 2
	s_and_b64 exec, exec, s[2:3]
	s_cbranch_execz .LBB0_2
	v_lshlrev_b32_e32 v0, 2, v0
	buffer_load_dword v1, v0, s[4:7], 0 offen
	buffer_load_dword v2, v0, s[8:11], 0 offen
	s_waitcnt vmcnt(1)
	v_mul_f32_e32 v1, s0, v1
	s_waitcnt vmcnt(0)
	v_add_f32_e32 v1, v1, v2
	buffer_store_dword v1, v0, s[8:11], 0 offen
.LBB0_2:
	s_endpgm
.Lfunc_end0:
	.size saxpy, .Lfunc_end0-saxpy
	.p2alignl 6, 0xbf800000
	.fill 256, 4, 0xbf800000

	.section .rodata,"a",@progbits
	.p2align 6, 0x0
	.amdhsa_kernel saxpy
		.amdhsa_kernarg_size 40
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 3
		.amdhsa_next_free_sgpr 12
		.amdhsa_accum_offset 4
		.amdhsa_reserve_vcc 0
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count: 0
    .args:
      - .name: a
        .offset: 0
        .size: 4
        .type_name: f32
        .value_kind: by_value
      - .address_space: global
        .name: x
        .offset: 8
        .size: 8
        .type_name: '&[f32]'
        .value_kind: global_buffer
      - .name: x.len
        .offset: 16
        .size: 4
        .type_name: u32
        .value_kind: by_value
      - .address_space: global
        .name: y
        .offset: 24
        .size: 8
        .type_name: '&mut [f32]'
        .value_kind: global_buffer
      - .name: y.len
        .offset: 32
        .size: 4
        .type_name: u32
        .value_kind: by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 40
    .max_flat_workgroup_size: 256
    .name: saxpy
    .private_segment_fixed_size: 0
    .reqd_workgroup_size:
      - 256
      - 1
      - 1
    .sgpr_count: 18
    .symbol: saxpy.kd
    .uses_dynamic_stack: false
    .vgpr_count: 3
    .wavefront_size: 64
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
