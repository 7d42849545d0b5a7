/* As much of HIP's module API as the README's program needs, for C and C++: no header of ROCm is wanted. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct ihipStream_t *hipStream_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef int hipError_t;
enum { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2 };
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)
#define HIP_LAUNCH_PARAM_END ((void *)3)

#ifdef __cplusplus
extern "C" {
#endif
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipMalloc(void **p, size_t n);
hipError_t hipMemcpy(void *to, const void *from, size_t n, int kind);
hipError_t hipModuleLoad(hipModule_t *module, const char *file);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                 unsigned lds, hipStream_t stream, void **params, void **extra);
hipError_t hipGetLastError(void);
const char *hipGetErrorName(hipError_t);
#ifdef __cplusplus
}
#endif
