; RDNA 4: twice each number, without a wait for the load
; A Radeon waits in hardware for results of its vector ALU, but not for memory. RDNA 4 has a counter for each kind of operation: the scalar
; load is waited for, the global load is not. "Waits" inserts `s_wait_loadcnt`; "Run" in faithful mode computes without it.
.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
.amdhsa_code_object_version 5
.text
.globl twice
.p2align 8
.type twice,@function
twice:
    s_load_b64 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    s_wait_kmcnt 0x0
    global_load_b32 v2, v1, s[4:5]
    v_add_nc_u32 v2, v2, v2
    global_store_b32 v1, v2, s[4:5]
    s_endpgm
.Lend:
    .size twice, .Lend-twice

.rodata
.p2align 6
.amdhsa_kernel twice
    .amdhsa_next_free_vgpr 3
    .amdhsa_next_free_sgpr 6
    .amdhsa_kernarg_size 8
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_wavefront_size32 1
.end_amdhsa_kernel

.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: twice
    .symbol: twice.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 6
    .vgpr_count: 3
    .max_flat_workgroup_size: 64
    .args:
      - { .name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
.end_amdgpu_metadata
