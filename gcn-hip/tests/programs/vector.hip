// Kernels with arguments, LDS, a constant and a managed variable, launched with <<<...>>>.
#include "hip.h"

__constant__ float scale;
__device__ unsigned launches;
__managed__ unsigned blocks;

__global__ void saxpy(unsigned n, const float *x, float *y) {
    unsigned i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
    if (i < n)
        y[i] = scale * x[i] + y[i];
    if (i == 0)
        launches += 1;
}

// The sum of each block of 256, in LDS.
__global__ void sums(const float *x, float *out) {
    __shared__ float tile[256];
    unsigned lane = __builtin_amdgcn_workitem_id_x(), block = __builtin_amdgcn_workgroup_id_x();
    tile[lane] = x[block * 256 + lane];
    for (unsigned half = 128; half > 0; half /= 2) {
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        if (lane < half)
            tile[lane] += tile[lane + half];
    }
    if (lane == 0) {
        out[block] = tile[0];
        __hip_atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    }
}

int main() {
    const unsigned n = 1000, groups = 4;
    float x[groups * 256] = {}, y[groups * 256] = {}, out[groups];
    for (unsigned i = 0; i < n; i++)
        x[i] = i, y[i] = 1;
    float *dx, *dy, *dout, two = 2;
    CHECK(hipMalloc((void **)&dx, sizeof x));
    CHECK(hipMalloc((void **)&dy, sizeof y));
    CHECK(hipMalloc((void **)&dout, sizeof out));
    CHECK(hipMemcpy(dx, x, sizeof x, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(dy, y, sizeof y, hipMemcpyHostToDevice));
    CHECK(hipMemcpyToSymbol(&scale, &two, sizeof two, 0, hipMemcpyHostToDevice));
    saxpy<<<groups, 256>>>(n, dx, dy);
    saxpy<<<groups, 256>>>(n, dx, dy);
    sums<<<groups, 256>>>(dy, dout);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpy(y, dy, sizeof y, hipMemcpyDeviceToHost));
    CHECK(hipMemcpy(out, dout, sizeof out, hipMemcpyDeviceToHost));
    unsigned count;
    CHECK(hipMemcpyFromSymbol(&count, &launches, sizeof count, 0, hipMemcpyDeviceToHost));
    float total = 0;
    for (unsigned i = 0; i < groups; i++)
        total += out[i];
    for (unsigned i = 0; i < n; i++)
        if (y[i] != 4 * i + 1)
            return printf("y[%u] = %g\n", i, y[i]), 1;
    CHECK(hipFree(dx));
    // 4 * (0 + ... + 999) + 1000.
    printf("total %.0f launches %u blocks %u\n", total, count, blocks);
}
