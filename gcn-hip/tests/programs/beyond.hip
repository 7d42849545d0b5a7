// A kernel that writes far past its buffer: the launch fails, the program goes on.
#include "hip.h"

__global__ void beyond(int *p) {
    p[__builtin_amdgcn_workitem_id_x() * 1000000000ull] = 1; // here
}

int main() {
    int *p;
    CHECK(hipMalloc((void **)&p, 4));
    beyond<<<1, 64>>>(p);
    printf("launch %s\n", hipGetErrorName(hipGetLastError()));
    printf("wait %s\n", hipGetErrorName(hipDeviceSynchronize()));
}
