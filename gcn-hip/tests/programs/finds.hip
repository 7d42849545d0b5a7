// A kernel that stores beyond its buffer: in its page, where the device does not notice, and far beyond.
#include "hip.h"

__global__ void beyond(int *p, unsigned by) { p[by + __builtin_amdgcn_workitem_id_x()] = 1; }

int main() {
    int *p;
    CHECK(hipMalloc((void **)&p, 256));
    const unsigned steps[] = {64, 1024};
    for (unsigned by : steps) {
        beyond<<<1, 64>>>(p, by);
        printf("wait %s\n", hipGetErrorName(hipDeviceSynchronize()));
    }
}
