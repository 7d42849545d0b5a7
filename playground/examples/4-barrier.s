; A barrier that is missing
; Two waves reverse 128 numbers in LDS. Each reads what the other has written, and nothing makes it wait. Run with sanitizers: they
; name both accesses. `s_waitcnt lgkmcnt(0)` and `s_barrier` between write and read are the cure.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.text
.globl reverse
.p2align 8
.type reverse,@function
reverse:
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0                 ; my place in bytes
    v_sub_u32 v2, 0x1fc, v1                 ; the one opposite
    s_waitcnt lgkmcnt(0)
    global_load_dword v3, v1, s[4:5]
    s_waitcnt vmcnt(0)
    ds_write_b32 v1, v3
    ds_read_b32 v4, v2
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v4, s[4:5]
    s_endpgm
.Lend:
    .size reverse, .Lend-reverse

.rodata
.p2align 6
.amdhsa_kernel reverse
    .amdhsa_next_free_vgpr 5
    .amdhsa_next_free_sgpr 6
    .amdhsa_accum_offset 8
    .amdhsa_kernarg_size 8
    .amdhsa_group_segment_fixed_size 512
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel

.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: reverse
    .symbol: reverse.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 12
    .vgpr_count: 5
    .max_flat_workgroup_size: 128
    .args:
      - { .name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
.end_amdgpu_metadata
