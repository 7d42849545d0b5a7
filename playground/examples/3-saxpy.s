; saxpy: y = a * x + y, to be run
; "Run" launches 4 workgroups of 64 work-items. In strict mode the simulator refuses code that lacks a wait: remove one and run again.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.text
.globl saxpy
.p2align 8
.type saxpy,@function
saxpy:
    s_load_dword s8, s[0:1], 0x0            ; a
    s_load_dwordx4 s[4:7], s[0:1], 0x8      ; x, y
    s_lshl_b32 s2, s2, 6                    ; 64 work-items a workgroup
    v_add_u32 v0, s2, v0
    v_lshlrev_b32 v0, 2, v0
    s_waitcnt lgkmcnt(0)
    global_load_dword v1, v0, s[4:5]
    global_load_dword v2, v0, s[6:7]
    s_waitcnt vmcnt(0)
    v_fmac_f32 v2, s8, v1
    global_store_dword v0, v2, s[6:7]
    s_endpgm
.Lend:
    .size saxpy, .Lend-saxpy

.rodata
.p2align 6
.amdhsa_kernel saxpy
    .amdhsa_next_free_vgpr 3
    .amdhsa_next_free_sgpr 9
    .amdhsa_accum_offset 4
    .amdhsa_kernarg_size 24
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_system_sgpr_workgroup_id_x 1
.end_amdhsa_kernel

.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: saxpy
    .symbol: saxpy.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 15
    .vgpr_count: 3
    .max_flat_workgroup_size: 64
    .args:
      - { .name: a, .offset: 0, .size: 4, .value_kind: by_value }
      - { .name: x, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: y, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
.end_amdgpu_metadata
