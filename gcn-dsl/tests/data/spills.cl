// The kernels of `tests/it/beside_llvm.rs` in OpenCL C. LIMIT is the number of VGPRs.
typedef unsigned uint32;
#define KERNEL __attribute__((amdgpu_num_vgpr(LIMIT))) __attribute__((reqd_work_group_size(64, 1, 1))) kernel void

KERNEL reverse(global const uint32 *restrict x, global uint32 *restrict y) {
    uint32 lane = get_local_id(0);
    uint32 a[32];
#pragma unroll
    for (uint32 i = 0; i < 32; i++) a[i] = x[lane + 64 * i];
#pragma unroll
    for (uint32 i = 0; i < 32; i++) y[lane + 64 * i] = a[31 - i];
}

KERNEL mix(global const uint32 *restrict x, global uint32 *restrict y) {
    uint32 lane = get_local_id(0);
    uint32 a[64];
#pragma unroll
    for (uint32 i = 0; i < 64; i++) a[i] = x[lane + 64 * i];
#pragma unroll
    for (uint32 i = 0; i < 64; i++) a[i] = a[i] * 3 + a[(i * 7 + 5) % 64];
#pragma unroll
    for (uint32 i = 0; i < 64; i++) a[63 - i] ^= a[(i * 11 + 2) % 64];
#pragma unroll
    for (uint32 i = 0; i < 64; i++) y[lane + 64 * i] = a[i];
}

KERNEL sums(uint32 trips, global const uint32 *restrict x, global uint32 *restrict y) {
    uint32 lane = get_local_id(0);
    uint32 a[40];
#pragma unroll
    for (uint32 i = 0; i < 40; i++) a[i] = x[lane + 64 * i];
    uint32 sum = 0;
#pragma nounroll
    for (uint32 t = 0; t < trips; t++) {
        uint32 v = x[lane + 64 * t];
#pragma unroll
        for (uint32 i = 0; i < 8; i++) sum = sum * a[i] + v;
    }
#pragma unroll
    for (uint32 i = 0; i < 40; i++) y[lane + 64 * i] = a[i] + sum;
}

KERNEL tile(uint32 depth, global const float *restrict p, global const float *restrict q, global float *restrict y) {
    uint32 lane = get_local_id(0);
    float sum[64];
#pragma unroll
    for (uint32 i = 0; i < 64; i++) sum[i] = 0.0f;
#pragma nounroll
    for (uint32 k = 0; k < depth; k++) {
        float a[8], b[8];
#pragma unroll
        for (uint32 i = 0; i < 8; i++) {
            a[i] = p[k * 512 + lane * 8 + i];
            b[i] = q[k * 512 + lane * 8 + i];
        }
#pragma unroll
        for (uint32 i = 0; i < 64; i++) sum[i] = fma(a[i / 8], b[i % 8], sum[i]);
    }
#pragma unroll
    for (uint32 i = 0; i < 64; i++) y[lane + 64 * i] = sum[i];
}
