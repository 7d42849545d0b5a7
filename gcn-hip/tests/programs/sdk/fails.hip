// Kernels that go wrong: each ends with an error, and the program goes on.
#include "check.h"
#include <cassert>

__global__ void asserts(int n) { assert(n == 3 && "three is what it takes"); }
__global__ void traps() { __builtin_trap(); }
__global__ void aborts() { abort(); }
__global__ void beyond(int *at) { at[threadIdx.x + (1ll << 36)] = 1; }
__global__ void null(int *at) { at[threadIdx.x] = 1; }
__global__ void endless(volatile int *at) {
    while (*at == 0)
        ;
}
__global__ void good(int *at) { at[0] = 7; }

template <typename L> static void fails(const char *name, hipError_t expected, L launch) {
    launch();
    hipError_t launched = hipGetLastError(), waited = hipDeviceSynchronize();
    printf("%s: %s, then %s\n", name, hipGetErrorName(launched), hipGetErrorName(waited));
    EXPECT(waited == expected);
    OK(hipDeviceReset());
    int *at = device<int>(1);
    good<<<1, 1>>>(at);
    EXPECT(download(at, 1)[0] == 7);
}

int main() {
    asserts<<<1, 1>>>(3);
    OK(hipDeviceSynchronize());
    // As on hardware, where the runtime sees the trap, not what led to it.
    fails("assert", hipErrorLaunchFailure, [] { asserts<<<1, 64>>>(4); });
    fails("trap", hipErrorLaunchFailure, [] { traps<<<1, 64>>>(); });
    fails("abort", hipErrorLaunchFailure, [] { aborts<<<1, 64>>>(); });
    fails("beyond", hipErrorIllegalAddress, [] { beyond<<<1, 64>>>(device<int>(1)); });
    fails("null", hipErrorIllegalAddress, [] { null<<<1, 64>>>(nullptr); });
    fails("endless", hipErrorLaunchTimeOut, [] { endless<<<1, 64>>>(device<int>(1)); });
    printf("PASS\n");
}
