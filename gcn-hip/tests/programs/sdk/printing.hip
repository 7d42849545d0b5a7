// printf of kernels: its conversions, strings and order with the host's output.
#include "check.h"

__global__ void say(const char *name, double x) {
    if (threadIdx.x == 0) {
        printf("%s|%d|%5d|%-5d|%05d|%u|%x|%X|%#x|%o\n", "text", -5, 42, 42, 42, 3000000000u, 255, 255, 255, 8);
        printf("%f|%.2f|%8.3f|%e|%g|%c|%%|%5s|%-5s|%.2s\n", x, x, x, x, x, 'z', "ab", "ab", "abcdef");
        printf("%lld|%llu|%ld|%hd|%zu\n", -5000000000ll, 18000000000000000000ull, -5l, (short)-3, sizeof(int));
        printf("plain\n");
        printf("%d %s %d %s %d %d %d %d %d %d\n", 1, "two", 3, "four", 5, 6, 7, 8, 9, 10);
        int written = printf("%s\n", name);
        printf("%d\n", written >= 0);
    }
    if (threadIdx.x < 3)
        printf("lane %d\n", threadIdx.x);
}

__device__ char name[] = "a name in device memory";

int main() {
    printf("before\n");
    char *at;
    OK(hipGetSymbolAddress((void **)&at, HIP_SYMBOL(name)));
    say<<<1, 64>>>(at, 3.14159);
    OK(hipDeviceSynchronize());
    printf("after\n");
}
