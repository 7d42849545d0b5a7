// A kernel that never ends: it is stopped, the program says so and goes on.
#include "hip.h"

__global__ void endless(volatile int *p) {
    while (*p == 0) // here
        ;
}

__global__ void set(int *p) { *p = 7; }

int main() {
    int *p, value = 0;
    CHECK(hipMalloc((void **)&p, 4));
    CHECK(hipMemcpy(p, &value, 4, hipMemcpyHostToDevice));
    endless<<<1, 64>>>(p);
    printf("launch %s\n", hipGetErrorName(hipGetLastError()));
    printf("wait %s\n", hipGetErrorName(hipDeviceSynchronize()));
    CHECK(hipDeviceReset());
    CHECK(hipMalloc((void **)&p, 4));
    set<<<1, 1>>>(p);
    CHECK(hipMemcpy(&value, p, 4, hipMemcpyDeviceToHost));
    printf("then %d\n", value);
}
