// As much of HIP as the programs of these tests need: no header of ROCm is wanted.
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __managed__ __attribute__((managed))
#define __host__ __attribute__((host))

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
typedef struct ihipStream_t *hipStream_t;
typedef int hipError_t;
enum { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault };

extern "C" {
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, hipStream_t stream = 0);
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, hipStream_t *stream);
hipError_t hipLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, hipStream_t stream);
hipError_t hipMalloc(void **p, size_t n);
hipError_t hipFree(void *p);
hipError_t hipMemcpy(void *to, const void *from, size_t n, int kind);
hipError_t hipMemcpyToSymbol(const void *to, const void *from, size_t n, size_t offset, int kind);
hipError_t hipMemcpyFromSymbol(void *to, const void *from, size_t n, size_t offset, int kind);
hipError_t hipDeviceSynchronize(void);
hipError_t hipDeviceReset(void);
hipError_t hipGetLastError(void);
const char *hipGetErrorName(hipError_t);
}

static inline void check(hipError_t code, const char *what) {
    if (code != 0) {
        printf("%s: %s\n", what, hipGetErrorName(code));
        exit(1);
    }
}
#define CHECK(call) check(call, #call)
