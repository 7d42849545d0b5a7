// ANCHOR: host
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(hipError_t code) {
    if (code != hipSuccess) {
        std::fprintf(stderr, "%s\n", hipGetErrorString(code));
        std::exit(1);
    }
}

int main() {
    const unsigned n = 1000;
    std::vector<float> x(n, 1.0f), y(n, 2.0f);
    float *dx, *dy;
    check(hipMalloc((void **)&dx, n * sizeof(float)));
    check(hipMalloc((void **)&dy, n * sizeof(float)));
    check(hipMemcpy(dx, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
    check(hipMemcpy(dy, y.data(), n * sizeof(float), hipMemcpyHostToDevice));

    hipModule_t module;
    hipFunction_t saxpy;
    check(hipModuleLoad(&module, "saxpy.hsaco"));
    check(hipModuleGetFunction(&saxpy, module, "saxpy"));

    // In order: a number at its own alignment, a slice as a pointer and its length.
    struct {
        float a;
        float *x;
        unsigned x_len;
        float *y;
        unsigned y_len;
    } args = {3.0f, dx, n, dy, n};
    size_t size = sizeof args;
    void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                      HIP_LAUNCH_PARAM_END};
    check(hipModuleLaunchKernel(saxpy, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, nullptr, config));
    check(hipMemcpy(y.data(), dy, n * sizeof(float), hipMemcpyDeviceToHost));
    for (float value : y) {
        if (value != 5.0f) {
            std::puts("wrong");
            return 1;
        }
    }
    std::puts("right");
}
// ANCHOR_END: host
