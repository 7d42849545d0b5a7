// Kernels that are compiled while the program runs.
#include "check.h"
#include <hip/hiprtc.h>
#include <string>

#define RTC(expected, call)                                                                            \
    do {                                                                                               \
        hiprtcResult code = (call);                                                                    \
        if (code != (expected)) {                                                                      \
            printf("%s:%d: %s gave %s\n", __FILE__, __LINE__, #call, hiprtcGetErrorString(code));      \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

const char *source = R"(
#include "types.h"
namespace n {
__constant__ real bias;
template <typename T> __global__ void scale(T *p, T by) { p[threadIdx.x + blockIdx.x * blockDim.x] *= by + FACTOR * T(bias); }
}
#ifdef __HIPCC_RTC__
extern "C" __global__ void root(float *p) { p[threadIdx.x] = sqrtf(p[threadIdx.x]) + __popc(7); }
#endif
)";

std::string log_of(hiprtcProgram program) {
    size_t size;
    RTC(HIPRTC_SUCCESS, hiprtcGetProgramLogSize(program, &size));
    std::string text(size, 0);
    RTC(HIPRTC_SUCCESS, hiprtcGetProgramLog(program, text.data()));
    return text;
}

int main() {
    hiprtcProgram program;
    const char *header = "typedef float real;\n", *name = "types.h", *option = "-DFACTOR=2";
    RTC(HIPRTC_SUCCESS, hiprtcCreateProgram(&program, source, "scale.cu", 1, &header, &name));
    for (const char *wanted : {"n::scale<float>", "n::scale<double>", "&n::bias"})
        RTC(HIPRTC_SUCCESS, hiprtcAddNameExpression(program, wanted));
    const char *symbol;
    size_t size;
    RTC(HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, hiprtcGetLoweredName(program, "n::scale<float>", &symbol));
    RTC(HIPRTC_ERROR_INVALID_PROGRAM, hiprtcGetCodeSize(program, &size));
    if (hiprtcCompileProgram(program, 1, &option) != HIPRTC_SUCCESS)
        printf("%s\n", log_of(program).c_str());
    RTC(HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, hiprtcAddNameExpression(program, "n::scale<int>"));
    RTC(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID, hiprtcGetLoweredName(program, "n::scale<int>", &symbol));
    RTC(HIPRTC_SUCCESS, hiprtcGetCodeSize(program, &size));
    std::vector<char> object(size);
    RTC(HIPRTC_SUCCESS, hiprtcGetCode(program, object.data()));

    hipModule_t module;
    hipFunction_t scale, root;
    hipDeviceptr_t bias;
    OK(hipModuleLoadData(&module, object.data()));
    RTC(HIPRTC_SUCCESS, hiprtcGetLoweredName(program, "&n::bias", &symbol));
    EXPECT(std::string(symbol) == "_ZN1n4biasE");
    OK(hipModuleGetGlobal(&bias, &size, module, symbol));
    EXPECT(size == 4);
    RTC(HIPRTC_SUCCESS, hiprtcGetLoweredName(program, "n::scale<double>", &symbol));
    OK(hipModuleGetFunction(&scale, module, symbol));
    OK(hipModuleGetFunction(&root, module, "root"));
    float half = 0.5f;
    OK(hipMemcpyHtoD(bias, &half, 4));
    double *values = upload(std::vector<double>(128, 3)), by = 4;
    void *arguments[] = {&values, &by};
    OK(hipModuleLaunchKernel(scale, 2, 1, 1, 64, 1, 1, 0, 0, arguments, nullptr));
    EXPECT(download(values, 128)[127] == 15);
    float *roots = upload(std::vector<float>(64, 16));
    arguments[0] = &roots;
    OK(hipModuleLaunchKernel(root, 1, 1, 1, 64, 1, 1, 0, 0, arguments, nullptr));
    EXPECT(download(roots, 64)[63] == 7);
    RTC(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
    RTC(HIPRTC_ERROR_INVALID_PROGRAM, hiprtcDestroyProgram(&program));

    // What is wrong is said by the name and line of the program's own.
    RTC(HIPRTC_SUCCESS, hiprtcCreateProgram(&program, "\n__global__ void f() { nothing(); }\n", "broken.cu", 0, nullptr, nullptr));
    RTC(HIPRTC_ERROR_COMPILATION, hiprtcCompileProgram(program, 0, nullptr));
    EXPECT(log_of(program).find("broken.cu:2:23: error: use of undeclared identifier 'nothing'") != std::string::npos);
    RTC(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
    printf("PASS\n");
}
