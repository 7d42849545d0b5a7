// As much of HIP's header as the kernels in this folder need, so that clang compiles their device side without ROCm.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))

typedef unsigned char uint8_t;
typedef signed char int8_t;
typedef unsigned int uint32_t;
typedef unsigned long size_t;

struct float4 {
    float x, y, z, w;
};


#define __gcn_dimensions(name, function)                                                                               \
    struct name##_t {                                                                                                  \
        struct x_t {                                                                                                   \
            __device__ operator uint32_t() const { return function##_x(); }                                            \
        } x;                                                                                                           \
        struct y_t {                                                                                                   \
            __device__ operator uint32_t() const { return function##_y(); }                                            \
        } y;                                                                                                           \
    };                                                                                                                 \
    static const __device__ name##_t name;

__gcn_dimensions(threadIdx, __builtin_amdgcn_workitem_id)
__gcn_dimensions(blockIdx, __builtin_amdgcn_workgroup_id)

struct blockDim_t {
    struct x_t {
        __device__ operator uint32_t() const { return __builtin_amdgcn_workgroup_size_x(); }
    } x;
};
static const __device__ blockDim_t blockDim;

struct gridDim_t {
    struct x_t {
        __device__ operator uint32_t() const {
            return __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x();
        }
    } x;
};
static const __device__ gridDim_t gridDim;

static inline __device__ void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

static inline __device__ uint32_t __lane_id() {
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

static inline __device__ uint32_t __shfl_up(uint32_t x, uint32_t distance) {
    uint32_t lane = __lane_id();
    return __builtin_amdgcn_ds_bpermute((lane < distance ? lane : lane - distance) << 2, x);
}

static inline __device__ float __shfl_xor(float x, int mask) {
    return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((__lane_id() ^ mask) << 2, __builtin_bit_cast(int, x)));
}

static inline __device__ uint32_t atomicAdd(uint32_t *address, uint32_t value) {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

static inline __device__ float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
static inline __device__ float fabsf(float x) { return __builtin_fabsf(x); }
static inline __device__ float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline __device__ float exp2f(float x) { return __builtin_amdgcn_exp2f(x); }
static inline __device__ float rsqrtf(float x) { return __builtin_amdgcn_rsqf(x); }
static inline __device__ float rintf(float x) { return __builtin_rintf(x); }

typedef _Float16 __half;
static inline __device__ float __half2float(__half x) { return x; }
static inline __device__ __half __float2half(float x) { return (__half)x; }
