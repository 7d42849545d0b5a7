// Calls of the library after `main`: from a static destructor, and from `atexit`.
#include "hip.h"

extern "C" {
hipError_t hipStreamCreate(hipStream_t *);
hipError_t hipStreamDestroy(hipStream_t);
hipError_t hipSetDevice(int);
}

__global__ void fill(int *p) { p[__builtin_amdgcn_workitem_id_x()] = 7; }

struct Late {
    int *at = nullptr;
    hipStream_t stream = nullptr;
    ~Late() {
        int first = 0;
        CHECK(hipMemcpy(&first, at, sizeof first, hipMemcpyDeviceToHost));
        hipError_t freed = hipFree(at), destroyed = hipStreamDestroy(stream), wrong = hipSetDevice(99);
        printf("destructor %d %d %d %s\n", first, freed, destroyed, hipGetErrorName(wrong));
        fflush(stdout);
    }
};
static Late late;
static int *other;

int main() {
    CHECK(hipMalloc((void **)&late.at, 256));
    CHECK(hipMalloc((void **)&other, 256));
    CHECK(hipStreamCreate(&late.stream));
    fill<<<1, 64>>>(late.at);
    CHECK(hipDeviceSynchronize());
    atexit([] {
        int first = 0;
        CHECK(hipMemcpy(&first, late.at, sizeof first, hipMemcpyDeviceToHost));
        printf("atexit %d %d\n", first, hipFree(other));
    });
}
