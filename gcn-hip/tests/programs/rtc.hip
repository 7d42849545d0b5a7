// A kernel that is compiled for the device while the program runs, and a kernel of the program that sums over a wave of its size.
#include "hip.h"

extern "C" {
typedef struct _hiprtcProgram *hiprtcProgram;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
int hiprtcCreateProgram(hiprtcProgram *, const char *, const char *, int, const char **, const char **);
int hiprtcCompileProgram(hiprtcProgram, int, const char **);
int hiprtcGetCodeSize(hiprtcProgram, size_t *);
int hiprtcGetCode(hiprtcProgram, char *);
hipError_t hipModuleLoadData(hipModule_t *, const void *);
hipError_t hipModuleGetFunction(hipFunction_t *, hipModule_t, const char *);
hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 hipStream_t, void **, void **);
hipError_t hipDeviceGetAttribute(int *, int, int);
}

static const char source[] = R"(
extern "C" __attribute__((global)) void sum(unsigned *out) {
    unsigned lane = __builtin_amdgcn_workitem_id_x();
    __hip_atomic_fetch_add(out, lane, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    if (lane == 0)
        out[1] = __builtin_amdgcn_wavefrontsize();
})";

int main() {
    const char *target = getenv("GCN_HIP_TARGET");
    char architecture[64];
    snprintf(architecture, sizeof architecture, "--gpu-architecture=%s", target);
    const char *options[] = {"-nogpuinc", "-nogpulib", architecture};
    hiprtcProgram program;
    CHECK(hiprtcCreateProgram(&program, source, "sum.hip", 0, nullptr, nullptr));
    CHECK(hiprtcCompileProgram(program, 3, options));
    size_t size;
    CHECK(hiprtcGetCodeSize(program, &size));
    char *code = (char *)malloc(size);
    CHECK(hiprtcGetCode(program, code));
    hipModule_t module;
    hipFunction_t function;
    CHECK(hipModuleLoadData(&module, code));
    CHECK(hipModuleGetFunction(&function, module, "sum"));
    unsigned *out, found[2] = {};
    CHECK(hipMalloc((void **)&out, sizeof found));
    CHECK(hipMemcpy(out, found, sizeof found, hipMemcpyHostToDevice));
    void *arguments[] = {&out};
    CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, 0, arguments, nullptr));
    CHECK(hipMemcpy(found, out, sizeof found, hipMemcpyDeviceToHost));
    int warp = 0;
    CHECK(hipDeviceGetAttribute(&warp, 87, 0));
    printf("%s lanes %u sum %u\n", target, found[1], found[0]);
    return warp != (int)found[1];
}
