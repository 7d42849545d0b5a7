; A product of matrices by one wave, for its timeline
; c (32 x 32, f32) = a (32 x k, f16) times b (k x 32, f16, by columns), 8 of k a trip. "Timeline" shows that the matrix pipe waits for
; memory in every trip: the loads of the next trip could be under way meanwhile.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.text
.globl product
.p2align 8
.type product,@function
product:
    s_load_dwordx4 s[4:7], s[0:1], 0x0      ; a, b
    s_load_dwordx2 s[8:9], s[0:1], 0x10     ; c
    s_load_dword s10, s[0:1], 0x18          ; k, a multiple of 8
    v_and_b32 v1, 31, v0                    ; row of a, column of b
    v_lshrrev_b32 v2, 5, v0                 ; which half of the 8
    s_waitcnt lgkmcnt(0)
    v_mul_lo_u32 v3, v1, s10
    v_lshlrev_b32 v2, 2, v2
    v_add_lshl_u32 v3, v3, v2, 1            ; (row * k + 4 * half) * 2 bytes
    v_mov_b32 v16, 0
    v_mov_b32 v17, 0
    v_mov_b32 v18, 0
    v_mov_b32 v19, 0
    v_mov_b32 v20, 0
    v_mov_b32 v21, 0
    v_mov_b32 v22, 0
    v_mov_b32 v23, 0
    v_mov_b32 v24, 0
    v_mov_b32 v25, 0
    v_mov_b32 v26, 0
    v_mov_b32 v27, 0
    v_mov_b32 v28, 0
    v_mov_b32 v29, 0
    v_mov_b32 v30, 0
    v_mov_b32 v31, 0
.Ltrip:
    global_load_dwordx2 v[4:5], v3, s[4:5]
    global_load_dwordx2 v[6:7], v3, s[6:7]
    v_add_u32 v3, 16, v3
    s_sub_u32 s10, s10, 8
    s_cmp_lg_u32 s10, 0
    s_waitcnt vmcnt(0)
    v_mfma_f32_32x32x8_f16 v[16:31], v[4:5], v[6:7], v[16:31]
    s_cbranch_scc1 .Ltrip
    ; Lane l has column l % 32; register 4 * i + j has row 8 * i + 4 * (l / 32) + j.
    v_lshlrev_b32 v8, 5, v2                 ; 4 * half rows of 32
    v_add_lshl_u32 v8, v8, v1, 2
    s_nop 15
    global_store_dword v8, v16, s[8:9]
    global_store_dword v8, v17, s[8:9] offset:128
    global_store_dword v8, v18, s[8:9] offset:256
    global_store_dword v8, v19, s[8:9] offset:384
    global_store_dword v8, v20, s[8:9] offset:1024
    global_store_dword v8, v21, s[8:9] offset:1152
    global_store_dword v8, v22, s[8:9] offset:1280
    global_store_dword v8, v23, s[8:9] offset:1408
    global_store_dword v8, v24, s[8:9] offset:2048
    global_store_dword v8, v25, s[8:9] offset:2176
    global_store_dword v8, v26, s[8:9] offset:2304
    global_store_dword v8, v27, s[8:9] offset:2432
    global_store_dword v8, v28, s[8:9] offset:3072
    global_store_dword v8, v29, s[8:9] offset:3200
    global_store_dword v8, v30, s[8:9] offset:3328
    global_store_dword v8, v31, s[8:9] offset:3456
    s_endpgm
.Lend:
    .size product, .Lend-product

.rodata
.p2align 6
.amdhsa_kernel product
    .amdhsa_next_free_vgpr 32
    .amdhsa_next_free_sgpr 11
    .amdhsa_accum_offset 32
    .amdhsa_kernarg_size 28
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel

.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: product
    .symbol: product.kd
    .kernarg_segment_size: 28
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 17
    .vgpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - { .name: a, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: b, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: c, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: k, .offset: 24, .size: 4, .value_kind: by_value }
.end_amdgpu_metadata
